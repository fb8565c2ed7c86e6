"""Answers as bars over time: one line per fluent-value pair or event, for terminals and pipes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from horai.cli.console import stdout
from horai.io import AnswerRow, Unit, format_time
from horai.io.times import NANOSECONDS
from horai.result import Result
from horai.testing import table_key

_COLOURS = ("green", "cyan", "yellow", "magenta", "blue", "red")
_FILE_WIDTH = 100
_LABEL_SHARE = 0.4
_LISTS_FROM = 110  # a terminal this wide also shows the times themselves
_LIST_WIDTH = 32
_SECOND = 10**9
_CLOCK_SIZES = (
    *(1, 5, 15, 30, 60, 300, 900, 1800),
    *(3600, 2 * 3600, 6 * 3600, 12 * 3600, 86400, 7 * 86400, 28 * 86400),
)


class Signs(NamedTuple):
    """How a line is drawn."""

    bar: str
    open_end: str
    event: str
    nothing: str
    rule: str
    mark: str


FANCY = Signs("█", "▶", "◆", "·", "─", "┬")
PLAIN = Signs("=", ">", "*", ".", "-", "+")


@dataclass
class _Line:
    label: str
    name: str
    spans: list[tuple[int, int | None]] = field(default_factory=list)
    times: list[int] = field(default_factory=list)

    def listed(self) -> str:
        """The intervals or times in words."""
        if self.times:
            return " ".join(str(time) for time in self.times)
        return " ".join(f"({start},{'inf' if end is None else end})" for start, end in self.spans)


class Scale(NamedTuple):
    """Which time a column of the drawing stands for."""

    first: int
    last: int
    width: int

    def column(self, time: int) -> int:
        """The column of a time.

        >>> Scale(0, 100, 50).column(99), Scale(0, 100, 50).column(0)
        (49, 0)
        """
        place = (time - self.first) * self.width // max(1, self.last - self.first)
        return min(max(place, 0), self.width - 1)

    def edge(self, time: int) -> int:
        """The border between columns that is nearest to a time."""
        return round((time - self.first) * self.width / max(1, self.last - self.first))


def draw_run(result: Result, output: Path | None, unit: Unit | None) -> None:
    """The timeline of a run, as wide as the screen, or in a file."""
    with ExitStack() as opened:
        screen = stdout()
        if output is not None:
            file = opened.enter_context(output.open("w", encoding="utf-8"))
            screen = Console(file=file, width=_FILE_WIDTH, soft_wrap=True)
        screen.print(draw(result.rows("spans"), screen, result, unit))


def draw(rows: Iterable[AnswerRow], screen: Console, result: Result, unit: Unit | None) -> Text:
    """Some rows of a run, as wide as a screen and with the signs that it has."""
    until = result.answers[-1].query if result.answers else None
    is_plain = not screen.is_terminal or not (screen.encoding or "").lower().startswith("utf")
    signs = PLAIN if is_plain else FANCY
    return timeline(rows, screen.width, signs, unit=unit, until=until)


def timeline(
    rows: Iterable[AnswerRow],
    width: int,
    signs: Signs,
    *,
    unit: Unit | None = None,
    until: int | None = None,
) -> Text:
    """The timeline in a given width; `until` is how far the run has come."""
    lines = _lines(rows)
    if not lines:
        return Text("nothing holds and nothing happens")
    first, last = _extent(lines, until)
    longest = max(len(line.label) for line in lines)
    label_width = min(longest, max(12, int(width * _LABEL_SHARE)))
    list_width = 0
    if width >= _LISTS_FROM and unit is None:
        list_width = min(_LIST_WIDTH, max(len(line.listed()) for line in lines))
    bar_width = max(10, width - label_width - 2 - (list_width + 2 if list_width else 0))
    scale = Scale(first, last, bar_width)
    text = _axis(scale, label_width, unit, signs)
    colours = _colours(lines)
    for line in lines:
        text.append("\n" + _shortened(line.label, label_width).ljust(label_width) + "  ")
        _append_bar(text, line, scale, signs, colours[line.name])
        if list_width:
            text.append("  " + _shortened(line.listed(), list_width), style="dim")
    return text


def _lines(rows: Iterable[AnswerRow]) -> list[_Line]:
    lines: dict[str, _Line] = {}
    for row in rows:
        label = table_key(row).removeprefix("happens ")
        line = lines.setdefault(f"{row.kind} {label}", _Line(label, row.name))
        if row.kind == "event":
            line.times.append(row.time or 0)
        else:
            line.spans.append((row.start or 0, row.end))
    return list(lines.values())


def _extent(lines: list[_Line], until: int | None) -> tuple[int, int]:
    starts = [start for line in lines for start, _ in line.spans]
    ends = [end for line in lines for _, end in line.spans if end is not None]
    times = [time for line in lines for time in line.times]
    first, last = min(starts + times), max(starts + ends + times)
    has_open = any(end is None for line in lines for _, end in line.spans)
    if has_open and until is not None:
        last = max(last, until)
    # Room at the right, so that what is still open can be seen to go on.
    return first, last + max(1, (last - first) // 20 if has_open else 1)


def _colours(lines: list[_Line]) -> dict[str, str]:
    names = dict.fromkeys(line.name for line in lines)
    return {name: _COLOURS[place % len(_COLOURS)] for place, name in enumerate(names)}


def _append_bar(text: Text, line: _Line, scale: Scale, signs: Signs, colour: str) -> None:
    cells = [signs.nothing] * scale.width
    for start, end in line.spans:
        until = scale.width if end is None else scale.edge(end)
        begin = min(scale.edge(start), scale.width - 1)
        for place in range(begin, max(begin + 1, until)):
            cells[place] = signs.bar
        if end is None:
            cells[-1] = signs.open_end
    for time in line.times:
        cells[scale.column(time)] = signs.event
    for cell in cells:
        text.append(cell, style="dim" if cell == signs.nothing else colour)


def _axis(scale: Scale, label_width: int, unit: Unit | None, signs: Signs) -> Text:
    """Two lines: times, and where they stand."""
    words = [" "] * scale.width
    marks = [signs.rule] * scale.width
    free = 0
    ticks = _ticks(scale, unit)
    for time in ticks:
        place = scale.column(time)
        word = str(time) if unit is None else _clock(time, unit, ticks.step, scale)
        if place >= free and place + len(word) <= scale.width:
            words[place : place + len(word)] = word
            marks[place] = signs.mark
            free = place + len(word) + 1
    indent = " " * (label_width + 2)
    text = Text(indent + "".join(words).rstrip() + "\n")
    return text.append(indent + "".join(marks), style="dim")


def _ticks(scale: Scale, unit: Unit | None) -> range:
    """Round times, about one every ten columns."""
    rough = max(1, (scale.last - scale.first) / max(3, scale.width // 10))
    size = 0
    if unit is not None:
        points = (seconds * _SECOND // NANOSECONDS[unit] for seconds in _CLOCK_SIZES)
        size = next((number for number in points if number >= rough), 0)
    size = size or _round_size(rough)
    return range(-(-scale.first // size) * size, scale.last + 1, size)


def _clock(time: int, unit: Unit, step: int, scale: Scale) -> str:
    """A time of the axis, as short as it can be said."""
    day, _, clock = format_time(time, unit).rstrip("Z").partition("T")
    seconds = step * NANOSECONDS[unit] // _SECOND
    if seconds % 86400 == 0 or not clock:
        return day
    clock = clock[:5] if seconds % 60 == 0 else clock
    ends = {format_time(edge, unit)[:10] for edge in (scale.first, scale.last)}
    return clock if ends == {day} else f"{day[5:]} {clock}"


def _round_size(rough: float) -> int:
    """The next of 1, 2, 5, 10, 20, 50, ...

    >>> _round_size(3), _round_size(14), _round_size(0.5)
    (5, 20, 1)
    """
    power = 10 ** math.floor(math.log10(rough)) if rough >= 1 else 1
    return next(int(power * n) for n in (1, 2, 5, 10) if power * n >= rough)


def _shortened(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 2] + ".."
