"""The conditions of rule bodies: one class for each form, and what is inside of what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal as OneOf

from horai.lang.terms import Term, Var, variables


@dataclass(frozen=True, slots=True)
class FVP:
    """A fluent-value pair `F=V`."""

    fluent: Term
    value: Term
    term: Term


@dataclass(frozen=True, slots=True)
class And:
    """A conjunction; `true` when empty."""

    items: tuple[Literal, ...]
    term: Term


@dataclass(frozen=True, slots=True)
class Or:
    """A disjunction."""

    items: tuple[Literal, ...]
    term: Term


@dataclass(frozen=True, slots=True)
class Not:
    """Negation as failure."""

    item: Literal
    term: Term


@dataclass(frozen=True, slots=True)
class IfThenElse:
    """`(C -> A ; B)`; without an else branch it fails when C does."""

    condition: Literal
    then: Literal
    otherwise: Literal
    term: Term


@dataclass(frozen=True, slots=True)
class Truth:
    """`true`, `fail` or `false`."""

    value: bool
    term: Term


@dataclass(frozen=True, slots=True)
class Happens:
    """`happensAt(E, T)`."""

    event: Term
    time: Term
    term: Term


@dataclass(frozen=True, slots=True)
class Edge:
    """`happensAt(start(F=V), T)` and its kin."""

    kind: OneOf["start", "end", "startI", "endI"]
    fvp: FVP
    time: Term
    term: Term


@dataclass(frozen=True, slots=True)
class HoldsAt:
    """`holdsAt(F=V, T)`."""

    fvp: FVP
    time: Term
    term: Term


@dataclass(frozen=True, slots=True)
class HoldsFor:
    """`holdsFor(F=V, I)`."""

    fvp: FVP
    intervals: Term
    term: Term


@dataclass(frozen=True, slots=True)
class InitiatedAt:
    """`initiatedAt(F=V, T)` as a condition; `bounds` is (T1, T2) of the four-argument form."""

    fvp: FVP
    time: Term
    term: Term
    bounds: tuple[Term, Term] | None = None


@dataclass(frozen=True, slots=True)
class TerminatedAt:
    """`terminatedAt(F=V, T)` as a condition."""

    fvp: FVP
    time: Term
    term: Term
    bounds: tuple[Term, Term] | None = None


@dataclass(frozen=True, slots=True)
class Compare:
    """`L op R` for `< > =< >= =:= =\\= = \\= == \\== @< @> @=< @>=`."""

    op: str
    left: Term
    right: Term
    term: Term


@dataclass(frozen=True, slots=True)
class Is:
    """`X is E`."""

    target: Term
    expression: Term
    term: Term


@dataclass(frozen=True, slots=True)
class FindAll:
    """`findall(X, G, L)`."""

    template: Term
    goal: Literal
    result: Term
    term: Term


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`aggregate_all(count | sum(X) | max(X) | min(X) | bag(X) | set(X), G, R)`."""

    kind: OneOf["count", "sum", "max", "min", "bag", "set"]
    template: Term | None
    goal: Literal
    result: Term
    term: Term


@dataclass(frozen=True, slots=True)
class IntervalOp:
    """`union_all(L, I)`, `intersect_all(L, I)`, `complement_all(L, I)`;
    `relative_complement_all(I1, L, I)` has its first argument in `base`."""

    kind: OneOf["union_all", "intersect_all", "complement_all", "relative_complement_all"]
    base: Term | None
    lists: Term
    result: Term
    term: Term


@dataclass(frozen=True, slots=True)
class Duration:
    """`intDurGreater(I, D, I2)` and its kin; `op` is the comparison of the duration with D.

    An open interval counts up to the query time, unless `open_counts` is False: then it never
    passes (some users define `intDurLess` so).
    """

    op: OneOf[">", ">=", "<", "=<"]
    intervals: Term
    bound: Term
    result: Term
    term: Term
    open_counts: bool = True


@dataclass(frozen=True, slots=True)
class Allen:
    """`rel(S, T, Mode, I)` or `allen(rel, S, T, Mode, I)`."""

    relation: str
    source: Term
    target: Term
    mode: str
    result: Term
    term: Term


@dataclass(frozen=True, slots=True)
class Call:
    """A background predicate, a built-in (`member`, `between`, `length`, ...) or a Python one."""

    name: str
    args: tuple[Term, ...]
    term: Term

    @property
    def key(self) -> tuple[str, int]:
        """Name and arity."""
        return (self.name, len(self.args))


Literal = (
    And
    | Or
    | Not
    | IfThenElse
    | Truth
    | Happens
    | Edge
    | HoldsAt
    | HoldsFor
    | InitiatedAt
    | TerminatedAt
    | Compare
    | Is
    | FindAll
    | Aggregate
    | IntervalOp
    | Duration
    | Allen
    | Call
)


def parts(literal: Literal) -> tuple[Literal, ...]:
    """The literals directly inside a control construct, a negation or an aggregate."""
    match literal:
        case And(items=items) | Or(items=items):
            return items
        case Not(item=item):
            return (item,)
        case IfThenElse(condition=condition, then=then, otherwise=otherwise):
            return (condition, then, otherwise)
        case FindAll(goal=goal) | Aggregate(goal=goal):
            return (goal,)
        case _:
            return ()


def walk(literal: Literal) -> Iterator[Literal]:
    """The literal and every literal inside it."""
    yield literal
    for part in parts(literal):
        yield from walk(part)


def conjuncts(literal: Literal) -> Iterator[Literal]:
    """The conditions of a conjunction, nested conjunctions flattened."""
    if isinstance(literal, And):
        for item in literal.items:
            yield from conjuncts(item)
    else:
        yield literal


def literal_variables(literal: Literal) -> dict[str, Var]:
    """The variables of a literal by name."""
    return variables(literal.term)
