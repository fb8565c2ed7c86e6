"""Typed syntax trees of event descriptions: rules, and the conditions of their bodies.

A `Rule` is one clause with a meaning of its own, a `Literal` one condition of a body. Every node
keeps the term it was read from, so that anything can be printed back and pointed at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal as OneOf
from typing import TypeVar

from horai.lang.core.source import SourceText
from horai.lang.core.terms import Compound, Term, args_of, functor, key_of, subterms
from horai.lang.ec.operators import OPERATORS, IntervalOperator

Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class FVP:
    """A fluent-value pair `F=V`."""

    fluent: Term
    value: Term
    term: Term

    @property
    def key(self) -> Key:
        """Name and arity of the fluent."""
        return key_of(self.fluent)

    @property
    def columns(self) -> tuple[Term, ...]:
        """The arguments of the fluent, and the value."""
        return (*args_of(self.fluent), self.value)


@dataclass(frozen=True, slots=True)
class Conjunction:
    """A conjunction; `true` when empty."""

    items: tuple[Literal, ...]
    term: Term


@dataclass(frozen=True, slots=True)
class Disjunction:
    """A disjunction."""

    items: tuple[Literal, ...]
    term: Term


@dataclass(frozen=True, slots=True)
class Negation:
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
class TruthValue:
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
class AggregateAll:
    """`aggregate_all(count | sum(X) | max(X) | min(X) | bag(X) | set(X), G, R)`."""

    kind: OneOf["count", "sum", "max", "min", "bag", "set"]
    template: Term | None
    goal: Literal
    result: Term
    term: Term


@dataclass(frozen=True, slots=True)
class IntervalOp:
    """`union_all(L, I)` and the like, of which `operators.py` says everything; `base` is the first
    argument of those that have one, as `relative_complement_all(I0, L, I)`."""

    kind: str
    base: Term | None
    lists: Term
    result: Term
    term: Term

    @property
    def operator(self) -> IntervalOperator:
        """What it does."""
        return OPERATORS[self.kind]


@dataclass(frozen=True, slots=True)
class DurationFilter:
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
    def key(self) -> Key:
        """Name and arity."""
        return (self.name, len(self.args))


Computation = Is | IntervalOp | DurationFilter | Allen
Aggregate = FindAll | AggregateAll
Temporal = Happens | Edge | HoldsAt | HoldsFor | InitiatedAt | TerminatedAt
Literal = (
    Conjunction
    | Disjunction
    | Negation
    | IfThenElse
    | TruthValue
    | Happens
    | Edge
    | HoldsAt
    | HoldsFor
    | InitiatedAt
    | TerminatedAt
    | Compare
    | Is
    | FindAll
    | AggregateAll
    | IntervalOp
    | DurationFilter
    | Allen
    | Call
)


def parts(literal: Literal) -> tuple[Literal, ...]:
    """The literals directly inside a control construct, a negation or an aggregate."""
    match literal:
        case Conjunction(items=items) | Disjunction(items=items):
            return items
        case Negation(item=item):
            return (item,)
        case IfThenElse(condition=condition, then=then, otherwise=otherwise):
            return (condition, then, otherwise)
        case FindAll(goal=goal) | AggregateAll(goal=goal):
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
    if isinstance(literal, Conjunction):
        for item in literal.items:
            yield from conjuncts(item)
    else:
        yield literal


@dataclass(frozen=True, slots=True)
class Clause:
    """`head :- body.`; a fact has no body, a directive `:- body.` no head."""

    head: Term | None
    body: Term | None
    span: tuple[int, int]
    source: SourceText

    @property
    def key(self) -> Key | None:
        """Name and arity of the head."""
        return None if self.head is None else functor(self.head)

    @property
    def mentioned(self) -> set[Key]:
        """Every name in the body, wherever it stands."""
        inside = subterms(self.body) if self.body is not None else ()
        return {key for part in inside if (key := functor(part)) is not None}

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.source.name}:{self.source.position(self.span[0])[0]}"


@dataclass(frozen=True, slots=True)
class Initiation:
    """`initiatedAt(F=V, T) :- B`; `initiates(E, F=V, T)` becomes one with `happensAt(E, T)`."""

    fvp: FVP
    time: Term
    body: Conjunction
    clause: Clause
    bounds: tuple[Term, Term] | None = None


@dataclass(frozen=True, slots=True)
class Termination:
    """`terminatedAt(F=V, T) :- B`."""

    fvp: FVP
    time: Term
    body: Conjunction
    clause: Clause
    bounds: tuple[Term, Term] | None = None


@dataclass(frozen=True, slots=True)
class Initially:
    """`initially(F=V) :- B`."""

    fvp: FVP
    body: Conjunction
    clause: Clause


@dataclass(frozen=True, slots=True)
class EventRule:
    """`happensAt(E, T) :- B`: an output event."""

    event: Term
    time: Term
    body: Conjunction
    clause: Clause


@dataclass(frozen=True, slots=True)
class HoldsForRule:
    """`holdsFor(F=V, I) :- B`: a statically determined fluent."""

    fvp: FVP
    intervals: Term
    body: Conjunction
    clause: Clause


@dataclass(frozen=True, slots=True)
class HoldsAtRule:
    """`holdsAt(F=V, T) :- B`: a statically determined fluent as a Boolean formula."""

    fvp: FVP
    time: Term
    body: Conjunction
    clause: Clause


@dataclass(frozen=True, slots=True)
class FutureInitiation:
    """`fi(F=V, F2=V2, R) :- B`."""

    origin: FVP
    target: FVP
    delay: Term
    body: Conjunction
    clause: Clause


@dataclass(frozen=True, slots=True)
class FutureTermination:
    """`ft(F=V, R) :- B`."""

    origin: FVP
    delay: Term
    body: Conjunction
    clause: Clause


@dataclass(frozen=True, slots=True)
class Postponable:
    """`p(F=V)`: each re-initiation restarts the clock of the delayed effects of F=V."""

    fvp: FVP
    clause: Clause


@dataclass(frozen=True, slots=True)
class Grounding:
    """`grounding(E) :- B` or `grounding(F=V) :- B`; `entity` is the event or the fluent."""

    entity: Term
    value: Term | None
    body: Conjunction
    clause: Clause

    @property
    def key(self) -> Key:
        """Name and arity of the entity."""
        return key_of(self.entity)


@dataclass(frozen=True, slots=True)
class DynamicDomain:
    """`dynamicDomain(d(_))`."""

    domain: Compound
    clause: Clause


@dataclass(frozen=True, slots=True)
class InputFluent:
    """`collectIntervals(F=V)` or `points(F=V)` / `buildFromPoints(F=V)`."""

    fvp: FVP
    form: OneOf["intervals", "points"]
    clause: Clause


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declaration that Horai derives itself: `inputEntity`, `index`, `cachingOrder`, ..."""

    name: str
    args: tuple[Term, ...]
    clause: Clause


@dataclass(frozen=True, slots=True)
class BackgroundRule:
    """A rule or fact of the background knowledge."""

    head: Term
    body: Conjunction
    clause: Clause

    @property
    def key(self) -> Key:
        """Name and arity of the predicate."""
        return key_of(self.head)


Rule = (
    Initiation
    | Termination
    | Initially
    | EventRule
    | HoldsForRule
    | HoldsAtRule
    | FutureInitiation
    | FutureTermination
    | Postponable
    | Grounding
    | DynamicDomain
    | InputFluent
    | Declaration
    | BackgroundRule
)


OneRule = TypeVar("OneRule", bound=Rule)


@dataclass(slots=True)
class Facts:
    """The ground facts of one predicate: argument rows and where each was written."""

    rows: list[tuple[Term, ...]] = field(default_factory=list)
    places: list[tuple[SourceText, int]] = field(default_factory=list)


@dataclass(slots=True)
class EventDescription:
    """All rules of one or more files.

    Ground background facts are kept apart in `facts`, by name and arity: large background files
    stay plain data.
    """

    rules: list[Rule] = field(default_factory=list)
    facts: dict[Key, Facts] = field(default_factory=dict)
    sources: list[SourceText] = field(default_factory=list)

    def of(self, kind: type[OneRule]) -> list[OneRule]:
        """The rules of one kind."""
        return [rule for rule in self.rules if isinstance(rule, kind)]


def body_of(rule: Rule) -> Conjunction | None:
    """The body of a rule; declarations have none."""
    return getattr(rule, "body", None)
