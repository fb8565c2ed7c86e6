"""Rules of LARS as the plain rules that are run, or the reason why they are none.

Their literals stand in an order in which each finds what it needs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal as OneOf

from horai.lang.core.terms import Compound, Int, Term, Var, is_anonymous, variables
from horai.lang.lars import syntax as lars
from horai.lang.lars.predicates import ARITHMETIC
from horai.plan.lars.fragments import NotServed

Modality = OneOf["now", "some", "always", "at"]


Source = tuple[lars.Predicate, lars.Window | None, Modality]


@dataclass(frozen=True, slots=True)
class ExtendedAtom:
    """An atom, and where in time it is looked for; without a window on the whole timeline."""

    atom: lars.Atom
    window: lars.Window | None = None
    modality: Modality = "now"
    time: Term | None = None  # of the modality `at`

    @property
    def terms(self) -> tuple[Term, ...]:
        """What the columns of its relation stand for."""
        return self.atom.args if self.time is None else (*self.atom.args, self.time)

    @property
    def source(self) -> Source:
        """Literals of one source read the same relation."""
        return self.atom.predicate, self.window, self.modality

    @property
    def of_signals(self) -> bool:
        """Does it look at signals alone? Windows of the last ones count nothing derived."""
        return isinstance(self.window, lars.TupleWindow | lars.PartitionWindow)


@dataclass(frozen=True, slots=True)
class Positive:
    """Something that has to hold."""

    reading: ExtendedAtom


@dataclass(frozen=True, slots=True)
class Negative:
    """Something that must not hold."""

    reading: ExtendedAtom


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison; with `=` it may give a variable its value."""

    comparison: lars.Comparison
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Counted:
    """An element of an aggregate: terms, for all values that make its literals true."""

    terms: tuple[Term, ...]
    body: tuple[Positive | Negative | Compared, ...]


@dataclass(frozen=True, slots=True)
class Total:
    """An aggregate, compared with a bound; with `=` it may give a variable its value."""

    function: lars.Function
    rows: tuple[Counted, ...]
    sign: lars.Sign
    bound: Term
    negated: bool = False

    def gives(self, bound: Iterable[str]) -> str | None:
        """The variable to which it gives a value, if some have theirs."""
        if self.sign != "=" or self.negated or not isinstance(self.bound, Var):
            return None
        return None if self.bound.name in set(bound) else self.bound.name

    def readings(self) -> Iterator[ExtendedAtom]:
        """What is read for it."""
        for row in self.rows:
            yield from (one.reading for one in row.body if not isinstance(one, Compared))


Literal = Positive | Negative | Compared | Total


@dataclass(frozen=True, slots=True)
class OrderedRule:
    """One rule; without a head it is a constraint. `time` is that of an @-head."""

    head: lars.Atom | None
    time: Term | None
    body: tuple[Literal, ...]
    rule: lars.Rule


def terms_of(literal: Literal) -> tuple[Term, ...]:
    """All terms that are written in a literal."""
    match literal:
        case Compared(comparison=one):
            return one.left, one.right
        case Total(rows=rows, bound=bound):
            inner = [term for row in rows for part in row.body for term in terms_of(part)]
            return (bound, *(term for row in rows for term in row.terms), *inner)
        case Positive(reading=reading) | Negative(reading=reading):
            return reading.terms


def assigned(literal: Compared, bound: Iterable[str]) -> tuple[Var, Term] | None:
    """The variable that an equation gives a value, and the value."""
    known, one = set(bound), literal.comparison
    if one.sign != "=" or literal.negated:
        return None
    for variable, value in ((one.left, one.right), (one.right, one.left)):
        if isinstance(variable, Var) and variable.name not in known and names_of((value,)) <= known:
            return variable, value
    return None


def names_of(terms: Iterable[Term]) -> set[str]:
    """Variables that need a value: all but anonymous ones."""
    return {
        name for term in terms for name, var in variables(term).items() if not is_anonymous(var)
    }


def ordered(body: list[Literal], head: list[Term]) -> Iterator[Literal]:
    """Literals so that comparisons and negation come when their variables have values.

    Aggregates come last: a variable of theirs that others give a value to is not their own.
    """
    bound: set[str] = set()
    left = sorted(body, key=lambda one: isinstance(one, Total))
    while left:
        ready = (i for i, one in enumerate(left) if _ready(one, bound))
        place = next((i for i in ready if not _awaits(left[i], left, bound)), None)
        if place is None:
            raise NotServed("one of its variables gets no value")
        literal = left.pop(place)
        if isinstance(literal, Total):
            literal = replace(literal, rows=tuple(_sorted(row, bound) for row in literal.rows))
        bound |= _gives(literal, bound)
        yield literal
    if not names_of(head) <= bound:
        raise NotServed("a variable of its head gets no value")


def _awaits(literal: Literal, others: list[Literal], bound: set[str]) -> bool:
    """Does an aggregate speak of a variable that another literal is still to give a value?"""
    if not isinstance(literal, Total):
        return False
    inside = names_of(term for row in literal.rows for part in row.body for term in terms_of(part))
    given: set[str] = set()
    for other in others:
        if other is not literal:
            given |= _gives(other, bound)
            if isinstance(other, Compared) and other.comparison.sign == "=":
                sides = (other.comparison.left, other.comparison.right)
                given |= {side.name for side in sides if isinstance(side, Var)}
    return bool((inside - bound) & given)


def _sorted(row: Counted, known: set[str]) -> Counted:
    """An element with its literals in an order that works, given some values."""
    bound, left = set(known), list(row.body)
    body: list[Positive | Negative | Compared] = []
    while left:
        place = next((i for i, one in enumerate(left) if _ready(one, bound)), None)
        if place is None:
            raise NotServed("a variable of its aggregate gets no value")
        body.append(left.pop(place))
        bound |= _gives(body[-1], bound)
    if not names_of(row.terms) <= bound:
        raise NotServed("a variable of its aggregate gets no value")
    return Counted(row.terms, tuple(body))


def _ready(literal: Literal, bound: set[str]) -> bool:
    match literal:
        case Positive():
            return True
        case Negative(reading=reading):
            return names_of(reading.terms) <= bound
        case Compared(comparison=one):
            known = names_of((one.left, one.right)) <= bound
            return known or assigned(literal, bound) is not None
        case Total(bound=limit):
            return literal.gives(bound) is not None or names_of((limit,)) <= bound


def _gives(literal: Literal, bound: set[str]) -> set[str]:
    match literal:
        case Positive(reading=reading):
            return names_of(reading.terms)
        case Compared():
            found = assigned(literal, bound)
            return set() if found is None else {found[0].name}
        case Total():
            given = literal.gives(bound)
            return set() if given is None else {given}
        case _:
            return set()


def plain_rule(rule: lars.Rule) -> OrderedRule:
    """The rule in its plain form; raises `NotServed`."""
    try:
        return _plain_rule(rule)
    except NotServed as refused:
        raise NotServed(refused.reason, rule) from None


def _plain_rule(rule: lars.Rule) -> OrderedRule:
    head, time = _head(rule.head)
    fresh = _Fresh()
    body = [part for formula in rule.body for part in _literals(formula, fresh)]
    head_terms = () if head is None else head.args
    bound_later = [*head_terms, *([time] if time is not None else [])]
    literals = ordered(_at_some_time(body, bound_later), bound_later)
    return OrderedRule(head, time, tuple(literals), rule)


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
        return Positive(ExtendedAtom(reading.atom, reading.window, "some"))

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
            raise NotServed("it has a choice to make")
        case _:
            raise NotServed("its head is more than an atom")


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
            yield Compared(formula)
        case lars.Not(formula=lars.Comparison() as inner):
            yield Compared(inner, negated=True)
        case lars.Aggregate():
            yield _total(formula, fresh)
        case lars.Not(formula=lars.Aggregate() as inner):
            yield replace(_total(inner, fresh), negated=True)
        case lars.Not(formula=inner):
            reading, values = _named(_reading(inner), fresh)
            yield from (Compared(value) for value in values)
            yield Negative(reading)
        case _:
            reading, values = _named(_reading(formula), fresh)
            yield Positive(reading)
            yield from (Compared(value) for value in values)


def _total(formula: lars.Aggregate, fresh: _Fresh) -> Total:
    rows: list[Counted] = []
    for element in formula.elements:
        body: list[Positive | Negative | Compared] = []
        for part in element.condition:
            for literal in _literals(part, fresh):
                if isinstance(literal, Total):
                    raise NotServed("it has an aggregate inside of an aggregate")
                body.append(literal)
        rows.append(Counted(element.terms, tuple(body)))
    return Total(formula.function, tuple(rows), formula.sign, formula.bound)


def _reading(formula: lars.Formula) -> ExtendedAtom:
    match formula:
        case lars.Within(window=window, formula=inner):
            found = _reading(inner)
            if found.window is not None:
                raise NotServed("it has a window inside of a window")
            windowed = ExtendedAtom(found.atom, window, found.modality, found.time)
            _refuse_window(windowed)
            return windowed
        case lars.Atom():
            return ExtendedAtom(formula)
        case lars.Some(formula=lars.Atom() as atom):
            return ExtendedAtom(atom, None, "some")
        case lars.Always(formula=lars.Atom() as atom):
            return ExtendedAtom(atom, None, "always")
        case lars.At(time=time, formula=lars.Atom() as atom):
            return ExtendedAtom(atom, None, "at", time)
        case lars.Aggregate():
            raise NotServed("it has an aggregate in a window")
        case lars.Reset():
            raise NotServed("it goes back to the whole stream")
        case _:
            raise NotServed("it has a formula that is more than an atom in a window")


def _refuse_window(reading: ExtendedAtom) -> None:
    match reading.window:
        case lars.TupleWindow(future=future) | lars.PartitionWindow(future=future) if future != 0:
            if reading.modality == "always":
                raise NotServed("it asks for all points up to a signal to come")
        case lars.IntervalWindow(first=first, last=last):
            if not (isinstance(first, Int) and isinstance(last, Int)):
                raise NotServed("it has a window between times that are not fixed")
        case _:
            pass


def _named(reading: ExtendedAtom, fresh: _Fresh) -> tuple[ExtendedAtom, list[lars.Comparison]]:
    """Expressions as variables of their own, and what these are equal to."""
    values: list[lars.Comparison] = []

    def name(term: Term) -> Term:
        if not _computes(term):
            return term
        if not (isinstance(term, Compound) and term.name in ARITHMETIC):
            raise NotServed("it computes inside of a term")
        variable = fresh.variable()
        values.append(lars.Comparison("=", variable, term))
        return variable

    atom = reading.atom
    named = lars.Atom(atom.name, tuple(name(arg) for arg in atom.args), span=atom.span)
    time = None if reading.time is None else name(reading.time)
    return ExtendedAtom(named, reading.window, reading.modality, time), values


def _computes(term: Term) -> bool:
    return isinstance(term, Compound) and (
        term.name in ARITHMETIC or any(_computes(arg) for arg in term.args)
    )
