"""Sessions of a stage: part of a description, fed with what earlier stages found.

What an earlier stage said at a query time comes as changes: spans and events that are new or gone
since the query time before. They are taken as they are, so that at every query time the session
sees exactly what the earlier stage said then. Other items are judged by the window, as always. A
change may lie further back than the window (an interval that turns out long enough): nothing later
than where what is given is final is final here.

What is known of some entities may be lent to a session of another bucket that begins to ask for
them: all that is still kept of what items and earlier stages have said of them, up to the same
query time. What rules made of it stays where it is: whoever begins to ask has made nothing of it
yet. What is lent or given back between two query times goes into the machine with the items of the
next one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np

from horai.engine.admission import Few, Stream, Wanted
from horai.engine.answer import Answer, Part
from horai.engine.arrow_items import ItemKind, SomeItems
from horai.engine.arrow_items import Source as ItemSource
from horai.engine.columns import Column
from horai.engine.core.evolving import evolve
from horai.engine.core.reach import ENDLESS
from horai.engine.core.retention import Kept
from horai.engine.core.session import CompiledSession
from horai.engine.core.solver import Function
from horai.engine.inputs import FOREVER, Tables, folded, part_of
from horai.engine.packing import Packer, Unpacker
from horai.engine.rows import Rows
from horai.lang.ec.syntax import EventDescription
from horai.lang.ec.unwrapping import Unwrapping
from horai.plan.ec.instructions import INF

Key = tuple[str, int]
Type = tuple[ItemKind, Key]
PAST = "horai past 4"


class Lent(NamedTuple):
    """What is known of some entities, as bytes, and their items that still wait."""

    known: bytes
    waiting: list[SomeItems]


class CompiledStage(CompiledSession):
    """A session whose `given` relations come from elsewhere.

    `given_final` says, before each query, up to where what is given is final.
    """

    def __init__(
        self,
        description: EventDescription,
        *,
        given: Iterable[Type],
        start: int,
        window: int | None,
        tick: int,
        allen_memory: int | None = None,
        predicates: Mapping[str, Function] | None = None,
        archive: bool = True,
    ) -> None:
        super().__init__(
            description,
            start=start,
            window=window,
            tick=tick,
            allen_memory=allen_memory,
            predicates=predicates,
            archive=archive,
        )
        self.given = frozenset(given)
        self.given_final: int | None = None
        self.stream.give(self.given)

    @property
    def unwrapping(self) -> Unwrapping:
        """How entities inside of entities are taken apart."""
        return self.plan.unwrapping

    def border(self, query: int) -> int:
        """The last time-point of a whole cell that no item and no change can change any more."""
        border = super().border(query)
        if self.given_final is None or self.given_final >= border:
            return border
        border = self.given_final
        border -= (border + 1) % self.tick
        return max(self.start, border)

    def advance(self, until: int, tables: Iterable[ItemSource] = ()) -> Answer:
        """The answer at query time `until`, with more items known than before."""
        self._take_moved()
        return super().advance(until, tables)

    def restore(self, data: bytes) -> None:
        """Take up the run that was saved."""
        super().restore(data)
        self.stream.give(self.given)

    def evolve(self, data: bytes, old: CompiledStage) -> None:
        """Take up a run that was saved with other rules; `old` is a fresh session of these.

        Raises `NotRestored` if it cannot be kept.
        """
        evolve(self, data, old)
        self.stream.give(self.given)

    def begin_again(self, known: Kept, query: int, final: int, stream: Stream) -> None:
        """Go on from what was known at a border: items after it are looked at anew."""
        self.query, self.final, self._stream = query, final, stream
        self._few = Few(stream, self.words.column)
        self._running = True
        self._replace(known)
        self._machine.go_on(query)
        self._begin_step(query)
        self._machine.settled(final + 1)
        for key in stream.keys("event"):
            rows = stream.events(key)
            self._events(key, rows.terms, rows["start"], 1)
        for key in stream.keys("fluent"):
            rows = stream.fluents(key)
            self._fluents(key, rows.terms, rows["start"], rows["end"], 1)
        for flat, rows in self.inputs.final.items():
            self._take_past(flat, rows)
        self._end_step()
        self._machine.settled(-INF)

    def final_of(self, entities: Collection[tuple[str, str, int]]) -> int:
        """Up to where some of what rules make is final: changes of it lie after that."""
        if self.window is None:
            return self.start
        found = self.final
        for one in self.program.columns:
            fold = self.unwrapping.folds.get(one.key)
            key = one.key if fold is None else (fold.name, len(fold.parts))
            if ("event" if one.kind == "event" else "fluent", *key) in entities and one.shown:
                late = int(self.reach.late[one.number])
                found = min(found, self.start if late >= ENDLESS else self.final - late)
        return max(self.start, found)

    def held(self) -> tuple[Part, Part]:
        """What the session keeps: answers that may still change, and items that count."""
        stream, given = self.stream, self.given
        items: Tables = {
            ("fluent", key): stream.fluents(key)
            for key in stream.keys("fluent")
            if ("fluent", key) not in given
        }
        items |= {
            ("event", key): stream.events(key)
            for key in stream.keys("event")
            if ("event", key) not in given
        }
        return self._now(self.final), part_of(items, self.symbols)

    # --- what is lent ----------------------------------------------------------------------------

    def lend(self, type: Type, wanted: Wanted) -> Lent | None:
        """What the session knows of some entities, None if that is nothing."""
        buffer, waiting = self.stream.lend(*type, wanted) or (None, [])
        past = {key: rows.take(wanted(args)) for key, rows, args in self._past(type)}
        past = {key: rows for key, rows in past.items() if rows.size}
        if buffer is None and not past:
            return None
        return Lent(Packer(self.symbols).bytes(PAST, (buffer, past)), waiting)

    def borrow(self, type: Type, known: Iterable[bytes], wanted: Wanted) -> None:
        """Know of some entities what others know, and nothing else; what waits comes as items."""
        self.stream.let_go(*type, wanted)
        for key, rows, args in self._past(type):
            self.inputs.final[key] = rows.take(~wanted(args))
        for packed in known:
            buffer, past = Unpacker(PAST, packed, self.symbols).whole()
            if buffer is not None:
                self.stream.borrow(*type, buffer)
            for key, rows in past.items():
                self.inputs.borrow(key, rows, self.symbols)

    def arguments(self, type: Type) -> Iterator[tuple[Column, ...]]:
        """The arguments of all rows of a type that the session still knows, or that wait in it."""
        yield from self.stream.arguments(*type)
        yield from (args for _, _, args in self._past(type))

    def _past(self, type: Type) -> list[tuple[Key, Rows, tuple[Column, ...]]]:
        """What is final of a fluent: flat fluents, their rows, arguments as they are written."""
        kind, key = type
        known = self.inputs.final
        flat = [one for one in self.unwrapping.forms(key) if kind == "fluent" and one in known]
        every = [(one, known[one]) for one in flat if known[one].size]
        names = self.unwrapping, self.symbols
        return [
            (one, rows, folded(one, rows.terms[:-1], rows.size, *names)[1]) for one, rows in every
        ]

    def _take_moved(self) -> None:
        """Items that other sessions lent or got back."""
        for key, buffer in self._buffers("event"):
            for sign, rows in buffer.moved:
                self._events(key, rows.terms, rows["start"], sign)
            buffer.moved = []
        for key, buffer in self._buffers("fluent"):
            for sign, rows in buffer.moved:
                first = rows["first"] if "first" in rows.numbers else rows["start"]
                self._fluents(key, rows.terms, first, rows["end"], sign)
            buffer.moved = []
        for flat, rows in self.inputs.lent:
            self._take_past(flat, rows)
        self.inputs.lent = []

    def _take_past(self, flat: Key, rows: Rows) -> None:
        """What is final of an input fluent."""
        some = self.program.layout.fluents.get(flat)
        if some is None or some[0].derived or not rows.size:
            return
        words = [*map(self.words.of_column, rows.terms)]
        end = np.minimum(rows["end"], self.final + 1)
        self._give_spans(some, 1, rows["start"], words, end)

    def _forget_items(self) -> None:
        border = self.border(self.query)
        if self.window is None or border <= self.start:
            return
        fluents = self.inputs.fluents(self.stream)
        self.inputs.cut_at(border, fluents, partial(self._needed, border))
        self._forget_items_until(border)

    def _needed(self, border: int, key: Key) -> int:
        """So far back rules look, also those of whom an entity is lent to."""
        some = self.program.layout.fluents.get(key, [])
        back = max((int(self.reach.spans[one.number]) for one in some), default=0)
        return FOREVER if back >= ENDLESS else border - back
