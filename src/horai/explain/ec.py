"""Proofs in the Event Calculus: from what holds or happens down to rows of the input."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain, product
from typing import Literal

from horai.explain.conditions import EvidenceSolver, resolved
from horai.explain.proof import AS_ABOVE, DEEPEST, GOES_ON, Course, Place, Proof, ProofKind, Time
from horai.lang.core.terms import (
    Compound,
    Int,
    ListTerm,
    Term,
    Var,
    children,
    functor,
    is_anonymous,
    variables,
)
from horai.lang.ec import syntax as ec
from horai.oracle.ec import intervals as span
from horai.oracle.ec.background import INPUTS
from horai.oracle.ec.delays import Attempt, may_postpone
from horai.oracle.ec.intervals import INF, Interval, Intervals, contains
from horai.oracle.ec.strata import DelayRule, PointRule
from horai.oracle.ec.terms import Env, resolve, unify, unify_all
from horai.oracle.ec.world import term_intervals
from horai.runtime.values import show

_NAME = re.compile(r"\^*[A-Z_][A-Za-z0-9_]*")
"""A variable; marks before and after it set it apart from those of other rules."""
MOST_SOLUTIONS = 12
"""How many solutions of an aggregate, or pieces of an interval, are proved."""


Way = Callable[[Proof], Proof | None]
"""Proves a statement in one way, if it can."""


class NotProvable(Exception):
    """The evidence does not show it, or only by itself."""


class CalculusProver:
    """Proves what a run has found, from its rules and its evidence."""

    def __init__(self, solver: EvidenceSolver, time: Time = str) -> None:
        self.solver, self.time = solver, time
        self.world, self.evidence = solver.world, solver.evidence
        self.course = Course()
        self._proving: set[object] = set()

    def begin(self, depth: int = DEEPEST) -> None:
        """Start a proof of its own, in which nothing is proved yet."""
        self.course.begin(depth)
        self._proving.clear()

    def is_so(self, entity: Term, value: Term | None, t: int) -> bool:
        """Does a fluent have a value at a time, or an event happen?"""
        if value is None:
            return any(True for _ in self.evidence.events(entity, t, t))
        return bool(self.evidence.spans(entity, value, t))

    # --- what holds ------------------------------------------------------------------------------

    def holds(self, fluent: Term, value: Term, t: int) -> Proof:
        """Why a fluent has a value at a time."""
        interval = self._interval(fluent, value, t)
        made = self._node("holds", pair(fluent, value), t, _claim("holdsAt", fluent, value, t))
        made = replace(made, interval=_open(interval))
        return self._once(
            (fluent, value, interval), made, self._reasons(fluent, value, t, interval)
        )

    def _interval(self, fluent: Term, value: Term, t: int) -> Interval:
        for _, _, intervals in self.evidence.spans(fluent, value, t):
            return intervals[0]
        raise NotProvable(f"{pair(fluent, value)} does not hold at {self.time(t)}")

    def _reasons(self, fluent: Term, value: Term, t: int, interval: Interval) -> Iterator[Way]:
        """The ways in which a fluent may have got a value."""
        rows = self.evidence.rows_of(fluent, value, t)
        if rows:
            yield lambda node: self._of_input(node, rows)
        yield lambda node: self._of_program(node, fluent, value, t)
        if self.solver.is_static(fluent, value):
            yield from self._determined(fluent, value, t)
        else:
            yield lambda node: self._by_inertia(node, fluent, value, t, interval)
            yield from self._determined(fluent, value, t)

    def _of_input(self, node: Proof, rows: list[Place]) -> Proof:
        made = replace(node, kind="item", row=rows[0], at=None)
        return replace(made, note=f"and {len(rows) - 1} rows more" if len(rows) > 1 else "")

    def _of_program(self, node: Proof, entity: Term, value: Term | None, t: int) -> Proof | None:
        """What a program says, to which the description adds nothing."""
        said = self.told(entity, value, t)
        return None if said is None else replace(node, premises=(said,))

    def told(self, entity: Term, value: Term | None, t: int) -> Proof | None:
        """Why another language tells of an event, or of a fluent with its value; here none does."""
        return None

    def _by_inertia(
        self, node: Proof, fluent: Term, value: Term, t: int, interval: Interval
    ) -> Proof:
        start = interval[0]
        premises = [self.started(fluent, value, start)]
        if t > start:
            until = replace(node, kind="unbroken", at=None, interval=(start, t), claim="")
            premises.append(until)
        return replace(node, premises=tuple(premises))

    def started(self, fluent: Term, value: Term, start: int) -> Proof:
        """Why a value of a simple fluent holds from a time on."""
        for moment in self._moments_before(start):
            for made in self._points("initiated", fluent, value, moment):
                return made
        for rule, env in self._initial(fluent, value) if start <= self.world.start else ():
            node = self._node(
                "initially", pair(fluent, value), None, f"initially({pair(fluent, value)})"
            )
            return self.by_rule(node, rule.clause, env, self.conditions(rule.body, env))
        raise NotProvable(f"nothing initiates {pair(fluent, value)} before {self.time(start)}")

    def _moments_before(self, start: int) -> Iterator[int]:
        """The moments whose effects are seen from a time-point on, the likely ones first."""
        first = self.world.grid.prev(start)
        likely = {first, start - 1}
        if self.world.grid.tick > 1:
            likely |= self.evidence.times(first, start - 1)
        yield from (t for t in sorted(likely, reverse=True) if self.world.in_run(t))
        others = (t for t in range(start - 1, first - 1, -1) if t not in likely)
        yield from (t for t in others if self.world.in_run(t))

    def _initial(self, fluent: Term, value: Term) -> Iterator[tuple[ec.Initially, Env]]:
        for rule in self.solver.description.rules:
            if isinstance(rule, ec.Initially):
                pattern = (rule.fvp.fluent, rule.fvp.value)
                env = unify_all(pattern, (fluent, value), {})
                if env is not None:
                    found = self.solver.groundings.head_solutions(rule.body, *pattern, env)
                    yield from ((rule, one) for one in found)

    def _points(
        self, kind: Literal["initiated", "terminated"], fluent: Term, value: Term, t: int
    ) -> Iterator[Proof]:
        which = ec.Initiation if kind == "initiated" else ec.Termination
        node = self._node(kind, pair(fluent, value), t, _claim(f"{kind}At", fluent, value, t))
        for rule in self.solver.description.rules:
            if isinstance(rule, which):
                yield from self._said(node, rule, fluent, value, t)
        for effect in self.solver.delayed.effects(kind == "initiated", fluent, value, t):
            made = self._delayed(node, *effect)
            if made is not None:
                yield made

    def _delayed(self, node: Proof, rule: DelayRule, env: Env, begun: Attempt) -> Proof | None:
        """An earlier initiation takes effect: the attempt, and what did not cancel it."""
        fluent, value, since = begun.fluent, begun.value, begun.since
        text = node.text if node.kind == "initiated" else f"the termination of {node.text}"
        made = replace(node, kind="delayed", text=text)
        if self.course.is_deep:
            return replace(made, note=GOES_ON)
        with self.course.deeper():
            attempt = self._attempt(fluent, value, since)
        if attempt is None or node.at is None:
            return None
        unbroken = replace(
            self._node("unbroken", pair(fluent, value), None, ""), interval=(since, node.at)
        )
        premises = [attempt, unbroken]
        if may_postpone(self.solver.delayed.postponable, fluent, value):
            again = f"{pair(fluent, value)} is not initiated again until {self.time(node.at)}"
            premises.append(self._node("not", again, None, ""))
        try:
            premises += self.conditions(rule.body, env)
        except NotProvable:
            return None
        return self.by_rule(made, rule.clause, env, premises)

    def _attempt(self, fluent: Term, value: Term, since: int) -> Proof | None:
        try:
            if not self.world.in_run(since):
                return self.started(fluent, value, self.world.start)
            return next(self._points("initiated", fluent, value, since), None)
        except NotProvable:
            return None

    def _said(
        self, node: Proof, rule: PointRule, entity: Term, value: Term | None, t: int
    ) -> Iterator[Proof]:
        """The proofs of a statement by a rule about a time."""
        for env in self.solver.effects(rule, entity, value, t):
            try:
                yield self.by_rule(node, rule.clause, env, self.conditions(rule.body, env))
            except NotProvable:
                continue

    # --- statically determined fluents -----------------------------------------------------------

    def _determined(self, fluent: Term, value: Term, t: int) -> Iterator[Callable[[Proof], Proof]]:
        for rule in self.solver.description.rules:
            if isinstance(rule, ec.HoldsForRule | ec.HoldsAtRule):
                env = unify_all((rule.fvp.fluent, rule.fvp.value), (fluent, value), {})
                if env is not None:
                    yield from self._determined_by(rule, env, t)

    def _determined_by(
        self, rule: ec.HoldsForRule | ec.HoldsAtRule, env: Env, t: int
    ) -> Iterator[Callable[[Proof], Proof]]:
        solver = self.solver
        with solver.ranging(rule.body, env):
            if isinstance(rule, ec.HoldsAtRule):
                start = unify(rule.time, Int(t), env)
                found = [] if start is None else list(solver.solve((rule.body,), start))
            else:
                listed = solver.solve((rule.body,), env)
                found = [one for one in listed if contains(_listed(rule.intervals, one), t)]
        for one in found:
            yield lambda node, one=one: self.by_rule(  # type: ignore[misc]
                node, rule.clause, one, self._static_premises(rule, one, t)
            )

    def _static_premises(
        self, rule: ec.HoldsForRule | ec.HoldsAtRule, env: Env, t: int
    ) -> list[Proof]:
        if isinstance(rule, ec.HoldsAtRule):
            return self.conditions(rule.body, env)
        lists = IntervalLists(self, rule.body, env)
        others = [one for one in ec.conjuncts(rule.body) if not lists.makes(one)]
        made = ec.Conjunction(tuple(others), rule.body.term)
        with self.solver.ranging(rule.body, env):
            met = self.conditions(made, env)
        return [*lists.why(rule.intervals, t), *met]

    # --- events ----------------------------------------------------------------------------------

    def happens(self, event: Term, t: int) -> Proof:
        """Why an event happens at a time."""
        text, claim = show(event), f"happensAt({show(event)},{t})"
        row = self.evidence.happened(event, t)
        if row is not None:
            return replace(self._node("item", text, t, claim), row=row)
        node = self._node("happens", text, t, claim)
        ways = (
            lambda node, rule=rule: next(self._said(node, rule, event, None, t), None)
            for rule in self.solver.description.rules
            if isinstance(rule, ec.EventRule) and functor(rule.event) == functor(event)
        )
        told = (lambda node: self._of_program(node, event, None, t),)
        return self._once((event, t), node, chain(told, ways))

    def edge(self, kind: str, fluent: Term, value: Term, t: int) -> Proof:
        """Why a value starts or ends at a time."""
        starts = kind in ("start", "startI")
        text, turn = pair(fluent, value), self._turn(kind, fluent, value, t)
        if not self.solver.is_static(fluent, value):
            by = (self.started if starts else self.broken)(fluent, value, turn)
            premises: tuple[Proof, ...] = (by,)
        elif starts:
            premises = (self.holds(fluent, value, turn),)
        else:
            gone = self._node("not", f"{text} does not hold", turn, "")
            premises = (self.holds(fluent, value, turn - 1), gone)
        claim = f"happensAt({kind}({text}),{t})"
        node = self._node("starts" if starts else "ends", text, t, claim)
        return replace(node, premises=premises)

    def _turn(self, kind: str, fluent: Term, value: Term, t: int) -> int:
        """The time from which on it is otherwise: `start` and `end` say the time-point before."""
        for start, end in self.evidence.intervals(fluent, value):
            turn = start if kind in ("start", "startI") else end
            if turn != INF:
                said = self.world.grid.prev(int(turn)) if kind in ("start", "end") else turn
                if said == t:
                    return int(turn)
        raise NotProvable(f"no interval of {pair(fluent, value)} has its {kind} at {self.time(t)}")

    def broken(self, fluent: Term, value: Term, turn: int) -> Proof:
        """What has ended a value of a simple fluent just before a time-point."""
        for moment in self._moments_before(turn):
            for made in self._points("terminated", fluent, value, moment):
                return made
            for _, other, _ in self.solver.points(True, fluent, Var("Other"), moment):
                if other != value:
                    for made in self._points("initiated", fluent, other, moment):
                        return self._ending(made, fluent, value, other)
        raise NotProvable(f"nothing ends {pair(fluent, value)} before {turn}")

    def _ending(self, made: Proof, fluent: Term, value: Term, other: Term) -> Proof:
        """The initiation of another value, which ends one even outside its own grounding."""
        ends = f"which ends {pair(fluent, value)}"
        if self.solver.in_domain(fluent, other):
            return replace(made, note=ends)
        return replace(made, claim="", note=f"{ends}; it is outside its grounding and never holds")

    # --- conditions ------------------------------------------------------------------------------

    def conditions(self, body: ec.Literal, env: Env) -> list[Proof]:
        """Why the conditions of a rule are satisfied, one by one."""
        found: list[Proof] = []
        for literal in ec.conjuncts(body):
            met = next(self.solver.solve((literal,), env), None)
            if met is None:
                raise NotProvable(show(literal.term))
            found += self._condition(literal, met)
        return found

    def _condition(self, literal: ec.Literal, env: Env) -> list[Proof]:
        match literal:
            case ec.TruthValue():
                return []
            case ec.Disjunction(items=items):
                met = (item for item in items if self.solver.holds(item, env))
                return self.conditions(next(met), env)
            case ec.IfThenElse(condition=condition, then=then, otherwise=otherwise):
                for one in self.solver.solve((condition,), env):
                    return [*self.conditions(condition, one), *self.conditions(then, one)]
                return [self._absent(condition, env), *self.conditions(otherwise, env)]
            case ec.Conjunction():
                return self.conditions(literal, env)
            case ec.Negation(item=item):
                return [self._absent(item, env)]
            case ec.Happens(event=event, time=time):
                return [self.happens(resolve(event, env), _time(time, env))]
            case ec.HoldsAt(fvp=fvp, time=time):
                return [self.holds(*resolved(fvp, env), _time(time, env))]
            case ec.Edge(kind=kind, fvp=fvp, time=time):
                return [self.edge(kind, *resolved(fvp, env), _time(time, env))]
            case ec.InitiatedAt(fvp=fvp, time=time) | ec.TerminatedAt(fvp=fvp, time=time):
                begins = isinstance(literal, ec.InitiatedAt)
                about = *resolved(fvp, env), _time(time, env)
                return [self._point("initiated" if begins else "terminated", *about)]
            case ec.FindAll(goal=goal) | ec.AggregateAll(goal=goal):
                return [self._aggregate(literal, goal, env)]
            case ec.HoldsFor() | ec.IntervalOp() | ec.DurationFilter() | ec.Allen():
                return [self._node("intervals", self.text(literal.term, env), None, "")]
            case ec.Call():
                return [self.call(literal, env)]
            case _:
                text = self.text(literal.term, env)
                return [self._node("computed", text, None, text)]

    def _point(
        self, kind: Literal["initiated", "terminated"], fluent: Term, value: Term, t: int
    ) -> Proof:
        for made in self._points(kind, fluent, value, t):
            return made
        raise NotProvable(f"{pair(fluent, value)} is not {kind} at {self.time(t)}")

    def _absent(self, goal: ec.Literal, env: Env) -> Proof:
        text = self.text(Compound("\\+", (goal.term,)), env)
        claim = "" if self.solver.values_for(goal, env) else text
        return self._node("not", "not " + text.removeprefix("\\+ "), None, claim)

    def _aggregate(self, literal: ec.Literal, goal: ec.Literal, env: Env) -> Proof:
        text = self.text(literal.term, env)
        # Who is known in a rule is not known outside of it.
        ranges = bool(self.solver.values_for(goal, env))
        node = self._node("aggregate", text, None, "" if ranges else text)
        found = list(self.solver.solve((goal,), env))
        shown = found[:MOST_SOLUTIONS]
        premises = [made for one in shown for made in self.conditions(goal, one)]
        more = len(found) - len(shown)
        note = f"and {more} solutions more" if more else ""
        return replace(node, premises=tuple(premises), note=note)

    # --- background knowledge --------------------------------------------------------------------

    def call(self, goal: ec.Call, env: Env) -> Proof:
        """Why a predicate of the background knowledge is satisfied."""
        args = tuple(resolve(arg, env) for arg in goal.args)
        text = self.text(goal.term, env)
        background = self.solver.background
        known = goal.key in background.facts or goal.key in background.rules
        if goal.key in INPUTS or goal.name in self.solver.python or not known:
            return self._node("computed", text, None, text)
        facts = self.solver.description.facts.get(goal.key)
        if facts is not None and args in facts.rows:
            source, offset = facts.places[facts.rows.index(args)]
            line = source.position(offset)[0]
            place = Place(source.name, line, source.line(line).strip())
            return replace(self._node("fact", text, None, text), rule=place)
        node = self._node("relation", text, None, text)
        return self._once((goal.name, args), node, self._derivations(goal, args))

    def _derivations(
        self, goal: ec.Call, args: tuple[Term, ...]
    ) -> Iterator[Callable[[Proof], Proof]]:
        for rule in self.solver.background.rules.get(goal.key, ()):
            head = rule.head.args if isinstance(rule.head, Compound) else ()
            start = unify_all(head, args, {})
            for env in self.solver.solve((rule.body,), start) if start is not None else ():
                yield lambda node, rule=rule, env=env: self.by_rule(  # type: ignore[misc]
                    node, rule.clause, env, self.conditions(rule.body, env)
                )

    # --- nodes -----------------------------------------------------------------------------------

    def _once(self, key: object, node: Proof, ways: Iterable[Way]) -> Proof:
        """A statement proved in the first way that does not need the statement itself."""
        if key in self._proving:
            raise NotProvable(f"{node.text} is needed for itself")
        if key in self.course.proved:
            return replace(node, note=AS_ABOVE)
        if self.course.is_deep:
            return replace(node, note=GOES_ON)
        self._proving.add(key)
        try:
            for way in ways:
                before = set(self.course.proved)
                try:
                    with self.course.deeper():
                        made = way(node)
                except NotProvable:
                    self.course.forget_after(before)
                    continue
                if made is not None:
                    self.course.proved.add(key)
                    return made
        finally:
            self._proving.discard(key)
        raise NotProvable(node.text)

    def _node(self, kind: ProofKind, text: str, at: int | None, claim: str) -> Proof:
        return Proof(kind, text, at=at, claim=claim, time=self.time)

    def by_rule(self, node: Proof, clause: ec.Clause, env: Env, premises: Iterable[Proof]) -> Proof:
        return replace(
            node,
            rule=place_of(clause),
            bindings=bindings(clause, env),
            times=times_of(clause),
            premises=tuple(premises),
        )

    def text(self, term: Term, env: Env) -> str:
        return show(nameless(resolve(term, env)))


class IntervalLists:
    """The interval lists of the body of a rule, and which condition makes each of them."""

    def __init__(self, prover: CalculusProver, body: ec.Literal, env: Env) -> None:
        self.prover, self.env = prover, env
        self._makers: dict[str, ec.Literal] = {}
        for literal in ec.conjuncts(body):
            made = _result(literal)
            if made is not None:
                self._makers[made] = literal

    def makes(self, literal: ec.Literal) -> bool:
        """Does the condition make a list?"""
        return any(literal is maker for maker in self._makers.values())

    def why(self, listed: Term | None, t: int) -> list[Proof]:
        """Why a list has an interval with a time in it."""
        if listed is None:
            return []
        maker = self._maker(listed)
        match maker:
            case ec.HoldsFor(fvp=fvp):
                return [self.prover.holds(*resolved(fvp, self.env), t)]
            case ec.IntervalOp(lists=ListTerm(items=items)):
                return self._why_operation(maker, items, t)
            case ec.DurationFilter(intervals=given, op=op, bound=bound):
                interval = _around(self._list(given), t)
                limit = f"{op} {show(resolve(bound, self.env))}"
                return [self._over(f"{self._duration(interval)} {limit}", given, interval)]
            case ec.Allen():
                return [self._related(maker, t)]
            case _:
                return [self._node(show(resolve(listed, self.env)), None, ())]

    def _why_operation(self, maker: ec.IntervalOp, items: tuple[Term, ...], t: int) -> list[Proof]:
        states = [contains(self._list(one), t) for one in items]
        found = [] if maker.base is None else self.why(maker.base, t)
        for place in maker.operator.gather.decides(states):
            one = items[place]
            found += self.why(one, t) if states[place] else [self._without(one, t)]
        return found

    def _maker(self, listed: Term) -> ec.Literal | None:
        return self._makers.get(listed.name) if isinstance(listed, Var) else None

    def _list(self, term: Term) -> Intervals:
        return _listed(term, self.env)

    def _node(self, text: str, interval: Interval | None, premises: Iterable[Proof]) -> Proof:
        made = Proof("intervals", text, premises=tuple(premises), time=self.prover.time)
        return made if interval is None else replace(made, interval=_open(interval))

    def _without(self, listed: Term, t: int) -> Proof:
        """That a list has no interval with a time in it."""
        maker = self._maker(listed)
        text = (
            show(listed)
            if maker is None
            else show(nameless(resolve(maker.term, _timeless(maker, self.env))))
        )
        if isinstance(maker, ec.HoldsFor):
            text = pair(*resolved(maker.fvp, self.env))
            claim = f"\\+ holdsAt({text},{t})"
            return Proof("not", f"{text} does not hold", at=t, claim=claim, time=self.prover.time)
        return Proof("not", f"nothing of {text}", at=t, time=self.prover.time)

    def why_not(
        self, listed: Term | None, t: int
    ) -> Iterator[list[ec.HoldsAt | ec.Negation | Proof]]:
        """What a list lacks to have a time in it: alternatives, each of conditions."""
        maker = None if listed is None else self._maker(listed)
        at = Int(t)
        match maker:
            case ec.HoldsFor(fvp=fvp):
                yield [ec.HoldsAt(fvp, at, Compound("holdsAt", (fvp.term, at)))]
            case ec.IntervalOp(lists=ListTerm(items=items)):
                yield from self._why_not_operation(maker, items, t)
            case ec.DurationFilter(intervals=given, op=op, bound=bound):
                if not contains(self._list(given), t):
                    yield from self.why_not(given, t)
                    return
                interval = _around(self._list(given), t)
                limit = f"{op} {show(resolve(bound, self.env))}"
                text = f"{self._duration(interval)} {limit}"
                yield [Proof("unmet", text, met=False, time=self.prover.time)]
            case _:
                text = (
                    show(listed)
                    if maker is None and listed
                    else show(nameless(maker.term if maker else at))
                )
                yield [Proof("unmet", text, at=t, met=False, time=self.prover.time)]

    def _why_not_operation(
        self, maker: ec.IntervalOp, items: tuple[Term, ...], t: int
    ) -> Iterator[list[ec.HoldsAt | ec.Negation | Proof]]:
        states = [contains(self._list(one), t) for one in items]
        operator, base = maker.operator, maker.base
        is_in = base is None or contains(self._list(base), t)
        before = [[]] if is_in else list(self.why_not(base, t))
        right = (bool(items) and operator.gather.truth(states)) != operator.takes_away
        for places in [()] if right else operator.gather.ways(states):
            each = [
                [self._in_way(items[place], t)]
                if states[place]
                else list(self.why_not(items[place], t))
                for place in places
            ]
            for choice in product(before, *each):
                yield [condition for way in choice for condition in way]

    def _in_way(self, listed: Term, t: int) -> list[ec.HoldsAt | ec.Negation | Proof]:
        maker, at = self._maker(listed), Int(t)
        if isinstance(maker, ec.HoldsFor):
            holds = ec.HoldsAt(maker.fvp, at, Compound("holdsAt", (maker.fvp.term, at)))
            return [ec.Negation(holds, Compound("\\+", (holds.term,)))]
        premises = tuple(self.why(listed, t))
        text = f"nothing of {show(listed)}"
        return [Proof("unmet", text, at=t, met=False, premises=premises, time=self.prover.time)]

    def _duration(self, interval: Interval) -> str:
        start, end = interval
        time = self.prover.time
        # What is open lasts until the query time; what ends after it is known to the end.
        last = self.prover.world.query if end == INF else int(end)
        until = time(last) + (" (open)" if end == INF else "")
        return f"the interval from {time(start)} lasts {last - start} until {until}:"

    def _over(self, text: str, listed: Term, interval: Interval) -> Proof:
        """A statement about a whole interval, which may be made of several pieces."""
        starts = sorted({interval[0], *self._starts(listed, interval)})
        premises = [made for t in starts[:MOST_SOLUTIONS] for made in self.why(listed, t)]
        return self._node(text, interval, premises)

    def _starts(self, listed: Term, interval: Interval) -> Iterator[int]:
        maker = self._maker(listed)
        if isinstance(maker, ec.HoldsFor):
            found = self._list(maker.intervals)
            yield from (s for s, _ in found if interval[0] <= s < interval[1])
        elif isinstance(maker, ec.IntervalOp):
            given = maker.lists.items if isinstance(maker.lists, ListTerm) else ()
            for one in (*given, *([maker.base] if maker.base is not None else [])):
                yield from self._starts(one, interval)

    def _related(self, maker: ec.Allen, t: int) -> Proof:
        """The two intervals that an Allen relation has found."""
        world = self.prover.world
        for source in self._list(maker.source):
            for target in self._list(maker.target):
                found = span.allen(
                    maker.relation, [source], [target], maker.mode, world.grid, world.allen_memory
                )
                if contains(found, t):
                    said = (intervals_text([one], self.prover.time) for one in (source, target))
                    text = f" {maker.relation} ".join(said)
                    premises = [
                        *self.why(maker.source, source[0]),
                        *self.why(maker.target, target[0]),
                    ]
                    return self._node(text, _around(found, t), premises)
        raise NotProvable(show(maker.term))


def _result(literal: ec.Literal) -> str | None:
    match literal:
        case ec.HoldsFor(intervals=Var(name=name)):
            return name
        case ec.IntervalOp(result=Var(name=name)) | ec.Allen(result=Var(name=name)):
            return name
        case ec.DurationFilter(result=Var(name=name)):
            return name
        case _:
            return None


def _timeless(literal: ec.Literal, env: Env) -> Env:
    """What variables stand for, lists of intervals left out: they may be long."""
    return {name: term for name, term in env.items() if term_intervals(resolve(term, env)) is None}


def _listed(term: Term, env: Env) -> Intervals:
    return term_intervals(resolve(term, env)) or []


def _around(intervals: Intervals, t: int) -> Interval:
    return next(one for one in intervals if one[0] <= t < one[1])


def intervals_text(intervals: Intervals, time: Time) -> str:
    """Intervals as answers show them."""
    return ", ".join(f"({time(s)},{'inf' if e == INF else time(int(e))})" for s, e in intervals)


def _open(interval: Interval) -> tuple[int, int | None]:
    return interval[0], None if interval[1] == INF else int(interval[1])


def _time(term: Term, env: Env) -> int:
    from horai.lang.core.arithmetic import evaluate

    found = evaluate(resolve(term, env), {})
    assert isinstance(found, int)
    return found


def pair(fluent: Term, value: Term) -> str:
    """A fluent with its value, as rules write it."""
    return show(Compound("=", (fluent, value)))


def _claim(word: str, fluent: Term, value: Term, t: int) -> str:
    return f"{word}({pair(fluent, value)},{t})"


def nameless(term: Term) -> Term:
    """The term with variables as rules have them, and `_` for those that nobody has named."""
    names = {name: _written(var) for name, var in variables(term).items()}
    return resolve(term, {name: Var(to) for name, to in names.items() if to != name})


def _written(var: Var) -> str:
    found = _NAME.match(var.name)
    return "_" if found is None or is_anonymous(var) else found[0].lstrip("^")


def place_of(clause: ec.Clause) -> Place:
    """Where a clause stands, and its text on one line."""
    text = " ".join(clause.source.snippet(clause.span).split())
    return Place(clause.source.name, clause.source.position(clause.span[0])[0], text)


def bindings(clause: ec.Clause, env: Env) -> tuple[tuple[str, str], ...]:
    """What the variables of a clause stand for; lists of intervals, which may be long, left out."""
    terms = [term for term in (clause.head, clause.body) if term is not None]
    found: dict[str, str] = {}
    for name, var in {n: v for term in terms for n, v in variables(term).items()}.items():
        value = resolve(var, env)
        if not is_anonymous(var) and not variables(value) and not _is_list_of(clause, value):
            found[name] = show(value)
    return tuple(found.items())


_TIMED = {(name, 2) for name in ("happensAt", "holdsAt", "initiatedAt", "terminatedAt")}


def times_of(clause: ec.Clause) -> frozenset[str]:
    """The variables of a clause that stand for times."""
    return frozenset(one for term in (clause.head, clause.body) if term for one in _times(term))


def _times(term: Term) -> Iterator[str]:
    if isinstance(term, Compound) and functor(term) in _TIMED and isinstance(term.args[1], Var):
        yield term.args[1].name
    for child in children(term):
        yield from _times(child)


def _is_list_of(clause: ec.Clause, value: Term) -> bool:
    """Is it a list of intervals? The empty list is one in a rule about intervals."""
    found = term_intervals(value)
    return bool(found) or (found == [] and functor(clause.head or value) == ("holdsFor", 2))
