"""Are two LARS programs equivalent?

>>> from horai import lars
>>> from horai.tools.equivalence.programs import equivalence
>>> one, other = lars.loads("h :- a [3 s]."), lars.loads("h :- a [2 s].")
>>> verdict = equivalence(one, other)
>>> verdict.is_equal, verdict.counterexample.narrative(), verdict.counterexample.time
(False, ['a|0|0'], 3)
"""

from __future__ import annotations

from collections.abc import Iterable

from horai import settings
from horai.errors import RunError, UsageError
from horai.io.items.tables import extent
from horai.lang.core.diagnostics import RulesError, has_errors, sort_key
from horai.lang.lars.clock import Clock
from horai.lang.lars.predicates import inputs, with_rules_for_any
from horai.lang.lars.syntax import Program
from horai.lang.lars.walk import in_points
from horai.lars import LarsProgram
from horai.oracle.lars.grounding import EndlessDerivation
from horai.oracle.lars.matching import TooManyValues
from horai.runtime.inputs import checked_clock, checked_format, read_input, time_point
from horai.runtime.lars.job import DEFAULT_CLOCK
from horai.runtime.lars.signals import AnySignals, Arrivals, files_of, in_order
from horai.tools.equivalence.search import ProgramComparison, Progress, SearchLimits
from horai.tools.equivalence.verdicts import Notion, Verdict


def equivalence(
    one: LarsProgram,
    other: LarsProgram,
    *,
    notion: str = "data",
    clock: str = DEFAULT_CLOCK,
    points: int | None = None,
    signals: int = 3,
    constants: int = 1,
    tries: int = 20_000,
    filter: Iterable[str] | None = None,
    input: object = (),
    end: int | str | None = None,
    progress: Progress | None = None,
) -> Verdict:
    """Have two programs the same answers: on one stream, on all, with all facts, with all rules?

    `notion` is `ordinary` (on the stream `input`, up to `end`), `data` (on every stream), `uniform`
    (whatever facts are added to both) or `strong` (whatever rules are added). Where the matter
    cannot be settled, streams up to time point `points` with up to so many `signals` over the
    constants of the programs and so many new ones are tried, at most `tries` of them. `filter`
    names the predicates that count.
    """
    wanted = _notion(notion)
    if filter is not None and wanted is Notion.strong:
        hint = "leave out the filter, or compare with the notion data"
        raise UsageError("strong equivalence is about all predicates", hint)
    programs = (_ready(one, clock), _ready(other, clock))
    bounds = SearchLimits(
        None if points is None else _count(points, "points"),
        _count(signals, "signals"),
        _count(constants, "constants"),
        _count(tries, "tries"),
    )
    shown = None if filter is None else frozenset(filter)
    comparison = ProgramComparison(programs, bounds, shown, progress)
    schema = AnySignals.known(set().union(*(inputs(program) for program in programs)))
    narrative = read_input(input, schema, checked_clock(None, None), format=checked_format(None))
    last = time_point(end, None, "end")
    if last is None:
        last = (extent(narrative.tables) or (0, 0))[1]
    if last < 0:
        raise UsageError(f"the end, {last}, is before the start, 0")
    arrivals = Arrivals(0)
    arrivals.feed(in_order(narrative, files_of(input)))
    added, _ = arrivals.until(last)
    for letter in (*narrative.dead_letters, *arrivals.dead_letters):
        raise UsageError(f"{letter.file}:{letter.line}: {letter.reason}", "correct the row")
    stream = sorted(((s.time, s.order, s.atom) for s in added), key=lambda s: s[:2])
    try:
        return comparison.verdict(wanted, [(t, a) for t, _, a in stream], range(last + 1))
    except (EndlessDerivation, TooManyValues) as error:
        raise RunError(str(error)) from error


def _ready(program: LarsProgram, clock: str) -> Program:
    """The program as engines want it: without mistakes, windows in time points."""
    findings = sorted(program.check(clock), key=sort_key)
    if has_errors(findings):
        raise RulesError(findings)
    return in_points(with_rules_for_any(program.program), Clock.parse(clock))


def _count(given: object, name: str) -> int:
    number = settings.whole(given, name, "it bounds the search")
    if number < 0:
        raise UsageError(f"{name} must be at least 0, not {number}", "it bounds the search")
    return number


def _notion(name: str) -> Notion:
    hint = f"it is one of {', '.join(Notion)}"
    try:
        return Notion(settings.text(name, "notion", hint))
    except UsageError:
        raise
    except ValueError:
        raise UsageError(f"there is no notion {name!r} of equivalence", hint) from None
