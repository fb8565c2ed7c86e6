"""How each rule is evaluated: its body in order, after what groundings bind if it needs that.

A head variable that the body does not bind ranges over the grounding of the head's entity. Then the
variables of the head are bound first, before the body, and only when the body cannot do without.

In files with groundings a missing one is a way to say that a statically determined fluent is not
wanted: institutional power, say, that would have to be computed for every agent. Its rule stays in
the file and is left out of the run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from horai.lang.core.terms import Term, Var, args_of, key_of, variables
from horai.lang.ec import syntax as ec
from horai.plan.ec.delays import initiation_times
from horai.plan.ec.entities import Entities, find_entities
from horai.plan.ec.literal_order import Ordering, Stuck, order_body
from horai.plan.ec.literals import Names, names
from horai.plan.ec.modes import ModeTable, PythonPredicate
from horai.plan.ec.predicates import find_predicates, mode_table
from horai.plan.ec.unify import may_match
from horai.plan.unfolding import Helpers


@dataclass(frozen=True, slots=True)
class RuleOrder:
    """How a rule is evaluated.

    Nothing but the entity's grounding gives the variables of `from_grounding` a value. They are
    bound first, with every instance of it, and with them the other variables of the head: what the
    body binds has to fit the rest of the instance. `together` are all of these. Then the literals
    of `body` follow from left to right. `unbound` are the head variables that remain
    without a value; a rule with any of them, or with `stuck` literals, cannot be run.
    """

    rule: ec.Rule
    given: Names  # what has a value before the body is looked at
    body: ec.Conjunction
    bound: Names
    from_grounding: Names
    together: Names
    unbound: tuple[Var, ...]
    stuck: tuple[Stuck, ...]

    @property
    def ok(self) -> bool:
        """True when the rule can be run."""
        return not self.unbound and not self.stuck


class GroundingRules:
    """The groundings of a description by what they are for."""

    def __init__(self, description: ec.EventDescription, table: ModeTable) -> None:
        self.rules: dict[tuple[bool, str, int], list[tuple[ec.Grounding, Names]]] = {}
        for rule in description.of(ec.Grounding):
            bound = order_body(rule.body, (), table).bound
            self.rules.setdefault((rule.value is None, *rule.key), []).append((rule, bound))

    def bound_by(self, entity: Term, value: Term | None) -> Names:
        """The variables of an entity as written in a head that its groundings give values to."""
        rules = self.rules.get((value is None, *key_of(entity)), [])
        matching = [pair for pair in rules if _fits(pair[0], entity, value)] or rules
        if not matching:
            return frozenset()
        covered = [_covered(rule, bound, entity, value) for rule, bound in matching]
        return frozenset.intersection(*covered)


def _fits(rule: ec.Grounding, entity: Term, value: Term | None) -> bool:
    if not may_match(rule.entity, entity):
        return False
    return value is None or rule.value is None or may_match(rule.value, value)


def _covered(rule: ec.Grounding, bound: Names, entity: Term, value: Term | None) -> Names:
    pairs = list(zip(args_of(rule.entity), args_of(entity), strict=True))
    if value is not None and rule.value is not None:
        pairs.append((rule.value, value))
    return names(*(wanted for given, wanted in pairs if names(given) <= bound))


def head_terms(rule: ec.Rule) -> tuple[Term, ...]:
    """The parts of a head that must have a value in the end.

    The value of a termination is missing on purpose: left open, it means every value.
    """
    match rule:
        case ec.Initiation(fvp=fvp, time=time) | ec.HoldsAtRule(fvp=fvp, time=time):
            return (fvp.fluent, fvp.value, time)
        case ec.Termination(fvp=fvp, time=time):
            return (fvp.fluent, time)
        case ec.Initially(fvp=fvp):
            return (fvp.fluent, fvp.value)
        case ec.EventRule(event=event, time=time):
            return (event, time)
        case ec.HoldsForRule(fvp=fvp, intervals=intervals):
            return (fvp.fluent, fvp.value, intervals)
        case ec.FutureInitiation(target=fvp, delay=delay):
            return (fvp.fluent, fvp.value, delay)
        case ec.FutureTermination(delay=delay):
            return (delay,)
        case _:
            return ()


def given_variables(rule: ec.Rule, helpers: Helpers) -> Names:
    """The variables that have a value before the body is looked at."""
    match rule:
        case ec.Initiation(bounds=(first, last)) | ec.Termination(bounds=(first, last)):
            return frozenset((*variables(first), *variables(last)))
        case ec.FutureInitiation(origin=origin) | ec.FutureTermination(origin=origin):
            # The initiation of the origin comes first: its arguments and its time are known.
            return frozenset((*variables(origin.term), *initiation_times(rule, helpers)))
        case ec.HoldsAtRule(time=time, body=body):
            # A formula is asked of every time-point: negations need nothing else to name one.
            return names(time) & names(body.term)
        case ec.Grounding(entity=entity, value=value):
            # A grounding also restricts what is computed: then its arguments are known.
            return names(entity, value)
        case _:
            return frozenset()


def head_entity(rule: ec.Rule) -> tuple[Term, Term | None] | None:
    """The event, or fluent and value, that a rule defines."""
    match rule:
        case ec.EventRule(event=event):
            return (event, None)
        case (
            ec.Initiation(fvp=fvp)
            | ec.Termination(fvp=fvp)
            | ec.Initially(fvp=fvp)
            | ec.HoldsForRule(fvp=fvp)
            | ec.HoldsAtRule(fvp=fvp)
            | ec.FutureInitiation(target=fvp)
        ):
            return (fvp.fluent, fvp.value)
        case _:
            return None


class Orderer:
    """Orders the rules of one description; keeps what the rules have in common."""

    def __init__(self, description: ec.EventDescription, table: ModeTable | None = None) -> None:
        self.description = description
        self.table = table or mode_table(find_predicates(description))
        self.groundings = GroundingRules(description, self.table)
        self.helpers = Helpers(description)

    @property
    def orders(self) -> list[RuleOrder]:
        """All rules."""
        return [self.order(rule) for rule in self.description.rules]

    def order(self, rule: ec.Rule) -> RuleOrder:
        """A rule in an order that can be evaluated."""
        body = ec.body_of(rule)
        if body is None or isinstance(rule, ec.BackgroundRule):
            empty = ec.Conjunction((), rule.clause.head or Var("_"))
            nobody: Names = frozenset()
            return RuleOrder(rule, nobody, empty, nobody, nobody, nobody, (), ())
        given = given_variables(rule, self.helpers)
        head = frozenset(variables(rule.clause.head)) if rule.clause.head is not None else given
        wanted = {name: var for term in head_terms(rule) for name, var in variables(term).items()}
        table = self.table
        if isinstance(rule, ec.HoldsForRule | ec.HoldsAtRule):
            table = replace(table, ranging=True)
        first = order_body(body, given, table, head)
        missing = set(wanted) - first.bound
        if first.ok and (first.fails or not missing):
            return RuleOrder(rule, given, first.body, first.bound, frozenset(), frozenset(), (), ())
        entity = head_entity(rule)
        domain = self.groundings.bound_by(*entity) if entity is not None else frozenset()
        extra = frozenset(missing) & domain
        together = extra
        if extra and entity is not None and not isinstance(rule, ec.HoldsForRule | ec.HoldsAtRule):
            together |= domain & names(entity[0])
        second = order_body(body, given | together, table, head) if extra else first
        unbound = _without(wanted, second)
        return RuleOrder(
            rule, given, second.body, second.bound, extra, together, unbound, second.stuck
        )


def _without(wanted: dict[str, Var], ordering: Ordering) -> tuple[Var, ...]:
    if ordering.fails:
        return ()
    return tuple(var for name, var in wanted.items() if name not in ordering.bound)


def times_found_by_holding(order: RuleOrder) -> list[ec.HoldsAt]:
    """Conditions that are asked for every point at which they hold, because nothing else gives
    a time: legal, but slow."""
    if isinstance(order.rule, ec.HoldsAtRule):
        return []
    bound = order.given | order.together
    slow: list[ec.HoldsAt] = []
    for literal in order.body.items:
        if isinstance(literal, ec.HoldsAt) and not names(literal.time) <= bound:
            slow.append(literal)
        bound |= names(literal.term)
    return slow


def computed(
    description: ec.EventDescription, python: Iterable[PythonPredicate] = ()
) -> ec.EventDescription:
    """The description without the rules that are not computed."""
    given = tuple(python)
    orderer = Orderer(description, mode_table(find_predicates(description, given), given))
    left_out = not_computed(description, orderer.orders, find_entities(description))
    kept = [rule for rule in description.rules if id(rule) not in left_out]
    return ec.EventDescription(kept, description.facts, description.sources)


def not_computed(
    description: ec.EventDescription, orders: Iterable[RuleOrder], entities: Entities
) -> frozenset[int]:
    """The rules, by identity, with an open head and no grounding, in a file with groundings.

    Where another rule of the same fluent does without a grounding, the open variable is a mistake.
    """
    groundings = description.of(ec.Grounding)
    if not any(_is_output(rule, entities) for rule in groundings):
        return frozenset()
    grounded = [rule.entity for rule in groundings if rule.value is not None]
    opened: list[tuple[ec.Rule, Term]] = []
    closed: list[Term] = []
    for order in orders:
        entity = head_entity(order.rule)
        if entity is None:
            continue
        if _is_open(order, entity[0]) and not any(may_match(entity[0], g) for g in grounded):
            opened.append((order.rule, entity[0]))
        else:
            closed.append(entity[0])
    return frozenset(
        id(rule) for rule, fluent in opened if not any(may_match(fluent, one) for one in closed)
    )


def _is_output(rule: ec.Grounding, entities: Entities) -> bool:
    entity = (entities.event if rule.value is None else entities.fluent)(rule.entity)
    return entity is not None and not entity.is_input


def _is_open(order: RuleOrder, fluent: Term) -> bool:
    if not isinstance(order.rule, ec.HoldsForRule) or order.stuck:
        return False
    return bool(order.unbound) and {var.name for var in order.unbound} <= names(fluent)
