"""The events and fluents of a description, from all places where rules mention them.

Nothing has to be declared: what a person writes in `inputEntity` and the like is compared with what
is found here.
"""

from __future__ import annotations

from collections.abc import Iterator

from horai.lang.ec.builtins import EDGES
from horai.lang.ec.syntax import (
    FVP,
    Call,
    Clause,
    Declaration,
    DynamicDomain,
    EventDescription,
    EventRule,
    FutureInitiation,
    FutureTermination,
    Grounding,
    Happens,
    HoldsAtRule,
    HoldsForRule,
    Initially,
    Initiation,
    InputFluent,
    Literal,
    Postponable,
    Rule,
    Termination,
)
from horai.lang.terms import Compound, Term, Var, functor, is_ground
from horai.plan.entities import Entities, Entity, Key, Kind, Mention, Sort
from horai.plan.literals import body_literals, literal_fvp, literal_word

# What the declarations of RTEC say about the entity in their first argument.
ENTITY_DECLARATIONS = frozenset(
    {"inputEntity", "outputEntity", "internalEntity", "event", "simpleFluent", "sDFluent", "cyclic"}
)


def find_entities(description: EventDescription) -> Entities:
    """All events and fluents of a description."""
    entities = Entities()
    for rule in description.rules:
        _declare(entities, rule)
        _define(entities, rule)
        for literal in body_literals(rule):
            _use(entities, literal, rule.clause)
    # Groundings come last: they say where an entity lives, they do not make one, except for events
    # that are sent only to fill a domain.
    dynamic = {functor(r.domain) for r in description.rules if isinstance(r, DynamicDomain)}
    for rule in description.rules:
        if isinstance(rule, Grounding):
            if rule.value is None and any(key in dynamic for key in _called(rule)):
                _entity(entities, Kind.EVENT, rule.entity)
            _ground(entities, rule)
    return entities


def _called(rule: Grounding) -> list[Key]:
    return [literal.key for literal in body_literals(rule) if isinstance(literal, Call)]


def split_value(term: Term) -> tuple[Term, Term | None]:
    """`F=V` as fluent and value; anything else is an event."""
    if isinstance(term, Compound) and term.name == "=" and len(term.args) == 2:
        return term.args[0], term.args[1]
    return term, None


def _entity(entities: Entities, kind: Kind, term: Term) -> Entity | None:
    key = functor(term)
    if key is None:
        return None
    table = entities.events if kind is Kind.EVENT else entities.fluents
    if key not in table:
        table[key] = Entity(kind, *key)
    return table[key]


def _use(entities: Entities, literal: Literal, clause: Clause) -> None:
    fvp = literal_fvp(literal)
    if isinstance(literal, Happens):
        event = _entity(entities, Kind.EVENT, literal.event)
        if event is not None:
            event.used.append(Mention(literal.event, None, "happensAt", clause))
    elif fvp is not None:
        fluent = _entity(entities, Kind.FLUENT, fvp.fluent)
        if fluent is not None:
            fluent.used.append(Mention(fvp.fluent, fvp.value, literal_word(literal), clause))


def _define(entities: Entities, rule: Rule) -> None:
    match rule:
        case EventRule(event=term, clause=clause):
            event = _entity(entities, Kind.EVENT, term)
            if event is not None:
                event.defined.append(Mention(term, None, "happensAt", clause))
        case Initiation(fvp=fvp, clause=clause):
            _define_value(entities, fvp, Sort.SIMPLE, "initiatedAt", clause)
        case Initially(fvp=fvp, clause=clause):
            _define_value(entities, fvp, Sort.SIMPLE, "initially", clause)
        case FutureInitiation(origin=origin, target=target, clause=clause):
            _read(entities, origin, "fi", clause)
            _define_value(entities, target, Sort.SIMPLE, "fi", clause)
        case FutureTermination(origin=origin, clause=clause):
            _read(entities, origin, "ft", clause)
        case HoldsForRule(fvp=fvp, clause=clause):
            _define_value(entities, fvp, Sort.DETERMINED, "holdsFor", clause)
        case HoldsAtRule(fvp=fvp, clause=clause):
            _define_value(entities, fvp, Sort.DETERMINED, "holdsAt", clause)
        case Termination(fvp=fvp, clause=clause):
            fluent = _entity(entities, Kind.FLUENT, fvp.fluent)
            if fluent is not None:
                fluent.terminated = True
                fluent.defined.append(Mention(fvp.fluent, fvp.value, "terminatedAt", clause))
        case _:
            pass


def _define_value(entities: Entities, fvp: FVP, sort: Sort, how: str, clause: Clause) -> None:
    fluent = _entity(entities, Kind.FLUENT, fvp.fluent)
    if fluent is None:
        return
    fluent.defined.append(Mention(fvp.fluent, fvp.value, how, clause))
    if is_ground(fvp.value):
        fluent.values.setdefault(fvp.value, set()).add(sort)
    else:
        fluent.computed.add(sort)


def _read(entities: Entities, fvp: FVP, how: str, clause: Clause) -> None:
    fluent = _entity(entities, Kind.FLUENT, fvp.fluent)
    if fluent is not None:
        fluent.used.append(Mention(fvp.fluent, fvp.value, how, clause))


def _declare(entities: Entities, rule: Rule) -> None:
    match rule:
        case InputFluent(fvp=fvp, form=form, clause=clause):
            fluent = _entity(entities, Kind.FLUENT, fvp.fluent)
            if fluent is not None:
                fluent.form = form
                how = "collectIntervals" if form == "intervals" else "points"
                fluent.declared.append(Mention(fvp.fluent, fvp.value, how, clause))
        case Postponable(fvp=fvp, clause=clause):
            _read(entities, fvp, "p", clause)
        case Declaration(name=name, args=args, clause=clause):
            for term in declared_entities(name, args):
                _declare_entity(entities, name, term, clause)
        case _:
            pass


def declared_entities(name: str, args: tuple[Term, ...]) -> Iterator[Term]:
    """The events and `F=V` pairs that a declaration makes known."""
    if name in ENTITY_DECLARATIONS and args and not isinstance(args[0], Var):
        yield args[0]


def _declare_entity(entities: Entities, name: str, term: Term, clause: Clause) -> None:
    inner, value = split_value(term)
    kind = Kind.EVENT if value is None else Kind.FLUENT
    # `event(start(F=V))`-like declarations speak of a fluent's edges, which are not entities.
    if value is None and isinstance(inner, Compound) and inner.name in EDGES:
        return
    entity = _entity(entities, kind, inner)
    if entity is not None:
        entity.declared.append(Mention(inner, value, name, clause))


def _ground(entities: Entities, rule: Grounding) -> None:
    table = entities.events if rule.value is None else entities.fluents
    key = functor(rule.entity)
    if key in table:
        mention = Mention(rule.entity, rule.value, "grounding", rule.clause)
        table[key].grounded.append(mention)
