"""Which components with delayed effects can be brought up to date by change."""

from __future__ import annotations

from horai.engine.deltas.reading import PLAIN, Driven, changing_background, driven
from horai.engine.deltas.reasons import NotByChange
from horai.lang.core.terms import Var
from horai.plan import operators as op
from horai.plan.ec.settling import Tests, compiled_strategy
from horai.plan.program import DelayPlan, Plan, Stratum


def delay_rules(
    stratum: Stratum, program: Plan, tick: int
) -> tuple[list[Driven], dict[int, list[Tests]]]:
    """The rules of a component by their drivers; `NotByChange` if it is worked out as a whole."""
    if tick != 1:
        raise NotByChange("it has delayed effects, and time-points lie apart")
    if stratum.static or stratum.events or not stratum.points:
        raise NotByChange("it has delayed effects and more than simple fluents")
    if any(plan.split is not None for plan in stratum.points):
        raise NotByChange("it has delayed effects in a cycle")
    read = program.initiations_read | program.terminations_read
    if any(key in read for key in stratum.fluents):
        raise NotByChange("it has delayed effects, and rules ask for its initiations")
    grounded = any(key in program.groundings for key in stratum.fluents)
    if program.dynamic and (stratum.initially or grounded):
        raise NotByChange("it says something of all who are known, and the stream makes them known")
    for delay in stratum.delays:
        _refuse(delay, stratum, program)
    tests = compiled_strategy(stratum, program)
    if not isinstance(tests, dict):
        raise NotByChange("its delayed effects are not settled by the clockwork")
    return [driven(plan, program) for plan in stratum.points], tests


def _refuse(delay: DelayPlan, stratum: Stratum, program: Plan) -> None:
    """An effect has to stay with the entity of its origin, whatever else there is."""
    *args, _ = delay.origin
    alike = list(delay.target[:-1]) == args and delay.origin_key in stratum.fluents
    names = [term.name for term in args if isinstance(term, Var)]
    if not alike or len(set(names)) != len(args):
        raise NotByChange("a delayed effect concerns another entity than its origin")
    moving = changing_background(program)
    for step in (*op.walk(delay.full), *op.walk(delay.early)):
        if not isinstance(step, PLAIN) or (isinstance(step, op.FactJoin) and step.key in moving):
            raise NotByChange("a delayed effect has conditions that change")
