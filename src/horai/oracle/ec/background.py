"""Background knowledge: facts, relations that can be listed, and procedures."""

from __future__ import annotations

from collections.abc import Iterator

from horai.lang.core.terms import Term, functor, is_ground
from horai.lang.ec import syntax as ec
from horai.lang.ec.builtins import BUILTINS
from horai.oracle.ec.scopes import Names, names
from horai.oracle.ec.terms import Env, unify_all
from horai.oracle.ec.terms import walk as value_of
from horai.oracle.ec.world import Key

Row = tuple[Term, ...]
# The arguments that built-in predicates need; `queryTime` is no relation, it depends on the run.
INPUTS = {key: known.inputs for key, known in BUILTINS.items() if key[0] != "queryTime"}
TEMPORAL = (ec.Happens, ec.Edge, ec.HoldsAt, ec.HoldsFor, ec.InitiatedAt, ec.TerminatedAt)


class FactTable:
    """The rows of a predicate, with an index per argument made when first asked for."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = dict.fromkeys(rows)
        self._by_argument: dict[int, dict[Term, list[Row]]] = {}

    def add(self, row: Row) -> bool:
        """Add a row; False if it was there."""
        if row in self.rows:
            return False
        self.rows[row] = None
        for position, index in self._by_argument.items():
            index.setdefault(row[position], []).append(row)
        return True

    def match(self, args: Row, env: Env) -> Iterator[Env]:
        """All ways to make the arguments equal to a row."""
        for row in self._candidates(args, env):
            found = unify_all(args, row, env)
            if found is not None:
                yield found

    def _candidates(self, args: Row, env: Env) -> list[Row]:
        for position, arg in enumerate(args):
            value = value_of(arg, env)
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

    `facts` holds what is listed in files. The rows of `listable` predicates can all be written
    down; `group` names the predicates that have to be listed together because they call each
    other. All others are procedures, and so is whatever looks at events or fluents: those change
    while the background does not.
    """

    def __init__(self, description: ec.EventDescription) -> None:
        self.facts = {key: FactTable(facts.rows) for key, facts in description.facts.items()}
        self.rules: dict[Key, list[ec.BackgroundRule]] = {}
        self.dynamic: set[Key] = set()
        for rule in description.rules:
            if isinstance(rule, ec.BackgroundRule):
                key = functor(rule.head)
                if key is not None:
                    self.rules.setdefault(key, []).append(rule)
            elif isinstance(rule, ec.DynamicDomain):
                key = functor(rule.domain)
                if key is not None:
                    self.dynamic.add(key)
        calls = {key: set(self._called(key)) for key in self.rules}
        self.temporal = self._find_temporal(calls)
        self.listable = self._find_listable()
        reached = {key: _reached(key, calls) for key in self.rules if key in self.listable}
        self.group: dict[Key, list[Key]] = {
            key: [k for k in reached if reached[k] == reached.get(key)] for key in self.listable
        }
        """The predicates with rules that call each other, by each of them."""

    def _called(self, key: Key) -> Iterator[Key]:
        for rule in self.rules[key]:
            yield from (
                literal.key for literal in ec.walk(rule.body) if isinstance(literal, ec.Call)
            )

    def _find_temporal(self, calls: dict[Key, set[Key]]) -> frozenset[Key]:
        """Predicates that look at events or fluents, themselves or through others."""
        found = {
            key
            for key, rules in self.rules.items()
            if any(isinstance(part, TEMPORAL) for rule in rules for part in ec.walk(rule.body))
        }
        while True:
            more = {key for key, called in calls.items() if called & found} - found
            if not more:
                return frozenset(found)
            found |= more

    def _find_listable(self) -> frozenset[Key]:
        """Predicates whose rows can all be listed: every head variable gets a value.

        Predicates may call each other, so all are taken to be listable until one proves not to be.
        """
        known = {*self.facts, *self.rules, *self.dynamic} - self.temporal
        while True:
            less = {
                key
                for key in known
                if any(not _lists(rule, known) for rule in self.rules.get(key, ()))
            }
            if not less:
                return frozenset(known)
            known -= less


def _reached(key: Key, calls: dict[Key, set[Key]]) -> set[Key]:
    """A predicate and all that its rules call, directly or through others."""
    found, left = {key}, [key]
    while left:
        more = calls.get(left.pop(), set()) - found
        found |= more
        left += more
    return found


def _lists(rule: ec.BackgroundRule, known: set[Key]) -> bool:
    bound: Names = frozenset()
    literals: list[ec.Literal] = list(ec.conjuncts(rule.body))
    changed = True
    while changed:
        changed = False
        for literal in literals:
            gained = _gains(literal, bound, known) - bound
            if gained:
                bound |= gained
                changed = True
    return names(rule.head) <= bound


def _gains(literal: ec.Literal, bound: Names, known: set[Key]) -> Names:
    """The variables a condition gives values to, once `bound` have theirs."""
    match literal:
        case ec.Is(target=target, expression=expression) if names(expression) <= bound:
            return names(target)
        case ec.Compare(op="=", left=left, right=right):
            if names(left) <= bound or names(right) <= bound:
                return names(left, right)
        case ec.Call(key=key, args=args) if key in INPUTS:
            if names(*(args[place] for place in INPUTS[key])) <= bound:
                return names(literal.term)
        case ec.Call(key=key) if key in known:
            return names(literal.term)
        case ec.FindAll(result=result) | ec.AggregateAll(result=result):
            return names(result)
        case _:
            pass
    return frozenset()
