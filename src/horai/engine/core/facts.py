"""What does not depend on the stream: facts, members of dynamic domains, what rules make of them.

Relations are rows of words. What groundings list is a relation, too; it may depend on the stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from horai.engine.columns import column_of
from horai.engine.core.solver import Compiled, Function, Row, Solver, Table
from horai.engine.core.words import Words
from horai.lang import endless
from horai.lang.core.printer import show
from horai.lang.core.terms import Compound, Term, Var, is_ground, substitute
from horai.lang.ec import syntax as ec
from horai.lang.ec.errors import Endless, blaming
from horai.plan import operators as op
from horai.plan.ec.literals import names, visible
from horai.plan.ec.unify import may_match, rename_apart
from horai.plan.graphs import Digraph
from horai.plan.program import GroundingPlan, Plan, PointPlan, StaticPlan

Key = tuple[str, int]
Rows = npt.NDArray[np.int64]
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

    def only(self, step: op.FactJoin, fixed: Mapping[str, Term]) -> dict[str, int] | None:
        """What the only row of a relation with some constants says of the other arguments.

        None if there is not one row, or if the relation depends on the stream.
        """
        terms = [fixed.get(t.name, t) if isinstance(t, Var) else t for t in step.terms]
        free = {t.name: at for at, t in enumerate(terms) if isinstance(t, Var)}
        ground = [at for at, term in enumerate(terms) if is_ground(term)]
        if len(free) + len(ground) < len(terms) or is_changing(step, self.plan):
            return None
        rows = self.rows(step.key)
        for at in ground:
            rows = rows[rows[:, at] == self.words.word(terms[at])]
        return {name: int(rows[0, at]) for name, at in free.items()} if len(rows) == 1 else None

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
        values: list[str] = []  # in the words of the groundings: they may differ from head to head
        places = [place for place, one in enumerate(every) if any(one is it for it in some)]
        for one in (every[place] for place in places):
            said: tuple[Term, ...] | None = one.terms
            if value is not None:
                its = one.value if _tells_value(one) else _by_arguments(value, args, one)
                said = None if its is None else (*one.terms, its)
                values.append("" if its is None else show(its))
            if said is not None and names(*said) <= one.listing.bound:
                branches.append(op.Branch(said, replace(one.listing, clause=one.clause)))
        terms = (*args, value) if value is not None else tuple(args)
        mark = MOVING if self.moves(key) else LISTED
        name = (f"{mark}{key[0]}/{key[1]} {places} {values}", len(terms))
        if self.moves(key):
            self.moving[name] = branches
        else:
            self.known.define(name, branches)
        return op.FactJoin(name, terms, Compound(name[0], terms))


def _by_arguments(value: Term, args: Sequence[Term], plan: GroundingPlan) -> Term | None:
    """The value of a head with these arguments, in the words of a grounding that leaves it open.

    None if it has variables that are no arguments of the head.
    """
    of_head, given = rename_apart(value, "head"), [rename_apart(arg, "head") for arg in args]
    known = {a.name: its for a, its in zip(given, plan.terms, strict=False) if isinstance(a, Var)}
    return substitute(of_head, known) if names(of_head) <= known.keys() else None


def _tells_value(plan: GroundingPlan) -> bool:
    """Does a grounding list the values of a fluent?"""
    return plan.value is not None and names(plan.value) <= plan.listing.bound


def is_temporal(step: op.Operator, plan: Plan) -> bool:
    """Does an operator, or one inside it, look at the stream?"""
    return looks_at_time(step, plan) or is_changing(step, plan)


def looks_at_time(step: op.Operator, plan: Plan) -> bool:
    """Does it look at what happens or holds, not only at who belongs to a domain?"""
    match step:
        case op.Scan() | op.Stab() | op.Lookup() | op.SpanOperation() | op.QueryTime():
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
        if isinstance(part, ec.Temporal | ec.DurationFilter):
            return True  # an open interval lasts until the query time
        if isinstance(part, ec.Call):
            known = plan.predicates.get(part.key)
            if part.key in plan.changing or (known is not None and known.temporal):
                return True
            if part.key == ("queryTime", 1) and known is None:
                return True
    return False


# --- background rules -----------------------------------------------------------------------------


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
            if isinstance(rule, ec.BackgroundRule) and rule.body.items:
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
