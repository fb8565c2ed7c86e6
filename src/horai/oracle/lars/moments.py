"""Points of a timeline that stand for all others: a clock may have millions where nothing happens.

As time goes on, a formula changes its truth value only where something comes into sight or out of
it: where atoms are, or as far from these as a window looks ahead or back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from horai.lang.core.terms import Int
from horai.lang.lars import syntax as lars
from horai.lang.lars.walk import children, own_terms, subformulas
from horai.oracle.lars.stream import Stream

_BY_ATOMS: tuple[type, ...] = (
    lars.TupleWindow,
    lars.PartitionWindow,
    lars.FilterWindow,
    lars.IntervalWindow,
)
"""Windows that select the same at all points between two atoms, or nothing but these points."""


def moments(
    formula: lars.Formula, part: Sequence[Stream], whole: Sequence[Stream]
) -> Iterable[int]:
    """Points such that, at any other one, a formula holds as at the last of these before it.

    `part` are streams on the same timeline; `reset` leads to those of the `whole`. Formulas with
    windows in windows, with windows that hop and with windows of your own are looked at everywhere.
    """
    timeline = part[0].timeline
    reaches = _reaches(formula)
    if reaches is None:
        return timeline
    streams = [*part, *whole] if _mentions(formula, lars.Reset) else part
    marks = {*_named(formula), *(time for stream in streams for time in stream.times)}
    # What is somewhere is gone one point later.
    found = {mark + reach + step for mark in marks for reach in reaches for step in (0, 1)}
    return sorted({timeline.start, *(point for point in found if point in timeline)})


def _reaches(formula: lars.Formula) -> set[int] | None:
    """How far before or after a point what happens may change the formula there; None: anywhere."""
    match formula:
        case lars.Some() | lars.Always() | lars.At():
            return set()  # the same at all points, as long as no window goes along with them
        case lars.Within(window=window, formula=inner):
            if _mentions(inner, lars.Within):
                return None
            if isinstance(window, lars.TimeWindow) and window.hop is None:
                # A window without an end on one side moves no border there.
                return {0, window.past.amount or 0, -(window.future.amount or 0)}
            return {0} if isinstance(window, _BY_ATOMS) else None
        case _:
            inside = [_reaches(inner) for inner in children(formula)]
            if None in inside:
                return None
            return {0}.union(*(some for some in inside if some is not None))


def _mentions(formula: lars.Formula, kind: type) -> bool:
    return any(isinstance(inner, kind) for inner in subformulas(formula))


def _named(formula: lars.Formula) -> Iterator[int]:
    """The points that a formula names itself."""
    for inner in subformulas(formula):
        if isinstance(inner, lars.At):
            yield from (term.value for term in own_terms(inner) if isinstance(term, Int))
