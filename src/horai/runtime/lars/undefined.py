"""Conditions of LARS programs without a value: text where a number is needed, division by zero.

Whatever engine runs, this is told from the program and the input. The program says which arguments
of signals and facts flow into arithmetic, sums and comparisons with numbers, through derived atoms
too; those columns of the input are looked at. Only what has to hold together is followed: nothing
inside of `not`, `;` and `->`, where a rule may well mean what it says.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from horai import io
from horai.io.terms import Term as Plain
from horai.io.terms import distinct, to_source
from horai.lang.core.diagnostics import Diagnostic
from horai.lang.core.terms import (
    Bindings,
    Compound,
    Constant,
    Float,
    Int,
    Str,
    Term,
    Var,
    substitute,
    subterms,
)
from horai.lang.ec.errors import MOST
from horai.lang.lars import syntax as lars
from horai.lang.lars.arithmetic import compare
from horai.lang.lars.predicates import ARITHMETIC, head_atoms, is_computed
from horai.lang.lars.printer import show_head
from horai.lang.lars.walk import own_terms, subformulas
from horai.runtime.findings import ConditionWithoutValue, no_number
from horai.runtime.values import plain, to_term

_ORDER = frozenset(("<", "<=", ">", ">="))
_DIVISION = frozenset("/%")
_NUMBERS = (Int, Float)
_CONSTANTS = (Constant, Int, Float, Str)


class Came(NamedTuple):
    """Where a value came from; `arrival` is None for facts, `line` 0 for what is no row."""

    arrival: int | None
    file: str
    line: int

    @property
    def row(self) -> str:
        """The place of the row, in words."""
        return f"{self.file}:{self.line}" if self.line else self.file

    def together(self, others: Iterable[Came]) -> Came:
        """The same where a value is there once others have come, too."""
        known = [one.arrival for one in (self, *others) if one.arrival is not None]
        return self._replace(arrival=max(known, default=None))


@dataclass(eq=False, slots=True)
class NumberColumn:
    """An argument of a signal that should be a number, or should not be zero.

    `fixed` are the constants that other arguments have to be.
    """

    predicate: lars.Predicate
    position: int
    fixed: tuple[tuple[int, Term], ...]
    is_divisor: bool
    came: dict[Plain, Came] = field(default_factory=dict)

    def tells(self, value: Plain) -> bool:
        """Is this a value with which there is none?"""
        if self.is_divisor:
            return not isinstance(value, str) and value == 0
        return isinstance(value, str)

    def take(self, args: Sequence[Plain], came: Came) -> None:
        """Note what is in a row, if it is to be told."""
        value = args[self.position]
        if not self.tells(value) or value in self.came or len(self.came) == MOST:
            return
        if all(to_term(args[position]) == wanted for position, wanted in self.fixed):
            self.came[value] = came

    def look(self, table: io.ItemTable, start: int) -> None:
        """Look at the rows of a table that lie in the run."""
        column = table.column(f"a{self.position}")
        if len(self.came) == MOST or (column.kind in ("int", "float") and not self.is_divisor):
            return
        codes, terms = distinct(column)
        rows = _mask(codes, map(self.tells, terms))
        for position, value in self.fixed:
            if not rows.any():
                return
            places, others = distinct(table.column(f"a{position}"))
            rows &= _mask(places, (to_term(other) == value for other in others))
        op, time = (table.table.column(name).to_numpy() for name in ("op", "start"))
        found = np.flatnonzero(rows & (op > 0) & (time >= start))
        _, firsts = np.unique(codes.to_numpy()[found], return_index=True)
        for row in found[np.sort(firsts)[:MOST]].tolist():
            arrival, file, line = (
                table.table.column(name)[row].as_py() for name in ("arrival", "file", "line")
            )
            if len(self.came) < MOST:
                value = terms[codes[row].as_py()]
                self.came.setdefault(value, Came(arrival, file, line))


def _mask(codes: object, wanted: Iterable[bool]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    found: np.ndarray[tuple[int], np.dtype[np.bool_]]
    found = np.fromiter(wanted, np.bool_)[np.asarray(codes)]
    return found


# --- where values of variables come from ---------------------------------------------------------


@dataclass(eq=False, slots=True)
class Inflow:
    """All that an argument of an atom can be: from the input, and from rules that derive it."""

    column: NumberColumn
    ruled: list[Confluence] = field(default_factory=list)
    values: dict[Plain, Came] = field(default_factory=dict)

    def grows(self) -> bool:
        """Take in what has come, here and where it comes from; False if there is nothing new."""
        before = len(self.values)
        for some in (self.column.came, *(rule.values() for rule in self.ruled)):
            for value, came in some.items():
                self.values.setdefault(value, came)
        return len(self.values) > before


@dataclass(eq=False, slots=True)
class Confluence:
    """All that a variable of a rule can be: what every atom with it and all tests let through."""

    inflows: list[Inflow] = field(default_factory=list)
    tests: list[lars.Comparison] = field(default_factory=list)

    def values(self) -> dict[Plain, Came]:
        if not self.inflows:
            return {}
        first, *others = (inflow.values for inflow in self.inflows)
        return {
            value: came.together(other[value] for other in others)
            for value, came in first.items()
            if all(value in other for other in others)
            and all(_passes(test, to_term(value)) for test in self.tests)
        }


def _passes(test: lars.Comparison, value: Term) -> bool:
    """Does a test with constants let a value through, or have no value itself?"""
    sides = test.left, test.right
    is_of_numbers = test.sign in _ORDER and any(isinstance(side, _NUMBERS) for side in sides)
    if is_of_numbers and not isinstance(value, _NUMBERS):
        return True
    left, right = (value if isinstance(side, Var) else side for side in sides)
    return compare(test.sign, left, right)


class NumberPlace(NamedTuple):
    """A condition, or the head of a rule, in which a variable has to be a number, or not zero."""

    rule: lars.Rule
    part: lars.Head
    variable: str
    values: Confluence


@dataclass(frozen=True, slots=True)
class JoinedConditions:
    """Conditions that hold together, and those of them (or heads) that are looked at here."""

    conditions: tuple[lars.Formula, ...]
    own: tuple[lars.Head, ...]
    summed: tuple[tuple[lars.Aggregate, lars.Element], ...] = ()


def _scopes(rule: lars.Rule) -> Iterator[JoinedConditions]:
    body = tuple(part for condition in rule.body for part in _together(condition))
    heads: tuple[lars.Head, ...] = ()
    if rule.head is not None and not isinstance(rule.head, lars.Choice):
        heads = tuple(subformulas(rule.head))
    yield JoinedConditions(body, (*body, *heads))
    yield from _summed(body, body)
    if isinstance(rule.head, lars.Choice):
        for option in rule.head.options:
            inner = tuple(part for one in option.condition for part in _together(one))
            yield JoinedConditions((*body, *inner), (*inner, *subformulas(option.head)))
            yield from _summed((*body, *inner), inner)


def _summed(
    conditions: tuple[lars.Formula, ...], own: tuple[lars.Formula, ...]
) -> Iterator[JoinedConditions]:
    for part in own:
        if not isinstance(part, lars.Aggregate):
            continue
        for element in part.elements:
            inner = tuple(one for condition in element.condition for one in _together(condition))
            yield JoinedConditions((*conditions, *inner), inner, ((part, element),))


def _together(formula: lars.Formula) -> Iterator[lars.Formula]:
    """A formula and the parts of it that have to hold if it does."""
    yield formula
    match formula:
        case lars.And(parts=parts):
            for part in parts:
                yield from _together(part)
        case (
            lars.Some(formula=inner)
            | lars.Always(formula=inner)
            | lars.At(formula=inner)
            | lars.Within(formula=inner)
            | lars.Reset(formula=inner)
        ):
            yield from _together(inner)


def _needs(scope: JoinedConditions) -> Iterator[tuple[lars.Head, str, bool]]:
    """Variables that have to be numbers, or (True) must not be zero, and the part that wants it."""
    numbers = set(_numbers(scope.conditions))
    for needed in _operands_of(scope, numbers):
        # Text is not what such a variable can be, and the rule does not apply for another reason.
        if needed[2] or needed[1] not in numbers:
            yield needed


def _operands_of(
    scope: JoinedConditions, numbers: Set[str]
) -> Iterator[tuple[lars.Head, str, bool]]:
    for part in scope.own:
        match part:
            case lars.Comparison(sign=sign, left=left, right=right) if sign in _ORDER:
                for one, other in ((left, right), (right, left)):
                    is_known = isinstance(other, Var) and other.name in numbers
                    if isinstance(one, Var) and (is_known or _is_number(other)):
                        yield part, one.name, False
            case lars.Aggregate(sign=sign, bound=Var(name=name)) if sign in _ORDER:
                yield part, name, False
        # Terms inside of an aggregate are looked at with its conditions.
        terms = (part.bound,) if isinstance(part, lars.Aggregate) else own_terms(part)
        for name, is_divisor in _operands(terms):
            yield part, name, is_divisor
    for aggregate, element in scope.summed:
        first = element.terms[0] if element.terms else None
        if isinstance(first, Var) and aggregate.function != "count":
            yield aggregate, first.name, False
        for name, is_divisor in _operands(element.terms):
            yield aggregate, name, is_divisor


def _numbers(conditions: Iterable[lars.Formula]) -> Iterator[str]:
    """Variables that are numbers whatever comes: times, and what is computed."""
    for part in conditions:
        match part:
            case lars.At(time=Var(name=name)) | lars.Aggregate(sign="=", bound=Var(name=name)):
                yield name
            case lars.Comparison(sign="=", left=left, right=right):
                for one, other in ((left, right), (right, left)):
                    if isinstance(one, Var) and _is_number(other):
                        yield one.name


def _is_number(term: Term) -> bool:
    return isinstance(term, _NUMBERS) or _is_operation(term)


def _is_operation(term: Term) -> TypeGuard[Compound]:
    return isinstance(term, Compound) and term.name in ARITHMETIC


def _operands(terms: Iterable[Term]) -> Iterator[tuple[str, bool]]:
    for term in terms:
        for part in subterms(term):
            if _is_operation(part):
                yield from ((arg.name, False) for arg in part.args if isinstance(arg, Var))
                last = part.args[-1]
                if part.name in _DIVISION and isinstance(last, Var):
                    yield last.name, True


# --- what is found -------------------------------------------------------------------------------


class ProgramFindings:
    """Looks for values with which conditions of a program have none, among what comes."""

    def __init__(self, program: lars.Program, start: int) -> None:
        self.start = start
        self._inflows: dict[object, Inflow] = {}
        self._deriving: dict[lars.Predicate, list[tuple[lars.Rule, lars.Atom]]] = {}
        for rule in program.rules:
            if rule.head is not None and not _is_fact(rule):
                for atom in head_atoms(rule.head):
                    self._deriving.setdefault(atom.predicate, []).append((rule, atom))
        self._places = list(self._found(program))
        self._columns: dict[lars.Predicate, list[NumberColumn]] = {}
        for inflow in self._follow():
            self._columns.setdefault(inflow.column.predicate, []).append(inflow.column)
        for rule in program.rules if self._columns else ():
            if _is_fact(rule):
                self._look_at_fact(rule)

    def _found(self, program: lars.Program) -> Iterator[NumberPlace]:
        for rule in program.rules:
            if _is_fact(rule):
                continue
            body = set[tuple[str, bool]]()
            for number, scope in enumerate(_scopes(rule)):
                told = set(body) if number else body  # each aggregate has variables of its own
                for part, name, is_divisor in _needs(scope):
                    if (name, is_divisor) not in told:
                        told.add((name, is_divisor))
                        values = self._confluence(scope.conditions, name, is_divisor, {})
                        yield NumberPlace(rule, part, name, values)

    def _confluence(
        self, conditions: Iterable[lars.Formula], name: str, is_divisor: bool, known: Bindings
    ) -> Confluence:
        found = Confluence()
        for part in conditions:
            match part:
                case lars.Atom(args=args):
                    atom = lars.Atom(part.name, tuple(substitute(arg, known) for arg in args))
                    found.inflows += (
                        self._inflow(atom, position, is_divisor)
                        for position, arg in enumerate(args)
                        if isinstance(arg, Var) and arg.name == name
                    )
                case (
                    lars.Comparison(left=Var(name=one), right=other)
                    | lars.Comparison(left=other, right=Var(name=one))
                ) if one == name and isinstance(other, _CONSTANTS):
                    found.tests.append(part)
        return found

    def _inflow(self, atom: lars.Atom, position: int, is_divisor: bool) -> Inflow:
        fixed = tuple(
            (place, arg)
            for place, arg in enumerate(atom.args)
            if place != position and isinstance(arg, _CONSTANTS)
        )
        key = (atom.predicate, position, fixed, is_divisor)
        found = self._inflows.get(key)
        if found is None:
            column = NumberColumn(atom.predicate, position, fixed, is_divisor)
            found = self._inflows[key] = Inflow(column)
        return found

    def _follow(self) -> Iterator[Inflow]:
        """All arguments that values come from: rules that derive one lead to others."""
        done = 0
        while done < len(self._inflows):
            for inflow in list(self._inflows.values())[done:]:
                for rule, head in self._deriving.get(inflow.column.predicate, ()):
                    inflow.ruled += self._through(rule, head, inflow.column)
                yield inflow
                done += 1

    def _through(
        self, rule: lars.Rule, head: lars.Atom, column: NumberColumn
    ) -> Iterator[Confluence]:
        """The variable of a rule that is derived; none where the rule itself fails for it."""
        var = head.args[column.position]
        # An option of a choice has more conditions than the body: it is not followed.
        if not isinstance(var, Var) or isinstance(rule.head, lars.Choice):
            return
        known: dict[str, Term] = {}
        for place, constant in column.fixed:
            arg = head.args[place]
            if isinstance(arg, Var):
                known[arg.name] = constant
            elif arg != constant:
                return
        scope = next(_scopes(rule))
        if all(needed[1:] != (var.name, column.is_divisor) for needed in _needs(scope)):
            yield self._confluence(scope.conditions, var.name, column.is_divisor, known)

    def _look_at_fact(self, fact: lars.Rule) -> None:
        assert isinstance(fact.head, lars.Atom)
        for column in self._columns.get(fact.head.predicate, ()):
            value = fact.head.args[column.position]
            if not (lars.is_range(value) or is_computed(value)):
                args = [plain(arg) for arg in fact.head.args]
                column.take(args, _where(fact))

    @property
    def asked(self) -> Collection[lars.Predicate]:
        """The signals that are looked at."""
        return self._columns.keys()

    def look(self, items: Iterable[io.ItemTable | io.Item]) -> None:
        """Look at signals that have come."""
        for one in items if self._columns else ():
            if isinstance(one, io.ItemTable):
                for column in self._columns.get((one.name, one.arity), ()):
                    column.look(one, self.start)
            elif one.op > 0 and one.start >= self.start:
                for column in self._columns.get((one.name, len(one.args)), ()):
                    column.take(one.args, Came(one.arrival, one.file, one.line))

    def told(self) -> list[list[Any]]:
        """What has come so far, as plain values for another one of the same program."""
        return [
            [number, io.to_source(value), *came]
            for number, inflow in enumerate(self._inflows.values())
            for value, came in inflow.column.came.items()
            if came.arrival is not None
        ]

    def hear(self, told: Iterable[list[Any]], files: Sequence[str]) -> None:
        """Take in what others saw, file after file and line after line as one would have."""
        given = {name: place for place, name in enumerate(files)}
        rows = ((number, io.from_source(value), Came(*came)) for number, value, *came in told)
        columns = [inflow.column.came for inflow in self._inflows.values()]
        for number, value, came in sorted(
            rows, key=lambda row: (given.get(row[2].file, len(given)), row[2].file, row[2].line)
        ):
            if len(columns[number]) < MOST:
                columns[number].setdefault(value, came)

    def findings(self, last: int | None, letters: Sequence[io.DeadLetter]) -> Iterator[Diagnostic]:
        """H550: what came up to a query time, if one is given, and was no dead letter."""
        if not any(inflow.column.came for inflow in self._inflows.values()):
            return
        # Those found last are where values come from.
        while sum(inflow.grows() for inflow in reversed(self._inflows.values())):
            pass
        unused = {f"{letter.file}:{letter.line}" for letter in letters}
        for place in self._places:
            came = {
                value: came.row
                for value, came in place.values.values().items()
                if came.arrival is None or last is None or came.arrival <= last
                if came.row not in unused
            }
            if came:
                yield _told(place, came)


def _told(place: NumberPlace, came: Mapping[Plain, str]) -> Diagnostic:
    (value, row), name = next(iter(came.items())), place.variable
    text = to_source(value)
    why, hint = "a division by zero", f"add {name} != {text} if that is meant"
    if isinstance(value, str):
        why, hint = no_number(value, hint)
    span = place.part.span or place.rule.span
    first = f"{name} = {text}: {why}"
    values, source = [to_source(one) for one in came], place.rule.source
    condition = show_head(place.part)
    return ConditionWithoutValue(condition, values, source, span, hint, first, row).finding()


def _is_fact(rule: lars.Rule) -> bool:
    return not rule.body and isinstance(rule.head, lars.Atom)


def _where(fact: lars.Rule) -> Came:
    if fact.source is None or fact.span is None:
        return Came(None, "a fact", 0)
    return Came(None, fact.source.name, fact.source.position(fact.span[0])[0])
