"""Whether one short text was taken from another."""

from __future__ import annotations

# What `clone_thread` puts before the title of its source.
CLONE = "clone of "


def shows(title: str, text: str) -> bool:
    """Whether a title shows a piece of a text, or the whole of it.

    A title that was cut, or given to the clone of a thread, counts for what it was made of. White space and
    case do not matter. A title that says the same in other words is not recognised.
    """
    title, text = (" ".join(given.casefold().split()) for given in (title, text))
    while title.startswith(CLONE):
        title = title.removeprefix(CLONE)
    title = title.removesuffix("…").rstrip()
    return bool(title and text) and (title in text or text in title)
