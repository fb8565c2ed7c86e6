"""Background knowledge as relations: facts, members of dynamic domains, and rules worked out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import prod

import numpy as np

from horai.engine.chains import Evaluator
from horai.engine.columns import codes, codes_of, column_of
from horai.engine.frames import Frame, unit
from horai.engine.hashing import build, dense, first
from horai.engine.matching import build as build_column
from horai.engine.relations import Relation, different, joined
from horai.engine.symbols import Symbols
from horai.lang import endless
from horai.lang.core.terms import Compound, Term, Var
from horai.lang.ec.errors import Endless
from horai.lang.ec.syntax import BackgroundRule
from horai.plan import operators as op
from horai.plan.ec.literals import names
from horai.plan.graphs import Digraph
from horai.plan.program import Plan

Key = tuple[str, int]
PIECE = 100_000  # rows that a rule may find at once, where it makes new values


class Knowledge:
    """The relations of the background, worked out when first asked for."""

    def __init__(self, program: Plan, symbols: Symbols) -> None:
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
        making = _Making(self.symbols)
        invents = {
            key: any(_invents(branch, group) for branch in self.program.background.get(key, ()))
            for key in group
        }
        rounds = 0
        news: dict[Key, Relation] | None = None
        while news is None or any(part.rows for part in news.values()):
            found: dict[Key, list[Relation]] = {key: [] for key in group}
            for key in group:
                for branch in self.program.background.get(key, ()):
                    if not _invents(branch, group):
                        for overrides in _rounds(branch, news):
                            found[key].append(self._derive(branch, overrides, evaluator))
                        continue
                    for part in self._made(branch, group, news, evaluator):
                        if why := making.refused(part):
                            raise self._endless(key, why)
                        found[key].append(different(part, self.symbols))
            news = {key: self._add(key, parts) for key, parts in found.items()}
            rounds += 1
            for key in group:
                if invents[key] and news[key].rows and rounds > endless.MOST_ROUNDS:
                    raise self._endless(key, endless.too_many_rounds)

    def _made(
        self,
        branch: op.Branch,
        group: list[Key],
        news: dict[Key, Relation] | None,
        evaluator: Evaluator,
    ) -> Iterator[Relation]:
        """What a rule that makes new values says, piece by piece: all at once may be too much."""
        rounds = _rounds(branch, news or {key: self._known[key] for key in group})
        if news is None:
            rounds = rounds[:1]  # every solution has a row in the place of the first
        crossed = _crossed(branch, group)
        for overrides in rounds:
            if not overrides:
                yield self._derive(branch, overrides, evaluator)
            for number, new in overrides.items():
                others = [step for step in crossed if id(step) != number]
                width = int(PIECE ** (1 / max(1, len(others))))
                some = [_pieces(self._known[step.key], width) for step in others]
                for parts in product(*some):
                    beside = {id(step): part for step, part in zip(others, parts, strict=True)}
                    most = max(1, PIECE // prod(part.rows for part in parts))
                    place, size = 0, 1
                    while place < new.rows:
                        rows = np.arange(place, min(new.rows, place + size))
                        more = {number: new.where(rows)}
                        found = self._derive(branch, beside | more, evaluator)
                        yield found
                        place += size
                        each = max(1, found.rows // len(rows))
                        size = max(1, min(4 * size, most, PIECE // each))

    def _endless(self, key: Key, why: Callable[[str], str]) -> Endless:
        error = Endless(why(f"{key[0]}/{key[1]}"))
        for rule in self.program.description.rules:
            if isinstance(rule, BackgroundRule) and rule.body.items:
                head = rule.head
                if isinstance(head, Compound) and (head.name, len(head.args)) == key:
                    error.clause = rule.clause
        return error

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
        if self._known[key].rows > endless.MOST_ROWS:
            raise self._endless(key, endless.too_many_rows)
        return new


class _Making:
    """How much rules have made that make new values."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self._parts: dict[int, int] = {}
        self._sum = 0

    def refused(self, made: Relation) -> Callable[[str], str] | None:
        """Why nobody should go on after this, if there is a reason."""
        for column in made.columns:
            if column.kind != "term":
                self._sum += made.rows
                continue
            numbers, firsts = dense([column.data], made.rows)
            sizes = np.array([self._size(code) for code in column.data[firsts].tolist()], np.int64)
            if (sizes > endless.LARGEST).any():
                return endless.too_large
            self._sum += int(sizes[numbers].sum())
        return endless.too_much if self._sum > endless.MOST_PARTS else None

    def _size(self, code: int) -> int:
        found = self._parts.get(code)
        if found is None:
            found = self._parts[code] = endless.parts(self.symbols.term(code))
        return found


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
    inside = [s for s in branch.body.steps if isinstance(s, op.FactJoin) and s.key in news]
    hidden = [
        s
        for step in branch.body.steps
        for part in op.inside(step)
        for s in op.walk(part)
        if isinstance(s, op.FactJoin) and s.key in news
    ]
    if hidden:
        return [{}]
    return [{id(step): news[step.key]} for step in inside]


def _invents(branch: op.Branch, group: list[Key]) -> bool:
    """May a rule that reads its own relation make new values of those?"""
    steps = list(op.walk(branch.body))
    if not any(isinstance(step, op.FactJoin) and step.key in group for step in steps):
        return False
    making = op.Unify | op.BuiltinOp | op.Python | op.AggregateOp | op.Procedure | op.Extend
    made = any(not isinstance(term, Var) and names(term) for term in branch.head)
    return made or any(isinstance(step, making) for step in steps)


def _crossed(branch: op.Branch, group: list[Key]) -> list[op.FactJoin]:
    """Where a rule reads its own relations, if it pairs all of their rows with all."""
    read = [step for step in branch.body.steps if isinstance(step, op.FactJoin)]
    used = [names(*step.terms) for step in read]
    alone = any(not any(n & m for m in used if m is not n) for n in used)
    own = [step for step in read if step.key in group]
    return own if alone and len(own) > 1 else []


def _pieces(table: Relation, size: int) -> list[Relation]:
    starts = range(0, table.rows, size)
    return [table.where(np.arange(at, min(table.rows, at + size))) for at in starts]


def _groups(program: Plan) -> dict[Key, list[Key]]:
    graph: Digraph[Key] = Digraph()
    for key, branches in program.background.items():
        graph.add_nodes((key,))
        for branch in branches:
            for step in op.walk(branch.body):
                if isinstance(step, op.FactJoin):
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
