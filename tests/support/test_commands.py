"""`manage.py export_resource` and `erase_resource` (issue 5, point 4)."""

from __future__ import annotations

import io
import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from memory import Memory
from memory.management.commands import erase_resource
from memory.managers.admin_event import AdminEventManager
from memory.models import AdminEvent, Message, Resource
from tests.support import MARKER, make_owner

memory = Memory()


class Terminal(io.StringIO):
    """Somebody at the keyboard."""

    def isatty(self) -> bool:
        return True


def run(command: str, *arguments: Any) -> str:
    """What a command prints; it is given a reason where there is none."""
    given = ("--reason", "asked for", *map(str, arguments))
    call_command(command, *given, stdout=(out := io.StringIO()))
    return out.getvalue()


@pytest.mark.django_db
def test_export_to_a_file_and_to_the_terminal(tmp_path: Path) -> None:
    make_owner("o")
    expected = "".join(memory.export_resource("o"))
    file = tmp_path / "o.jsonl"
    file.write_text("older")
    assert run("export_resource", "o", "--output", file) == ""
    assert stat.filemode(file.stat().st_mode) == "-rw-------"
    assert file.read_bytes() == expected.encode()
    assert list(tmp_path.iterdir()) == [file]
    assert run("export_resource", "o") == expected
    event = AdminEvent.objects.earliest("pk")
    assert (event.action, event.target, event.resource_uid) == ("export_resource", "resource", "o")
    assert (event.reason, event.actor) == ("asked for", None)
    assert event.actor_name.startswith("manage.py")


@pytest.mark.django_db
def test_export_to_be_read(tmp_path: Path) -> None:
    make_owner("o")
    page = run("export_resource", "o", "--format", "html")
    assert page.startswith("<!doctype html>")
    assert "manage.py" in page
    assert MARKER in page
    assert MARKER not in run("export_resource", "o", "--format", "markdown", "--masked")
    header, *_ = run("export_resource", "o", "--masked").split("\n")
    assert json.loads(header)["masked"] is True


@pytest.mark.django_db
def test_export_errors_are_one_line(tmp_path: Path) -> None:
    make_owner("o")
    for arguments in (
        ["unknown"],
        [" "],
        ["o", "--output", tmp_path / "no" / "where"],
        ["o", "--format", "pdf"],
    ):
        with pytest.raises(CommandError) as caught:
            run("export_resource", *arguments)
        assert "\n" not in str(caught.value)
    with pytest.raises(CommandError, match="There is no resource with the id 'unknown'"):
        run("export_resource", "unknown")
    assert not list(tmp_path.iterdir())


@pytest.mark.django_db
def test_an_export_that_fails_leaves_the_file_there_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memory.export import JSONLines

    def fail(*args: Any) -> str:
        raise OSError(28, "No space left on device")

    make_owner("o")
    file = tmp_path / "o.jsonl"
    file.write_text("older")
    monkeypatch.setattr(JSONLines, "message", fail)
    with pytest.raises(CommandError, match="No space left on device"):
        run("export_resource", "o", "--output", file)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["older"]
    assert not AdminEvent.objects.exists()


@pytest.mark.django_db
def test_an_export_that_cannot_be_noted_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any, **details: Any) -> None:
        raise RuntimeError("staged")

    make_owner("o")
    monkeypatch.setattr(AdminEventManager, "record", fail)
    for arguments in (["--output", tmp_path / "o.jsonl"], []):
        out = io.StringIO()
        with pytest.raises(RuntimeError, match="staged"):
            call_command("export_resource", "o", "--reason", "x", *map(str, arguments), stdout=out)
        assert out.getvalue() == ""
    assert not list(tmp_path.iterdir())


@pytest.mark.django_db
@pytest.mark.parametrize("command", ["export_resource", "erase_resource"])
def test_a_reason_is_asked_for_as_in_the_admin(command: str) -> None:
    make_owner("o")
    for given in ([], ["--reason", " "], ["--reason", "\u200b"]):
        with pytest.raises(CommandError, match="--reason"):
            call_command(command, "o", *given, stdout=io.StringIO())
    assert Message.objects.count() == 6
    assert not AdminEvent.objects.exists()


@pytest.mark.django_db
def test_an_id_sends_nothing_to_the_terminal() -> None:
    """Only what can be seen."""
    uid = "o\x1b[2J\u202e"
    make_owner(uid)
    assert "The resource o⟦U+001B⟧[2J⟦RLO⟧ has" in run("erase_resource", uid, "--yes")
    for command in ("export_resource", "erase_resource"):
        with pytest.raises(CommandError) as caught:
            run(command, uid)
        assert not {"\x1b", "\u202e"} & set(str(caught.value))


@pytest.mark.django_db(transaction=True)
def test_erase_asks_for_the_id(monkeypatch: pytest.MonkeyPatch) -> None:
    make_owner("o")
    monkeypatch.setattr(sys, "stdin", Terminal("O\n"))
    with pytest.raises(CommandError, match="Nothing was erased: that is another id"):
        run("erase_resource", "o")
    assert Message.objects.count() == 6
    assert not AdminEvent.objects.exists()
    monkeypatch.setattr(sys, "stdin", Terminal("o\n"))
    out = run("erase_resource", "o")
    assert "The resource o has 2 threads, 6 messages, 4 versions." in " ".join(out.split())
    assert not Resource.objects.exists()
    begun, erased = AdminEvent.objects.order_by("pk")
    assert (begun.action, erased.action) == ("begin_erase", "erase_resource")
    assert begun.group == erased.group
    assert begun.resource_uid == erased.resource_uid != "o"
    assert erased.resource_uid in out
    assert (begun.counts["messages"], erased.counts["messages"]) == (6, 6)
    assert {begun.reason, erased.reason} == {"asked for"}


@pytest.mark.django_db
def test_erase_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    make_owner("o")
    monkeypatch.setattr(sys, "stdin", io.StringIO("o\n"))
    with pytest.raises(CommandError, match="--yes"):
        run("erase_resource", "o")
    assert Message.objects.count() == 6
    monkeypatch.setattr(erase_resource, "CAP", 3)
    assert "3+ messages" in run("erase_resource", "o", "--yes")
    assert not Message.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_erase_with_vacuum(is_postgres: bool) -> None:
    make_owner("o")
    told = "VACUUM FULL" if is_postgres else "Nothing of it is left"
    assert told in run("erase_resource", "o", "--yes", "--vacuum")


@pytest.mark.django_db
def test_erase_errors_are_one_line() -> None:
    for uid in ("unknown", " "):
        with pytest.raises(CommandError) as caught:
            run("erase_resource", uid, "--yes")
        assert "\n" not in str(caught.value)
        assert caught.value.returncode == 1
    assert not AdminEvent.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_erase_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C: exit code 130; the event tells that it was begun."""
    from memory.managers import erasing

    def interrupt(*args: Any) -> None:
        raise KeyboardInterrupt

    make_owner("o")
    with monkeypatch.context() as patch:
        patch.setattr(erasing.Erasure, "_erase_row", interrupt)
        with pytest.raises(CommandError, match="Run it again") as caught:
            run("erase_resource", "o", "--yes")
    assert caught.value.returncode == 130
    assert AdminEvent.objects.get().action == "begin_erase"
    assert Resource.objects.filter(uid="o").exists()
    run("erase_resource", "o", "--yes")
    assert not Resource.objects.exists()
