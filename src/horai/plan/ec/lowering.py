"""From ordered conditions to chains of operators.

The conditions of a body are in an order that can be evaluated (`modes`); each becomes one operator
that knows whether it joins, tests or computes. What no later operator needs is dropped early.
Limits of times, `T0 < T, T - T0 < 60`, say where to look for T0.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from horai.lang.core.terms import Compound, Constant, Int, Term, Var, args_of, key_of, variables
from horai.lang.ec import syntax as ec
from horai.lang.ec.builtins import BUILTINS
from horai.plan import operators as op
from horai.plan.ec.literal_order import order_body
from horai.plan.ec.literals import Names, names
from horai.plan.ec.modes import ModeTable
from horai.plan.ec.predicates import Predicate
from horai.plan.ec.readings import constraints
from horai.plan.ec.unify import Renamer, substitute_literal
from horai.plan.graphs import Digraph


def with_bounds(chain: op.Chain, bound: Names) -> op.Chain:
    """The chain with the limits that later comparisons set to the times of its scans."""
    known = set(bound)
    steps: list[op.Operator] = []
    for index, step in enumerate(chain.steps):
        if isinstance(step, op.Scan) and isinstance(step.time, Var) and step.time.name not in known:
            found = _limits(step.time.name, chain.steps[index + 1 :], known)
            step = replace(step, bounds=tuple(found))
        steps.append(step)
        known |= op.binds(step)
    return replace(chain, steps=tuple(steps))


def _limits(time: str, later: tuple[op.Operator, ...], known: set[str]) -> list[op.Bound]:
    found: list[op.Bound] = []
    for step in later:
        if not isinstance(step, op.Filter):
            continue
        for x, y, k in constraints(step.literal):
            if x == time and y in known:  # time <= y + k
                found.append(op.Bound(False, _plus(y, k)))
            elif y == time and x in known:  # x <= time + k
                found.append(op.Bound(True, _plus(x, -k)))
    return found


def _plus(name: str, constant: int) -> Term:
    return Compound("+", (Var(name), Int(constant))) if constant else Var(name)


NO_VALUE = Constant("\0")


@dataclass(slots=True)
class Lowering:
    """Makes chains; keeps the clauses of the procedures they call."""

    predicates: dict[op.Key, Predicate]
    table: ModeTable
    procedures: op.Procedures = field(default_factory=op.Procedures)
    _renamer: Renamer = field(default_factory=Renamer)
    _plain: dict[op.Key, bool] = field(default_factory=dict)
    _calls: Digraph[op.Key] = field(init=False)  # between background predicates
    # Inside an aggregate: variables that tell solutions apart, whether or not they have a value.
    _counted: Names = frozenset()

    def __post_init__(self) -> None:
        self._calls = Digraph(
            (key, part.key)
            for key, predicate in self.predicates.items()
            for rule in predicate.rules
            for part in ec.walk(rule.body)
            if isinstance(part, ec.Call)
        )

    def ordered(
        self, body: ec.Conjunction, given: Collection[str] = (), head: Collection[str] = ()
    ) -> ec.Conjunction:
        """A body in an order that can be evaluated."""
        # What may range over who is known was decided with the rule.
        return order_body(body, given, replace(self.table, ranging=True), head).body

    def chain(self, body: ec.Literal, bound: Names, needed: Names) -> op.Chain:
        """The operators of an ordered body; `needed` are the variables used after it."""
        return with_bounds(self._chain(list(ec.conjuncts(body)), bound, needed), bound)

    def _chain(self, literals: list[ec.Literal], bound: Names, needed: Names) -> op.Chain:
        # What a step drops must be of no use to any later one: needs are found from the end.
        after: list[Names] = [needed] * len(literals)
        wanted = needed
        for index in range(len(literals) - 1, -1, -1):
            after[index] = wanted
            wanted |= names(literals[index].term)
        steps: list[op.Operator] = []
        for place, (literal, rest) in enumerate(zip(literals, after, strict=True)):
            later = literals[place + 1 :]
            if isinstance(literal, ec.Disjunction):
                branches = [self.chain(item, bound, rest) for item in literal.items]
                some = frozenset[str]().union(*(one.bound for one in branches))
                if (some - op.shared(branches) - bound) & names(*(one.term for one in later)):
                    whole = self._distributed(literal, later, bound, needed)
                    common = bound | op.shared(whole.branches)
                    return op.Chain((*steps, whole), (*after[:place], needed), common)
                step: op.Operator = op.Union(self._told_apart(branches), literal.term)
            else:
                step = self._operator(literal, bound, rest)
            steps.append(step)
            bound |= self._given(literal) if isinstance(literal, ec.Call) else op.binds(step)
        return op.Chain(tuple(steps), tuple(after), bound)

    def _given(self, call: ec.Call) -> Names:
        """The variables that a call gives a value; what any value satisfies gets none."""
        left_open = self.table.open.get(call.key, frozenset())
        return names(*(arg for at, arg in enumerate(call.args) if at not in left_open))

    def _distributed(
        self, literal: ec.Disjunction, later: list[ec.Literal], bound: Names, needed: Names
    ) -> op.Union:
        """Put the rest into each alternative: there a variable is bound, here it is not."""
        branches = []
        for item in literal.items:
            whole = ec.Conjunction((*ec.conjuncts(item), *later), literal.term)
            ordered = self.ordered(whole, bound, needed | bound)
            branches.append(self._chain(list(ec.conjuncts(ordered)), bound, needed))
        return op.Union(self._told_apart(branches), literal.term)

    def _told_apart(self, branches: list[op.Chain]) -> tuple[op.Chain, ...]:
        """Inside an aggregate, solutions with and without a value of a variable are different."""
        every = self._counted.intersection(frozenset().union(*(one.bound for one in branches)))
        return tuple(_marked(one, every - one.bound) for one in branches)

    # --- one condition ---------------------------------------------------------------------------

    def _operator(self, literal: ec.Literal, bound: Names, rest: Names) -> op.Operator:
        term = literal.term
        match literal:
            case ec.Happens(event=event, time=time):
                return op.Scan("event", key_of(event), args_of(event), time, term)
            case ec.Edge(kind=kind, fvp=fvp, time=time):
                return op.Scan(kind, fvp.key, fvp.columns, time, term)
            case ec.InitiatedAt(fvp=fvp, time=time, bounds=bounds):
                return op.Scan("initiated", fvp.key, fvp.columns, time, term, bounds)
            case ec.TerminatedAt(fvp=fvp, time=time, bounds=bounds):
                return op.Scan("terminated", fvp.key, fvp.columns, time, term, bounds)
            case ec.HoldsAt(fvp=fvp, time=time):
                return op.Stab(fvp.key, fvp.columns, time, term)
            case ec.HoldsFor(fvp=fvp, intervals=intervals):
                return op.Lookup(fvp.key, fvp.columns, intervals, term)
            case ec.IntervalOp() | ec.DurationFilter() | ec.Allen():
                return op.SpanOperation(literal, term)
            case ec.TruthValue(value=value):
                return op.TruthOp(value, term)
            case ec.Compare(op="=", left=left, right=right):
                return op.Unify(left, right, term)
            case ec.Compare():
                return op.Filter(literal, term)
            case ec.Is():
                return op.Extend(literal, term)
            case ec.Call():
                return self._call(literal, bound, rest)
            case _:
                return self._control(literal, bound, rest)

    def _control(self, literal: ec.Literal, bound: Names, rest: Names) -> op.Operator:
        term = literal.term
        match literal:
            case ec.Negation(item=item):
                return op.AntiJoin(self.chain(item, bound, frozenset()), term)
            case ec.Conjunction():
                return op.Union((self.chain(literal, bound, rest),), term)
            case ec.IfThenElse(condition=condition, then=then, otherwise=otherwise):
                # All solutions of the condition count, as the order of conditions has no meaning.
                first = self.chain(condition, bound, rest | names(then.term))
                none = op.AntiJoin(self.chain(condition, bound, frozenset()), condition.term)
                unmet = op.Chain((none,), (rest | names(otherwise.term),), bound)
                yes = _joined(first, self.chain(then, first.bound, rest))
                no = _joined(unmet, self.chain(otherwise, bound, rest))
                return op.Union(self._told_apart([yes, no]), term)
            case ec.FindAll(template=template, goal=goal, result=result):
                return self._aggregate("list", template, goal, result, term, bound)
            case ec.AggregateAll(kind=kind, template=template, goal=goal, result=result):
                return self._aggregate(kind, template, goal, result, term, bound)
            case _:
                raise TypeError(f"no operator for {literal}")

    def _aggregate(
        self,
        kind: str,
        template: Term | None,
        goal: ec.Literal,
        result: Term,
        term: Term,
        bound: Names,
    ) -> op.AggregateOp:
        inner = names(goal.term, template)
        around, self._counted = self._counted, inner
        body = self.chain(goal, bound, inner)
        self._counted = around
        return op.AggregateOp(kind, template, body, inner & body.bound, result, term)  # type: ignore[arg-type]

    def _call(self, call: ec.Call, bound: Names, rest: Names) -> op.Operator:
        term = call.term
        if call.key == ("queryTime", 1) and call.key not in self.predicates:
            return op.QueryTime(call.args[0], term)
        if call.key in self.predicates:
            if self.predicates[call.key].is_relation and not self._explodes(call, bound):
                return op.FactJoin(call.key, call.args, term)
            if self._is_plain(call.key):
                return self._unfolded(call, bound, rest)
            positions = frozenset(i for i, arg in enumerate(call.args) if names(arg) <= bound)
            self._procedure(call.key, positions)
            return op.Procedure(call.key, call.args, positions, term)
        if call.name in self.table.python:
            return op.Python(call, term)
        if call.key in BUILTINS:
            return op.BuiltinOp(call, term)
        return op.FactJoin(call.key, call.args, term)  # known to no one: an empty relation

    # --- procedures that need no call ---------------------------------------------------------

    def calls_itself(self, key: op.Key) -> bool:
        """Do the rules of a background predicate lead back to it?"""
        return key in self._calls.below(key)

    def _is_plain(self, key: op.Key) -> bool:
        """Rules only, which never lead back to themselves: they can stand where they are called."""
        if key not in self._plain:
            self._plain[key] = not self.predicates[key].facts and not self.calls_itself(key)
        return self._plain[key]

    def _explodes(self, call: ec.Call, bound: Names) -> bool:
        """Would listing a relation pair things that only the arguments of a call bring together?

        `oneIs(T,A,B) :- kind(A,T), kind(B,O), O \\= T.` has a row for every two things there are.
        """
        some = any(names(arg) <= bound for arg in call.args)
        if not some or not self._is_plain(call.key):
            return False
        return any(_falls_apart(rule.body) for rule in self.predicates[call.key].rules)

    def _unfolded(self, call: ec.Call, bound: Names, rest: Names) -> op.Union:
        """The clauses of a procedure in the place of the call."""
        wanted = rest | names(*call.args)
        branches = []
        for rule in self.predicates[call.key].rules:
            body = self._in_place(rule, call)
            ordered = self.ordered(body, bound, wanted | bound)
            branches.append(replace(self.chain(ordered, bound, rest), clause=rule.clause))
        return op.Union(tuple(branches), call.term)

    def _in_place(self, rule: ec.BackgroundRule, call: ec.Call) -> ec.Conjunction:
        """The body of a clause about the arguments of a call."""
        fresh = self._renamer.fresh(*variables(rule.head), *variables(rule.body.term))
        head = substitute_literal(ec.Call("", args_of(rule.head), rule.head), fresh).args
        body = substitute_literal(rule.body, fresh)
        given: dict[str, Term] = {}
        equal: list[ec.Literal] = []
        for pattern, arg in zip(head, call.args, strict=True):
            if isinstance(pattern, Var) and pattern.name not in given:
                given[pattern.name] = arg
            else:
                equal.append(ec.Compare("=", pattern, arg, Compound("=", (pattern, arg))))
        whole = ec.Conjunction((*equal, *ec.conjuncts(body)), body.term)
        return substitute_literal(whole, given)

    # --- procedures ------------------------------------------------------------------------------

    def _procedure(self, key: op.Key, bound: frozenset[int]) -> None:
        if (key, bound) in self.procedures.branches:
            return
        self.procedures.branches[key, bound] = ()  # it may call itself
        self.procedures.branches[key, bound] = tuple(
            self.branch(rule, bound) for rule in self.predicates[key].rules
        )

    def branch(self, rule: ec.BackgroundRule, bound: frozenset[int] = frozenset()) -> op.Branch:
        """A clause with variables of its own, for a call that binds some arguments."""
        every = (*variables(rule.head), *variables(rule.body.term))
        fresh = self._renamer.fresh(*every)
        head = substitute_literal(ec.Call("", args_of(rule.head), rule.head), fresh)
        body = substitute_literal(rule.body, fresh)
        given = names(*(arg for i, arg in enumerate(head.args) if i in bound))
        ordered = self.ordered(body, given, names(*head.args))
        chain = self.chain(ordered, given, names(*head.args))
        return op.Branch(head.args, replace(chain, clause=rule.clause))


def _joined(first: op.Chain, then: op.Chain) -> op.Chain:
    """One chain after the other."""
    return op.Chain((*first.steps, *then.steps), (*first.needed, *then.needed), then.bound)


def _marked(chain: op.Chain, open_names: Names) -> op.Chain:
    """A chain that gives variables without a value one that no term of a program has."""
    steps = tuple(op.equal(Var(name), NO_VALUE) for name in sorted(open_names))
    needed = chain.needed[-1:] or (frozenset(),)
    wanted = tuple(needed[0] | open_names for _ in steps)
    return replace(
        chain,
        steps=chain.steps + steps,
        needed=chain.needed + wanted,
        bound=chain.bound | open_names,
    )


def _falls_apart(body: ec.Literal) -> bool:
    """Do the calls of a body form groups that share no variable?"""
    groups: list[Names] = []
    for literal in ec.conjuncts(body):
        mine = names(literal.term)
        if isinstance(literal, ec.Call) and mine:
            mine = mine.union(*(group for group in groups if group & mine))
            groups = [group for group in groups if not group & mine] + [mine]
    return len(groups) > 1
