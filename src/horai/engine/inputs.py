"""Items as rules and answers know them: entities about actions taken apart, spans merged.

What of input fluents has become final is kept here, as far as it reaches into what is not: so items
need not be kept for its sake. Where answers show items, rows that have become final go to the
archive, if there is one, and never change again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from horai.engine.admission import Stream
from horai.engine.answer import EventTable, FluentTable, Part, Which
from horai.engine.columns import Column, codes, codes_of, narrow
from horai.engine.numbering import dense
from horai.engine.rows import Rows, clipped, join, merged, spans, without
from horai.engine.symbols import Symbols
from horai.lang.core.terms import Compound
from horai.lang.ec.unwrapping import Unwrapping
from horai.temporal.spans import FIRST, INF, Ints, previous_point

Key = tuple[str, int]
Source = tuple[str, Key]  # "event" or "fluent", and what it is called
Tables = dict[Source, Rows]
Flat = tuple[Key, tuple[Column, ...], Ints]
FOREVER = -(1 << 62)  # as a bound: keep everything


class Inputs:
    """The items of a session from one query to the next."""

    def __init__(
        self, unwrapping: Unwrapping, tick: int, start: int, window: int | None, archive: bool
    ) -> None:
        self._unwrapping, self._tick = unwrapping, tick
        self._start, self._window = start, window
        self.cut = start
        """What lies up to here is final."""
        self.final: dict[Key, Rows] = {}
        """Spans of input fluents up to the cut; starts are true."""
        self.lent: list[tuple[Key, Rows]] = []  # by other sessions, since the last cut
        self.archive: dict[Source, list[Rows]] | None = {} if archive else None
        self.live: Tables = {}  # what answers showed last, and may still change

    def to_state(self) -> tuple[int, dict[Key, Rows], dict[Source, list[Rows]] | None, Tables]:
        """What later answers depend on."""
        return self.cut, self.final, self.archive, self.live

    def set_state(
        self, state: tuple[int, dict[Key, Rows], dict[Source, list[Rows]] | None, Tables]
    ) -> None:
        """Go on with what another one knew."""
        live = dict(state[3])
        self.cut, self.final, self.archive, self.live = *state[:3], live

    def borrow(self, key: Key, rows: Rows, symbols: Symbols) -> None:
        """What another session knows is final, too."""
        self.lent.append((key, rows))
        self.final[key] = merged([self.final[key], rows] if key in self.final else [rows], symbols)

    def fluents(self, stream: Stream) -> dict[Key, Rows]:
        """All that is known of input fluents, as maximal spans."""
        found = {flat: [rows] for flat, rows in self.final.items()}
        for key in stream.keys("fluent"):
            given = stream.fluents(key)
            start, end = given["start"], given["end"]
            for flat, args, rows in self._flat(key, given, stream.symbols):
                columns = (*args, given.terms[-1].take(rows))
                part = spans(start[rows], end[rows], columns)
                if self.cut > self._start:
                    part = clipped(part, self.cut + 1, INF)
                found.setdefault(flat, []).append(part)
        return {flat: merged(parts, stream.symbols) for flat, parts in found.items()}

    def cut_at(self, cut: int, fluents: Mapping[Key, Rows], keep: Callable[[Key], int]) -> None:
        """Remember what is final of all that is known, as far back as it is needed."""
        self.cut, self.lent = cut, []
        self.final = {
            key: clipped(rows.take(rows["end"] > keep(key)), FIRST, cut + 1)
            for key, rows in fluents.items()
        }

    def shown(
        self, stream: Stream, fluents: Mapping[Key, Rows], border: int
    ) -> dict[Which, Callable[[], Part]]:
        """What answers say of the items themselves."""
        symbols = stream.symbols
        before, now = self.live, self._changeable(stream, fluents)
        self.live = now
        part = partial(part_of, symbols=symbols, unwrapping=self._unwrapping)
        found: dict[Which, Callable[[], Part]] = {
            "window": lambda: part(_once(self._in_window(now, border))),
            "new": lambda: part(beyond(now, before, symbols)),
            "gone": lambda: part(beyond(before, now, symbols)),
        }
        if self.archive is not None:
            kept = {source: list(rows) for source, rows in self.archive.items()}
            found["all"] = lambda: part(_together(kept, now, symbols))
        return found

    def close(self, final: int) -> None:
        """Move what has become final to the archive."""
        live, self.live = self.live, {}  # answers hold on to what was
        for source, rows in live.items():
            done = rows["start" if source[0] == "event" else "end"] <= final
            if self.archive is not None and done.any():
                self.archive.setdefault(source, []).append(rows.take(done))
            self.live[source] = rows.take(~done) if done.any() else rows

    def _changeable(self, stream: Stream, fluents: Mapping[Key, Rows]) -> Tables:
        """What is not in the archive."""
        final = FOREVER if self._window is None else self.cut
        found: Tables = {}
        for flat, rows in fluents.items():
            found["fluent", flat] = rows.take(rows["end"] > final)
        events: dict[Key, list[Rows]] = {}
        for key in stream.keys("event"):
            given = stream.events(key)
            for flat, args, places in self._flat(key, given, stream.symbols):
                part = Rows({"start": given["start"][places]}, args)
                events.setdefault(flat, []).append(part.take(part["start"] > final))
        found |= {("event", flat): join(parts, stream.symbols) for flat, parts in events.items()}
        return {source: rows for source, rows in found.items() if rows.size}

    def _flat(self, key: Key, rows: Rows, symbols: Symbols) -> Iterator[Flat]:
        return flattened(key, rows.terms[: key[1]], rows.size, self._unwrapping, symbols)

    def _in_window(self, live: Tables, border: int) -> Tables:
        if self._window is None:
            return live
        found: Tables = {}
        for source, rows in live.items():
            last = rows["start"]
            if source[0] == "fluent":
                last = np.maximum(last, previous_point(rows["end"], self._tick))
            found[source] = rows.take(last > border)
        return found


def part_of(tables: Tables, symbols: Symbols, unwrapping: Unwrapping | None = None) -> Part:
    """Tables as a part of an answer, with what was taken apart as it is written."""
    fluents: list[FluentTable] = []
    events: list[EventTable] = []
    for (kind, key), rows in tables.items():
        if not rows.size:
            continue
        name, args = key[0], rows.terms[: key[1]]
        if unwrapping is not None:
            name, args = folded(key, args, rows.size, unwrapping, symbols)
        if kind == "event":
            events.append(EventTable(name, args, rows["start"]))
        else:
            fluents.append(FluentTable(name, args, rows.terms[-1], rows["start"], rows["end"]))
    return Part(fluents, events)


def tables_of(part: Part, symbols: Symbols) -> Tables:
    """A part of an answer as tables."""
    found: dict[Source, list[Rows]] = {}
    for one in part.fluents:
        rows = spans(one.start, one.end, (*one.args, one.value))
        found.setdefault(("fluent", (one.name, len(one.args))), []).append(rows)
    for event in part.events:
        rows = Rows({"start": event.time}, event.args)
        found.setdefault(("event", (event.name, len(event.args))), []).append(rows)
    return {source: join(parts, symbols) for source, parts in found.items()}


def beyond(left: Tables, right: Tables, symbols: Symbols) -> Tables:
    """The rows of one side that the other has not."""
    return {
        source: without(rows, right[source], symbols) if source in right else rows
        for source, rows in _once(left).items()
    }


def _together(archive: Mapping[Source, list[Rows]], live: Tables, symbols: Symbols) -> Tables:
    parts = {source: list(rows) for source, rows in archive.items()}
    for source, rows in live.items():
        parts.setdefault(source, []).append(rows)
    return _once({source: join(some, symbols) for source, some in parts.items()})


def _once(tables: Tables) -> Tables:
    """An event may have been told twice."""
    return {
        source: rows.once() if source[0] == "event" else rows for source, rows in tables.items()
    }


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
        terms = zip(*(symbols.terms(one[firsts]) for one in inner), strict=True)
        made = symbols.plain(Compound(part[0], args) for args in terms)
        columns.append(codes(np.array(made, np.int64)[of_row]))
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
