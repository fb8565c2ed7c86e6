"""Deadlines: effects of an initiation that come later, unless something comes between.

Those that only change the value of the same instance after a constant time belong to inertia. Of
all others every initiation makes an *attempt*, an event at the deadline that knows its own time,
and a rule that this event drives says the effect: if the value has not been broken in between, the
clock has not started again, no earlier attempt has acted, and the conditions are met.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from horai.engine.core.facts import StaticFacts
from horai.engine.core.layout import Layout, Relation
from horai.engine.core.rules import Body, Label, by_value
from horai.engine.core.words import Words
from horai.lang.core.terms import Compound, Int, Term, Var, is_ground, make
from horai.lang.ec import syntax as ec
from horai.plan import operators as op
from horai.plan.ec.delays import known_already
from horai.plan.ec.instructions import ANY, INF
from horai.plan.ec.literals import names
from horai.plan.ec.unify import may_match
from horai.plan.program import DelayPlan, Plan, PointPlan

Key = tuple[str, int]
MOST = 16  # deadlines of one fluent that inertia keeps
DUE, SINCE = Var("due~"), Var("since~")


@dataclass(frozen=True)
class Attempt:
    """What must not have happened between an initiation and its deadline.

    `restarts` are the pairs whose clock may start again, and `acted` are the attempts that have
    acted, if that matters. `longest` is how long it takes at most.
    """

    fluent: Relation
    origin: tuple[Term, ...]
    since: Term
    restarts: tuple[tuple[Term, ...], ...]
    acted: Relation | None
    longest: int

    def stands(self, body: Body, fail: Label) -> None:
        """Go on if the attempt that drives a body has not come to nothing."""
        code = body.code
        origin = [body.load(term, fail) for term in self.origin]
        since, due = body.load(self.since, fail), body.load(DUE, fail)
        self._has_begun(body, origin, since, fail)
        one, first, last = body.register(), body.register(), body.register()
        code.emit("LDC", one, 3)
        code.emit("ADD", first, since, one, fail=fail)
        code.emit("SUB", last, due, one, fail=fail)
        initiated = body.layout.part(self.fluent, "initiated")
        terminated = body.layout.part(self.fluent, "terminated")
        found, again, done = self._points(body, initiated, first, last, fail)
        code.emit("NE", found, origin[-1], fail=again)
        code.emit("JMP", fail=fail)
        code.here(done)
        found, again, done = self._points(body, terminated, first, last, fail)
        code.emit("COVERS", found, origin[-1], fail=again)
        code.emit("JMP", fail=fail)
        code.here(done)
        stands = code.label()
        for terms in self.restarts:
            other = code.label()
            known, body.env = body.env, {}
            for term, register in zip(terms, origin, strict=True):
                body.match(term, register, other)
            body.env = known
            found, again, done = self._points(body, initiated, first, due, fail)
            code.emit("EQ", found, origin[-1], fail=again)
            code.emit("JMP", fail=fail)
            code.here(done)
            code.emit("JMP", fail=stands)
            code.here(other)
        if self.acted is not None:
            _, _, done = self._points(body, self.acted, first, last, fail)
            code.emit("JMP", fail=fail)
            code.here(done)
        code.here(stands)

    def _has_begun(self, body: Body, origin: list[int], since: int, fail: Label) -> None:
        """Several initial values cancel each other, and then none of them begins anything."""
        code = body.code
        inside = code.label()
        start = code.constant(2 * body.rules.start + 1)
        code.emit("CLE", since, start, fail=inside)
        site = body.site(self.fluent, ANY, 0, self.longest)
        line, _ = body.line(self.fluent, self.origin[: len(self.fluent.keys)], site, fail)
        code.emit("HOLDS", line, origin[-1], start, fail=fail)
        code.here(inside)

    def _points(
        self, body: Body, part: Relation, first: int, last: int, fail: Label
    ) -> tuple[int, Label, Label]:
        """A loop over points: the register with the value, where to go on, where it is done."""
        code = body.code
        keys = self.origin[: len(part.keys)]
        line, _ = body.line(part, keys, body.site(part, ANY, 0, self.longest), fail)
        again, done = code.label(), code.label()
        iterator, time, found = body.register(3), body.register(), body.register()
        code.emit("POPEN", iterator, line, code.list([first, last]))
        code.here(again)
        outs = [1, 0, found] if part.rest else [0]
        code.emit("PNEXT", iterator, code.list([time, *outs]), fail=done)
        return found, again, done


@dataclass(frozen=True)
class Effect:
    """A rule that a deadline needs, with the condition that drives it.

    `about` says what it does to whom: the grounding of that gives variables a value.
    """

    plan: PointPlan
    driver: ec.Literal
    about: PointPlan
    attempt: Attempt | None = None


class Deadlines:
    """The deadlines of a plan: entries for inertia, and rules for all others."""

    def __init__(self, plan: Plan, layout: Layout, facts: StaticFacts, words: Words) -> None:
        self.plan, self.layout, self.facts, self.words = plan, layout, facts, words
        every = [delay for stratum in plan.strata for delay in stratum.delays]
        entries = {delay.number: self._entry(delay) for delay in every}
        apart = {delay.origin_key for delay in every if entries[delay.number] is None}
        number = Counter(delay.origin_key for delay in every)
        read = plan.points_read | apart | {key for key in number if number[key] > MOST}
        self.entries: dict[Relation, list[list[int]]] = {}
        """By fluent: what inertia has to know, if nothing else reads its points."""
        self._apart: set[int] = set()
        for delay in every:
            entry = entries[delay.number]
            if entry is None or delay.origin_key in read:
                self._apart.add(delay.number)
            else:
                fluent = self._origin(delay)
                assert fluent is not None
                self.entries.setdefault(fluent, []).append(entry)

    def effects(self, plan: DelayPlan, level: int) -> Iterator[Effect]:
        """The rules of a deadline that is not of inertia: its attempts, and what they do."""
        fluent = self._origin(plan)
        if plan.number not in self._apart or fluent is None:
            return  # what no rule begins is never initiated
        since = SINCE if plan.time is None else Var(plan.time)
        one_value = is_ground(plan.origin[-1])
        attempts, acted = self.layout.deadline(fluent, plan.number, one_value, level)
        terms = plan.origin[: len(attempts.keys)]
        rule = plan.rule
        table, helpers = self.plan.lowering.table, self.plan.graph.helpers
        early = known_already(rule, plan.time, table, helpers, plan.domain)
        later = Compound("+", (since, plan.delay))
        origin = rule.origin
        driver: ec.Literal = ec.InitiatedAt(
            origin, since, Compound("initiatedAt", (origin.term, since))
        )
        goals = (driver, *early, ec.Is(DUE, later, Compound("is", (DUE, later))))
        begun = self._rule(plan, "event", attempts.key, (*terms, since), goals)
        kind = "initiated" if plan.initiates else "terminated"
        about = self._rule(plan, kind, plan.target_key, plan.target, ())
        yield Effect(begun, driver, about)
        happens = make(attempts.key[0], *terms, since)
        driver = ec.Happens(happens, DUE, Compound("happensAt", (happens, DUE)))
        took = Compound("-", (DUE, since))
        goals = (driver,)
        if isinstance(plan.delay, Var):
            goals += (ec.Is(plan.delay, took, Compound("is", (plan.delay, took))),)
        goals += tuple(ec.conjuncts(rule.body))
        restarts = self._restarts(plan)
        always = any(_covers(one, plan.origin) for one in restarts)
        attempt = Attempt(
            fluent,
            plan.origin,
            since,
            restarts,
            None if always or self._breaks(plan) else acted,
            plan.delay.value if isinstance(plan.delay, Int) else INF,
        )
        acts = self._rule(plan, kind, plan.target_key, plan.target, goals)
        yield Effect(acts, driver, about, attempt)
        if attempt.acted is not None:
            told = self._rule(plan, "event", acted.key, terms, goals)
            yield Effect(told, driver, about, attempt)

    def _rule(
        self,
        plan: DelayPlan,
        kind: str,
        key: Key,
        terms: tuple[Term, ...],
        goals: tuple[ec.Literal, ...],
    ) -> PointPlan:
        body = ec.Conjunction(goals, plan.rule.body.term)
        domain = plan.domain
        return PointPlan(kind, key, terms, DUE, op.Chain(), domain, body, plan.clause)  # type: ignore[arg-type]

    def _origin(self, plan: DelayPlan) -> Relation | None:
        some = self.layout.fluents.get(plan.origin_key, ())
        return next((one for one in some if one.kind == "simple"), None)

    def _breaks(self, plan: DelayPlan) -> bool:
        """Does the effect end its origin, so that later attempts come to nothing anyway?"""
        if not plan.initiates:
            return True
        same = plan.origin_key == plan.target_key and plan.origin[:-1] == plan.target[:-1]
        return same and not may_match(plan.origin[-1], plan.target[-1])

    def _restarts(self, plan: DelayPlan) -> tuple[tuple[Term, ...], ...]:
        """The pairs whose clock starts again that may be those of a deadline."""
        return tuple(
            fvp.columns
            for fvp in self.plan.postponable
            if fvp.key == plan.origin_key and all(map(may_match, fvp.columns, plan.origin))
        )

    # --- deadlines of inertia --------------------------------------------------------------------

    def _entry(self, plan: DelayPlan) -> list[int] | None:
        """What inertia has to know of a deadline; None if it needs more than inertia knows."""
        *mine, source = plan.origin
        *theirs, target = plan.target
        if self._origin(plan) is None or plan.origin_key != plan.target_key or mine != theirs:
            return None
        if not all(isinstance(arg, Var) for arg in mine) or len(set(mine)) < len(mine):
            return None
        restarts = self._restarts(plan)
        starts_again = any(_covers(one, plan.origin) for one in restarts)
        if restarts and not starts_again:
            return None
        every = isinstance(source, Var) and target == source and not plan.initiates
        if not is_ground(source) and not (every and starts_again):
            return None
        if not (every or is_ground(target)) or by_value(self.plan, plan.target_key):
            return None
        delay = self._constant(plan)
        if delay is None or delay <= 0:
            return None
        origin = ANY if every else self.words.word(source)
        aim = self.words.word(target) if plan.initiates else ANY
        return [delay, origin, aim, int(starts_again)]

    def _constant(self, plan: DelayPlan) -> int | None:
        """How long it takes, if conditions say nothing else, and that of all instances."""
        found = plan.delay
        for step in plan.chain.steps:
            if not isinstance(step, op.FactJoin) or names(step.term) & names(*plan.origin):
                return None
            said = self.facts.only(step, {})
            if said is None:
                return None
            if isinstance(found, Var) and found.name in said:
                found = self.words.term(said[found.name])
        return found.value if isinstance(found, Int) else None


def _covers(pattern: tuple[Term, ...], origin: tuple[Term, ...]) -> bool:
    """Does a pattern that may fit an origin fit all its instances?"""
    free = pattern[:-1] if is_ground(origin[-1]) else pattern
    return all(isinstance(term, Var) for term in free) and len(set(free)) == len(free)
