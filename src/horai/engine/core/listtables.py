"""Expressions as columns of a table: one for each row, with hidden columns for their parts.

Unions, intersections and complements are a truth table over up to six lists; a filter by duration
and a relation of intervals are columns of their own. A column looks at lines of its own row, or at
lines of others that are linked when the row is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from horai.engine.core.expressions import (
    Combined,
    Expression,
    Filtered,
    Leaf,
    Related,
    Some,
    Tested,
    names_in,
    operands,
    table_of,
)
from horai.engine.core.facts import is_changing
from horai.engine.core.layout import Relation, Site, Table
from horai.engine.core.rules import Body, Rules
from horai.lang.core.terms import Term, Var
from horai.plan import operators as op
from horai.plan.ec.instructions import (
    BOUND_IN_KEY,
    INF,
    KIND,
    MODES,
    OPEN_NEVER,
    OTHER_LINE,
    OWN_LINE,
    RELATIONS,
    TO_LISTS,
    VALUE_IN_KEY,
)
from horai.plan.ec.literals import names

MOST = 6  # lists in one truth table
SIGNS = {">": 0, ">=": 1, "<": 2, "=<": 3}
Part = Callable[[Body], None]


class ListTable:
    """The columns of a table; `key` are the terms of its rows, `level` that of all columns.

    `parts` is what the program of a new row has to do, `fed` makes a column of what has variables
    of its own, and the values of `tested` variables have to be known.
    """

    def __init__(
        self,
        rules: Rules,
        table: Table,
        key: Sequence[Term],
        level: int,
        fed: Callable[[ListTable, Some], Relation],
        tested: frozenset[str] = frozenset(),
    ) -> None:
        self.rules, self.table, self.key, self.level = rules, table, tuple(key), level
        self.parts: list[Part] = []
        self._woken: dict[Relation, None] = {}
        self._fed, self._tested = fed, tested
        self._placed: dict[Expression, Relation] = {}
        self._refs: dict[tuple[Relation, tuple[Term, ...]], int] = {}

    def every_part(self) -> list[Part]:
        """The parts, and that columns which may say something are looked at."""
        return [*self.parts, *(partial(_wake, column=column) for column in self._woken)]

    def hidden(self, kind: str = "LIST") -> Relation:
        """A new column that nobody sees."""
        keys = tuple(range(self.table.width))
        column = Relation("static", ("", len(keys)), keys, level=self.level, shown=False)
        column.fields["C_KIND"] = KIND[kind]
        return self.table.add(column)

    def column(self, expression: Expression) -> Relation:
        """A hidden column for an expression."""
        if expression not in self._placed:
            if isinstance(expression, Some):
                column = self._fed(self, expression)
            else:
                column = self.hidden()
                self._placed[expression] = column
                self.settle(expression, column, 1)
            self._placed[expression] = column
        return self._placed[expression]

    def settle(self, expression: Expression, column: Relation, value: int) -> None:
        """Let a column say what an expression says, with a value."""
        code, fields = self.rules.code, column.fields
        match expression:
            case Filtered(part=part, sign=sign, bound=bound, open_counts=open_counts):
                fields["C_LIST"] = code.list([*self._operand(part, column), value])
                flags = SIGNS[sign] + (0 if open_counts else OPEN_NEVER)
                if isinstance(bound, str):
                    flags += BOUND_IN_KEY
                    bound = self._place(bound)
                fields |= {"C_KIND": KIND["FILTER"], "C_LEAST": bound, "C_COMPARE": flags}
                if not self._is_own(part):
                    self._woken[column] = None
            case Related(relation=relation, source=source, target=target, mode=mode):
                memory = self.rules.allen_memory
                words = [
                    *self._operand(source, column),
                    *self._operand(target, column),
                    value,
                    RELATIONS.index(relation),
                    MODES.index(mode),
                    INF if memory is None else memory,
                ]
                fields |= {"C_KIND": KIND["ALLEN"], "C_LIST": code.list(words)}
                if not self._is_own(source) and not self._is_own(target):
                    self._woken[column] = None
            case Tested(steps=steps):
                fields["C_LIST"] = code.list([0, 1, value, 1])
                self.bar(column, steps)
                self._woken[column] = None
            case _:
                self._truth_table(expression, column, value)

    def bar(self, column: Relation, steps: Sequence[op.Operator]) -> None:
        """A list is empty for instances that do not meet conditions on facts."""
        column.moving = any(is_changing(step, self.rules.plan) for step in steps)
        self.parts.append(partial(_check, column=column, steps=steps))

    def _truth_table(self, expression: Expression, column: Relation, value: int) -> None:
        over = operands(expression)
        while len(over) > MOST:
            expression = self._smaller(expression)
            over = operands(expression)
        bits = (table_of(expression, over, True), table_of(expression, over, False))
        words = [len(over), bits[0], value, bits[1]]
        for one in over:
            words += self._operand(one, column)
        column.fields["C_LIST"] = self.rules.code.list(words)
        # A new row has nothing in its own lines; what it says then, others say.
        own = sum(1 << place for place, one in enumerate(over) if self._is_own(one))
        every = bits[0] | bits[1]
        if any(not state & own and every >> state & 1 for state in range(1 << len(over))):
            self._woken[column] = None

    def _smaller(self, expression: Expression) -> Expression:
        """The same with a part that has a column of its own."""
        assert isinstance(expression, Combined)
        parts = list(expression.parts)
        for place, part in enumerate(parts):
            if len(operands(part)) > MOST:
                parts[place] = self._smaller(part)
                return replace(expression, parts=tuple(parts))
        largest = max(parts, key=lambda part: len(operands(part)))
        if len(operands(largest)) > 1:
            parts[parts.index(largest)] = self._leaf(largest)
        else:
            half = len(parts) // 2
            parts[:half] = [self._leaf(replace(expression, parts=tuple(parts[:half])))]
        return replace(expression, parts=tuple(parts))

    def _leaf(self, expression: Expression) -> Leaf:
        if isinstance(expression, Leaf):
            return expression
        return Leaf(self.column(expression), self.key, 1)

    def _is_own(self, expression: Expression) -> bool:
        """Is it a line of the row itself?"""
        if not isinstance(expression, Leaf):
            return True
        return expression.relation.table is self.table and expression.terms == self.key

    def _place(self, name: str) -> int:
        return self.key.index(Var(name))

    def _operand(self, expression: Expression, column: Relation) -> list[int]:
        """How the machine finds the line, where, and the value that counts."""
        leaf = self._leaf(expression)
        relation, how, want = leaf.relation, 0, leaf.value
        if leaf.wanted is not None:
            how, want = VALUE_IN_KEY, self._place(leaf.wanted)
        site = Site(relation, TO_LISTS, level=column.level, driver=column)
        site.apart = not self._tested <= names_in(expression)
        if leaf.wanted is None:
            site.value = leaf.value
        if self._is_own(leaf):
            apart = column.place - relation.place
            relation.readers.append((apart, self.rules.layout.site(site)))
            return [how | OWN_LINE, -apart, want]
        site.shift = column.place
        home = self.table.home_of(self.key)
        self.rules.layout.joins(home, relation, leaf.terms, column.level)
        number = self.rules.layout.site(site)
        found = (relation, leaf.terms)
        if found not in self._refs:
            self._refs[found] = self.table.width + self.table.refs
            self.table.refs += 1
        place = self._refs[found]
        self.parts.append(partial(_refer, leaf=leaf, site=number, place=place))
        return [how | OTHER_LINE, place, want]


def line_of(body: Body, relation: Relation, terms: Sequence[Term], site: int) -> int:
    """The register with the line of an instance, made if there is none; bound terms only."""
    fail = body.code.label()
    keys = [body.load(term, fail) for term in terms]
    body.code.here(fail)
    found = body.register()
    place = body.code.list([len(keys), *keys])
    body.code.emit("LINE", found, place, relation.table.number * 4096 + relation.place, site)
    return found


def fed_line(body: Body, relation: Relation, terms: Sequence[Term]) -> int:
    """The same of a line in which others count."""
    body.layout.joins(body.home, relation, terms, relation.level)
    return line_of(body, relation, terms, -1)


def _refer(body: Body, leaf: Leaf, site: int, place: int) -> None:
    body.code.emit("REF", place, line_of(body, leaf.relation, leaf.terms, site))


def _wake(body: Body, column: Relation) -> None:
    body.code.emit("WAKE", column.place)


def _check(body: Body, column: Relation, steps: Sequence[op.Operator]) -> None:
    no, done = body.code.label(), body.code.label()
    wanted = names(*(step.term for step in steps))
    fail = no
    for step in steps:
        fail = body.step(step, wanted, fail)
    if column.moving:
        body.code.emit("ALLOW", column.place)
    body.code.emit("JMP", fail=done)
    body.code.here(no)
    body.code.emit("BAR", column.place)
    body.code.here(done)
