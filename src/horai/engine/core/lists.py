"""Interval lists: an expression over other lists becomes truth tables and filters, line by line.

Unions, intersections and complements are one truth table over up to six lists; a filter by duration
is a line of its own. A list looks at lines of its own row, or at lines of others that are linked
when the row is made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import assert_never

from horai.engine.core.layout import NotLowered, Relation, Site
from horai.engine.core.rules import Body, Rules, is_temporal
from horai.lang.core.terms import Int, ListTerm, Term, Var, is_ground
from horai.lang.ec import syntax as ec
from horai.plan import operators as op
from horai.plan.ec.literals import names
from horai.plan.program import StaticPlan

MOST = 6  # lists in one truth table
SIGNS = {">": 0, ">=": 1, "<": 2, "=<": 3}


@dataclass(frozen=True)
class Leaf:
    """The intervals of a fluent and value; `terms` are the key of its instance."""

    relation: Relation
    terms: tuple[Term, ...]
    value: int


@dataclass(frozen=True)
class Combined:
    """A Boolean combination of lists: `all`, `any`, or `not` of one part."""

    sign: str
    parts: tuple[Expression, ...]


@dataclass(frozen=True)
class Filtered:
    """The intervals of a list that last as long as a bound says."""

    part: Expression
    sign: str
    bound: int


Expression = Leaf | Combined | Filtered


def leaves(expression: Expression) -> list[Expression]:
    """What a truth table has to look at: fluents and filters, each once."""
    found: list[Expression] = []
    if isinstance(expression, Combined):
        for part in expression.parts:
            found += [one for one in leaves(part) if one not in found]
        return found
    return [expression]


def truth(expression: Expression, values: dict[Expression, bool]) -> bool:
    """The truth of an expression where some lists hold and others do not."""
    if isinstance(expression, Combined):
        parts = [truth(part, values) for part in expression.parts]
        if expression.sign == "not":
            return not parts[0]
        return all(parts) if expression.sign == "all" else any(parts)
    return values[expression]


def table_of(expression: Expression, over: list[Expression]) -> int:
    """The truth table: bit n is the truth in state n."""
    bits = 0
    for state in range(1 << len(over)):
        values = {one: bool(state >> place & 1) for place, one in enumerate(over)}
        if truth(expression, values):
            bits |= 1 << state
    return bits - (1 << 64) if bits >= 1 << 63 else bits


class Lists:
    """Lowers the interval lists of one fluent and value."""

    def __init__(self, rules: Rules, relation: Relation, plans: list[StaticPlan]) -> None:
        self.rules, self.relation, self.plans = rules, relation, plans
        self.layout, self.words = rules.layout, rules.words
        self.clause = plans[0].clause
        self.head = plans[0].terms[:-1]
        self.parts: list[Callable[[Body], None]] = []
        """What the program of a new row has to do for the list."""
        self._asked: list[list[op.Operator]] = []
        self._placed: dict[Expression, Relation] = {}
        self._refs: dict[Leaf, int] = {}

    def refuse(self, reason: str) -> NotLowered:
        """An error that says what has no instructions."""
        return NotLowered(reason, self.clause)

    def lower(self) -> None:
        """Fill the column of the list, with columns before it for its parts."""
        expressions = [self._expression(plan) for plan in self.plans]
        self._existence(Combined("any", tuple(expressions)))
        for place, (expression, steps) in enumerate(zip(expressions, self._asked, strict=True)):
            if steps and len(expressions) == 1:
                self._bar(self.relation, steps)
            elif steps:
                hidden = self._column(expression)
                self._bar(hidden, steps)
                expressions[place] = Leaf(hidden, self.head, 1)
        whole = expressions[0] if len(expressions) == 1 else Combined("any", tuple(expressions))
        self._settle(whole, self.relation, self.words.word(self._value()))

    def _value(self) -> Term:
        assert self.relation.value is not None
        return self.relation.value

    # --- from rules to expressions ---------------------------------------------------------------

    def _expression(self, plan: StaticPlan) -> Expression:
        self.clause = plan.clause
        if plan.domain:
            raise self.refuse("an interval list for all instances of a grounding")
        *args, _ = plan.terms
        if not all(isinstance(arg, Var) for arg in args) or len(set(args)) != len(args):
            raise self.refuse("an interval list of instances with a fixed argument")
        renamed = {
            mine.name: first
            for mine, first in zip(args, self.head, strict=True)
            if isinstance(mine, Var)
        }
        known: dict[str, Expression] = {}
        fixed: dict[str, Term] = {}
        asked: list[op.Operator] = []
        self._asked.append(asked)
        heads = names(*args)
        if isinstance(plan.rule, ec.HoldsAtRule):
            return self._formula(plan.chain, plan.rule.time, renamed, asked)
        for step in plan.chain.steps:
            match step:
                case op.Lookup(key=key, terms=terms, result=Var(name=name)):
                    known[name] = self._leaf(key, terms, renamed, fixed, step)
                case op.SpanOperation(literal=literal):
                    self._operation(literal, known, fixed)
                case op.FactJoin() if self._is_constant(step, heads):
                    fixed |= self._constants(step, fixed)
                case _ if not is_temporal(step, self.rules.plan):
                    asked.append(_renamed(step, renamed, self.clause))
                case _:
                    raise self.refuse(f"a condition of an interval list: `{_text(step)}`")
        assert isinstance(plan.rule, ec.HoldsForRule)
        if not isinstance(plan.result, Var) or plan.result.name not in known:
            raise self.refuse("a list written out")
        return known[plan.result.name]

    def _formula(
        self,
        chain: op.Chain,
        time: Term,
        renamed: dict[str, Term],
        asked: list[op.Operator] | None,
    ) -> Expression:
        """When all conditions of a formula hold; conditions on facts only at its top."""
        parts: list[Expression] = []
        for step in chain.steps:
            match step:
                case op.Stab(key=key, terms=terms, time=at) if at == time:
                    parts.append(self._leaf(key, terms, renamed, {}, step))
                case op.AntiJoin(body=body) if is_temporal(step, self.rules.plan):
                    if any(stratum.initially for stratum in self.rules.plan.strata):
                        raise self.refuse("a negation in a formula, beside initial values")
                    parts.append(Combined("not", (self._formula(body, time, renamed, None),)))
                case op.Union(branches=branches) if is_temporal(step, self.rules.plan):
                    every = [self._formula(one, time, renamed, None) for one in branches]
                    parts.append(Combined("any", tuple(every)))
                case _ if asked is not None and not is_temporal(step, self.rules.plan):
                    asked.append(_renamed(step, renamed, self.clause))
                case _:
                    raise self.refuse(f"a condition of a formula: `{_text(step)}`")
        return parts[0] if len(parts) == 1 else Combined("all", tuple(parts))

    def _is_constant(self, step: op.FactJoin, heads: frozenset[str]) -> bool:
        return not is_temporal(step, self.rules.plan) and not names(step.term) & heads

    def _bar(self, column: Relation, steps: list[op.Operator]) -> None:
        """The list is empty for instances that do not meet conditions on facts."""
        self.parts.append(partial(_check, column=column, steps=steps))

    def _constants(self, step: op.FactJoin, fixed: dict[str, Term]) -> dict[str, Term]:
        """What facts say that do not depend on the instance."""
        terms = [fixed.get(t.name, t) if isinstance(t, Var) else t for t in step.terms]
        rows = self.rules.facts.rows(step.key).tolist()
        found: list[dict[str, Term]] = []
        for row in rows:
            new: dict[str, Term] = {}
            for term, word in zip(terms, row, strict=True):
                value = self.words.term(word)
                if isinstance(term, Var):
                    if new.setdefault(term.name, value) != value:
                        break
                elif term != value:
                    break
            else:
                found.append(new)
        if len(found) != 1:
            raise self.refuse(f"facts about the instance of an interval list: `{_text(step)}`")
        return found[0]

    def _leaf(
        self,
        key: tuple[str, int],
        terms: tuple[Term, ...],
        renamed: dict[str, Term],
        fixed: dict[str, Term],
        step: op.Operator,
    ) -> Expression:
        def plain(term: Term) -> Term:
            if isinstance(term, Var):
                return renamed.get(term.name, fixed.get(term.name, term))
            if not is_ground(term):
                raise self.refuse(f"a term with variables: `{_text(step)}`")
            return term

        found = tuple(map(plain, terms))
        value = found[-1]
        if not is_ground(value):
            raise self.refuse(f"the intervals of all values: `{_text(step)}`")
        if not names(*found) <= names(*self.head):
            raise self.refuse(f"variables that the head lacks: `{_text(step)}`")
        relations = self.layout.fluent(key)
        static = [one for one in relations if one.kind == "static" and one.value == value]
        others = [one for one in relations if one.kind != "static"]
        both: list[Expression] = []
        for one in (*static, *others):
            keys = tuple(found[at] for at in one.keys)
            both.append(Leaf(one, keys, self.words.word(value)))
        if not both:
            return Combined("any", ())
        return both[0] if len(both) == 1 else Combined("any", tuple(both))

    def _operation(
        self, literal: ec.Literal, known: dict[str, Expression], fixed: dict[str, Term]
    ) -> None:
        def given(term: Term) -> Expression:
            if isinstance(term, Var) and term.name in known:
                return known[term.name]
            if isinstance(term, ListTerm) and not term.items and term.tail is None:
                return Combined("any", ())
            raise self.refuse("an interval list written out")

        match literal:
            case ec.IntervalOp(kind=kind, base=base, lists=ListTerm(items=items, tail=None)):
                parts = tuple(map(given, items))
                found: Expression
                match kind:
                    case "union_all":
                        found = Combined("any", parts)
                    case "intersect_all":
                        if not parts:
                            raise self.refuse("an intersection of nothing")
                        found = Combined("all", parts)
                    case "complement_all":
                        found = Combined("not", (Combined("any", parts),))
                    case "relative_complement_all":
                        assert base is not None
                        rest = Combined("not", (Combined("any", parts),))
                        found = Combined("all", (given(base), rest))
                    case _:
                        assert_never(kind)
            case ec.DurationFilter(op=sign, intervals=intervals, bound=bound, open_counts=counts):
                if isinstance(bound, Var) and bound.name in fixed:
                    bound = fixed[bound.name]
                if not isinstance(bound, Int):
                    raise self.refuse("a duration that is no constant whole number")
                if not counts:
                    raise self.refuse("a duration that open intervals never have")
                found = Filtered(given(intervals), sign, bound.value)
            case ec.Allen(relation=relation):
                raise self.refuse(f"the relation of intervals `{relation}`")
            case _:
                raise self.refuse("a list of interval lists that is a variable")
        if not isinstance(literal.result, Var):
            raise self.refuse("a list written out")
        known[literal.result.name] = found

    # --- from expressions to columns -------------------------------------------------------------

    def _column(self, expression: Expression) -> Relation:
        """A hidden column for a part of the list."""
        if expression not in self._placed:
            hidden = Relation(
                "static",
                self.relation.key,
                self.relation.keys,
                level=self.relation.level,
                shown=False,
            )
            self.relation.table.add(hidden)
            self._placed[expression] = hidden
            self._settle(expression, hidden, 1)
        return self._placed[expression]

    def _settle(self, expression: Expression, column: Relation, value: int) -> None:
        if isinstance(expression, Filtered):
            source = expression.part
            how = self._operand(source, column)
            place = self.rules.code.list([*how[:2], value, how[2]])
            column.fields |= {
                "C_LIST": place,
                "C_LEAST": expression.bound,
                "C_COMPARE": SIGNS[expression.sign],
            }
            column.fields["C_KIND"] = 4
            return
        over = leaves(expression)
        while len(over) > MOST:
            expression = self._smaller(expression)
            over = leaves(expression)
        bits = table_of(expression, over)
        words = [len(over), bits, value]
        for one in over:
            words += self._operand(one, column)
        column.fields["C_LIST"] = self.rules.code.list(words)

    def _smaller(self, expression: Expression) -> Expression:
        """The same with a part that has a column of its own."""
        assert isinstance(expression, Combined)
        parts = list(expression.parts)
        for place, part in enumerate(parts):
            if len(leaves(part)) > MOST:
                parts[place] = self._smaller(part)
                return Combined(expression.sign, tuple(parts))
        if len(parts) > 2 or (len(parts) == 2 and not isinstance(parts[1], Combined)):
            half = max(len(parts) // 2, 1)
            some = Combined(expression.sign, tuple(parts[:half]))
            return Combined(expression.sign, (self._leaf_of(some), *parts[half:]))
        parts[-1] = self._leaf_of(parts[-1])
        return Combined(expression.sign, tuple(parts))

    def _leaf_of(self, expression: Expression) -> Expression:
        if isinstance(expression, Leaf):
            return expression
        return Leaf(self._column(expression), self.head, 1)

    def _operand(self, expression: Expression, column: Relation) -> list[int]:
        """How the machine finds the line: (1, how far) or (2, which of others), and the value."""
        if not isinstance(expression, Leaf):
            expression = Leaf(self._column(expression), self.head, 1)
        relation, table = expression.relation, self.relation.table
        site = Site(relation, expression.value, True, column.level, driver=column)
        if relation.table is table and expression.terms == self.head:
            apart = column.place - relation.place
            relation.readers.append((apart, self.layout.site(site)))
            return [1, -apart, expression.value]
        site.shift = column.place
        number = self.layout.site(site)
        if expression not in self._refs:
            self._refs[expression] = table.width + table.refs
            table.refs += 1
        place = self._refs[expression]
        self.parts.append(lambda body: _refer(body, expression, number, place))
        self.parts.append(lambda body: body.code.emit("WAKE", column.place))
        return [2, place, expression.value]

    # --- which rows there must be ----------------------------------------------------------------

    def _existence(self, whole: Expression) -> None:
        """Rows of others make the row of a list that may not be empty although its own are."""
        over = _fluents(whole)
        values = dict.fromkeys(over, False)
        if _possible(whole, values):
            raise self.refuse("a list that holds where nothing is known: a complement")
        table = self.relation.table
        own = {one for one in over if one.relation.table is table and one.terms == self.head}
        foreign = [one for one in over if one not in own]
        free = dict.fromkeys(over, True) | dict.fromkeys(own, False)
        if not _possible(whole, free):
            return
        for one in foreign:
            same = [
                o for o in foreign if (o.relation.table, o.terms) == (one.relation.table, one.terms)
            ]
            rest = dict.fromkeys(over, True) | dict.fromkeys([*own, *same], False)
            if not _possible(whole, rest) and self._makes(one):
                return
        if all(self._makes(one) for one in foreign):
            return
        raise self.refuse("an interval list whose instances no single condition names")

    def _makes(self, leaf: Leaf) -> bool:
        """Let every instance of a fluent make the instance of the list it belongs to."""
        if names(*leaf.terms) != names(*self.head):
            return False
        makers = self.rules.makers.setdefault(leaf.relation.table.number, [])
        makers.append((leaf.terms, self.head, self.relation.table.number))
        return True


def _refer(body: Body, leaf: Leaf, site: int, place: int) -> None:
    fail = body.code.label()
    keys = [body.load(term, fail) for term in leaf.terms]
    found = body.register()
    spot = body.code.list([len(keys), *keys])
    line = leaf.relation.table.number * 4096 + leaf.relation.place
    body.code.emit("LINE", found, spot, line, site)
    body.code.emit("REF", place, found)
    body.code.here(fail)


def _check(body: Body, column: Relation, steps: list[op.Operator]) -> None:
    no, done = body.code.label(), body.code.label()
    wanted = names(*(step.term for step in steps))
    fail = no
    for step in steps:
        fail = body.step(step, wanted, fail)
    body.code.emit("JMP", fail=done)
    body.code.here(no)
    body.code.emit("BAR", column.place)
    body.code.here(done)


def _renamed(step: op.Operator, renamed: dict[str, Term], clause: ec.Clause) -> op.Operator:
    """The condition with the variables of the first rule of the list."""
    if all(term == Var(name) for name, term in renamed.items()):
        return step
    raise NotLowered("facts about the instance in one of several rules for a list", clause)


def _fluents(expression: Expression) -> list[Leaf]:
    if isinstance(expression, Leaf):
        return [expression]
    parts = expression.parts if isinstance(expression, Combined) else (expression.part,)
    found: list[Leaf] = []
    for part in parts:
        found += [one for one in _fluents(part) if one not in found]
    return found


def _possible(expression: Expression, may: dict[Leaf, bool]) -> bool:
    """May the list hold somewhere, if only some fluents ever hold?"""
    return _can(expression, may, True)


def _can(expression: Expression, may: dict[Leaf, bool], be: bool) -> bool:
    match expression:
        case Leaf():
            return may[expression] if be else True
        case Filtered(part=part):
            return _can(part, may, True) if be else True
        case Combined(sign="not", parts=(part,)):
            return _can(part, may, not be)
        case Combined(sign=sign, parts=parts):
            every = all if (sign == "all") == be else any
            return every(_can(part, may, be) for part in parts)


def _text(step: op.Operator) -> str:
    from horai.lang.core.printer import show

    return show(step.term)
