"""Conditions of rules, satisfied by what a run found: the definitions, asked backwards.

The reference engine says when a condition is satisfied; here it asks the evidence of a run instead
of a world that it has worked out itself, whatever engine ran.

Which earlier initiation takes effect at a deadline depends on all points of its fluent since then,
the effects of other attempts among them. So the points of a fluent that has delayed effects are
worked out from the start of the run on, those of the fluents that they come from with them; no
others are.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from heapq import heappop, heappush
from typing import NamedTuple

from horai.explain.evidence import Evidence
from horai.lang.core.terms import Constant, Int, Term, Var, children, is_ground, make, variables
from horai.lang.ec import syntax as ec
from horai.lang.ec.errors import NotSettled
from horai.oracle.ec.background import Background, FactTable
from horai.oracle.ec.delays import Attempt, Delays, acts_on
from horai.oracle.ec.groundings import Groundings
from horai.oracle.ec.intervals import INF, Intervals, TickGrid
from horai.oracle.ec.scopes import Scopes, names
from horai.oracle.ec.solver import PythonPredicate, Solver
from horai.oracle.ec.static import holds_for_domains
from horai.oracle.ec.strata import DelayRule, OracleNode, PointRule
from horai.oracle.ec.sweep import NamedTimes, disjuncts, in_range, rule_head, time_binding
from horai.oracle.ec.terms import Env, covers, resolve, unify, unify_all
from horai.oracle.ec.world import Key, World, interval_term, key_of

ANY_TIME, AFTER_ALTERNATIVES = 4, 5.7
"""Ranks of the solver: what it would look for at all times, and after disjunctions."""


class EvidenceSolver(Solver):
    """Satisfies conditions by evidence."""

    def __init__(
        self,
        description: ec.EventDescription,
        evidence: Evidence,
        world: World,
        predicates: Mapping[str, PythonPredicate],
    ) -> None:
        self.description, self.evidence = description, evidence
        super().__init__(world, Background(description), Scopes(description), predicates)
        self.groundings = Groundings(description, self)
        self._filling = dict(self._fillings())
        self.in_domain = self.groundings.allows
        self._asking: set[object] = set()
        self._limits: dict[str, tuple[int, int]] = {}  # of times that are asked for
        self.delayed = DelayedEffects(self)
        self._named = NamedTimes(self.background, predicates)
        self._bodies: dict[int, list[tuple[ec.Literal, bool]]] = {}

    # --- conditions ------------------------------------------------------------------------------

    def _rank(self, goal: ec.Literal, env: Env) -> float | None:
        """What has neither a time nor an argument waits for alternatives that may give it one."""
        rank = super()._rank(goal, env)
        if rank == ANY_TIME and isinstance(goal, ec.Happens | ec.Edge):
            entity = goal.event if isinstance(goal, ec.Happens) else goal.fvp.fluent
            if not any(is_ground(resolve(arg, env)) for arg in children(entity)):
                return AFTER_ALTERNATIVES
        return rank

    def _happens(self, goal: ec.Happens, env: Env) -> Iterator[Env]:
        event = resolve(goal.event, env)
        t = self._moment(goal, key_of(event), env)
        low, high = (t, t) if t is not None else self._range(goal.time)
        for occurrence, moment in self.evidence.events(event, low, high):
            if self.world.in_run(moment):
                found = unify(goal.time, Int(moment), env) if t is None else env
                if found is not None and (one := unify(event, occurrence, found)) is not None:
                    yield one

    def _range(self, time: Term) -> tuple[int, int] | tuple[None, None]:
        """Between which times a time is asked for."""
        known = self._limits.get(time.name) if isinstance(time, Var) else None
        return (None, None) if known is None else known

    def _edge(self, goal: ec.Edge, env: Env) -> Iterator[Env]:
        pattern = resolved(goal.fvp, env)
        t = self._moment(goal, goal.fvp.key, env)
        low, high = (t, t) if t is not None else self._range(goal.time)
        for fluent, value, moment in self.edges(goal.kind, *pattern, low, high):
            if t in (None, moment):
                at = unify(goal.time, Int(moment), env) if t is None else env
                if at is not None and (one := unify_all(pattern, (fluent, value), at)) is not None:
                    yield one

    def edges(
        self, kind: str, fluent: Term, value: Term, low: int | None = None, high: int | None = None
    ) -> Iterator[tuple[Term, Term, int]]:
        """The moments of the run at which a value starts or ends, the latest first.

        Those from `low` to `high` are among them.
        """
        grid = self.world.grid
        between = (low - 1, high + grid.tick) if low is not None and high is not None else ()
        for f, v, intervals in self.evidence.spans(fluent, value, *between):
            for start, end in reversed(intervals):
                at: float = start if kind in ("start", "startI") else end
                if at != INF:
                    moment = grid.prev(int(at)) if kind in ("start", "end") else int(at)
                    if self.world.in_run(moment):
                        yield f, v, moment

    def _holds_at(self, goal: ec.HoldsAt, env: Env) -> Iterator[Env]:
        t = self._moment(goal, goal.fvp.key, env)
        pattern = resolved(goal.fvp, env)
        if t is None:
            low, high = self._range(goal.time)
            for fluent, value, intervals in self.evidence.spans(*pattern, low, high):
                for moment in self._latest_first(intervals, low, high):
                    at = unify(goal.time, Int(moment), env)
                    found = None if at is None else unify_all(pattern, (fluent, value), at)
                    if found is not None:
                        yield found
            return
        for fluent, value, _ in self.evidence.spans(*pattern, t):
            found = unify_all(pattern, (fluent, value), env)
            if found is not None:
                yield found

    def _latest_first(
        self, intervals: Intervals, low: int | None, high: int | None
    ) -> Iterator[int]:
        """The time-points of some intervals between two times."""
        grid, world = self.world.grid, self.world
        low = world.start + 1 if low is None else max(low, world.start + 1)
        high = world.query if high is None else min(high, world.query)
        for start, end in reversed(intervals):
            t = grid.cell(high) if end > high else grid.prev(int(end))
            while t >= max(start, low):
                yield t
                t -= grid.tick

    def known(self, pattern: tuple[Term, Term]) -> list[tuple[Term, Term, Intervals]]:
        return self.evidence.spans(*pattern)

    def _holds_for(self, goal: ec.HoldsFor, env: Env) -> Iterator[Env]:
        pattern = resolved(goal.fvp, env)
        if not names(*pattern):
            found = interval_term(self.evidence.intervals(*pattern))
            if (one := unify(goal.intervals, found, env)) is not None:
                yield one
            return
        yield from super()._holds_for(goal, env)

    def _points(self, goal: ec.InitiatedAt | ec.TerminatedAt, env: Env) -> Iterator[Env]:
        pattern = resolved(goal.fvp, env)
        t = self._moment(goal, goal.fvp.key, env)
        begins = isinstance(goal, ec.InitiatedAt)
        seen: set[tuple[Term, Term, int]] = set()
        for fluent, value, moment in self.points(begins, *pattern, t):
            if (fluent, value, moment) in seen or not self.world.in_run(moment):
                continue
            seen.add((fluent, value, moment))
            if not self.in_domain(fluent, value):
                continue
            at = unify(goal.time, Int(moment), env) if t is None else env
            if at is None or not self._within(goal.bounds, moment, at):
                continue
            found = unify_all(pattern, (fluent, value), at)
            if found is not None:
                yield found

    # --- domains that the input fills ------------------------------------------------------------

    def _fillings(self) -> Iterator[tuple[Key, list[tuple[ec.Grounding, ec.Call]]]]:
        """The groundings by which items fill a domain, with the condition that is about it."""
        for key in self.groundings.dynamic - self.background.rules.keys():
            yield (
                key,
                [
                    (rule, part)
                    for rules in self.groundings.rules.values()
                    for rule in rules
                    for part in ec.conjuncts(rule.body)
                    if isinstance(part, ec.Call) and part.key == key
                ],
            )

    def _call(self, goal: ec.Call, env: Env) -> Iterator[Env]:
        fillings = self._filling.get(goal.key)
        if fillings is None or goal.key in self._tables:
            yield from super()._call(goal, env)
            return
        facts = self.background.facts.get(goal.key)
        seen: dict[tuple[Term, ...], None] = dict.fromkeys(facts.rows if facts else ())
        if facts is not None:
            yield from facts.match(goal.args, env)
        asked = tuple(apart(resolve(arg, env)) for arg in goal.args)
        for rule, part in fillings:
            known = unify_all(part.args, asked, {})
            for found in () if known is None else self._filled(rule, known):
                row = tuple(resolve(arg, found) for arg in part.args)
                if row not in seen and all(map(is_ground, row)):
                    seen[row] = None
                    one = unify_all(goal.args, row, env)
                    if one is not None:
                        yield one

    def _filled(self, rule: ec.Grounding, known: Env) -> Iterator[Env]:
        """What the variables of a grounding stand for in the input."""
        entity = resolve(rule.entity, known)
        value = None if rule.value is None else resolve(rule.value, known)
        for one, said in self.evidence.given(entity, value):
            found = unify(rule.entity, one, known)
            if found is not None and rule.value is not None and said is not None:
                found = unify(rule.value, said, found)
            if found is not None:
                yield found

    def _stated(self, key: Key) -> FactTable:
        if key in self.groundings.dynamic and not self.dynamic:
            whole = [make(name, *map(Var, map(str, range(n)))) for name, n in self.groundings.rules]
            items = (one for entity in whole for one in self.evidence.given(entity, None))
            self.dynamic = self.groundings.members(items)
        return super()._stated(key)

    # --- what rules say --------------------------------------------------------------------------

    def points(
        self,
        begins: bool,
        fluent: Term,
        value: Term,
        t: int | None,
        within: tuple[int, int] | None = None,
    ) -> Iterator[tuple[Term, Term, int]]:
        """When values are initiated or terminated, as rules say and as starts show."""
        if key_of(fluent) in self.delayed.keys:
            whole = self.world.start, self.world.query
            low, high = (t, t) if t is not None else within or whole
            for f, v, moment in self.delayed.points(begins, fluent, low, high):
                yield from self._point(f, v, value, moment)
            return
        kind = ec.Initiation if begins else ec.Termination
        asked = (begins, fluent, value, t, within)
        if asked in self._asking:  # only a start that is known can break the circle
            return
        self._asking.add(asked)
        try:
            said = [
                (rule, env)
                for rule in self.description.rules
                if isinstance(rule, kind)
                for env in self.effects(rule, fluent, value, t, within)
            ]
        finally:
            self._asking.discard(asked)
        for rule, env in said:
            assert isinstance(rule, ec.Initiation | ec.Termination)
            f, v, at = (resolve(term, env) for term in (rule.fvp.fluent, rule.fvp.value, rule.time))
            assert isinstance(at, Int)
            yield from self._point(f, v, value, at.value)
        if begins and self.world.grid.tick == 1:  # else a start does not tell the moment
            low, high = (t, t) if t is not None else within or (self.world.start, self.world.query)
            for f, v, moment in self.edges("start", fluent, value):
                if low <= moment <= high and not self.is_static(f, v):
                    yield f, v, moment

    def _point(
        self, fluent: Term, said: Term, asked: Term, t: int
    ) -> Iterator[tuple[Term, Term, int]]:
        """A point as seen for the value that is asked for; a termination may leave it open."""
        if is_ground(said) or is_ground(asked):
            yield fluent, said if is_ground(said) else asked, t
        else:
            yield from ((one, other, t) for one, other, _ in self.known((fluent, asked)))

    def reads_points(self, rule: ec.Rule) -> bool:
        """May a condition of a rule ask what is initiated or terminated?"""
        body = getattr(rule, "body", None)
        return body is not None and any(
            isinstance(part, ec.InitiatedAt | ec.TerminatedAt)
            or (isinstance(part, ec.Call) and part.key in self.background.temporal)
            for part in ec.walk(body)
        )

    def effects(
        self,
        rule: PointRule,
        entity: Term,
        value: Term | None,
        t: int | None,
        within: tuple[int, int] | None = None,
    ) -> Iterator[Env]:
        """The ways in which a rule says something about an entity, at a time or at any."""
        env, head = time_binding(rule, t, self.world), rule_head(rule)
        if env is not None:
            env = unify(head[0], apart(entity), env)
        if env is None:
            return
        needed = head[1]
        if head[1] is not None and value is not None:
            if isinstance(rule, ec.Initiation) or names(head[1]) & names(rule.body.term):
                env = unify(head[1], apart(value), env)
            else:  # what a termination leaves open is every value
                needed = None
                if unify(head[1], apart(value), env) is None:
                    return
        if env is None:
            return
        for body, named in self._alternatives(rule):
            yield from self._said(rule, body, named, (head[0], needed), env, within)

    def _alternatives(self, rule: PointRule) -> list[tuple[ec.Literal, bool]]:
        """The alternatives of a body, and whether each can act between two time-points, too."""
        if self.world.grid.tick == 1:
            return [(rule.body, True)]
        if id(rule) not in self._bodies:
            bodies = disjuncts(rule.body)
            self._bodies[id(rule)] = [(one, self._named.names(one, rule.time)) for one in bodies]
        return self._bodies[id(rule)]

    def _said(
        self,
        rule: PointRule,
        body: ec.Literal,
        named: bool,
        head: tuple[Term, Term | None],
        env: Env,
        within: tuple[int, int] | None,
    ) -> Iterator[Env]:
        at = resolve(rule.time, env)
        if isinstance(at, Int) and not (named or self._is_time_point(at.value)):
            return
        with self.ranging(body, env), self.limited(rule.time, within):
            found = self.groundings.head_solutions(body, *head, env)
        for one in found:
            at = resolve(rule.time, one)
            if not isinstance(at, Int) or not self.world.in_run(at.value):
                continue
            if not (named or self._is_time_point(at.value)):
                continue
            if within is not None and not within[0] <= at.value <= within[1]:
                continue
            if not in_range(rule, at.value, one):
                continue
            about = resolve(head[0], one)
            if isinstance(rule, ec.EventRule) and not self.in_domain(about, None):
                continue
            yield one

    def _is_time_point(self, t: int) -> bool:
        return self.world.grid.cell(t) == t

    def _clause(self, rule: ec.BackgroundRule, args: tuple[Term, ...]) -> list[Env]:
        with self.limited(rule.head, None):  # its variables are others
            return super()._clause(rule, args)

    @contextmanager
    def ranging(self, body: ec.Literal, env: Env) -> Iterator[None]:
        """Let variables of `holdsFor` range over those who are known, as in a rule with a body."""
        before, self.domains = self.domains, self.values_for(body, env)
        try:
            yield
        finally:
            self.domains = before

    @contextmanager
    def limited(self, time: Term, within: tuple[int, int] | None) -> Iterator[None]:
        """Ask for a time between two times only, and of few occurrences."""
        before, self._limits = self._limits, {}
        if within is not None and isinstance(time, Var):
            self._limits = {time.name: within}
        try:
            yield
        finally:
            self._limits = before

    def is_static(self, fluent: Term, value: Term) -> bool:
        """Is a value determined by other fluents, or by the input?"""
        return not any(
            isinstance(rule, ec.Initiation | ec.Initially | ec.FutureInitiation)
            and _can_be(rule, fluent, value)
            for rule in self.description.rules
        )

    def values_for(self, body: ec.Literal, env: Env) -> dict[str, list[Term]]:
        """Values for variables of `holdsFor` that nothing else gives one."""
        asked = [part.fvp for part in ec.walk(body) if isinstance(part, ec.HoldsFor)]
        free = names(*(fvp.term for fvp in asked)) - frozenset(env)
        return holds_for_domains(body, self.groundings) if free else {}


class EvidenceWorld(World):
    """The world as evidence shows it."""

    def __init__(
        self, evidence: Evidence, tick: int, start: int, query: int, allen_memory: int | None
    ) -> None:
        super().__init__(TickGrid(tick), start, query, allen_memory)
        self.evidence = evidence

    def instances(self, key: tuple[str, int]) -> Iterator[tuple[Term, Term, Intervals]]:
        for fluent, value in self.evidence.pairs(key):
            yield fluent, value, []

    def intervals(self, fluent: Term, value: Term) -> Intervals:
        return self.evidence.intervals(fluent, value)


def resolved(fvp: ec.FVP, env: Env) -> tuple[Term, Term]:
    """A fluent and its value, with what their variables stand for."""
    return resolve(fvp.fluent, env), resolve(fvp.value, env)


def apart(term: Term) -> Term:
    """The term with variables that no rule has."""
    return resolve(term, {name: Var("^" + name) for name in variables(term)})


def _can_be(
    rule: ec.Initiation | ec.Initially | ec.FutureInitiation, fluent: Term, value: Term
) -> bool:
    fvp = rule.target if isinstance(rule, ec.FutureInitiation) else rule.fvp
    pair = (apart(fluent), apart(value))
    return key_of(fvp.fluent) == key_of(fluent) and (
        unify_all((fvp.fluent, fvp.value), pair, {}) is not None
    )


# --- delayed effects ------------------------------------------------------------------------------

_ROUNDS = 100
"""So often are rules asked anew that look at each other's points."""
_MOST_FORMS = 20
"""Of so many fluents the points are asked for alone; then of all with the same name."""
_ANY = Var("Any")


class Point(NamedTuple):
    """What is said of a fluent at a time; a termination may leave the value open."""

    kind: str  # "initiated", "terminated", or "ghost": an initiation outside the grounding
    fluent: Term
    value: Term
    t: int


class PointHistory:
    """The points of some fluents from the start of the run on, in the order of time."""

    def __init__(self, delayed: DelayedEffects) -> None:
        groundings = delayed.solver.groundings
        self.delays = Delays(delayed.rules, delayed.postponable, self, groundings)
        self._by_fluent: dict[Term, dict[int, dict[Point, None]]] = {}
        self._times: dict[Term, list[int]] = {}

    def add(self, point: Point) -> None:
        """Note a point."""
        by_time = self._by_fluent.setdefault(point.fluent, {})
        by_time.setdefault(point.t, {})[point] = None
        self._times.pop(point.fluent, None)

    def between(self, fluent: Term, low: int, high: int) -> Iterator[Point]:
        """The points of a fluent from `low` to `high`."""
        by_time = self._by_fluent.get(fluent, {})
        if fluent not in self._times:
            self._times[fluent] = sorted(by_time)
        times = self._times[fluent]
        for t in times[bisect_left(times, low) : bisect_right(times, high)]:
            yield from by_time[t]

    def replace(self, before: Iterable[Point], now: Iterable[Point]) -> None:
        """Put points in the place of others."""
        for point in before:
            del self._by_fluent[point.fluent][point.t][point]
        for point in now:
            self.add(point)

    def at(self, t: int) -> Iterator[Point]:
        """The points of all fluents at a time."""
        for by_time in self._by_fluent.values():
            yield from by_time.get(t, ())

    def all(self) -> Iterator[Point]:
        """Every point, those of one fluent after the other."""
        for by_time in self._by_fluent.values():
            for points in by_time.values():
                yield from points

    def fitting(self, fluent: Term) -> list[Term]:
        """The fluents with points that are instances of one."""
        if is_ground(fluent):
            return [fluent] if fluent in self._by_fluent else []
        return [one for one in self._by_fluent if covers(fluent, one)]

    def broken_between(self, fluent: Term, value: Term, after: int, before: int) -> bool:
        """Is a value terminated, or another one initiated, strictly between two times?"""
        return any(
            covers(point.value, value) if point.kind == "terminated" else point.value != value
            for point in self.between(fluent, after + 1, before - 1)
        )

    def initiated(self, fluent: Term, value: Term, after: int, until: int) -> bool:
        """Is a value initiated after a time, until another?"""
        points = self.between(fluent, after + 1, until)
        return any(point.kind == "initiated" and point.value == value for point in points)


class DelayedEffects:
    """The points of the fluents that have delayed effects."""

    def __init__(self, solver: EvidenceSolver) -> None:
        self.solver = solver
        rules = solver.description.rules
        self.rules = [one for one in rules if isinstance(one, DelayRule)]
        self.postponable = [one.fvp for one in rules if isinstance(one, ec.Postponable)]
        self.keys: set[Key] = {key_of(acts_on(rule).fluent) for rule in self.rules}
        self._nodes = [OracleNode("simple", key) for key in self.keys]
        self._known: list[tuple[list[Term], PointHistory]] = []

    def effects(
        self, begins: bool, fluent: Term, value: Term, t: int
    ) -> Iterator[tuple[DelayRule, Env, Attempt]]:
        """The attempts that initiate, or terminate, a value at a time, the latest first."""
        if key_of(fluent) not in self.keys:
            return
        delays = self.history(fluent).delays
        for attempt in sorted(delays.due(t), key=lambda one: -one.since):
            rule = self.rules[attempt.rule]
            if isinstance(rule, ec.FutureInitiation) == begins:
                for env in delays.acting(attempt, t):
                    if resolved(acts_on(rule), env) == (fluent, value):
                        yield rule, env, attempt

    def points(
        self, begins: bool, fluent: Term, low: int, high: int
    ) -> Iterator[tuple[Term, Term, int]]:
        """What is initiated, or terminated, from `low` to `high`, by rules and by attempts."""
        history = self.history(fluent)
        for one in history.fitting(fluent):
            for point in history.between(one, low, high):
                if (point.kind != "terminated") == begins:
                    yield one, point.value, point.t

    # --- the points of a fluent ------------------------------------------------------------------

    def history(self, fluent: Term) -> PointHistory:
        """The points of a fluent, or of all its instances."""
        asked = apart(fluent)
        for patterns, known in self._known:
            if any(_covers_all(pattern, asked) for pattern in patterns):
                return known
        patterns = self._behind(asked)
        place = len(self._known)
        history = PointHistory(self)
        self._known.append((patterns, history))
        circular = self._reads_points(patterns)
        for _ in range(_ROUNDS):
            # What asks for points while they are worked out sees those of the round before.
            made = self._worked_out(patterns)
            same = set(made.all()) == set(history.all())
            history = made
            del self._known[place:]  # others, too, that were worked out with those before
            self._known.append((patterns, history))
            if same or not circular:
                return made
        raise NotSettled("rules are true if, and only if, they are not")

    def _behind(self, fluent: Term) -> list[Term]:
        """The fluents whose points those of a fluent come from, itself included."""
        found = [fluent]
        for one in found:
            for rule in self.rules:
                env = unify(acts_on(rule).fluent, one, {})
                if env is not None:
                    before = apart(resolve(rule.origin.fluent, env))
                    if not any(_covers_all(known, before) for known in found):
                        found.append(before if len(found) < _MOST_FORMS else _whole(before))
        return found

    def _rules_about(self, patterns: list[Term]) -> Iterator[ec.Initiation | ec.Termination]:
        keys = {key_of(pattern) for pattern in patterns}
        for rule in self.solver.description.rules:
            if isinstance(rule, ec.Initiation | ec.Termination) and key_of(rule.fvp.fluent) in keys:
                yield rule

    def _reads_points(self, patterns: list[Term]) -> bool:
        """May conditions ask for points that are being worked out?"""
        rules: list[ec.Rule] = [*self._rules_about(patterns), *self.rules]
        return any(self.solver.reads_points(rule) for rule in rules)

    def _worked_out(self, patterns: list[Term]) -> PointHistory:
        """The points that rules say, then what attempts come to, one deadline after the other."""
        history, agenda = PointHistory(self), list[int]()

        def attempt(point: Point) -> None:
            if point.kind == "initiated":
                for t in history.delays.attempt(point.fluent, point.value, point.t):
                    # What would come about at the start itself is not seen any more.
                    if self.solver.world.in_run(t):
                        heappush(agenda, t)

        for point in self._said(patterns):
            history.add(point)
            attempt(point)
        last: int | None = None
        while agenda:
            t = heappop(agenda)
            if t == last:
                continue
            last, rules_say = t, set(history.at(t))
            said: dict[Point, None] = {}
            for _ in range(_ROUNDS):  # a new initiation at the deadline itself may restart a clock
                effects = history.delays.act(t, self._nodes)
                points = [Point(kind, one, v, at) for kind, one, v, at in effects if v is not None]
                now = dict.fromkeys(
                    point
                    for point in points
                    if point not in rules_say and any(covers(one, point.fluent) for one in patterns)
                )
                if now == said:
                    break
                history.replace(said, now)
                said = now
            else:
                raise NotSettled(f"at {t} effects come about if, and only if, they do not")
            for point in said:
                attempt(point)
        return history

    def _said(self, patterns: list[Term]) -> Iterator[Point]:
        """What holds from the start on, and what rules say."""
        solver = self.solver
        first = solver.world.grid.prev(solver.world.start)
        for pattern in patterns:
            for fluent, value, _ in solver.evidence.spans(pattern, _ANY, solver.world.start):
                if not solver.is_static(fluent, value):
                    yield Point("initiated", fluent, value, first)
        for rule in self._rules_about(patterns):
            begins = isinstance(rule, ec.Initiation)
            for pattern in patterns:
                for env in solver.effects(rule, pattern, _ANY, None):
                    fluent, value = resolve(rule.fvp.fluent, env), resolve(rule.fvp.value, env)
                    at = resolve(rule.time, env)
                    assert isinstance(at, Int)
                    kind = "terminated"
                    if begins:
                        kind = "initiated" if solver.in_domain(fluent, value) else "ghost"
                    yield Point(kind, fluent, value, at.value)


def _covers_all(pattern: Term, term: Term) -> bool:
    """Are all instances of a term instances of a pattern?"""
    named: Env = {name: Constant(name) for name in variables(term)}
    return covers(pattern, resolve(term, named))


def _whole(fluent: Term) -> Term:
    """Any fluent of a name and arity."""
    return make(key_of(fluent)[0], *(Var(f"^{n}") for n, _ in enumerate(children(fluent))))
