"""The vocabulary of two programs: predicates, constants, and how far back they look."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from horai.lang.core.terms import Compound, Constant, Int, Term, Var, subterms
from horai.lang.lars import syntax as lars
from horai.lang.lars.predicates import background, background_facts, derived, inputs, is_made
from horai.lang.lars.walk import children, own_terms, rule_variables, subformulas
from horai.oracle.lars.stream import Pair


@dataclass(frozen=True)
class Vocabulary:
    """Two programs, with windows in time points, and what is in them."""

    programs: tuple[lars.Program, lars.Program]

    @cached_property
    def rules(self) -> list[lars.Rule]:
        """The rules of both."""
        return [rule for program in self.programs for rule in program.rules]

    @cached_property
    def background(self) -> set[lars.Predicate]:
        """The predicates that facts define, in one of the programs at least."""
        return set().union(*map(background, self.programs))

    @cached_property
    def derived(self) -> set[lars.Predicate]:
        """The predicates that rules derive, in one of the programs at least."""
        return set().union(*map(derived, self.programs))

    @cached_property
    def extensional(self) -> list[lars.Predicate]:
        """The predicates that only a stream makes true."""
        known = self.derived | self.background
        return sorted(set().union(*map(inputs, self.programs)) - known)

    @cached_property
    def open(self) -> list[lars.Predicate]:
        """The predicates that a context may speak of: derived ones and those of the stream."""
        made = {p for p in self.derived if is_made(p[0])}
        return sorted((self.derived | set(self.extensional)) - self.background - made)

    def constants(self, more: int, *, numbers: bool) -> list[Term]:
        """All constants of the programs and some new ones; with `numbers`, neighbours of theirs."""
        found = {term: None for rule in self.rules for term in _constants(rule)}
        for program in self.programs:
            for fact in background_facts(program):
                found.update(dict.fromkeys(arg for arg in fact.args if not isinstance(arg, Var)))
        if numbers:
            near = [t.value + d for t in list(found) if isinstance(t, Int) for d in (-1, 1)]
            found.update(dict.fromkeys(map(Int, near)))
        taken = {term.name for term in found if isinstance(term, Constant)}
        fresh = (name for n in range(1, 10**6) if (name := f"c{n}") not in taken)
        found.update((Constant(name), None) for name, _ in zip(fresh, range(more), strict=False))
        return sorted(found, key=repr)

    def atoms(self, predicates: list[lars.Predicate], constants: list[Term]) -> Iterator[lars.Atom]:
        """All atoms over some predicates and constants."""
        for name, arity in predicates:
            for args in product(constants, repeat=arity):
                yield lars.Atom(name, args)

    def pairs(
        self, predicates: list[lars.Predicate], constants: list[Term], times: Iterable[int]
    ) -> list[Pair]:
        """All atoms at all of some times."""
        return [(t, atom) for t in times for atom in self.atoms(predicates, constants)]

    @property
    def counts_signals(self) -> bool:
        """Are there windows over numbers of signals, for which their order matters?"""
        return any(
            isinstance(part, lars.Within)
            and isinstance(part.window, lars.TupleWindow | lars.PartitionWindow)
            for part in self._parts()
        )

    @property
    def has_variables(self) -> bool:
        """Is there a rule that stands for several?"""
        return any(rule_variables(rule) for rule in self.rules)

    @property
    def most_variables(self) -> int:
        """The largest number of variables in a rule."""
        return max((len(rule_variables(rule)) for rule in self.rules), default=0)

    @property
    def reach(self) -> int:
        """How far back windows of a limited length look, at most."""
        return max((_reach(part) for rule in self.rules for part in _conditions(rule)), default=0)

    def _parts(self) -> Iterator[lars.Head]:
        for rule in self.rules:
            for part in _conditions(rule):
                yield from subformulas(part)

    @cached_property
    def obstacle(self) -> str | None:
        """Why a search up to the reach does not settle the matter; None if it does.

        Programs that look back a limited time, and treat all points and all constants alike, cannot
        tell a long stream from its last part, nor many constants from as many as a rule has
        variables.
        """
        return next((found for rule in self.rules if (found := _obstacle_in(rule))), None)

    @property
    def offsets(self) -> set[int]:
        """How long ago something matters: now, just before, and at both sides of window ends."""
        sizes = {
            part.window.past.amount or 0
            for part in self._parts()
            if isinstance(part, lars.Within) and isinstance(part.window, lars.TimeWindow)
        }
        return {0, 1, *sizes, *(size + 1 for size in sizes), self.reach}


def _conditions(rule: lars.Rule) -> Iterator[lars.Head]:
    yield from rule.body
    if rule.head is not None:
        yield rule.head


def _constants(rule: lars.Rule) -> Iterator[Term]:
    for condition in _conditions(rule):
        for part in subformulas(condition):
            # The times of @ are no values, and those of intervals are not either.
            for term in (
                () if isinstance(part, lars.At | lars.Within | lars.Choice) else own_terms(part)
            ):
                for inner in subterms(term):
                    if not isinstance(inner, Var | Compound):
                        yield inner


def _reach(formula: lars.Head) -> int:
    inner = max((_reach(part) for part in children(formula)), default=0)
    if isinstance(formula, lars.Within) and isinstance(formula.window, lars.TimeWindow):
        return inner + (formula.window.past.amount or 0)
    return inner


def _obstacle_in(rule: lars.Rule) -> str | None:
    if isinstance(rule.head, lars.Atom) and is_made(rule.head.name):
        return "`_` under `not`"
    times = set(_window_times(rule))
    for condition in _conditions(rule):
        for part in subformulas(condition):
            named = {v for term in own_terms(part) for v in subterms(term) if isinstance(v, Var)}
            if not isinstance(part, lars.At) and named & times:
                return "times that are values"
        found = _obstacle(condition, times, is_in_window=condition is rule.head)
        if found is not None:
            return found
    return None


def _window_times(rule: lars.Rule) -> Iterator[Var]:
    """The variables for times that lie in a window."""
    for condition in rule.body:
        match condition:
            case lars.Within(window=lars.TimeWindow(), formula=lars.At(time=Var() as time)):
                yield time


def _obstacle(formula: lars.Head, times: set[Var], *, is_in_window: bool) -> str | None:
    match formula:
        case lars.Within(window=lars.TimeWindow(past=past, future=future, hop=hop)):
            if past.amount is None or future.amount != 0:
                return "a window without end or into the future"
            if hop is not None:
                return "a window that hops"
            is_in_window = True
        case lars.Within(window=lars.FilterWindow()):
            pass
        case lars.Within(window=lars.TupleWindow() | lars.PartitionWindow()):
            return "a window over numbers of signals"
        case lars.Within():
            return "a window at fixed times"
        case lars.Reset():
            is_in_window = False
        case lars.At(time=time) if not isinstance(time, Var):
            return "times that are named or computed"
        case lars.At(time=Var() as time) if time not in times:
            return "times outside of windows"
        case lars.Some() | lars.Always() if not is_in_window:
            return "`some` or `always` without a window"
        case lars.Comparison(sign=sign, left=left, right=right):
            if sign not in ("=", "!="):
                return "a comparison by size"
            if isinstance(left, Compound) or isinstance(right, Compound):
                return "arithmetic"
        case lars.Atom(args=args) if any(isinstance(arg, Compound) for arg in args):
            return "compound terms"
        case lars.Aggregate() | lars.Choice():
            return "an aggregate or a choice"
    for part in children(formula):
        found = _obstacle(part, times, is_in_window=is_in_window)
        if found is not None:
            return found
    return None
