"""Rules by change, row by row: each solution of a body counts once for its head.

When one row comes or goes, the literals before the one that reads it do not see it, and those after
it do. So every solution with the row is met exactly once, also where literals read the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from horai.engine.lars.literals import (
    Compare,
    Literal,
    Negative,
    PlainRule,
    Positive,
    Source,
    Total,
    assigned,
)
from horai.engine.lars.live_terms import Codes, total_of
from horai.engine.lars.live_views import Row
from horai.lang.terms import Term, Var, is_anonymous

Bindings = dict[str, int]
NOTHING: frozenset[int] = frozenset()


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

    def having(self, places: tuple[int, ...], values: Row) -> list[Row]:
        """The rows with some values."""
        if not places:
            return list(self.rows)
        index = self._indexes.get(places)
        if index is None:
            index = self._indexes[places] = {}
            for row in self.rows:
                index.setdefault(tuple(row[p] for p in places), {})[row] = None
        return list(index.get(values, ()))


class Lookup:
    """How a literal is looked up once some variables have values: by which columns, for which."""

    def __init__(self, terms: tuple[Term, ...], bound: set[str], codes: Codes) -> None:
        self.places: tuple[int, ...] = ()
        self.wanted: tuple[str | int, ...] = ()  # names of variables, and codes of constants
        self.news: list[tuple[int, str]] = []  # columns that give variables their values
        self.same: list[tuple[int, int]] = []  # columns that have to be equal
        first: dict[str, int] = {}
        for place, term in enumerate(terms):
            if not isinstance(term, Var):
                self._ask(place, codes.code(term))
            elif is_anonymous(term):
                continue
            elif term.name in bound:
                self._ask(place, term.name)
            elif term.name in first:
                self.same.append((first[term.name], place))
            else:
                first[term.name] = place
                self.news.append((place, term.name))

    def _ask(self, place: int, wanted: str | int) -> None:
        self.places += (place,)
        self.wanted += (wanted,)

    def rows(self, table: Table, bound: Bindings) -> list[Row]:
        """The rows that fit what is bound."""
        key = tuple(bound[one] if isinstance(one, str) else one for one in self.wanted)
        found = table.having(self.places, key)
        if self.same:
            return [row for row in found if all(row[a] == row[b] for a, b in self.same)]
        return found

    def fits(self, row: Row) -> bool:
        """Does a row fit a literal of which nothing is bound?"""
        return all(row[p] == w for p, w in zip(self.places, self.wanted, strict=True)) and all(
            row[a] == row[b] for a, b in self.same
        )

    def bind(self, row: Row, bound: Bindings) -> Bindings:
        """The bindings with those of a row."""
        if not self.news:
            return bound
        found = dict(bound)
        for place, name in self.news:
            found[name] = row[place]
        return found


class LiveTotal:
    """An aggregate: the variable it gives a value to, and how its elements are found."""

    def __init__(
        self, literal: Total, gives: str | None, rows: list[tuple[tuple[Term, ...], Way]]
    ) -> None:
        self.literal, self.gives, self.rows = literal, gives, rows


# The literals that follow, with how each is found.
Way = list[tuple[int, Literal, Lookup | LiveTotal | None]]


class LiveRule:
    """One rule, joined from any of its literals."""

    def __init__(self, rule: PlainRule, tables: dict[Source, Table], codes: Codes) -> None:
        self.rule = rule
        self.codes = codes
        self.head = () if rule.head is None else rule.head.args
        self.tables = tables
        self.places: dict[Source, list[int]] = {}
        self.totalled: set[Source] = set()
        """What its aggregates read: when that changes, the rule is worked out anew."""
        for place, literal in enumerate(rule.body):
            if isinstance(literal, Positive | Negative):
                self.places.setdefault(literal.reading.source, []).append(place)
            elif isinstance(literal, Total):
                self.totalled |= {reading.source for reading in literal.readings()}
        self._whole = self._way(rule.body, None, set())
        self._from: dict[int, tuple[Lookup, bool, Way]] = {}
        for place in (place for places in self.places.values() for place in places):
            literal = rule.body[place]
            assert isinstance(literal, Positive | Negative)
            first = Lookup(literal.reading.terms, set(), codes)
            way = self._way(rule.body, place, {name for _, name in first.news})
            self._from[place] = (first, isinstance(literal, Positive), way)

    def _way(self, body: Sequence[Literal], given: int | None, bound: set[str]) -> Way:
        found: Way = []
        for place, literal in enumerate(body):
            if place == given:
                continue
            lookup: Lookup | LiveTotal | None = None
            if isinstance(literal, Total):
                rows = [(row.terms, self._way(row.body, None, set(bound))) for row in literal.rows]
                lookup = LiveTotal(literal, literal.gives(bound), rows)
                bound |= set() if lookup.gives is None else {lookup.gives}
            elif isinstance(literal, Compare):
                assigns = assigned(literal, bound)
                bound |= set() if assigns is None else {assigns[0].name}
            else:
                lookup = Lookup(literal.reading.terms, bound, self.codes)
                if isinstance(literal, Positive):
                    bound |= {name for _, name in lookup.news}
            found.append((place, literal, lookup))
        return found

    def heads(self, source: Source, row: Row, report: Callable[[Row, bool], None]) -> None:
        """Report the heads of all solutions with a row that is in its table, and their sign.

        The sign is False for solutions that the row prevents.
        """
        places = self.places[source]
        for place in places:
            first, sign, way = self._from[place]
            if not first.fits(row):
                continue
            hidden = frozenset(p for p in places if p < place) if len(places) > 1 else NOTHING
            self._follow(way, 0, first.bind(row, {}), row, hidden, sign, report)

    def everything(self, report: Callable[[Row, bool], None]) -> None:
        """Report the heads of all solutions."""
        self._follow(self._whole, 0, {}, (), NOTHING, True, report)

    def _follow(
        self,
        way: Way,
        at: int,
        bound: Bindings,
        row: Row,
        hidden: frozenset[int],
        sign: bool,
        report: Callable[[Row, bool], None],
    ) -> None:
        """Go on with the literals from one on; what hides a row does not see it."""
        if at == len(way):
            said = self._said(bound)
            if said is not None:
                report(said, sign)
            return
        place, literal, lookup = way[at]
        if lookup is None or isinstance(lookup, LiveTotal):
            if isinstance(lookup, LiveTotal):
                found = self._totalled(lookup, bound)
            else:
                assert isinstance(literal, Compare)
                found = self._compared(literal, bound)
            if found is not None:
                self._follow(way, at + 1, found, row, hidden, sign, report)
            return
        assert not isinstance(literal, Compare | Total)
        rows = lookup.rows(self.tables[literal.reading.source], bound)
        if place in hidden:
            rows = [one for one in rows if one != row]
        if isinstance(literal, Negative):
            if not rows:
                self._follow(way, at + 1, bound, row, hidden, sign, report)
            return
        for one in rows:
            self._follow(way, at + 1, lookup.bind(one, bound), row, hidden, sign, report)

    def _totalled(self, total: LiveTotal, bound: Bindings) -> Bindings | None:
        """The bindings if an aggregate compares as it should, with its value if it gives one."""
        rows: set[Row] = set()
        for terms, way in total.rows:
            for inner in self._solutions(way, 0, bound):
                values = [self.codes.value(term, inner) for term in terms]
                if None not in values:
                    rows.add(tuple(value for value in values if value is not None))
        value = total_of(total.literal.function, rows, self.codes)
        if total.gives is not None:
            return None if value is None else {**bound, total.gives: value}
        limit = self.codes.value(total.literal.bound, bound)
        if limit is None:
            return None
        holds = value is not None and self.codes.holds(total.literal.sign, value, limit)
        return bound if holds != total.literal.negated else None

    def _solutions(self, way: Way, at: int, bound: Bindings) -> Iterator[Bindings]:
        """The bindings that make the literals of an element true."""
        if at == len(way):
            yield bound
            return
        _, literal, lookup = way[at]
        if isinstance(literal, Compare):
            found = self._compared(literal, bound)
            if found is not None:
                yield from self._solutions(way, at + 1, found)
            return
        assert isinstance(lookup, Lookup) and isinstance(literal, Positive | Negative)
        rows = lookup.rows(self.tables[literal.reading.source], bound)
        if isinstance(literal, Negative):
            if not rows:
                yield from self._solutions(way, at + 1, bound)
            return
        for row in rows:
            yield from self._solutions(way, at + 1, lookup.bind(row, bound))

    def _said(self, bound: Bindings) -> Row | None:
        values = [self.codes.value(term, bound) for term in self.head]
        return None if None in values else tuple(v for v in values if v is not None)

    def _compared(self, literal: Compare, bound: Bindings) -> Bindings | None:
        given = assigned(literal, bound)
        if given is not None:
            value = self.codes.value(given[1], bound)
            return None if value is None else {**bound, given[0].name: value}
        one = literal.comparison
        left, right = self.codes.value(one.left, bound), self.codes.value(one.right, bound)
        if left is None or right is None:
            return None
        return bound if self.codes.holds(one.sign, left, right) != literal.negated else None
