"""Interval lists as terms `[(s,e), ...]`, and what operations make of such terms.

The machine has lists as spans of lines. Where rules look at a whole list (compare it, collect it,
pass it on), it becomes a term, and Python works out what operations make of it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import assert_never

from horai.lang.core.arithmetic import COMPARISONS, NoValue, evaluate
from horai.lang.core.terms import Compound, Constant, Int, ListTerm, Term, substitute
from horai.lang.ec import syntax as ec
from horai.lang.ec.operators import IntervalOperator
from horai.plan.ec.instructions import INF

Spans = list[tuple[int, int]]
OPEN = Constant("inf")


@dataclass(frozen=True, slots=True)
class Pieces:
    """As a question to Python: each interval of a list, those that touch as one or `apart`."""

    term: Term
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Cuts:
    """As a question to Python: the times between which nothing changes, as intervals."""

    term: Term


@dataclass(frozen=True, slots=True)
class Run:
    """What operations ask of a run."""

    start: int
    tick: int
    query: int
    allen_memory: int | None

    def next(self, time: int) -> int:
        """The time-point after a time."""
        return time + self.tick - time % self.tick

    def last_point(self, end: int) -> int:
        """The last time-point of an interval with an end."""
        return INF if end == INF else end - (end % self.tick or self.tick)


def list_term(spans: Iterable[tuple[int, int]]) -> ListTerm:
    """Intervals as the term that rules see."""
    return ListTerm(
        tuple(Compound(",", (Int(start), OPEN if end == INF else Int(end))) for start, end in spans)
    )


def spans_of(term: Term) -> Spans | None:
    """The maximal intervals of such a term, None if it is no list of intervals."""
    found = intervals_of(term)
    return None if found is None else coalesced(found)


def intervals_of(term: Term) -> Spans | None:
    """The intervals of such a term as they are written."""
    if not isinstance(term, ListTerm) or term.tail is not None:
        return None
    found: Spans = []
    for item in term.items:
        match item:
            case Compound(name=",", args=(Int(value=start), Int(value=end))):
                found.append((start, end))
            case Compound(name=",", args=(Int(value=start), Constant(name="inf"))):
                found.append((start, INF))
            case _:
                return None
    return found


def coalesced(spans: Iterable[tuple[int, int]]) -> Spans:
    """Intervals without those that are empty; those that overlap or touch are one."""
    found: Spans = []
    for start, end in sorted(spans):
        if start >= end:
            continue
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def between_cuts(lists: Iterable[Term], run: Run) -> ListTerm:
    """The time from the start on, divided wherever one of some lists starts or ends."""
    times = {run.start, run.next(run.start)}
    for term in lists:
        times |= {time for span in spans_of(term) or () for time in span}
    cuts = sorted(time for time in times if run.start <= time < INF)
    return list_term(zip(cuts, [*cuts[1:], INF], strict=True))


def operate(
    literal: ec.IntervalOp | ec.DurationFilter | ec.Allen, env: Mapping[str, Term], run: Run
) -> ListTerm:
    """What an operation makes of terms; `NoValue` if they are no interval lists."""
    match literal:
        case ec.IntervalOp(base=base, lists=lists):
            whole = substitute(lists, env)
            if not isinstance(whole, ListTerm) or whole.tail is not None:
                raise NoValue("not a list of interval lists")
            parts = [_given(item, env) for item in whole.items]
            first = [(-INF, INF)] if base is None else _given(base, env)
            if literal.operator.base == "time":
                first = [(run.next(run.start), INF)]
            return list_term(_swept(literal.operator, first, parts))
        case ec.DurationFilter(op=sign, intervals=intervals, bound=bound, open_counts=counts):
            least = evaluate(bound, env)
            return list_term(
                (start, end)
                for start, end in _given(intervals, env)
                if (end != INF or counts)
                and COMPARISONS[sign]((run.query if end == INF else end) - start, least)
            )
        case ec.Allen(relation=relation, source=source, target=target, mode=mode):
            pairs = (
                piece
                for one in _given(source, env)
                for other in _given(target, env)
                if _related(relation, one, other, run)
                for piece in _paired(mode, one, other)
            )
            return list_term(coalesced(pairs))
        case _:
            assert_never(literal)


def _given(term: Term, env: Mapping[str, Term]) -> Spans:
    found = spans_of(substitute(term, env))
    if found is None:
        raise NoValue("not a list of intervals")
    return found


def _swept(operator: IntervalOperator, base: Spans, lists: Sequence[Spans]) -> Spans:
    """Where an operator is true of what holds, from one start or end to the next."""
    edges = sorted({time for spans in (base, *lists) for span in spans for time in span})
    return coalesced(
        (start, end)
        for start, end in pairwise(edges)
        if operator.truth(_has(base, start), [_has(spans, start) for spans in lists])
    )


def _has(spans: Spans, time: int) -> bool:
    before = bisect_right(spans, (time, INF)) - 1
    return before >= 0 and time < spans[before][1]


# How the first and the last points of two intervals compare.
_SIGNS = {"starts": (0, -1), "finishes": (1, 0), "during": (1, -1), "equal": (0, 0)}


def _related(relation: str, one: tuple[int, int], other: tuple[int, int], run: Run) -> bool:
    """Are two intervals in a relation?"""
    ending, ended = run.last_point(one[1]), run.last_point(other[1])
    if relation == "before":
        gap = other[0] - ending
        return gap > 0 and (run.allen_memory is None or gap <= run.allen_memory)
    signs = _sign(one[0], other[0]), _sign(ending, ended)
    if relation == "meets":
        return ending == other[0] and signs == (-1, -1)
    if relation == "overlaps":
        return ending > other[0] and signs == (-1, -1)
    return signs == _SIGNS[relation]


def _sign(left: int, right: int) -> int:
    return (left > right) - (left < right)


def _paired(mode: str, one: tuple[int, int], other: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """What a mode makes of a pair."""
    match mode:
        case "source":
            yield one
        case "target":
            yield other
        case "union":
            yield from (one, other)
        case "intersection":
            yield max(one[0], other[0]), min(one[1], other[1])
        case "relative_complement":
            yield one[0], min(one[1], other[0])
            yield max(one[0], other[1]), one[1]
        case "relative_complement_inverse":
            yield other[0], min(other[1], one[0])
            yield max(other[0], one[1]), other[1]
        case _:
            raise ValueError(f"unknown mode {mode}")
