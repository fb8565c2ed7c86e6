"""Runs in two languages that go on where another one ended, by way of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from horai.both import Together, feed_both
from horai.both_saving import load_together
from horai.errors import UsageError
from horai.inputs import checked_clock, checked_format, extent, read_input, time_point
from horai.io import Narrative
from horai.schedule import Schedule, Settings, plan_run

if TYPE_CHECKING:
    from horai.both_result import TogetherResult
    from horai.both_session import TogetherSession
    from horai.feeding import Progress

_FREE = frozenset({"strict", "time_in"})
"""Settings that may be others each time."""


def run_on(
    both: Together,
    path: Path,
    input: object,
    *,
    step: int | None = None,
    start: int | str | None = None,
    end: int | str | None = None,
    input_format: str | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> TogetherResult:
    """Run over rows that are new, and save in a file what it takes to go on; see `Together.run`.

    If the file is there, the run goes on after the last query time of the one that saved it.
    """
    times = checked_clock(settings.get("unit"), settings.get("time_in"))
    first, last = (time_point(t, times.unit, n) for t, n in ((start, "start"), (end, "end")))
    form = checked_format(input_format)
    found = _restored(both, path, first, settings) if path.exists() else None
    strict = bool(settings.get("strict"))
    narrative = read_input(input, both.schema, times, format=form, strict=strict)
    if found is not None:
        first = found.last
        _demand_later(path, first, last, narrative)
    schedule = plan_run(
        Settings(settings.get("window"), step, first, last), extent(narrative.tables)
    )
    session = found or both.session(start=_start(schedule), **settings)
    feed_both(session, narrative, schedule, progress)
    part = path.with_name(path.name + ".part")
    part.write_bytes(session.save())
    part.replace(path)  # so that it is never there in part
    return session.finish(ended=False)


def _start(schedule: Schedule | None) -> int:
    return 0 if schedule is None else schedule.start


def _restored(
    both: Together, path: Path, start: int | None, settings: dict[str, Any]
) -> TogetherSession:
    """The session that a file has, if it is one of these rules and settings."""
    session = load_together(path.read_bytes(), both.rules.predicates)
    if _texts(session.both) != _texts(both):
        hint = f"use the rules it was saved with, or another file than {path}"
        raise UsageError(f"{path} was saved by a run of other rules", hint)
    asked = both.session(start=session.start, **settings).settings
    for name in settings.keys() & asked.keys() - _FREE:
        if asked[name] != session.settings[name]:
            said = "no" if session.settings[name] is None else session.settings[name]
            problem = f"{path} was saved with {said} as {name.replace('_', '-')}"
            raise UsageError(problem, "leave the option out, or begin another file")
    if start is not None and start != session.start:
        problem = f"{path} goes on after {session.last}: a start makes no sense"
        raise UsageError(problem, "leave out the start")
    return session


def _demand_later(path: Path, last: int, end: int | None, narrative: Narrative) -> None:
    covers = extent(narrative.tables)
    until = end if end is not None or covers is None else covers[1]
    if until is None or until <= last:
        said = "there are no rows" if until is None else f"this run ends at {until}"
        hint = "give rows that are later, or a later end"
        raise UsageError(f"{path} goes on after {last}, and {said}", hint)


def _texts(both: Together) -> list[list[str]]:
    sources = (both.rules.description.sources, both.program.program.sources)
    return [[source.text for source in some] for some in sources]
