"""Rows of a rule: a row for each way to give its variables a value, with the list of the rule.

The rows are made when those exist that its conditions speak of: of the fluents of which one has to
hold, or all that are known. The lists of the rows count in the list of the head, and it holds where
any of them does. Who is known is a list, too: it holds all of the time, or never.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial

from horai.engine.core.expressions import (
    Expression,
    Leaf,
    Some,
    Support,
    Tested,
    all_of,
    atoms,
    names_in,
    possible,
    supports,
)
from horai.engine.core.facts import is_changing
from horai.engine.core.layout import NotLowered, Relation, Site, Table
from horai.engine.core.listbodies import ListBody, all_names, alternatives
from horai.engine.core.listtables import ListTable, Part, fed_line
from horai.engine.core.rules import Body, Label, Rules
from horai.lang.core.terms import Term, Var, args_of, is_ground, key_of
from horai.lang.ec import syntax as ec
from horai.plan import operators as op
from horai.plan.ec.instructions import ANY, KIND, TO_COVER, TO_KNOWN
from horai.plan.ec.literals import names
from horai.plan.ec.unify import may_match
from horai.plan.program import StaticPlan

Names = frozenset[str]


@dataclass(frozen=True, eq=False)
class Source:
    """Rows to begin with: instances of a relation, by the terms of their key."""

    table: Table
    terms: tuple[Term, ...]


Adding = Callable[[Table, Sequence[Part]], None]


def keyed(key: Sequence[Term], parts: Sequence[Part]) -> list[Part]:
    """What to do for a row whose key is known by these terms."""

    def run(body: Body, part: Part) -> None:
        body.env = {term.name: at for at, term in enumerate(key, 1) if isinstance(term, Var)}
        body.of_row(key)
        part(body)

    return [partial(run, part=part) for part in parts]


def covering(column: Relation, value: int, rules: Rules, kind: str = "COVER") -> None:
    """Let a column hold where any of the spans does that count in it."""
    column.fields |= {"C_KIND": KIND[kind], "C_LIST": rules.code.list([value])}


class Known:
    """Who is known: for the variables of a body, a list of each of their values."""

    def __init__(self, rules: Rules, body: ec.Literal, level: int, add: Adding) -> None:
        self.rules, self.body, self.level, self._add = rules, body, level, add
        parts = ec.walk(body)
        self._fluents = [p.fvp for p in parts if isinstance(p, ec.HoldsFor | ec.HoldsAt)]
        self._lists: dict[str, Relation] = {}

    def has(self, name: str) -> bool:
        """Does any fluent of the body speak of a variable?"""
        return any(name in names(one.fluent, one.value) for one in self._fluents)

    def of(self, name: str) -> Relation:
        """The list of the values of a variable."""
        if name in self._lists:
            return self._lists[name]
        layout = self.rules.layout
        found = Relation("static", ("", 1), (0,), level=self.level, shown=False)
        layout.table(1).add(found)
        covering(found, 1, self.rules, "KNOWN")
        self._lists[name] = found
        for fvp in self._fluents:
            if name not in names(fvp.fluent, fvp.value):
                continue
            key, terms = key_of(fvp.fluent), (*args_of(fvp.fluent), fvp.value)
            for relation in layout.fluent(key):
                value = relation.value
                if value is None or may_match(fvp.value, value):
                    self._feed(name, found, relation, terms)
            listing = self.rules.facts.of_known(key, terms)
            if listing is not None:
                self._listed(name, found, listing)
        return found

    def _feed(
        self, name: str, known: Relation, relation: Relation, terms: tuple[Term, ...]
    ) -> None:
        value = terms[-1]
        word = ANY
        if relation.kind == "simple":
            if is_ground(value):
                word = self.rules.words.word(value)
            elif not isinstance(value, Var) or name in names(value):
                relation = by_value(relation, self.rules, self._add)
        fits = [(terms[at], at) for at in relation.keys]
        if relation.kind == "static" and relation.value is not None:
            fits.append((value, -1))
        relation.fields["C_FEEDS"] = 1
        site = self.rules.layout.site(Site(relation, TO_KNOWN, value=word, driver=known))

        def part(body: Body) -> None:
            no = body.code.label()
            for place, (term, at) in enumerate(fits, 1):
                if at >= 0:
                    body.match(term, place, no)
                else:
                    assert relation.value is not None
                    body.match(term, body.load(relation.value, no), no)
            line = fed_line(body, known, (Var(name),))
            body.code.emit("FEED", relation.place, line, site)
            body.code.here(no)

        self._add(relation.table, keyed((), [part]))

    def _listed(self, name: str, known: Relation, step: op.FactJoin) -> None:
        """What groundings list is known without any interval, as long as they list it."""
        layout, key = self.rules.layout, (Var(name),)
        rows = layout.table(1)
        table = ListTable(self.rules, rows, key, self.level, _nobody)
        column = table.column(Tested((step,), frozenset({name})))
        column.fields["C_FEEDS"] = 1
        site = layout.site(Site(column, TO_KNOWN, driver=known))

        def feed(body: Body) -> None:
            line = fed_line(body, known, key)
            body.code.emit("FEED", column.place, line, site)

        def make(body: Body) -> None:
            body.env = {}
            done = body.code.label()
            again = body.step(step, frozenset({name}), done)
            body.code.emit("MAKE", body.code.list([1, body.env[name]]), rows.number)
            body.code.emit("JMP", fail=again)
            body.code.here(done)

        self._add(rows, keyed(key, [*table.every_part(), feed]))
        self._add(layout.origin(), [make])


def makes_known(body: ec.Literal, name: str, leaf: Leaf) -> bool:
    """Does a fluent of a body make a value of a variable known? What procedures ask does not."""
    for part in ec.walk(body):
        if isinstance(part, ec.HoldsFor) and part.fvp.key == leaf.relation.key:
            terms = part.fvp.columns
            asked = [*leaf.terms, *([] if leaf.wanted is None else [Var(leaf.wanted)])]
            for at, term in zip([*leaf.relation.keys, len(terms) - 1], asked, strict=False):
                if name in names(term) & names(terms[at]):
                    return True
    return False


def asks_of_others(body: ec.Literal, expression: Expression) -> bool:
    """Do procedures ask about fluents of which a body does not speak?"""
    return any(
        isinstance(leaf, Leaf) and not makes_known(body, name, leaf)
        for leaf in atoms(expression)
        for name in names_in(leaf)
    )


def _nobody(table: ListTable, some: Some) -> Relation:
    raise NotLowered("variables of its own")


def by_value(relation: Relation, rules: Rules, add: Adding) -> Relation:
    """The lists of a fluent value by value: an instance for each value that it has had."""
    if "value" not in relation.parts:
        key = tuple(Var(f"#{at}") for at in range(len(relation.keys) + 1))
        found = Relation(
            "static", relation.key, tuple(range(len(key))), level=relation.level, shown=False
        )
        rules.layout.table(len(key)).add(found)
        found.table.home = relation.table.home
        relation.parts["value"] = found
        relation.fields["C_VALUES"] = found.table.number
        table = ListTable(rules, found.table, key, relation.level, _nobody)
        table.settle(all_of([Leaf(relation, key[:-1], wanted=key[-1].name)]), found, 1)
        add(found.table, keyed(key, table.every_part()))
    return relation.parts["value"]


class RuleRows:
    """The rows of one body. `target` is the column in which their lists count, in the row of
    `head`; `outer` are rows that exist already, of which the body speaks.
    """

    def __init__(
        self,
        rules: Rules,
        body: ListBody,
        head: Sequence[Term],
        target: Relation,
        known: Known | None,
        add: Adding,
        outer: Source | None = None,
    ) -> None:
        self.rules, self.body, self.head, self.target = rules, body, tuple(head), target
        self.known, self._add, self.outer = known, add, outer
        self._open: list[str] = []
        """Variables of a head that a formula only asks about."""
        needed = supports(body.expression)
        if not needed:
            return  # no rule says anything of what would have to hold
        domain = self._domain()
        tests = [one for one in domain if known is not None and self._has_to_be_known(one)]
        conditions = [body.expression, *map(self._is_known, tests)]
        if any(is_changing(step, rules.plan) for step in body.static):
            read = names(*head).union(*(names(*terms) for terms in body.read.values()))
            mine: Names = frozenset().union(*map(all_names, body.static))
            conditions.append(Tested(tuple(body.static), mine & read))
        expression = all_of(conditions)
        key = sorted(names_in(expression) | names(*self.head))
        self.table = rules.layout.table(len(key))
        self.key = tuple(map(Var, key))
        for place, term in enumerate(self.key):
            if target.table.home_of(self.head) == (term,):
                self.table.home = place
        self._columns(expression, tests)
        for support in needed:
            self._makers(support, domain)

    # --- who is meant ----------------------------------------------------------------------------

    def _domain(self) -> list[str]:
        """The variables that range over all that is known, as nothing else gives them a value."""
        bound = set(names(*self.outer.terms) if self.outer is not None else ())
        given = set(bound)
        for step in self.body.steps:
            given |= self._gives(step)
        if self.body.time is not None and self.known is not None:
            self._open = sorted(names(*self.head) - given)
        found = list(self._open)
        bound.update(found)
        for step in self.body.steps:
            if id(step) in self.body.read:
                found += sorted(names(*self.body.read[id(step)]) - bound)
            bound |= self._gives(step)
        missing = names_in(self.body.expression).union(names(*self.head)) - bound
        if missing:
            raise self.body.refuse(f"a value for {', '.join(sorted(missing))}")
        return found

    def _gives(self, step: op.Operator) -> Names:
        if id(step) in self.body.read:
            return names(*self.body.read[id(step)])
        if isinstance(step, op.AntiJoin | op.Filter):
            return frozenset()
        return names(step.term)

    def _has_to_be_known(self, name: str) -> bool:
        """May the list hold although no fluent that makes a variable known does?"""
        whole = self.body.expression
        may = {one: name not in names_in(one) for one in atoms(whole)}
        if self.known is not None and self.body.time is None:
            for one in may:
                may[one] |= isinstance(one, Leaf) and not makes_known(self.known.body, name, one)
        return possible(whole, may)

    def _is_known(self, name: str) -> Leaf:
        assert self.known is not None
        return Leaf(self.known.of(name), (Var(name),), 1)

    # --- what they say ---------------------------------------------------------------------------

    def _columns(self, expression: Expression, tests: Sequence[str]) -> None:
        table = ListTable(
            self.rules, self.table, self.key, self.target.level, self._inner, frozenset(tests)
        )
        column = table.column(expression)
        column.fields["C_FEEDS"] = 1
        site = self.rules.layout.site(Site(column, TO_COVER, driver=self.target))

        def feed(body: Body) -> None:
            line = fed_line(body, self.target, self.head)
            body.code.emit("FEED", column.place, line, site)

        self._add(self.table, keyed(self.key, [*table.every_part(), feed]))

    def _inner(self, table: ListTable, some: Some) -> Relation:
        """A column of what has variables of its own: rows that count in it."""
        column = table.hidden("COVER")
        covering(column, 1, self.rules)
        body = self.body
        for steps in some.chains:
            inner = ListBody(self.rules, body.clause, steps, table.key, time=body.time)
            outer = Source(table.table, table.key)
            RuleRows(self.rules, inner, table.key, column, None, self._add, outer=outer)
        return column

    # --- when they are made ----------------------------------------------------------------------

    def _makers(self, support: Support, domain: list[str]) -> None:
        """A row is made when the last of those comes that a support needs."""
        some = [] if self.outer is None else [self.outer]
        some += [self._source(leaf) for leaf in support]
        have = names(*(term for one in some for term in one.terms))
        asked = [name for name in domain if name not in have]
        for name in asked:
            if self.known is None or not self.known.has(name):
                raise self.body.refuse(f"a value for {name}")
        every = [*some, *(self._values(name) for name in asked)]
        for place, trigger in enumerate(every):
            others = [one for at, one in enumerate(some) if at != place]
            self._add(trigger.table, [partial(self._make, trigger=trigger, others=others)])
        if not every:
            origin = Source(self.rules.layout.origin(), ())
            self._add(origin.table, [partial(self._make, trigger=origin, others=[])])

    def _source(self, leaf: Leaf) -> Source:
        relation, terms = leaf.relation, leaf.terms
        if relation.kind == "simple" and leaf.wanted is not None:
            relation = by_value(relation, self.rules, self._add)
            terms = (*terms, Var(leaf.wanted))
        return Source(relation.table, terms)

    def _values(self, name: str) -> Source:
        assert self.known is not None
        return Source(self.known.of(name).table, (Var(name),))

    def _make(self, body: Body, trigger: Source, others: Sequence[Source]) -> None:
        body.env, body.clause = {}, self.body.clause
        body.of_row(trigger.terms)
        done = body.code.label()
        fail = done
        for place, term in enumerate(trigger.terms, 1):
            body.match(term, place, fail)
        waiting = list(others)
        while waiting:
            # Those that share most with what is known come first.
            waiting.sort(key=lambda one: sum(not body.is_bound(term) for term in one.terms))
            fail = self._rows_of(body, waiting.pop(0), fail)
        for name in self._open:
            if not body.is_bound(Var(name)):
                fail = self._rows_of(body, self._values(name), fail)
        steps = self.body.steps
        for place, step in enumerate(steps):
            if id(step) in self.body.read:
                for name in sorted(names(*self.body.read[id(step)])):
                    if not body.is_bound(Var(name)):
                        fail = self._rows_of(body, self._values(name), fail)
            else:
                rest = [one.term for at, one in enumerate(steps) if at != place]
                needed = names(*rest, *self.head, *self.key)
                fail = body.step(step, needed, fail)
        keys = [body.load(term, fail) for term in self.key]
        place = body.code.list([len(keys), *keys])
        body.code.emit("MAKE", place, self.table.number)
        body.code.emit("JMP", fail=fail)
        body.code.here(done)

    def _rows_of(self, body: Body, source: Source, fail: Label) -> Label:
        """All rows of a table that there are, and that fit what is known."""
        terms, code = source.terms, body.code
        self.rules.layout.looks_up(body.home, source.table, terms)
        bound = tuple(at for at, term in enumerate(terms) if body.is_bound(term))
        free = [at for at in range(len(terms)) if at not in bound]
        place = code.list([len(bound), *(body.load(terms[at], fail) for at in bound)])
        if not free:
            code.emit("HAS", place, source.table.number, fail=fail)
            return fail
        buckets = self.rules.layout.index(source.table, bound)
        iterator = body.register(3)
        code.emit("MOPEN", iterator, place, buckets.number, -1)
        outs = [body.register() for _ in free]
        pairs = [n for at, out in zip(free, outs, strict=True) for n in (at, out)]
        again = code.label()
        code.here(again)
        code.emit("MNEXT", iterator, code.list([len(free), *pairs]), fail=fail)
        for at, out in zip(free, outs, strict=True):
            body.match(terms[at], out, again)
        body.loops = True
        return again


def rule_rows(rules: Rules, plan: StaticPlan, target: Relation, add: Adding) -> None:
    """The rows of a rule: of each of its alternatives, from all that its grounding lists on."""
    known = Known(rules, plan.rule.body, target.level, add)
    head = plan.terms if target.keyed else plan.terms[:-1]
    for steps in alternatives_of(rules, plan):
        body = body_of(rules, plan, steps, head)
        for listing in _listings(rules, plan, body, head):
            whole = copy(body)
            whole.steps = [*([] if listing is None else [listing]), *body.steps]
            RuleRows(rules, whole, head, target, known, add)


def alternatives_of(rules: Rules, plan: StaticPlan) -> list[tuple[op.Operator, ...]]:
    """The ways to satisfy the body of a rule."""
    time = plan.rule.time if isinstance(plan.rule, ec.HoldsAtRule) else None
    return alternatives(plan.chain.steps, rules.plan, plan.clause, time)


def body_of(
    rules: Rules, plan: StaticPlan, steps: tuple[op.Operator, ...], head: Sequence[Term]
) -> ListBody:
    """One of them."""
    rule = plan.rule
    if isinstance(rule, ec.HoldsAtRule):
        return ListBody(rules, plan.clause, steps, head, time=rule.time)
    return ListBody(rules, plan.clause, steps, head, result=plan.result)


def _listings(
    rules: Rules, plan: StaticPlan, body: ListBody, head: Sequence[Term]
) -> list[op.FactJoin | None]:
    """What is known of the head before the body: all that its groundings list, or nothing."""
    some = supports(body.expression)
    own = body.time is not None or not asks_of_others(plan.rule.body, body.expression)
    if own and all(names(*head) <= names(*(t for leaf in one for t in leaf.terms)) for one in some):
        return [None]
    return rules.facts.of_list(plan)
