"""Groundings: the domain of an entity, and domains that the input itself fills.

A head says something definite where the body or a grounding gives all its variables a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from horai.lang.core.terms import Term, Var, functor, is_ground
from horai.lang.ec import syntax as ec
from horai.lang.ec.errors import UnboundVariable, Unsupported, blaming
from horai.oracle.ec.background import Row
from horai.oracle.ec.scopes import Names, names, visible
from horai.oracle.ec.scopes import given as given_by
from horai.oracle.ec.solver import Solver
from horai.oracle.ec.terms import Env, ground, resolve, unify
from horai.oracle.ec.world import Key, key_of


class Groundings:
    """The grounding rules of a description, by entity, in the world of a self.solver."""

    def __init__(self, description: ec.EventDescription, solver: Solver) -> None:
        self.solver = solver
        self._answers: dict[tuple[Term, Term | None], bool] = {}
        self._rows: dict[Key, list[tuple[Term, Term | None]]] = {}
        self._open: set[Key] = set()  # entities of which an argument is left open
        self.rules: dict[Key, list[ec.Grounding]] = {}
        self.dynamic: set[Key] = set()
        for rule in description.rules:
            if isinstance(rule, ec.Grounding):
                self.rules.setdefault(key_of(rule.entity), []).append(rule)
            elif isinstance(rule, ec.DynamicDomain):
                key = functor(rule.domain)
                if key is not None:
                    self.dynamic.add(key)

    def members(self, items: Iterable[tuple[Term, Term | None]]) -> dict[Key, list[Row]]:
        """The members of dynamic domains that come with input items, through their groundings."""
        rows: dict[Key, dict[Row, None]] = {key: {} for key in self.dynamic}
        for entity, value in items:
            for rule in self._rules(entity, value):
                env = _fit(rule, entity, value)
                if env is None:
                    continue
                for literal in ec.conjuncts(rule.body):
                    if isinstance(literal, ec.Call) and literal.key in self.dynamic:
                        row = tuple(resolve(arg, env) for arg in literal.args)
                        if all(is_ground(term) for term in row):
                            rows[literal.key][row] = None
        return {key: list(members) for key, members in rows.items()}

    def speaks_of(self, entity: Term, value: Term | None) -> bool:
        """Is there a grounding for this entity and a value that fits?"""
        return any(True for _ in self._rules(entity, value))

    def allows(self, entity: Term, value: Term | None) -> bool:
        """Is a ground entity in its domain? Values that no grounding speaks of are free."""
        asked = (entity, value)
        if asked not in self._answers:
            self._answers[asked] = self._allows(entity, value)
        return self._answers[asked]

    def _allows(self, entity: Term, value: Term | None) -> bool:
        spoken_of = False
        for rule in self._rules(entity, value):
            spoken_of = True
            env = _fit(rule, entity, value)
            if env is not None:
                with blaming(rule.clause):
                    if self.solver.holds(rule.body, env):
                        return True
        return not spoken_of

    def complete(self, entity: Term, value: Term | None, env: Env) -> Iterator[Env]:
        """All ways to bind the free variables of an entity by its groundings.

        A value without a grounding of its own has the arguments that the other values have.
        """
        spoken_of = value is None or self.speaks_of(entity, resolve(value, env))
        for found, found_value in self.instances(key_of(entity)):
            bound = unify(entity, found, env)
            if bound is not None and value is not None and found_value is not None and spoken_of:
                bound = unify(value, found_value, bound)
            if bound is not None:
                yield bound

    def instances(self, key: Key) -> list[tuple[Term, Term | None]]:
        """The ground instances of an entity that its groundings list."""
        if key not in self._rows:
            self._rows[key] = list(dict.fromkeys(self._instances(key)))
        return self._rows[key]

    def lists_all(self, key: Key) -> bool:
        """Do the groundings of an entity name every argument? `grounding(go(X,_))` does not."""
        self.instances(key)
        return key not in self._open

    def _instances(self, key: Key) -> Iterator[tuple[Term, Term | None]]:
        for rule in self.rules.get(key, ()):
            with blaming(rule.clause):
                found = list(self.solver.solve((rule.body,), {}))
            for env in found:
                if not ground(rule.entity, env):
                    self._open.add(key)
                else:
                    value = None if rule.value is None else resolve(rule.value, env)
                    listed = value if value is not None and is_ground(value) else None
                    yield resolve(rule.entity, env), listed

    def _rules(self, entity: Term, value: Term | None) -> Iterator[ec.Grounding]:
        """The groundings of an event (no value), or of a fluent with a value that fits."""
        for rule in self.rules.get(key_of(entity), ()):
            if value is None:
                if rule.value is None:
                    yield rule
            elif rule.value is None or unify(rule.value, value, {}) is not None:
                yield rule

    def head_solutions(
        self, body: ec.Literal, entity: Term, value: Term | None, env: Env
    ) -> list[Env]:
        """Solutions in which the head has no free variable.

        Variables of the head that no condition binds range over the grounding of the entity. Where
        conditions need their values (a negation, a comparison), they have to be bound first.
        """
        open_names = names(entity, value) - frozenset(env) - visible(body)
        grounded = key_of(entity) in self.rules
        if not grounded:
            refuse_open(open_names)
        if not open_names:
            try:
                return self._solutions(body, entity, value, [env])
            except UnboundVariable:
                if not grounded:
                    raise
        branches = _branches(body)
        if branches:  # each is a clause of its own, and may say whom the head is about
            return [
                found
                for branch in branches
                for found in self.head_solutions(branch, entity, value, env)
            ]
        # A value that is given may lie outside the grounding, and still ends the others.
        given = value if names(value) - frozenset(env) - given_by(body) else None
        starts = list(self.complete(entity, given, env))
        return self._solutions(body, entity, value, starts)

    def _solutions(
        self, body: ec.Literal, entity: Term, value: Term | None, starts: list[Env]
    ) -> list[Env]:
        head = names(entity, value)
        found: list[Env] = []
        for start in starts:
            for env in self.solver.solve((body,), start):
                left = frozenset(name for name in head if not ground(Var(name), env))
                if not left:
                    found.append(env)
                    continue
                if key_of(entity) not in self.rules:
                    refuse_open(left)
                given = value if value is not None and not ground(value, env) else None
                found.extend(self.complete(entity, given, env))
        return found


def _fit(rule: ec.Grounding, entity: Term, value: Term | None) -> Env | None:
    """Bind a grounding to a ground entity and value."""
    bound = unify(rule.entity, entity, {})
    if bound is not None and value is not None and rule.value is not None:
        return unify(rule.value, value, bound)
    return bound


def _branches(body: ec.Literal) -> list[ec.Literal]:
    """The body with each branch of its first disjunction in place of that."""
    goals = tuple(ec.conjuncts(body))
    for place, goal in enumerate(goals):
        if isinstance(goal, ec.Disjunction):
            before, after = goals[:place], goals[place + 1 :]
            return [ec.Conjunction((*before, item, *after), body.term) for item in goal.items]
    return []


def refuse_open(open_names: Names) -> None:
    """Nothing may be left without a value."""
    if open_names:
        listed = ", ".join(sorted(open_names))
        raise Unsupported(f"nothing gives a value to {listed}: a grounding is missing")
