"""How much there is, in bounded questions, kept for a minute (issue point 6)."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any
from xml.etree import ElementTree

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from memory.admin.overview.charts import Bar, columns, rows
from memory.admin.overview.figures import Backlog, messages_per_day
from memory.models import EmbeddingJob, EmbeddingSpace, Message, Thread
from tests.admin import conversation, text_of
from tests.admin.staff import staff

pytestmark = pytest.mark.usefixtures("empty_cache")

OVERVIEW = "admin:memory_overview"
# Markup characters, and a mark that turns the direction of writing.
ODD = '<b>"&\u202e'


@pytest.fixture
def filled(db: None) -> Thread:
    """Messages of two owners, long ago, and work of each kind."""
    for number, owner in ((5, ODD), (3, "r2")):
        conversation(f"t-{owner}", [f"text {n}" for n in range(number)], owner=owner)
    keys = list(Message.objects.order_by("pk").values_list("pk", flat=True))
    EmbeddingJob.objects.all().delete()
    space, _ = EmbeddingSpace.objects.get_or_create(
        alias="default", defaults={"model": "hash", "dimensions": 64}
    )
    states = [("open", 0), ("open", 0), ("open", 2), ("failed", 5)]
    EmbeddingJob.objects.bulk_create(
        EmbeddingJob(message_id=key, space=space, state=state, attempts=attempts)
        for key, (state, attempts) in zip(keys, states, strict=False)
    )
    return Thread.objects.get(uid="t-r2")


def sections(response: Any) -> dict[str, list[tuple[str, str]]]:
    """The tables of the page by the names of their sections."""
    assert response.status_code == 200
    return {
        section.name: [(label, number) for label, number, _ in section.lines]
        for section in response.context["sections"]
    }


def test_the_numbers(reader: Client, filled: Thread) -> None:
    found = sections(reader.get(reverse(OVERVIEW)))
    assert [number for _, number in found["backlog"]] == ["2", "1", "1"]
    assert found["owners"] == [('<b>"&⟦RLO⟧', "5"), ("r2", "3")]
    assert len(found["days"]) == 30


def test_days_are_those_of_the_viewer(filled: Thread) -> None:
    """Each of the past 30 has a number, those without messages too."""
    Message.objects.all().update(created_at=timezone.now() - timedelta(40))
    keys = list(Message.objects.order_by("pk").values_list("pk", flat=True))
    with timezone.override("Asia/Seoul"):
        today = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
        for key, moment in zip(keys, (today, today - timedelta(microseconds=1)), strict=False):
            Message.objects.filter(pk=key).update(created_at=moment)
        counted = messages_per_day(None)
    assert [number for _, number in counted][-3:] == [0, 1, 1]
    assert counted[-1][0] == today.date()
    assert sum(number for _, number in counted) == 2


def test_the_answer_is_kept_and_says_how_old_it_is(
    reader: Client, filled: Thread, count_queries: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with count_queries(at_most=11):
        first = reader.get(reverse(OVERVIEW))
    filled.messages.all().delete()
    later = timezone.now() + timedelta(seconds=42)
    monkeypatch.setattr("django.utils.timezone.now", lambda: later)
    with count_queries(at_most=4) as statements:
        second = reader.get(reverse(OVERVIEW))
    assert "memory_" not in str(statements)
    assert sections(second) == sections(first)
    assert re.search(r"As it was 4[23] seconds ago\.", text_of(second))
    cache.clear()
    assert sections(reader.get(reverse(OVERVIEW)))["owners"] == [('<b>"&⟦RLO⟧', "5")]


def test_each_number_needs_the_right_to_its_list(filled: Thread) -> None:
    url = reverse(OVERVIEW)
    looks = staff()
    assert set(sections(looks.get(url))) == {"days", "backlog", "owners"}
    looks.logout()
    assert looks.get(url).status_code == 302


@pytest.mark.parametrize(
    ("codename", "names"),
    [("view_message", {"days"}), ("view_embeddingjob", {"backlog"}), ("view_thread", None)],
)
def test_who_sees_less(django_user_model: Any, filled: Thread, codename: str, names: Any) -> None:
    from django.contrib.auth.models import Permission

    user = django_user_model.objects.create_user("little", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename=codename))
    client = Client()
    client.force_login(user)
    response = client.get(reverse(OVERVIEW))
    assert (set(sections(response)) if names else response.status_code) == (names or 403)
    index = text_of(client.get(reverse("admin:app_list", args=["memory"])))
    assert (reverse(OVERVIEW) in index) == bool(names)


def test_only_days_are_those_of_a_zone(reader: Client, filled: Thread, count_queries: Any) -> None:
    """What costs most is asked once a minute, wherever the viewers are."""
    reader.cookies["memory_zone"] = "Asia/Seoul"
    reader.get(reverse(OVERVIEW))
    reader.cookies["memory_zone"] = "America/New_York"
    with count_queries(at_most=5) as statements:
        reader.get(reverse(OVERVIEW))
    asked = [statement for statement in statements if "memory_" in statement]
    assert len(asked) == 1
    assert "UNION ALL" in asked[0]


def only_r2(request: Any) -> list[str]:
    return ["r2"]


def test_only_own_resources_are_counted(reader: Client, filled: Thread, settings: Settings) -> None:
    """Also right after somebody has asked who sees them all."""
    everything = sections(reader.get(reverse(OVERVIEW)))
    settings.MEMORY = {**settings.MEMORY, "ADMIN_RESOURCES": "tests.admin.test_overview.only_r2"}
    own = sections(reader.get(reverse(OVERVIEW)))
    assert own["owners"] == [("r2", "3")]
    assert own["owners"] != everything["owners"]
    assert [number for _, number in own["backlog"]] == ["0", "0", "0"]


def test_a_backlog_is_counted_to_a_limit(
    reader: Client, filled: Thread, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Backlog(waiting=10_001, failing=0, failed=10_000, oldest=None)
    monkeypatch.setattr("memory.admin.overview.figures.embedding_backlog", lambda owners: found)
    numbers = [number for _, number in sections(reader.get(reverse(OVERVIEW)))["backlog"]]
    assert numbers == ["10,000+", "0", "10,000"]


@pytest.mark.parametrize("make", [columns, rows])
@pytest.mark.parametrize("bars", [[], [Bar("a", 0)], [Bar(ODD, 3), Bar("b" * 99, 7, "7+")]])
def test_a_chart_is_sound_and_told(make: Any, bars: list[Bar]) -> None:
    """It has a name and a description, no style and no script, whatever its labels are."""
    svg = make("x", ODD, "said", bars)
    root = ElementTree.fromstring(svg)
    assert root.attrib["role"] == "img"
    named = [element.text for element in root if element.attrib.get("id", "").startswith("chart-x-")]
    assert named == [ODD, "said"]
    assert root.attrib["aria-labelledby"] == "chart-x-title chart-x-desc"
    assert "style" not in svg
    assert "nan" not in svg.lower()
    assert len([element for element in root if element.tag == "rect"]) == len(bars)


def test_an_empty_site(reader: Client) -> None:
    found = sections(reader.get(reverse(OVERVIEW)))
    assert {number for _, number in found["days"]} == {"0"}
    assert found["owners"] == []
