"""What kinds of values a program and its signals have, for clingo is faster on some."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from horai.asp.plain import Choosing, Condition, Measure, Ordinary, PlainProgram, WindowAtom
from horai.asp.symbols import is_tame
from horai.lang.lars.predicates import ARITHMETIC
from horai.lang.lars.syntax import Atom, Comparison
from horai.lang.terms import Compound, Int, Term, Var, subterms


class Kinds:
    """Whether all values are small whole numbers, and whether there are decimals or large ones."""

    def __init__(self, program: PlainProgram) -> None:
        self.is_numeric = True
        self.has_decimals = False
        for term in _terms(program):
            self._look(term)

    def learn(self, atoms: Iterable[Atom]) -> bool:
        """Take note of signals; True if this changes anything."""
        before = (self.is_numeric, self.has_decimals)
        for atom in atoms:
            for arg in atom.args:
                self._look(arg)
        return before != (self.is_numeric, self.has_decimals)

    def outgrow(self) -> None:
        """Take note that values are computed which are not small."""
        self.is_numeric = False
        self.has_decimals = True

    def _look(self, term: Term) -> None:
        if not is_tame(term):
            self.has_decimals = True
        if any(not _is_numeric(part) for part in subterms(term)) or self.has_decimals:
            self.is_numeric = False


def _is_numeric(term: Term) -> bool:
    return isinstance(term, Int | Var) or (isinstance(term, Compound) and term.name in ARITHMETIC)


def _terms(program: PlainProgram) -> Iterator[Term]:
    for fact in program.facts:
        yield from fact.args
    for rule in program.rules:
        for head in rule.heads():
            yield from head.atom.args
            yield from () if head.time is None else (head.time,)
        if isinstance(rule.head, Choosing):
            yield from (bound for bound in (rule.head.least, rule.head.most) if bound is not None)
        for condition in rule.conditions():
            yield from _of_condition(condition)


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
