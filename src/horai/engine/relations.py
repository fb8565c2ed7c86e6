"""Relations of a world: rows of typed columns, joined with frames.

A join looks at patterns, one per column: a constant or bound variable must be equal, a free
variable is given the value, a compound term is taken apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from horai.engine.columns import Column, bits, codes_of, concat, constant
from horai.engine.frames import Frame
from horai.engine.hashing import Index, build, distinct, probe
from horai.engine.matching import match
from horai.engine.symbols import Symbols
from horai.lang.core.terms import Term, Var, is_ground
from horai.temporal.spans import Ints, Mask

FEW = 64  # rows that are sooner looked through than indexed
Positions = tuple[tuple[int, bool], ...]  # column and whether it is compared by codes


@dataclass(slots=True)
class Relation:
    """Rows that joins look up; indexes are made when asked for and kept."""

    columns: tuple[Column, ...]
    rows: int
    _indexes: dict[Positions, Index] = field(default_factory=dict)
    _coded: dict[int, Ints] = field(default_factory=dict)
    _asked: dict[tuple[int, ...], int] = field(default_factory=dict)

    def often(self, positions: tuple[int, ...]) -> bool:
        """Has it been asked before for single rows? Then an index pays."""
        self._asked[positions] = self._asked.get(positions, 0) + 1
        return bool(positions) and self.rows > FEW and self._asked[positions] > 2

    def index(self, positions: Positions, symbols: Symbols) -> Index:
        """The index over some columns."""
        found = self._indexes.get(positions)
        if found is None:
            found = self._indexes[positions] = build(
                [self.key(position, coded, symbols) for position, coded in positions]
            )
        return found

    def key(self, position: int, coded: bool, symbols: Symbols) -> Ints:
        """A column as integers that can be compared."""
        column = self.columns[position]
        if not coded:
            return bits(column)
        if position not in self._coded:
            self._coded[position] = codes_of(column, symbols)
        return self._coded[position]

    def where(self, rows: Ints | Mask) -> Relation:
        """A relation of some of the rows."""
        columns = tuple(column.take(rows) for column in self.columns)
        count = int(rows.sum()) if rows.dtype == np.bool_ else len(rows)
        return Relation(columns, count)


def joined(relations: list[Relation], symbols: Symbols) -> Relation:
    """Relations of the same columns, one below the other."""
    filled = [part for part in relations if part.rows] or relations[:1]
    if len(filled) == 1:
        return filled[0]
    width = len(filled[0].columns)
    columns = tuple(concat([part.columns[i] for part in filled], symbols) for i in range(width))
    return Relation(columns, sum(part.rows for part in filled))


def different(table: Relation, symbols: Symbols) -> Relation:
    """Every different row once."""
    keys = [codes_of(column, symbols) for column in table.columns]
    firsts = distinct(keys, table.rows)
    return table if len(firsts) == table.rows else table.where(firsts)


@dataclass(slots=True)
class Pattern:
    """Patterns sorted by what they do to a join."""

    keys: list[tuple[int, Column]] = field(default_factory=list)  # column, what it must equal
    news: dict[str, int] = field(default_factory=dict)  # free variables and their columns
    twice: list[tuple[int, int]] = field(default_factory=list)  # columns that must be equal


def join(frame: Frame, table: Relation, terms: tuple[Term, ...], symbols: Symbols) -> Match:
    """The rows of frame and table that fit together."""
    table, terms, rows = flat(table, terms, symbols)
    pattern = pattern_of(frame, terms, symbols)
    if frame.rows == 1 and not pattern.keys and not pattern.twice:
        return _everything(frame, table, rows, pattern.news)
    left, right = _pairs(frame, table, pattern, symbols)
    for one, other in pattern.twice:
        a, b = table.columns[one], table.columns[other]
        same = codes_of(a, symbols)[right] == codes_of(b, symbols)[right]
        left, right = left[same], right[same]
    whole = len(left) == frame.rows and _is_range(left)
    return Match(frame, table, left, right, rows, pattern.news, whole)


def _everything(frame: Frame, table: Relation, rows: Ints | None, news: dict[str, int]) -> Match:
    """The whole relation, as at the beginning of most chains."""
    left = np.zeros(table.rows, np.int64)
    return Match(frame, table, left, np.arange(table.rows), rows, news, table.rows == 1, True)


@dataclass(slots=True)
class Match:
    """Pairs of rows: of a frame, and of a relation with columns for its free variables."""

    frame: Frame
    table: Relation
    left: Ints
    right: Ints
    origin: Ints | None  # rows of the table before compound terms were taken apart
    news: dict[str, int]
    all_left: bool = False  # every row of the frame once, in order
    all_right: bool = False  # and of the relation

    def source_rows(self) -> Ints:
        """The rows of the relation that was asked for."""
        return self.right if self.origin is None else self.origin[self.right]

    def where(self, mask: Mask) -> Match:
        """The pairs a mask picks."""
        if mask.all():
            return self
        left, right = self.left[mask], self.right[mask]
        return Match(self.frame, self.table, left, right, self.origin, self.news)

    def to_frame(self, needed: Callable[[str], bool]) -> Frame:
        """The frame of the pairs, with the variables that are needed."""
        kept = Frame(
            self.frame.rows,
            {n: c for n, c in self.frame.columns.items() if needed(n)},
            {n: s for n, s in self.frame.lists.items() if needed(n)},
        )
        frame = kept if self.all_left else kept.take(self.left)
        for name, position in self.news.items():
            if needed(name):
                frame.columns[name] = self._column(position)
        return frame

    def _column(self, position: int) -> Column:
        column = self.table.columns[position]
        if self.all_right:
            return column
        if self.table.rows == 1:
            return Column(column.kind, np.full(len(self.right), column.data[0]))
        return column.take(self.right)


def _is_range(rows: Ints) -> bool:
    return len(rows) == 0 or bool(rows[0] == 0 and rows[-1] == len(rows) - 1 and _rising(rows))


def _rising(rows: Ints) -> bool:
    return bool((rows[1:] > rows[:-1]).all())


def flat(
    table: Relation, terms: tuple[Term, ...], symbols: Symbols
) -> tuple[Relation, tuple[Term, ...], Ints | None]:
    """Compound patterns taken apart: each of their variables becomes a column of its own."""
    if all(isinstance(term, Var) or is_ground(term) for term in terms):
        return table, terms, None
    columns = list(table.columns)
    flat = list(terms)
    rows = np.arange(table.rows)
    for position, term in enumerate(terms):
        if isinstance(term, Var) or is_ground(term):
            continue
        found = match(term, columns[position], {}, symbols)
        columns = [column.take(found.rows) for column in columns] + list(found.new.values())
        flat[position] = Var(f"#whole{position}")
        flat.extend(Var(name) for name in found.new)
        rows = rows[found.rows]
    return Relation(tuple(columns), len(rows)), tuple(flat), rows


def pattern_of(frame: Frame, terms: tuple[Term, ...], symbols: Symbols) -> Pattern:
    found = Pattern()
    for position, term in enumerate(terms):
        if not isinstance(term, Var):
            found.keys.append((position, constant(term, 1, symbols)))
        elif term.name in frame.columns:
            found.keys.append((position, frame.columns[term.name]))
        elif term.name in found.news:
            found.twice.append((found.news[term.name], position))
        else:
            found.news[term.name] = position
    return found


def _pairs(frame: Frame, table: Relation, pattern: Pattern, symbols: Symbols) -> tuple[Ints, Ints]:
    keys = pattern.keys
    fixed = [(p, c) for p, c in keys if len(c) == 1 and frame.rows != 1]
    moving = [(p, c) for p, c in keys if len(c) != 1 or frame.rows == 1]
    if frame.rows == 1 and not table.often(tuple(position for position, _ in keys)):
        rows = _equal_rows(table, keys, symbols)
        return np.zeros(len(rows), np.int64), rows
    if not moving:
        rows = _equal_rows(table, fixed, symbols)
        if len(rows) == 1:
            return np.arange(frame.rows), np.full(frame.rows, rows[0])
        return np.repeat(np.arange(frame.rows), len(rows)), np.tile(rows, frame.rows)
    lefts: list[Ints] = []
    positions: list[tuple[int, bool]] = []
    for position, column in keys:
        coded = column.kind != table.columns[position].kind
        key = codes_of(column, symbols) if coded else bits(column)
        lefts.append(np.full(frame.rows, key[0]) if len(key) == 1 else key)
        positions.append((position, coded))
    return probe(lefts, table.index(tuple(positions), symbols))


def _equal_rows(table: Relation, keys: list[tuple[int, Column]], symbols: Symbols) -> Ints:
    """The rows of a relation whose columns have given values."""
    mask: Mask | None = None
    for position, column in keys:
        coded = column.kind != table.columns[position].kind
        wanted = (codes_of(column, symbols) if coded else bits(column))[0]
        here = table.key(position, coded, symbols) == wanted
        mask = here if mask is None else mask & here
    return np.arange(table.rows) if mask is None else np.flatnonzero(mask)
