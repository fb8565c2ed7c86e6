"""Answers as pages for people: `horai report -o page.html`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from horai import io
from horai.errors import counted
from horai.io import format_time, to_source
from horai.report.page import OPEN, Lane, Span, Story, page
from horai.runtime.lars.result import LarsResult, spans_of, written

if TYPE_CHECKING:
    from horai.result import Result
    from horai.runtime.combined.session import CombinedResult


def write_page(
    result: LarsResult | Result | CombinedResult, path: Path, title: str, unit: io.Unit | None
) -> None:
    """Write the page of a run."""
    if isinstance(result, LarsResult):
        story = _of_program(result, title)
    else:
        story = _of_rows(result, result.rows("final"), title)
    _write(story, path, unit)


def write_page_of_rows(
    result: Result, rows: Sequence[io.AnswerRow], path: Path, title: str, unit: io.Unit | None
) -> None:
    """Write a page with some of the rows that a run says at its end."""
    _write(_of_rows(result, rows, title), path, unit)


def _write(story: Story, path: Path, unit: io.Unit | None) -> None:
    path.write_text(page(_timed(story, unit)), encoding="utf-8")


def _timed(story: Story, unit: io.Unit | None) -> Story:
    if unit is None:
        return story
    told = (story.title, story.about, story.first, story.last, story.lanes, story.none)
    return Story(*told, time=lambda point: format_time(point, unit))


def _of_program(result: LarsResult, title: str) -> Story:
    """One line per atom: the query times at which it holds, one after the other."""
    found = spans_of(result)
    held = sorted((atom.name, written(atom), spans) for atom, spans in found.atoms.items())
    about = f"{counted(len(result.answers), 'query time')}, {counted(len(held), 'atom')}"
    lanes = [Lane(*lane) for lane in held]
    return Story(title, about, found.first, found.last, lanes, found.none)


def _of_rows(result: Result | CombinedResult, rows: Sequence[io.AnswerRow], title: str) -> Story:
    """One line per fluent and value, atom, or event."""
    spans: dict[tuple[str, str], list[Span]] = {}
    points: dict[tuple[str, str], list[int]] = {}
    for row in rows:
        key = (row.name, _text(row))
        if row.time is not None:
            points.setdefault(key, []).append(row.time)
        elif row.start is not None:
            spans.setdefault(key, []).append((row.start, OPEN if row.end is None else row.end))
    last = result.answers[-1].query if result.answers else 0
    starts = [span[0] for listed in spans.values() for span in listed]
    first = min([last, *starts, *(time for times in points.values() for time in times)])
    none = getattr(result, "unanswered", ())
    lanes = [
        Lane(key[0], key[1], sorted(spans.get(key, [])), sorted(points.get(key, [])))
        for key in sorted({*spans, *points})
    ]
    about = f"{counted(len(rows), 'row')} at {counted(len(result.answers), 'query time')}"
    return Story(title, about, first, last, lanes, none)


def _text(row: io.AnswerRow) -> str:
    args = ",".join(map(to_source, row.args))
    name = f"{row.name}({args})" if args else row.name
    return name if row.value is None else f"{name}={to_source(row.value)}"


def title_of(paths: Iterable[Path]) -> str:
    """The title of a page: the files of rules."""
    return ", ".join(path.name for path in paths)
