"""Background knowledge: facts, relations that can be listed, and procedures."""

from __future__ import annotations

from collections.abc import Iterator

from horai.lang.ec.syntax import (
    BackgroundRule,
    Call,
    Compare,
    EventDescription,
    Is,
    Literal,
    conjuncts,
)
from horai.lang.terms import Term, functor, is_ground
from horai.oracle.scopes import Names, names
from horai.oracle.unify import Env, unify_all, walk
from horai.oracle.world import Key

Row = tuple[Term, ...]


class Table:
    """The rows of a predicate, with an index per argument made when first asked for."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = dict.fromkeys(rows)
        self._by_argument: dict[int, dict[Term, list[Row]]] = {}

    def add(self, row: Row) -> bool:
        """Add a row; False if it was there."""
        if row in self.rows:
            return False
        self.rows[row] = None
        self._by_argument.clear()
        return True

    def match(self, args: Row, env: Env) -> Iterator[Env]:
        """All ways to make the arguments equal to a row."""
        for row in self._candidates(args, env):
            found = unify_all(args, row, env)
            if found is not None:
                yield found

    def _candidates(self, args: Row, env: Env) -> list[Row]:
        for position, arg in enumerate(args):
            value = walk(arg, env)
            if is_ground(value):
                return self._index(position).get(value, [])
        return list(self.rows)

    def _index(self, position: int) -> dict[Term, list[Row]]:
        index = self._by_argument.get(position)
        if index is None:
            index = {}
            for row in self.rows:
                index.setdefault(row[position], []).append(row)
            self._by_argument[position] = index
        return index


class Background:
    """The predicates of the background knowledge.

    `facts` holds what is listed in files, `extra` the members of dynamic domains.
    """

    def __init__(self, description: EventDescription) -> None:
        self.facts = {key: Table(facts.rows) for key, facts in description.facts.items()}
        self.rules: dict[Key, list[BackgroundRule]] = {}
        for rule in description.rules:
            key = functor(rule.head) if isinstance(rule, BackgroundRule) else None
            if key is not None and isinstance(rule, BackgroundRule):
                self.rules.setdefault(key, []).append(rule)
        self.listable = self._find_listable()

    def defined(self, key: Key) -> bool:
        """Does the predicate have a fact or a rule?"""
        return key in self.facts or key in self.rules

    def _find_listable(self) -> frozenset[Key]:
        """Predicates whose rows can all be listed: every head variable gets a value."""
        known = {key for key in self.facts if key not in self.rules}
        while True:
            more = {
                key
                for key, rules in self.rules.items()
                if key not in known and all(_lists(rule, known | {key}) for rule in rules)
            }
            if not more:
                return frozenset(known)
            known |= more


def _lists(rule: BackgroundRule, known: set[Key]) -> bool:
    bound: Names = frozenset()
    literals: list[Literal] = list(conjuncts(rule.body))
    for literal in literals:
        if isinstance(literal, Call) and literal.key in known:
            bound |= names(literal.term)
    changed = True
    while changed:
        changed = False
        for literal in literals:
            gained = _gains(literal, bound) - bound
            if gained:
                bound |= gained
                changed = True
    return names(rule.head) <= bound


def _gains(literal: Literal, bound: Names) -> Names:
    match literal:
        case Is(target=target, expression=expression) if names(expression) <= bound:
            return names(target)
        case Compare(op="=", left=left, right=right):
            if names(left) <= bound or names(right) <= bound:
                return names(left, right)
        case Call(name="between", args=(low, high, value)) if names(low, high) <= bound:
            return names(value)
        case Call(name="member", args=(item, items)) if names(items) <= bound:
            return names(item)
        case _:
            pass
    return frozenset()
