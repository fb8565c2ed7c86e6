"""What does not depend on the stream: relations as rows of words, groundings, initial values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from horai.engine.core.background import Background, Key, Rows
from horai.engine.core.solver import Layout, Row, Solver
from horai.engine.core.words import Words
from horai.lang.core.terms import Term
from horai.lang.ec.errors import Unsupported, blaming
from horai.plan.ec.literals import names, visible
from horai.plan.ec.unify import may_match
from horai.plan.program import GroundingPlan, Plan, PointPlan, StaticPlan


class StaticFacts:
    """The relations that do not depend on the stream."""

    def __init__(
        self, plan: Plan, words: Words, python: Mapping[str, Callable[..., object]]
    ) -> None:
        self.plan, self.words, self.python = plan, words, python
        self.known = Background(plan, words, python)
        self.solver = self.known.solver
        self._rows: dict[Key, Rows] = {}
        self._listed: dict[int, tuple[list[Row], bool] | None] = {}

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

    def initial(self, plan: PointPlan) -> list[tuple[Row, bool]]:
        """Rows of arguments and value that hold from the start on; are they in the domain?"""
        with blaming(plan.clause):
            layout, rows = self._complete(plan) if plan.domain else ((), [()])
            body = self.solver.compiled(plan.chain, layout)
            found = self.solver.solve(body, rows)
            if not found:
                return []
            if missing := sorted(names(*plan.terms) - {*body.layout}):
                listed = ", ".join(missing)
                raise Unsupported(f"nothing gives a value to {listed}: a grounding is missing")
            different = dict.fromkeys(map(self.solver.values(plan.terms, body.layout), found))
        return [(row, self._allows(plan.key, row)) for row in different]

    def listing(self, plan: StaticPlan) -> tuple[tuple[str, ...], Rows, bool] | None:
        """What groundings say of the variables of a head, and whether they say all of it.

        None if the body is to say it.
        """
        value = plan.terms[-1]
        head = names(*plan.terms)
        spoken = self._speaks_of(plan.key, value)
        if not head or (not spoken and head <= visible(plan.rule.body)):
            return None
        layout, rows = self._completed(plan.key, plan.terms[:-1], value)
        if not rows and not spoken:
            return None
        if not rows:
            return tuple(sorted(head)), np.zeros((0, len(head)), np.int64), True
        lists_all = all(self._instances(one) is not None for one in self._of(plan.key))
        return layout, _array(rows, layout), not spoken or lists_all

    def listed(self, key: Key, terms: tuple[Term, ...], name: str) -> Rows:
        """The values of a variable among the fluents and values that groundings list."""
        found: list[Row] = []
        for plan in self._of(key):
            instances = self._instances(plan)
            if instances is not None and instances[1]:
                layout, rows = self.solver.matching(instances[0], terms)
                if name in layout:
                    found += [(row[layout.index(name)],) for row in rows]
        return _array(found, (name,))

    def domain(self, plan: PointPlan) -> tuple[tuple[str, ...], Rows]:
        """What the grounding of a head says of its variables."""
        layout, rows = self._complete(plan)
        if not rows:
            return tuple(sorted(plan.domain)), np.zeros((0, len(plan.domain)), np.int64)
        return layout, _array(rows, layout)

    # --- groundings ------------------------------------------------------------------------------

    def _of(self, key: Key) -> Sequence[GroundingPlan]:
        return self.plan.groundings.get(key, ())

    def _instances(self, plan: GroundingPlan) -> tuple[list[Row], bool] | None:
        """The instances of a grounding, and whether the last word of each is a value.

        None where it leaves an argument open.
        """
        if id(plan) not in self._listed:
            self._listed[id(plan)] = self._list(plan)
        return self._listed[id(plan)]

    def _list(self, plan: GroundingPlan) -> tuple[list[Row], bool] | None:
        body = self.solver.compiled(plan.listing)
        rows = self.solver.solve(body, [()])
        if not rows:
            return [], False
        if not names(*plan.terms) <= {*body.layout}:
            return None
        has_value = plan.value is not None and names(plan.value) <= {*body.layout}
        terms = (*plan.terms, plan.value) if has_value and plan.value else plan.terms
        return list(dict.fromkeys(map(self.solver.values(terms, body.layout), rows))), has_value

    def _speaks_of(self, key: Key, value: Term) -> bool:
        """Is there a grounding for the entity and a value that fits?"""
        return any(one.value is None or may_match(one.value, value) for one in self._of(key))

    def _complete(self, plan: PointPlan) -> tuple[Layout, list[Row]]:
        """What a grounding says of a head.

        A value that is given may be none of the grounding, and still ends the others: whom it is
        about is what the groundings of all values say.
        """
        if plan.kind == "event":
            return self._completed(plan.key, plan.terms, None)
        *args, value = plan.terms
        asked = value if names(value) & plan.domain else None
        return self._completed(plan.key, tuple(args), asked)

    def _completed(
        self, key: Key, args: tuple[Term, ...], value: Term | None
    ) -> tuple[Layout, list[Row]]:
        """All ways to give the free variables of a head a value by its groundings.

        A value without a grounding of its own has the arguments that the other values have.
        """
        asked = value if value is not None and self._speaks_of(key, value) else None
        found: list[tuple[Layout, list[Row]]] = []
        for plan in self._of(key):
            instances = self._instances(plan)
            if instances is not None:
                valued = asked is not None and instances[1]
                terms = (*args, asked) if asked is not None and valued else args
                rows = (row[: len(terms)] for row in instances[0])
                layout, fits = self.solver.matching(rows, terms)
                if fits:
                    found.append((layout, fits))
        if not found:
            return (), []
        shared = sorted({*found[0][0]}.intersection(*(layout for layout, _ in found)))
        every: dict[Row, None] = {}
        for layout, fits in found:
            places = [layout.index(name) for name in shared]
            every |= {tuple([row[at] for at in places]): None for row in fits}
        return tuple(shared), [*every]

    def _allows(self, key: Key, row: Row) -> bool:
        """Is a fluent with a value in its domain? Values without a grounding are."""
        spoken = False
        for plan, layout, rows in self._asked(key, row):
            spoken = True
            if rows and self.solver.solve(self.solver.compiled(plan.check, layout), rows):
                return True
        return not spoken

    def _asked(self, key: Key, row: Row) -> Iterator[tuple[GroundingPlan, Layout, list[Row]]]:
        """The groundings that speak of a value, and what their variables are then."""
        for plan in self._of(key):
            if plan.value is None or self.solver.matching([row[-1:]], (plan.value,))[1]:
                terms = plan.terms if plan.value is None else (*plan.terms, plan.value)
                yield plan, *self.solver.matching([row[: len(terms)]], terms)


def _array(rows: Sequence[Row], layout: Layout) -> Rows:
    return np.unique(np.array(rows, np.int64).reshape(len(rows), len(layout)), axis=0)
