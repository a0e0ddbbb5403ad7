"""The SQL twin of :mod:`memory.content.terms`, for PostgreSQL."""

from __future__ import annotations

import unicodedata

from memory.content.characters import IGNORED, MARK, UNKNOWN, UNSPACED, WORD
from memory.content.terms import MAX_INDEXED, MAX_WORD, character_class

# Its collation `pg_c_utf8` lowers every letter of Unicode, whatever the locale of the database.
FIRST_WITH_UNICODE_LOWER = 170_000

# Of making the terms of one message, in the planner's unit, as measured. With the default it would rather
# make the terms of a million texts than read the index.
COST = 3_000


def function_sql(name: str, server_version: int) -> str:
    """CREATE FUNCTION for `name(text) returns text[]`, which answers what `terms` does, in any order.

    It is IMMUTABLE in truth, as an index needs: characters are named by code point, and neither the
    locale of the database nor its Unicode version decides anything.
    """
    word, mark, unspaced = character_class(WORD, MARK), character_class(MARK), character_class(UNSPACED)
    # All with a space in front, so that what begins a text looks like what begins a run. A run begins with
    # no mark: marks after what separates are part of that. Overlapping pairs are the pairs of each run, and
    # those of what follows its first character; of a run, one of the two leaves its last character alone.
    return f"""
CREATE FUNCTION {name}(value text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST {COST}
AS $terms$
SELECT array_remove(string_to_array(
    regexp_replace(
        regexp_replace(line, '[^{word}]+[{mark}]*', ' ', 'g'), '([^ ]{{{MAX_WORD}}})[^ ]+', '\\1', 'g'
    )
    || ' ' || regexp_replace(runs, '([^ ][^ ]?)', '\\1 ', 'g')
    || regexp_replace(regexp_replace(runs, ' [^ ]', ' ', 'g'), '([^ ][^ ]?)', '\\1 ', 'g'),
    ' '
), '')
FROM (
    SELECT line, regexp_replace(line, '[^{unspaced}]+', ' ', 'g') AS runs
    FROM (
        SELECT ' ' || left({_lower(_known("value"), server_version)}, {MAX_INDEXED}) COLLATE "C" AS line
        OFFSET 0
    ) AS folded
    OFFSET 0
) AS split
$terms$"""


def _known(value: str) -> str:
    """The SQL of a text's beginning, without what has no shape and what Unicode 14.0 does not know."""
    start = f"""left({value}, {MAX_INDEXED}) COLLATE "C\""""
    shown = f"regexp_replace({start}, '[{character_class(IGNORED)}]+', '', 'g')"
    return f"normalize(regexp_replace({shown}, '[{character_class(UNKNOWN)}]', ' ', 'g'), NFKC)"


def _lower(value: str, server_version: int) -> str:
    """The SQL of a text in lower case, İ as i and ς as σ."""
    if server_version >= FIRST_WITH_UNICODE_LOWER:
        return f"""translate(lower(translate({value}, 'İ', 'i') COLLATE "pg_c_utf8"), 'ς', 'σ')"""
    # One by one, where a letter beyond ASCII asks for it: slow, and the same in every locale.
    upper = [chr(point) for point in range(0x80, 0x1F000) if _is_upper(chr(point))]
    capitals = "".join(upper) + "İς"
    small = "".join(map(str.lower, upper)) + "iσ"
    ascii_lower = f"""lower({value} COLLATE "C")"""
    return (
        f"(SELECT CASE WHEN low ~ '[{character_class(tuple((ord(c), ord(c)) for c in capitals))}]' "
        f"THEN translate(low, '{capitals}', '{small}') ELSE low END FROM (SELECT {ascii_lower} AS low) AS l)"
    )


def _is_upper(character: str) -> bool:
    """Whether lower case is another character, and NFKC leaves it."""
    return (
        character.lower() != character
        and len(character.lower()) == 1
        and unicodedata.normalize("NFKC", character) == character
    )
