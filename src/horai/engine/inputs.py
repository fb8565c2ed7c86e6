"""Input items as relations, with entities about actions taken apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from horai.engine.columns import Column, codes, codes_of, ints, narrow
from horai.engine.hashing import dense
from horai.engine.memory import after, clipped
from horai.engine.relations import Relation, joined
from horai.engine.stream import Stream
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent, fluent_of, merged
from horai.lang.core.terms import Compound
from horai.lang.ec.unwrapping import Unwrapping
from horai.temporal.spans import Ints

Key = tuple[str, int]
Flat = tuple[Key, tuple[Column, ...], Ints]


class InputMemory:
    """Input fluents up to the border: final, so that items need not be kept for their sake."""

    def __init__(self, start: int) -> None:
        self.start = self.cut = start
        self.fluents: dict[Key, Fluent] = {}
        self.lent: list[tuple[Key, Fluent]] = []  # by other sessions, since the last cut

    def borrow(self, key: Key, fluent: Fluent, symbols: Symbols) -> None:
        """What another session knows is final, too."""
        self.lent.append((key, fluent))
        before = [self.fluents[key]] if key in self.fluents else []
        self.fluents[key] = merged([*before, fluent], symbols)

    def whole(self, stream: Stream, unwrapping: Unwrapping) -> dict[Key, Fluent]:
        """All that is known of input fluents."""
        symbols = stream.symbols
        found = {flat: [fluent] for flat, fluent in self.fluents.items()}
        for key in stream.keys("fluent"):
            fluents = stream.fluents(key)
            size = len(fluents.start)
            for flat, args, rows in flattened(key, fluents.args, size, unwrapping, symbols):
                columns = (*args, fluents.value.take(rows))
                start, end = fluents.start[rows], fluents.end[rows]
                part = fluent_of(columns, start, end, len(rows), symbols)
                part = after(part, self.cut) if self.cut > self.start else part
                found.setdefault(flat, []).append(part)
        return {flat: merged(parts, symbols) for flat, parts in found.items()}

    def cut_at(self, cut: int, fluents: Mapping[Key, Fluent], keep: Callable[[Key], int]) -> None:
        """Remember what is final; `fluents` are all that is known."""
        self.cut, self.lent = cut, []
        self.fluents = {key: clipped(one, cut, keep(key)) for key, one in fluents.items()}


def events_of(stream: Stream, unwrapping: Unwrapping) -> dict[Key, Relation]:
    """Occurrences of events, by the flat events they belong to."""
    found: dict[Key, list[Relation]] = {}
    for key in stream.keys("event"):
        events = stream.events(key)
        size = len(events.time)
        for flat, args, rows in flattened(key, events.args, size, unwrapping, stream.symbols):
            time = ints(events.time if len(rows) == size else events.time[rows])
            found.setdefault(flat, []).append(Relation((*args, time), len(rows)))
    return {flat: joined(parts, stream.symbols) for flat, parts in found.items()}


def flattened(
    key: Key, args: tuple[Column, ...], rows: int, unwrapping: Unwrapping, symbols: Symbols
) -> Iterator[Flat]:
    """The rows of an entity by the flat entity they belong to."""
    every = np.arange(rows)
    if key not in unwrapping.positions:
        yield key, args, every
        return
    left = np.ones(rows, np.bool_)
    for flat, fold in unwrapping.folds.items():
        if (fold.name, len(fold.parts)) != key:
            continue
        chosen = every
        columns: list[Column] = []
        for position, part in enumerate(fold.parts):
            column = args[position].take(chosen)
            if part is None:
                columns.append(column)
                continue
            fits, parts = _taken_apart(column, *part, symbols)
            columns = [*(one.take(fits) for one in columns), *parts]
            chosen = chosen[fits]
        left[chosen] = False
        yield flat, tuple(columns), chosen
    rest = np.flatnonzero(left)
    if len(rest):
        yield key, tuple(column.take(rest) for column in args), rest


def folded(
    key: Key, args: tuple[Column, ...], rows: int, unwrapping: Unwrapping, symbols: Symbols
) -> tuple[str, tuple[Column, ...]]:
    """Name and arguments as they are written."""
    fold = unwrapping.folds.get(key)
    if fold is None:
        return key[0], args
    rest = iter(args)
    columns: list[Column] = []
    for part in fold.parts:
        if part is None:
            columns.append(next(rest))
            continue
        inner = [codes_of(next(rest), symbols) for _ in range(part[1])]
        of_row, firsts = dense(inner, rows)
        terms = (tuple(symbols.term(int(one[at])) for one in inner) for at in firsts.tolist())
        made = symbols.codes(Compound(part[0], args) for args in terms)
        columns.append(codes(made[of_row]))
    return fold.name, tuple(columns)


def _taken_apart(
    column: Column, name: str, arity: int, symbols: Symbols
) -> tuple[Ints, list[Column]]:
    """The rows that are compound terms of a name and arity, and their arguments."""
    if column.kind != "term":  # a number has no parts
        return np.empty(0, np.int64), [codes(np.empty(0, np.int64))] * arity
    of_row, firsts = dense([column.data], len(column))
    parts = np.zeros((len(firsts), arity), np.int64)
    fits = np.zeros(len(firsts), np.bool_)
    for place, code in enumerate(column.data[firsts].tolist()):
        term = symbols.term(code)
        if isinstance(term, Compound) and (term.name, len(term.args)) == (name, arity):
            fits[place] = True
            parts[place] = [symbols.code(arg) for arg in term.args]
    rows = np.flatnonzero(fits[of_row])
    found = parts[of_row[rows]]
    return rows, [narrow(codes(found[:, at].copy()), symbols) for at in range(arity)]
