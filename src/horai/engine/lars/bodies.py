"""The body of a rule of LARS as a program that finds its solutions, condition by condition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from horai.lang.core.terms import Compound, Term, Var, is_ground
from horai.lang.lars.predicates import ARITHMETIC
from horai.lang.lars.syntax import Comparison
from horai.plan.lars.normal import Literal, names_of
from horai.plan.lars.strata import OrderedRule, assigned

SCAN, HAS, NOT, TEST, BINARY, BUILD, MOVE, HEAD, TAKE = range(9)
SIGNS = ("=", "!=", "<", "<=", ">", ">=")
OPERATIONS = ("+", "-", "*", "/", "%", "^")


@dataclass(frozen=True, slots=True)
class Condition:
    """A row of a table with values of some variables has to be there, or must not be."""

    table: int
    names: tuple[str, ...]
    positive: bool = True


@dataclass(frozen=True, slots=True)
class TableRule:
    """A rule over tables; if it is timed, the last term is a point of the timeline."""

    head: int
    terms: tuple[Term, ...]
    timed: bool
    body: tuple[Condition | Literal, ...]
    origin: OrderedRule

    @property
    def conditions(self) -> list[tuple[int, Condition]]:
        """Those that read tables, with their places."""
        return [(i, one) for i, one in enumerate(self.body) if isinstance(one, Condition)]


Index = Callable[[int, tuple[int, ...]], int]
"""The number of an index of a table by some columns."""


class Body:
    """The program of a body: its code, and the registers with the constants in it."""

    def __init__(
        self, word: Callable[[Term], int], build: Callable[[Term, list[str]], int]
    ) -> None:
        self._word, self._build = word, build
        self.code: list[int] = []
        self.registers: list[int] = []
        self.bound: dict[str, int] = {}
        self._constants: dict[int, int] = {}

    def register(self, word: int = 0) -> int:
        """A new one."""
        self.registers.append(word)
        return len(self.registers) - 1

    def op(self, op: int, *rest: int) -> None:
        """One more instruction; after its number is where the next one begins."""
        self.code += [op, len(self.code) + len(rest) + 2, *rest]

    def take(self, names: Sequence[str]) -> None:
        """Variables get the values of the row it is all about."""
        pairs: list[int] = []
        for column, name in enumerate(names):
            self.bound[name] = self.register()
            pairs += [column, self.bound[name]]
        self.op(TAKE, len(names), *pairs)

    def sought(self, terms: Sequence[Term]) -> None:
        """Variables get the values that they have in a head; the others are compared at the end."""
        pairs: list[int] = []
        for column, term in enumerate(terms):
            if isinstance(term, Var) and term.name not in self.bound:
                self.bound[term.name] = self.register()
                pairs += [column, self.bound[term.name]]
        self.op(TAKE, len(pairs) // 2, *pairs)

    def value(self, term: Term) -> int:
        """The register with what a term comes to."""
        if isinstance(term, Var):
            return self.bound[term.name]
        if isinstance(term, Compound) and term.name in ARITHMETIC and len(term.args) in (1, 2):
            parts = [self.value(arg) for arg in term.args]
            found = self.register()
            other = parts[1] if len(parts) == 2 else -1
            self.op(BINARY, OPERATIONS.index(term.name), found, parts[0], other)
            return found
        if isinstance(term, Compound) and not is_ground(term):
            names = sorted(names_of((term,)))
            found = self.register()
            registers = [self.bound[name] for name in names]
            self.op(BUILD, self._build(term, names), found, len(names), *registers)
            return found
        word = self._word(term)
        if word not in self._constants:
            self._constants[word] = self.register(word)
        return self._constants[word]

    def conditions(
        self,
        body: Iterable[tuple[Condition | Literal, bool]],
        index: Index,
        tables: Mapping[int, int],
    ) -> None:
        """All conditions, tests first; some do not see the row that it is all about."""
        left = list(body)
        while left:
            place = min(range(len(left)), key=lambda i: self._rank(left[i][0]))
            one, is_hidden = left.pop(place)
            if isinstance(one, Literal):
                self._compare(one)
            else:
                self._read(one, is_hidden, index, tables.get(one.table, one.table))

    def _rank(self, one: Condition | Literal) -> tuple[int, int]:
        if isinstance(one, Literal):
            known = names_of(one.terms) <= self.bound.keys()
            return (0 if known or assigned(one, self.bound) else 9), 0
        known_ones = sum(name in self.bound for name in one.names)
        if known_ones == len(one.names):
            return (2 if one.positive else 1), 0
        if not one.positive:
            return 9, 0
        return (3 if known_ones else 4), -known_ones

    def _compare(self, one: Literal) -> None:
        given = assigned(one, self.bound)
        if given is not None:
            variable, term = given
            value = self.value(term)
            self.bound[variable.name] = self.register()
            self.op(MOVE, self.bound[variable.name], value)
            return
        comparison = one.element
        assert isinstance(comparison, Comparison)
        left, right = self.value(comparison.left), self.value(comparison.right)
        self.op(TEST, SIGNS.index(comparison.sign), left, right, int(one.negated))

    def _read(self, one: Condition, is_hidden: bool, index: Index, table: int) -> None:
        known = [column for column, name in enumerate(one.names) if name in self.bound]
        key = [self.bound[one.names[column]] for column in known]
        if len(known) == len(one.names):
            self.op(HAS if one.positive else NOT, table, int(is_hidden), len(key), *key)
            return
        pairs: list[int] = []
        for column, name in enumerate(one.names):
            if column not in known:
                self.bound[name] = self.register()
                pairs += [column, self.bound[name]]
        number = index(table, tuple(known))
        self.op(SCAN, table, number, int(is_hidden), len(key), len(pairs) // 2, *key, *pairs)

    def head(self, rule: TableRule) -> None:
        """What is said for each solution."""
        values = [self.value(term) for term in rule.terms]
        self.op(HEAD, rule.head, int(rule.timed), len(values), *values)
