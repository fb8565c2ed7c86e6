"""The events and fluents of a description: their sorts, their values, where they are mentioned.

An event that heads a rule is an *output* event, any other an *input* event. A fluent with a
defining rule is an output fluent; one that is only read or declared arrives with the stream.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal as OneOf

from horai.lang.core.printer import is_pair
from horai.lang.core.terms import Compound, Term, functor, is_ground, key_of
from horai.lang.ec import syntax as ec
from horai.lang.ec.builtins import EDGES
from horai.plan.ec.literals import body_literals, literal_fvp, literal_word

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
    clause: ec.Clause


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
    def is_known(self) -> bool:
        """True for what a rule defines, a declaration names or a grounding is about."""
        return bool(self.defined or self.declared or self.grounded)

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
        return self.events.get(key_of(term))

    def fluent(self, term: Term) -> Entity | None:
        """The fluent a term is an instance of."""
        return self.fluents.get(key_of(term))

    @property
    def inputs(self) -> list[Entity]:
        """The entities that come from the stream."""
        return [entity for entity in self if entity.is_input]

    @property
    def outputs(self) -> list[Entity]:
        """The entities that rules define."""
        return [entity for entity in self if not entity.is_input]


# What the declarations of RTEC say about the entity in their first argument.
ENTITY_DECLARATIONS = frozenset(
    {"inputEntity", "outputEntity", "internalEntity", "event", "simpleFluent", "sDFluent", "cyclic"}
)


def find_entities(description: ec.EventDescription) -> Entities:
    """All events and fluents of a description."""
    entities = Entities()
    for rule in description.rules:
        _add(entities, rule)
        for literal in body_literals(rule):
            _use(entities, literal, rule.clause)
    # Groundings come last: they say where an entity lives, they do not make one, except for events
    # that are sent only to fill a domain.
    dynamic = {key_of(rule.domain) for rule in description.of(ec.DynamicDomain)}
    for grounding in description.of(ec.Grounding):
        asked = {one.key for one in body_literals(grounding) if isinstance(one, ec.Call)}
        if grounding.value is None and asked & dynamic:
            _entity(entities, Kind.EVENT, grounding.entity)
        known = entities.event if grounding.value is None else entities.fluent
        entity = known(grounding.entity)
        if entity is not None:
            mention = Mention(grounding.entity, grounding.value, "grounding", grounding.clause)
            entity.grounded.append(mention)
    return entities


def split_value(term: Term) -> tuple[Term, Term | None]:
    """`F=V` as fluent and value; anything else is an event."""
    if isinstance(term, Compound) and is_pair(term):
        return term.args[0], term.args[1]
    return term, None


def _entity(entities: Entities, kind: Kind, term: Term) -> Entity:
    table = entities.events if kind is Kind.EVENT else entities.fluents
    return table.setdefault(key_of(term), Entity(kind, *key_of(term)))


def _use(entities: Entities, literal: ec.Literal, clause: ec.Clause) -> None:
    fvp = literal_fvp(literal)
    if isinstance(literal, ec.Happens):
        mention = Mention(literal.event, None, "happensAt", clause)
        _entity(entities, Kind.EVENT, literal.event).used.append(mention)
    elif fvp is not None:
        _read(entities, fvp, literal_word(literal), clause)


def _read(entities: Entities, fvp: ec.FVP, how: str, clause: ec.Clause) -> None:
    mention = Mention(fvp.fluent, fvp.value, how, clause)
    _entity(entities, Kind.FLUENT, fvp.fluent).used.append(mention)


def _add(entities: Entities, rule: ec.Rule) -> None:
    """Note what a rule or declaration says of events and fluents, its body aside."""
    clause = rule.clause
    match rule:
        case ec.EventRule(event=term):
            mention = Mention(term, None, "happensAt", clause)
            _entity(entities, Kind.EVENT, term).defined.append(mention)
        case ec.Initiation(fvp=fvp):
            _define(entities, fvp, Sort.SIMPLE, "initiatedAt", clause)
        case ec.Initially(fvp=fvp):
            _define(entities, fvp, Sort.SIMPLE, "initially", clause)
        case ec.Termination(fvp=fvp):
            _define(entities, fvp, None, "terminatedAt", clause).terminated = True
        case ec.FutureInitiation(origin=origin, target=target):
            _read(entities, origin, "fi", clause)
            _define(entities, target, Sort.SIMPLE, "fi", clause)
        case ec.FutureTermination(origin=origin):
            _read(entities, origin, "ft", clause)
        case ec.Postponable(fvp=fvp):
            _read(entities, fvp, "p", clause)
        case ec.HoldsForRule(fvp=fvp):
            _define(entities, fvp, Sort.DETERMINED, "holdsFor", clause)
        case ec.HoldsAtRule(fvp=fvp):
            _define(entities, fvp, Sort.DETERMINED, "holdsAt", clause)
        case ec.InputFluent(fvp=fvp, form=form):
            fluent = _entity(entities, Kind.FLUENT, fvp.fluent)
            fluent.form = form
            how = "collectIntervals" if form == "intervals" else "points"
            fluent.declared.append(Mention(fvp.fluent, fvp.value, how, clause))
        case ec.Declaration(name=name, args=(term, *_)) if name in ENTITY_DECLARATIONS:
            _declare(entities, name, term, clause)


def _define(
    entities: Entities, fvp: ec.FVP, sort: Sort | None, how: str, clause: ec.Clause
) -> Entity:
    """Note a rule for a fluent; a termination gives it no value, so it has no sort."""
    fluent = _entity(entities, Kind.FLUENT, fvp.fluent)
    fluent.defined.append(Mention(fvp.fluent, fvp.value, how, clause))
    if sort is not None and is_ground(fvp.value):
        fluent.values.setdefault(fvp.value, set()).add(sort)
    elif sort is not None:
        fluent.computed.add(sort)
    return fluent


def _declare(entities: Entities, name: str, term: Term, clause: ec.Clause) -> None:
    inner, value = split_value(term)
    # `event(start(F=V))`-like declarations speak of a fluent's edges, which are not entities.
    is_edge = value is None and isinstance(inner, Compound) and inner.name in EDGES
    if functor(inner) is not None and not is_edge:
        kind = Kind.EVENT if value is None else Kind.FLUENT
        mention = Mention(inner, value, name, clause)
        _entity(entities, kind, inner).declared.append(mention)
