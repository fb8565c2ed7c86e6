"""LARS formulas with sliding time windows as propositional LTL with past: the translation, and LTL.

Only atoms, connectives and steps `X^k` to other points are needed (Algorithm 4.1 of the thesis).
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

from horai.lang.core.terms import Int
from horai.lang.lars.syntax import (
    Always,
    And,
    At,
    Atom,
    Formula,
    Implies,
    Not,
    Or,
    Reset,
    Some,
    TimeWindow,
    Truth,
    Within,
)


@dataclass(frozen=True)
class Step:
    """`X^k f`: k points later, or earlier; there is nothing before point 0."""

    number: int
    formula: Ltl


@dataclass(frozen=True)
class Connected:
    """`not`, `and`, `or` or `->` of parts; no parts of `or` are false."""

    how: str
    parts: tuple[Ltl, ...]


Ltl = Atom | Step | Connected
FALSE = Connected("or", ())


def translated(formula: Formula, first: int, last: int, time: int) -> Ltl:
    """The formula at a time of the timeline from first to last."""
    return _translated(formula, (first, last), (first, last), time)


def _translated(formula: Formula, whole: tuple[int, int], here: tuple[int, int], time: int) -> Ltl:
    first, last = here

    def inside(part: Formula, at: int = time) -> Ltl:
        return _translated(part, whole, here, at)

    match formula:
        case Atom():
            return formula
        case Truth(value=value):
            return Connected("and" if value else "or", ())
        case Not(formula=inner):
            return Connected("not", (inside(inner),))
        case And(parts=parts):
            return Connected("and", tuple(map(inside, parts)))
        case Or(parts=parts):
            return Connected("or", tuple(map(inside, parts)))
        case Implies(left=left, right=right):
            return Connected("->", (inside(left), inside(right)))
        case Some(formula=inner) | Always(formula=inner):
            steps = tuple(step(t - time, inside(inner, t)) for t in range(first, last + 1))
            return Connected("or" if isinstance(formula, Some) else "and", steps)
        case At(time=Int(value=t), formula=inner):
            return step(t - time, inside(inner, t)) if first <= t <= last else FALSE
        case Within(window=TimeWindow(past=past, future=future, hop=None), formula=inner):
            low = first if past.amount is None else max(first, time - past.amount)
            high = last if future.amount is None else min(time + future.amount, last)
            return _translated(inner, whole, (low, high), time)
        case Reset(formula=inner):
            return _translated(inner, whole, whole, time)
    raise AssertionError(formula)


def step(number: int, formula: Ltl) -> Ltl:
    """`X^k f`, which is f itself for 0."""
    return formula if number == 0 else Step(number, formula)


def holds(formula: Ltl, path: Mapping[int, Set[Atom]], time: int) -> bool:
    """Does a formula hold at a point of a path that begins at 0?"""
    match formula:
        case Atom():
            return formula in path.get(time, set())
        case Step(number=number, formula=inner):
            return time + number >= 0 and holds(inner, path, time + number)
        case Connected(how="not", parts=(part,)):
            return not holds(part, path, time)
        case Connected(how="->", parts=(left, right)):
            return not holds(left, path, time) or holds(right, path, time)
        case Connected(how="and", parts=parts):
            return all(holds(part, path, time) for part in parts)
        case Connected(parts=parts):
            return any(holds(part, path, time) for part in parts)
    raise AssertionError(formula)
