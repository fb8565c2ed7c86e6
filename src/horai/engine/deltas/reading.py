"""What a rule for points reads: one relation that drives it, and others it asks about.

Every solution of a rule comes from one point of its driver, the event (or start, or end) at the
time of the head. A change of anything else the rule reads touches those points of the driver that
share its entity and lie within reach of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from horai.engine.deltas.reasons import NotByChange, of_rule
from horai.lang.core.terms import Term, Var, key_of
from horai.lang.ec import syntax as ec
from horai.plan import operators as op
from horai.plan.ec.literals import literal_fvp
from horai.plan.ec.readings import Reading, readings
from horai.plan.graphs import Digraph
from horai.plan.program import Key, Plan, PointPlan
from horai.plan.unfolding import callers

_KINDS = {
    "initiated": "initiations",
    "terminated": "terminations",
    "startI": "startI",
    "endI": "endI",
}
PLAIN = (op.FactJoin, op.Filter, op.Unify, op.Extend, op.TruthOp, op.BuiltinOp)
Name = tuple[str, Key]  # a kind of points or "fluent", and what it is called


@dataclass(frozen=True, slots=True)
class Asked:
    """A relation that a rule asks about, `back` before to `ahead` after its time; None: anywhere.

    `terms` are arguments, and the value of a fluent, in the variables of the rule.
    """

    relation: Name
    terms: tuple[Term, ...]
    back: int | None
    ahead: int | None


@dataclass(frozen=True, slots=True)
class Driven:
    """A rule taken apart: what comes before its driver, the driver, and the rest."""

    plan: PointPlan
    before: op.Chain
    driver: op.Scan
    rest: op.Chain
    asked: tuple[Asked, ...]
    needed: frozenset[str]  # the variables still needed after the driver

    @property
    def drives(self) -> Name:
        """The relation whose points drive the rule."""
        return self.driver.kind, self.driver.key

    @property
    def relations(self) -> set[Name]:
        """All relations that can change what the rule says."""
        return {self.drives, *(one.relation for one in self.asked)}


def driven(plan: PointPlan, program: Plan) -> Driven:
    """A rule by its driver.

    Raises `NotByChange` if it has none or looks at more than its conditions say.
    """
    with of_rule(plan.clause):
        _refuse_what_is_no_condition(plan)
        place = driver_of(plan.chain, plan)
        refuse_what_is_elsewhere(plan.chain, program)
        return _taken_apart(plan, place, program)


def _taken_apart(plan: PointPlan, place: int, program: Plan) -> Driven:
    steps, needed = plan.chain.steps, plan.chain.needed
    driver = steps[place]
    assert isinstance(driver, op.Scan)
    rule = next(one for one in program.description.rules if one.clause is plan.clause)
    asked = [asked_of(reading) for reading in others(rule, driver, program)]
    return Driven(
        plan,
        op.Chain(steps[:place], needed[:place]),
        driver,
        op.Chain(steps[place + 1 :], needed[place + 1 :]),
        tuple(asked),
        needed[place],
    )


def _refuse_what_is_no_condition(plan: PointPlan) -> None:
    if plan.split is not None:
        raise NotByChange("it is in a cycle and asks for what its own component says")
    if plan.domain:
        raise NotByChange("its conditions leave variables to the grounding")
    if plan.bounds is not None:
        raise NotByChange("its head names a range of times")


def driver_of(chain: op.Chain, plan: PointPlan) -> int:
    """The place of the first temporal step, which has to give the time of the head."""
    for place, step in enumerate(chain.steps):
        if isinstance(step, PLAIN):
            continue
        fits = (
            isinstance(step, op.Scan)
            and step.kind in ("event", "start", "end")
            and step.within is None
            and isinstance(step.time, Var)
            and step.time == plan.time
        )
        if fits:
            return place
        break
    raise NotByChange("no event, start or end at the time of its head comes first")


def refuse_what_is_elsewhere(chain: op.Chain, program: Plan, own: bool = False) -> None:
    """It has to depend on what it reads alone: not on the query time, on who is known, on lists.

    A chain that is asked while its component is settled may look at that component's `own` points.
    """
    changing = changing_background(program)
    for step in op.walk(chain):
        match step:
            case op.QueryTime():
                raise NotByChange("it reads the query time")
            case op.Lookup() | op.SpanOperation():
                raise NotByChange("it reads interval lists as wholes")
            case op.FactJoin(key=key) | op.Procedure(key=key) if key in changing:
                dynamic = "changes with the stream, or calls itself to look at it"
                raise NotByChange(f"{key[0]}/{key[1]} {dynamic}")
            case op.Scan(kind="initiated" | "terminated" | "startI" | "endI" as kind) if not own:
                raise NotByChange(f"it asks for {_KINDS[kind]}")
            case _:
                pass


def changing_background(program: Plan) -> set[Key]:
    """Background that changes with the stream, and procedures that call themselves."""
    graph: Digraph[Key] = Digraph()
    for key, branches in program.background.items():
        for branch in branches:
            graph.add_edges(
                (key, step.key) for step in op.walk(branch.body) if isinstance(step, op.FactJoin)
            )
    for (key, _), listed in program.procedures.branches.items():
        for branch in listed:
            for step in op.walk(branch.body):
                if isinstance(step, op.FactJoin | op.Procedure):
                    graph.add_edge(key, step.key)
    calls = {key: set(graph.successors(key)) for key in graph.nodes}
    found = set(callers(calls, set(program.dynamic)))
    temporal = program.graph.helpers.temporal
    for members in graph.components():
        if len(members) > 1 or any(graph.has_edge(key, key) for key in members):
            found |= members & temporal
    return found


def others(rule: ec.Rule, driver: op.Scan, program: Plan) -> list[Reading]:
    """The conditions of a rule but for its driver."""
    found = readings(rule, program.graph.helpers)
    for place, reading in enumerate(found):
        if reading.positive and not reading.through and reading.literal.term == driver.term:
            return found[:place] + found[place + 1 :]
    raise AssertionError(f"the driver is not among the conditions: {driver.term}")


def asked_of(reading: Reading) -> Asked:
    """What a condition asks about."""
    literal = reading.literal
    match literal:
        case ec.Happens(event=event):
            relation: Name = ("event", key_of(event))
            return Asked(relation, getattr(event, "args", ()), reading.back, reading.ahead)
        case ec.Edge(kind="startI" | "endI" as edge):
            raise NotByChange(f"it asks for {_KINDS[edge]}")
        case ec.HoldsAt() | ec.Edge():
            fvp = literal_fvp(literal)
            assert fvp is not None
            kind = literal.kind if isinstance(literal, ec.Edge) else "fluent"
            terms = (*getattr(fvp.fluent, "args", ()), fvp.value)
            return Asked((kind, key_of(fvp.fluent)), terms, reading.back, reading.ahead)
        case _:
            raise NotByChange("it asks for more than events, starts, ends and values")
