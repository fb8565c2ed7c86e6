"""Which rules for interval lists can be worked out by change, and what such a rule consists of."""

from __future__ import annotations

from dataclasses import dataclass

from horai.engine.static import Support, present_only, supports_of
from horai.lang.ec import syntax as ec
from horai.lang.terms import ListTerm, Term, Var
from horai.plan import operators as op
from horai.plan.program import Program, StaticPlan, Stratum
from horai.plan.reach import unfolded
from horai.plan.scopes import names

Names = frozenset[str]
Operation = ec.IntervalOp | ec.Duration | ec.Allen
AboutRows = op.Facts | op.Filter | op.Unify | op.Extend


def possible(plan: StaticPlan, program: Program) -> bool:
    """Can the change of what a rule says follow from the changes of what it reads?"""
    steps = plan.chain.steps
    return (
        all(isinstance(step, op.Lookup | op.SpanOperation | AboutRows) for step in steps)
        and present_only(plan)
        and not _reads_itself(plan)
        and _lists_stay_apart(plan)
        and not _changes_with_members(plan, program)
    )


def possible_stratum(stratum: Stratum, program: Program) -> bool:
    """Has a component only rules of this kind?"""
    if stratum.points or stratum.initially or stratum.delays or not stratum.static:
        return False
    own = {plan.key for plan in stratum.static}
    read = {step.key for plan in stratum.static for step in _lookups(plan)}
    return not own & read and all(possible(plan, program) for plan in stratum.static)


@dataclass(frozen=True, slots=True)
class Outline:
    """A rule in two parts: what says which groundings there are, and what is done to their lists.

    `wanted` are the variables that tell groundings apart. `named` are, for every duration filter of
    a computed list, those by which a memory of the component names its rows.
    """

    plan: StaticPlan
    supports: list[Support]
    lookups: list[op.Lookup]
    operations: list[Operation]
    about_rows: op.Chain
    wanted: Names
    named: dict[int, list[str]]

    @property
    def durations(self) -> list[tuple[int, ec.Duration]]:
        """The duration filters and their places among the operations."""
        every = enumerate(self.operations)
        return [(place, one) for place, one in every if isinstance(one, ec.Duration)]


def outline(plan: StaticPlan) -> Outline:
    """The parts of a rule that is possible."""
    steps = plan.chain.steps
    lookups = _lookups(plan)
    operations = [step.literal for step in steps if isinstance(step, op.SpanOperation)]
    rows = [step for step in steps if isinstance(step, AboutRows)]
    named = _named(plan)
    bounds = [one.bound for one in operations if isinstance(one, ec.Duration)]
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
            if isinstance(step.literal, ec.Duration) and step.literal.intervals not in direct:
                found[number] = sorted(bound & plan.chain.needed[place - 1])
            number += 1
    return found


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
                if isinstance(literal, ec.Duration):
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
        case ec.Duration(intervals=Var(name=name)):
            return frozenset({name})
        case ec.IntervalOp(base=base, lists=ListTerm(items=items, tail=None)):
            terms = [*items, *([base] if base is not None else [])]
            return names(*terms) if all(isinstance(term, Var) for term in terms) else None
        case _:
            return None


def _changes_with_members(plan: StaticPlan, program: Program) -> bool:
    """Do the groundings of a rule depend on who is a member of a dynamic domain?"""
    return any(
        isinstance(part, ec.Call) and part.key in program.dynamic
        for part in unfolded(plan.rule.body, program.graph.helpers)
    )
