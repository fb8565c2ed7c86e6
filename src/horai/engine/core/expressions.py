"""Interval lists as expressions over other lists: what they look at, and where they may hold.

The body of a rule is an expression, and conditions on facts. Disjunctions become alternatives, each
a body of its own; what a negation or a disjunction inside asks of facts becomes part of the
expression.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import ceil, floor
from typing import Literal as OneOf

from horai.engine.core.facts import looks_at_time
from horai.engine.core.layout import NotLowered, Relation
from horai.engine.core.rules import Rules
from horai.lang.core.printer import show
from horai.lang.core.terms import (
    Compound,
    Float,
    Int,
    ListTerm,
    Term,
    Var,
    is_ground,
    substitute,
)
from horai.lang.ec import syntax as ec
from horai.lang.ec.operators import ALL, ANY, Gather
from horai.plan import operators as op
from horai.plan.ec.literals import names
from horai.plan.ec.unify import may_match
from horai.plan.program import Plan, StaticPlan

MANY = 64  # alternatives of a rule
Names = frozenset[str]
Steps = tuple[op.Operator, ...]


@dataclass(frozen=True)
class Leaf:
    """The intervals of a fluent and value; `terms` are the key of its instance.

    The value is a word, or `wanted` names the variable that has it.
    """

    relation: Relation
    terms: tuple[Term, ...]
    value: int = 0
    wanted: str | None = None


@dataclass(frozen=True)
class Tested:
    """All of the time, for instances that meet conditions on facts.

    `shared` are the variables that others speak of, too; all of them if it is None.
    """

    steps: tuple[op.Operator, ...]
    shared: frozenset[str] | None = None


@dataclass(frozen=True)
class Some:
    """When one of some chains has a solution; they have variables of their own."""

    chains: tuple[tuple[op.Operator, ...], ...]
    shared: frozenset[str]


@dataclass(frozen=True)
class Combined:
    """A Boolean combination of lists: `all`, `any`, `not` or `absent` of one part.

    What is absent is known from the first time-point after the start on. Whatever else operators
    make of several lists is `gathered`.
    """

    sign: OneOf["all", "any", "not", "absent", "gathered"]
    parts: tuple[Expression, ...]
    gather: Gather | None = None


@dataclass(frozen=True)
class Filtered:
    """The intervals of a list that last as long as a bound says, a number or a variable."""

    part: Expression
    sign: str
    bound: int | str
    open_counts: bool = True


@dataclass(frozen=True)
class Related:
    """What a mode makes of all pairs of intervals in a relation."""

    relation: str
    source: Expression
    target: Expression
    mode: str


Expression = Leaf | Tested | Some | Combined | Filtered | Related
NOTHING = Combined("any", ())


def all_of(parts: Iterable[Expression]) -> Expression:
    """Where all parts hold."""
    found = tuple(parts)
    return found[0] if len(found) == 1 else Combined("all", found)


def any_of(parts: Iterable[Expression]) -> Expression:
    """Where some part holds."""
    found = tuple(parts)
    return found[0] if len(found) == 1 else Combined("any", found)


def gathered(gather: Gather, parts: tuple[Expression, ...]) -> Expression:
    """What an operator gathers of some lists; without any, nothing."""
    if not parts or gather is ANY:
        return any_of(parts)
    return all_of(parts) if gather is ALL else Combined("gathered", parts, gather)


def parts_of(expression: Expression) -> tuple[Expression, ...]:
    """The expressions directly inside another one."""
    match expression:
        case Combined(parts=parts):
            return parts
        case Filtered(part=part):
            return (part,)
        case Related(source=source, target=target):
            return source, target
        case _:
            return ()


def operands(expression: Expression) -> list[Expression]:
    """What a truth table has to look at: fluents and whatever is no Boolean combination."""
    found: list[Expression] = []
    if isinstance(expression, Combined):
        for part in expression.parts:
            found += [one for one in operands(part) if one not in found]
        return found
    return [expression]


def atoms(expression: Expression) -> list[Expression]:
    """The fluents, tests and chains of an expression, each once."""
    parts = parts_of(expression)
    if not parts and not isinstance(expression, Combined):
        return [expression]
    found: list[Expression] = []
    for part in parts:
        found += [one for one in atoms(part) if one not in found]
    return found


def names_in(expression: Expression) -> frozenset[str]:
    """The variables of an expression, those inside chains left out."""
    match expression:
        case Leaf(terms=terms, wanted=wanted):
            return names(*terms) | ({wanted} if wanted is not None else set())
        case Tested(shared=frozenset() as shared):
            return shared
        case Tested(steps=steps):
            return names(*(step.term for step in steps))
        case Some(shared=shared):
            return shared
        case Filtered(part=part, bound=bound):
            return names_in(part) | ({bound} if isinstance(bound, str) else set())
        case _:
            return frozenset().union(*map(names_in, parts_of(expression)))


def renamed(expression: Expression, by: Mapping[str, Var]) -> Expression:
    """The same with other variables; for expressions over nothing but fluents."""
    match expression:
        case Leaf(relation=relation, terms=terms, value=value):
            return Leaf(relation, tuple(substitute(term, by) for term in terms), value)
        case Combined(parts=parts):
            return replace(expression, parts=tuple(renamed(part, by) for part in parts))
        case Filtered(part=part):
            return replace(expression, part=renamed(part, by))
        case Related(source=source, target=target):
            return replace(expression, source=renamed(source, by), target=renamed(target, by))
        case _:
            raise TypeError(expression)


def truth(expression: Expression, values: dict[Expression, bool], started: bool) -> bool:
    """The truth of an expression where some lists hold and others do not."""
    match expression:
        case Combined(sign="not", parts=(part,)):
            return not truth(part, values, started)
        case Combined(sign="absent", parts=(part,)):
            return started and not truth(part, values, started)
        case Combined(parts=parts, gather=Gather() as gather):
            return gather.truth([truth(part, values, started) for part in parts])
        case Combined(sign=sign, parts=parts):
            every = all if sign == "all" else any
            return every(truth(part, values, started) for part in parts)
        case _:
            return values[expression]


def table_of(expression: Expression, over: list[Expression], started: bool) -> int:
    """The truth table: bit n is the truth in state n."""
    bits = 0
    for state in range(1 << len(over)):
        values = {one: bool(state >> place & 1) for place, one in enumerate(over)}
        if truth(expression, values, started):
            bits |= 1 << state
    return bits - (1 << 64) if bits >= 1 << 63 else bits


def possible(expression: Expression, may: dict[Expression, bool], be: bool = True) -> bool:
    """May an expression hold somewhere (or not hold), if only some of its atoms ever do?"""
    match expression:
        case Filtered(part=part):
            return possible(part, may) if be else True
        case Related(source=source, target=target):
            return (possible(source, may) and possible(target, may)) if be else True
        case Combined(sign="not" | "absent", parts=(part,)):
            return possible(part, may, not be)
        case Combined(parts=parts, gather=Gather(needed=needed)):
            some = (possible(part, may) for part in parts)
            return not be or (all(some) if needed == "each" else any(some))
        case Combined(sign=sign, parts=parts):
            every = all if (sign == "all") == be else any
            return every(possible(part, may, be) for part in parts)
        case _:
            return may[expression] if be else True


Support = tuple[Leaf, ...]  # in the order of the expression, so that programs are always the same
MOST = 16  # supports beyond which all instances are looked at


def supports(expression: Expression) -> list[Support]:
    """Sets of fluents of which one must hold somewhere for the expression to hold anywhere."""
    match expression:
        case Leaf():
            return [(expression,)]
        case Filtered(part=part):
            return supports(part)
        case Related(source=source, target=target):
            return _together([supports(source), supports(target)])
        case Combined(parts=parts, gather=Gather(needed="one")):
            return _few([one for part in parts for one in supports(part)])
        case Combined(sign="all" | "gathered", parts=parts) if parts:
            return _together([supports(part) for part in parts])
        case Combined(sign="any", parts=parts):
            return _few([one for part in parts for one in supports(part)])
        case _:
            return [()]


def _together(parts: list[list[Support]]) -> list[Support]:
    found: list[Support] = [()]
    for part in parts:
        found = _few([tuple(dict.fromkeys(one + other)) for one, other in product(found, part)])
    return found


def _few(found: list[Support]) -> list[Support]:
    different: dict[frozenset[Leaf], Support] = {}
    for support in found:
        different.setdefault(frozenset(support), support)
    smallest = [
        one for key, one in different.items() if not any(other < key for other in different)
    ]
    return smallest if len(smallest) <= MOST else [()]


# --- bodies of rules ------------------------------------------------------------------------------


def time_of(plan: StaticPlan) -> Term | None:
    """The time of a formula; a rule for whole lists has none."""
    return plan.rule.time if isinstance(plan.rule, ec.HoldsAtRule) else None


def bodies_of(rules: Rules, plan: StaticPlan, head: Sequence[Term]) -> list[ListBody]:
    """The ways to satisfy the body of a rule."""
    ways = alternatives(plan.chain.steps, rules.plan, plan)
    return [ListBody(rules, plan, steps, head) for steps in ways]


def alternatives(steps: Sequence[op.Operator], plan: Plan, rule: StaticPlan) -> list[Steps]:
    """The ways to satisfy a body. Formulas keep disjunctions that give no variable a value."""
    time = time_of(rule)
    options: list[list[Steps]] = []
    for place, step in enumerate(steps):
        if not looks_at_time(step, plan):
            options.append([(step,)])
            continue
        match step:
            case op.Union(branches=(branch,)):
                options.append(alternatives(branch.steps, plan, rule))
            case op.Union(branches=branches):
                others = [one for at, one in enumerate(steps) if at != place]
                if time is not None and all_names(step) - names(time) <= _bound(others):
                    options.append([(step,)])
                    continue
                each = (alternatives(branch.steps, plan, rule) for branch in branches)
                options.append([one for some in each for one in some])
            case op.Lookup() | op.Stab():
                options.append(_by_value(step, plan))
            case _:
                options.append([(step,)])
    choices = list(product(*options))
    if len(choices) > MANY:
        raise NotLowered("a rule with very many alternatives", rule.clause)
    return [tuple(step for part in choice for step in part) for choice in choices]


def _by_value(step: op.Lookup | op.Stab, plan: Plan) -> list[Steps]:
    """A condition on any value: on each that a list defines, and on all others."""
    value = step.terms[-1]
    if is_ground(value) or step.key in plan.computed:
        return [(step,)]
    defined = dict.fromkeys(
        one.terms[-1]
        for stratum in plan.strata
        for one in stratum.static
        if one.key == step.key and may_match(value, one.terms[-1])
    )
    found: list[Steps] = [(step,)]
    for one in defined:
        equal = op.equal(value, one)
        sign = ec.Compare("\\==", value, one, Compound("\\==", (value, one)))
        found[0] = (*found[0], op.Filter(sign, sign.term))
        terms = (*step.terms[:-1], one)
        if isinstance(step, op.Lookup):
            # It does not choose a value: that has to be known.
            found.append((op.Lookup(step.key, terms, step.result, step.term), equal))
        else:
            found.append((equal, op.Stab(step.key, terms, step.time, step.term)))
    return found


def all_names(step: op.Operator) -> Names:
    """The variables of an operator and of all inside it."""
    found = names(step.term)
    for chain in op.inside(step):
        for one in chain.steps:
            found |= all_names(one)
    return found


def _bound(steps: Sequence[op.Operator]) -> Names:
    """The variables that some conditions give a value."""
    plain = (step for step in steps if not isinstance(step, op.Union))
    return frozenset[str]().union(*map(op.binds, plain))


class ListBody:
    """One way to satisfy the body of a rule, or of something inside a formula about a `head`.

    `steps` are its conditions on facts and what it reads, in an order that can be evaluated.
    """

    def __init__(self, rules: Rules, plan: StaticPlan, steps: Steps, head: Sequence[Term]) -> None:
        self.rules, self.plan, self.time = rules, plan, time_of(plan)
        self.layout, self.words = rules.layout, rules.words
        self.steps: list[op.Operator] = []
        self.read: dict[int, tuple[Term, ...]] = {}  # by step: what it reads, as it is lowered
        self._fixed: dict[str, Term] = {}
        self._lists: dict[str, Expression] = {}
        self._fresh = 0
        self._constant: list[op.Operator] = []
        self._head_terms = tuple(head)
        self._head = names(*head)
        if self.time is not None:
            self.expression = self._formula(steps)
        else:
            for step in steps:
                self._add(step)
            self._check_terms()
            result = plan.result
            if not isinstance(result, Var) or result.name not in self._lists:
                raise self.refuse("a list written out")
            self.expression = self._lists[result.name]
        self._drop_constants()

    def refuse(self, reason: str) -> NotLowered:
        """An error that says what has no instructions."""
        return NotLowered(reason, self.plan.clause)

    def _drop_constants(self) -> None:
        """Facts that say constants need not be asked again, if no other condition does."""
        asked = names(*self._head_terms)
        for step in self.static:
            if step not in self._constant:
                asked |= all_names(step)
        self.steps = [
            step for step in self.steps if step not in self._constant or all_names(step) & asked
        ]

    @property
    def static(self) -> list[op.Operator]:
        """The conditions on facts."""
        return [step for step in self.steps if id(step) not in self.read]

    # --- conditions of `holdsFor` ----------------------------------------------------------------

    def _add(self, step: op.Operator) -> None:
        match step:
            case op.Lookup(key=key, terms=terms, result=Var(name=name)):
                self._let(name, self._leaf(key, terms, step, self.steps))
                chosen = sorted(names(step.term) - names(*terms) - {name})
                self.read[id(step)] += tuple(map(Var, chosen))
            case op.SpanOperation(literal=literal):
                self._operation(literal)
            case op.FactJoin() if self._constants(step):
                pass
            case _ if not looks_at_time(step, self.rules.plan):
                self.steps.append(step)
            case _:
                raise self.refuse(f"a condition of an interval list: `{show(step.term)}`")

    def _let(self, name: str, found: Expression) -> None:
        """A variable of a list; one that has two values would compare them."""
        if name in self._lists:
            raise self.refuse(f"interval lists that are compared: {name}")
        self._lists[name] = found

    def _check_terms(self) -> None:
        """No list is looked at as a term."""
        asked = names(*self._head_terms, *(t for terms in self.read.values() for t in terms))
        if asked & self._lists.keys():
            raise self.refuse("an interval list as an argument")
        for step in self.static:
            if all_names(step) & self._lists.keys():
                raise self.refuse(f"an interval list as a term: `{show(step.term)}`")

    def _constants(self, step: op.FactJoin) -> bool:
        """Facts that do not depend on the instance and say one thing only."""
        found = self.rules.facts.only(step, self._fixed)
        if found is None or found.keys() & self._head:
            return False
        self._fixed |= {name: self.words.term(word) for name, word in found.items()}
        self.steps.append(step)
        self._constant.append(step)
        return True

    def _operation(self, literal: ec.IntervalOp | ec.DurationFilter | ec.Allen) -> None:
        found: Expression
        match literal:
            case ec.IntervalOp(base=base, lists=ListTerm(items=items, tail=None)):
                operator = literal.operator
                found = gathered(operator.gather, tuple(map(self._given, items)))
                if operator.base == "time":
                    assert operator.takes_away
                    found = Combined("absent", (found,))
                elif operator.takes_away:
                    found = Combined("not", (found,))
                if base is not None:
                    found = Combined("all", (self._given(base), found))
            case ec.DurationFilter(op=sign, intervals=intervals, bound=bound, open_counts=counts):
                found = Filtered(self._given(intervals), sign, self._limit(sign, bound), counts)
            case ec.Allen(relation=relation, source=source, target=target, mode=mode):
                found = Related(relation, self._given(source), self._given(target), mode)
            case _:
                raise self.refuse("a list of interval lists that is a variable")
        if not isinstance(literal.result, Var):
            raise self.refuse("a list written out")
        self._let(literal.result.name, found)

    def _given(self, term: Term) -> Expression:
        if isinstance(term, Var) and term.name in self._lists:
            return self._lists[term.name]
        if isinstance(term, ListTerm) and not term.items and term.tail is None:
            return NOTHING
        raise self.refuse("an interval list written out")

    def _limit(self, sign: str, bound: Term) -> int | str:
        """The bound of a duration: a whole number, or the variable that has it."""
        if isinstance(bound, Var):
            bound = self._fixed.get(bound.name, bound)
        match bound:
            case Int(value=value):
                return value
            case Float(value=value) if abs(value) < 1 << 60:
                # `>` and `=<` change above a whole number, `>=` and `<` at one.
                return floor(value) if sign in (">", "=<") else ceil(value)
            case Var(name=name):
                return name
            case _:
                literal = ec.Is(self._new(), bound, bound)
                self.steps.append(op.Extend(literal, Compound("is", (literal.target, bound))))
                assert isinstance(literal.target, Var)
                return literal.target.name

    def _new(self) -> Var:
        self._fresh += 1
        return Var(f"#new{self._fresh}")

    # --- formulas --------------------------------------------------------------------------------

    def _formula(self, steps: Steps) -> Expression:
        """When all conditions hold; those on facts are the concern of rows."""
        parts: list[Expression] = []
        rest: list[op.Operator] = []
        for step in steps:
            match step:
                case op.FactJoin() if self._constants(step):
                    pass
                case _ if not looks_at_time(step, self.rules.plan):
                    self.steps.append(step)
                case op.Stab():
                    parts.append(self._reading(step, self.steps))
                case _:
                    rest.append(step)
        outer = self._head | _bound(self.steps) | _bound(steps)
        parts += [self._inner(step, outer) for step in rest]
        return all_of(parts)

    def _reading(self, step: op.Stab, steps: list[op.Operator]) -> Expression:
        if step.time != self.time:
            raise self.refuse(f"another time in a formula: `{show(step.term)}`")
        return self._leaf(step.key, step.terms, step, steps)

    def _inner(self, step: op.Operator, outer: Names) -> Expression:
        """A condition that is no reading, over variables that have a value."""
        match step:
            case op.AntiJoin(body=body):
                return Combined("absent", (self._chain(body, outer),))
            case op.Union(branches=branches):
                return any_of(tuple(self._chain(one, outer) for one in branches))
            case _:
                raise self.refuse(f"a condition of a formula: `{show(step.term)}`")

    def _chain(self, chain: op.Chain, outer: Names) -> Expression:
        """When a chain inside has a solution."""
        assert self.time is not None
        every: Names = frozenset().union(*map(all_names, chain.steps))
        if every - names(self.time) <= outer:
            parts: list[Expression] = []
            facts: list[op.Operator] = []
            for step in chain.steps:
                if not looks_at_time(step, self.rules.plan):
                    facts.append(step)
                elif isinstance(step, op.Stab):
                    parts.append(self._reading(step, []))
                else:
                    parts.append(self._inner(step, outer))
            if facts:
                parts.append(Tested(tuple(facts)))
            return all_of(parts)
        found = alternatives(chain.steps, self.rules.plan, self.plan)
        return Some(tuple(found), (every & outer) - names(self.time))

    # --- readings --------------------------------------------------------------------------------

    def _leaf(
        self,
        key: tuple[str, int],
        terms: tuple[Term, ...],
        step: op.Operator,
        steps: list[op.Operator],
    ) -> Expression:
        """A fluent and value; that it is read is one of some steps."""
        found = tuple(
            self._fixed.get(term.name, term) if isinstance(term, Var) else term for term in terms
        )
        value = found[-1]
        steps.append(step)
        self.read[id(step)] = found
        if not is_ground(value) and not isinstance(value, Var):
            # One of a form: the value itself is a variable that has this form.
            whole = self._new()
            self.steps.append(op.equal(whole, value))
            found = (*found[:-1], whole)
        return any_of(tuple(self._leaves(key, found)))

    def _leaves(self, key: tuple[str, int], terms: tuple[Term, ...]) -> list[Leaf]:
        value = terms[-1]
        leaves: list[Leaf] = []
        for relation in self.layout.readable(key, value):
            if relation.value is not None and not is_ground(value):
                continue  # a way of its own, see `_by_value`
            keys = tuple(terms[at] for at in relation.keys)
            if isinstance(value, Var):
                leaves.append(Leaf(relation, keys, wanted=value.name))
            else:
                leaves.append(Leaf(relation, keys, self.words.word(value)))
        return leaves
