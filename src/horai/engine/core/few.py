"""A step with few items: each is admitted and fed by itself, without columns.

This is for insertions that lie in the window and need not wait. They are kept until they are final,
for the stream may have to take them back: it gets them before it admits anything itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from horai.engine.admission import Stream
from horai.engine.arrow_items import ItemKind
from horai.engine.columns import Column
from horai.engine.core.layout import Relation
from horai.engine.core.words import Words
from horai.engine.rows import Rows
from horai.plan.ec.instructions import INF

Key = tuple[str, int]
MANY = 1 << 16
"""So many items are kept as rows; more of them go to the stream."""


class ItemType(NamedTuple):
    """A type of items. `relation` is where they go, if a rule asks for them.

    Those of an input fluent may go where those with their value do.
    """

    kind: ItemKind
    key: Key
    relation: Relation | None
    order: tuple[int, ...] | None = None  # of the arguments of an event, unless as they come
    valued: Mapping[int, Relation] = {}


class Given(NamedTuple):
    """An item: words of its arguments, then of its value. Events end when they start."""

    arrival: int
    start: int
    end: int
    type: ItemType
    words: tuple[int, ...]


class Few:
    """The items of a session that came one by one and are not final."""

    def __init__(self, stream: Stream, words: Words) -> None:
        self.stream, self.words = stream, words
        self._kept: deque[tuple[int, int, Sequence[Given]]] = deque()  # (until when, generation)
        self._size = 0

    def admit(self, items: Sequence[Given], query: int) -> bool:
        """Admit items at a query time, or do nothing: then they are a matter of the stream."""
        border = self.stream.border(query)
        if self.stream.next_due() <= query:
            return False
        last = border
        if items:
            arrivals, starts, ends, _, _ = zip(*items, strict=True)
            if min(starts) <= border or max(starts) > query or max(arrivals) > query:
                return False
            last = max(ends)
        generation = self.stream.go_on(query)
        kept = self._kept
        while kept and kept[0][0] <= border:
            self._size -= len(kept.popleft()[2])
        if items:
            kept.append((last, generation, items))
            self._size += len(items)
            if self._size > MANY:
                self.settle()
        return True

    def settle(self) -> None:
        """Let the stream have all that is kept."""
        by_type: dict[tuple[ItemKind, Key], list[tuple[int, Given]]] = {}
        for _, generation, items in self._kept:
            for item in items:
                by_type.setdefault(item.type[:2], []).append((generation, item))
        self._kept.clear()
        self._size = 0
        for (kind, key), rows in by_type.items():
            generations, given = zip(*rows, strict=True)
            numbers = {
                "generation": np.array(generations, np.int64),
                "arrival": np.array([item.arrival for item in given], np.int64),
                "start": np.array([item.start for item in given], np.int64),
            }
            if kind == "fluent":
                numbers["end"] = np.array([item.end for item in given], np.int64)
                numbers["first"] = numbers["start"]
            columns = zip(*(item.words for item in given), strict=True)
            terms = tuple(self._column(column) for column in columns)
            self.stream.take_in(kind, key, Rows(numbers, terms))

    def _column(self, words: Sequence[int]) -> Column:
        return self.words.column(np.array(words, np.int64))


def for_machine(items: Sequence[Given]) -> list[tuple[int, int, int, tuple[int, ...]]]:
    """Items of which rules ask, as (table, place, time, words)."""
    found = []
    for _, start, end, (kind, _, relation, order, valued), words in items:
        if valued:
            if words[-1] in valued:
                of_value = valued[words[-1]]
                given = (*words[:-1], min(end, INF))
                found.append((of_value.table.number, of_value.place, start, given))
        elif relation is not None:
            if kind == "fluent":
                words = (*words, min(end, INF))
            elif order is not None:
                words = tuple([words[at] for at in order])
            found.append((relation.table.number, relation.place, start, words))
    return found
