"""Groundings: the domain of an entity, and domains that the input itself fills."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from horai.lang.ec.syntax import Call, DynamicDomain, EventDescription, Grounding, conjuncts
from horai.lang.terms import Term, functor, is_ground
from horai.oracle.background import Row
from horai.oracle.solver import Solver
from horai.oracle.unify import Env, ground, resolve, unify
from horai.oracle.world import Key, key_of


class Groundings:
    """The grounding rules of a description, by entity."""

    def __init__(self, description: EventDescription) -> None:
        self.rules: dict[Key, list[Grounding]] = {}
        self.dynamic: set[Key] = set()
        for rule in description.rules:
            if isinstance(rule, Grounding):
                self.rules.setdefault(key_of(rule.entity), []).append(rule)
            elif isinstance(rule, DynamicDomain):
                key = functor(rule.domain)
                if key is not None:
                    self.dynamic.add(key)

    def members(self, items: Iterable[tuple[Term, Term | None]]) -> dict[Key, list[Row]]:
        """What input items put into the dynamic domains, through the groundings of their type."""
        rows: dict[Key, dict[Row, None]] = {key: {} for key in self.dynamic}
        for entity, value in items:
            for rule in self.rules.get(key_of(entity), ()):
                env = _fit(rule, entity, value, {})
                if env is None:
                    continue
                for literal in conjuncts(rule.body):
                    if isinstance(literal, Call) and literal.key in self.dynamic:
                        row = tuple(resolve(arg, env) for arg in literal.args)
                        if all(is_ground(term) for term in row):
                            rows[literal.key][row] = None
        return {key: list(members) for key, members in rows.items()}

    def speaks_of(self, entity: Term, value: Term) -> bool:
        """Is there a grounding for this entity and a value that fits?"""
        return any(_same_value(rule, value) for rule in self.rules.get(key_of(entity), ()))

    def allows(self, solver: Solver, entity: Term, value: Term | None) -> bool:
        """Is a ground entity in its domain? Values that no grounding speaks of are free."""
        spoken_of = False
        for rule in self.rules.get(key_of(entity), ()):
            if (
                value is not None
                and rule.value is not None
                and unify(rule.value, value, {}) is None
            ):
                continue
            spoken_of = True
            env = _fit(rule, entity, value, {})
            if env is not None and solver.holds(rule.body, env):
                return True
        return not spoken_of

    def complete(self, solver: Solver, entity: Term, value: Term | None, env: Env) -> Iterator[Env]:
        """All ways to bind the free variables of an entity by its groundings."""
        for found, found_value in dict.fromkeys(self.instances(solver, key_of(entity))):
            bound = unify(entity, found, env)
            if bound is not None and value is not None and found_value is not None:
                bound = unify(value, found_value, bound)
            if bound is not None:
                yield bound

    def instances(self, solver: Solver, key: Key) -> Iterator[tuple[Term, Term | None]]:
        """The ground instances of an entity that its groundings list."""
        for rule in self.rules.get(key, ()):
            for env in solver.solve((rule.body,), {}):
                if ground(rule.entity, env):
                    found = None if rule.value is None else resolve(rule.value, env)
                    yield resolve(rule.entity, env), found


def _fit(rule: Grounding, entity: Term, value: Term | None, env: Env) -> Env | None:
    """Bind a grounding to a ground entity; an input item of unknown value fits every value."""
    bound = unify(rule.entity, entity, env)
    if bound is not None and value is not None and rule.value is not None:
        return unify(rule.value, value, bound)
    return bound


def _same_value(rule: Grounding, value: Term | None) -> bool:
    return value is None or rule.value is None or unify(rule.value, value, {}) is not None
