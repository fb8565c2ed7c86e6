"""Answers as pages for people: `horai report -o page.html`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from horai import io
from horai.errors import UsageError
from horai.io import format_time, to_source
from horai.lars_result import LarsResult, written
from horai.report.page import Lane, Span, Story, page
from horai.words import counted

if TYPE_CHECKING:
    from horai.both_result import TogetherResult
    from horai.result import Result


def write_page(
    result: LarsResult | Result | TogetherResult, path: Path, title: str, unit: io.Unit | None
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
    if result.every:
        raise UsageError("a page shows one answer at a time", "leave out --models all")
    queries = [answer.query for answer in result.answers]
    last = queries[-1] + _step(queries) - 1 if queries else 0
    after = dict(zip(queries, [*queries[1:], last + 1], strict=True))
    held: dict[tuple[str, str], list[Span]] = {}
    none: list[Span] = []
    for answer in result.answers:
        span = (answer.query, after[answer.query])
        if not answer.has_answer:
            _longer(none, span)
        for atom in answer.atoms:
            _longer(held.setdefault((atom.name, written(atom)), []), span)
    lanes = [Lane(name, text, spans) for (name, text), spans in sorted(held.items())]
    about = f"{counted(len(queries), 'query time')}, {counted(len(lanes), 'atom')}"
    return Story(title, about, queries[0] if queries else 0, last, lanes, none)


def _step(queries: list[int]) -> int:
    return queries[-1] - queries[-2] if len(queries) > 1 else 1


def _longer(spans: list[Span], span: Span) -> None:
    """Add a span, or make the last one longer."""
    if spans and spans[-1][1] == span[0]:
        spans[-1] = (spans[-1][0], span[1])
    else:
        spans.append(span)


def _of_rows(result: Result | TogetherResult, rows: Sequence[io.AnswerRow], title: str) -> Story:
    """One line per fluent and value, atom, or event."""
    spans: dict[tuple[str, str], list[Span]] = {}
    points: dict[tuple[str, str], list[int]] = {}
    for row in rows:
        key = (row.name, _text(row))
        if row.time is not None:
            points.setdefault(key, []).append(row.time)
        elif row.start is not None:
            spans.setdefault(key, []).append((row.start, _OPEN if row.end is None else row.end))
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


_OPEN = 1 << 62


def _text(row: io.AnswerRow) -> str:
    args = ",".join(map(to_source, row.args))
    name = f"{row.name}({args})" if args else row.name
    return name if row.value is None else f"{name}={to_source(row.value)}"


def title_of(paths: Iterable[Path]) -> str:
    """What a page is called: the files of rules."""
    return ", ".join(path.name for path in paths)
