"""Which components that depend on themselves can be brought up to date by change.

What rules ask of others gives *candidates*, as when such a component is settled as a whole. They
are kept by change, and a candidate that came or went touches its entity at its time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from horai.engine.deltas.cycle_keys import (
    Foreign,
    Keys,
    find_keys,
    head_of,
    own_and_foreign,
    rule_of,
    waiting_readings,
)
from horai.engine.deltas.reading import (
    Asked,
    Driven,
    Name,
    asked_of,
    changing_background,
    driver_of,
    others,
    refuse_what_is_elsewhere,
)
from horai.engine.deltas.reasons import NotByChange, of_rule
from horai.lang.core.terms import Term, key_of
from horai.lang.ec import syntax as ec
from horai.plan import operators as op
from horai.plan.ec.machine import Column, Machine
from horai.plan.ec.settling import Compiled, Tests, compiled_strategy
from horai.plan.ec.splitting import ComponentMembers
from horai.plan.program import Key, Plan, PointPlan, Stratum


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rule by its driver, the terms of its entity, and what its candidates bring along.

    With `waits` the rule asks something of others only when its component is settled up to then.
    """

    driven: Driven
    entity: tuple[Term, ...]
    brought: tuple[Column, ...]
    waits: bool


@dataclass(frozen=True, slots=True)
class Watched:
    """A relation that is asked while a component is settled, with the terms of the entity."""

    asked: Asked
    entity: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class CycleRules:
    """What is known of a component before it runs.

    `candidates` are its rules with a time of their own; `heard` its events that other components
    tell of too.
    """

    stratum: Stratum
    compiled: dict[int, list[Tests]] | Machine
    keys: Keys
    candidates: list[Candidate]
    watched: list[Watched]
    heard: list[Key]
    looks_back: bool  # do delayed effects ask for values of the component at the attempt?

    @property
    def reads(self) -> set[Name]:
        """All relations whose changes matter."""
        found = {name for one in self.candidates for name in one.driven.relations}
        found |= {one.asked.relation for one in self.watched}
        return found | {("event", key) for key in self.heard}


def cycle_rules(stratum: Stratum, program: Plan, tick: int) -> CycleRules:
    """What a component needs to go on by change; `NotByChange` if it is worked out as a whole."""
    compiled = _way(stratum, program, tick)
    _refuse_who_is_known(stratum, program)
    _refuse_initiations_read(stratum, program)
    keys = find_keys(stratum, program)
    candidates = []
    for place, plan in enumerate(stratum.points):
        with of_rule(plan.clause):
            _refuse_elsewhere(plan, program)
            if plan.split is None or plan.split.timed:
                brought = _brought(place, plan, compiled)
                candidates.append(_candidate(plan, stratum, program, keys, brought))
    watched = [_watched(one, keys) for one in waiting_readings(stratum, program)]
    told = [key for other in program.strata if other is not stratum for key in other.events]
    heard = [key for key in stratum.events if key in told]
    asked = [one for d in stratum.delays for one in own_and_foreign(d.rule, stratum, program)[0]]
    if not all(isinstance(one.literal, ec.HoldsAt) for one in asked):
        raise NotByChange("a delayed effect asks what happens to its own component")
    return CycleRules(stratum, compiled, keys, candidates, watched, heard, bool(asked))


def _watched(foreign: Foreign, keys: Keys) -> Watched:
    asked = asked_of(foreign.reading)
    if foreign.delayed and asked.ahead is not None:  # at the attempt, if not at the deadline
        asked = replace(asked, ahead=max(asked.ahead, 0))
    return Watched(asked, keys.of(foreign.head))


def _way(stratum: Stratum, program: Plan, tick: int) -> dict[int, list[Tests]] | Machine:
    if tick != 1:
        raise NotByChange("it is settled in the order of time, and time-points lie apart")
    if stratum.static:
        raise NotByChange("interval lists and points depend on each other")
    if not stratum.points:
        raise NotByChange("it has initial values only")
    compiled: Compiled = compiled_strategy(stratum, program)
    if compiled is None:
        raise NotByChange("it is settled by the interpreter")
    return compiled


def _refuse_who_is_known(stratum: Stratum, program: Plan) -> None:
    made = [*stratum.fluents, *stratum.events]
    if program.dynamic and (stratum.initially or any(key in program.groundings for key in made)):
        raise NotByChange("it says something of all who are known, and the stream makes them known")
    moving = changing_background(program)
    for delay in stratum.delays:
        for step in (*op.walk(delay.full), *op.walk(delay.early)):
            if isinstance(step, op.FactJoin | op.Procedure) and step.key in moving:
                raise NotByChange("a delayed effect depends on who is known")


def _refuse_initiations_read(stratum: Stratum, program: Plan) -> None:
    """Only the component itself may ask for its initiations and terminations."""
    points, delays = [*stratum.points, *stratum.initially], stratum.delays
    mine = {id(clause) for clause in (*(p.clause for p in points), *(d.clause for d in delays))}
    for rule in program.description.rules:
        if id(rule.clause) in mine or (body := getattr(rule, "body", None)) is None:
            continue
        for part in ec.walk(body):
            if not isinstance(part, ec.InitiatedAt | ec.TerminatedAt):
                continue
            name, arity = key_of(part.fvp.fluent)
            if (name, arity) in stratum.fluents:
                raise NotByChange(f"rules ask when {name}/{arity} is initiated or terminated")
    for key in stratum.fluents:
        if key in program.origins_elsewhere:
            raise NotByChange(f"{key[0]}/{key[1]} has delayed effects elsewhere")


def _refuse_elsewhere(plan: PointPlan, program: Plan) -> None:
    if plan.domain:
        raise NotByChange("its conditions leave variables to the grounding")
    if plan.bounds is not None:
        raise NotByChange("its head names a range of times")
    if plan.split is None:
        refuse_what_is_elsewhere(plan.chain, program)
    else:
        refuse_what_is_elsewhere(plan.split.candidates, program)
        refuse_what_is_elsewhere(plan.split.remainder, program, own=True)


def _brought(
    place: int, plan: PointPlan, compiled: dict[int, list[Tests]] | Machine
) -> tuple[Column, ...]:
    """What a candidate has to know when it is its turn."""
    if isinstance(compiled, Machine):
        return compiled.rules[place].columns
    value = () if plan.open_value else plan.terms[-1:]
    guards = [guard for tests in compiled[place] for guard in tests]
    asked = (term for guard in guards for term in guard.terms)
    return (*plan.terms[: plan.key[1]], *value, *asked)


def _candidate(
    plan: PointPlan, stratum: Stratum, program: Plan, keys: Keys, brought: tuple[Column, ...]
) -> Candidate:
    chain = plan.chain if plan.split is None else plan.split.candidates
    place = driver_of(chain, plan)
    driver = chain.steps[place]
    assert isinstance(driver, op.Scan)
    members = ComponentMembers(frozenset(stratum.component.vertices), program.graph)
    every = others(rule_of(plan.clause, program), driver, program)
    asked = [reading for reading in every if not members.reads(reading.literal)]
    driven = Driven(
        plan,
        op.Chain(chain.steps[:place], chain.needed[:place]),
        driver,
        op.Chain(chain.steps[place + 1 :], chain.needed[place + 1 :]),
        tuple(asked_of(reading) for reading in asked),
        chain.needed[place],
    )
    outside = [] if plan.split is None else plan.split.rest
    terms = {part.term for literal in outside for part in ec.walk(literal)}
    waits = any(one.through or one.literal.term in terms for one in asked)
    return Candidate(driven, keys.of(head_of(plan)), brought, waits and bool(outside))
