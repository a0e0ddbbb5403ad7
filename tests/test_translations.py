"""The catalogues of the app have every text of its code, translated whole (issue 5, point 7)."""

from __future__ import annotations

import gettext
import re
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import django
import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po
from django.apps import apps
from django.utils.translation.template import templatize

import memory

PACKAGE = Path(memory.__file__).parent
LOCALES = ("ko", "zh_Hans")
each_locale = pytest.mark.parametrize("locale", LOCALES)

# What marks a text in the code, as `makemessages` has it, and which of its arguments are texts.
CONTEXT, SECOND, THIRD = (1, "c"), 2, 3
KEYWORDS: dict[str, Any] = {
    **dict.fromkeys(("_", "gettext", "gettext_lazy", "gettext_noop")),
    **dict.fromkeys(("ngettext", "ngettext_lazy"), (1, SECOND)),
    **dict.fromkeys(("pgettext", "pgettext_lazy"), (CONTEXT, SECOND)),
    **dict.fromkeys(("npgettext", "npgettext_lazy"), (CONTEXT, SECOND, THIRD)),
}
PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]|%%")

# Texts that Django has as well, with the same meaning.
SAME_ELSEWHERE = {
    " By %(filter_title)s ",
    "Clear",
    "Close",
    "Delete",
    "Home",
    "IP address",
    "Messages",
    "Past 7 days",
    "Search",
    "Show all",
    "Text",
    "Today",
    "title",
}

# A context or None, then the text, or its singular and its plural.
Key = tuple[str | None, str | tuple[str, ...]]


def sources() -> Iterator[bytes]:
    """The Python files, and the templates as Python."""
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.read_bytes()
    for path in sorted(PACKAGE.rglob("*.html")):
        lines = templatize(path.read_text(), origin=str(path)).splitlines()
        yield "\n".join(line.strip() for line in lines).encode()


@cache
def extracted() -> frozenset[Key]:
    """The texts that the code marks, found without GNU gettext, which a machine may lack."""
    found: set[Key] = set()
    for source in sources():
        for _line, text, _comments, context in extract("python", BytesIO(source), keywords=KEYWORDS):
            found.add((context, text))
    return frozenset(found)


def file(locale: str, ending: str) -> Path:
    return PACKAGE / "locale" / locale / "LC_MESSAGES" / f"django.{ending}"


def catalogue(locale: str) -> Catalog:
    with file(locale, "po").open("rb") as opened:
        return read_po(opened, locale=locale, abort_invalid=True)


def messages(locale: str) -> list[Message]:
    """The entries, without the header."""
    return [message for message in catalogue(locale) if message.id]


def key(message: Message) -> Key:
    return message.context, message.id if isinstance(message.id, str) else tuple(message.id)


def forms(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


@each_locale
def test_the_catalogue_has_the_texts_of_the_code(locale: str) -> None:
    """`makemessages` would change nothing: none is missing, and none is left over."""
    assert len(extracted()) > 300
    assert {key(message) for message in messages(locale)} == extracted()
    assert not catalogue(locale).obsolete


@each_locale
def test_every_text_is_translated(locale: str) -> None:
    assert not catalogue(locale).fuzzy
    for message in messages(locale):
        assert all(forms(message.string)), message.id
        assert not message.fuzzy, message.id


@each_locale
def test_translations_have_the_placeholders_of_their_texts(locale: str) -> None:
    for message in messages(locale):
        for text in (*forms(message.id), *forms(message.string)):
            assert sorted(PLACEHOLDER.findall(text)) == sorted(PLACEHOLDER.findall(forms(message.id)[0]))


@each_locale
def test_both_languages_have_one_form_for_all_numbers(locale: str) -> None:
    found = catalogue(locale)
    assert (found.num_plurals, found.plural_expr) == (1, "0")
    assert all(len(forms(message.string)) == 1 for message in messages(locale))


@each_locale
def test_what_is_read_is_what_is_written(locale: str) -> None:
    """The `.mo` is that of the `.po`."""
    with file(locale, "mo").open("rb") as opened:
        compiled = read_mo(opened)
    read = {key(message): forms(message.string) for message in compiled if message.id}
    assert read == {key(message): forms(message.string) for message in messages(locale)}


@each_locale
def test_the_catalogue_names_nobody_and_no_place(locale: str) -> None:
    """Lines of the code would change it with every edit."""
    text = file(locale, "po").read_text()
    assert "@" not in text.split("\n\n")[0]
    assert not re.search(r"^#: ", text, re.MULTILINE)


def installed(locale: str) -> Iterator[gettext.GNUTranslations]:
    """The catalogues of Django and of the other apps of the bundled site."""
    others = [Path(app.path) for app in apps.get_app_configs() if app.label != "memory"]
    for path in (Path(django.__file__).parent / "conf", *others):
        found = gettext.translation("django", str(path / "locale"), [locale], fallback=True)
        if isinstance(found, gettext.GNUTranslations):
            yield found


@each_locale
def test_no_other_app_means_something_else(locale: str) -> None:
    """All apps share one catalogue, in which the first one wins: a word that others have too, and may mean
    otherwise, needs a context."""
    others = list(installed(locale))
    shared = {
        message.id
        for message in messages(locale)
        if isinstance(message.id, str)
        and not message.context
        and any(other.gettext(message.id) != message.id for other in others)
    }
    assert shared <= SAME_ELSEWHERE
    assert "Delete" in shared
