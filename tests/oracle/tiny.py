"""A second, tiny interpreter for a part of the language, written from the definitions only.

It knows rules with one time variable over events, fluents, negation, disjunction, comparison and
facts. Time-point by time-point it asks which rules fire, and whether a pair holds by the sentence:
some earlier initiation, not itself broken, without a break in between. Slow, and in no way clever.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from horai.lang.ec import syntax as ec
from horai.lang.terms import Atom, Compound, Int, Term, Var, is_ground, substitute

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
    binds = (ec.Happens, ec.HoldsAt, ec.Call)
    if isinstance(literal, ec.Or):
        return 1 if any(isinstance(part, ec.Happens) for part in ec.walk(literal)) else 3
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
        self.facts = description.facts
        self.events = {t: {e for e, at in events if at == t} for t in range(query + 1)}
        self.held: dict[int, set[Pair]] = {}
        self.begun: set[tuple[Term, Term, int]] = set()
        self.ended: set[tuple[Term, Term, int]] = set()  # the value may be a variable: any
        spans = list(spans)
        for rule in description.rules:
            if isinstance(rule, ec.Initially):
                for env in self.solve(rule.body, {}, 0):
                    fluent, value = rule.fvp.fluent, rule.fvp.value
                    self.begun.add((substitute(fluent, env), substitute(value, env), -1))
        for t in range(1, query + 1):
            self.held[t] = {pair for pair, start, end in spans if start <= t < end}
            self.held[t] |= {(f, v) for f, v, _ in self.begun if self.holds(f, v, t)}
            for rule in description.rules:
                self.fire(rule, t)

    def broken(self, fluent: Term, value: Term, t: int) -> bool:
        ended = any(
            f == fluent and at == t and match(v, value, {}) is not None for f, v, at in self.ended
        )
        return ended or any(f == fluent and at == t and v != value for f, v, at in self.begun)

    def holds(self, fluent: Term, value: Term, t: int) -> bool:
        return any(
            (f, v) == (fluent, value)
            and s < t
            and not any(self.broken(fluent, value, p) for p in range(s, t))
            for f, v, s in self.begun
        )

    def fire(self, rule: ec.Rule, t: int) -> None:
        match rule:
            case ec.EventRule(event=event):
                for env in self.solve(rule.body, {_name(rule.time): Int(t)}, t):
                    self.events[t].add(substitute(event, env))
            case ec.Initiation(fvp=fvp) | ec.Termination(fvp=fvp):
                for env in self.solve(rule.body, {_name(rule.time): Int(t)}, t):
                    said = (substitute(fvp.fluent, env), substitute(fvp.value, env), t)
                    (self.begun if isinstance(rule, ec.Initiation) else self.ended).add(said)
            case ec.HoldsAtRule(fvp=fvp):
                for env in self.solve(rule.body, {_name(rule.time): Int(t)}, t):
                    self.held[t].add((substitute(fvp.fluent, env), substitute(fvp.value, env)))
            case _:
                pass

    def solve(self, literal: ec.Literal, env: Env, t: int) -> Iterator[Env]:
        match literal:
            case ec.And(items=items):
                envs = [env]
                for item in sorted(items, key=order):
                    envs = [found for one in envs for found in self.solve(item, one, t)]
                yield from envs
            case ec.Or(items=items):
                for item in items:
                    yield from self.solve(item, env, t)
            case ec.Not(item=item):
                if not any(True for _ in self.solve(item, env, t)):
                    yield env
            case ec.Happens(event=event):
                found = [match(event, happened, env) for happened in self.events[t]]
                yield from (one for one in found if one is not None)
            case ec.HoldsAt(fvp=fvp):
                pair = Compound("=", (fvp.fluent, fvp.value))
                found = [match(pair, Compound("=", p), env) for p in self.held[t]]
                yield from (one for one in found if one is not None)
            case ec.Call(key=key, term=term):
                rows = self.facts[key].rows
                found = [match(term, Compound(literal.name, row), env) for row in rows]
                yield from (one for one in found if one is not None)
            case ec.Compare(op=op, left=left, right=right):
                if compare(op, substitute(left, env), substitute(right, env)):
                    yield env
            case _:
                raise NotImplementedError(literal)


def compare(op: str, left: Term, right: Term) -> bool:
    assert is_ground(left) and is_ground(right)
    if op in ("==", "\\="):
        return (left == right) == (op == "==")
    a, b = number(left), number(right)
    return {"<": a < b, ">": a > b, "=:=": a == b}[op]


def number(term: Term) -> int:
    if isinstance(term, Compound) and term.name == "mod":
        return number(term.args[0]) % number(term.args[1])
    assert isinstance(term, Int)
    return term.value


def _name(time: Term) -> str:
    assert isinstance(time, Var | Atom)
    return time.name
