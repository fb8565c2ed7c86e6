"""The solver: all ways to satisfy the conditions of a clause.

The order of conditions carries no meaning: at every step the solver takes the condition that can
be evaluated now and leaves fewest choices. `UnboundVariable` means that nothing gives some variable
a value. The context holds what the evaluation of a condition can see: events, points, fluents,
background knowledge and Python predicates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count, product
from math import inf

from horai.lang import endless
from horai.lang.core.arithmetic import (
    COMPARISONS,
    ORDER,
    NoValue,
    evaluate,
    largest,
    number_term,
    order_key,
    smallest,
    sorted_bag,
    sorted_set,
    total,
)
from horai.lang.core.terms import (
    Compound,
    Constant,
    Int,
    ListTerm,
    Term,
    Var,
    is_ground,
    parameter_count,
    to_python,
    to_term,
    variables,
)
from horai.lang.ec import syntax as ec
from horai.lang.ec.builtins import BUILTINS, MOST_LISTED
from horai.lang.ec.errors import (
    Endless,
    FutureRead,
    IllegalCycle,
    PredicateFailed,
    UnboundVariable,
    asks,
    blaming,
    note,
)
from horai.oracle.ec import intervals as span
from horai.oracle.ec.background import INPUTS, TEMPORAL, Background, FactTable, Row
from horai.oracle.ec.scopes import Names, Scopes, names
from horai.oracle.ec.terms import Env, covers, ground, resolve, unify, unify_all
from horai.oracle.ec.terms import walk as walked
from horai.oracle.ec.world import Key, World, interval_term, key_of, term_intervals

PythonPredicate = Callable[..., object]
Domains = Mapping[str, list[Term]]
Timed = ec.Happens | ec.Edge | ec.InitiatedAt | ec.TerminatedAt | ec.HoldsAt


_fresh = count()
LAST_RESORT = 7.0  # the rank of procedures that may not be able to run yet


def once(env: Env | None) -> Iterator[Env]:
    """The environment, if there is one."""
    if env is not None:
        yield env


class Solver:
    """Evaluates conditions against a world and the background knowledge."""

    def __init__(
        self,
        world: World,
        background: Background,
        scopes: Scopes,
        python: Mapping[str, PythonPredicate],
    ) -> None:
        self.world = world
        self.background = background
        self.scopes = scopes
        self.python = python
        # Members that input puts into dynamic domains, and whether a ground entity is inside its
        # grounding: set by who knows the groundings.
        self.dynamic: Mapping[Key, list[Row]] = {}
        self.domains: Domains = {}  # values for variables of `holdsFor` that nothing else binds
        self.horizon: int | None = None  # in a cycle: the first point not settled yet
        self.members: frozenset[Key] = frozenset()  # the fluents of the cycle being settled
        self.events: frozenset[Key] = frozenset()  # and its output events
        self.in_domain: Callable[[Term, Term | None], bool] = lambda entity, value: True
        self.latest: int | None = None  # delays: the last time-point that is known
        self.nothing_absent = False  # formulas: no absence at the very start of the run
        self._tables: dict[Key, FactTable] = {}
        self._depth = 0  # of calls inside each other
        self._calls = 0  # inside of the outermost one

    def solve(self, goals: tuple[ec.Literal, ...], env: Env) -> Iterator[Env]:
        """All environments that extend `env` and satisfy every goal."""
        if not goals:
            yield env
            return
        ranked = sorted(
            (rank, index)
            for index, goal in enumerate(goals)
            if (rank := self._rank(goal, env)) is not None
        )
        stuck: UnboundVariable | Endless | None = None
        for rank, index in ranked:
            goal, rest = goals[index], goals[:index] + goals[index + 1 :]
            if rank < LAST_RESORT:
                yield from self._step(goal, rest, env)
                return
            try:  # a procedure that cannot run yet gives way to another one
                found = list(self._step(goal, (), env))
            except (UnboundVariable, Endless) as problem:
                stuck = stuck if isinstance(stuck, Endless) else problem
                continue
            for extended in found:
                yield from self.solve(rest, extended)
            return
        raise stuck or UnboundVariable(goals[0])

    def _step(self, goal: ec.Literal, rest: tuple[ec.Literal, ...], env: Env) -> Iterator[Env]:
        match goal:
            case ec.Conjunction(items=items):
                yield from self.solve(items + rest, env)
            case ec.Disjunction(items=items):
                for item in items:
                    yield from self.solve((item, *rest), env)
            case ec.IfThenElse(condition=condition, then=then, otherwise=otherwise):
                # There is no first solution where order has no meaning: all of them count.
                met = list(self.solve((condition,), env))
                for found in met:
                    yield from self.solve((then, *rest), found)
                if not met and not self._unspoken(condition):
                    yield from self.solve((otherwise, *rest), env)
            case _:
                for found in self.evaluate(goal, env):
                    yield from self.solve(rest, found)

    def holds(self, goal: ec.Literal, env: Env) -> bool:
        """Can the goal be satisfied?"""
        return next(self.solve((goal,), env), None) is not None

    def _unspoken(self, goal: ec.Literal) -> bool:
        """At the very start of the run, formulas say nothing of what is absent."""
        return self.nothing_absent and self.is_temporal(goal)

    def is_temporal(self, goal: ec.Literal) -> bool:
        """Does the condition look at events or fluents?"""
        return any(
            isinstance(part, TEMPORAL)
            or (isinstance(part, ec.Call) and part.key in self.background.temporal)
            for part in ec.walk(goal)
        )

    # --- when a condition can be evaluated -------------------------------------------------------

    def _rank(self, goal: ec.Literal, env: Env) -> float | None:
        """How soon to evaluate a condition (small = now), None if it has to wait."""

        def ready(rank: float, *terms: Term) -> float | None:
            return rank if all(ground(term, env) for term in terms) else None

        match goal:
            case ec.Conjunction() | ec.TruthValue():
                return 0
            case ec.Compare(op="="):
                return 0
            case ec.Compare(op="\\="):
                return 0 if self._bound(self.scopes.shared(goal), env) else None
            case ec.Compare(left=left, right=right):
                return ready(0, left, right)
            case ec.Is(expression=expression):
                return ready(0, expression)
            case ec.Negation():
                return 1 if self._bound(self.scopes.shared(goal), env) else None
            case ec.IfThenElse():
                return self._rank_choice(goal, env)
            case ec.FindAll() | ec.AggregateAll():
                return 2 if self._bound(self.scopes.shared(goal), env) else None
            case ec.IntervalOp(base=base, lists=lists):
                return ready(0, lists) if base is None else ready(0, base, lists)
            case ec.DurationFilter(intervals=given, bound=bound):
                return ready(0, given, bound)
            case ec.Allen(source=source, target=target):
                return ready(0, source, target)
            case ec.Happens(event=event, time=time):
                return ready(1, event, time) or ready(2, time) or 4
            case ec.Edge(fvp=fvp, time=time):
                return ready(1, fvp.fluent, time) or ready(2, time) or 4
            case ec.InitiatedAt(fvp=fvp, time=time):
                return ready(1, fvp.fluent, time) or ready(2, time) or 4
            case ec.TerminatedAt(fvp=fvp, time=time):
                # A termination of every value names none, so others may name it first.
                named = ready(1, fvp.fluent, fvp.value, time) or ready(2, fvp.value, time)
                return named or ready(4, fvp.value) or 5.8
            case ec.HoldsAt(fvp=fvp, time=time):
                # It finds times itself, but only on the grid: a procedure may name one between.
                return ready(1, fvp.fluent, time) or ready(3, time) or LAST_RESORT + 0.25
            case ec.HoldsFor(fvp=fvp):
                # It cannot fail, so it chooses no values where another condition can.
                return ready(2, fvp.fluent, fvp.value) or LAST_RESORT + 1
            case ec.Disjunction():
                return 5.5
            case ec.Call():
                return self._rank_call(goal, env)

    def _rank_choice(self, goal: ec.IfThenElse, env: Env) -> float | None:
        """It tests values, and finds them itself only when no other condition can."""
        if self._bound(self.scopes.shared(goal), env):
            return 1
        return LAST_RESORT + 2 if self._bound(self.scopes.asked(goal), env) else None

    def _rank_call(self, call: ec.Call, env: Env) -> float | None:
        bound = [ground(arg, env) for arg in call.args]
        if all(bound):
            return 1
        if call.key in INPUTS:
            return 1 if all(bound[i] for i in INPUTS[call.key]) else None
        if call.name in self.python:
            result = parameter_count(self.python[call.name]) < len(call.args)
            return 1 if result and all(bound[:-1]) else None
        if call.key in self.background.listable:
            return 3 if any(bound) else 3.5
        if call.key == ("queryTime", 1):
            return 1
        return LAST_RESORT + 0.5 if call.key in self.background.temporal else LAST_RESORT

    def _bound(self, shared: Names, env: Env) -> bool:
        return all(ground(Var(name), env) for name in shared)

    # --- single conditions -----------------------------------------------------------------------

    def evaluate(self, goal: ec.Literal, env: Env) -> Iterator[Env]:
        """All environments that satisfy one condition."""
        try:
            yield from self._evaluate(goal, env)
        except NoValue as error:
            asks(goal.term)
            expression = error.expression or goal.term
            if isinstance(goal, ec.Compare):
                expression = Compound(goal.op, (goal.left, goal.right))
            note(expression, {name: resolve(Var(name), env) for name in variables(expression)})

    def _evaluate(self, goal: ec.Literal, env: Env) -> Iterator[Env]:
        match goal:
            case ec.TruthValue(value=value):
                if value:
                    yield env
            case ec.Negation(item=item):
                if not self._unspoken(item) and not self.holds(item, env):
                    yield env
            case ec.Compare():
                yield from self._compare(goal, env)
            case ec.Is(target=target, expression=expression):
                yield from once(unify(target, number_term(evaluate(expression, env)), env))
            case ec.Happens():
                yield from self._happens(goal, env)
            case ec.Edge():
                yield from self._edge(goal, env)
            case ec.InitiatedAt() | ec.TerminatedAt():
                yield from self._points(goal, env)
            case ec.HoldsAt():
                yield from self._holds_at(goal, env)
            case ec.HoldsFor():
                yield from self._holds_for(goal, env)
            case ec.FindAll(template=template, result=result):
                values = sorted_bag(self.collect(goal, template, env))
                yield from once(unify(result, ListTerm(values), env))
            case ec.AggregateAll():
                yield from self._aggregate(goal, env)
            case ec.IntervalOp() | ec.DurationFilter() | ec.Allen():
                computed = self._interval_operation(goal, env)
                yield from once(unify(goal.result, interval_term(computed), env))
            case ec.Call():
                yield from self._call(goal, env)
            case _:
                yield from self._step(goal, (), env)

    def _compare(self, goal: ec.Compare, env: Env) -> Iterator[Env]:
        if goal.op in COMPARISONS:
            if COMPARISONS[goal.op](evaluate(goal.left, env), evaluate(goal.right, env)):
                yield env
            return
        left, right = resolve(goal.left, env), resolve(goal.right, env)
        match goal.op:
            case "=":
                yield from once(unify(left, right, env))
                return
            case "\\=":
                true = unify(left, right, {}) is None
            case "==" | "\\==":
                true = (left == right) == (goal.op == "==")
            case _:
                true = ORDER[goal.op](order_key(left), order_key(right))
        if true:
            yield env

    # --- conditions about time ------------------------------------------------------------------

    def _time(self, term: Term, env: Env) -> int | None:
        """The time-point a term stands for, None while it is unbound."""
        term = walked(term, env)
        if isinstance(term, Var):
            return None
        value = evaluate(term, env)
        if not isinstance(value, int):
            raise NoValue(f"not a time-point: {value}")
        return value

    def _moments(
        self, goal: Timed, key: Key, env: Env, known: Callable[[], Iterable[int]]
    ) -> Iterator[tuple[int, Env]]:
        """The time-point of a condition; while it is unbound, all that are known."""
        t = self._moment(goal, key, env)
        for moment in known() if t is None else [t]:
            at = unify(goal.time, Int(moment), env) if t is None else env
            if at is not None:
                yield moment, at

    def _moment(self, goal: Timed, key: Key, env: Env) -> int | None:
        """The time-point of a condition: in what is being settled, none after the cell in work."""
        t = self._time(goal.time, env)
        if self.latest is not None and (t is None or t > self.latest):
            raise UnboundVariable(goal)  # it is not known yet
        unsettled = self.events if isinstance(goal, ec.Happens) else self.members
        if key in unsettled and t is not None and self.horizon is not None and t >= self.horizon:
            raise FutureRead(key)
        return t

    def _happens(self, goal: ec.Happens, env: Env) -> Iterator[Env]:
        event = resolve(goal.event, env)
        key = key_of(event)
        by_time = self.world.events.get(key, {})
        for moment, at in self._moments(goal, key, env, lambda: sorted(by_time)):
            for occurrence in list(by_time.get(moment, ())):
                yield from once(unify(event, occurrence, at))

    def _edge(self, goal: ec.Edge, env: Env) -> Iterator[Env]:
        pattern = (resolve(goal.fvp.fluent, env), resolve(goal.fvp.value, env))
        key = key_of(pattern[0])
        edges = self.world.edges(key, goal.kind)
        for moment, at in self._moments(goal, key, env, lambda: sorted(edges)):
            for pair in edges.get(moment, ()):
                yield from once(unify_all(pattern, pair, at))

    def _points(self, goal: ec.InitiatedAt | ec.TerminatedAt, env: Env) -> Iterator[Env]:
        world = self.world
        store = world.initiations if isinstance(goal, ec.InitiatedAt) else world.terminations
        pattern = (resolve(goal.fvp.fluent, env), resolve(goal.fvp.value, env))
        key = key_of(pattern[0])
        by_time = store.get(key, {})
        for moment, at in self._moments(goal, key, env, lambda: sorted(by_time)):
            if not (world.in_run(moment) and self._within(goal.bounds, moment, at)):
                continue
            for fluent, values in list(by_time.get(moment, {}).items()):
                matched = unify(pattern[0], fluent, at)
                for value in list(values) if matched is not None else ():
                    yield from self._value_point(fluent, value, pattern[1], matched or at)

    def _value_point(
        self, fluent: Term, value: Term | None, pattern: Term, env: Env
    ) -> Iterator[Env]:
        """A point as seen for one value; a termination may be one of many values."""
        if value is not None and is_ground(value):
            yield from once(unify(pattern, value, env))
            return
        known = self.world.spans.get(key_of(fluent), {}).get(fluent, {})
        candidates = [resolve(pattern, env)] if ground(pattern, env) else list(known)
        for candidate in candidates:
            if covers(value, candidate) and self.in_domain(fluent, candidate):
                yield from once(unify(pattern, candidate, env))

    def _within(self, bounds: tuple[Term, Term] | None, t: int, env: Env) -> bool:
        if bounds is None:
            return True
        low, high = self._time(bounds[0], env), self._time(bounds[1], env)
        return (low is None or low <= t) and (high is None or t < high)

    def _holds_at(self, goal: ec.HoldsAt, env: Env) -> Iterator[Env]:
        pattern = (resolve(goal.fvp.fluent, env), resolve(goal.fvp.value, env))
        key = key_of(pattern[0])
        t = self._moment(goal, key, env)
        for fluent, value, intervals in self.known(pattern):
            for moment in self._all_points(intervals, key) if t is None else [t]:
                at = unify(goal.time, Int(moment), env) if t is None else env
                if at is not None and span.contains(intervals, moment):
                    yield from once(unify_all(pattern, (fluent, value), at))

    def known(self, pattern: tuple[Term, Term]) -> list[tuple[Term, Term, span.Intervals]]:
        """The pairs that may fit a pattern, with their intervals."""
        fluent, value = pattern
        key = key_of(fluent)
        if not variables(fluent):
            values = self.world.spans.get(key, {}).get(fluent, {})
            if not variables(value):
                return [(fluent, value, values.get(value, []))]
            return [(fluent, found, intervals) for found, intervals in values.items()]
        return list(self.world.instances(key))

    def _all_points(self, intervals: span.Intervals, key: Key) -> Iterator[int]:
        """The time-points of some intervals up to now."""
        world = self.world
        last = world.query
        if key in self.members and self.horizon is not None:
            last = min(last, self.horizon - 1)
        for start, end in intervals:
            t = max(start, world.start + 1)
            t = t if world.grid.cell(t) == t else world.grid.next(t)
            while t <= last and t < end:
                yield t
                t += world.grid.tick

    def _holds_for(self, goal: ec.HoldsFor, env: Env) -> Iterator[Env]:
        free = [
            name for name in names(goal.fvp.fluent, goal.fvp.value) if not ground(Var(name), env)
        ]
        if any(name not in self.domains for name in free):
            raise UnboundVariable(goal)
        if key_of(goal.fvp.fluent) in self.members:
            raise FutureRead(key_of(goal.fvp.fluent))  # a list of intervals has no end yet
        for values in product(*(self.domains[name] for name in free)):
            bound = unify_all(tuple(Var(name) for name in free), values, env)
            if bound is not None:
                found = self.world.intervals(
                    resolve(goal.fvp.fluent, bound), resolve(goal.fvp.value, bound)
                )
                yield from once(unify(goal.intervals, interval_term(found), bound))

    def _interval_operation(
        self, goal: ec.IntervalOp | ec.DurationFilter | ec.Allen, env: Env
    ) -> span.Intervals:
        world = self.world
        match goal:
            case ec.IntervalOp(kind=kind, base=base):
                lists = self._interval_lists(goal.lists, env)
                match kind:
                    case "union_all":
                        return span.union(lists)
                    case "intersect_all":
                        return span.intersection(lists)
                    case "complement_all":
                        return span.difference([(world.grid.next(world.start), span.INF)], lists)
                    case "relative_complement_all":
                        return span.difference(self._intervals(base, env), lists)
                    case "xor_all":
                        found: span.Intervals = []
                        for one in lists:  # of two lists, where one holds and not the other
                            found = span.union(
                                [span.difference(found, [one]), span.difference(one, [found])]
                            )
                        return found
                    case _:
                        raise ValueError(f"{kind} is no operation on interval lists")
            case ec.DurationFilter(op=op, open_counts=open_counts):
                bound = evaluate(goal.bound, env)
                given = self._intervals(goal.intervals, env)
                return span.longer_or_shorter(given, op, bound, world.query, open_counts)
            case ec.Allen(relation=relation, mode=mode):
                sources = self._intervals(goal.source, env)
                targets = self._intervals(goal.target, env)
                return span.allen(relation, sources, targets, mode, world.grid, world.allen_memory)

    def _intervals(self, term: Term | None, env: Env) -> span.Intervals:
        found = term_intervals(resolve(term, env)) if term is not None else None
        if found is None:
            raise NoValue("not a list of intervals")
        return span.coalesce(found)

    def _interval_lists(self, term: Term, env: Env) -> list[span.Intervals]:
        full = resolve(term, env)
        if not isinstance(full, ListTerm):
            raise NoValue("not a list of interval lists")
        return [self._intervals(item, env) for item in full.items]

    # --- aggregates and calls -------------------------------------------------------------------

    def collect(self, goal: ec.FindAll | ec.AggregateAll, template: Term, env: Env) -> list[Term]:
        """The template for every different way to satisfy the goal."""
        inner = sorted(names(goal.goal.term) | names(template))
        seen: dict[tuple[Term, ...], Term] = {}
        for found in self.solve((goal.goal,), env):
            solution = tuple(resolve(Var(name), found) for name in inner)
            seen[solution] = resolve(template, found)
        return list(seen.values())

    def _aggregate(self, goal: ec.AggregateAll, env: Env) -> Iterator[Env]:
        values = self.collect(goal, goal.template or Constant("count"), env)
        match goal.kind:
            case "count":
                result: Term = Int(len(values))
            case "bag":
                result = ListTerm(sorted_bag(values))
            case "set":
                result = ListTerm(sorted_set(values))
            case "sum":
                result = number_term(total(evaluate(value, {}) for value in values))
            case kind:
                if not values:  # nothing is largest or smallest among nothing
                    return
                pick = largest if kind == "max" else smallest
                result = number_term(pick([evaluate(value, {}) for value in values]))
        yield from once(unify(goal.result, result, env))

    def _call(self, goal: ec.Call, env: Env) -> Iterator[Env]:
        if goal.key in INPUTS:
            yield from built_in(goal, env)
        elif goal.name in self.python:
            yield from self._python(goal, env)
        elif goal.key == ("queryTime", 1):
            yield from once(unify(goal.args[0], Int(self.world.query), env))
        elif goal.key in self.background.listable:
            yield from self.table(goal.key).match(goal.args, env)
        else:
            yield from self._unfold(goal, env)

    # --- predicates that can be listed -----------------------------------------------------------

    def table(self, key: Key) -> FactTable:
        """All rows of a predicate that can be listed, recursion included."""
        if key not in self._tables:
            for member in self.background.group[key] or [key]:
                self._tables[member] = self._stated(member)
            if self.background.group[key]:
                self._fill(self.background.group[key])
        return self._tables[key]

    def _stated(self, key: Key) -> FactTable:
        """The rows that need no rule: facts, and members that input puts into a dynamic domain."""
        facts = self.background.facts.get(key)
        members = self.dynamic.get(key)
        if facts is not None and not members and key not in self.background.rules:
            return facts
        return FactTable([*(facts.rows if facts else ()), *(members or ())])

    def _fill(self, group: list[Key]) -> None:
        """Apply the rules of predicates that call each other until they say nothing new.

        After the first round only what the round before found can lead to something new.
        """
        rules = [(key, rule) for key in group for rule in self.background.rules[key]]
        for _, rule in rules:
            _refuse_unstratified(rule, group)
        invents = [self._invents(rule, group) for _, rule in rules]
        rounds = made = 0
        news: dict[Key, list[Row]] | None = None
        while news is None or any(news.values()):
            found: dict[Key, dict[Row, None]] = {key: {} for key in group}
            for (key, rule), invented in zip(rules, invents, strict=True):
                args = rule.head.args if isinstance(rule.head, Compound) else ()
                name = f"{key[0]}/{key[1]}"
                with blaming(rule.clause):
                    for env in self._derive(rule, group, news):
                        row = tuple(resolve(arg, env) for arg in args)
                        if invented:
                            sizes = [endless.parts(value) for value in row]
                            made += sum(sizes)
                            if max(sizes, default=0) > endless.LARGEST:
                                raise Endless(endless.too_large(name))
                            if made > endless.MOST_PARTS:
                                raise Endless(endless.too_much(name))
                        found[key][row] = None
                    if len(self._tables[key].rows) + len(found[key]) > endless.MOST_ROWS:
                        raise Endless(endless.too_many_rows(name))
            # Only now: what a round finds does not depend on the order of the rules.
            news = {
                key: [row for row in rows if self._tables[key].add(row)]
                for key, rows in found.items()
            }
            rounds += 1
            for (key, rule), invented in zip(rules, invents, strict=True):
                if invented and news[key] and rounds > endless.MOST_ROUNDS:
                    with blaming(rule.clause):
                        raise Endless(endless.too_many_rounds(f"{key[0]}/{key[1]}"))

    def _invents(self, rule: ec.BackgroundRule, group: list[Key]) -> bool:
        """May a rule that calls itself make new values of its own?"""
        if not _calls(rule.body, group):
            return False
        head = rule.head.args if isinstance(rule.head, Compound) else ()
        if any(not isinstance(arg, Var) and variables(arg) for arg in head):
            return True
        return any(
            isinstance(part, ec.FindAll | ec.AggregateAll | ec.Is)
            or (isinstance(part, ec.Compare) and part.op == "=")
            or (isinstance(part, ec.Call) and part.key not in self.background.listable)
            for part in ec.walk(rule.body)
        )

    def _derive(
        self, rule: ec.BackgroundRule, group: list[Key], news: dict[Key, list[Row]] | None
    ) -> Iterator[Env]:
        """Solutions of a rule that use a new row; all of them in the first round."""
        goals = tuple(ec.conjuncts(rule.body))
        inside = [i for i, goal in enumerate(goals) if _calls(goal, group)]
        if news is None or any(not isinstance(goals[i], ec.Call) for i in inside):
            yield from self.solve(goals, {})
            return
        for index in inside:
            goal = goals[index]
            rest = goals[:index] + goals[index + 1 :]
            for row in news[goal.key] if isinstance(goal, ec.Call) else ():
                env = unify_all(goal.args, row, {}) if isinstance(goal, ec.Call) else None
                if env is not None:
                    yield from self.solve(rest, env)

    # --- procedures ------------------------------------------------------------------------------

    def _unfold(self, goal: ec.Call, env: Env) -> Iterator[Env]:
        """A procedure: its clauses in the place of the call, with variables of their own."""
        self._calls = self._calls + 1 if self._depth else 0
        if self._depth >= endless.DEEPEST_CALL or self._calls > endless.MOST_CALLS:
            raise Endless(endless.too_many_calls(f"{goal.name}/{len(goal.args)}"))
        args = tuple(_apart(resolve(arg, env)) for arg in goal.args)
        answers: dict[tuple[Term, ...], None] = {}
        self._depth += 1
        try:
            for found in self._stated(goal.key).match(args, {}):
                answers[tuple(resolve(arg, found) for arg in args)] = None
            for rule in self.background.rules.get(goal.key, ()):
                for found in self._clause(rule, args):
                    answers[tuple(resolve(arg, found) for arg in args)] = None
        finally:
            self._depth -= 1
        for answer in answers:
            yield from once(unify_all(goal.args, tuple(map(_unlike_any, answer)), env))

    def _clause(self, rule: ec.BackgroundRule, args: tuple[Term, ...]) -> list[Env]:
        head = rule.head.args if isinstance(rule.head, Compound) else ()
        inside = unify_all(head, args, {})
        if inside is None:
            return []
        with blaming(rule.clause):
            return list(self.solve((rule.body,), inside))

    def _python(self, goal: ec.Call, env: Env) -> Iterator[Env]:
        function = self.python[goal.name]
        values = [to_python(resolve(arg, env)) for arg in goal.args]
        tests = parameter_count(function) == len(values)
        try:
            result = function(*values) if tests else function(*values[:-1])
            answer = None if tests or result is None else to_term(result)
        except Exception as error:  # whatever the user's code raises
            raise PredicateFailed(f"the Python predicate {goal.name} failed: {error}") from error
        if answer is not None:
            yield from once(unify(goal.args[-1], answer, env))
        elif tests and result:
            yield env


def built_in(goal: ec.Call, env: Env) -> Iterator[Env]:
    """How a built-in predicate is satisfied."""
    solutions = BUILTINS[goal.key].solutions
    if solutions is None:
        assert goal.key == ("between", 3), f"{goal.name} depends on the run"
        yield from _between(goal.args, env)
        return
    args = tuple(resolve(arg, env) for arg in goal.args)
    for solution in solutions(args):
        asked = tuple(args[position] for position in solution)
        yield from once(unify_all(asked, tuple(solution.values()), env))


def _between(args: tuple[Term, ...], env: Env) -> Iterator[Env]:
    low, high = evaluate(args[0], env), evaluate(args[1], env)
    if not isinstance(low, int) or not (isinstance(high, int) or high == inf):
        raise NoValue("between/3 needs whole numbers")
    match walked(args[2], env):
        case Int(value=value):
            if low <= value <= high:
                yield env
        case Var(name=name):
            if not isinstance(high, int):
                raise Endless("between/3 up to infinity has no end")
            if high - low >= MOST_LISTED:
                size = f"at most {MOST_LISTED} numbers, here {high - low + 1}"
                raise Endless(f"between/3 lists {size}")
            yield from ({**env, name: Int(value)} for value in range(low, high + 1))
        case _:
            pass


def _refuse_unstratified(rule: ec.BackgroundRule, group: list[Key]) -> None:
    """Negation and aggregation need what is below them complete, which a cycle never is."""
    for part in ec.walk(rule.body):
        if isinstance(part, ec.Negation | ec.FindAll | ec.AggregateAll):
            for inner in ec.walk(part):
                if isinstance(inner, ec.Call) and inner.key in group:
                    name, arity = inner.key
                    error = IllegalCycle(f"{name}/{arity} depends on its own absence or total")
                    error.clause = rule.clause
                    raise error


def _calls(goal: ec.Literal, group: list[Key]) -> bool:
    """Does the condition ask for a predicate of the group?"""
    return any(isinstance(part, ec.Call) and part.key in group for part in ec.walk(goal))


def _apart(term: Term) -> Term:
    """Free variables of a call get names that no clause uses."""
    free = variables(term)
    return resolve(term, {name: Var("^" + name) for name in free}) if free else term


def _unlike_any(term: Term) -> Term:
    """Variables that an answer leaves open must not be taken for variables of the caller."""
    free = [name for name in variables(term) if not name.startswith("^")]
    return resolve(term, {name: Var(f"^^{next(_fresh)}") for name in free}) if free else term
