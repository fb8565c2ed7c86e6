"""When a ground formula holds: the definition, case by case.

A clock may have millions of points where nothing happens, so some stand for all others: as time
goes on, a formula changes its truth value only where something comes into sight or out of it,
where atoms are, or as far from these as a window looks ahead or back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Generic, TypeVar

from horai.lang.core.arithmetic import NoValue
from horai.lang.core.terms import Bindings, Compound, Float, Int, Term, Var
from horai.lang.lars import syntax as lars
from horai.lang.lars.arithmetic import compare, compute_term
from horai.lang.lars.predicates import ARITHMETIC
from horai.lang.lars.walk import children, own_terms, subformulas
from horai.oracle.lars.stream import Stream, select

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


class Unbound(Exception):
    """A variable without a value."""


def value(term: Term, bindings: Bindings | None = None) -> Term:
    """The term with all expressions computed; raises `NoValue`, `TooLarge`, `Unbound`.

    >>> value(Compound("/", (Int(7), Int(2))))
    Int(value=3)
    """
    match term:
        case Var(name=name):
            if bindings is None or name not in bindings:
                raise Unbound(f"nothing gives a value to {name}")
            return bindings[name]
        case Compound(name=sign, args=args) if sign in ARITHMETIC:
            return computed(sign, [value(arg, bindings) for arg in args])
        case Compound(name=name, args=args):
            return Compound(name, tuple(value(arg, bindings) for arg in args))
        case _:
            return term


def computed(sign: str, terms: Sequence[Term]) -> Term:
    """The value of `+`, `sum` and so on; raises `NoValue` and `TooLarge`."""
    found = compute_term(sign, terms)
    if found is None:
        raise NoValue(f"no value of `{sign}`")
    return found


V = TypeVar("V")
Part = tuple[Stream, ...]
"""Part of a stream, or of several on the same timeline that windows cut alike."""


class Semantics(ABC, Generic[V]):
    """When ground formulas hold, case by case, whatever the truth values `V` are."""

    whole: Part

    @abstractmethod
    def atom(self, atom: lars.Atom, part: Part, time: int) -> V:
        """Does an atom hold at a time?"""

    @abstractmethod
    def aggregate(self, formula: lars.Aggregate, part: Part, time: int) -> V:
        """Does an aggregate hold at a time?"""

    @abstractmethod
    def negation(self, value: V) -> V:
        """Does something not hold?"""

    @abstractmethod
    def both(self, values: Iterable[V]) -> V:
        """Do all hold?"""

    def either(self, values: Iterable[V]) -> V:
        """Does one of them hold?"""
        return self.negation(self.both(map(self.negation, values)))

    def constant(self, truth: bool) -> V:
        """The truth value of what is plainly true or false."""
        return self.both(()) if truth else self.either(())

    def together(self, formulas: Iterable[lars.Formula], time: int) -> V:
        """Do all formulas hold at a time in the whole stream?"""
        return self.both(self.holds(formula, self.whole, time) for formula in formulas)

    def moments(self, formula: lars.Formula, part: Part) -> Iterable[int]:
        """Points that show whether a formula holds at some point of a part, and at all."""
        return moments(formula, part, self.whole)

    def holds(self, formula: lars.Formula, part: Part, time: int) -> V:
        """Does the formula hold at a time in a part of the stream?"""
        match formula:
            case lars.Atom():
                return self.atom(formula, part, time)
            case lars.Truth(value=value):
                return self.constant(value)
            case lars.Comparison(sign=sign, left=one, right=other):
                return self.constant(compare(sign, one, other))
            case lars.Not(formula=inner):
                return self.negation(self.holds(inner, part, time))
            case lars.And(parts=parts):
                return self.both(self.holds(one, part, time) for one in parts)
            case lars.Or(parts=parts):
                return self.either(self.holds(one, part, time) for one in parts)
            case lars.Implies(left=left, right=right):
                return self.holds(lars.Or((lars.Not(left), right)), part, time)
            case lars.Some(formula=inner):
                return self.either(self.holds(inner, part, t) for t in self.moments(inner, part))
            case lars.Always(formula=inner):
                return self.both(self.holds(inner, part, t) for t in self.moments(inner, part))
            case lars.At() | lars.Within(window=lars.IntervalWindow()) if not _is_in_time(formula):
                return self.constant(False)
            case lars.At(time=Int(value=point), formula=inner):
                is_point = point in part[0].timeline
                return self.holds(inner, part, point) if is_point else self.constant(False)
            case lars.Within(window=window, formula=inner):
                selected = tuple(select(window, stream, time) for stream in part)
                return self.holds(inner, selected, time)
            case lars.Reset(formula=inner):
                return self.holds(inner, self.whole, time)
            case lars.Aggregate():
                return self.aggregate(formula, part, time)
        raise AssertionError(f"{formula} is not ground")


class Structure(Semantics[bool]):
    """A stream, and the background that holds at all times: formulas are true or false."""

    def __init__(self, stream: Stream, background: Set[lars.Atom] = frozenset()) -> None:
        self.whole = (stream,)
        self.background = background

    def entails(self, formula: lars.Formula, time: int) -> bool:
        """Does the formula hold at a time?"""
        return self.holds(formula, self.whole, time)

    def atom(self, atom: lars.Atom, part: Part, time: int) -> bool:
        return atom in part[0].at(time) or atom in self.background

    def aggregate(self, formula: lars.Aggregate, part: Part, time: int) -> bool:
        rows = {
            element.terms
            for element in formula.elements
            if all(self.holds(condition, part, time) for condition in element.condition)
        }
        return aggregate_holds(formula, rows)

    def negation(self, value: bool) -> bool:
        return not value

    def both(self, values: Iterable[bool]) -> bool:
        return all(values)


def _is_in_time(formula: lars.At | lars.Within) -> bool:
    """Are the times that it names whole numbers? Nothing holds at others."""
    return all(isinstance(term, Int) for term in own_terms(formula))


def aggregate_holds(formula: lars.Aggregate, rows: Set[tuple[Term, ...]]) -> bool:
    """Does the aggregate of some rows of terms compare as the formula says?"""
    try:
        return compare(formula.sign, aggregate_value(formula.function, rows), formula.bound)
    except NoValue:
        return False


def aggregate_value(function: str, rows: Set[tuple[Term, ...]]) -> Term:
    """Number of rows, or sum, least or largest of the first terms; raises `NoValue`."""
    if function == "count":
        return Int(len(rows))
    numbers = [row[0] for row in rows if row and isinstance(row[0], Int | Float)]
    if len(numbers) < len(rows):
        raise NoValue("only numbers have a sum, a least and a largest one")
    if function == "sum":
        return computed("sum", numbers)
    if not numbers:
        raise NoValue("nothing has no least and no largest one")
    pick = min if function == "min" else max
    best = pick(number.value for number in numbers)
    # Of equal numbers it is the whole one.
    return min((n for n in numbers if n.value == best), key=lambda n: isinstance(n, Float))
