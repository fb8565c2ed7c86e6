"""Rules of LARS as the plain rules that are run, or the reason why they are none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from horai.engine.lars.literals import (
    Compare,
    Counted,
    Literal,
    Negative,
    NotPlain,
    PlainRule,
    Positive,
    Reading,
    Total,
    terms_of,
)
from horai.engine.lars.ordering import ordered
from horai.lang.core.terms import Compound, Int, Term, Var, variables
from horai.lang.lars import syntax as lars
from horai.lang.lars.predicates import ARITHMETIC


def plain_rule(rule: lars.Rule) -> PlainRule:
    """The rule in its plain form; raises `NotPlain`."""
    try:
        return _plain_rule(rule)
    except NotPlain as refused:
        raise NotPlain(refused.reason, rule) from None


def _plain_rule(rule: lars.Rule) -> PlainRule:
    head, time = _head(rule.head)
    fresh = _Fresh()
    body = [part for formula in rule.body for part in _literals(formula, fresh)]
    head_terms = () if head is None else head.args
    bound_later = [*head_terms, *([time] if time is not None else [])]
    literals = ordered(_at_some_time(body, bound_later), bound_later)
    return PlainRule(head, time, tuple(literals), rule)


def _at_some_time(body: list[Literal], head: list[Term]) -> list[Literal]:
    """Where nobody asks for the point that `@T` gives, any will do."""
    named = Counter(name for term in head for name in variables(term))
    for literal in body:
        named.update(name for term in terms_of(literal) for name in variables(term))

    def simpler(literal: Literal) -> Literal:
        if not isinstance(literal, Positive) or not isinstance(literal.reading.time, Var):
            return literal
        reading = literal.reading
        if named[literal.reading.time.name] > 1:
            return literal
        return Positive(Reading(reading.atom, reading.window, "some"))

    return [simpler(literal) for literal in body]


def _head(head: lars.Head | None) -> tuple[lars.Atom | None, Term | None]:
    match head:
        case None | lars.Truth(value=False):
            return None, None
        case lars.Atom():
            return head, None
        case lars.At(time=time, formula=lars.Atom() as atom):
            return atom, time
        case lars.Choice():
            raise NotPlain("it has a choice to make")
        case _:
            raise NotPlain("its head is more than an atom")


class _Fresh:
    """Variables nobody else has, for expressions inside of atoms."""

    def __init__(self) -> None:
        self.made = 0

    def variable(self) -> Var:
        self.made += 1
        return Var(f"Expression#{self.made}")


def _literals(formula: lars.Formula, fresh: _Fresh) -> Iterator[Literal]:
    match formula:
        case lars.And(parts=parts):
            for part in parts:
                yield from _literals(part, fresh)
        case lars.Truth(value=True):
            pass
        case lars.Comparison():
            yield Compare(formula)
        case lars.Not(formula=lars.Comparison() as inner):
            yield Compare(inner, negated=True)
        case lars.Aggregate():
            yield _total(formula, fresh)
        case lars.Not(formula=lars.Aggregate() as inner):
            yield replace(_total(inner, fresh), negated=True)
        case lars.Not(formula=inner):
            reading, values = _named(_reading(inner), fresh)
            yield from (Compare(value) for value in values)
            yield Negative(reading)
        case _:
            reading, values = _named(_reading(formula), fresh)
            yield Positive(reading)
            yield from (Compare(value) for value in values)


def _total(formula: lars.Aggregate, fresh: _Fresh) -> Total:
    rows: list[Counted] = []
    for element in formula.elements:
        body: list[Positive | Negative | Compare] = []
        for part in element.condition:
            for literal in _literals(part, fresh):
                if isinstance(literal, Total):
                    raise NotPlain("it has an aggregate inside of an aggregate")
                body.append(literal)
        rows.append(Counted(element.terms, tuple(body)))
    return Total(formula.function, tuple(rows), formula.sign, formula.bound)


def _reading(formula: lars.Formula) -> Reading:
    match formula:
        case lars.Within(window=window, formula=inner):
            found = _reading(inner)
            if found.window is not None:
                raise NotPlain("it has a window inside of a window")
            windowed = Reading(found.atom, window, found.modality, found.time)
            _refuse_window(windowed)
            return windowed
        case lars.Atom():
            return Reading(formula)
        case lars.Some(formula=lars.Atom() as atom):
            return Reading(atom, None, "some")
        case lars.Always(formula=lars.Atom() as atom):
            return Reading(atom, None, "always")
        case lars.At(time=time, formula=lars.Atom() as atom):
            return Reading(atom, None, "at", time)
        case lars.Aggregate():
            raise NotPlain("it has an aggregate in a window")
        case lars.Reset():
            raise NotPlain("it goes back to the whole stream")
        case _:
            raise NotPlain("it has a formula that is more than an atom in a window")


def _refuse_window(reading: Reading) -> None:
    match reading.window:
        case lars.TupleWindow(future=future) | lars.PartitionWindow(future=future) if future != 0:
            if reading.modality == "always":
                raise NotPlain("it asks for all points up to a signal to come")
        case lars.IntervalWindow(first=first, last=last):
            if not (isinstance(first, Int) and isinstance(last, Int)):
                raise NotPlain("it has a window between times that are not fixed")
        case _:
            pass


def _named(reading: Reading, fresh: _Fresh) -> tuple[Reading, list[lars.Comparison]]:
    """Expressions as variables of their own, and what these are equal to."""
    values: list[lars.Comparison] = []

    def name(term: Term) -> Term:
        if not _computes(term):
            return term
        if not (isinstance(term, Compound) and term.name in ARITHMETIC):
            raise NotPlain("it computes inside of a term")
        variable = fresh.variable()
        values.append(lars.Comparison("=", variable, term))
        return variable

    atom = reading.atom
    named = lars.Atom(atom.name, tuple(name(arg) for arg in atom.args), atom.span)
    time = None if reading.time is None else name(reading.time)
    return Reading(named, reading.window, reading.modality, time), values


def _computes(term: Term) -> bool:
    return isinstance(term, Compound) and (
        term.name in ARITHMETIC or any(_computes(arg) for arg in term.args)
    )
