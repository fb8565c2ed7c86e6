"""Rules as they are run: heads and literals of the plain fragment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal as OneOf

from horai.lang.core.terms import Term, Var, is_anonymous, variables
from horai.lang.lars import syntax as lars

Modality = OneOf["now", "some", "always", "at"]


Source = tuple[lars.Predicate, lars.Window | None, Modality]


class NotPlain(Exception):
    """A rule that is not of the plain fragment; says why, and where it stands."""

    def __init__(self, reason: str, rule: lars.Rule | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.rule = rule

    def __str__(self) -> str:
        rule = self.rule
        if rule is None or rule.source is None or rule.span is None:
            return self.reason
        line, column = rule.source.position(rule.span[0])
        return f"{rule.source.name}:{line}:{column}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Reading:
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

    reading: Reading


@dataclass(frozen=True, slots=True)
class Negative:
    """Something that must not hold."""

    reading: Reading


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison; with `=` it may give a variable its value."""

    comparison: lars.Comparison
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Counted:
    """An element of an aggregate: terms, for all values that make its literals true."""

    terms: tuple[Term, ...]
    body: tuple[Positive | Negative | Compare, ...]


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

    def readings(self) -> Iterator[Reading]:
        """What is read for it."""
        for row in self.rows:
            yield from (one.reading for one in row.body if not isinstance(one, Compare))


Literal = Positive | Negative | Compare | Total


@dataclass(frozen=True, slots=True)
class PlainRule:
    """One rule; without a head it is a constraint. `time` is that of an @-head."""

    head: lars.Atom | None
    time: Term | None
    body: tuple[Literal, ...]
    rule: lars.Rule


def terms_of(literal: Literal) -> tuple[Term, ...]:
    """All terms that are written in a literal."""
    match literal:
        case Compare(comparison=one):
            return one.left, one.right
        case Total(rows=rows, bound=bound):
            inner = [term for row in rows for part in row.body for term in terms_of(part)]
            return (bound, *(term for row in rows for term in row.terms), *inner)
        case Positive(reading=reading) | Negative(reading=reading):
            return reading.terms


def assigned(literal: Compare, bound: Iterable[str]) -> tuple[Var, Term] | None:
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
