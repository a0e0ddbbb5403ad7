"""Titles for threads that have none (contract section 5)."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Any

from django.db import router, transaction
from django.db.models import Count

from memory import schema
from memory.conf import memory_settings
from memory.content.graphemes import previous_boundary
from memory.content.reminders import is_system_reminder
from memory.db.transactions import release_connection
from memory.models import Message, Thread
from memory.processors.chat_client import make_client
from memory.processors.chat_message import ChatMessage
from memory.validation import clean_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memory.recall.config import TitleConfig

logger = logging.getLogger("memory.processors")

# Characters of a title: it stands in lists.
MAX_LENGTH = 80
# A first "sentence" that is shorter is a greeting or an abbreviation: it takes the next one along.
MIN_LENGTH = 12
# Characters of a message that the model is shown.
MAX_SHOWN = 2_000
# Messages of a stored thread that the model is shown.
FIRST_MESSAGES = 20
# Seconds: a title is never worth waiting for.
TIMEOUT = 20.0
INSTRUCTIONS = (
    "You name conversations. You are shown the beginning of one. Answer with its title and nothing else: at "
    "most eight words in the language of the user, without quotation marks, a colon or a full stop at the "
    "end. Do not answer the conversation."
)
_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
# The end of a sentence: a full stop of scripts with spaces only before a space, those of others anywhere.
_SENTENCE_END = re.compile(r"[.!?…]+(?=\s)|[。！？]+|\n")
# A full stop of these ends no sentence: "Dr.", "e.g.", the initial of a name.
_ABBREVIATION = re.compile(r"\b(?:mr|mrs|ms|dr|prof|st|vs|[a-z]|[a-z]\.[a-z])\.\Z", re.IGNORECASE)


def first_sentence(text: str) -> str:
    """The first sentence of a text as a title: on one line, at most 80 characters, cut at a word where
    there is one near, never inside what is seen as one character."""
    stripped = text.strip()
    ends = (end.end() for end in _SENTENCE_END.finditer(stripped))
    end = next((end for end in ends if end >= MIN_LENGTH and not _is_abbreviated(stripped[:end])), None)
    return _cut(" ".join(stripped[:end].split()))


def _is_abbreviated(text: str) -> bool:
    return _ABBREVIATION.search(text[-MIN_LENGTH:]) is not None


def _cut(title: str) -> str:
    if len(title) <= MAX_LENGTH:
        return title
    end = MAX_LENGTH - 1
    space = title.rfind(" ", end // 2, end + 1)
    return title[: space if space > 0 else previous_boundary(title, end)].rstrip() + "…"


def title_thread(
    thread_id: str, messages: Iterable[ChatMessage], config: TitleConfig, *, using: str | None = None
) -> None:
    """Give a thread without a title its first sentence at once, and have the model refine it after the
    commit, where the site embeds inline; else `manage.py generate_titles` does. 1 query; never raises.

    Args:
        thread_id: the thread; a title that it has, or gets meanwhile, is not touched.
        messages: those of this thread; one of the user has to be among them.
        config: what the agent says.
        using: database alias.
    """
    alias = using or router.db_for_write(Thread)
    shown = list(messages)
    title = _instant_title(shown)
    # A run sees no more of the thread than its window.
    at_least = config.min_messages if len(shown) < config.min_messages else 0
    try:
        if not title or not _replace_title(thread_id, "", title, alias, at_least=at_least):
            return
        if config.model is not None and memory_settings.EMBED == "inline":
            transaction.on_commit(lambda: refine_title(thread_id, title, shown, config, alias), using=alias)
    except Exception as error:
        logger.error("A thread could not be given a title: %s.", type(error).__name__)


def title_stored_thread(thread: schema.Thread, config: TitleConfig, *, using: str) -> bool:
    """Give a stored thread a title now, if it has none but its first sentence; whether one was written.

    At most 3 queries, and a call of the model where one is configured.
    """
    if thread.title and config.model is None:
        return False
    rows = list(Message.objects.using(using).in_thread(thread).chronological()[:FIRST_MESSAGES])
    for row in rows:
        row.thread = thread
    messages = [ChatMessage.of_row(row) for row in rows]
    title = _instant_title(messages)
    if not title or thread.title not in ("", title):
        return False
    is_new = thread.title == ""
    if is_new and not _replace_title(thread.uid, "", title, using, at_least=config.min_messages):
        return False
    return (config.model is not None and refine_title(thread.uid, title, messages, config, using)) or is_new


def refine_title(
    thread_id: str, present: str, messages: Iterable[ChatMessage], config: TitleConfig, using: str
) -> bool:
    """Replace `present` by what the model says, unless somebody has changed it. Errors are logged."""
    try:
        release_connection(using)
        title = _cut(" ".join(_THOUGHT.sub("", clean_text(_ask(messages, config))).split()))
        return title not in ("", present) and _replace_title(thread_id, present, title, using)
    except Exception as error:  # whatever the service or its package may raise; its text may quote the prompt
        logger.warning("The model gave no title: %s.", type(error).__name__)
        return False


def _instant_title(messages: Sequence[ChatMessage]) -> str:
    """The first sentence of the user; "" where none was said."""
    said = (message for message in messages if message.is_user_turn and message.text)
    own = (m.text for m in said if not is_system_reminder(m.role, m.content, m.metadata))
    return first_sentence(next(own, ""))


def _replace_title(thread_id: str, present: str, title: str, using: str, *, at_least: int = 0) -> bool:
    """Nothing but the title changes, and only if it still is `present` and there are enough messages."""
    threads = Thread.objects.using(using).filter(uid=thread_id, title=present)
    if at_least > 1:
        threads = threads.annotate(size=Count("messages")).filter(size__gte=at_least)
    return bool(threads.update(title=title))


def _ask(messages: Iterable[ChatMessage], config: TitleConfig) -> str:
    transcript = "\n".join(
        f"{message.role.capitalize()}: {message.text[:MAX_SHOWN]}" for message in messages if message.text
    )
    prompt: list[Any] = [
        {"role": "system", "content": config.instructions or INSTRUCTIONS},
        {"role": "user", "content": transcript},
    ]
    with make_client(config.base_url, timeout=TIMEOUT, max_retries=0) as client:
        reply = client.chat.completions.create(model=config.model or "", messages=prompt)
    return reply.choices[0].message.content or ""
