"""A site with an app of its own whose rows refer to messages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import ROOT

MODELS = """
from django.db import models


class Feedback(models.Model):
    message = models.ForeignKey("memory.Message", models.CASCADE)


class Ticket(models.Model):
    message = models.ForeignKey("memory.Message", models.PROTECT)
"""
SETTINGS = """
INSTALLED_APPS = ["django.contrib.contenttypes", "django.contrib.auth", "memory", "shop"]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "shop.sqlite3"}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
MEMORY = {"EMBED": "command"}
SECRET_KEY = "shop"
"""
STORY = """
import django

django.setup()
from django.core.management import call_command

call_command("migrate", run_syncdb=True, verbosity=0)

from memory import Memory
from memory.exceptions import RowsProtected
from memory.models import Message, Resource, Thread
from shop.models import Feedback, Ticket

memory = Memory()
for thread in ("a", "b"):
    said = [{"id": f"{thread}-{n}", "thread_id": thread, "role": "user", "content": "x"} for n in range(3)]
    memory.save_messages(said, create_thread=True, resource_id="r")
for message in Message.objects.all():
    Feedback.objects.create(message=message)


def left():
    return Thread.objects.count(), Message.objects.count(), Feedback.objects.count()


assert memory.delete_messages(["a-0"]) == 1
assert left() == (2, 5, 5), left()
memory.delete_thread("a")
assert left() == (1, 3, 3), left()
Ticket.objects.create(message=Message.objects.get(uid="b-0"))
acts = (
    lambda: memory.delete_messages(["b-0"]),
    lambda: memory.delete_thread("b"),
    lambda: Resource.objects.erase_resource("r"),
)
for act in acts:
    try:
        act()
    except RowsProtected as error:
        assert "shop.Ticket" in str(error)
    else:
        raise AssertionError(act)
    assert left() == (1, 3, 3), left()
Ticket.objects.all().delete()
assert Resource.objects.erase_resource("r").counts["messages"] == 3
assert left() == (0, 0, 0), left()
"""


@pytest.mark.once
def test_rows_that_refer_to_messages_go_with_them_or_hold_them(tmp_path: Path) -> None:
    """As Django's own `delete()` does it, whichever verb deletes."""
    (tmp_path / "shop").mkdir()
    for name, text in (("shop/__init__.py", ""), ("shop/models.py", MODELS), ("shop_settings.py", SETTINGS)):
        (tmp_path / name).write_text(text)
    environ = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "shop_settings",
        "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)]),
    }
    run = subprocess.run(
        [sys.executable, "-c", STORY], cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
