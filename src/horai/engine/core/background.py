"""Background knowledge: facts, members of dynamic domains, and what rules make of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from horai.engine.columns import column_of
from horai.engine.core.solver import Compiled, Function, Row, Solver, Table
from horai.engine.core.words import Words
from horai.lang import endless
from horai.lang.core.terms import Compound, Var
from horai.lang.ec.errors import Endless, blaming
from horai.lang.ec.syntax import BackgroundRule
from horai.plan import operators as op
from horai.plan.ec.literals import names
from horai.plan.graphs import Digraph
from horai.plan.program import Plan

Key = tuple[str, int]
Rows = npt.NDArray[np.int64]


class Background:
    """The relations of the background, worked out when first asked for."""

    def __init__(self, plan: Plan, words: Words, python: Mapping[str, Function]) -> None:
        self.plan, self.words = plan, words
        self.solver = Solver(words, self, plan.procedures, python)
        self._facts: dict[Key, Rows] = {}
        self._members: dict[Key, Rows] = {}
        self._stated: dict[Key, Table] = {}
        self._tables: dict[Key, Table] = {}
        self._rules: dict[Key, Sequence[op.Branch]] = dict(plan.background)
        self._groups = _groups(plan)

    def define(self, key: Key, branches: Sequence[op.Branch]) -> None:
        """One more relation, of which nobody else speaks."""
        self._rules[key], self._groups[key] = branches, [key]

    def set_members(self, members: Mapping[Key, Rows]) -> None:
        """The different members of dynamic domains; what follows from others is forgotten."""
        for key, rows in members.items():
            before = self._members.get(key)
            self._members[key] = rows
            if before is None or not np.array_equal(before, rows):
                self._stated.pop(key, None)
                self._tables.clear()

    def stated_rows(self, key: Key) -> Rows:
        """What needs no rule."""
        if key not in self._facts:
            facts = self.plan.description.facts.get(key)
            self._facts[key] = np.zeros((0, key[1]), np.int64)
            if facts is not None:
                # Not zip(*rows): an iterator for each row is a lot of garbage to collect.
                columns = ([row[place] for row in facts.rows] for place in range(key[1]))
                made = [self.words.of_column(column_of(c, self.words.symbols)) for c in columns]
                self._facts[key] = (
                    np.unique(np.column_stack(made), axis=0) if made else np.zeros((1, 0), np.int64)
                )
        if key not in self._members:
            return self._facts[key]
        return np.unique(np.concatenate([self._facts[key], self._members[key]]), axis=0)

    def rows(self, key: Key) -> Rows:
        """The different rows of a relation."""
        if not self._rules.get(key):
            return self.stated_rows(key)
        found = list(self.table(key).rows)
        return np.unique(np.array(found, np.int64).reshape(len(found), key[1]), axis=0)

    def stated(self, key: Key) -> Table:
        """What needs no rule, with indexes."""
        if key not in self._stated:
            self._stated[key] = Table(map(tuple, self.stated_rows(key).tolist()))
        return self._stated[key]

    def table(self, key: Key) -> Table:
        """All rows of a relation, recursion included."""
        group = self._groups.get(key, [])
        if not any(self._rules.get(member) for member in group):
            return self.stated(key)
        if key not in self._tables:
            for member in group:
                self._tables[member] = Table(self.stated(member).rows)
            try:
                self._fill(group)
            except BaseException:
                for member in group:
                    self._tables.pop(member, None)
                raise
        return self._tables[key]

    def _fill(self, group: list[Key]) -> None:
        """Apply rules until they say nothing new: first to all rows, then to the newest only."""
        limits = _Limits(self.words, self.plan)
        branches = {key: self._rules.get(key, ()) for key in group}
        invents = {key: any(_invents(one, group) for one in branches[key]) for key in group}
        rounds = 0
        news: dict[Key, Table] | None = None
        while news is None or any(table.rows for table in news.values()):
            found: dict[Key, dict[Row, None]] = {key: {} for key in group}
            for key, some in branches.items():
                known, new = self._tables[key].rows, found[key]
                for branch in some:
                    counted = _invents(branch, group)
                    for row in self._derived(branch, news):
                        if counted:
                            limits.made(key, row)
                        if row not in known:
                            new[row] = None
            for key, rows in found.items():
                self._tables[key].add(rows)
                limits.rows(key, len(self._tables[key].rows))
            news = {key: Table(rows) for key, rows in found.items()}
            rounds += 1
            for key in group:
                if invents[key] and found[key]:
                    limits.rounds(key, rounds)

    def _derived(self, branch: op.Branch, news: dict[Key, Table] | None) -> Iterator[Row]:
        """What a rule says; in later rounds once for each reading of something new."""
        for first in _readings(branch, news):
            compiled = self.solver.compiled(branch.body, (), None if first is None else id(first))
            if not names(*branch.head) <= {*compiled.layout}:
                continue
            if first is not None and news is not None:
                self.solver.news[id(first)] = news[first.key]
            yield from self._said(branch, compiled)
            if first is not None:
                del self.solver.news[id(first)]

    def _said(self, branch: op.Branch, compiled: Compiled) -> Iterator[Row]:
        head = self.solver.values(branch.head, compiled.layout)
        clause = branch.body.clause
        assert clause is not None
        pieces = self.solver.pieces(compiled.steps, [()])
        while True:
            # Not around a yield: whoever asks for more is not inside of the rule.
            with blaming(clause):
                piece = next(pieces, None)
            if piece is None:
                return
            yield from map(head, piece)


class _Limits:
    """How much rules may make that make new values of their own values."""

    def __init__(self, words: Words, plan: Plan) -> None:
        self.words, self.plan = words, plan
        self._sizes: dict[int, int] = {}
        self._sum = 0

    def made(self, key: Key, row: Row) -> None:
        """A rule that makes new values has made a row."""
        for word in row:
            size = 1 if word & 3 else self._size(word)
            if size > endless.LARGEST:
                raise self._endless(key, endless.too_large)
            self._sum += size
        if self._sum > endless.MOST_PARTS:
            raise self._endless(key, endless.too_much)

    def rows(self, key: Key, number: int) -> None:
        """A relation has so many rows."""
        if number > endless.MOST_ROWS:
            raise self._endless(key, endless.too_many_rows)

    def rounds(self, key: Key, number: int) -> None:
        """There was something new in so many rounds."""
        if number > endless.MOST_ROUNDS:
            raise self._endless(key, endless.too_many_rounds)

    def _size(self, word: int) -> int:
        if word not in self._sizes:
            self._sizes[word] = endless.parts(self.words.term(word))
        return self._sizes[word]

    def _endless(self, key: Key, why: Callable[[str], str]) -> Endless:
        error = Endless(why(f"{key[0]}/{key[1]}"))
        for rule in self.plan.description.rules:
            if isinstance(rule, BackgroundRule) and rule.body.items:
                head = rule.head
                if isinstance(head, Compound) and (head.name, len(head.args)) == key:
                    error.clause = rule.clause
        return error


def _readings(branch: op.Branch, news: dict[Key, Table] | None) -> list[op.FactJoin | None]:
    """What a rule reads of what is new; None stands for all there is."""
    if news is None:
        return [None]
    steps = branch.body.steps
    hidden = [s for step in steps for part in op.inside(step) for s in op.walk(part)]
    if any(isinstance(step, op.FactJoin) and step.key in news for step in hidden):
        return [None]
    return [step for step in steps if isinstance(step, op.FactJoin) and step.key in news]


def _invents(branch: op.Branch, group: list[Key]) -> bool:
    """May a rule that reads its own relation make new values of those?"""
    steps = list(op.walk(branch.body))
    if not any(isinstance(step, op.FactJoin) and step.key in group for step in steps):
        return False
    making = op.Unify | op.BuiltinOp | op.Python | op.AggregateOp | op.Procedure | op.Extend
    made = any(not isinstance(term, Var) and names(term) for term in branch.head)
    return made or any(isinstance(step, making) for step in steps)


def _groups(plan: Plan) -> dict[Key, list[Key]]:
    graph: Digraph[Key] = Digraph()
    for key, branches in plan.background.items():
        graph.add_nodes((key,))
        for branch in branches:
            for step in op.walk(branch.body):
                if isinstance(step, op.FactJoin):
                    graph.add_edge(key, step.key)
    return {key: sorted(members) for members in graph.components() for key in members}
