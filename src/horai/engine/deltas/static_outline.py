"""Which rules for interval lists can be worked out by change, and what such a rule consists of."""

from __future__ import annotations

from dataclasses import dataclass

from horai.engine.deltas.reasons import NotByChange, of_rule
from horai.engine.static import Support, present_only, supports_of
from horai.lang.core.terms import ListTerm, Term, Var
from horai.lang.ec import syntax as ec
from horai.plan import operators as op
from horai.plan.ec.literals import names
from horai.plan.ec.reach import unfolded
from horai.plan.program import Plan, StaticPlan, Stratum

Names = frozenset[str]
Operation = ec.IntervalOp | ec.DurationFilter | ec.Allen
AboutRows = op.FactJoin | op.Filter | op.Unify | op.Extend


def refuse(plan: StaticPlan, program: Plan) -> None:
    """The change of what a rule says has to follow from the changes of what it reads."""
    if isinstance(plan.rule, ec.HoldsAtRule):
        raise NotByChange("it is a formula over values at a time")
    followed = op.Lookup | op.SpanOperation | AboutRows
    if not all(isinstance(step, followed) for step in plan.chain.steps):
        raise NotByChange("it has other conditions than lists, facts and comparisons")
    if not present_only(plan):
        raise NotByChange("it also speaks of those of whom nothing is known")
    if _reads_itself(plan):
        raise NotByChange("it reads itself")
    if not _lists_stay_apart(plan):
        raise NotByChange("one of its lists is made twice, or is more than a variable")
    if _changes_with_members(plan, program):
        raise NotByChange("its members change with the stream")


def refuse_stratum(stratum: Stratum, program: Plan) -> None:
    """All rules of a component of interval lists have to be of this kind."""
    for plan in stratum.static:
        with of_rule(plan.clause):
            refuse(plan, program)
    own = {plan.key for plan in stratum.static}
    if own & {step.key for plan in stratum.static for step in _lookups(plan)}:
        raise NotByChange("its rules read each other")


def only_lists(stratum: Stratum) -> bool:
    """Has a component rules for interval lists, and no others?"""
    return not (stratum.points or stratum.initially or stratum.delays) and bool(stratum.static)


def possible_stratum(stratum: Stratum, program: Plan) -> bool:
    """Can a component of interval lists be brought up to date by change?"""
    try:
        refuse_stratum(stratum, program)
    except NotByChange:
        return False
    return only_lists(stratum)


@dataclass(frozen=True, slots=True)
class Outline:
    """A rule in two parts: what says which groundings there are, and what is done to their lists.

    `wanted` are the variables that tell groundings apart. `named` are, for every computed list that
    is looked at as intervals, those by which a memory of the component names its rows; the number
    is twice the place of the operation, and one more for the target of an Allen relation.
    """

    plan: StaticPlan
    supports: list[Support]
    lookups: list[op.Lookup]
    operations: list[Operation]
    about_rows: op.Chain
    wanted: Names
    named: dict[int, list[str]]

    @property
    def durations(self) -> list[tuple[int, ec.DurationFilter]]:
        """The duration filters and their places among the operations."""
        every = enumerate(self.operations)
        return [(place, one) for place, one in every if isinstance(one, ec.DurationFilter)]

    @property
    def looking(self) -> list[tuple[int, ec.DurationFilter | ec.Allen]]:
        """The operations that look at whole intervals, and their places."""
        every = enumerate(self.operations)
        return [
            (place, one) for place, one in every if isinstance(one, ec.DurationFilter | ec.Allen)
        ]


def outline(plan: StaticPlan) -> Outline:
    """The parts of a rule that is possible."""
    steps = plan.chain.steps
    lookups = _lookups(plan)
    operations = [step.literal for step in steps if isinstance(step, op.SpanOperation)]
    rows = [step for step in steps if isinstance(step, AboutRows)]
    named = _named(plan)
    bounds = [one.bound for one in operations if isinstance(one, ec.DurationFilter)]
    asked = names(*plan.terms, *bounds, *(term for one in lookups for term in one.terms))
    every = asked | names(*(step.term for step in rows))
    chain = op.Chain(tuple(rows), (every,) * len(rows))
    wanted = asked.union(*named.values())
    return Outline(plan, supports_of(plan), lookups, operations, chain, wanted, named)


def _named(plan: StaticPlan) -> dict[int, list[str]]:
    """The variables that a frame has when a computed list is looked at as intervals."""
    steps = plan.chain.steps
    direct = {one.result for one in _lookups(plan)}
    bound = names(*plan.terms, *(term for one in _lookups(plan) for term in one.terms))
    found: dict[int, list[str]] = {}
    number = 0
    for place, step in enumerate(steps):
        if isinstance(step, AboutRows):
            bound |= names(step.term)
        if isinstance(step, op.SpanOperation):
            for side, term in enumerate(looked_at(step.literal)):
                if term not in direct:
                    found[2 * number + side] = sorted(bound & plan.chain.needed[place - 1])
            number += 1
    return found


def looked_at(literal: Operation) -> tuple[Term, ...]:
    """The lists that an operation looks at as intervals."""
    match literal:
        case ec.DurationFilter(intervals=intervals):
            return (intervals,)
        case ec.Allen(source=source, target=target):
            return source, target
        case _:
            return ()


def list_name(term: Term) -> str:
    """The variable that stands for a list."""
    assert isinstance(term, Var)  # rules of which that is not so are not possible
    return term.name


def _lookups(plan: StaticPlan) -> list[op.Lookup]:
    return [step for step in plan.chain.steps if isinstance(step, op.Lookup)]


def _reads_itself(plan: StaticPlan) -> bool:
    return any(step.key == plan.key for step in _lookups(plan))


def _lists_stay_apart(plan: StaticPlan) -> bool:
    """Is every interval list made once, and read by nothing but operations on lists?"""
    made: Names = frozenset()
    others: Names = names(*plan.terms)
    for step in plan.chain.steps:
        result: Term | None = None
        match step:
            case op.Lookup(terms=terms, result=result):
                others |= names(*terms)
            case op.SpanOperation(literal=literal):
                read = _operands(literal)
                if read is None or not read <= made:
                    return False
                result = literal.result
                if isinstance(literal, ec.DurationFilter):
                    others |= names(literal.bound)
            case _:
                others |= names(step.term)
                continue
        if not isinstance(result, Var) or result.name in made:
            return False
        made |= {result.name}
    return isinstance(plan.result, Var) and plan.result.name in made and not made & others


def _operands(literal: Operation) -> Names | None:
    """The variables of the lists an operation reads; None if it is not one that is known here."""
    match literal:
        case ec.DurationFilter(intervals=Var(name=name)):
            return frozenset({name})
        case ec.Allen(source=Var(name=source), target=Var(name=target)):
            return frozenset({source, target})
        case ec.IntervalOp(base=base, lists=ListTerm(items=items, tail=None)):
            terms = [*items, *([base] if base is not None else [])]
            return names(*terms) if all(isinstance(term, Var) for term in terms) else None
        case _:
            return None


def _changes_with_members(plan: StaticPlan, program: Plan) -> bool:
    """Do the groundings of a rule depend on who is a member of a dynamic domain?"""
    return any(
        isinstance(part, ec.Call) and part.key in program.dynamic
        for part in unfolded(plan.rule.body, program.graph.helpers)
    )
