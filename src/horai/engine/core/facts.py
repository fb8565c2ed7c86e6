"""Background knowledge for the machine: relations as rows of words, with the indexes asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from horai.engine.background import Knowledge
from horai.engine.chains import Evaluator
from horai.engine.columns import Column
from horai.engine.core.words import Words
from horai.engine.domains import Groundings
from horai.engine.frames import unit
from horai.engine.heads import Heads
from horai.engine.relations import Relation, join
from horai.engine.world import World
from horai.lang.core.terms import Term
from horai.plan.ec.literals import names, visible
from horai.plan.program import Plan, PointPlan, StaticPlan

Key = tuple[str, int]
Rows = npt.NDArray[np.int64]


class StaticFacts:
    """The relations that do not depend on the stream.

    Rules of the background are worked out by the columnar engine, once.
    """

    def __init__(
        self, plan: Plan, words: Words, python: Mapping[str, Callable[..., object]], start: int
    ) -> None:
        self.plan, self.words = plan, words
        self.knowledge = Knowledge(plan, words.symbols)
        world = World(words.symbols, 1, start, start)
        self.evaluator = Evaluator(
            world,
            lambda key: self.knowledge.table(key, self.evaluator),
            self.knowledge.stated,
            plan.procedures,
            python,
        )
        self.groundings = Groundings(plan, self.evaluator)
        self.evaluator.in_domain = self.groundings.allows
        self.heads = Heads(world, self.evaluator, self.groundings)
        self._rows: dict[Key, Rows] = {}

    def with_members(self, members: Mapping[Key, Rows]) -> Evaluator:
        """The same for relations that depend on dynamic domains with these members."""
        known = self._changing
        for key, rows in members.items():
            columns = tuple(self.words.column(np.ascontiguousarray(one)) for one in rows.T)
            known.set_members(key, Relation(columns, len(rows)))
        return self._moved

    @cached_property
    def _changing(self) -> Knowledge:
        return Knowledge(self.plan, self.words.symbols)

    @cached_property
    def _moved(self) -> Evaluator:
        known = self._changing
        found = Evaluator(
            self.evaluator.world,
            lambda key: known.table(key, found),
            known.stated,
            self.plan.procedures,
            self.evaluator.python,
        )
        return found

    def rows(self, key: Key) -> Rows:
        """The different rows of a relation."""
        if key not in self._rows:
            self._rows[key] = self.rows_of(self.knowledge.table(key, self.evaluator))
        return self._rows[key]

    def stated(self, key: Key) -> Rows:
        """The rows of a relation that no rule has to say."""
        table = self.knowledge.stated(key)
        return np.zeros((0, key[1]), np.int64) if table is None else self.rows_of(table)

    def rows_of(self, table: Relation) -> Rows:
        """The different rows of a table of columns."""
        if not table.columns:
            return np.zeros((min(table.rows, 1), 0), np.int64)
        found = np.column_stack([self.words.of_column(column) for column in table.columns])
        return np.unique(found, axis=0)

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

    def initial(self, plan: PointPlan) -> tuple[Rows, list[bool]]:
        """Rows of arguments and value that hold from the start on, and which are in the domain."""
        said = self.heads.run(plan)
        if said.value is None or not len(said):
            return np.zeros((0, plan.key[1] + 1), np.int64), []
        columns = [*said.args, Column("term", said.value)]
        rows = np.column_stack([self.words.of_column(column) for column in columns])
        return rows, self.heads.allowed(plan.key, said).tolist()

    def listing(self, plan: StaticPlan) -> tuple[tuple[str, ...], Rows, bool] | None:
        """What groundings say of the variables of a head, and whether they say all of it.

        None if the body is to say it.
        """
        args, value = plan.terms[:-1], plan.terms[-1]
        head = names(*plan.terms)
        spoken = self.groundings.speaks_of(plan.key, value)
        if not head or (not spoken and head <= visible(plan.rule.body)):
            return None
        frame = self.groundings.complete(unit(), plan.key, args, value)
        if not frame.rows and not spoken:
            return None
        if not frame.rows:
            return tuple(sorted(head)), np.zeros((0, len(head)), np.int64), True
        found = tuple(sorted(frame.columns))
        columns = [self.words.of_column(frame.columns[name]) for name in found]
        whole = not spoken or self.groundings.lists_all(plan.key)
        return found, np.unique(np.column_stack(columns), axis=0), whole

    def listed(self, key: Key, terms: tuple[Term, ...], name: str) -> Rows:
        """The values of a variable among the fluents and values that groundings list."""
        found: list[Rows] = []
        for table, has_value in self.groundings.instances(key):
            if has_value:
                fits = join(unit(), table, terms, self.words.symbols)
                column = fits.to_frame(lambda one: one == name).columns.get(name)
                if column is not None:
                    found.append(self.words.of_column(column).reshape(-1, 1))
        return np.unique(np.concatenate(found), axis=0) if found else np.zeros((0, 1), np.int64)

    def domain(self, plan: PointPlan) -> tuple[tuple[str, ...], Rows]:
        """What the grounding of a head says of its variables."""
        frame = self.heads.start(plan)
        found = tuple(sorted(name for name in frame.columns if not name.startswith("#")))
        if not frame.rows:
            return tuple(sorted(plan.domain)), np.zeros((0, len(plan.domain)), np.int64)
        columns = [self.words.of_column(frame.columns[name]) for name in found]
        return found, np.unique(np.column_stack(columns), axis=0)
