"""A second, tiny interpreter for a part of the language, written from the definitions only.

It knows rules over events, fluents, starts and ends, points, negation, disjunction, comparison,
facts, earlier times and delays. Time-point by time-point it asks which rules fire, again and again
until nothing changes, and whether a pair holds by the sentence: some earlier initiation, not itself
broken, without a break in between. Slow, and in no way clever.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from horai.lang.core.terms import Compound, Constant, Int, Term, Var, is_ground, substitute
from horai.lang.ec import syntax as ec

Env = dict[str, Term]
Pair = tuple[Term, Term]


def match(pattern: Term, ground: Term, env: Env) -> Env | None:
    """Bind the variables of a pattern so that it equals a ground term."""
    if isinstance(pattern, Var):
        return {**env, pattern.name: ground} if env.get(pattern.name, ground) == ground else None
    if isinstance(pattern, Compound) and isinstance(ground, Compound):
        if (pattern.name, len(pattern.args)) != (ground.name, len(ground.args)):
            return None
        for left, right in zip(pattern.args, ground.args, strict=True):
            found = match(left, right, env)
            if found is None:
                return None
            env = found
        return env
    return env if pattern == ground else None


def order(literal: ec.Literal) -> int:
    """Conditions that give values first, then those that test them."""
    binds = (ec.Happens, ec.HoldsAt, ec.Call, ec.Edge, ec.InitiatedAt, ec.TerminatedAt)
    if isinstance(literal, ec.Disjunction):
        return 1 if any(isinstance(part, ec.Happens) for part in ec.walk(literal)) else 3
    if isinstance(literal, ec.Is):
        return -1
    return 0 if isinstance(literal, binds) else 2 if isinstance(literal, ec.Compare) else 4


class Tiny:
    """What holds and happens at every time-point of (0, query]."""

    def __init__(
        self,
        description: ec.EventDescription,
        events: Iterable[tuple[Term, int]],
        spans: Iterable[tuple[Pair, int, float]],
        query: int,
    ) -> None:
        self.facts, self.rules = description.facts, description.rules
        self.events = {t: {e for e, at in events if at == t} for t in range(query + 1)}
        self.spans = list(spans)
        self.held: dict[int, set[Pair]] = {}
        self.begun: dict[int, set[Pair]] = {}
        self.ended: dict[int, set[Pair]] = {}  # the value may be a variable: any
        self.acted: set[tuple[int, Pair, int]] = set()
        for rule in self.rules:
            if isinstance(rule, ec.Initially):
                found = {instance(rule.fvp, env) for env in self.solve(rule.body, {}, 0)}
                self.begun.setdefault(-1, set()).update(found)
        for t in range(1, query + 1):
            given = self.events[t]
            held = {pair for pair in self.pairs() if self.is_held(pair, t)}
            before: object = None
            while before != (before := self.settle(t, given, held)):
                pass
            self.acted |= {(n, pair, t) for n, pair, _ in self.due(t)}

    def settle(self, t: int, given: set[Term], held: set[Pair]) -> object:
        """What all rules say at t, given what they said when last asked."""
        happened, begun, ended, true = set(given), set[Pair](), set[Pair](), set(held)
        for rule in self.rules:
            match rule:
                case ec.EventRule(event=event):
                    happened |= {substitute(event, env) for env in self.fire(rule, t)}
                case ec.Initiation(fvp=fvp):
                    begun |= {instance(fvp, env) for env in self.fire(rule, t)}
                case ec.Termination(fvp=fvp):
                    ended |= {instance(fvp, env) for env in self.fire(rule, t)}
                case ec.HoldsAtRule(fvp=fvp):
                    true |= {instance(fvp, env) for env in self.fire(rule, t)}
                case _:
                    pass
        for number, _, effect in self.due(t):
            rule = self.rules[number]
            (begun if isinstance(rule, ec.FutureInitiation) else ended).add(effect)
        self.events[t], self.begun[t], self.ended[t], self.held[t] = happened, begun, ended, true
        return happened, begun, ended, true

    def fire(
        self, rule: ec.EventRule | ec.Initiation | ec.Termination | ec.HoldsAtRule, t: int
    ) -> Iterator[Env]:
        return self.solve(rule.body, {_name(rule.time): Int(t)}, t)

    def due(self, t: int) -> Iterator[tuple[int, Pair, Pair]]:
        """Delays that act at t: the number of the rule, the cause and the effect."""
        for number, rule in enumerate(self.rules):
            if not isinstance(rule, ec.FutureInitiation | ec.FutureTermination):
                continue
            effect = rule.target if isinstance(rule, ec.FutureInitiation) else rule.origin
            since = t - number_of(rule.delay)
            for pair in self.begun.get(since, set()):
                env = match(rule.origin.term, Compound("=", pair), {})
                if env is None or any(self.broken(*pair, p) for p in range(since + 1, t)):
                    continue
                again = any(pair in self.begun.get(p, set()) for p in range(since + 1, t + 1))
                settled = any((number, pair, p) in self.acted for p in range(since + 1, t))
                if not (again if self.postponable(pair) else settled):
                    yield number, pair, instance(effect, env)

    def postponable(self, pair: Pair) -> bool:
        return any(
            isinstance(rule, ec.Postponable)
            and match(rule.fvp.term, Compound("=", pair), {}) is not None
            for rule in self.rules
        )

    def pairs(self) -> set[Pair]:
        return {pair for pair, _, _ in self.spans}.union(*self.begun.values())

    def is_held(self, pair: Pair, t: int) -> bool:
        """Does an input or simple pair hold? Known up to the point after the current one."""
        given = any(one == pair and start <= t < end for one, start, end in self.spans)
        return given or self.holds(*pair, t)

    def broken(self, fluent: Term, value: Term, t: int) -> bool:
        ended = self.ended.get(t, set())
        begun = self.begun.get(t, set())
        return any(f == fluent and match(v, value, {}) is not None for f, v in ended) or any(
            f == fluent and v != value for f, v in begun
        )

    def holds(self, fluent: Term, value: Term, t: int) -> bool:
        return any(
            (fluent, value) in self.begun[s]
            and not any(self.broken(fluent, value, p) for p in range(s, t))
            for s in self.begun
            if s < t
        )

    def solve(self, literal: ec.Literal, env: Env, t: int) -> Iterator[Env]:
        match literal:
            case ec.Conjunction(items=items):
                envs = [env]
                for item in sorted(items, key=order):
                    envs = [found for one in envs for found in self.solve(item, one, t)]
                yield from envs
            case ec.Disjunction(items=items):
                for item in items:
                    yield from self.solve(item, env, t)
            case ec.Negation(item=item):
                if not any(True for _ in self.solve(item, env, t)):
                    yield env
            case ec.Happens(event=event, time=time):
                for at, bound in self.times(time, env, t):
                    yield from matches(event, self.events.get(at, ()), bound)
            case ec.HoldsAt(fvp=fvp, time=time):
                for at, bound in self.times(time, env, t):
                    held = self.held.get(at, {p for p in self.pairs() if self.is_held(p, at)})
                    yield from matches(fvp.term, (Compound("=", pair) for pair in held), bound)
            case ec.Edge(fvp=fvp, kind=kind):
                before, after = (t, t + 1) if kind in ("start", "end") else (t - 1, t)
                changed = [
                    Compound("=", pair)
                    for pair in self.pairs()
                    if (self.is_held(pair, before), self.is_held(pair, after))
                    == ((False, True) if kind in ("start", "startI") else (True, False))
                ]
                yield from matches(fvp.term, changed, env)
            case ec.InitiatedAt(fvp=fvp):
                begun = (Compound("=", pair) for pair in self.begun.get(t, set()))
                yield from matches(fvp.term, begun, env)
            case ec.TerminatedAt(fvp=fvp):
                value = substitute(fvp.value, env)
                at_t = self.ended.get(t, set())
                ended = {f for f, v in at_t if match(v, value, {}) is not None}
                yield from matches(fvp.fluent, ended, env)
            case ec.Is(target=Var(name=name), expression=expression):
                yield {**env, name: Int(number_of(substitute(expression, env)))}
            case ec.Call(key=key, term=term):
                rows = self.facts[key].rows
                yield from matches(term, (Compound(literal.name, row) for row in rows), env)
            case ec.Compare(op=op, left=left, right=right):
                if compare(op, substitute(left, env), substitute(right, env)):
                    yield env
            case _:
                raise NotImplementedError(literal)

    def times(self, time: Term, env: Env, t: int) -> Iterator[tuple[int, Env]]:
        """The time of a condition; one without a value is any time up to now."""
        known = substitute(time, env)
        for at in [known.value] if isinstance(known, Int) else range(1, t + 1):
            yield at, {**env, _name(time): Int(at)} if isinstance(known, Var) else env


def matches(pattern: Term, candidates: Iterable[Term], env: Env) -> Iterator[Env]:
    found = (match(pattern, candidate, env) for candidate in list(candidates))
    yield from (one for one in found if one is not None)


def instance(fvp: ec.FVP, env: Env) -> Pair:
    return substitute(fvp.fluent, env), substitute(fvp.value, env)


def compare(op: str, left: Term, right: Term) -> bool:
    assert is_ground(left) and is_ground(right)
    if op in ("==", "\\="):
        return (left == right) == (op == "==")
    a, b = number_of(left), number_of(right)
    return {"<": a < b, ">": a > b, "=:=": a == b}[op]


def number_of(term: Term) -> int:
    if isinstance(term, Compound):
        left, right = number_of(term.args[0]), number_of(term.args[1])
        return {"mod": left % max(right, 1), "+": left + right, "-": left - right}[term.name]
    assert isinstance(term, Int)
    return term.value


def _name(time: Term) -> str:
    assert isinstance(time, Var | Constant)
    return time.name
