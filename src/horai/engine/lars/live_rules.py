"""Rules from tick to tick, row by row: each solution of a body counts once for its head.

A rule is written as Python functions: a loop for every literal that finds rows, a test for all
others. What counts is how long one row takes, and going through the literals takes ten times as
long. Values are codes of terms; whole numbers have odd ones. When one row comes or goes, the
literals before the one that reads it do not see it, and those after it do. So every solution with
the row is met exactly once, also where literals read the same.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from operator import itemgetter
from types import CodeType
from typing import Any

import numpy as np

from horai.engine.columns import codes, codes_of
from horai.engine.lars.plain import (
    Compare,
    Counted,
    Literal,
    Negative,
    PlainRule,
    Positive,
    Reading,
    Source,
    Total,
    assigned,
)
from horai.engine.lars.signals import Key
from horai.engine.lars.values import Values, best, evaluate, holds
from horai.engine.symbols import Symbols
from horai.lang.core.terms import (
    Compound,
    Float,
    Int,
    Term,
    Var,
    is_anonymous,
    is_ground,
    variables,
)
from horai.lang.lars.arithmetic import COMPARISONS, added
from horai.lang.lars.predicates import ARITHMETIC, is_computed
from horai.lang.lars.syntax import Function, Sign

Row = tuple[int, ...]  # codes of terms, and of the point for readings that name one
Change = tuple[Row, bool]  # it came, or it went
Index = dict[Any, dict[Row, None]]  # by the value of a column, or by those of several


class Table:
    """The rows of a reading. Rules hold on to `rows` and to indexes, so these stay the same."""

    def __init__(self) -> None:
        self.rows: dict[Row, None] = {}
        self._indexes: dict[tuple[int, ...], tuple[Callable[[Row], Any], Index]] = {}

    def index(self, places: tuple[int, ...]) -> Index:
        """The rows by the values of some columns, kept up to date from now on."""
        if places not in self._indexes:
            key, index = itemgetter(*places), Index()
            for row in self.rows:
                index.setdefault(key(row), {})[row] = None
            self._indexes[places] = (key, index)
        return self._indexes[places][1]

    def add(self, row: Row) -> None:
        """One more row."""
        self.rows[row] = None
        for key, index in self._indexes.values():
            index.setdefault(key(row), {})[row] = None

    def remove(self, row: Row) -> None:
        """One row less."""
        del self.rows[row]
        for key, index in self._indexes.values():
            value = key(row)
            del index[value][row]
            if not index[value]:
                del index[value]


class Codes:
    """The code of every term; whole numbers are odd ones."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self._known: dict[Term, int] = {}

    def code(self, term: Term) -> int:
        """The code of a term without variables."""
        found = self._known.get(term)
        if found is None:
            found = self._known[term] = self.symbols.code(term)
        return found

    def value(self, term: Term, bound: dict[str, int]) -> int | None:
        """The code of what a term comes to; None if it has no value."""
        if isinstance(term, Var):
            return bound[term.name]
        if not isinstance(term, Compound):
            return self.code(term)
        if term.name in ARITHMETIC and len(term.args) == 2:
            left, right = (self.value(arg, bound) for arg in term.args)
            if left is None or right is None:
                return None
            if left & 1 and right & 1 and term.name in "+-":
                one, other = left >> 1, right >> 1
                return self.symbols.code(Int(one + other if term.name == "+" else one - other))
        columns = {name: codes(np.array([code])) for name, code in bound.items()}
        found = evaluate(term, columns, 1, self.symbols)
        return int(codes_of(found.column, self.symbols)[0]) if found.valid[0] else None

    def holds(self, sign: Sign, left: int, right: int) -> bool:
        """Does a comparison of two values hold?"""
        if sign in ("=", "!="):
            return (left == right) == (sign == "=")
        if left & 1 and right & 1:
            return bool(COMPARISONS[sign](left, right))
        true = np.ones(1, np.bool_)
        one, other = (Values(codes(np.array([code])), true) for code in (left, right))
        return bool(holds(sign, one, other, self.symbols)[0])


def total_of(function: Function, rows: set[tuple[int, ...]], codes: Codes) -> int | None:
    """The code of what an aggregate of different rows comes to; None if it has no value."""
    if function == "count":
        return codes.code(Int(len(rows)))
    terms = [codes.symbols.term(row[0]) for row in rows if row]
    numbers = [term.value for term in terms if isinstance(term, Int | Float)]
    if len(numbers) < len(rows) or not (numbers or function == "sum"):
        return None
    found = added(numbers) if function == "sum" else best(function, numbers)
    return codes.code(Float(found) if isinstance(found, float) else Int(found))


MOST_LOOPS = 15  # Python nests no more than twenty
Tables = Mapping[Source, Table]
Found = Callable[[Row], list[Row]]


class Writer:
    """The text of one function, and the things that it calls by name."""

    def __init__(self, tables: Tables, codes: Codes, parameters: Sequence[str] = ()) -> None:
        self.tables = tables
        self.codes = codes
        self.lines: list[str] = []
        self.depth = 1
        self.things: dict[str, Any] = {}
        self.bound: dict[str, str] = {}  # variables by name: how the function calls them
        self.parameters = [self.give(name) for name in parameters]

    def line(self, text: str) -> None:
        """One more line, at the depth that has been reached."""
        self.lines.append(" " * self.depth + text)

    def enter(self, text: str) -> None:
        """A loop or a test, in which all that follows is."""
        self.line(f"{text}:")
        self.depth += 1

    def thing(self, what: object) -> str:
        """A name for something that the function uses."""
        name = f"thing{len(self.things)}"
        self.things[name] = what
        return name

    def give(self, variable: str) -> str:
        """A name for a variable that gets its value now."""
        return self.bound.setdefault(variable, f"v{len(self.bound)}")

    def function(self, parameters: str, first: str, last: str) -> Callable[..., Any]:
        """The function: its lines between a first and a last one."""
        text = "\n".join([f"def written({parameters}):", f" {first}", *self.lines, f" {last}"])
        space: dict[str, Any] = {"__builtins__": {}, **self.things}
        exec(_plain(text), space)
        found: Callable[..., Any] = space["written"]
        return found

    # --- terms -----------------------------------------------------------------------------------

    def value(self, term: Term) -> str:
        """What a term comes to; where it may have no value, all that follows is in a test."""
        if isinstance(term, Var):
            return self.bound[term.name]
        if not isinstance(term, Compound) or (is_ground(term) and not is_computed(term)):
            return str(self.codes.code(term))
        names = list(variables(term))
        compute = self.thing(_computing(term, names, self.codes))
        found = f"t{len(self.lines)}"
        self.line(f"{found} = {compute}({', '.join(self.bound[name] for name in names)})")
        self.enter(f"if {found} is not None")
        return found

    def row(self, terms: Iterable[Term]) -> str:
        """The values of some terms as a row."""
        return _row([self.value(term) for term in terms])

    def take(self, terms: Sequence[Term], row: str) -> None:
        """Give variables the values of a row, if it fits the constants among the terms."""
        tests: list[str] = []
        for place, term in enumerate(terms):
            if isinstance(term, Var) and is_anonymous(term):
                continue
            if isinstance(term, Var) and term.name not in self.bound:
                self.line(f"{self.give(term.name)} = {row}[{place}]")
            else:
                tests.append(f"{row}[{place}] == {self.value(term)}")
        if tests:
            self.enter(f"if {' and '.join(tests)}")

    # --- literals --------------------------------------------------------------------------------

    def body(self, literals: Iterable[tuple[Literal, bool]]) -> None:
        """All literals, in an order that tests early; some do not see the row it is all about."""
        left = list(literals)
        while left:
            chosen = min(left, key=lambda one: self._rank(one[0]))
            left.remove(chosen)
            self.literal(*chosen)

    def _rank(self, literal: Literal) -> int:
        """Tests first, then what is found by the most columns; aggregates when all else is known.

        A variable of an aggregate that another literal gives a value to is not its own.
        """
        match literal:
            case Compare(comparison=one):
                known = {*variables(one.left), *variables(one.right)} <= self.bound.keys()
                return 0 if known or assigned(literal, self.bound) else 9
            case Negative(reading=reading):
                return 1 if self._is_known(reading) else 9
            case Positive(reading=reading):
                if self._is_known(reading):
                    return 2
                return 3 if any(self._knows(term) for term in reading.terms) else 4
            case Total(bound=bound):
                known = variables(bound).keys() <= self.bound.keys()
                return 5 if known or literal.gives(self.bound) else 9

    def _is_known(self, reading: Reading) -> bool:
        return all(self._knows(t) or _is_any(t) for t in reading.terms)

    def _knows(self, term: Term) -> bool:
        return not isinstance(term, Var) or term.name in self.bound

    def literal(self, literal: Literal, is_hidden: bool) -> None:
        """One literal; if it is hidden, it does not see the row that came or goes."""
        match literal:
            case Compare():
                self._compared(literal)
            case Positive(reading=reading):
                self._positive(reading, is_hidden)
            case Negative(reading=reading):
                self._negative(reading, is_hidden)
            case Total():
                self._totalled(literal)

    def _positive(self, reading: Reading, is_hidden: bool) -> None:
        table = self.tables[reading.source]
        known = [place for place, term in enumerate(reading.terms) if self._knows(term)]
        key = [self.value(reading.terms[place]) for place in known]
        if len(known) == len(reading.terms):
            unseen = f"{_row(key)} != row and " if is_hidden else ""
            self.enter(f"if {unseen}{_row(key)} in {self.thing(table.rows)}")
            return
        found = f"r{len(self.lines)}"
        if known:
            index = self.thing(table.index(tuple(known)))
            self.enter(f"for {found} in {index}.get({_key(key)}, ())")
        else:
            self.enter(f"for {found} in {self.thing(table.rows)}")
        if is_hidden:
            self.enter(f"if {found} != row")
        others = [t if i not in known else _ANY for i, t in enumerate(reading.terms)]
        self.take(others, found)

    def _negative(self, reading: Reading, is_hidden: bool) -> None:
        table = self.tables[reading.source]
        known = [place for place, term in enumerate(reading.terms) if not _is_any(term)]
        key = [self.value(reading.terms[place]) for place in known]
        if len(known) == len(reading.terms):
            unseen = f"{_row(key)} == row or " if is_hidden else ""
            self.enter(f"if {unseen}{_row(key)} not in {self.thing(table.rows)}")
            return
        if known:
            there = f"{self.thing(table.index(tuple(known)))}.get({_key(key)}, ())"
        else:
            there = self.thing(table.rows)
        self.enter(
            f"if not {self.thing(_others)}({there}, row)" if is_hidden else f"if not {there}"
        )

    def _compared(self, literal: Compare) -> None:
        given = assigned(literal, self.bound)
        if given is not None:
            value = self.value(given[1])
            self.line(f"{self.give(given[0].name)} = {value}")
            return
        one = literal.comparison
        left, right = self.value(one.left), self.value(one.right)
        if one.sign in ("=", "!="):
            test = f"{left} {'==' if one.sign == '=' else '!='} {right}"
        else:
            holds = self.thing(self.codes.holds)
            numbers = f"{left} {one.sign} {right} if {left} & {right} & 1"
            test = f"({numbers} else {holds}({one.sign!r}, {left}, {right}))"
        self.enter(f"if not ({test})" if literal.negated else f"if {test}")

    def _totalled(self, literal: Total) -> None:
        names = list(self.bound)
        total = self.thing(_totalling(literal, names, self.tables, self.codes))
        found = f"t{len(self.lines)}"
        self.line(f"{found} = {total}({', '.join(self.bound[name] for name in names)})")
        gives = literal.gives(self.bound)
        if gives is not None:
            self.enter(f"if {found} is not None")
            self.line(f"{self.give(gives)} = {found}")
            return
        limit = self.value(literal.bound)
        holds = self.thing(self.codes.holds)
        test = f"({found} is not None and {holds}({literal.sign!r}, {found}, {limit}))"
        self.enter(f"if not {test}" if literal.negated else f"if {test}")


# All that a function is made of. Names and texts of a program never get into it: what it calls
# has a number, and terms have codes. Should one get there after all, this is where it ends.
_PARTS = (
    *(ast.Module, ast.FunctionDef, ast.arguments, ast.arg, ast.If, ast.For, ast.Assign, ast.Expr),
    *(ast.Return, ast.Pass, ast.Call, ast.Name, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp),
    *(ast.IfExp, ast.List, ast.Tuple, ast.Constant, ast.Subscript, ast.Attribute, ast.expr_context),
    *(ast.boolop, ast.Not, ast.USub, ast.BitAnd, ast.cmpop),
)
_NAME = re.compile(r"(thing|v|t|r)[0-9]+|written|row|found|say")
_TEXTS = ("<", "<=", ">", ">=", "=", "!=")


def _plain(text: str) -> CodeType:
    """The code of a function, or `ValueError` if there is more in it than loops and tests."""
    tree = ast.parse(text)
    for part in ast.walk(tree):
        match part:
            case ast.Name(id=name) | ast.FunctionDef(name=name) | ast.arg(arg=name):
                good = _NAME.fullmatch(name) is not None
            case ast.Attribute(attr=name):
                good = name in ("get", "append")
            case ast.Constant(value=value):
                good = value is None or isinstance(value, int) or value in _TEXTS
            case _:
                good = isinstance(part, _PARTS)
        if not good:
            raise ValueError(f"a rule must not become {ast.unparse(part)!r:.60}")
    return compile(tree, "<rule>", "exec")


_ANY = Var("_#any")


def _is_any(term: Term) -> bool:
    return isinstance(term, Var) and is_anonymous(term)


def _row(values: Sequence[str]) -> str:
    return f"({', '.join(values)}{',' if len(values) == 1 else ''})"


def _key(values: Sequence[str]) -> str:
    """How an index calls the values of its columns."""
    return values[0] if len(values) == 1 else _row(values)


def _others(rows: Iterable[Row], row: Row) -> bool:
    return any(one != row for one in rows)


def _computing(term: Term, names: list[str], codes: Codes) -> Callable[..., int | None]:
    @lru_cache(4096)
    def compute(*values: int) -> int | None:
        return codes.value(term, dict(zip(names, values, strict=True)))

    return compute


def _totalling(
    literal: Total, names: list[str], tables: Tables, codes: Codes
) -> Callable[..., int | None]:
    """What an aggregate comes to for the values of some variables."""
    elements = [_element(row, names, tables, codes) for row in literal.rows]

    def total(*values: int) -> int | None:
        rows: set[Row] = set()
        for element in elements:
            element(rows.add, *values)
        return total_of(literal.function, rows, codes)

    return total


def _element(row: Counted, names: list[str], tables: Tables, codes: Codes) -> Callable[..., Any]:
    writer = Writer(tables, codes, names)
    writer.body((one, False) for one in row.body)
    writer.line(f"say({writer.row(row.terms)})")
    return writer.function(", ".join(["say", *writer.parameters]), "pass", "return")


Made = tuple[Key, bool]  # a predicate, and whether its rows end with the point they hold at
NONE: Key = ("#none", 0)  # what the bodies of constraints say


def can_be_written(rule: PlainRule) -> bool:
    """Does a rule have so few literals that it can be one function?"""
    positive = sum(isinstance(one, Positive) for one in rule.body)
    inner = (len(row.body) for one in rule.body if isinstance(one, Total) for row in one.rows)
    return max([positive, *inner]) <= MOST_LOOPS


class LiveRule:
    """One rule, joined from any of its literals."""

    def __init__(self, rule: PlainRule, tables: Tables, codes: Codes, start: int) -> None:
        self.rule = rule
        self.made: Made = (NONE, False)
        if rule.head is not None:
            self.made = (rule.head.predicate, rule.time is not None)
        self._tables, self._codes, self._start = tables, codes, start
        self.starts: dict[Source, list[tuple[bool, Found]]] = {}
        """For a row that is in its table: the heads of all solutions with it, or, with False, of
        those that it prevents."""
        for place, literal in enumerate(rule.body):
            if isinstance(literal, Positive | Negative):
                found = (isinstance(literal, Positive), self._written(place))
                self.starts.setdefault(literal.reading.source, []).append(found)
        totals = [one for one in rule.body if isinstance(one, Total)]
        self.totalled = {reading.source for total in totals for reading in total.readings()}
        """What its aggregates read: when that changes, the rule is worked out anew."""

    @property
    def sources(self) -> set[Source]:
        """All that it reads."""
        return self.starts.keys() | self.totalled

    @property
    def _terms(self) -> tuple[Term, ...]:
        """What the columns of its rows stand for."""
        args = () if self.rule.head is None else self.rule.head.args
        return args if self.rule.time is None else (*args, self.rule.time)

    @cached_property
    def everything(self) -> Callable[[], list[Row]]:
        """The heads of all solutions."""
        writer = Writer(self._tables, self._codes)
        writer.body((literal, False) for literal in self.rule.body)
        return self._saying(writer, "")

    @cached_property
    def derives(self) -> Callable[[Row], bool] | None:
        """Is there a solution for a head? None if heads do not tell the values of variables."""
        if not all(isinstance(term, Var) or is_ground(term) for term in self._terms):
            return None
        writer = Writer(self._tables, self._codes)
        writer.take(self._terms, "row")
        writer.body((literal, False) for literal in self.rule.body)
        writer.line("return True")
        return writer.function("row", "pass", "return False")

    def _written(self, place: int) -> Found:
        """The function that goes on from a row of one literal."""
        body = self.rule.body
        given = body[place]
        assert isinstance(given, Positive | Negative)
        writer = Writer(self._tables, self._codes)
        writer.take(given.reading.terms, "row")
        source = given.reading.source
        others = ((i, one) for i, one in enumerate(body) if i != place)
        writer.body((one, i < place and _reads(one, source)) for i, one in others)
        return self._saying(writer, "row")

    def _saying(self, writer: Writer, parameters: str) -> Callable[..., list[Row]]:
        """The function that lists the heads of solutions."""
        values = [writer.value(term) for term in self._terms]
        if self.rule.time is not None:  # a point of the timeline, which is a whole number
            writer.enter(f"if {values[-1]} & 1 and {values[-1]} >= {2 * self._start + 1}")
        row = f"({', '.join(values)}{',' if values else ''})"
        writer.line(f"found.append({row})")
        return writer.function(parameters, "found = []", "return found")


def _reads(literal: Literal, source: Source) -> bool:
    return isinstance(literal, Positive | Negative) and literal.reading.source == source
