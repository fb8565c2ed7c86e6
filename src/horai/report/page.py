"""A page with a timeline: what holds when, one line for each, in a file that needs nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

Span = tuple[int, int]
"""From the first point until the first one after."""

OPEN = 1 << 62
"""The end of a span that is still open."""

MOST_LANES = 400
_LABELS, _WIDTH, _LANE, _AXIS = 310, 760, 22, 30
_LONGEST = 40  # letters of a label that fit beside its line
_LETTER = 7.5  # of labels on the axis
_COLOURS = ("#1f6f8b", "#b2402a", "#4b8b3b", "#7a4fa3", "#b07d10", "#3a5fb0", "#a33a6b", "#52616b")
_STYLE = """
:root { color-scheme: light dark; --ink: #1d2429; --soft: #66717a; --rule: #e3e7ea; --page: #fff }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8eb; --soft: #9aa5ad; --rule: #343b41; --page: #16191c }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page);
  max-width: 1080px; margin: 2.5rem auto; padding: 0 1.2rem }
h1 { font-size: 1.4rem; margin: 0 } p { color: var(--soft); margin: .3rem 0 1.4rem }
svg { width: 100%; height: auto; font: 12px system-ui, sans-serif }
text { fill: var(--ink) } .soft { fill: var(--soft) } line { stroke: var(--rule) }
.none { fill: var(--soft); opacity: .18 }
table { border-collapse: collapse; font-size: .9rem } td, th { padding: .15rem .9rem .15rem 0;
  text-align: left; border-bottom: 1px solid var(--rule) }
summary { cursor: pointer; margin: 1rem 0 }
"""


@dataclass(frozen=True, slots=True)
class Lane:
    """A line of the timeline: spans in which something holds, or points at which it happens."""

    group: str
    label: str
    spans: Sequence[Span] = ()
    points: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Story:
    """All that a page shows. `none` are the spans of points without an answer."""

    title: str
    about: str
    first: int
    last: int
    lanes: Sequence[Lane]
    none: Sequence[Span] = ()
    time: Callable[[int], str] = field(default=str)


def page(story: Story) -> str:
    """The page as HTML."""
    shown = story.lanes[:MOST_LANES]
    left = len(story.lanes) - len(shown)
    more = f"<p>{left} more lines are not drawn.</p>" if left else ""
    body = _svg(story, shown) if shown else "<p>Nothing holds at any time of this run.</p>"
    return (
        "<!doctype html>\n"
        f'<html lang="en"><head><meta charset="utf-8"><title>{escape(story.title)}</title>'
        '<meta name="viewport" content="width=device-width">'
        f"<style>{_STYLE}</style></head>\n<body><h1>{escape(story.title)}</h1>"
        f"<p>{escape(story.about)}</p>\n{body}{more}\n{_table(story, shown)}</body></html>\n"
    )


def _svg(story: Story, lanes: Sequence[Lane]) -> str:
    height = _AXIS + _LANE * len(lanes) + 8
    colours: dict[str, str] = {}
    for lane in lanes:
        colours.setdefault(lane.group, _COLOURS[len(colours) % len(_COLOURS)])
    parts = [f'<svg viewBox="0 0 {_LABELS + _WIDTH + 20} {height}" role="img">']
    parts += _axis(story, height)
    parts += [_band(story, *span, height) for span in story.none]
    for number, lane in enumerate(lanes):
        parts += _line(story, lane, _AXIS + _LANE * number, colours[lane.group])
    return "\n".join([*parts, "</svg>"])


def _line(story: Story, lane: Lane, top: int, colour: str) -> Iterable[str]:
    label = lane.label if len(lane.label) <= _LONGEST else lane.label[: _LONGEST - 1] + "…"
    yield f'<text x="{_LABELS - 12}" y="{top + 15}" text-anchor="end">{escape(label)}</text>'
    yield f'<line x1="{_LABELS}" x2="{_LABELS + _WIDTH}" y1="{top + 21}" y2="{top + 21}"/>'
    for start, end in lane.spans:
        x, right = _x(story, start), _x(story, min(end, story.last + 1))
        told = f"{lane.label}: {span_text(start, end, story.time)}"
        yield (
            f'<rect x="{x:.1f}" y="{top + 4}" width="{max(right - x, 1.5):.1f}" height="13" rx="2" '
            f'fill="{colour}"><title>{escape(told)}</title></rect>'
        )
    for point in lane.points:
        told = f"{lane.label}: {story.time(point)}"
        yield (
            f'<circle cx="{_x(story, point + 0.5):.1f}" cy="{top + 10.5}" r="4" fill="{colour}">'
            f"<title>{escape(told)}</title></circle>"
        )


def _axis(story: Story, height: int) -> Iterable[str]:
    marks = ticks(story.first, story.last)
    longest = max((len(story.time(tick)) for tick in marks), default=0)
    every = 1 + int(_LETTER * longest * len(marks) / _WIDTH)  # dates are long
    for number, tick in enumerate(marks):
        x = _x(story, tick + 0.5)
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="20" y2="{height - 8}"/>'
        if number % every == 0:
            text = escape(story.time(tick))
            yield f'<text class="soft" x="{x:.1f}" y="13" text-anchor="middle">{text}</text>'


def _band(story: Story, start: int, end: int, height: int) -> str:
    x, right = _x(story, start), _x(story, end)
    told = f"no answer: {span_text(start, end, story.time)}"
    return (
        f'<rect class="none" x="{x:.1f}" y="20" width="{right - x:.1f}" height="{height - 28}">'
        f"<title>{escape(told)}</title></rect>"
    )


def _x(story: Story, time: float) -> float:
    return _LABELS + _WIDTH * (time - story.first) / (story.last + 1 - story.first)


def ticks(first: int, last: int) -> list[int]:
    """About ten round numbers.

    >>> ticks(0, 42), ticks(36, 45)
    ([0, 5, 10, 15, 20, 25, 30, 35, 40], [36, 37, 38, 39, 40, 41, 42, 43, 44, 45])
    """
    step = 1
    while (last - first) // step >= 12:
        digits = str(step)
        step = step * 5 // 2 if digits.startswith("2") else step * 2
    return list(range(-(-first // step) * step, last + 1, step))


def _table(story: Story, lanes: Sequence[Lane]) -> str:
    rows = []
    for lane in lanes:
        spans = [span_text(*span, story.time) for span in lane.spans]
        when = ", ".join([*spans, *map(story.time, lane.points)])
        rows.append(f"<tr><td>{escape(lane.label)}</td><td>{escape(when)}</td></tr>")
    if not rows:
        return ""
    head = "<tr><th>what</th><th>when</th></tr>"
    return f"<details><summary>As a table</summary><table>{head}{''.join(rows)}</table></details>"


def span_text(start: int, end: int, time: Callable[[int], str] = str) -> str:
    """A span in words. Its end is the first point after it, as in answers.

    >>> span_text(14, 20), span_text(21, OPEN), span_text(3, 4)
    ('from 14 until 20', 'from 21 on', '3')
    """
    if end >= OPEN:
        return f"from {time(start)} on"
    return time(start) if end == start + 1 else f"from {time(start)} until {time(end)}"
