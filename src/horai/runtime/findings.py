"""Findings of a run about its input, and their codes H550 to H599.

They tell of conditions without a value, of input that was of no use, and of constants of the rules
that come with the stream in another spelling: Work for work, 3.0 for 3.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from horai import io
from horai.engine.admission import ItemType
from horai.errors import counted
from horai.io.terms import Term as Plain
from horai.io.terms import TermColumn, TermText, distinct, to_source, to_terms
from horai.lang.core.arithmetic import COMPARISONS, NoValue, evaluate
from horai.lang.core.diagnostics import Diagnostic, diagnostic
from horai.lang.core.printer import show
from horai.lang.core.source import SourceText
from horai.lang.core.terms import (
    Compound,
    Constant,
    Float,
    Int,
    Span,
    Str,
    Term,
    Var,
    children,
    functor,
    subterms,
)
from horai.lang.ec.errors import MOST, Env, Undefined, UndefinedCondition
from horai.lang.ec.syntax import (
    BackgroundRule,
    Call,
    Clause,
    Compare,
    EventDescription,
    Happens,
    Literal,
)
from horai.plan.ec.entities import Entities
from horai.plan.ec.literals import body_literals, literal_fvp
from horai.runtime.values import plain

BORDER = "% stream\n"
"""Parts the rules of an example from its rows."""


_FRESH = re.compile(r"(?<=\w)~\d+")
_TESTS = frozenset({"number", "integer", "float", "atom"})
_NUMBER = re.compile(r"\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?\s*")


class RunFindings:
    """Collects them while items come in."""

    def __init__(self) -> None:
        self.undefined = Undefined()
        self._rows: dict[int, str] = {}  # where the first value of a place came from

    @property
    def is_looking(self) -> bool:
        """Is there something without a value of which no row is known?"""
        return any(id(place) not in self._rows for place in self.undefined.places.values())

    def look(self, tables: Sequence[io.ItemTable]) -> None:
        """Find the rows that brought what had no value, among those that have just come."""
        for place in self.undefined.places.values():
            if id(place) not in self._rows:
                found = _row(place, tables)
                if found is not None:
                    self._rows[id(place)] = found

    def told(self) -> list[ConditionWithoutValue]:
        """Conditions that had no value, in the order in which they were met."""
        places = self.undefined.places.values()
        return [_told(place, self._rows.get(id(place))) for place in places if _is_told(place)]

    def findings(self) -> list[Diagnostic]:
        """The same as H550."""
        return [one.finding() for one in self.told()]


class ConditionWithoutValue(NamedTuple):
    """A condition that had no value, in words: for which values, and more about the first."""

    condition: str
    values: list[str]  # none if there are no variables in question
    source: SourceText | None
    span: Span | None
    hint: str | None
    first: str
    row: str | None

    def finding(self) -> Diagnostic:
        """H550: for how many values there is none, and the first."""
        message = f"`{self.condition}` fails: an expression in it has no value"
        if count := len(self.values):
            number = f"{MOST} values or more" if count == MOST else counted(count, "value")
            message = f"`{self.condition}` fails for {number}: an expression in it has no value"
            message += " there"
        note = f"first {self.first}{f' ({self.row})' if self.row else ''}"
        return diagnostic("H550", message, self.source, self.span, self.hint, note)

    def to_json(self) -> list[Any]:
        """Plain values, with the name of the source."""
        return [*self._replace(source=None), self.source and self.source.name]

    @classmethod
    def from_json(cls, given: list[Any], sources: Iterable[SourceText]) -> ConditionWithoutValue:
        """What `to_json` gave of rules from these sources."""
        *fields, name = given
        found = cls(*fields)
        return found._replace(
            source=next((one for one in sources if one.name == name), None),
            span=found.span and (found.span[0], found.span[1]),
        )

    def together(self, other: ConditionWithoutValue) -> ConditionWithoutValue:
        """What two parts of a run say of one condition."""
        values = list(dict.fromkeys([*self.values, *other.values]))[:MOST]
        return self._replace(values=values, row=self.row or other.row)


def findings_of_parts(
    told: Iterable[list[Any]], sources: Sequence[SourceText]
) -> Iterator[Diagnostic]:
    """H550 of a run in parts, given what `to_json` of each said."""
    found: dict[object, ConditionWithoutValue] = {}
    for given in told:
        one = ConditionWithoutValue.from_json(given, sources)
        key = (one.condition, one.source and one.source.name, one.span)
        found[key] = found[key].together(one) if key in found else one
    return (one.finding() for one in found.values())


def unused(rows: int, letters: Sequence[io.DeadLetter]) -> Iterator[Diagnostic]:
    """H551: there were rows, and none of them came to count."""
    lost = sum(letter.code != "partly-too-late" for letter in letters)
    if not rows or lost < rows:
        return
    first = letters[0]
    yield diagnostic(
        "H551",
        f"{_none_of(rows)} used by any rule",
        note=f"{first.file}:{first.line}: {first.code}: {first.reason}",
        hint="are these the rules for this stream? --dead-letters FILE tells of every row",
    )


def unread(
    rows: int, came: Iterable[tuple[str, int]], asked: Iterable[tuple[str, int]]
) -> Iterator[Diagnostic]:
    """H551: all rows are of names, or numbers of arguments, that no rule asks for."""
    theirs, ours = (sorted(f"{name}/{arity}" for name, arity in some) for some in (came, asked))
    yield diagnostic(
        "H551",
        f"{_none_of(rows)} used by any rule",
        note=f"there are {', '.join(theirs[:8])}; the rules ask for {', '.join(ours[:8])}",
        hint="are these the rules for this stream?",
    )


def _none_of(rows: int) -> str:
    return "the only row of the input is not" if rows == 1 else f"none of the {rows} rows is"


def empty(files: Iterable[str]) -> Iterator[Diagnostic]:
    """H552: files without rows."""
    for file in files:
        yield diagnostic("H552", f"{file} has no rows")


# --- conditions without a value ------------------------------------------------------------------


def _is_told(place: UndefinedCondition) -> bool:
    """False where the rule itself asks whether it is a number."""
    names = {name for env in place.values for name, _ in env}
    tests = (
        part.args[0]
        for part in _conditions(place)
        if isinstance(part, Compound) and part.name in _TESTS and len(part.args) == 1
    )
    return not any(isinstance(arg, Var) and arg.name in names for arg in tests)


def _conditions(place: UndefinedCondition) -> Iterator[Term]:
    """All terms of the rule with a condition, and of the one that called it."""
    for clause in (place.clause, place.caller):
        yield from subterms(clause.body or Constant(""))


def _told(place: UndefinedCondition, row: str | None) -> ConditionWithoutValue:
    clause, env = place.clause, next(iter(place.values))
    values = [", ".join(f"{name} = {show(value)}" for name, value in one) for one in place.values]
    why, hint = _reason(place, env)
    return ConditionWithoutValue(
        _FRESH.sub("", show(place.condition)),
        values if env else [],
        clause.source,
        place.condition.span or clause.span,
        hint,
        f"{values[0]}: {why}" if env else why,
        row,
    )


def _reason(place: UndefinedCondition, env: Env) -> tuple[str, str | None]:
    """Why an expression has no value, and what to do."""
    for name, value in env:
        if isinstance(value, Constant | Str):
            text = value.name if isinstance(value, Constant) else value.value
            if isinstance(value, Constant) and _has_value(value):
                continue
            return no_number(text, f"add number({name}) if only numbers are meant")
        if not isinstance(value, Int | Float):
            return f"`{show(value)}` is no number", None
    match _named(place.expression):
        case Compound(name=name, args=args) if name in COMPARISONS:
            sides = args
        case whole:
            sides = (whole,)
    for side in sides:
        try:
            evaluate(side, dict(env))
        except NoValue as error:
            hint = "add a condition that leaves such values out, if that is meant"
            return _words(str(error)), hint
    return "it has no value", None


def no_number(text: str, hint: str) -> tuple[str, str]:
    """What is wrong with a text where a number is needed, and what to do."""
    if _NUMBER.fullmatch(text):
        return f"`{text}` is text, not a number", f"write {_plain(text)} in the input"
    return f"`{text}` is no number", hint


def _plain(text: str) -> str:
    """A number as the readers of input take it."""
    number = float(text.strip().replace(",", "."))
    return str(int(number)) if number.is_integer() and not re.search("[.,]", text) else str(number)


def _has_value(term: Term) -> bool:
    try:
        return not math.isnan(evaluate(term, {}))
    except NoValue:
        return False


def _named(term: Term) -> Term:
    """The term with variables named as they are written."""
    match term:
        case Var(name=name):
            return Var(_FRESH.sub("", name))
        case Compound(name=name, args=args):
            return Compound(name, tuple(_named(arg) for arg in args))
        case _:
            return term


def _words(problem: str) -> str:
    if "zero" in problem:
        return "a division by zero"
    if problem == "math domain error" or "complex" in problem or "expected a" in problem:
        return "the function is not defined there"
    if "too large" in problem or "range error" in problem:
        return "the result is too large"
    return problem


# --- where values came from ----------------------------------------------------------------------


def _row(place: UndefinedCondition, tables: Sequence[io.ItemTable]) -> str | None:
    """The first row with the first values, among those of types that the rule names."""
    values = [to_source(plain(value)) for _, value in next(iter(place.values))]
    named = {part.name for part in _conditions(place) if isinstance(part, Constant | Compound)}
    for table in tables:
        if not values or table.name not in named or not len(table):
            continue
        columns = [table.column(f"a{i}") for i in range(table.arity)]
        columns += [table.column("value")] if table.kind == "fluent" else []
        found = np.ones(len(table), np.bool_)
        for value in values:
            found &= np.any([_has(column, value) for column in columns], axis=0)
        if found.any():
            row = int(found.argmax())
            file, line = (table.table.column(name)[row].as_py() for name in ("file", "line"))
            return f"{file}:{line}" if line else None
    return None


def _has(column: TermColumn, value: str) -> np.ndarray[Any, np.dtype[np.bool_]]:
    indices, terms = distinct(column)
    same = np.array([to_source(term) == value for term in terms], np.bool_)
    found: np.ndarray[Any, np.dtype[np.bool_]] = same[indices.to_numpy()]
    return found


_MOST_FACTS = 10_000
_MOST_ROWS = 10_000  # of a table that are looked at for something alike
_CONSTANTS = (Constant, Int, Float, Str)
Slot = tuple[str, int, bool, int]
"""A place of the input: name, arity, whether it is a fluent, and position; -1 is the value."""


class Near(NamedTuple):
    """A constant of the rules, what came in its place and looks the same, and its row."""

    ours: Plain
    theirs: Plain
    arrival: int
    file: str
    line: int


@dataclass(slots=True)
class Sought:
    """Constants that a rule wants in a place of the input; `came` once one of them has come."""

    slot: Slot
    constants: Sequence[Plain]
    came: bool = False
    near: Near | None = None
    alike: dict[str, Plain] = field(default_factory=dict)

    def look(self, table: io.ItemTable) -> None:
        """Look for the constants among the rows of a table."""
        position = self.slot[3]
        column = table.column("value" if position < 0 else f"a{position}")
        self.came = _holds(column, self.constants)
        if self.came or self.near is not None:
            return
        self.alike = self.alike or {folded(one): one for one in self.constants}
        few = TermColumn(column.kind, column.array.slice(0, _MOST_ROWS))
        for row, theirs in enumerate(to_terms(few)):
            ours = self.alike.get(folded(theirs))
            if ours is not None:
                names = ("arrival", "file", "line")
                self.near = Near(
                    ours, theirs, *(table.table.column(name)[row].as_py() for name in names)
                )
                return


def look_for(sought: Iterable[Sought], tables: Iterable[io.ItemTable]) -> None:
    """Look for constants among rows that have come."""
    for table in tables:
        key = (table.name, table.arity, table.kind == "fluent")
        for one in sought:
            if not one.came and one.slot[:3] == key and len(table):
                one.look(table)


def found_of(sought: Iterable[Sought]) -> list[list[Any]]:
    """Which constants came and what looks like others, as plain values."""
    return [
        [number, one.came, one.near and [*map(to_source, one.near[:2]), *one.near[2:]]]
        for number, one in enumerate(sought)
        if one.came or one.near is not None
    ]


class Asked(NamedTuple):
    """Where a rule asks for constants."""

    sought: Sought
    clause: Clause
    term: Term


class Spellings:
    """All that rules ask for in places of the input."""

    def __init__(self, description: EventDescription, entities: Entities) -> None:
        self._asked = list(_asked(description, entities))
        self._later: list[tuple[int, object]] = []
        self._read: Callable[[Sequence[object]], Sequence[io.ItemTable]] = lambda rows: ()

    def look(self, tables: Iterable[io.ItemTable]) -> None:
        """Look at rows that have come."""
        self._settle()
        look_for(self.sought, tables)

    def look_later(
        self,
        rows: Sequence[object],
        types: Sequence[ItemType],
        read: Callable[[Sequence[object]], Sequence[io.ItemTable]],
    ) -> None:
        """Look at rows of some types, which are read once there are many, or somebody asks."""
        if self._asked:
            self._read = read
            known = self._types
            asked = {one for one in set(types) if one.key in known}
            some = zip(types, enumerate(rows, 1), strict=True) if asked else ()
            self._later += [row for one, row in some if one in asked]
            if len(self._later) > _MOST_ROWS:
                self._settle()

    @property
    def _types(self) -> set[tuple[str, int]]:
        """The types of items of which some constant is asked for."""
        return {one.sought.slot[:2] for one in self._asked}

    def _settle(self) -> None:
        later, self._later = self._later, []
        if later:
            numbers, rows = zip(*later, strict=True)
            tables = self._read(rows)
            again = (_renumbered(table, np.array([0, *numbers])) for table in tables)
            look_for(self.sought, again)
        self._asked = [one for one in self._asked if not one.sought.came]

    @property
    def sought(self) -> list[Sought]:
        """The constants that rules ask for, of which none has come."""
        return [one.sought for one in self._asked]

    def hear(
        self, found: Iterable[list[Any]], queries: Sequence[int], files: Sequence[str]
    ) -> None:
        """Take in what parts of a run have found, in the order in which one would have."""
        places = {name: place for place, name in enumerate(files)}

        def order(near: Near) -> tuple[int, int, str, int]:
            place = places.get(near.file, len(places))
            return bisect_left(queries, near.arrival), place, near.file, near.line

        sought = self.sought
        for number, came, given in found:
            one = sought[number]
            one.came = one.came or came
            if given is not None:
                ours, theirs, *row = given
                near = Near(io.from_source(ours), io.from_source(theirs), *row)
                one.near = near if one.near is None else min(one.near, near, key=order)

    def findings(self) -> Iterator[Diagnostic]:
        """H553: constants of which nothing came, and something alike did; each once."""
        self._settle()
        told: set[tuple[Slot, str]] = set()
        for sought, clause, term in self._asked:
            near = sought.near
            if near is None:
                continue
            ours, theirs = to_source(near.ours), to_source(near.theirs)
            name, arity, _, position = sought.slot
            if (sought.slot, ours) in told:
                continue
            told.add((sought.slot, ours))
            where = "value" if position < 0 else f"argument {position + 1}"
            yield diagnostic(
                "H553",
                f"`{ours}` never comes as {where} of `{name}/{arity}`, but `{theirs}` does",
                clause.source,
                term.span or clause.span,
                "write it the same way in the rules and in the input",
                f"first in {near.file}:{near.line}",
            )


def _renumbered(table: io.ItemTable, numbers: np.ndarray[Any, Any]) -> io.ItemTable:
    """The rows with the numbers of lines that they had when they came, if these are lines."""
    lines = table.table.column("line").to_numpy()
    if not len(lines) or lines.min() < 1 or lines.max() >= len(numbers):
        return table
    return table.with_lines(numbers[lines])


def folded(term: Plain) -> str:
    """A term as people see it: no case, blanks, quotes, nor whether a number is a decimal.

    >>> folded("New York") == folded("new_york"), folded(3) == folded("3.0"), folded("a")
    (True, True, 'a')
    """
    if isinstance(term, TermText):
        return str(term)
    if isinstance(term, str):
        text = term.strip().casefold()
        try:
            return repr(float(text.replace(",", ".")))
        except ValueError:
            return text.replace("_", " ").replace("-", " ")
    try:
        return repr(float(term))
    except OverflowError:
        return str(term)


def _holds(column: TermColumn, constants: Sequence[Plain]) -> bool:
    """Is one of the constants in the column?"""
    if column.kind in ("int", "float"):
        type_ = int if column.kind == "int" else float
        numbers = [one for one in constants if type(one) is type_ and abs(one) < 2**63]
        wanted = pa.array(numbers, column.array.type)
        array = column.array
    else:
        atoms = [one for one in constants if type(one) is str]
        texts = atoms if column.kind == "atom" else [to_source(one) for one in constants]
        wanted, array = pa.array(texts, pa.string()), column.array.dictionary
    found: bool = len(wanted) > 0 and bool(pc.any(pc.is_in(array, wanted)).as_py())
    return found


# --- what rules ask for --------------------------------------------------------------------------


def _asked(description: EventDescription, entities: Entities) -> Iterator[Asked]:
    ruled = {functor(rule.head) for rule in description.rules if isinstance(rule, BackgroundRule)}
    for rule in description.rules:
        literals = list(body_literals(rule))
        slots: dict[str, list[Slot]] = {}
        for literal in literals:
            for slot, term in _places(literal, entities):
                if isinstance(term, _CONSTANTS):
                    yield Asked(Sought(slot, [plain(term)]), rule.clause, term)
                elif isinstance(term, Var):
                    slots.setdefault(term.name, []).append(slot)
        for literal in literals:
            for name, constants, term in _compared(literal, description, ruled):
                for slot in slots.get(name, ()):
                    yield Asked(Sought(slot, constants), rule.clause, term)


def _places(literal: Literal, entities: Entities) -> Iterator[tuple[Slot, Term]]:
    """The places of the input that a condition reads, each with what stands there."""
    pair = literal_fvp(literal)
    entity = literal.event if isinstance(literal, Happens) else pair.fluent if pair else None
    key = functor(entity) if isinstance(entity, Constant | Compound) else None
    if entity is None or key is None:
        return
    known = (entities.events if pair is None else entities.fluents).get(key)
    if known is None or not known.is_input:
        return
    for position, arg in enumerate(children(entity)):
        yield (*key, pair is not None, position), arg
    if pair is not None:
        yield (*key, True, -1), pair.value


def _compared(
    literal: Literal, description: EventDescription, ruled: set[tuple[str, int] | None]
) -> Iterator[tuple[str, list[Plain], Term]]:
    """Variables that have to be one of some constants."""
    match literal:
        case Compare(op="=" | "==", left=Var(name=name), right=other) if _is_constant(other):
            yield name, [plain(other)], literal.term
        case Compare(op="=" | "==", left=other, right=Var(name=name)) if _is_constant(other):
            yield name, [plain(other)], literal.term
        case Call(key=key, args=args) if key in description.facts and key not in ruled:
            rows = description.facts[key].rows
            if len(rows) <= _MOST_FACTS:
                for position, arg in enumerate(args):
                    if isinstance(arg, Var):
                        column = [row[position] for row in rows]
                        constants = [plain(one) for one in column if _is_constant(one)]
                        if len(constants) == len(column):
                            yield arg.name, constants, literal.term


def _is_constant(term: Term) -> bool:
    return isinstance(term, _CONSTANTS)
