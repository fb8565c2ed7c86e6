"""Statically determined fluents that are defined, but not computed for lack of a grounding.

In files with groundings a missing one is a way to say that a fluent is not wanted: institutional
power, say, that would have to be computed for every agent. Its rule stays in the file and is left
out of the run.
"""

from __future__ import annotations

from collections.abc import Iterable

from horai.lang.core.terms import Term, functor
from horai.lang.ec.syntax import EventDescription, Grounding, HoldsForRule, Rule
from horai.plan.ec.entities import Entities, find_entities
from horai.plan.ec.literals import names
from horai.plan.ec.modes import PythonPredicate
from horai.plan.ec.ordering import RuleOrder, head_entity, order_rules
from horai.plan.ec.predicates import find_predicates, mode_table
from horai.plan.ec.unify import may_match


def computed(
    description: EventDescription, python: Iterable[PythonPredicate] = ()
) -> EventDescription:
    """The description without the rules that are not computed."""
    given = tuple(python)
    orders = order_rules(description, mode_table(find_predicates(description, given), given))
    left_out = not_computed(description, orders, find_entities(description))
    if not left_out:
        return description
    away = {id(rule) for rule in left_out}
    kept = [rule for rule in description.rules if id(rule) not in away]
    return EventDescription(kept, description.facts, description.sources)


def not_computed(
    description: EventDescription, orders: Iterable[RuleOrder], entities: Entities
) -> list[Rule]:
    """The rules whose head has an open variable and no grounding, in a file with groundings.

    Where another rule of the same fluent does without a grounding, the open variable is a mistake.
    """
    groundings = [rule for rule in description.rules if isinstance(rule, Grounding)]
    if not any(_is_output(rule, entities) for rule in groundings):
        return []
    grounded = [rule.entity for rule in groundings if rule.value is not None]
    opened: list[RuleOrder] = []
    closed: list[Term] = []
    for order in orders:
        entity = head_entity(order.rule)
        if entity is None:
            continue
        if _is_open(order, entity[0]) and not any(may_match(entity[0], g) for g in grounded):
            opened.append(order)
        else:
            closed.append(entity[0])
    return [o.rule for o in opened if not any(may_match(_fluent(o), other) for other in closed)]


def _is_output(rule: Grounding, entities: Entities) -> bool:
    table = entities.events if rule.value is None else entities.fluents
    entity = table.get(functor(rule.entity) or ("", 0))
    return entity is not None and not entity.is_input


def _is_open(order: RuleOrder, fluent: Term) -> bool:
    if not isinstance(order.rule, HoldsForRule) or order.stuck:
        return False
    return bool(order.unbound) and {var.name for var in order.unbound} <= names(fluent)


def _fluent(order: RuleOrder) -> Term:
    entity = head_entity(order.rule)
    assert entity is not None
    return entity[0]
