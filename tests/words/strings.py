"""Random strings of many scripts."""

from __future__ import annotations

from random import Random

BLOCKS = (
    range(0x20, 0x7F),
    range(0xA0, 0x250),
    range(0x300, 0x530),
    range(0x590, 0x900),
    range(0x900, 0xE00),
    range(0xE00, 0x1200),
    range(0x1200, 0x1E00),
    range(0x1E00, 0x2200),
    range(0x2200, 0x3000),
    range(0x3000, 0x3400),
    range(0x4E00, 0x4F00),
    range(0xAC00, 0xAD00),
    range(0xF900, 0x10000),
    range(0x10000, 0x1E000, 7),
    range(0x1E000, 0x20100),
    range(0xE0000, 0xE0200),
    range(1, 0xD800),
    range(0x10000, 0x110000, 101),
    (0x130, 0x3A3, 0x3C2, 0x49, 0x307, 0x345, 0x1E9E, 0x212A, 0xFDFA, 0x3164, 0xAD, 0x200B, 0xB4, 0x3099),
)


def strings(seed: int, count: int) -> list[str]:
    """Strings that each mix one to four blocks, with more spaces than chance would give."""
    draw = Random(seed)
    found = []
    for _ in range(count):
        blocks = draw.sample(BLOCKS, draw.randint(1, 4))
        points = (draw.choice(draw.choice(blocks)) for _ in range(draw.randint(0, 60)))
        found.append("".join(" " if draw.random() < 0.1 else chr(point) for point in points))
    return found
