"""A step with few items: each is admitted and fed by itself, without columns.

This is for insertions that lie in the window and need not wait. They are kept until they are final,
for the stream may have to take them back: it gets them before it admits anything itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from horai.engine.admission import Stream
from horai.engine.arrow_items import ItemKind
from horai.engine.core.words import Words
from horai.engine.rows import Rows
from horai.plan.ec.instructions import INF

Key = tuple[str, int]
Place = tuple[int, int]
"""A table of the machine, and a column of it."""
MANY = 1 << 16
"""So many items are kept as rows; more of them go to the stream."""


@dataclass(frozen=True, slots=True, eq=False)
class ItemType:
    """A type of items. `place` is where they go, if a rule asks for them.

    Those of an input fluent may go where those with their value do.
    """

    kind: ItemKind
    key: Key
    place: Place | None
    order: tuple[int, ...] | None  # of the arguments of an event, unless as they come
    valued: Mapping[int, Place]


class Given(NamedTuple):
    """Items, column by column: words are those of arguments, then of the value.

    Events end when they start.
    """

    arrivals: Sequence[int] = ()
    starts: Sequence[int] = ()
    ends: Sequence[int] = ()
    types: Sequence[ItemType] = ()
    words: Sequence[tuple[int, ...]] = ()

    def for_machine(self) -> list[tuple[int, int, int, tuple[int, ...]]]:
        """Items of which rules ask, as (table, place, time, words)."""
        found = []
        for start, end, one, words in zip(
            self.starts, self.ends, self.types, self.words, strict=True
        ):
            place = one.place
            if one.valued:
                place, words = one.valued.get(words[-1]), words[:-1]
            if place is not None:
                if one.kind == "fluent":
                    words = (*words, min(end, INF))
                elif one.order is not None:
                    words = tuple([words[at] for at in one.order])
                found.append((*place, start, words))
        return found


class Few:
    """The items of a session that came one by one and are not final."""

    def __init__(self, stream: Stream, words: Words) -> None:
        self.stream, self.words = stream, words
        self._kept: deque[tuple[int, int, Given]] = deque()  # (until when, generation)
        self._size = 0

    def admit(self, given: Given, query: int) -> bool:
        """Admit items at a query time, or do nothing: then they are a matter of the stream."""
        border = self.stream.border(query)
        if self.stream.next_due() <= query:
            return False
        starts = given.starts
        if starts and (min(starts) <= border or max(starts) > query or max(given.arrivals) > query):
            return False
        generation = self.stream.go_on(query)
        kept = self._kept
        while kept and kept[0][0] <= border:
            self._size -= len(kept.popleft()[2].starts)
        if starts:
            kept.append((max(given.ends), generation, given))
            self._size += len(starts)
            if self._size > MANY:
                self.settle()
        return True

    def settle(self) -> None:
        """Let the stream have all that is kept."""
        by_type: dict[ItemType, list[tuple[int, int, int, int, tuple[int, ...]]]] = {}
        for _, generation, given in self._kept:
            for arrival, start, end, one, words in zip(*given, strict=True):
                by_type.setdefault(one, []).append((generation, arrival, start, end, words))
        self._kept.clear()
        self._size = 0
        for one, rows in by_type.items():
            *columns, words_of = zip(*rows, strict=True)
            names = ("generation", "arrival", "start", "end")
            numbers = {
                name: np.array(column, np.int64)
                for name, column in zip(names, columns, strict=True)
            }
            numbers["first"] = numbers["start"]
            terms = [np.array(words, np.int64) for words in zip(*words_of, strict=True)]
            self.stream.take_in(
                *(one.kind, one.key), Rows(numbers, (*map(self.words.column, terms),))
            )
