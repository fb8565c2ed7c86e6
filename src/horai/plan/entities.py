"""Every event and fluent of a description: what sort it is, its values, where it is mentioned.

An event that heads a rule is an *output* event, any other an *input* event. A fluent with a
defining rule is an output fluent; one that is only read or declared arrives with the stream.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal as OneOf

from horai.lang.ec.syntax import Clause
from horai.lang.terms import Term, functor, is_ground

Key = tuple[str, int]


class Kind(StrEnum):
    """Events happen at points, fluents have a value over time; domains have members."""

    EVENT = "event"
    FLUENT = "fluent"
    DOMAIN = "domain"


class Sort(StrEnum):
    """How something comes about. Input fluents count as statically determined: they have
    intervals but no inertia."""

    EVENT = "event"
    SIMPLE = "simple"
    DETERMINED = "statically determined"


@dataclass(frozen=True, slots=True)
class Mention:
    """One place where an entity is written: `how` is the predicate or declaration around it."""

    term: Term
    value: Term | None
    how: str
    clause: Clause


@dataclass(slots=True)
class Entity:
    """An event or a fluent, by name and arity."""

    kind: Kind
    name: str
    arity: int
    defined: list[Mention] = field(default_factory=list)
    used: list[Mention] = field(default_factory=list)
    declared: list[Mention] = field(default_factory=list)
    grounded: list[Mention] = field(default_factory=list)
    form: OneOf["intervals", "points", "any"] = "any"
    values: dict[Term, set[Sort]] = field(default_factory=dict)
    computed: set[Sort] = field(default_factory=set)
    terminated: bool = False

    @property
    def key(self) -> Key:
        """Name and arity."""
        return (self.name, self.arity)

    @property
    def is_input(self) -> bool:
        """True when no rule defines it, so that it can only come from the stream."""
        return not self.defined

    @property
    def only_fills(self) -> bool:
        """True for an event that no rule mentions: it is sent only to fill a domain."""
        return not (self.defined or self.declared or self.used)

    @property
    def sorts(self) -> frozenset[Sort]:
        """All sorts of its values; two when simple and other values stand side by side."""
        if self.kind is Kind.EVENT:
            return frozenset({Sort.EVENT})
        found = set(self.computed).union(*self.values.values()) if self.values else self.computed
        if self.terminated:
            found = found | {Sort.SIMPLE}
        return frozenset(found) or frozenset({Sort.DETERMINED})

    def sorts_of(self, value: Term) -> frozenset[Sort]:
        """The sorts a value can come about by; for a variable, those of any value."""
        if not is_ground(value):
            return self.sorts
        return frozenset(self.values.get(value, set()) | self.computed)

    def takes(self, value: Term) -> bool:
        """True when the fluent can ever have this value; input fluents may bring any."""
        if self.is_input or not is_ground(value) or self.computed:
            return True
        return value in self.values

    @property
    def mentions(self) -> Iterator[Mention]:
        """Every mention, definitions first."""
        yield from self.defined
        yield from self.declared
        yield from self.grounded
        yield from self.used

    def __str__(self) -> str:
        return f"{self.name}/{self.arity}"


@dataclass(slots=True)
class Entities:
    """The events and fluents of a description by name and arity, in order of first mention."""

    events: dict[Key, Entity] = field(default_factory=dict)
    fluents: dict[Key, Entity] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Entity]:
        yield from self.events.values()
        yield from self.fluents.values()

    def event(self, term: Term) -> Entity | None:
        """The event a term is an instance of."""
        key = functor(term)
        return None if key is None else self.events.get(key)

    def fluent(self, term: Term) -> Entity | None:
        """The fluent a term is an instance of."""
        key = functor(term)
        return None if key is None else self.fluents.get(key)

    @property
    def inputs(self) -> list[Entity]:
        """What comes from the stream."""
        return [entity for entity in self if entity.is_input]

    @property
    def outputs(self) -> list[Entity]:
        """What rules define."""
        return [entity for entity in self if not entity.is_input]
