"""Components that depend on themselves, entity by entity: by which arguments they fall apart.

If all that a rule says and asks of its own component carries the same variables, what holds for one
value of these variables never depends on what holds for another. Such values are an *entity*: it
can be settled by itself. Where there are no such variables, the whole component is one entity.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from horai.lang.core.terms import Compound, Term, Var, key_of
from horai.lang.ec import syntax as ec
from horai.plan.ec.literals import literal_fvp, names
from horai.plan.ec.readings import Reading, readings
from horai.plan.ec.splitting import ComponentMembers
from horai.plan.program import Key, Plan, PointPlan, Stratum

Node = tuple[str, Key]  # "event" or "fluent", and what it is called
Place = dict[Node, int]  # an argument of every event and fluent of a component
MANY = 64  # ways to choose them that are looked at


@dataclass(frozen=True, slots=True)
class Mention:
    """What a rule says or asks of its own component: an event or fluent with its arguments."""

    node: Node
    args: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Foreign:
    """What a rule asks of others, and what it says: terms by which an entity is known.

    A delayed effect is reckoned from its deadline, and may also be decided at its attempt.
    """

    reading: Reading
    head: Mention
    delayed: bool


@dataclass(frozen=True, slots=True)
class Keys:
    """The arguments, of every event and fluent of a component, that make up an entity."""

    places: dict[Node, tuple[int, ...]]

    @property
    def width(self) -> int:
        """How many arguments there are; none if the component is one entity."""
        return max((len(places) for places in self.places.values()), default=0)

    def of(self, mention: Mention) -> tuple[Term, ...]:
        """The terms that name the entity."""
        return tuple(mention.args[place] for place in self.places[mention.node])


def head_of(plan: PointPlan) -> Mention:
    """What a rule speaks of."""
    node = ("event" if plan.kind == "event" else "fluent", plan.key)
    return Mention(node, plan.terms[: plan.key[1]])


def find_keys(stratum: Stratum, program: Plan) -> Keys:
    """As many arguments as rules, and the candidates of rules, always name together."""
    nodes: list[Node] = [("fluent", key) for key in stratum.fluents]
    nodes += [("event", key) for key in stratum.events]
    groups = [[head, *inside] for head, inside in _mentions(stratum, program)]
    found = islice(_places({}, nodes, groups), MANY)
    named = [place for place in found if _always_known(place, stratum, program)]
    return Keys({node: tuple(place[node] for place in named) for node in nodes})


def own_and_foreign(
    rule: ec.Rule, stratum: Stratum, program: Plan
) -> tuple[list[Reading], list[Reading]]:
    """The conditions of a rule about its own component, and those about others."""
    members = ComponentMembers(frozenset(stratum.component.vertices), program.graph)
    every = readings(rule, program.graph.helpers)
    own = [reading for reading in every if members.reads(reading.literal)]
    return own, [reading for reading in every if not any(reading is one for one in own)]


def rule_of(clause: ec.Clause, program: Plan) -> ec.Rule:
    """The rule that a clause is."""
    return next(one for one in program.description.rules if one.clause is clause)


def waiting_readings(stratum: Stratum, program: Plan) -> Iterator[Foreign]:
    """What is asked of others while the component is settled, by rules without a time of their own
    and by delayed effects."""
    for plan in stratum.points:
        if plan.split is not None and not plan.split.timed:
            for reading in own_and_foreign(rule_of(plan.clause, program), stratum, program)[1]:
                yield Foreign(reading, head_of(plan), False)
    for delay in stratum.delays:
        origin = Mention(("fluent", delay.origin_key), delay.origin[:-1])
        for reading in own_and_foreign(delay.rule, stratum, program)[1]:
            yield Foreign(reading, origin, True)


def terms_of(reading: Reading) -> tuple[Term, ...]:
    """The arguments, and the value of a fluent, that a condition names."""
    literal = reading.literal
    if isinstance(literal, ec.Happens):
        return _args(literal.event)
    fvp = literal_fvp(literal)
    assert fvp is not None
    return (*_args(fvp.fluent), fvp.value)


def _mentions(stratum: Stratum, program: Plan) -> Iterator[tuple[Mention, list[Mention]]]:
    """For every rule what it speaks of, and what it asks of its own component."""
    for plan in stratum.points:
        own, _ = own_and_foreign(rule_of(plan.clause, program), stratum, program)
        yield head_of(plan), [_mention(reading) for reading in own]
    for delay in stratum.delays:
        own, _ = own_and_foreign(delay.rule, stratum, program)
        origin = Mention(("fluent", delay.origin_key), delay.origin[:-1])
        target = Mention(("fluent", delay.target_key), delay.target[:-1])
        yield origin, [target, *(_mention(reading) for reading in own)]


def _mention(reading: Reading) -> Mention:
    literal = reading.literal
    if isinstance(literal, ec.Happens):
        return Mention(("event", key_of(literal.event)), _args(literal.event))
    fvp = literal_fvp(literal)
    assert fvp is not None
    return Mention(("fluent", key_of(fvp.fluent)), _args(fvp.fluent))


def _places(chosen: Place, left: list[Node], groups: list[list[Mention]]) -> Iterator[Place]:
    """One argument of each, such that every rule has the same variable at all of them."""
    if not left:
        yield chosen
        return
    node, *others = left
    for argument in range(node[1][1]):
        place = {**chosen, node: argument}
        if all(_alike(place, group) for group in groups):
            yield from _places(place, others, groups)


def _alike(place: Place, mentions: Iterable[Mention]) -> bool:
    """Do all have the same variable there?"""
    terms = {mention.args[place[mention.node]] for mention in mentions if mention.node in place}
    return len(terms) <= 1 and all(isinstance(term, Var) for term in terms)


def _always_known(place: Place, stratum: Stratum, program: Plan) -> bool:
    """Is the entity known wherever something that comes from outside touches it?"""
    for plan in stratum.points:
        head = head_of(plan)
        term = head.args[place[head.node]]
        split = plan.split
        if split is not None and split.timed and not names(term) <= split.candidates.bound:
            return False
    return all(
        names(foreign.head.args[place[foreign.head.node]]) <= names(*terms_of(foreign.reading))
        for foreign in waiting_readings(stratum, program)
    )


def _args(entity: Term) -> tuple[Term, ...]:
    return entity.args if isinstance(entity, Compound) else ()
