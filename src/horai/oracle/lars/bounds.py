"""What can be said about a formula when only bounds of the stream are known.

Of a stream it may be known that it contains `low` and is contained in `high`. A formula then is
surely true, surely false, or open: `(True, True)`, `(False, False)` or `(False, True)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass

from horai.lang.lars.syntax import (
    Aggregate,
    Always,
    And,
    At,
    Atom,
    Comparison,
    Formula,
    Implies,
    IntervalWindow,
    Not,
    Or,
    PartitionWindow,
    Reset,
    Some,
    Truth,
    TupleWindow,
    Within,
)
from horai.lang.terms import Int
from horai.oracle.lars.entailment import aggregate_holds, is_in_time
from horai.oracle.lars.numbers import compare
from horai.oracle.lars.stream import Stream
from horai.oracle.lars.windows import select

Verdict = tuple[bool, bool]
"""Surely true, possibly true."""
OPEN: Verdict = (False, True)


@dataclass(frozen=True)
class Bounds:
    """A smallest and a largest stream, on the same timeline and with the same signals."""

    low: Stream
    high: Stream
    background: Set[Atom] = frozenset()

    def all(self, formulas: Iterable[Formula], time: int) -> Verdict:
        """The verdict on all formulas together."""
        return _all(self.verdict(formula, self, time) for formula in formulas)

    def verdict(self, formula: Formula, whole: Bounds, time: int) -> Verdict:
        """The verdict on a formula at a time; `whole` is what `reset` goes back to."""
        match formula:
            case Atom():
                if formula in self.background:
                    return (True, True)
                return (formula in self.low.at(time), formula in self.high.at(time))
            case Truth(value=value):
                return (value, value)
            case Comparison(sign=sign, left=one, right=other):
                holds = compare(sign, one, other)
                return (holds, holds)
            case Not(formula=inner):
                surely, possibly = self.verdict(inner, whole, time)
                return (not possibly, not surely)
            case And(parts=parts):
                return _all(self.verdict(part, whole, time) for part in parts)
            case Or(parts=parts):
                return _any(self.verdict(part, whole, time) for part in parts)
            case Implies(left=left, right=right):
                return self.verdict(Or((Not(left), right)), whole, time)
            case Some(formula=inner):
                return _any(self.verdict(inner, whole, point) for point in self.low.timeline)
            case Always(formula=inner):
                return _all(self.verdict(inner, whole, point) for point in self.low.timeline)
            case At(time=Int(value=point), formula=inner):
                if point not in self.low:
                    return (False, False)
                return self.verdict(inner, whole, point)
            case At() | Within(window=IntervalWindow()) if not is_in_time(formula):
                return (False, False)
            case Within(window=window, formula=inner):
                if self.low.counts_derived and isinstance(window, TupleWindow | PartitionWindow):
                    return OPEN  # one more derived atom may push others out
                low, high = select(window, self.low, time), select(window, self.high, time)
                return Bounds(low, high, self.background).verdict(inner, whole, time)
            case Reset(formula=inner):
                return whole.verdict(inner, whole, time)
            case Aggregate():
                return self._aggregate(formula, whole, time)
        raise AssertionError(f"{formula} is not ground")

    def _aggregate(self, formula: Aggregate, whole: Bounds, time: int) -> Verdict:
        rows = set()
        for element in formula.elements:
            parts = [self.verdict(part, whole, time) for part in element.condition]
            surely, possibly = _all(parts)
            if surely != possibly:
                return OPEN
            if surely:
                rows.add(element.terms)
        holds = aggregate_holds(formula, rows)
        return (holds, holds)


def _all(verdicts: Iterable[Verdict]) -> Verdict:
    surely = possibly = True
    for sure, possible in verdicts:
        surely, possibly = surely and sure, possibly and possible
        if not possibly:
            break
    return (surely, possibly)


def _any(verdicts: Iterable[Verdict]) -> Verdict:
    surely = possibly = False
    for sure, possible in verdicts:
        surely, possibly = surely or sure, possibly or possible
        if surely:
            break
    return (surely, possibly)
