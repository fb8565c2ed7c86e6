"""Typed syntax trees of event descriptions.

A `Rule` is one clause with a meaning of its own, a `Literal` one condition of a body. Every node
keeps the term it was read from, so that anything can be printed back and pointed at.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as OneOf

from horai.lang.ec.conditions import (
    FVP as FVP,
)
from horai.lang.ec.conditions import (
    Aggregate as Aggregate,
)
from horai.lang.ec.conditions import (
    Allen as Allen,
)
from horai.lang.ec.conditions import (
    And as And,
)
from horai.lang.ec.conditions import (
    Call as Call,
)
from horai.lang.ec.conditions import (
    Compare as Compare,
)
from horai.lang.ec.conditions import (
    Duration as Duration,
)
from horai.lang.ec.conditions import (
    Edge as Edge,
)
from horai.lang.ec.conditions import (
    FindAll as FindAll,
)
from horai.lang.ec.conditions import (
    Happens as Happens,
)
from horai.lang.ec.conditions import (
    HoldsAt as HoldsAt,
)
from horai.lang.ec.conditions import (
    HoldsFor as HoldsFor,
)
from horai.lang.ec.conditions import (
    IfThenElse as IfThenElse,
)
from horai.lang.ec.conditions import (
    InitiatedAt as InitiatedAt,
)
from horai.lang.ec.conditions import (
    IntervalOp as IntervalOp,
)
from horai.lang.ec.conditions import (
    Is as Is,
)
from horai.lang.ec.conditions import (
    Literal as Literal,
)
from horai.lang.ec.conditions import (
    Not as Not,
)
from horai.lang.ec.conditions import (
    Or as Or,
)
from horai.lang.ec.conditions import (
    TerminatedAt as TerminatedAt,
)
from horai.lang.ec.conditions import (
    Truth as Truth,
)
from horai.lang.ec.conditions import (
    conjuncts as conjuncts,
)
from horai.lang.ec.conditions import (
    literal_variables as literal_variables,
)
from horai.lang.ec.conditions import (
    parts as parts,
)
from horai.lang.ec.conditions import (
    walk as walk,
)
from horai.lang.source import Source
from horai.lang.terms import Compound, Term


@dataclass(frozen=True, slots=True)
class Clause:
    """`head :- body.`; a fact has no body, a directive `:- body.` no head."""

    head: Term | None
    body: Term | None
    span: tuple[int, int]
    source: Source


@dataclass(frozen=True, slots=True)
class Initiation:
    """`initiatedAt(F=V, T) :- B`; `initiates(E, F=V, T)` becomes one with `happensAt(E, T)`."""

    fvp: FVP
    time: Term
    body: And
    clause: Clause
    bounds: tuple[Term, Term] | None = None


@dataclass(frozen=True, slots=True)
class Termination:
    """`terminatedAt(F=V, T) :- B`."""

    fvp: FVP
    time: Term
    body: And
    clause: Clause
    bounds: tuple[Term, Term] | None = None


@dataclass(frozen=True, slots=True)
class Initially:
    """`initially(F=V) :- B`."""

    fvp: FVP
    body: And
    clause: Clause


@dataclass(frozen=True, slots=True)
class EventRule:
    """`happensAt(E, T) :- B`: an output event."""

    event: Term
    time: Term
    body: And
    clause: Clause


@dataclass(frozen=True, slots=True)
class HoldsForRule:
    """`holdsFor(F=V, I) :- B`: a statically determined fluent."""

    fvp: FVP
    intervals: Term
    body: And
    clause: Clause


@dataclass(frozen=True, slots=True)
class HoldsAtRule:
    """`holdsAt(F=V, T) :- B`: a statically determined fluent as a Boolean formula."""

    fvp: FVP
    time: Term
    body: And
    clause: Clause


@dataclass(frozen=True, slots=True)
class FutureInitiation:
    """`fi(F=V, F2=V2, R) :- B`."""

    origin: FVP
    target: FVP
    delay: Term
    body: And
    clause: Clause


@dataclass(frozen=True, slots=True)
class FutureTermination:
    """`ft(F=V, R) :- B`."""

    origin: FVP
    delay: Term
    body: And
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
    body: And
    clause: Clause


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
    body: And
    clause: Clause


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


@dataclass(slots=True)
class Facts:
    """The ground facts of one predicate: argument rows and where each was written."""

    rows: list[tuple[Term, ...]] = field(default_factory=list)
    places: list[tuple[Source, int]] = field(default_factory=list)


@dataclass(slots=True)
class EventDescription:
    """All rules of one or more files.

    Ground background facts are kept apart in `facts`, by name and arity: large background files
    stay plain data.
    """

    rules: list[Rule] = field(default_factory=list)
    facts: dict[tuple[str, int], Facts] = field(default_factory=dict)
    sources: list[Source] = field(default_factory=list)
