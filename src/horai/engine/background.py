"""Background knowledge as relations: facts, members of dynamic domains, and rules worked out."""

from __future__ import annotations

import numpy as np

from horai.engine.chains import Evaluator
from horai.engine.columns import codes, codes_of, column_of
from horai.engine.errors import Endless
from horai.engine.frames import Frame, unit
from horai.engine.hashing import build, first
from horai.engine.matching import build as build_column
from horai.engine.relations import Relation, different, joined
from horai.engine.symbols import Symbols
from horai.lang.terms import Term
from horai.plan import operators as op
from horai.plan.graphs import Digraph
from horai.plan.program import Program
from horai.plan.scopes import names

Key = tuple[str, int]
MAX_ROWS = 10_000_000  # of one relation: more means that it has no last one


class Knowledge:
    """The relations of the background, worked out when first asked for."""

    def __init__(self, program: Program, symbols: Symbols) -> None:
        self.program = program
        self.symbols = symbols
        self.members: dict[Key, Relation] = {}
        self._facts: dict[Key, Relation | None] = {}
        self._known: dict[Key, Relation] = {}
        self._group = _groups(program)

    def set_members(self, key: Key, rows: Relation) -> None:
        """The different members of a dynamic domain; what follows from others is forgotten."""
        before = self.members.get(key)
        if rows is before:
            return
        self.members[key] = rows
        if before is None or not _same(before, rows, self.symbols):
            self._known.clear()

    def stated(self, key: Key) -> Relation | None:
        """What needs no rule; None when there is nothing."""
        if key not in self._facts:
            facts = self.program.description.facts.get(key)
            self._facts[key] = None
            if facts is not None:
                # Not zip(*rows): an iterator for each row is a lot of garbage to collect.
                columns = ([row[place] for row in facts.rows] for place in range(key[1]))
                made = tuple(column_of(column, self.symbols) for column in columns)
                self._facts[key] = Relation(made, len(facts.rows))
        parts = [part for part in (self._facts[key], self.members.get(key)) if part is not None]
        return joined(parts, self.symbols) if parts else None

    def table(self, key: Key, evaluator: Evaluator) -> Relation:
        """All rows of a relation, recursion included."""
        if key not in self._known:
            group = self._group.get(key, [key])
            for member in group:
                self._known[member] = self.stated(member) or _nothing(member)
            if any(self.program.background.get(member) for member in group):
                try:
                    self._fill(group, evaluator)
                except BaseException:
                    for member in group:
                        self._known.pop(member, None)
                    raise
        return self._known[key]

    def _fill(self, group: list[Key], evaluator: Evaluator) -> None:
        """Apply rules until they say nothing new: first to all rows, then to the newest only."""
        news: dict[Key, Relation] | None = None
        while news is None or any(part.rows for part in news.values()):
            found: dict[Key, list[Relation]] = {key: [] for key in group}
            for key in group:
                for branch in self.program.background.get(key, ()):
                    for overrides in _rounds(branch, news):
                        found[key].append(self._derive(branch, overrides, evaluator))
            news = {key: self._add(key, parts) for key, parts in found.items()}

    def _derive(
        self, branch: op.Branch, overrides: dict[int, Relation], evaluator: Evaluator
    ) -> Relation:
        evaluator.overrides.update(overrides)
        frame = evaluator.run(branch.body, unit())
        for number in overrides:
            del evaluator.overrides[number]
        return head_rows(branch.head, frame, self.symbols)

    def _add(self, key: Key, parts: list[Relation]) -> Relation:
        """Put derived rows into a relation; returns those that are new."""
        before = self._known[key]
        derived = joined([part for part in parts if part.rows] or [_nothing(key)], self.symbols)
        new = _without(different(derived, self.symbols), before, self.symbols)
        if new.rows:
            self._known[key] = joined([before, new], self.symbols)
        if self._known[key].rows > MAX_ROWS:
            raise Endless(f"{key[0]}/{key[1]} has too many rows, or no last one")
        return new


def head_rows(head: tuple[Term, ...], frame: Frame, symbols: Symbols) -> Relation:
    """The rows that a head says for the solutions of its body."""
    if not frame.rows or not names(*head) <= set(frame.columns):
        return Relation(tuple(codes(np.empty(0, np.int64)) for _ in head), 0)
    columns = tuple(build_column(term, frame.columns, frame.rows, symbols) for term in head)
    return Relation(columns, frame.rows)


def _rounds(branch: op.Branch, news: dict[Key, Relation] | None) -> list[dict[int, Relation]]:
    """In the first round a rule runs once; later once for every reading of something new."""
    if news is None:
        return [{}]
    inside = [s for s in branch.body.steps if isinstance(s, op.Facts) and s.key in news]
    hidden = [
        s
        for step in branch.body.steps
        for part in op.inside(step)
        for s in op.walk(part)
        if isinstance(s, op.Facts) and s.key in news
    ]
    if hidden:
        return [{}]
    return [{id(step): news[step.key]} for step in inside]


def _groups(program: Program) -> dict[Key, list[Key]]:
    graph: Digraph[Key] = Digraph()
    for key, branches in program.background.items():
        graph.add_nodes((key,))
        for branch in branches:
            for step in op.walk(branch.body):
                if isinstance(step, op.Facts):
                    graph.add_edge(key, step.key)
    return {key: sorted(members) for members in graph.components() for key in members}


def _nothing(key: Key) -> Relation:
    return Relation(tuple(codes(np.empty(0, np.int64)) for _ in range(key[1])), 0)


def _keys(table: Relation, symbols: Symbols) -> list[np.ndarray[tuple[int], np.dtype[np.int64]]]:
    return [codes_of(column, symbols) for column in table.columns]


def _same(left: Relation, right: Relation, symbols: Symbols) -> bool:
    if left.rows != right.rows:
        return False
    return not _without(left, right, symbols).rows


def _without(table: Relation, known: Relation, symbols: Symbols) -> Relation:
    if not known.rows or not table.rows:
        return table
    if not table.columns:
        return Relation((), 0)
    there = first(_keys(table, symbols), build(_keys(known, symbols))) >= 0
    return table.where(~there)
