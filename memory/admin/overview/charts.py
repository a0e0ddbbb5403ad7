"""Bar charts as SVG: no script, no style of their own, colours by the classes of the page.

Every chart has its numbers beside it as a table; nobody has to see it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from memory.admin.display import grouped

WIDTH = 600
# Of a chart whose bars stand, and of a bar that lies.
HEIGHT, ROW = 140, 24
# Room for the scale above, the labels below, and those at the left of lying bars.
TOP, BOTTOM, LEFT = 18, 18, 220
LONGEST_LABEL = 30


class Bar(NamedTuple):
    """A value with what it is of; `shown` is the value as it is written, such as "10,000+"."""

    label: str
    value: int
    shown: str = ""

    @property
    def text(self) -> str:
        return self.shown or grouped(self.value)


def columns(name: str, title: str, description: str, bars: Sequence[Bar]) -> SafeString:
    """Bars that stand side by side, as those of days.

    Args:
        name: tells the chart from others of the page.
        title, description: what is read out.
        bars: the first and the last are labelled.
    """
    most = max([bar.value for bar in bars] or [0]) or 1
    step = WIDTH / max(1, len(bars))
    shapes = format_html_join(
        "",
        '<rect class="mem-chart-bar" x="{}" y="{}" width="{}" height="{}"><title>{}: {}</title></rect>',
        (
            (
                _number(place * step + step * 0.1),
                _number(TOP + HEIGHT * (1 - bar.value / most)),
                _number(step * 0.8),
                _number(HEIGHT * bar.value / most),
                bar.label,
                bar.text,
            )
            for place, bar in enumerate(bars)
        ),
    )
    base = TOP + HEIGHT
    scale = format_html(
        '<line class="mem-chart-line" x1="0" y1="{base}" x2="{width}" y2="{base}"></line>'
        '<text x="0" y="12">{most}</text><text x="0" y="{below}">{first}</text>'
        '<text class="mem-chart-end" x="{width}" y="{below}">{last}</text>',
        base=base,
        below=base + 14,
        width=WIDTH,
        most=grouped(most),
        first=bars[0].label if bars else "",
        last=bars[-1].label if bars else "",
    )
    return _svg(name, title, description, base + BOTTOM, format_html("{}{}", shapes, scale))


def rows(name: str, title: str, description: str, bars: Sequence[Bar]) -> SafeString:
    """Bars that lie below each other, each with its label and its value. Arguments as for :func:`columns`."""
    most = max([bar.value for bar in bars] or [0]) or 1
    # The value stands behind the bar.
    room = WIDTH - LEFT - 90
    shapes = format_html_join(
        "",
        '<text class="mem-chart-end" x="{before}" y="{line}">{label}</text>'
        '<rect class="mem-chart-bar" x="{left}" y="{top}" width="{width}" height="{height}"></rect>'
        '<text x="{behind}" y="{line}">{text}</text>',
        (
            {
                "before": LEFT - 8,
                "left": LEFT,
                "behind": _number(LEFT + room * bar.value / most + 6),
                "top": place * ROW + 4,
                "line": place * ROW + 16,
                "width": _number(room * bar.value / most),
                "height": ROW - 8,
                "label": _short(bar.label),
                "text": bar.text,
            }
            for place, bar in enumerate(bars)
        ),
    )
    return _svg(name, title, description, len(bars) * ROW, shapes)


def _svg(name: str, title: str, description: str, height: int, content: SafeString) -> SafeString:
    return format_html(
        '<svg class="mem-chart" role="img" viewBox="0 0 {width} {height}" '
        'aria-labelledby="chart-{name}-title chart-{name}-desc">'
        '<title id="chart-{name}-title">{title}</title><desc id="chart-{name}-desc">{description}</desc>'
        "{content}</svg>",
        name=name,
        title=title,
        description=description,
        width=WIDTH,
        height=height,
        content=content,
    )


def _number(value: float) -> str:
    """A number of SVG, in no language."""
    return f"{value:.1f}"


def _short(label: str) -> str:
    return label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1]}…"
