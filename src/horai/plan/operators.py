"""The operators of a plan. A body is a chain of them, each extending a table of bindings.

A chain starts with one row and no columns; every operator keeps, multiplies or drops rows and may
add columns, one per variable. `term` is the condition an operator was made from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal as OneOf

from horai.lang.core.terms import Compound, Term
from horai.lang.ec.syntax import Allen, Call, Clause, Compare, DurationFilter, IntervalOp, Is
from horai.plan.ec.literals import Names, names

Key = tuple[str, int]
PointKind = OneOf["event", "initiated", "terminated", "start", "end", "startI", "endI"]


@dataclass(frozen=True, slots=True)
class Bound:
    """A limit for a time: `time >= term` (or `<=`), known when the operator runs."""

    lower: bool
    term: Term


@dataclass(frozen=True, slots=True)
class Scan:
    """Join with points: events, initiations, terminations, edges of spans.

    `terms` are the arguments, followed by the value where fluents are concerned. `bounds` are
    limits of the time, so that two time variables need not meet in every pair.
    """

    kind: PointKind
    key: Key
    terms: tuple[Term, ...]
    time: Term
    term: Term
    within: tuple[Term, Term] | None = None
    bounds: tuple[Bound, ...] = ()


@dataclass(frozen=True, slots=True)
class FactJoin:
    """Join with a background relation."""

    key: Key
    terms: tuple[Term, ...]
    term: Term


@dataclass(frozen=True, slots=True)
class Stab:
    """`holdsAt`: join with the pairs that hold at a time.

    Where nothing else names a time, these are all time-points at which a pair holds.
    """

    key: Key
    terms: tuple[Term, ...]
    time: Term
    term: Term


@dataclass(frozen=True, slots=True)
class Lookup:
    """The interval list of a pair: `holdsFor`. It never fails."""

    key: Key
    terms: tuple[Term, ...]
    result: Term
    term: Term


@dataclass(frozen=True, slots=True)
class SpanOperation:
    """Union, intersection, complement, duration filter or Allen relation of interval lists."""

    literal: IntervalOp | DurationFilter | Allen
    term: Term


@dataclass(frozen=True, slots=True)
class Filter:
    """A comparison; `own` are the variables of `\\=` that stand for anything."""

    literal: Compare
    term: Term


@dataclass(frozen=True, slots=True)
class Unify:
    """`L = R`: binds or compares."""

    left: Term
    right: Term
    term: Term


@dataclass(frozen=True, slots=True)
class Extend:
    """`X is E`."""

    literal: Is
    term: Term


@dataclass(frozen=True, slots=True)
class TruthOp:
    """`true` or `fail`."""

    value: bool
    term: Term


@dataclass(frozen=True, slots=True)
class AntiJoin:
    """Negation as failure: keeps the rows for which the chain gives nothing."""

    body: Chain
    term: Term


@dataclass(frozen=True, slots=True)
class Union:
    """Disjunction: the rows of all branches. `(C -> A ; B)` is one of `C, A` and `\\+ C, B`."""

    branches: tuple[Chain, ...]
    term: Term


@dataclass(frozen=True, slots=True)
class AggregateOp:
    """`findall` (kind `list`) and `aggregate_all`, over the different solutions of a chain."""

    kind: OneOf["list", "count", "sum", "max", "min", "bag", "set"]
    template: Term | None
    body: Chain
    inner: Names
    result: Term
    term: Term


@dataclass(frozen=True, slots=True)
class BuiltinOp:
    """A built-in predicate over terms."""

    call: Call
    term: Term


@dataclass(frozen=True, slots=True)
class Python:
    """A predicate registered from Python."""

    call: Call
    term: Term


@dataclass(frozen=True, slots=True)
class QueryTime:
    """`queryTime(Q)`."""

    target: Term
    term: Term


@dataclass(frozen=True, slots=True)
class Procedure:
    """A call of background rules that need arguments: unfolded where it is called.

    `bound` are the argument positions that have a value; the clauses are in the plan.
    """

    key: Key
    args: tuple[Term, ...]
    bound: frozenset[int]
    term: Term


Operator = (
    Scan
    | FactJoin
    | Stab
    | Lookup
    | SpanOperation
    | Filter
    | Unify
    | Extend
    | TruthOp
    | AntiJoin
    | Union
    | AggregateOp
    | BuiltinOp
    | Python
    | QueryTime
    | Procedure
)


@dataclass(frozen=True, slots=True)
class Chain:
    """Operators from left to right. `needed[i]` are the variables still needed after the i-th.

    `clause` is that of the background rule they are made from, if it is not the rule that asks.
    """

    steps: tuple[Operator, ...] = ()
    needed: tuple[Names, ...] = ()
    bound: Names = frozenset()
    clause: Clause | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Branch:
    """A clause of a procedure, made for one set of bound arguments."""

    head: tuple[Term, ...]
    body: Chain


@dataclass(slots=True)
class Procedures:
    """The clauses of procedures by name, arity and bound arguments."""

    branches: dict[tuple[Key, frozenset[int]], tuple[Branch, ...]] = field(default_factory=dict)


def equal(left: Term, right: Term) -> Unify:
    """The operator of `left = right`."""
    return Unify(left, right, Compound("=", (left, right)))


def inside(operator: Operator) -> tuple[Chain, ...]:
    """The chains in an operator."""
    match operator:
        case AntiJoin(body=body) | AggregateOp(body=body):
            return (body,)
        case Union(branches=branches):
            return branches
        case _:
            return ()


def walk(chain: Chain) -> Iterator[Operator]:
    """All operators of a chain, those inside others too."""
    for step in chain.steps:
        yield step
        for part in inside(step):
            yield from walk(part)


def binds(step: Operator) -> Names:
    """The variables that have a value after an operator: those it gives one, or needs one of."""
    match step:
        case AntiJoin() | Filter() | TruthOp():
            return frozenset()
        case Union(branches=branches):
            return shared(branches)
        case AggregateOp(result=result):
            return names(result)
        case _:
            return names(step.term)


def shared(chains: Iterable[Chain]) -> Names:
    """The variables that have a value after any of those chains that may have a solution."""
    some = [one.bound for one in chains if not any(map(_fails, one.steps))]
    return frozenset.intersection(*some) if some else frozenset()


def _fails(step: Operator) -> bool:
    return isinstance(step, TruthOp) and not step.value
