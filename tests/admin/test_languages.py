"""Pages in Korean and in Chinese have no English of the app left (issue 5, point 7)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from memory.models import AdminEvent, EmbeddingJob, Message
from tests.admin import addresses, changelist, conversation, text_of, transcript
from tests.admin.staff import act_url, answers, said
from tests.admin.world import World, clone_of, make_world
from tests.test_translations import PLACEHOLDER, forms, messages

pytestmark = pytest.mark.usefixtures("empty_cache")

LANGUAGES = {"ko": "ko", "zh-hans": "zh_Hans"}
each_language = pytest.mark.parametrize("language", LANGUAGES)

# Longer ones are looked for within what a page says, shorter ones are all that stands in one place.
SHORT = 12
# What people, tools and databases say stands as it is.
FOREIGN = {"pre", "script", "style", "textarea", "code", "bdi"}
SPOKEN = {"aria-label", "title", "placeholder", "alt"}


class Texts(HTMLParser):
    """What a page says, piece by piece."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.inside: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in FOREIGN:
            self.inside.append(tag)
        spoken = SPOKEN | {"value"} if ("type", "submit") in attrs else SPOKEN
        self.found += [value or "" for name, value in attrs if name in spoken]

    def handle_endtag(self, tag: str) -> None:
        if self.inside and self.inside[-1] == tag:
            self.inside.pop()

    def handle_data(self, data: str) -> None:
        if not self.inside:
            self.found.append(" ".join(data.split()))


def english(html: str) -> set[str]:
    """The texts of the app that a page has in English."""
    pieces = {piece.casefold() for piece in Texts(html).found if piece}
    whole = "\n".join(pieces)
    found = set()
    for message in messages("ko"):
        # A short word with a context is a word of others too, such as "user" in a prompt.
        for text in () if message.context else forms(message.id):
            fragments = [part.strip().casefold() for part in PLACEHOLDER.split(text)]
            is_there = any(len(part) > SHORT and part in whole for part in fragments)
            if is_there or (len(fragments) == 1 and fragments[0] in pieces and text.casefold() != "id"):
                found.add(text)
    return found


def speaking(client: Client, language: str, settings: Settings) -> Client:
    client.cookies[settings.LANGUAGE_COOKIE_NAME] = language
    return client


@pytest.fixture
def world(embedded_world: World) -> World:
    """With rows in all states: waiting, redacted, copied, and events with counts."""
    make_world("other")
    clone_of(embedded_world.thread, "r-2")
    Message.objects.redact_messages([Message.objects.filter(thread__uid="r-1").latest("pk").uid])
    AdminEvent.objects.record("redact_message", resource_id="r", counts={"messages": 1, "jobs": 2})
    space = embedded_world.embeddingjob.space
    EmbeddingJob.objects.get_or_create(message=Message.objects.get(uid="r-0-1"), space=space)
    conversation("empty", [])
    return embedded_world


def rows(world: World) -> dict[str, Any]:
    names = ("message", "thread", "resource", "workingmemory", "embeddingjob")
    found = {name: world.row(name) for name in names}
    embedding = world.message.embeddings.first() or Message.objects.get(uid="r-0-2").embeddings.get()
    return {
        **found,
        "embeddingspace": world.embeddingjob.space,
        "embedding": embedding,
        "adminevent": AdminEvent.objects.latest("pk"),
    }


def pages(client: Client, world: World) -> Iterable[tuple[str, str]]:
    """Every page of the app as it is opened, and its forms sent with nothing in them."""
    lists = [changelist(name) for name in ("message", "thread", "resource")]
    more = [
        reverse("admin:memory_search") + "?q=r-0-0",
        transcript(world.row("thread")) + "?date=never",
        *(f"{url}?q=r&metadata=x&from=never" for url in lists),
        lists[0] + "?metadata=1=1",
    ]
    for url in (*addresses(rows(world)), *more):
        response = client.get(url, follow=True)
        yield url, text_of(response)
        if "mem-form" in text_of(response):
            yield f"POST {url}", text_of(client.post(url, {}))


def acts(client: Client, world: World) -> Iterable[tuple[str, Any]]:
    """What is said after each act, in an order in which all can be done."""
    for model, name, answer in (
        ("message", "edit-text", {"text_1": "new"}),
        ("message", "edit-text", {"text_1": "new"}),
        ("message", "reembed", {}),
        ("message", "move", {"thread": "r-1"}),
        ("message", "move", {"thread": "nowhere"}),
        ("embeddingjob", "retry", {}),
        ("workingmemory", "edit", {"text_1": "new"}),
        ("workingmemory", "restore", {"version": 1}),
        ("thread", "clone", {}),
        ("thread", "transfer", {"resource": "other"}),
        ("resource", "link", {"account": "admin"}),
        ("resource", "link", {"account": "nobody"}),
        ("message", "redact", {}),
        ("message", "redact", {}),
        ("message", "delete", {}),
        ("thread", "delete", {}),
        ("thread", "delete", {}),
        ("resource", "erase", {"typed": "wrong"}),
        ("resource", "erase", {"typed": "r"}),
    ):
        url = act_url(world.row(model), name)
        page = client.get(url)
        sent = answers(page, **answer) if page.status_code == 200 else {"reason": "x", **answer}
        response = client.post(url, sent)
        yield url, response


@each_language
def test_no_page_has_english_left(
    language: str, admin_client: Client, world: World, settings: Settings
) -> None:
    client, crawled = speaking(admin_client, language, settings), 0
    for url, html in pages(client, world):
        assert not english(html), url
        crawled += 1
    assert crawled > 60


@each_language
def test_no_answer_to_an_act_has_english_left(
    language: str, admin_client: Client, world: World, settings: Settings
) -> None:
    client = speaking(admin_client, language, settings)
    for url, response in acts(client, world):
        answer = "\n".join(said(response)) if response.status_code == 302 else text_of(response)
        assert answer, url
        assert re.search("[가-힣]" if language == "ko" else "[一-鿿]", answer), url
        assert not english(answer), url


@each_language
def test_the_playground_has_no_english_left(
    language: str, admin_client: Client, world: World, settings: Settings
) -> None:
    client = speaking(admin_client, language, settings)
    for options in ({}, {"top_k": 0, "metadata": "x"}, {"metadata": "1=1"}, {"scope": "resource"}):
        response = client.post(
            act_url(world.row("thread"), "recall"), {"agent": "default", "query": "hello", **options}
        )
        assert not english(text_of(response)), options


def test_english_would_be_found(admin_client: Client, world: World) -> None:
    """The rule of the tests above can fail: in English, the pages say most of what the app can say."""
    found = set[str]()
    for _url, html in pages(admin_client, world):
        found |= english(html)
    assert len(found) > 200


@each_language
def test_numbers_and_dates_are_those_of_the_language(
    language: str, admin_client: Client, world: World, settings: Settings
) -> None:
    html = text_of(speaking(admin_client, language, settings).get(transcript(world.row("thread"))))
    day = world.row("message").created_at
    assert (
        f"{day.year}년 {day.month}월 {day.day}일"
        if language == "ko"
        else f"{day.year}年{day.month}月{day.day}日"
    ) in html
    assert f'<html lang="{language}"' in html
