"""What the tables of a program ask Python: about terms, large numbers and decimals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import cast

from horai.engine.core.words import Words
from horai.engine.lars.bodies import OPERATIONS, SIGNS
from horai.lang.core.terms import (
    Compound,
    Float,
    Int,
    Term,
    Var,
    is_anonymous,
    substitute,
)
from horai.lang.lars.arithmetic import added, compare, compute_term
from horai.lang.lars.syntax import Sign

MOST_REMEMBERED = 65_536
TOTALS = ("count", "sum", "min", "max")
Row = tuple[int, ...]


class TermAnswers:
    """Answers about words of terms; those that were given last are remembered."""

    def __init__(self, words: Words, check: Callable[[int, int, int], None]) -> None:
        self.words, self.check = words, check
        self._patterns: list[tuple[tuple[Term, ...], tuple[str, ...]]] = []
        self._terms: list[tuple[Term, Sequence[str]]] = []
        remember = lru_cache(MOST_REMEMBERED)
        self.matched = remember(self._matched)
        self.built = remember(self._built)
        self.computed = remember(self._computed)
        self.compared = remember(self._compared)

    def pattern(self, terms: tuple[Term, ...], wanted: tuple[str, ...]) -> int:
        """The number of a pattern, of which the values of some variables are wanted."""
        self._patterns.append((terms, wanted))
        return len(self._patterns) - 1

    def template(self, term: Term, names: Sequence[str]) -> int:
        """The number of a term in which variables are filled in."""
        self._terms.append((term, names))
        return len(self._terms) - 1

    def _matched(self, pattern: int, row: Row) -> Row | None:
        terms, wanted = self._patterns[pattern]
        found: dict[str, Term] = {}
        given = (self.words.term(word) for word in row)
        if not all(_fits(term, value, found) for term, value in zip(terms, given, strict=False)):
            return None
        return tuple(self.words.word(found[name]) for name in wanted)

    def _built(self, template: int, row: Row) -> int:
        term, names = self._terms[template]
        values = (self.words.term(word) for word in row)
        return self.words.word(substitute(term, dict(zip(names, values, strict=True))))

    def _computed(self, sign: int, one: int, other: int | None) -> int | None:
        terms = [self.words.term(word) for word in (one, other) if word is not None]
        found = compute_term(OPERATIONS[sign], terms)
        return None if found is None else self.words.word(found)

    def _compared(self, sign: int, one: int, other: int) -> bool:
        return compare(cast(Sign, SIGNS[sign]), self.words.term(one), self.words.term(other))

    def total(self, function: int, row: Sequence[int]) -> int | None:
        """What an aggregate of some elements comes to; None if it has no value."""
        terms = [self.words.term(word) for word in row]
        numbers = [term.value for term in terms if isinstance(term, Int | Float)]
        if len(numbers) < len(terms):
            return None
        found = added(numbers) if function == 1 else best(TOTALS[function], numbers)
        return self.words.word(Float(found) if isinstance(found, float) else Int(found))


def best(function: str, numbers: list[int | float]) -> int | float:
    """The least or the largest; of equal numbers the whole one."""
    if function == "min":
        return min(numbers, key=lambda number: (number, isinstance(number, float)))
    return max(numbers, key=lambda number: (number, isinstance(number, int)))


def _fits(pattern: Term, value: Term, found: dict[str, Term]) -> bool:
    if isinstance(pattern, Var):
        return is_anonymous(pattern) or found.setdefault(pattern.name, value) == value
    if not isinstance(pattern, Compound):
        return pattern == value
    return (
        isinstance(value, Compound)
        and (pattern.name, len(pattern.args)) == (value.name, len(value.args))
        and all(_fits(*pair, found) for pair in zip(pattern.args, value.args, strict=True))
    )
