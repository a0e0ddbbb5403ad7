"""Whether one short text was taken from another."""

from __future__ import annotations

from memory.content.terms import fold, runs

# What `clone_thread` puts before the title of its source.
CLONE = "clone of "

# Words, and whether their script puts no spaces between them: see :func:`memory.content.terms.runs`.
Runs = list[tuple[str, bool]]


def shows(title: str, text: str) -> bool:
    """Whether a title shows a piece of a text, or the whole of it, in whole words.

    A title that was cut, or given to the clone of a thread, counts for what it was made of. White space, case
    and punctuation do not matter. A title that says the same in other words is not recognised.
    """
    title = " ".join(title.split())
    while title[: len(CLONE)].casefold() == CLONE:
        title = title[len(CLONE) :]
    is_cut = title.endswith("…")
    title = title.removesuffix("…")
    named, said = list(runs(fold(title))), list(runs(fold(text)))
    if not (named and said):
        # Signs alone are no piece of anything else.
        return bool(title) and fold(title) == fold(" ".join(text.split()))
    return _stands_in(named, said, is_cut=is_cut) or _stands_in(said, named)


def _stands_in(part: Runs, whole: Runs, *, is_cut: bool = False) -> bool:
    """Whether words stand in others, one behind the other; the last of them may be cut."""
    (run, is_unspaced), *more = part
    if is_unspaced and len(run) == 1 and not more:
        # A single character says something by itself only where it stands alone.
        return part[0] in whole
    sought = _line(part)
    return (sought.rstrip() if is_cut else sought) in _line(whole)


def _line(found: Runs) -> str:
    """Words between spaces, and each character of a script without spaces likewise."""
    return f" {' '.join(' '.join(run) if is_unspaced else run for run, is_unspaced in found)} "
