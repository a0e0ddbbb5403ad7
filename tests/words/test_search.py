"""`search`: what it finds, for whom, in what order, and at what cost."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.db import connection, transaction

from memory import Memory
from memory.content.terms import query_terms, terms
from memory.exceptions import (
    RecallError,
    SemanticRecallNotConfigured,
    ThreadNotFound,
    ThreadNotOwned,
)
from memory.models import Message
from memory.querysets import newest
from memory.recall import SearchResult
from tests.cases import at, message, numbered, save, uids

pytestmark = pytest.mark.django_db

CORPUS = {
    "ko1": "전액환불 부탁드립니다. 주문번호 ORD-2024-4711 입니다.",
    "ko2": "회원탈퇴하려고 하는데 배송지연 때문에 화가 나요",
    "ko3": unicodedata.normalize("NFD", "환불은 언제 되나요"),
    "ko4": "교환 말고 불만 접수",
    "zh1": "我要申请退款，谢谢",
    "zh2": "账户注销后数据还在吗？退 款",
    "zh3": "文档在哪里",
    "ja1": "ﾊﾟｿｺﾝの払い戻しをお願いします",
    "en1": "Where is my refund for order A-4711?",
    "en2": "The chargeback of ORD-20244711 was REFUNDED",
    "en3": "it's the the the end, o'clock",
    "en4": "ＰＤＦ file_name.pdf",
    "mix": "refund 환불 退款",
    "fr1": "Café crème, s’il vous plaît",
    "empty": "… !!! …",
}
QUERIES = [
    *("환불", "환", "불", "탈퇴", "교환", "배송지연", "환불 refund", "전액 환불", "입니다 주문"),
    *("退款", "退", "注销", "文档", "数据还在", "款 谢", "申请退"),
    *("refund", "ref", "REFUND", "4711", "a-4711", "A-47", "ord 2024", "ORD-2024-4711", "fund", "47 11"),
    *(
        "パソコン",
        "ﾊﾟｿ",
        "払い戻し",
        "ＰＤＦ",
        "pdf",
        "file name",
        "cafe",
        "café",
        "CAFE\u0301",
        "s'il",
        "it's",
    ),
    *("the", "the end", "a", "o'clock", "의", "的"),
    *("'", '"', '"refund"', "refund AND", "NOT refund", "ref*", "refund OR nothing", "a & b", "(", "\\", "%"),
    *(
        "refund:*",
        "'refund' | '환불'",
        "-refund",
        "NEAR(a b)",
        "^refund",
        "{",
        "!",
        "…",
        "\ufffd",
        "😀",
        "\u0301",
    ),
    *(unicodedata.normalize("NFD", "전액환불"), "x" * 1_000, "환불" * 500, " ".join(["refund"] * 500)),
]


def search(query: str, **options: Any) -> SearchResult:
    return Memory().search(query, **{"resource_id": "r", **options})


def ids(result: SearchResult) -> list[str]:
    return [hit.message.uid for hit in result]


def oracle(query: str) -> list[str]:
    """What is found, newest first, by the definition."""
    wanted = query_terms(query)
    return [
        uid
        for uid, text in reversed(CORPUS.items())
        if wanted
        and all(
            any(term.startswith(one) if prefix else term == one for term in terms(text))
            for one, prefix in wanted
        )
    ]


@pytest.fixture
def corpus() -> None:
    save(*(message(uid, text, created_at=at(n)) for n, (uid, text) in enumerate(CORPUS.items())))


@pytest.mark.smoke
def test_the_same_rows_everywhere(corpus: None) -> None:
    for query in QUERIES:
        assert ids(search(query)) == oracle(query), query


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("환불", {"ko1", "ko3", "mix"}),
        ("탈퇴", {"ko2"}),
        ("退款", {"zh1", "mix"}),
        ("注销", {"zh2"}),
        ("4711", {"ko1", "en1"}),
        ("a-47", {"en1"}),
        ("ref", {"en1", "en2", "mix"}),
        ("pdf", {"en4"}),
        ("パソコン", {"ja1"}),
        ("환불 退款", {"mix"}),
        ("!", set()),
    ],
)
def test_what_people_look_for(corpus: None, query: str, expected: set[str]) -> None:
    assert set(ids(search(query))) == expected


def test_the_newest_come_first_and_the_limit_holds() -> None:
    save(*(message(f"m{n}", "same word", created_at=at(n % 3)) for n in range(9)))
    order = ["m8", "m5", "m2", "m7", "m4", "m1", "m6", "m3", "m0"]
    for limit in (1, 4, 9, 1_000):
        assert ids(search("word", limit=limit)) == order[:limit]


@pytest.mark.parametrize(("window", "common"), [(1, 1), (1, 100), (3, 1), (8, 1), (8, 100), (100, 1)])
def test_the_steps_of_a_search_change_nothing(
    corpus: None,
    window: int,
    common: int,
    monkeypatch: pytest.MonkeyPatch,
    count_queries: Callable[..., Any],
) -> None:
    """PostgreSQL is asked in steps that depend on how many messages there are."""
    monkeypatch.setattr(newest, "WINDOW", window)
    monkeypatch.setattr(newest, "COMMON", common)
    more = 0 if common == 100 else 1
    save(message("x1", "refund 환불 the", thread="x", created_at=at(99)), resource="other")
    save(message("u1", "refund 환불 the", thread="u", created_at=at(98)))
    for query in ("the", "refund", "환불", "4711", "nothing", "!"):
        expected = (["u1"] if query in ("the", "refund", "환불") else []) + oracle(query)
        everything = ["x1", *expected] if expected[:1] == ["u1"] else expected
        for limit in (1, 2, 3, 100):
            with count_queries(at_most=4 + more):
                assert ids(search(query, limit=limit)) == expected[:limit]
            with count_queries(at_most=2):
                assert ids(search(query, limit=limit, thread_id="t")) == oracle(query)[:limit]
            with count_queries(at_most=3 + more):
                found = newest.newest_containing(query, limit, scope=None, using="default")
            assert uids(found) == everything[:limit]


def test_dates_at_the_ends_of_the_calendar(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wider step would begin before the calendar does."""
    monkeypatch.setattr(newest, "WINDOW", 2)
    monkeypatch.setattr(newest, "COMMON", 1)
    dates = [datetime(year, 6, 1, tzinfo=UTC) for year in (1, 2, 3, 4, 9999)]
    save(*(message(f"m{n}", "word", created_at=date) for n, date in enumerate(dates)))
    found = newest.newest_containing("word", 4, scope=None, using="default")
    assert uids(found) == ["m4", "m3", "m2", "m1"]


def test_a_search_leaves_the_transaction_as_it_was(corpus: None, is_postgres: bool) -> None:
    with transaction.atomic():
        save(message("late", "late refund", created_at=at(100)))
        assert ids(search("late")) == ["late"]
        assert not transaction.get_rollback()
        if is_postgres:
            with connection.cursor() as cursor:
                cursor.execute("SHOW work_mem")
                assert cursor.fetchone() == ("4MB",)
    assert Message.objects.filter(uid="late").exists()


def test_the_answer() -> None:
    Memory().create_thread("r", thread_id="t", title="Orders")
    save(message("m1", "where is my refund"), message("m2", "refund", thread="u"))
    result = search(" Refund ")
    assert (result.count, len(result), result.query) == (2, 2, " Refund ")
    assert (result.search_scope, result.search_type) == ("resource", "text")
    untitled, titled = result
    assert (titled.message.uid, titled.thread_title, titled.snippet) == ("m1", "Orders", "where is my refund")
    assert untitled.thread_title == "u"
    assert (titled.context_before, titled.context_after, titled.similarity) == ((), (), None)
    assert titled.message.as_dict()["resourceId"] == "r"


def test_no_row_of_another_owner(corpus: None) -> None:
    save(message("x1", "refund 환불 退款", thread="x"), resource="other")
    for query in ("refund", "환불", "退款"):
        assert "x1" not in ids(search(query))
        assert ids(search(query, resource_id="other")) == ["x1"]
    assert ids(search("refund", resource_id="nobody")) == []


def test_one_thread(corpus: None) -> None:
    save(message("u1", "refund", thread="u", created_at=at(99)))
    save(message("x1", "refund", thread="x"), resource="other")
    result = search("refund", thread_id="u")
    assert (ids(result), result.search_scope) == (["u1"], "thread")
    assert ids(search("refund", thread_id="t")) == oracle("refund")
    with pytest.raises(ThreadNotFound):
        search("refund", thread_id="nothing")
    with pytest.raises(ThreadNotOwned):
        search("refund", thread_id="x")
    with pytest.raises(ThreadNotOwned):
        search("refund", thread_id="x", resource_id="nobody")


def test_what_is_deleted_or_redacted_is_not_found(corpus: None) -> None:
    Memory().delete_messages(["en1"])
    Message.objects.filter(uid="mix").update(body={"format": 2, "parts": []}, text="", metadata={})
    assert ids(search("refund")) == ["en2"]


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"query": ""}, "query"),
        ({"query": " \n\u3000"}, "query"),
        ({"query": None}, "query"),
        ({"query": 5}, "query"),
        ({"query": "x" * 1_000_001}, "query"),
        ({"resource_id": None}, "resource_id"),
        ({"resource_id": ""}, "resource_id"),
        ({"resource_id": "x" * 513}, "resource_id"),
        ({"thread_id": ""}, "thread_id"),
        ({"thread_id": 5}, "thread_id"),
        ({"limit": 0}, "limit"),
        ({"limit": 1_001}, "limit"),
        ({"limit": True}, "limit"),
        ({"limit": "20"}, "limit"),
        ({"limit": None}, "limit"),
        ({"thread_config": {"last_message": 1}}, "thread_config.last_message"),
    ],
)
def test_bad_input(options: dict[str, Any], field: str, count_queries: Callable[..., Any]) -> None:
    with count_queries(0), pytest.raises(RecallError) as caught:
        Memory().search(**{"query": "x", "resource_id": "r", **options})
    assert [issue.field for issue in caught.value.issues] == [field]


def test_what_cannot_be_stored_can_be_asked(corpus: None) -> None:
    assert ids(search("\x00refund\ud800")) == oracle("refund")


def test_the_number_of_queries(corpus: None, count_queries: Callable[..., Any]) -> None:
    for options in ({}, {"thread_id": "t"}, {"limit": 1}):
        with count_queries(at_most=4):
            result = search("the", **options)
            assert [hit.message.as_dict() for hit in result]
    with count_queries(at_most=1):
        search("the", resource_id="nobody")


def test_async_twins(corpus: None) -> None:
    assert ids(async_to_sync(Memory().asearch)("환불", resource_id="r")) == oracle("환불")
    assert ids(async_to_sync(Message.objects.asearch)("환불", resource_id="r")) == oracle("환불")


def semantic(**options: Any) -> Memory:
    return Memory(semantic_recall={"top_k": 2, "threshold": 0.5, "message_range": 1, **options})


@pytest.fixture
def conversations(on_commit: Callable[..., Any]) -> None:
    with on_commit():
        numbered(6)
        save(
            message("hit1", "purple rain", created_at=at(3.5)),
            message("hit2", "purple rain", created_at=at(9)),
        )
        save(message("other", "purple rain", thread="u", created_at=at(5)))
        save(message("old", "purple rain", thread="u", created_at=at(1)))
        save(message("foreign", "purple rain", thread="x"), resource="other")


def test_by_meaning(conversations: None, count_queries: Callable[..., Any]) -> None:
    with count_queries(at_most=4):
        result = semantic().search("purple rain", resource_id="r")
        assert [hit.message.as_dict() for hit in result]
    assert (ids(result), result.search_type, result.search_scope) == (
        ["hit2", "other"],
        "semantic",
        "resource",
    )
    hit2, other = result
    assert [row.uid for row in hit2.context_before] == ["m6"]
    assert hit2.context_after == ()
    assert [row.uid for row in other.context_before] == ["old"]
    assert (hit2.similarity, hit2.snippet, other.thread_title) == (1.0, "purple rain", "u")
    assert hit2.message.recall.sources == {"semantic"}
    assert hit2.context_before[0].recall.sources == {"context"}
    result = semantic(message_range={"before": 2, "after": 1}, top_k=4).search("purple rain", resource_id="r")
    assert ids(result) == ["hit2", "other", "hit1", "old"]
    hit1 = result.results[2]
    assert [row.uid for row in hit1.context_before] == ["m2", "m3"]
    assert [row.uid for row in hit1.context_after] == ["m4"]


def test_the_limit_by_meaning_keeps_the_most_similar(conversations: None) -> None:
    assert ids(semantic(top_k=4).search("purple rain", resource_id="r", limit=1)) == ["hit2"]
    assert ids(semantic(top_k=4).search("nothing like it", resource_id="r")) == []


def test_by_meaning_in_one_thread(conversations: None, count_queries: Callable[..., Any]) -> None:
    """The scope of the configuration decides; in the scope `thread` the one used last is the default."""
    thread = semantic(scope="thread", top_k=4)
    result = thread.search("purple rain", resource_id="r", thread_id="t")
    assert (ids(result), result.search_scope) == (["hit2", "hit1"], "thread")
    Memory().update_thread("t", title="now")
    with count_queries(at_most=4):
        assert ids(thread.search("purple rain", resource_id="r")) == ["hit2", "hit1"]
    assert ids(thread.search("purple rain", resource_id="nobody")) == []
    with pytest.raises(ThreadNotFound):
        thread.search("purple rain", resource_id="r", thread_id="new")
    for memory in (thread, semantic()):
        with pytest.raises(ThreadNotOwned):
            memory.search("purple rain", resource_id="r", thread_id="x")
        with pytest.raises(ThreadNotOwned):
            memory.search("purple rain", resource_id="nobody", thread_id="x")
    for thread_id in ("t", "u", "new"):
        with count_queries(at_most=4):
            found = semantic().search("purple rain", resource_id="r", thread_id=thread_id)
        assert ids(found) == ["hit2", "other"]


def test_without_an_embedder(settings: Any) -> None:
    settings.MEMORY = {"EMBEDDERS": {}}
    numbered(1)
    with pytest.raises(SemanticRecallNotConfigured):
        semantic().search("m1", resource_id="r")
    assert ids(search("m1")) == ["m1"]
    assert ids(semantic().search("m1", resource_id="r", thread_config={"semantic_recall": False})) == ["m1"]
