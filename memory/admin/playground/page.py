"""The page of the playground, for a thread or a resource, and the way to it from a message."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from django.contrib.admin.utils import unquote
from django.core.exceptions import ImproperlyConfigured, PermissionDenied
from django.http import HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.admin.addresses import message_url, named, naming
from memory.admin.answering import gone, page, unlimited_page, within_limit
from memory.admin.links import LINKS, Link
from memory.admin.masks import is_allowed
from memory.admin.playground.form import PlaygroundForm
from memory.admin.playground.trial import Found, Result, Trial
from memory.admin.reads import log_read, log_recall
from memory.content.controls import visible
from memory.content.snippet import snippet
from memory.exceptions import ConversationMemoryError, EmbedderError, SemanticRecallNotConfigured
from memory.models import Message
from memory.schema import Thread

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.http import HttpRequest, HttpResponse
    from django.urls import URLPattern

    from memory.admin.base import MemoryAdminMixin as _Base
    from memory.schema import Message as Row
else:
    _Base = object

PERMISSION = "memory.use_recall_playground"

for _model in ("thread", "resource"):
    LINKS[_model].append(
        Link(f"memory_{_model}_recall", gettext_lazy("Try out recall"), PERMISSION, content=True)
    )
LINKS["message"].append(
    Link(
        "memory_message_recall",
        gettext_lazy("What recalls this?"),
        PERMISSION,
        content=True,
        applies=lambda row: bool(row.text),
    )
)


@dataclass(frozen=True, slots=True)
class Shown:
    """A message in the playground."""

    message: Row
    url: str
    excerpt: str
    is_hit: bool = False
    is_asked: bool = False


class PromptMessage(NamedTuple):
    """A message of the prompt: its text line by line where that is all it has, else all of it as JSON."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class ShownHit:
    found: Found
    hit: Shown
    window: list[Shown]


class PlaygroundMixin(_Base):
    """To be mixed into the admin classes of threads and resources."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.recall_view)
        own = path("<path:object_id>/recall/", view, name=f"memory_{self.opts.model_name}_recall")
        return [own, *super().get_urls()]

    @unlimited_page
    def recall_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """A form, and what comes of it. What is asked is sent as POST, and stands in no address.

        `?message=` names a message, whose text is the query then.
        """
        check_allowed(self, request)
        row = self.get_object(request, unquote(object_id))
        if row is None:
            return gone(self, request)
        asked = self._asked(request, row)
        data = {"query": asked.text} if asked and request.method == "GET" else request.POST
        form = PlaygroundForm(data or None, in_thread=isinstance(row, Thread))
        trial, problem = self._embedded(form, row) if form.is_bound and form.is_valid() else (None, "")
        # The embedder has answered: from here on only the database is waited for.
        response: HttpResponse = within_limit(
            lambda: self._show(request, row, form, asked, trial, problem), self, request
        )
        return response

    def _asked(self, request: HttpRequest, row: Any) -> Row | None:
        """The message that the address names, if the viewer may see it and it has a text."""
        rows = self.rows_of(request, Message)
        if rows is None:
            return None
        own = rows.filter(thread=row) if isinstance(row, Thread) else rows.filter(thread__resource=row)
        _given, found = named(request, own.exclude(text=""))
        return found

    def _embedded(self, form: PlaygroundForm, row: Any) -> tuple[Trial | None, str]:
        """The try, with its query embedded, or what keeps it from being made."""
        thread = row if isinstance(row, Thread) else None
        try:
            trial = Trial(
                form.cleaned_data["query"],
                agent=form.agent_name,
                resource_id=thread.resource.uid if thread else row.uid,
                thread_id=thread.uid if thread else None,
                options=form.options,
                filter=form.wanted,
            )
            trial.embed()
        except (SemanticRecallNotConfigured, EmbedderError) as error:
            return None, str(error)
        except (ConversationMemoryError, ImproperlyConfigured) as error:
            form.add_error(None, _("This cannot be tried out: %(error)s") % {"error": error})
            return None, ""
        return trial, ""

    def _show(
        self,
        request: HttpRequest,
        row: Any,
        form: PlaygroundForm,
        asked: Row | None,
        trial: Trial | None,
        problem: str,
    ) -> HttpResponse:
        result: Result | None = None
        if trial is not None:
            try:
                result = trial.run()
            except (SemanticRecallNotConfigured, EmbedderError) as error:
                problem = str(error)
            except (ConversationMemoryError, ImproperlyConfigured) as error:
                form.add_error(None, _("This cannot be tried out: %(error)s") % {"error": error})
        if result is not None:
            log_recall(request, row, len(result.found))
        elif asked is not None:
            log_read(request, asked)
        context = {
            **self.admin_site.each_context(request),
            "title": _("Try out recall"),
            "opts": self.opts,
            "row": row,
            "in_thread": form.in_thread,
            "form": form,
            "asked": asked,
            "asked_query": naming(asked) if asked else "",
            "problem": problem,
            "result": result,
            "is_filtered": bool(trial and trial.filter),
            "hits": [shown_hit(hit, asked, request) for hit in result.found] if result else [],
            "history": list(shown(result.history, asked, request)) if result else [],
            "prompt": [prompt_message(message) for message in result.prompt] if result else [],
            "prompt_json": _json(result.prompt) if result else "",
        }
        return TemplateResponse(request, "admin/memory/playground.html", context)


class RecalledByMixin(_Base):
    """To be mixed into the admin class of messages: the way to the playground with the text of one."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.recalled_by_view)
        return [path("<path:object_id>/recall/", view, name="memory_message_recall"), *super().get_urls()]

    @page
    def recalled_by_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        check_allowed(self, request)
        message = self.get_object(request, unquote(object_id))
        if message is None:
            return gone(self, request)
        playground = reverse(
            "admin:memory_thread_recall", args=[message.thread_id], current_app=request.current_app
        )
        return HttpResponseRedirect(f"{playground}?{naming(message)}")


def check_allowed(admin: Any, request: HttpRequest) -> None:
    """The playground shows what was said, in other threads too.

    Raises:
        PermissionDenied: the viewer may not use it, or may not read.
    """
    if not (is_allowed(request, PERMISSION, content=True) and admin.has_view_permission(request)):
        raise PermissionDenied


def prompt_message(message: dict[str, Any]) -> PromptMessage:
    content = message.get("content")
    is_text = isinstance(content, str) and message.keys() <= {"role", "content"}
    return PromptMessage(str(message.get("role")), visible(str(content)) if is_text else _json(message))


def _json(value: Any) -> str:
    return visible(json.dumps(value, ensure_ascii=False, indent=2))


def shown_hit(found: Found, asked: Row | None, request: HttpRequest) -> ShownHit:
    window = list(shown(found.window, asked, request, hit=found.message))
    return ShownHit(found, next(entry for entry in window if entry.is_hit), window)


def shown(
    rows: Iterable[Row], asked: Row | None, request: HttpRequest, hit: Row | None = None
) -> Iterable[Shown]:
    for row in rows:
        yield Shown(
            row,
            message_url(row, request.current_app),
            visible(snippet(row.text, "")),
            is_hit=row == hit,
            is_asked=row == asked,
        )
