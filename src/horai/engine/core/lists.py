"""Interval lists: the rules of a fluent and value become columns of tables.

A rule that speaks of nobody but the instances of its head is an expression over the lists that they
have. All others have rows of their own, one for each way to give their variables a value. These are
made when those exist that its conditions speak of: of the fluents of which one has to hold, or all
that are known. The lists of the rows count in the list of the head, and it holds where any of them
does. Who is known is a list, too: it holds all of the time, or never.

Unions, intersections and complements are a truth table over up to six lists; a filter by duration
and a relation of intervals are columns of their own. A column looks at lines of its own row, or at
lines of others that are linked when the row is made.

A rule that looks at whole lists (compares them, collects them, passes them on), or at what happens,
is no expression over lists. The run drives it: lists are terms in registers, every solution gives
one, and each of its intervals is stated in a column of the instance of the head.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial

from horai.engine.core.expressions import (
    Combined,
    Expression,
    Filtered,
    Leaf,
    ListBody,
    Related,
    Some,
    Support,
    Tested,
    all_names,
    all_of,
    any_of,
    atoms,
    bodies_of,
    names_in,
    operands,
    possible,
    renamed,
    supports,
    table_of,
)
from horai.engine.core.facts import is_changing
from horai.engine.core.layout import NotLowered, Part, Relation, Site, Table
from horai.engine.core.listterms import Pieces
from horai.engine.core.rules import Body, Label, Rules, may_begin
from horai.lang.core.terms import Term, Var, args_of, is_ground, key_of
from horai.lang.ec import syntax as ec
from horai.plan import operators as op
from horai.plan.ec.instructions import (
    ANY,
    BOUND_IN_KEY,
    INF,
    KIND,
    MODES,
    NEEDED,
    OPEN_NEVER,
    OTHER_LINE,
    OWN_LINE,
    RELATIONS,
    TO_COVER,
    TO_KNOWN,
    TO_LISTS,
    VALUE_IN_KEY,
)
from horai.plan.ec.literals import names
from horai.plan.ec.unify import may_match
from horai.plan.program import StaticPlan

Names = frozenset[str]
MOST = 6  # lists in one truth table
SIGNS = {">": 0, ">=": 1, "<": 2, "=<": 3}
CUTS = Var("#cuts")


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


def feeding(
    rules: Rules,
    source: Relation,
    target: Relation,
    terms: Sequence[Term],
    what: int = TO_COVER,
    value: int = ANY,
) -> Part:
    """Let the spans of a column count in another one, in the row with these terms as key."""
    source.fields["C_FEEDS"] = 1
    site = rules.layout.site(Site(source, what, value=value, driver=target))

    def feed(body: Body) -> None:
        done = body.code.label()
        line, _ = body.line(target, terms, None, done)
        body.code.emit("FEED", source.place, line, site)
        body.code.here(done)

    return feed


def making(
    clause: ec.Clause,
    source: Source,
    key: Sequence[Term],
    table: Table,
    more: Callable[[Body, Label], Label] = lambda body, fail: fail,
) -> Part:
    """Let a row make rows of a table, for each way to give the variables of their key a value."""

    def make(body: Body) -> None:
        body.env, body.clause = {}, clause
        body.of_row(source.terms)
        done = body.code.label()
        for place, term in enumerate(source.terms, 1):
            body.match(term, place, done)
        fail = more(body, done)
        keys = [body.load(term, fail) for term in key]
        body.code.emit("MAKE", body.code.list([len(keys), *keys]), table.number)
        body.code.emit("JMP", fail=fail)
        body.code.here(done)

    return make


@dataclass(frozen=True, eq=False)
class Source:
    """Rows to begin with: instances of a relation, by the terms of their key."""

    table: Table
    terms: tuple[Term, ...]


# --- columns --------------------------------------------------------------------------------------


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
        fed: Callable[[ListTable, Some], Relation] | None = None,
        tested: frozenset[str] = frozenset(),
    ) -> None:
        self.rules, self.table, self.key, self.level = rules, table, tuple(key), level
        self.parts: list[Part] = []
        self._woken: dict[Relation, None] = {}
        self._fed, self._tested = fed, tested
        self._placed: dict[Expression, Relation] = {}
        self._refs: dict[tuple[Relation, tuple[Term, ...]], int] = {}

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
                assert self._fed is not None, "only rows of rules have variables of their own"
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
        every = bits[0] | bits[1]
        true = [state for state in range(1 << len(over)) if every >> state & 1]
        own = 0
        for place, one in enumerate(over):
            how, *where = self._operand(one, column)
            if self._is_own(one):
                own |= 1 << place
                how |= NEEDED if all(state >> place & 1 for state in true) else 0
            words += [how, *where]
        column.fields["C_LIST"] = self.rules.code.list(words)
        # A new row has nothing in its own lines; what it says then, others say.
        if any(not state & own for state in true):
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
        found = (relation, leaf.terms)
        if found not in self._refs:
            self._refs[found] = self.table.width + self.table.refs
            self.table.refs += 1
        place = self._refs[found]
        self.parts.append(partial(_refer, leaf=leaf, site=site, place=place))
        return [how | OTHER_LINE, place, want]

    def add(self, *more: Part) -> None:
        """Let each new row do the parts, and look at columns which may say something; then more."""
        waking = [partial(_wake, column=column) for column in self._woken]
        self.table.parts += keyed(self.key, [*self.parts, *waking, *more])


def _refer(body: Body, leaf: Leaf, site: Site, place: int) -> None:
    fail = body.code.label()
    body.level = site.level
    line, _ = body.line(leaf.relation, leaf.terms, site, fail)
    body.code.emit("REF", place, line)
    body.code.here(fail)


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


# --- who is known ---------------------------------------------------------------------------------


class Known:
    """Who is known: for the variables of a body, a list of each of their values."""

    def __init__(self, rules: Rules, plan: StaticPlan, level: int) -> None:
        self.rules, self.plan, self.level = rules, plan, level
        parts = ec.walk(plan.rule.body)
        self._fluents = [p.fvp for p in parts if isinstance(p, ec.HoldsFor | ec.HoldsAt)]
        self._lists: dict[str, Relation] = {}

    def of(self, name: str) -> Relation:
        """The list of the values of a variable of which some fluent of the body speaks."""
        if name in self._lists:
            return self._lists[name]
        if not any(name in names(one.fluent, one.value) for one in self._fluents):
            raise NotLowered(f"nothing gives a value to {name}", self.plan.clause)
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
                relation = by_value(relation, self.rules)
        feed = feeding(self.rules, relation, known, (Var(name),), TO_KNOWN, word)

        def part(body: Body) -> None:
            no = body.code.label()
            for place, at in enumerate(relation.keys, 1):
                body.match(terms[at], place, no)
            if relation.value is not None:
                body.match(value, body.load(relation.value, no), no)
            feed(body)
            body.code.here(no)

        relation.table.parts += keyed((), [part])

    def _listed(self, name: str, known: Relation, step: op.FactJoin) -> None:
        """What groundings list is known without any interval, as long as they list it."""
        layout, key = self.rules.layout, (Var(name),)
        rows = layout.table(1)
        table = ListTable(self.rules, rows, key, self.level)
        column = table.column(Tested((step,), frozenset({name})))
        table.add(feeding(self.rules, column, known, key, TO_KNOWN))

        def listed(body: Body, fail: Label) -> Label:
            return body.step(step, frozenset({name}), fail)

        origin = Source(layout.origin(), ())
        origin.table.parts.append(making(self.plan.clause, origin, key, rows, listed))


def makes_known(plan: StaticPlan, name: str, leaf: Leaf) -> bool:
    """Does a fluent of a body make a value of a variable known? What procedures ask does not."""
    for part in ec.walk(plan.rule.body):
        if isinstance(part, ec.HoldsFor) and part.fvp.key == leaf.relation.key:
            terms = part.fvp.columns
            asked = [*leaf.terms, *([] if leaf.wanted is None else [Var(leaf.wanted)])]
            for at, term in zip([*leaf.relation.keys, len(terms) - 1], asked, strict=False):
                if name in names(term) & names(terms[at]):
                    return True
    return False


def asks_of_others(body: ListBody) -> bool:
    """Do procedures ask about fluents of which a rule for whole lists does not speak?"""
    return body.time is None and any(
        isinstance(leaf, Leaf) and not makes_known(body.plan, name, leaf)
        for leaf in atoms(body.expression)
        for name in names_in(leaf)
    )


def by_value(relation: Relation, rules: Rules) -> Relation:
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
        table = ListTable(rules, found.table, key, relation.level)
        table.settle(all_of([Leaf(relation, key[:-1], wanted=key[-1].name)]), found, 1)
        table.add()
    return relation.parts["value"]


# --- rows of rules --------------------------------------------------------------------------------


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
        outer: Source | None = None,
    ) -> None:
        self.rules, self.body, self.head, self.target = rules, body, tuple(head), target
        self.known, self.outer = known, outer
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
        read = self.body.read.get(id(step))
        return op.binds(step) if read is None else names(*read)

    def _has_to_be_known(self, name: str) -> bool:
        """May the list hold although no fluent that makes a variable known does?"""
        whole = self.body.expression
        may = {one: name not in names_in(one) for one in atoms(whole)}
        if self.body.time is None:
            for one in may:
                may[one] |= isinstance(one, Leaf) and not makes_known(self.body.plan, name, one)
        return possible(whole, may)

    def _is_known(self, name: str) -> Leaf:
        assert self.known is not None
        return Leaf(self.known.of(name), (Var(name),), 1)

    # --- what they say ---------------------------------------------------------------------------

    def _columns(self, expression: Expression, tests: Sequence[str]) -> None:
        table = ListTable(
            self.rules, self.table, self.key, self.target.level, self._inner, frozenset(tests)
        )
        table.add(feeding(self.rules, table.column(expression), self.target, self.head))

    def _inner(self, table: ListTable, some: Some) -> Relation:
        """A column of what has variables of its own: rows that count in it."""
        column = table.hidden("COVER")
        covering(column, 1, self.rules)
        body = self.body
        for steps in some.chains:
            inner = ListBody(self.rules, body.plan, steps, table.key)
            outer = Source(table.table, table.key)
            RuleRows(self.rules, inner, table.key, column, None, outer)
        return column

    # --- when they are made ----------------------------------------------------------------------

    def _makers(self, support: Support, domain: list[str]) -> None:
        """A row is made when the last of those comes that a support needs."""
        some = [] if self.outer is None else [self.outer]
        some += [self._source(leaf) for leaf in support]
        have = names(*(term for one in some for term in one.terms))
        asked = [name for name in domain if name not in have]
        for name in asked:
            if self.known is None:
                raise self.body.refuse(f"a value for {name}")
        every = [*some, *(self._values(name) for name in asked)]
        for trigger in every or [Source(self.rules.layout.origin(), ())]:
            others = [one for one in some if one is not trigger]
            fits = partial(self._fits, others=others)
            made = making(self.body.plan.clause, trigger, self.key, self.table, fits)
            trigger.table.parts.append(made)

    def _source(self, leaf: Leaf) -> Source:
        relation, terms = leaf.relation, leaf.terms
        if relation.kind == "simple" and leaf.wanted is not None:
            relation = by_value(relation, self.rules)
            terms = (*terms, Var(leaf.wanted))
        return Source(relation.table, terms)

    def _values(self, name: str) -> Source:
        assert self.known is not None
        return Source(self.known.of(name).table, (Var(name),))

    def _fits(self, body: Body, fail: Label, others: Sequence[Source]) -> Label:
        """Find the other rows that there have to be, and ask what conditions on facts say."""
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
        return fail

    def _rows_of(self, body: Body, source: Source, fail: Label) -> Label:
        """All rows of a table that there are, and that fit what is known."""
        if all(map(body.is_bound, source.terms)):
            self.rules.layout.looks_up(body.home, source.table, source.terms)
            keys = [body.load(term, fail) for term in source.terms]
            place = body.code.list([len(keys), *keys])
            body.code.emit("HAS", place, source.table.number, fail=fail)
            return fail
        return body.each_row(source.table, source.terms, -1, fail)[1]


# --- the lists of a fluent ------------------------------------------------------------------------


class Lists:
    """Lowers the interval lists of one fluent and value.

    `stated` are columns beside the list with intervals that other rules state.
    """

    def __init__(
        self,
        rules: Rules,
        relation: Relation,
        plans: list[StaticPlan],
        stated: list[Relation],
    ) -> None:
        self.rules, self.relation, self.plans, self.stated = rules, relation, plans, stated
        self.word = ANY if relation.value is None else rules.words.word(relation.value)

    def lower(self) -> None:
        """Fill the column of the list, with columns before it for its parts."""
        relation = self.relation
        head = slice(None if relation.keyed else -1)
        bodies = [
            body for plan in self.plans for body in bodies_of(self.rules, plan, plan.terms[head])
        ]
        if relation.keyed:
            self._computed(bodies)
            return
        direct: list[ListBody] = []
        others: list[ListBody] = []
        for body in bodies:
            makers = self._makers(body)
            (others if makers is None else direct).append(body)
            for leaf in makers or ():
                source = Source(leaf.relation.table, leaf.terms)
                made = making(body.plan.clause, source, body.plan.terms[:-1], relation.table)
                source.table.parts.append(made)
        begun = self._begun()
        alone = begun is None and not self.stated
        if alone and not others and len(direct) == 1 and not self._moves(direct[0]):
            self._settle(direct[0], relation, self.word)
        elif alone and not direct:
            covering(relation, self.word, self.rules)
            self._rows(others, relation)
        else:
            self._union(direct, others, begun)

    def _computed(self, bodies: list[ListBody]) -> None:
        """Values that rules compute have rows of their own, and so do those that rules begin."""
        relation, rules = self.relation, self.rules
        covering(relation, ANY, rules)
        self._rows(bodies, relation)
        for column in self.stated:
            self._feed(column)
        known = rules.layout.fluents[relation.key]
        simple = next((one for one in known if one.kind == "simple"), None)
        if simple is None or simple.masked:
            return
        simple.masked.add(ANY)
        self._feed(by_value(simple, rules))

    def _feed(self, source: Relation) -> None:
        """The spans of a column with the same key count in the list."""
        key = tuple(Var(f"#{at}") for at in self.relation.keys)
        source.table.parts += keyed(key, [feeding(self.rules, source, self.relation, key)])

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
        self, direct: list[ListBody], others: list[ListBody], begun: Relation | None
    ) -> None:
        key = tuple(Var(f"#{at}") for at in range(len(self.relation.keys)))
        table = ListTable(self.rules, self.relation.table, key, self.relation.level)
        found: list[Expression] = [] if begun is None else [Leaf(begun, key, self.word)]
        found += [Leaf(column, key, 1) for column in self.stated]
        for body in direct:
            if body.static:
                column = table.hidden()
                self._settle(body, column, 1)
                found.append(Leaf(column, key, 1))
            else:
                head = [term.name for term in body.plan.terms[:-1] if isinstance(term, Var)]
                found.append(renamed(body.expression, dict(zip(head, key, strict=True))))
        if others:
            column = table.hidden()
            covering(column, 1, self.rules)
            self._rows(others, column)
            found.append(Leaf(column, key, 1))
        table.settle(any_of(tuple(found)), self.relation, self.word)
        table.add()

    def _rows(self, bodies: list[ListBody], target: Relation) -> None:
        """The rows of bodies, from all that the groundings of a rule list on."""
        known = {id(one.plan): Known(self.rules, one.plan, target.level) for one in bodies}
        for body in bodies:
            head = body.plan.terms if target.keyed else body.plan.terms[:-1]
            for listing in self._listings(body, head):
                whole = copy(body)
                whole.steps = [*([] if listing is None else [listing]), *body.steps]
                RuleRows(self.rules, whole, head, target, known[id(body.plan)])

    def _listings(self, body: ListBody, head: Sequence[Term]) -> list[op.FactJoin | None]:
        """What is known of a head before the body: all that its groundings list, or nothing."""
        asked = (
            names(*(t for leaf in one for t in leaf.terms)) for one in supports(body.expression)
        )
        if not asks_of_others(body) and all(names(*head) <= one for one in asked):
            return [None]
        return self.rules.facts.of_list(body.plan)

    def _settle(self, body: ListBody, column: Relation, value: int) -> None:
        """A column for one body; it is empty for instances that do not meet its conditions."""
        head = body.plan.terms[:-1]
        table = ListTable(self.rules, self.relation.table, head, self.relation.level)
        table.settle(body.expression, column, value)
        if body.static:
            table.bar(column, body.static)
        table.add()

    def _makers(self, body: ListBody) -> list[Leaf] | None:
        """Fluents whose instances make those of the list; None if it is not so simple."""
        head, expression, mine = body.plan.terms[:-1], body.expression, self.relation.table
        if len(set(head)) < len(head) or not all(isinstance(term, Var) for term in head):
            return None
        spoken = names_in(expression).union(*(names(*terms) for terms in body.read.values()))
        if not spoken <= names(*head):
            return None
        if any(not isinstance(one, Leaf) or one.wanted is not None for one in atoms(expression)):
            return None
        if asks_of_others(body):
            return None
        found: list[Leaf] = []
        for support in supports(expression):
            if any(leaf.relation.table is mine and leaf.terms == head for leaf in support):
                continue
            naming = [leaf for leaf in support if names(*leaf.terms) == names(*head)]
            if not naming:
                return None
            found.append(next((leaf for leaf in naming if leaf in found), naming[0]))
        return found


# --- lists that rules state -----------------------------------------------------------------------


def stated_column(relation: Relation) -> Relation:
    """A column beside a list, for the intervals that rules state of it."""
    keys = tuple(range(relation.table.width))
    found = Relation("static", ("", len(keys)), keys, level=relation.level, shown=False)
    found.fields |= {"C_KIND": KIND["STATED"], "C_INPUT": 1, "C_FEEDS": 1}
    return relation.table.add(found)


@dataclass(frozen=True, eq=False)
class StatedRule:
    """A rule whose intervals are stated in a column."""

    plan: StaticPlan
    column: Relation
    known: Known

    def state(self, body: Body, chain: op.Chain, fail: Label) -> None:
        """The code of the conditions, and of what they state."""
        plan, code = self.plan, body.code
        body.known = self.known.of
        if isinstance(plan.rule, ec.HoldsAtRule):
            start, end, again = self._formula(body, plan.rule, chain, fail)
        else:
            again = body.chain(chain, fail)
            start, end, again = body.each_interval(Pieces(plan.result), again)
        head = plan.terms if self.column.table.width > plan.key[1] else plan.terms[:-1]
        for name in sorted(names(*head) - body.env.keys()):
            raise body.refuse(f"nothing gives a value to {name}")
        line, again = body.line(self.column, head, None, again)
        code.emit("INTERVAL", line, start, end)
        code.emit("JMP", fail=again)

    def _formula(
        self, body: Body, rule: ec.HoldsAtRule, chain: op.Chain, fail: Label
    ) -> tuple[int, int, Label]:
        """It is true or not from one change of what it looks at to the next."""
        cuts, fail = body.between_cuts([*_readings(chain, body.rules)], fail)
        body.env[CUTS.name] = cuts
        start, end, fail = body.each_interval(Pieces(CUTS, apart=True), fail)
        body.match(rule.time, start, fail)
        for name in sorted(names(*self.plan.terms) - chain.bound - body.env.keys()):
            fail = body.each_known(name, fail)
        first = body.code.constant(2 * body.rules.first + 1)

        def at_start(fail: Label) -> Label:
            body.code.emit("CLT", start, first, fail=fail)
            body.nothing_absent = True
            again = body.chain(chain, fail)
            body.nothing_absent = False
            return again

        def later(fail: Label) -> Label:
            body.code.emit("CLE", first, start, fail=fail)
            return body.chain(chain, fail)

        wanted = names(*self.plan.terms) - body.env.keys()
        return start, end, body.either([at_start, later], wanted, fail)


def _readings(chain: op.Chain, rules: Rules) -> Iterator[op.Stab]:
    """All conditions about what holds, those inside procedures included."""
    waiting, seen = [chain], set()
    while waiting:
        for step in op.walk(waiting.pop()):
            if isinstance(step, op.Stab):
                yield step
            elif isinstance(step, op.Procedure) and (step.key, step.bound) not in seen:
                seen.add((step.key, step.bound))
                branches = rules.plan.procedures.branches[step.key, step.bound]
                waiting += [branch.body for branch in branches]
