"""LARS programs: loaded, checked, and ready to run over a stream.

>>> from horai import lars
>>> program = lars.loads("busy(X) :- job(X) [2 s].")
>>> result = program.run(["job|1|1|ada"], start=0, end=4)
>>> [(answer.query, answer.texts()) for answer in result.answers]
[(0, []), (1, ['busy(ada)']), (2, ['busy(ada)']), (3, ['busy(ada)']), (4, [])]
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import cast

from horai import parameters
from horai.errors import UsageError
from horai.inputs import checked_clock, checked_format, extent, is_files, read_input, time_point
from horai.lang.diagnostics import Diagnostic, RulesError, sort_key
from horai.lang.lars.anyone import with_rules_for_any
from horai.lang.lars.clock import Clock
from horai.lang.lars.points import in_points
from horai.lang.lars.predicates import background_facts, derived, inputs
from horai.lang.lars.reader import read_files, read_sources
from horai.lang.lars.syntax import Program
from horai.lang.reader import clean
from horai.lang.report import has_errors
from horai.lang.source import Source
from horai.lars_engines import AUTO, AllAtOnce, Changes, LarsSession, Model, lars_engine
from horai.lars_result import LarsAnswer, LarsResult, Shown
from horai.lars_signals import AnySignals, Arrivals, Signal, in_order
from horai.plan.lars import Classification, check, classify
from horai.schedule import MOST_QUERIES

PathLike = str | os.PathLike[str]
Progress = Callable[[int, int], None]
DEFAULT_CLOCK = "1s"

__all__ = ["LarsAnswer", "LarsProgram", "LarsResult", "load", "loads"]


class LarsProgram:
    """A LARS program that can be read; `check` says what is wrong with it for a clock."""

    def __init__(self, program: Program) -> None:
        self.program = program

    @property
    def classification(self) -> Classification:
        """Which fragment the program is in, and what it uses."""
        return classify(self.program)

    def check(self, clock: str = DEFAULT_CLOCK) -> list[Diagnostic]:
        """All that is wrong or doubtful when a time point is as long as the clock says."""
        return check(self.program, _clock(clock))

    def run(
        self,
        input: object = (),
        *,
        clock: str | None = None,
        start: int | str | None = None,
        end: int | str | None = None,
        step: int = 1,
        engine: str = AUTO,
        models: str = "one",
        filter: str | Iterable[str] = "inferences",
        unit: str | None = None,
        time_in: str | None = None,
        input_format: str | None = None,
        strict: bool = False,
        progress: Progress | None = None,
    ) -> LarsResult:
        """Evaluate the program at `start`, `start + step`, ... up to and including `end`.

        `input` is what `horai.Rules.run` takes; without `start` and `end` the run covers it. A
        time point is as long as `clock` says, `1s` if nothing is said. At each query time the
        signals count that have arrived by then. `models` is `one` or `all`. `filter` says what is
        shown: `inferences` (what rules derive), `none` (everything that holds), or names of
        predicates.
        """
        times = checked_clock(unit, time_in)
        points = _checked(self.program, clock_for(clock, unit))
        shown = Shown.parse(filter, derived(self.program))
        every = _every(models)
        step = parameters.length(step, "step", 1)
        schema = AnySignals.known(inputs(self.program))
        form = checked_format(input_format)
        narrative = read_input(input, schema, times, format=form, strict=strict)
        first, last = extent(narrative.tables) or (0, 0)
        begin = time_point(start, times.unit, "start")
        stop = time_point(end, times.unit, "end")
        queries = _queries(first if begin is None else begin, last if stop is None else stop, step)
        make = lars_engine(engine)
        session = make(points, start=queries.start)
        arrivals = Arrivals(in_order(narrative, _files(input)), queries.start, queries.stop - 1)
        arrivals.dead_letters.extend(narrative.dead_letters)
        facts = background_facts(points)
        now: dict[Signal, None] = {}
        answers: list[LarsAnswer] = []
        for (query, added, removed), found in _answered(session, arrivals, queries, every):
            now.update(dict.fromkeys(added))
            for gone in removed:
                del now[gone]
            current = {signal.atom for signal in now if signal.time == query}
            answers.append(LarsAnswer.of(query, found, current, facts, shown))
            if progress is not None:
                progress(len(answers), len(queries))
        return LarsResult(answers, arrivals.finish(), every)

    def __repr__(self) -> str:
        names = sorted(f"{name}/{arity}" for name, arity in derived(self.program))
        return f"<LarsProgram for {', '.join(names) or 'nothing'}>"


def _answered(
    session: LarsSession, arrivals: Arrivals, queries: range, every: bool
) -> Iterator[tuple[Changes, list[Model]]]:
    """What changed and what holds at each query time, worked out together if the engine can."""
    together = getattr(session, "advance_all", None)
    if together is None:
        for query in queries:
            added, removed = arrivals.until(query)
            yield (query, added, removed), session.advance(query, added, removed, every=every)
        return
    changes: list[Changes] = [(query, *arrivals.until(query)) for query in queries]
    yield from zip(changes, cast(AllAtOnce, session).advance_all(changes, queries), strict=True)


def load(
    paths: PathLike | Iterable[PathLike], background: PathLike | Iterable[PathLike] = ()
) -> LarsProgram:
    """Read a program from files; `background` are files of facts. Raises `RulesError`."""
    files = [*_paths(paths), *_paths(background)]
    if not files:
        raise UsageError("no rules given", "name at least one file of rules")
    return _readable(*read_files(files))


def loads(text: str, background: str = "") -> LarsProgram:
    """Read a program from text. Raises `RulesError`.

    >>> loads("h :- b [2 s].")
    <LarsProgram for h/0>
    """
    hint = "to read files, use horai.lars.load"
    given = [("<rules>", text), ("<background>", background)]
    sources = [
        Source(name, clean(parameters.text(content, name, hint)))
        for name, content in given
        if content or name == "<rules>"
    ]
    return _readable(*read_sources(sources))


def _readable(program: Program, findings: list[Diagnostic]) -> LarsProgram:
    if has_errors(findings):
        # What the checks find in the rules that could be read is worth knowing, too.
        raise RulesError([*findings, *check(program, Clock.parse(DEFAULT_CLOCK))])
    return LarsProgram(program)


def _checked(program: Program, clock: Clock) -> Program:
    findings = sorted(check(program, clock), key=sort_key)
    if has_errors(findings):
        raise RulesError(findings)
    return in_points(with_rules_for_any(program), clock)


def clock_for(clock: str | None, unit: str | None) -> Clock:
    """The clock, which must be one unit long where times of the input have a unit."""
    if unit is None:
        return _clock(clock or DEFAULT_CLOCK)
    found = _clock(clock or f"1{unit}")
    if found != _clock(f"1{unit}"):
        hint = f"with unit={unit} time points are 1 {unit} long; leave out the clock"
        raise UsageError(f"the clock {found} does not fit times in {unit}", hint)
    return found


def _clock(text: str) -> Clock:
    hint = "for example 500ms, 1s, 5min"
    try:
        return Clock.parse(parameters.text(text, "clock", hint))
    except UsageError:
        raise
    except ValueError as wrong:
        raise UsageError(str(wrong), hint) from None


def _every(models: str) -> bool:
    if models not in ("one", "all"):
        raise UsageError(f"models cannot be {models!r}", "it is `one` or `all`")
    return models == "all"


def _queries(start: int, end: int, step: int) -> range:
    if end < start:
        hint = "a run covers the time points from start up to and including end"
        raise UsageError(f"the end of the run, {end}, is before its start, {start}", hint)
    if (end - start) // step > MOST_QUERIES:
        hint = "choose a longer step, or a start near the first signal"
        problem = f"from {start} to {end} there are more than {MOST_QUERIES:,} query times"
        raise UsageError(problem, hint)
    return range(start, end + 1, step)


def _files(given: object) -> list[str]:
    if not is_files(given):
        return []
    many = [given] if isinstance(given, str | os.PathLike) else list(given)  # type: ignore[call-overload]
    return ["<stdin>" if path == "-" else str(Path(path)) for path in many]


def _paths(given: PathLike | Iterable[PathLike]) -> list[Path]:
    return [Path(given)] if isinstance(given, str | os.PathLike) else [Path(p) for p in given]
