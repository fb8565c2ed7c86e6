"""The time of initiation in the conditions of delayed effects, and what looks past it.

Helpers, background predicates with bodies, are looked into: an argument that their rules take for a
time is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from horai.lang.core.terms import Compound, Term, Var
from horai.lang.ec.errors import Unsupported
from horai.lang.ec.syntax import (
    AggregateAll,
    BackgroundRule,
    Call,
    Compare,
    Conjunction,
    Disjunction,
    Edge,
    FindAll,
    Happens,
    HoldsAt,
    HoldsFor,
    IfThenElse,
    InitiatedAt,
    Is,
    Literal,
    TerminatedAt,
    conjuncts,
    parts,
    walk,
)
from horai.oracle.ec.background import Background
from horai.oracle.ec.scopes import Names, names
from horai.oracle.ec.strata import DelayRule
from horai.oracle.ec.world import Key

AT_A_POINT = (HoldsAt, Happens, Edge, InitiatedAt, TerminatedAt)


@dataclass
class _Found:
    """Time variables without a value: at some fluents are looked at, at others things happen."""

    looked: set[str] = field(default_factory=set)
    happening: set[str] = field(default_factory=set)


class Initiations:
    """Finds times of initiation; `inside` are the helpers that are being looked into."""

    def __init__(self, background: Background, inside: tuple[Key, ...] = ()) -> None:
        self.background = background
        self.inside = inside
        # What was found before: helpers may call helpers twice, and these others twice.
        self._further: dict[Key, Initiations] = {}
        self._timed: dict[tuple[int, Names], Names] = {}
        self._looked: dict[tuple[int, Names, Names], _Found] = {}
        self._gave: dict[tuple[int, Names], Names] = {}

    def time_of(self, rule: DelayRule) -> str | None:
        """The variable of a body that stands for the time of initiation.

        It is the one at which fluents are looked at, or from which such a time is computed, and
        that nothing else gives a value to. Without such a one it is that at which something
        happens.
        """
        found = _Found()
        self._look(rule.body, names(rule.origin.term), self._times(rule.body), found)
        choice = sorted((found.looked - found.happening) or found.looked or found.happening)
        if len(choice) > 1:
            raise Unsupported(f"which of {', '.join(choice)} is the time of initiation?")
        return choice[0] if choice else None

    def looks_ahead(self, goal: Literal, now: Names) -> bool:
        """Does the condition look at a point that is known only at the deadline?

        `now` are the variables for the time of initiation.
        """
        for part in walk(goal):
            if isinstance(part, AT_A_POINT):
                if not isinstance(part.time, Var) or part.time.name not in now:
                    return True
            elif isinstance(part, Call):
                if part.key in self.inside and part.key in self.background.temporal:
                    return True  # it may go on and on, from time to time
                for rule, leaves in self._rules(part):
                    same = {inner.name for inner, outer in leaves if _is_one_of(outer, now)}
                    if self._within(part).looks_ahead(rule.body, _closed(same, rule.body)):
                        return True
        return False

    def _within(self, call: Call) -> Initiations:
        if call.key not in self._further:
            self._further[call.key] = Initiations(self.background, (*self.inside, call.key))
        return self._further[call.key]

    def _rules(self, call: Call) -> list[tuple[BackgroundRule, list[tuple[Var, Term]]]]:
        """The rules of a helper with what their variables stand for in a call."""
        if call.key in self.inside:
            return []
        found = []
        for rule in self.background.rules.get(call.key, ()):
            head = rule.head.args if isinstance(rule.head, Compound) else ()
            leaves = _leaves(zip(head, call.args, strict=True))
            if rule.body.items and leaves is not None:
                found.append((rule, leaves))
        return found

    def _times(self, body: Literal, times: Names = frozenset()) -> Names:
        """The variables that stand for times, and those that such times are computed from."""
        found = times
        while True:
            more = found.union(*(self._more_times(part, found) for part in walk(body)))
            if more == found:
                return found
            found = more

    def _more_times(self, literal: Literal, times: Names) -> Names:
        match literal:
            case HoldsAt() | Happens() | Edge() | InitiatedAt() | TerminatedAt():
                return names(literal.time)
            case Is(target=target, expression=expression) if names(target) & times:
                return names(expression)
            case Call():
                found: Names = frozenset()
                for rule, leaves in self._rules(literal):
                    inside = self._times_inside(literal, rule, leaves, times)
                    found |= names(*(outer for inner, outer in leaves if inner.name in inside))
                return found
            case _:
                return frozenset()

    def _times_inside(
        self, call: Call, rule: BackgroundRule, leaves: list[tuple[Var, Term]], times: Names
    ) -> Names:
        given = frozenset(inner.name for inner, outer in leaves if names(outer) & times)
        key = (id(rule), given)
        if key not in self._timed:
            found = self._within(call)._times(rule.body, given)
            self._timed[key] = _closed(found, rule.body)
        return self._timed[key]

    def _found_inside(
        self,
        call: Call,
        rule: BackgroundRule,
        leaves: list[tuple[Var, Term]],
        known: Names,
        times: Names,
    ) -> _Found:
        """The variables of a helper's rule that stand for times without a value."""
        given = frozenset(inner.name for inner, outer in leaves if names(outer) <= known)
        asked = self._times_inside(call, rule, leaves, times)
        key = (id(rule), given, asked)
        if key not in self._looked:
            found = _Found()
            self._within(call)._look(rule.body, given, asked, found)
            looked, happening = (
                set(_closed(s, rule.body)) for s in (found.looked, found.happening)
            )
            self._looked[key] = _Found(looked, happening)
        return self._looked[key]

    def _look(self, literal: Literal, known: Names, times: Names, found: _Found) -> None:
        """Find the times of a condition without a value, given the variables that have one."""
        match literal:
            case HoldsAt(time=time):
                found.looked |= names(time) - known
            case Is(target=target, expression=expression) if names(target) & times:
                found.looked |= names(expression) - known
            case Happens() | Edge() | InitiatedAt() | TerminatedAt():
                found.happening |= names(literal.time) - known
            case IfThenElse(condition=condition, then=then, otherwise=otherwise):
                inside = self._gives((condition, then), known)
                self._look(condition, inside, times, found)
                self._look(then, inside, times, found)
                self._look(otherwise, known, times, found)
            case Conjunction(items=items):
                inside = self._gives(items, known)
                for part in items:
                    self._look(part, inside, times, found)
            case Call():
                for rule, leaves in self._rules(literal):
                    inner = self._found_inside(literal, rule, leaves, known, times)
                    for var, outer in leaves:
                        if var.name in inner.looked:
                            found.looked |= names(outer) - known
                        if var.name in inner.happening:
                            found.happening |= names(outer) - known
            case _:
                for part in parts(literal):
                    self._look(part, known, times, found)

    def _gives(self, goals: tuple[Literal, ...], known: Names) -> Names:
        """The variables with a value once conditions are true, whatever times they look at."""
        found, before = known, None
        while found != before:  # one may give what the one before it waits for
            before = found
            for goal in goals:
                found |= self._given(goal, found)
        return found

    def _given(self, goal: Literal, known: Names) -> Names:
        match goal:
            case HoldsAt(fvp=fvp) | Edge(fvp=fvp) | InitiatedAt(fvp=fvp) | TerminatedAt(fvp=fvp):
                return names(fvp.term)
            case Happens(event=event):
                return names(event)
            case Is(target=target):
                return names(target)
            case Compare(op="=", left=left, right=right):
                if names(left) <= known or names(right) <= known:
                    return names(left, right)
                return frozenset()
            case Call():
                return self._given_by_helper(goal, known)
            case HoldsFor(term=term):
                return names(term)
            case FindAll(result=result) | AggregateAll(result=result):
                return names(result)
            case Conjunction(items=items):
                return self._gives(items, known)
            case Disjunction(items=items):
                return frozenset.intersection(*(self._given(item, known) for item in items))
            case IfThenElse(condition=condition, then=then, otherwise=otherwise):
                return self._gives((condition, then), known) & self._given(otherwise, known)
            case _:
                return frozenset()

    def _given_by_helper(self, call: Call, known: Names) -> Names:
        found = names(call.term)
        for rule, leaves in self._rules(call):
            before = frozenset(n.name for n, outer in leaves if names(outer) <= known)
            key = (id(rule), before)
            if key not in self._gave:
                self._gave[key] = self._within(call)._given(rule.body, before)
            after = self._gave[key]
            found -= names(*(outer for inner, outer in leaves if inner.name not in after))
        return found


def _leaves(pairs: Iterable[tuple[Term, Term]]) -> list[tuple[Var, Term]] | None:
    """What the variables of a head stand for in a call; None if the head does not fit."""
    found: list[tuple[Var, Term]] = []
    for head, call in pairs:
        if isinstance(head, Var):
            found.append((head, call))
        elif isinstance(head, Compound) and isinstance(call, Compound):
            if (head.name, len(head.args)) != (call.name, len(call.args)):
                return None
            inner = _leaves(zip(head.args, call.args, strict=True))
            if inner is None:
                return None
            found += inner
        elif not names(call) and not names(head) and head != call:
            return None
    return found


def _is_one_of(term: Term, some: Names) -> bool:
    return isinstance(term, Var) and term.name in some


def _closed(some: Iterable[str], body: Literal) -> Names:
    """Variables, and those that a body says to be equal to them."""
    found = set(some)
    pairs = [{left.name, right.name} for left, right in _equations(body)]
    for _ in pairs:
        found = found.union(*(pair for pair in pairs if pair & found))
    return frozenset(found)


def _equations(body: Literal) -> Iterator[tuple[Var, Var]]:
    for part in conjuncts(body):
        match part:
            case Compare(op="=", left=Var() as left, right=Var() as right):
                yield left, right
            case _:
                pass
