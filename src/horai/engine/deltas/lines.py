"""The points of a simple fluent, one line for every entity, and what follows when they change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from horai.engine.columns import Column, bits, codes, codes_of, concat, narrow
from horai.engine.deltas.store import FluentStore, SpanChange
from horai.engine.hashing import dense
from horai.engine.hashing import first as first_of
from horai.engine.heads import EVERY, Said
from horai.engine.matching import match
from horai.engine.relations import Relation, joined
from horai.engine.simple import Held
from horai.engine.symbols import Symbols
from horai.lang.core.terms import Term
from horai.temporal.inertia_changes import LineChanges, LineSpans, change_lines
from horai.temporal.line_points import COLUMNS, EVERY_VALUE, VALUE
from horai.temporal.line_tables import Lines, Turns, move_lines, packed_turns
from horai.temporal.sorting import order
from horai.temporal.spans import FIRST, INF, Ints, Mask, Spans

ENOUGH = 10_000  # points, before gaps are looked for
SPARE = 8  # points that fit after a line, beside half of what it has


@dataclass(frozen=True, slots=True)
class Moved:
    """Points of one rule that came or went."""

    said: Said
    initiates: bool
    comes: bool


class FluentLines:
    """All lines of a fluent. Entities, values and forms have numbers of their own here."""

    def __init__(self, arity: int, tick: int, symbols: Symbols) -> None:
        self.tick, self.symbols = tick, symbols
        empty = np.empty(0, np.int64)
        self._entities = Relation(tuple(codes(empty) for _ in range(arity)), 0)
        self._lines = Lines(empty, empty, empty, empty, empty)
        self._space: Ints = empty  # how many points each line has room for
        self._room, self.used = _room(0), 0
        self._turns = Turns(_room(0), 0)
        self._values: Ints = empty  # by number
        self._sorted: Ints = empty  # numbers in the order of the values
        self._forms: list[Term] = []
        self._fits = np.zeros((0, 0), np.bool_)
        self._forgotten = FIRST
        self._enough = ENOUGH

    def begin(self, held: Held, store: FluentStore) -> None:
        """What holds before the first points."""
        line = self._line_of(held.args, len(held))
        value = self._numbers_of(held.value)
        self._turns = Turns(np.column_stack((held.start, value)), len(held))
        self._lines.turn_first[line] = np.arange(len(held))
        self._lines.turn_length[line] = self._lines.turn_space[line] = 1
        spans = LineSpans(line, value, held.start, np.full(len(held), INF))
        self._exchange(store, _no_spans(), spans)

    def change(self, parts: list[Moved], store: FluentStore) -> SpanChange:
        """Let points come and go, and put what follows into the store."""
        said = [part.said for part in parts]
        sizes = [len(one) for one in said]
        arity = len(self._entities.columns)
        args = tuple(concat([one.args[i] for one in said], self.symbols) for i in range(arity))
        time = np.concatenate([one.time for one in said])
        code = np.concatenate([2 * self._values_of(one.said) + one.initiates for one in parts])
        comes = np.repeat([part.comes for part in parts], sizes)
        line = self._line_of(args, len(time))
        self._make_room(line[comes])
        sorting = order(line, time)
        changes = LineChanges(line[sorting], time[sorting], code[sorting], comes[sorting])
        gone, new, self._turns = change_lines(
            changes, self._lines, self._room, self._turns, self._fits, self.tick
        )
        return self._exchange(store, gone, new)

    def settle(self, until: int) -> None:
        """Nothing changes any more up to a time. The points of its cell stay together."""
        self._forgotten = until - (until + 1) % self.tick

    def pack(self) -> None:
        """Leave out what is forgotten, entities that have nothing left, and gaps, if it is much."""
        if self.used <= self._enough:
            return
        everyone = np.arange(len(self._space))
        lines, room = self._lines, self._room
        move_lines(everyone, lines.first, lines, room, room, self._forgotten)
        self._turns = packed_turns(lines, self._turns, self._forgotten)
        stays = np.flatnonzero((lines.length > 0) | self._holding())
        self._entities = self._entities.where(stays)
        self._lines = Lines(*(column[stays] for column in lines))
        length = self._lines.length
        self._space = space = length + length // 2 + SPARE
        self.used = int(space.sum())
        self._room = _room(self.used + self.used // 2)
        target = np.cumsum(space) - space
        everyone = np.arange(len(stays))
        move_lines(everyone, target, self._lines, room, self._room, self._forgotten)
        self._enough = _enough(self.used)

    def _holding(self) -> Mask:
        """The lines in which something holds in the end."""
        lines = self._lines
        found = lines.turn_length > 0
        last = (lines.turn_first + lines.turn_length - 1)[found]
        found[found] = self._turns.table[last, VALUE] >= 0
        return found

    # --- numbers ---------------------------------------------------------------------------------

    def _line_of(self, args: tuple[Column, ...], rows: int) -> Ints:
        """The line of every row; entities without one get it."""
        if not args:
            if rows and not len(self._space):
                self._entities = Relation((), 1)
                self._add_lines(1)
            return np.zeros(rows, np.int64)
        found = self._known(args, rows)
        unknown = np.flatnonzero(found < 0)
        if len(unknown):
            new = [column.take(unknown) for column in args]
            ids, firsts = dense([bits(column) for column in new], len(unknown))
            found[unknown] = ids + self._entities.rows
            table = Relation(tuple(column.take(firsts) for column in new), len(firsts))
            self._entities = joined([self._entities, table], self.symbols)
            self._add_lines(len(firsts))
        return found

    def _known(self, args: tuple[Column, ...], rows: int) -> Ints:
        if not self._entities.rows:
            return np.full(rows, -1)
        kinds = [column.kind for column in self._entities.columns]
        coded = [kind != column.kind for kind, column in zip(kinds, args, strict=True)]
        keys = [
            codes_of(column, self.symbols) if code else bits(column)
            for column, code in zip(args, coded, strict=True)
        ]
        return first_of(keys, self._entities.index(tuple(enumerate(coded)), self.symbols))

    def _add_lines(self, more: int) -> None:
        zeros = np.zeros(more, np.int64)
        self._lines = Lines(*(np.concatenate((column, zeros)) for column in self._lines))
        self._space = np.concatenate((self._space, zeros))

    def _values_of(self, said: Said) -> Ints:
        """The numbers of values, as lines have them."""
        assert said.value is not None
        if said.form is not None:
            return np.full(len(said), -2 - self._form(said.form))
        if len(said) and said.value[0] == EVERY:
            return np.full(len(said), EVERY_VALUE)
        return self._numbers_of(said.value)

    def _numbers_of(self, value: Ints) -> Ints:
        ordered = self._values[self._sorted]
        place = np.searchsorted(ordered, value)
        there = place < len(ordered)
        there[there] = ordered[place[there]] == value[there]
        if not there.all():
            self._take_values(np.concatenate((self._values, np.unique(value[~there]))))
            return self._numbers_of(value)
        return self._sorted[place]

    def _take_values(self, values: Ints) -> None:
        self._values, self._sorted = values, np.argsort(values)
        self._match_forms()

    def _form(self, form: Term) -> int:
        if form not in self._forms:
            self._forms.append(form)
            self._match_forms()
        return self._forms.index(form)

    def _match_forms(self) -> None:
        self._fits = np.zeros((len(self._forms), len(self._values)), np.bool_)
        for number, form in enumerate(self._forms):
            self._fits[number, match(form, codes(self._values), {}, self.symbols).rows] = True

    # --- room ------------------------------------------------------------------------------------

    def _make_room(self, coming: Ints) -> None:
        """Let every line have room for the points that come."""
        lines = self._lines
        more = np.bincount(coming, minlength=len(self._space))
        full = np.flatnonzero(lines.length + more > self._space)
        if not len(full):
            return
        move_lines(full, lines.first[full], lines, self._room, self._room, self._forgotten)
        full = full[lines.length[full] + more[full] > self._space[full]]
        need = lines.length[full] + more[full]
        self._lay_out(full, need + need // 2 + SPARE)

    def _lay_out(self, chosen: Ints, space: Ints) -> None:
        """Put lines behind all others, with more space."""
        last = np.cumsum(space)
        used = self.used + int(last[-1]) if len(last) else self.used
        room = self._room
        if used > len(room):
            room = _room(used + used // 2)
            room[: self.used] = self._room[: self.used]
        move_lines(chosen, self.used + last - space, self._lines, room, room, self._forgotten)
        self._space[chosen] = space
        if not self.used:
            self._enough = _enough(used)
        self._room, self.used = room, used

    # --- spans -----------------------------------------------------------------------------------

    def _exchange(self, store: FluentStore, gone: LineSpans, new: LineSpans) -> SpanChange:
        """Spans of lines as spans of the pairs of a store."""
        line = np.concatenate((gone.line, new.line))
        value = np.concatenate((gone.value, new.value))
        ids, firsts = dense([line * len(self._values) + value], len(line))
        whose = line[firsts]
        args = (column.take(whose) for column in self._entities.columns)
        holding = narrow(codes(self._values[value[firsts]]), self.symbols)
        rows = store.added(Relation((*args, holding), len(firsts)))[ids]
        old, fresh = rows[: len(gone.line)], rows[len(gone.line) :]
        drop = store.places_of(old, gone.start)
        sorting = order(fresh, new.start)
        spans = Spans(fresh[sorting], new.start[sorting], new.end[sorting])
        return store.exchange(drop, spans)


def _room(points: int) -> Ints:
    return np.empty((points, COLUMNS), np.int64)


def _enough(used: int) -> int:
    """How much may be used until gaps are looked for."""
    return 2 * used + ENOUGH


def _no_spans() -> LineSpans:
    nothing = np.empty(0, np.int64)
    return LineSpans(nothing, nothing, nothing, nothing)
