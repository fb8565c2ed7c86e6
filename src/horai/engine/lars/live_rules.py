"""Rules by change, row by row: each solution of a body counts once for its head.

When one row comes or goes, the literals before the one that reads it do not see it, and those after
it do. So every solution with the row is met exactly once, also where literals read the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from horai.engine.lars.literals import (
    Compare,
    Literal,
    Negative,
    PlainRule,
    Positive,
    Source,
    assigned,
)
from horai.engine.lars.live_terms import Codes
from horai.engine.lars.live_views import Row
from horai.lang.terms import Term, Var, is_anonymous

Bindings = dict[str, int]


class Table:
    """The rows of a reading, found by the values of some columns."""

    def __init__(self) -> None:
        self.rows: dict[Row, None] = {}
        self._indexes: dict[tuple[int, ...], dict[Row, dict[Row, None]]] = {}

    def add(self, row: Row) -> None:
        """One more row."""
        self.rows[row] = None
        for places, index in self._indexes.items():
            index.setdefault(tuple(row[p] for p in places), {})[row] = None

    def remove(self, row: Row) -> None:
        """One row less."""
        del self.rows[row]
        for places, index in self._indexes.items():
            del index[tuple(row[p] for p in places)][row]

    def having(self, places: tuple[int, ...], values: Row) -> Iterator[Row] | list[Row]:
        """The rows with some values."""
        if not places:
            return list(self.rows)
        index = self._indexes.get(places)
        if index is None:
            index = self._indexes[places] = {}
            for row in self.rows:
                index.setdefault(tuple(row[p] for p in places), {})[row] = None
        return list(index.get(values, ()))


class LiveRule:
    """One rule, joined from any of its literals."""

    def __init__(self, rule: PlainRule, tables: dict[Source, Table], codes: Codes) -> None:
        self.rule = rule
        self.codes = codes
        self.body = rule.body
        self.head = () if rule.head is None else rule.head.args
        self.tables = tables
        self.places: dict[Source, list[int]] = {}
        for place, literal in enumerate(self.body):
            if isinstance(literal, Positive | Negative):
                self.places.setdefault(literal.reading.source, []).append(place)

    def heads(self, source: Source, row: Row, report: Callable[[Row, bool], None]) -> None:
        """Report the heads of all solutions with a row that is in its table, and their sign.

        The sign is False for solutions that the row prevents.
        """
        for place in self.places[source]:
            literal = self.body[place]
            assert isinstance(literal, Positive | Negative)
            bound = self._matched(literal.reading.terms, row, {})
            if bound is None:
                continue
            hidden = {p for p in self.places[source] if p < place}
            sign = isinstance(literal, Positive)
            for found in self._solutions(0, place, bound, source, row, hidden):
                said = self._said(found)
                if said is not None:
                    report(said, sign)

    def everything(self, report: Callable[[Row, bool], None]) -> None:
        """Report the heads of all solutions."""
        for found in self._solutions(0, -1, {}, None, (), set()):
            said = self._said(found)
            if said is not None:
                report(said, True)

    def _said(self, bound: Bindings) -> Row | None:
        values = [self.codes.value(term, bound) for term in self.head]
        return None if None in values else tuple(v for v in values if v is not None)

    def _solutions(
        self,
        place: int,
        given: int,
        bound: Bindings,
        source: Source | None,
        row: Row,
        hidden: set[int],
    ) -> Iterator[Bindings]:
        if place == len(self.body):
            yield bound
            return
        if place == given:
            yield from self._solutions(place + 1, given, bound, source, row, hidden)
            return
        for found in self._step(self.body[place], bound, place, row, hidden):
            yield from self._solutions(place + 1, given, found, source, row, hidden)

    def _step(
        self, literal: Literal, bound: Bindings, place: int, row: Row, hidden: set[int]
    ) -> Iterator[Bindings]:
        match literal:
            case Compare():
                yield from self._compared(literal, bound)
            case Positive(reading=reading):
                terms = reading.terms
                places, values = self._asked(terms, bound)
                for one in self.tables[reading.source].having(places, values):
                    if place in hidden and one == row:
                        continue
                    found = self._matched(terms, one, bound)
                    if found is not None:
                        yield found
            case Negative(reading=reading):
                places, values = self._asked(reading.terms, bound)
                rows = self.tables[reading.source].having(places, values)
                if not any(not (place in hidden and one == row) for one in rows):
                    yield bound

    def _compared(self, literal: Compare, bound: Bindings) -> Iterator[Bindings]:
        given = assigned(literal, bound)
        if given is not None:
            value = self.codes.value(given[1], bound)
            if value is not None:
                yield {**bound, given[0].name: value}
            return
        one = literal.comparison
        left, right = self.codes.value(one.left, bound), self.codes.value(one.right, bound)
        if left is None or right is None:
            return
        if self.codes.holds(one.sign, left, right) != literal.negated:
            yield bound

    def _asked(self, terms: tuple[Term, ...], bound: Bindings) -> tuple[tuple[int, ...], Row]:
        """The columns that have a value, and the values."""
        places, values = [], []
        for place, term in enumerate(terms):
            if isinstance(term, Var):
                value = bound.get(term.name)
            else:
                value = self.codes.code(term)
            if value is not None:
                places.append(place)
                values.append(value)
        return tuple(places), tuple(values)

    def _matched(self, terms: tuple[Term, ...], row: Row, bound: Bindings) -> Bindings | None:
        found = dict(bound)
        for term, value in zip(terms, row, strict=True):
            if isinstance(term, Var):
                if is_anonymous(term):
                    continue
                if found.setdefault(term.name, value) != value:
                    return None
            elif self.codes.code(term) != value:
                return None
        return found
