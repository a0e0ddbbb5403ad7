"""Characters that hide, or turn around, what staff read: made visible."""

from __future__ import annotations

import re
import unicodedata

NAMES = {
    "\u00ad": "SHY",
    "\u034f": "CGJ",
    "\u061c": "ALM",
    "\u115f": "HCF",
    "\u1160": "HJF",
    "\u17b4": "KIVAQ",
    "\u17b5": "KIVAA",
    "\u180e": "MVS",
    "\u200b": "ZWSP",
    "\u200c": "ZWNJ",
    "\u200d": "ZWJ",
    "\u200e": "LRM",
    "\u200f": "RLM",
    "\u2028": "LS",
    "\u2029": "PS",
    "\u202a": "LRE",
    "\u202b": "RLE",
    "\u202c": "PDF",
    "\u202d": "LRO",
    "\u202e": "RLO",
    "\u2060": "WJ",
    "\u2066": "LRI",
    "\u2067": "RLI",
    "\u2068": "FSI",
    "\u2069": "PDI",
    "\u2800": "BLANK",
    "\u3164": "HF",
    "\ufeff": "BOM",
    "\uffa0": "HWHF",
}
# Joiners are part of emoji and of some scripts; beside a Latin letter they only hide.
_JOINERS = "\u200c\u200d"
_LATIN = "[\u0001-\u024f]"
_SELECTORS = "[\ufe00-\ufe0f\U000e0100-\U000e01ef]"
_ALWAYS = "".join(name for name in NAMES if name not in _JOINERS)
_UNSEEN = re.compile(
    f"[{_ALWAYS}\u2061-\u2065\u206a-\u206f\ufff9-\ufffb]"
    f"|(?<={_LATIN})[{_JOINERS}]|[{_JOINERS}](?={_LATIN})"
    # Selectors of variants, which say nothing beside a Latin letter or one after the other, and could carry a
    # text within the text; one alone belongs to an emoji or an ideograph.
    f"|(?<=[A-Za-z\u00c0-\u024f]){_SELECTORS}+|(?<!{_SELECTORS}){_SELECTORS}{{2,}}"
    # Copies of ASCII without a shape: a text within the text. Flags of regions, which begin with a black
    # flag, are left alone.
    "|(?<!\U0001f3f4)(?<![\U000e0020-\U000e007e])[\U000e0001\U000e0020-\U000e007e]+"
    # Control characters but line breaks and tabs.
    "|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)


def visible(text: str) -> str:
    """A text with such characters by their names, or by their numbers: `⟦RLO⟧`, `⟦U+0007⟧`."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSEEN.sub(_name, text.replace("\r\n", "\n"))


def shows_something(text: str) -> bool:
    """Whether a text has a letter, a digit, a sign or a symbol: more than spaces and what is not seen."""
    return any(unicodedata.category(character)[0] in "LNPS" for character in text if character not in NAMES)


def _name(found: re.Match[str]) -> str:
    unseen = found[0]
    if unseen in NAMES:
        return f"⟦{NAMES[unseen]}⟧"
    if re.match(_SELECTORS, unseen):
        return f"⟦VS {len(unseen)}⟧"
    if unseen[0] >= "\U000e0000":
        # U+E0001 says that tags follow.
        said = "".join(chr(ord(tag) - 0xE0000) for tag in unseen if tag >= "\U000e0020")
        return f"⟦TAGS {said}⟧"
    return f"⟦U+{ord(unseen):04X}⟧"
