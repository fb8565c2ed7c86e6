"""Continuous queries straight from their definition: windows to sets of rows, then SQL on sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

from horai.lang.core.terms import Constant, Int, Term
from horai.lang.translate.cql import (
    AggregateCall,
    Combined,
    Condition,
    Connective,
    CqlComparison,
    CqlDeclaration,
    CqlView,
    Exists,
    Expression,
    FromItem,
    Insert,
    Operation,
    Query,
    Range,
    Reference,
    RowsWindow,
    Select,
    Statement,
)

Value = int | str
Row = tuple[Value, ...]
Arrivals = Sequence[tuple[int, str, Row]]
Environment = tuple[dict[str, dict[str, Value]], ...]
"""The rows that sources stand for, by alias; inner queries first."""


class World:
    """What a query can see at a time."""

    def __init__(self, statements: Iterable[Statement], arrivals: Arrivals, time: int) -> None:
        self.columns: dict[str, tuple[str, ...]] = {}
        self.relations: dict[str, set[Row]] = {}
        self.arrivals = [one for one in arrivals if one[0] <= time]
        self.time = time
        for statement in statements:
            match statement:
                case CqlDeclaration(name=name, columns=columns):
                    self.columns[name] = columns
                    self.relations[name] = set()
                case Insert(name=name, rows=rows):
                    self.relations[name] |= {tuple(map(plain, row)) for row in rows}
                case CqlView(name=named, query=query):
                    name = named or "answer"
                    self.columns[name], self.relations[name] = self.answer(query, ())

    def rows(self, source: FromItem) -> set[Row]:
        """The relation that a source is now."""
        if source.window is None:
            return self.relations[source.name]
        mine = [(t, row) for t, name, row in self.arrivals if name == source.name]
        match source.window:
            case Range(length=length, slide=slide):
                hop = 1 if slide is None or slide.amount is None else slide.amount
                pivot = self.time // hop * hop
                first = 0 if length.amount is None else pivot - length.amount
                return {row for t, row in mine if first <= t <= pivot}
            case RowsWindow(number=number, by=by):
                places = [self.columns[source.name].index(one.column) for one in by]
                groups: dict[Row, list[Row]] = {}
                for _, row in mine:
                    groups.setdefault(tuple(row[p] for p in places), []).append(row)
                return {row for group in groups.values() for row in group[-number:]}
        raise AssertionError(source)

    def answer(self, query: Query, outside: Environment) -> tuple[tuple[str, ...], set[Row]]:
        """Columns and rows of a query."""
        match query:
            case Combined(how=how, left=left, right=right):
                columns, one = self.answer(left, outside)
                other = self.answer(right, outside)[1]
                return columns, {"UNION": one | other, "EXCEPT": one - other}.get(how, one & other)
            case Select():
                return self._select(query, outside)
        raise AssertionError(query)

    def _select(self, query: Select, outside: Environment) -> tuple[tuple[str, ...], set[Row]]:
        items = [item.expression for item in query.items] or [
            Reference(source.alias, column)
            for source in query.sources
            for column in self.columns[source.name]
        ]
        names = tuple(
            item.name or (item.expression.column if isinstance(item.expression, Reference) else "")
            for item in query.items
        ) or tuple(e.column for e in items if isinstance(e, Reference))
        envs = [(env, *outside) for env in self._joined(query.sources)]
        chosen = [env for env in envs if self._true(query.where, env, [])]
        is_grouped = bool(query.group) or query.having is not None or any(map(_calls, items))
        if not is_grouped:
            return names, {tuple(self._value(e, env, []) for e in items) for env in chosen}
        groups: dict[Row, list[Environment]] = {} if query.group else {(): []}
        for env in chosen:
            key = tuple(self._value(reference, env, []) for reference in query.group)
            groups.setdefault(key, []).append(env)
        found = set()
        for group in groups.values():
            env = group[0] if group else outside
            try:
                if self._true(query.having, env, group):
                    found.add(tuple(self._value(e, env, group) for e in items))
            except ValueError:  # of nothing, there is no least
                continue
        return names, found

    def _joined(self, sources: Sequence[FromItem]) -> Iterator[dict[str, dict[str, Value]]]:
        tables = [sorted(self.rows(source), key=repr) for source in sources]
        for rows in product(*tables):
            yield {
                source.alias: dict(zip(self.columns[source.name], row, strict=True))
                for source, row in zip(sources, rows, strict=True)
            }

    def _true(
        self, condition: Condition | None, env: Environment, group: list[Environment]
    ) -> bool:
        match condition:
            case None:
                return True
            case CqlComparison(sign=sign, left=left, right=right):
                one, other = self._value(left, env, group), self._value(right, env, group)
                return compared(sign, one, other)
            case Connective("and", parts):
                return all(self._true(part, env, group) for part in parts)
            case Connective("or", parts):
                return any(self._true(part, env, group) for part in parts)
            case Connective("not", (inner,)):
                return not self._true(inner, env, group)
            case Exists(query=query, wanted=None):
                return bool(self.answer(query, env)[1])
            case Exists(query=query, wanted=wanted):
                assert wanted is not None
                return (self._value(wanted, env, group),) in self.answer(query, env)[1]
        raise AssertionError(condition)

    def _value(self, expression: Expression, env: Environment, group: list[Environment]) -> Value:
        match expression:
            case Int() | Constant():
                return plain(expression)
            case Reference():
                return found_in(env, expression)
            case Operation(sign=sign, left=left, right=right):
                one, other = (self._value(side, env, group) for side in (left, right))
                assert isinstance(one, int) and isinstance(other, int)
                return {"+": one + other, "-": one - other, "*": one * other}[sign]
            case AggregateCall(function=function, argument=argument, is_distinct=is_distinct):
                if argument is None:
                    return len(group)
                values = [self._value(argument, member, []) for member in group]
                if is_distinct:
                    values = list(set(values))
                numbers = [value for value in values if isinstance(value, int)]
                whole = {"count": len, "sum": sum, "min": min, "max": max}
                return int(whole[function](numbers))  # type: ignore[operator]
        raise AssertionError(expression)


def found_in(env: Environment, reference: Reference) -> Value:
    """The value of a column: that of the innermost query that has it."""
    for scope in env:
        found = [
            row[reference.column]
            for alias, row in scope.items()
            if reference.source in (None, alias) and reference.column in row
        ]
        if found:
            (value,) = found
            return value
    raise KeyError(reference)


def compared(sign: str, one: Value, other: Value) -> bool:
    """`one sign other`; names and numbers are different, and neither smaller than the other."""
    if sign in ("=", "!="):
        return (one == other) == (sign == "=")
    if isinstance(one, int) and isinstance(other, int):
        results: Mapping[str, bool] = {
            "<": one < other,
            "<=": one <= other,
            ">": one > other,
            ">=": one >= other,
        }
        return results[sign]
    raise AssertionError("only numbers are compared here")


def _calls(expression: Expression) -> bool:
    if isinstance(expression, Operation):
        return _calls(expression.left) or _calls(expression.right)
    return isinstance(expression, AggregateCall)


def plain(term: Term) -> Value:
    """A constant as a value of Python."""
    assert isinstance(term, Int | Constant)
    return term.value if isinstance(term, Int) else term.name
