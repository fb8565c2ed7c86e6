"""Answers as pages for people: `horai report -o page.html`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from horai import io
from horai.errors import counted
from horai.io import format_time, to_source
from horai.report.page import OPEN, Lane, Span, Story, page

if TYPE_CHECKING:
    from horai.result import Result


def write_page(result: Result, path: Path, title: str, unit: io.Unit | None) -> None:
    """Write the page of a run."""
    write_page_of_rows(result, result.rows("spans"), path, title, unit)


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


def _of_rows(result: Result, rows: Sequence[io.AnswerRow], title: str) -> Story:
    """One line per fluent and value, atom, or event."""
    spans: dict[tuple[str, str], list[Span]] = {}
    points: dict[tuple[str, str], list[int]] = {}
    for row in rows:
        key = (row.name, _text(row))
        if row.time is not None:
            points.setdefault(key, []).append(row.time)
        elif row.start is not None:
            spans.setdefault(key, []).append((row.start, OPEN if row.end is None else row.end))
    lanes = [
        Lane(key[0], key[1], sorted(spans.get(key, [])), sorted(points.get(key, [])))
        for key in sorted({*spans, *points})
    ]
    first, last = result.extent
    starts = [span[0] for listed in spans.values() for span in listed]
    first = min([first, *starts, *(time for times in points.values() for time in times)])
    what = counted(len(lanes), "atom") if result.rules.language == "lars" else None
    about = f"{what or counted(len(rows), 'row')} at {counted(len(result.answers), 'query time')}"
    return Story(title, about, first, last, lanes, result.unanswered)


def _text(row: io.AnswerRow) -> str:
    args = ",".join(map(to_source, row.args))
    name = f"{row.name}({args})" if args else row.name
    return name if row.value is None else f"{name}={to_source(row.value)}"


def title_of(paths: Iterable[Path]) -> str:
    """The title of a page: the files of rules."""
    return ", ".join(path.name for path in paths)
