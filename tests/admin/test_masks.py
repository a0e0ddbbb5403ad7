"""Without `view_message_content` nothing tells what messages say (issue 5, point 5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.http import StreamingHttpResponse
from django.test import Client
from django.urls import reverse

from memory.admin import EmbeddingJobAdmin, MessageAdmin, ThreadAdmin, WorkingMemoryAdmin
from memory.export import FORMATS
from memory.models import Message, Resource, Thread
from tests.admin import MARKER, addresses, changelist, conversation, marked_rows, text_of, transcript
from tests.admin.conftest import VIEW_ALL
from tests.admin.staff import READ

# As long as the marker, and nowhere in the database.
OTHER = "quebecer"


def test_the_crawl_reaches_the_pages_and_sees_the_marker(reader: Client, marked: dict[str, Any]) -> None:
    """The rule of the next test can fail: a reader meets the marker on nearly every page."""
    found = [url for url in addresses(marked) if MARKER in text_of(reader.get(url, follow=True))]
    for url in (changelist("thread"), changelist("message"), transcript(marked["thread"])):
        assert url in found
    assert len(found) >= 10


def test_no_page_shows_content(masked: Client, marked: dict[str, Any]) -> None:
    crawled = 0
    for url in addresses(marked):
        for query in ("", "?all=", "?o=2", "?o=-2.1", "?_popup=1", f"?message={marked['message'].uid}"):
            response = masked.get(url + query, follow=True)
            assert MARKER not in text_of(response).lower(), url + query
            crawled += response.status_code == 200
    assert crawled >= 80


def test_no_page_of_an_act_shows_content(staff: Callable[..., Client], marked: dict[str, Any]) -> None:
    """Whoever may do everything but read meets no content on the pages of acts."""
    everything = Permission.objects.filter(content_type__app_label="memory").exclude(
        codename="view_message_content"
    )
    client, opened = staff(*everything.values_list("codename", flat=True)), 0
    Message.objects.filter(pk=marked["message"].pk).update(cloned_from="somewhere")
    for url in addresses(marked):
        response = client.get(url, follow=True)
        assert MARKER not in text_of(response).lower(), url
        opened += "mem-act" in text_of(response)
    assert opened >= 10


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("model", ["thread", "resource"])
def test_no_export_holds_content(
    staff: Callable[..., Client], marked: dict[str, Any], model: str, format: str
) -> None:
    """The files too, as whoever may export but not read gets them, and as a reader does."""
    url = reverse(f"admin:memory_{model}_export", args=[marked[model].pk])
    sent = {"reason": "x", "format": format}
    for rights, is_shown in ((("export_resource",), False), (("export_resource", READ), True)):
        response = staff(*VIEW_ALL, *rights).post(url, sent)
        assert isinstance(response, StreamingHttpResponse)
        file = b"".join(response).decode()
        assert (MARKER in file) == is_shown
        assert "t-marked" in file


@pytest.mark.parametrize(
    ("admin_class", "name", "field"),
    [
        (ThreadAdmin, "thread", "title"),
        (MessageAdmin, "message", "text"),
        (MessageAdmin, "message", "body"),
        (WorkingMemoryAdmin, "workingmemory", "value"),
        (EmbeddingJobAdmin, "embeddingjob", "error"),
    ],
)
def test_a_site_that_shows_other_columns_shows_no_content(
    masked: Client,
    reader: Client,
    marked: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    admin_class: Any,
    name: str,
    field: str,
) -> None:
    """Columns and fields of its own choice, side by side too, are hidden like ours."""
    monkeypatch.setattr(admin_class, "list_display", ("pk", field))
    monkeypatch.setattr(admin_class, "list_display_links", ("pk",))
    monkeypatch.setattr(admin_class, "unlisted", ())
    monkeypatch.setattr(admin_class, "fieldsets", ((None, {"fields": ("pk", (field,))}),), raising=False)
    for url in (changelist(name), reverse(f"admin:memory_{name}_change", args=[marked[name].pk])):
        assert MARKER in text_of(reader.get(url))
        assert MARKER not in text_of(masked.get(url))


def test_searches_and_filters_tell_nothing(masked: Client, marked: dict[str, Any]) -> None:
    """A word of the content finds as much as any other word: nothing."""
    lists = [changelist(name) for name in marked] + [reverse("admin:memory_search")]
    for url in lists:
        there = text_of(masked.get(url, {"q": MARKER}))
        assert there.replace(MARKER, OTHER) == text_of(masked.get(url, {"q": OTHER})), url
        assert marked["message"].uid not in there
    for field in ("metadata", "text__contains", "title__contains", "thread__title", "text_hash", "q2"):
        for name in marked:
            answers = [masked.get(changelist(name), {field: word}) for word in (MARKER, OTHER)]
            assert answers[0].status_code == answers[1].status_code
            assert answers[0].status_code in (302, 400)


def test_choices_tell_nothing(staff: Callable[..., Client], marked: dict[str, Any]) -> None:
    """The JSON from which select fields choose, for whoever may see the models."""
    client = staff(*VIEW_ALL)
    for name, field in (("embedding", "message"), ("embeddingjob", "message"), ("workingmemory", "thread")):
        asked = {"app_label": "memory", "model_name": name, "field_name": field}
        answers = [
            client.get(reverse("admin:autocomplete"), asked | {"term": word}) for word in (MARKER, OTHER)
        ]
        assert answers[0].json() == answers[1].json() == {"results": [], "pagination": {"more": False}}
        unsearched = client.get(reverse("admin:autocomplete"), asked | {"term": ""})
        assert MARKER not in unsearched.content.decode()


@pytest.mark.parametrize("order", ["1", "2", "-2", "3", "2.-3"])
def test_no_order_tells(masked: Client, order: str) -> None:
    """Rows cannot be sorted by what is hidden."""
    first, second = conversation("a", ["zebra"]), conversation("b", ["ape"])
    Thread.objects.filter(pk=first.pk).update(title="ape")
    Thread.objects.filter(pk=second.pk).update(title="zebra")
    for model in ("thread", "message", "resource"):
        usual = [row.pk for row in masked.get(changelist(model)).context["cl"].result_list]
        asked = [row.pk for row in masked.get(changelist(model), {"o": order}).context["cl"].result_list]
        assert asked == usual


@pytest.mark.parametrize("model", [Resource, Thread, Message])
def test_ids_are_found(masked: Client, model: Any) -> None:
    rows = marked_rows(MARKER)
    row = rows[str(model._meta.model_name)]
    listed = masked.get(changelist(row._meta.model_name), {"q": row.uid}).context["cl"]
    assert [found.pk for found in listed.result_list] == [row.pk]
    answer = masked.get(reverse("admin:memory_search"), {"q": row.uid})
    assert row.uid in text_of(answer)
    assert MARKER not in text_of(answer)


def test_accounts_lead_to_messages_for_readers_only(
    masked: Client, reader: Client, thread: Thread, django_user_model: Any
) -> None:
    """Without the permission, only ids can be searched (issue 5, point 5)."""
    Resource.objects.filter(pk=thread.resource_id).update(
        user=django_user_model.objects.create(username="ada")
    )
    for asked, found in (("ada", {masked: 0, reader: 3}), (thread.resource.uid, {masked: 3, reader: 3})):
        for viewer, number in found.items():
            page = viewer.get(changelist("message"), {"owner": asked})
            assert page.context["cl"].result_count == number


@pytest.mark.parametrize(
    ("model", "name"), [("resource", "link"), ("thread", "clone"), ("thread", "transfer")]
)
def test_nobody_opens_content_by_another_way(
    staff: Callable[..., Client], marked: dict[str, Any], model: str, name: str
) -> None:
    """What is linked or given to an account of one's own is read over HTTP: for those who may read here."""
    everything = Permission.objects.filter(content_type__app_label="memory").exclude(
        codename="view_message_content"
    )
    client = staff(*everything.values_list("codename", flat=True))
    url = reverse(f"admin:memory_{model}_{name}", args=[marked[model].pk])
    assert client.get(url).status_code == 403
    assert client.post(url, {"reason": "x", "account": "staff-0", "resource": "r-marked"}).status_code == 403
    assert url not in text_of(client.get(reverse(f"admin:memory_{model}_change", args=[marked[model].pk])))
