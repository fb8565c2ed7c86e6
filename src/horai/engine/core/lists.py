"""Interval lists: the rules of a fluent and value become columns of tables.

A rule that speaks of nobody but the instances of its head is an expression over the lists that they
have. All other rules have rows of their own (`list_rows.py`), whose lists count in the list of the
head.
"""

from __future__ import annotations

from functools import partial

from horai.engine.core.expressions import (
    Expression,
    Leaf,
    Some,
    any_of,
    atoms,
    names_in,
    renamed,
    supports,
)
from horai.engine.core.facts import is_changing
from horai.engine.core.layout import NotLowered, Relation, Site, Table
from horai.engine.core.list_rows import (
    Adding,
    alternatives_of,
    asks_of_others,
    body_of,
    by_value,
    covering,
    keyed,
    rule_rows,
)
from horai.engine.core.listbodies import ListBody
from horai.engine.core.listtables import ListTable, fed_line
from horai.engine.core.rules import Body, Rules, may_begin
from horai.lang.core.terms import Var
from horai.plan.ec.instructions import ANY, TO_COVER
from horai.plan.ec.literals import names
from horai.plan.program import StaticPlan


class Lists:
    """Lowers the interval lists of one fluent and value.

    `stated` are columns beside the list with intervals that other rules state. `add` gives the
    rows of a table something to do when they are made.
    """

    def __init__(
        self,
        rules: Rules,
        relation: Relation,
        plans: list[StaticPlan],
        stated: list[Relation],
        add: Adding,
    ) -> None:
        self.rules, self.relation, self.plans, self._add = rules, relation, plans, add
        self.stated = stated
        self.word = ANY if relation.value is None else rules.words.word(relation.value)

    def lower(self) -> None:
        """Fill the column of the list, with columns before it for its parts."""
        if self.relation.keyed:
            self._computed()
            return
        direct: list[tuple[StaticPlan, ListBody]] = []
        others: list[StaticPlan] = []
        for plan in self.plans:
            bodies = self._direct(plan)
            direct += [(plan, body) for body in bodies]
            if not bodies:
                others.append(plan)
        begun = self._begun()
        if begun is not None:
            self._union(direct, others, begun)
        elif self.stated:
            self._union(direct, others)
        elif not others and len(direct) == 1 and not self._moves(direct[0][1]):
            self._settle(*direct[0], self.relation, self.word)
        elif not direct:
            covering(self.relation, self.word, self.rules)
            self._rows(others, self.relation)
        else:
            self._union(direct, others)

    def _computed(self) -> None:
        """Values that rules compute have rows of their own, and so do those that rules begin."""
        relation, rules = self.relation, self.rules
        covering(relation, ANY, rules)
        self._rows(self.plans, relation)
        for column in self.stated:
            self._feed(column)
        known = rules.layout.fluents[relation.key]
        simple = next((one for one in known if one.kind == "simple"), None)
        if simple is None or simple.masked:
            return
        simple.masked.add(ANY)
        self._feed(by_value(simple, rules, self._add))

    def _feed(self, source: Relation) -> None:
        """The spans of a column with the same key count in the list."""
        source.fields["C_FEEDS"] = 1
        key = tuple(Var(f"#{at}") for at in self.relation.keys)
        site = self.rules.layout.site(Site(source, TO_COVER, driver=self.relation))

        def feed(body: Body) -> None:
            line = fed_line(body, self.relation, key)
            body.code.emit("FEED", source.place, line, site)

        self._add(source.table, keyed(key, [feed]))

    def _moves(self, body: ListBody) -> bool:
        """Do conditions depend on members of dynamic domains, beside the grounding's?"""
        return any(is_changing(step, self.rules.plan) for step in body.static)

    def _begun(self) -> Relation | None:
        """The fluent, if rules begin the value of the list as well.

        Then the list has its intervals, too, and answers show the list.
        """
        relation, value = self.relation, self.relation.value
        assert value is not None
        if not may_begin(self.rules.plan, relation.key, value):
            return None
        known = self.rules.layout.fluents[relation.key]
        simple = next((one for one in known if one.kind == "simple"), None)
        if simple is not None:
            simple.masked.add(self.word)
        return simple

    def _union(
        self,
        direct: list[tuple[StaticPlan, ListBody]],
        others: list[StaticPlan],
        begun: Relation | None = None,
    ) -> None:
        key = tuple(Var(f"#{at}") for at in range(len(self.relation.keys)))
        table = ListTable(self.rules, self.relation.table, key, self.relation.level, _nobody)
        found: list[Expression] = [] if begun is None else [Leaf(begun, key, self.word)]
        found += [Leaf(column, key, 1) for column in self.stated]
        for plan, body in direct:
            if body.static:
                column = table.hidden()
                self._settle(plan, body, column, 1)
                found.append(Leaf(column, key, 1))
            else:
                head = [term.name for term in plan.terms[:-1] if isinstance(term, Var)]
                found.append(renamed(body.expression, dict(zip(head, key, strict=True))))
        if others:
            column = table.hidden()
            covering(column, 1, self.rules)
            self._rows(others, column)
            found.append(Leaf(column, key, 1))
        table.settle(any_of(tuple(found)), self.relation, self.word)
        self._add(self.relation.table, keyed(key, table.every_part()))

    def _rows(self, plans: list[StaticPlan], column: Relation) -> None:
        for plan in plans:
            rule_rows(self.rules, plan, column, self._add)

    def _settle(self, plan: StaticPlan, body: ListBody, column: Relation, value: int) -> None:
        """A column for one body; it is empty for instances that do not meet its conditions."""
        head = plan.terms[:-1]
        table = ListTable(self.rules, self.relation.table, head, self.relation.level, _nobody)
        table.settle(body.expression, column, value)
        if body.static:
            table.bar(column, body.static)
        self._add(self.relation.table, keyed(head, table.every_part()))

    # --- lists of the rows of the head -----------------------------------------------------------

    def _direct(self, plan: StaticPlan) -> list[ListBody]:
        """The bodies of a rule, if all of them are about lists that its instances have."""
        head = plan.terms[:-1]
        if len(set(head)) < len(head) or not all(isinstance(term, Var) for term in head):
            return []
        choices = alternatives_of(self.rules, plan)
        bodies = [body_of(self.rules, plan, steps, head) for steps in choices]
        makers: list[Leaf] = []
        for body in bodies:
            some = self._makers(plan, body)
            if some is None:
                return []
            makers += some
        for leaf in dict.fromkeys(makers):
            part = partial(_make, leaf=leaf, plan=plan, table=self.relation.table)
            self._add(leaf.relation.table, [part])
        return bodies

    def _makers(self, plan: StaticPlan, body: ListBody) -> list[Leaf] | None:
        """Fluents whose instances make those of the list; None if it is not so simple."""
        head, expression = plan.terms[:-1], body.expression
        spoken = names_in(expression).union(*(names(*terms) for terms in body.read.values()))
        if not spoken <= names(*head):
            return None
        if any(not isinstance(one, Leaf) or one.wanted is not None for one in atoms(expression)):
            return None
        if body.time is None and asks_of_others(plan.rule.body, expression):
            return None
        found: list[Leaf] = []
        for support in supports(expression):
            if any(_is_own(leaf, plan, self.relation.table) for leaf in support):
                continue
            naming = [leaf for leaf in support if names(*leaf.terms) == names(*head)]
            if not naming:
                return None
            found.append(next((leaf for leaf in naming if leaf in found), naming[0]))
        return found


def _is_own(leaf: Leaf, plan: StaticPlan, table: Table) -> bool:
    return leaf.relation.table is table and leaf.terms == plan.terms[:-1]


def _make(body: Body, leaf: Leaf, plan: StaticPlan, table: Table) -> None:
    """An instance of a fluent makes the instance of the list it belongs to."""
    body.env, body.clause = {}, plan.clause
    done = body.code.label()
    for place, term in enumerate(leaf.terms, 1):
        body.match(term, place, done)
    keys = [body.load(term, done) for term in plan.terms[:-1]]
    body.code.emit("MAKE", body.code.list([len(keys), *keys]), table.number)
    body.code.here(done)


def _nobody(table: ListTable, some: Some) -> Relation:
    raise NotLowered("a list with variables of its own")
