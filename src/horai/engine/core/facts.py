"""What does not depend on the stream: relations as rows of words, and what groundings list."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from horai.engine.core.background import Background, Key, Rows
from horai.engine.core.solver import Solver
from horai.engine.core.words import Words
from horai.lang.core.printer import show
from horai.lang.core.terms import Compound, Term, is_ground
from horai.lang.ec import syntax as ec
from horai.plan import operators as op
from horai.plan.ec.literals import names, visible
from horai.plan.ec.unify import may_match
from horai.plan.program import GroundingPlan, Plan, PointPlan, StaticPlan

LISTED, MOVING = "\1", "\0"
"""The first letter of relations that groundings list; do they depend on the stream?"""


class StaticFacts:
    """The relations that do not depend on the stream."""

    def __init__(
        self, plan: Plan, words: Words, python: Mapping[str, Callable[..., object]]
    ) -> None:
        self.plan, self.words, self.python = plan, words, python
        self.known = Background(plan, words, python)
        self.solver = self.known.solver
        self._rows: dict[Key, Rows] = {}
        self.moving: dict[Key, list[op.Branch]] = {}
        """What groundings list that depends on the stream."""

    def with_members(self, members: Mapping[Key, Rows]) -> Solver:
        """The same for relations that depend on dynamic domains with these members."""
        self._changing.set_members(members)
        return self._changing.solver

    @cached_property
    def _changing(self) -> Background:
        return Background(self.plan, self.words, self.python)

    def rows(self, key: Key) -> Rows:
        """The different rows of a relation."""
        if key not in self._rows:
            self._rows[key] = self.known.rows(key)
        return self._rows[key]

    def stated(self, key: Key) -> Rows:
        """The rows of a relation that no rule has to say."""
        return self.known.stated_rows(key)

    def index(self, rows: Rows, keys: Sequence[int], outs: Sequence[int]) -> tuple[Rows, bool]:
        """The columns asked for, keys first and sorted by them; is there one row for each key?"""
        columns = [*keys, *outs]
        if not columns:
            return np.zeros((min(len(rows), 1), 0), np.int64), True
        found = np.unique(rows[:, columns], axis=0) if len(rows) else rows[:, columns]
        if not keys:
            return np.ascontiguousarray(found), len(found) <= 1
        single = len(np.unique(found[:, : len(keys)], axis=0)) == len(found)
        return np.ascontiguousarray(found), single

    # --- groundings ------------------------------------------------------------------------------

    def moves(self, key: Key) -> bool:
        """Does what groundings list of an event or fluent depend on the stream?"""
        listings = [one.listing for one in self.plan.groundings.get(key, ())]
        return any(is_temporal(step, self.plan) for one in listings for step in op.walk(one))

    def of_head(self, plan: PointPlan) -> op.FactJoin | None:
        """What groundings say of a head, if variables of it get their values by that.

        A value that is given may be none of the grounding, and still ends the others: whom it is
        about is what the groundings of all values say.
        """
        if not plan.domain:
            return None
        value = plan.terms[-1] if plan.kind != "event" else None
        asked = value if names(value) & plan.domain else None
        every = self.plan.groundings[plan.key]
        return self._listing(plan.key, every, plan.terms[: plan.key[1]], asked)

    def of_list(self, plan: StaticPlan) -> list[op.FactJoin | None]:
        """What is known of the head of a list before its body: what groundings list, or nothing.

        A value that no grounding speaks of has the arguments that other values have.
        """
        *args, value = plan.terms
        every = self.plan.groundings.get(plan.key, ())
        fits = [one for one in every if one.value is None or may_match(one.value, value)]
        head = names(*plan.terms)
        if not head or not every or (not fits and head <= visible(plan.rule.body)):
            return [None]
        closed = all(names(*one.terms) <= one.listing.bound for one in fits)
        # A value that the head computes is compared if all of them list it; else with the row.
        valued = bool(fits) and (is_ground(value) or all(map(_tells_value, fits)))
        found = self._listing(plan.key, fits or every, args, value if valued else None)
        return [found] if closed else [found, None]

    def of_known(self, key: Key, terms: Sequence[Term]) -> op.FactJoin | None:
        """The fluents and values that groundings list, if they list any."""
        some = [one for one in self.plan.groundings.get(key, ()) if _tells_value(one)]
        return self._listing(key, some, terms[:-1], terms[-1]) if some else None

    def _listing(
        self, key: Key, some: Sequence[GroundingPlan], args: Sequence[Term], value: Term | None
    ) -> op.FactJoin:
        """What some groundings list, as a relation of arguments, and of a value unless it is None.

        Those that leave an argument open say nothing. A value that they leave open may be any.
        """
        every = self.plan.groundings[key]
        branches: list[op.Branch] = []
        places = [place for place, one in enumerate(every) if any(one is it for it in some)]
        for one in (every[place] for place in places):
            said = one.terms
            if value is not None:
                said = (*said, one.value if one.value and _tells_value(one) else value)
            if names(*said) <= one.listing.bound:
                branches.append(op.Branch(said, replace(one.listing, clause=one.clause)))
        terms = (*args, value) if value is not None else tuple(args)
        what = "" if value is None else show(value)
        mark = MOVING if self.moves(key) else LISTED
        name = (f"{mark}{key[0]}/{key[1]} {places} {what}", len(terms))
        if self.moves(key):
            self.moving[name] = branches
        else:
            self.known.define(name, branches)
        return op.FactJoin(name, terms, Compound(name[0], terms))


def _tells_value(plan: GroundingPlan) -> bool:
    """Does a grounding list the values of a fluent?"""
    return plan.value is not None and names(plan.value) <= plan.listing.bound


def is_temporal(step: op.Operator, plan: Plan) -> bool:
    """Does an operator, or one inside it, look at the stream?"""
    return looks_at_time(step, plan) or is_changing(step, plan)


def looks_at_time(step: op.Operator, plan: Plan) -> bool:
    """Does it look at what happens or holds, not only at who belongs to a domain?"""
    match step:
        case op.Scan() | op.Stab() | op.Walk() | op.Lookup() | op.SpanOperation() | op.QueryTime():
            return True
        case op.Procedure(key=key):
            return plan.predicates[key].temporal
        case _:
            return any(looks_at_time(one, plan) for part in op.inside(step) for one in part.steps)


def is_changing(step: op.Operator, plan: Plan) -> bool:
    """Does it look at who belongs to a dynamic domain?"""
    if isinstance(step, op.FactJoin | op.Procedure) and (
        step.key in plan.changing or step.key[0].startswith(MOVING)
    ):
        return True
    return any(is_changing(one, plan) for part in op.inside(step) for one in part.steps)


def literal_is_temporal(literal: ec.Literal, plan: Plan) -> bool:
    """The same of a condition."""
    for part in ec.walk(literal):
        match part:
            case (
                ec.Happens()
                | ec.Edge()
                | ec.HoldsAt()
                | ec.HoldsFor()
                | ec.InitiatedAt()
                | ec.TerminatedAt()
            ):
                return True
            case ec.DurationFilter():
                return True  # an open interval lasts until the query time
            case ec.Call(key=key):
                known = plan.predicates.get(key)
                if key in plan.changing or (known is not None and known.temporal):
                    return True
                if key == ("queryTime", 1) and key not in plan.predicates:
                    return True
            case _:
                pass
    return False
