"""The kinds of values of a program and its signals, for clingo is faster on some."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from horai.asp.plain import (
    Choosing,
    Condition,
    Measure,
    Ordinary,
    PlainProgram,
    PlainRule,
    WindowAtom,
)
from horai.asp.symbols import LARGEST, is_tame
from horai.lang.core.terms import Compound, Int, Term, Var, is_anonymous, subterms, variables
from horai.lang.lars.predicates import ARITHMETIC
from horai.lang.lars.syntax import Atom, Comparison, Predicate


class Kinds:
    """Whether all values are small whole numbers, and whether there are decimals or large ones."""

    def __init__(self, program: PlainProgram) -> None:
        self.is_numeric = True
        self.has_decimals = False
        self.largest = 1
        self.growth = growth(program)
        for term in _terms(program):
            self._look(term)
        self.states_decimals = self.has_decimals
        """Whether the program itself has them, so that no stream is needed to see that."""

    @property
    def is_native(self) -> bool:
        """Whether clingo can add and subtract by itself: it would not notice large results."""
        return self.is_numeric and self.largest * self.growth <= LARGEST

    @property
    def found(self) -> tuple[bool, bool, bool]:
        """All that an encoding depends on."""
        return self.is_numeric, self.has_decimals, self.is_native

    def learn(self, atoms: Iterable[Atom]) -> None:
        """Take note of signals."""
        for atom in atoms:
            for arg in atom.args:
                self._look(arg)

    def reach(self, time: int) -> None:
        """Take note of a time that rules may compute with."""
        self.largest = max(self.largest, abs(time))

    def outgrow(self) -> None:
        """Take note that values are computed which are not small."""
        self.is_numeric = False
        self.has_decimals = True

    def _look(self, term: Term) -> None:
        if isinstance(term, Int):
            self.largest = max(self.largest, abs(term.value))
            if self.largest > LARGEST:
                self.outgrow()
            return
        for part in subterms(term):
            if isinstance(part, Int):
                self.largest = max(self.largest, abs(part.value))
        if not is_tame(term):
            self.has_decimals = True
        if any(not _is_numeric(part) for part in subterms(term)) or self.has_decimals:
            self.is_numeric = False


MOST_ROWS = 2**20
"""More rows than are ever counted."""


def growth(program: PlainProgram) -> int:
    """How many times the largest number there is a sum or difference may be, at most."""
    sizes: dict[Predicate, int] = {}
    most = 1
    for _ in range(len(program.rules) + 1):
        before = dict(sizes)
        for rule in program.rules:
            used = (sizes.get(p, 1) for p in rule.reads())
            size = max(used, default=1) * _factor(rule)
            most = max(most, size)
            for head in rule.heads():
                sizes[head.atom.predicate] = max(sizes.get(head.atom.predicate, 1), size)
        if sizes == before or most > LARGEST:
            return most
    return LARGEST + 1  # there is no bound


def _factor(rule: PlainRule) -> int:
    found = 1
    for condition in rule.conditions():
        if isinstance(condition.element, Measure):
            found *= MOST_ROWS if condition.element.function == "count" else LARGEST + 1
    for term in _of_rule(rule):
        parts = [part for part in subterms(term) if isinstance(part, Compound)]
        if any(part.name in ("*", "^") for part in parts):
            return LARGEST + 1
        found *= 1 + sum(part.name in ("+", "-") and len(part.args) == 2 for part in parts)
    return found


def _is_numeric(term: Term) -> bool:
    return isinstance(term, Int | Var) or (isinstance(term, Compound) and term.name in ARITHMETIC)


def _terms(program: PlainProgram) -> Iterator[Term]:
    for fact in program.facts:
        yield from fact.args
    for rule in program.rules:
        yield from _of_rule(rule)


def _of_rule(rule: PlainRule) -> Iterator[Term]:
    for head in rule.heads():
        yield from head.atom.args
        yield from () if head.time is None else (head.time,)
    if isinstance(rule.head, Choosing):
        yield from (bound for bound in (rule.head.least, rule.head.most) if bound is not None)
    for condition in rule.conditions():
        yield from _of_condition(condition)


def names_in(condition: Condition) -> set[str]:
    """The names of the variables of a condition that have one."""
    found = {n: v for term in _of_condition(condition) for n, v in variables(term).items()}
    return {name for name, variable in found.items() if not is_anonymous(variable)}


def _of_condition(condition: Condition) -> Iterator[Term]:
    match condition.element:
        case Ordinary(atom=atom):
            yield from atom.args
        case WindowAtom(atom=atom, time=time):
            yield from atom.args
            yield from () if time is None else (time,)
        case Comparison(left=left, right=right):
            yield from (left, right)
        case Measure(rows=rows, bound=bound):
            yield bound
            for row in rows:
                yield from row.terms
