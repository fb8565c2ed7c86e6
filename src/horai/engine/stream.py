"""Which items count at a query time: arrival, lateness, waiting, retraction.

Items act on each other only if they are equal, so every type has a shelf of its own. What is not
used comes back in the order in which items are taken in: by arrival, insertions first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from horai.engine.arrow_items import ORDER, ItemBatch, ItemKind, SomeItems, numbers_of
from horai.engine.columns import Column, concat
from horai.engine.origins import Dropped, Origins, Reason
from horai.engine.shelf import (
    CUT,
    CUT_BACK,
    TOO_LATE,
    UNKNOWN,
    Moment,
    Rows,
    Shelf,
    State,
    join,
)
from horai.engine.symbols import Symbols
from horai.temporal.spans import INF, Ints, Mask

Key = tuple[str, int]


class EventRows(NamedTuple):
    """Occurrences of one event; the same one may occur twice."""

    args: tuple[Column, ...]
    time: Ints


class FluentRows(NamedTuple):
    """Values of one input fluent over `[start, end)`, neither sorted nor merged."""

    args: tuple[Column, ...]
    value: Column
    start: Ints
    end: Ints


class Stream:
    """The admitted items of a run. An event and a fluent may have the same name and arity.

    Items of types that are `given` are what another session found: they are taken as they are,
    whenever they lie. They must not change what lies before the border of the session.

    In a stream that is `ordered`, events come with their order.
    """

    def __init__(
        self, symbols: Symbols, tick: int, start: int, window: int | None, ordered: bool = False
    ) -> None:
        self.symbols = symbols
        self._more = (ORDER,) if ordered else ()
        self.tick, self.start, self.window = tick, start, window
        self._moment = Moment(start, start, start, 0)
        self._origins = Origins()
        self._shelves: dict[ItemKind, dict[Key, Shelf]] = {"event": {}, "fluent": {}}
        self.given: frozenset[tuple[ItemKind, Key]] = frozenset()

    def border(self, query: int) -> int:
        """The point at or before which nothing is admitted any more."""
        return self.start if self.window is None else max(self.start, query - self.window)

    def admit(self, batches: Iterable[ItemBatch], query: int) -> list[Dropped]:
        """Take in the items that have arrived by `query`; what cannot be used comes back."""
        border = self.border(query)
        following = border + self.tick - border % self.tick
        self._moment = Moment(query, border, following, self._moment.generation + 1)
        verdicts: list[Rows] = []
        arrived = self._arrived(batches)
        for shelf in self._all():
            due = [shelf.now_due(query)]
            due += [shelf.set_aside(rows, query) for rows in arrived.get(id(shelf), ())]
            verdicts += shelf.admit(due, self._moment)
        dropped = self._report(verdicts)
        self._origins.release()
        return dropped

    def next_due(self) -> int:
        """The query time at which the first of the items that wait counts."""
        due = [int(shelf.waiting["due"][0]) for shelf in self._all() if shelf.waiting.size]
        return min(due, default=INF)

    def go_on(self, query: int) -> int:
        """Go on to a query time for which somebody else admits items, of this generation."""
        border = self.border(query)
        following = border + self.tick - border % self.tick
        self._moment = Moment(query, border, following, self._moment.generation + 1)
        for shelf in self._all():
            shelf.came, shelf.left = [], []
        return self._moment.generation

    def take_in(self, kind: ItemKind, key: Key, rows: Rows) -> None:
        """Items that somebody else has admitted."""
        self._shelf(kind, key).take_in(rows)

    def keys(self, kind: ItemKind) -> list[Key]:
        """The events or the fluents that occur now."""
        return [key for key, shelf in self._shelves[kind].items() if not shelf.is_bare()]

    def events(self, key: Key) -> EventRows:
        """All occurrences of an event that count now."""
        rows = self._shelf("event", key).admitted()
        return EventRows(rows.terms, rows["start"])

    def occurrences(self) -> dict[Key, Rows]:
        """All occurrences that count now, by event."""
        return _filled((key, one.admitted()) for key, one in self._shelves["event"].items())

    def announced(self) -> dict[Key, Rows]:
        """The occurrences that have arrived and lie ahead, by event."""
        query = self._moment.query
        waiting = ((key, shelf.waiting) for key, shelf in self._shelves["event"].items())
        return _filled((key, rows.take(rows["arrival"] <= query)) for key, rows in waiting)

    def changed_from(self) -> int:
        """When the first event is that the last query admitted or took back; `INF` if none is."""
        shelves = self._shelves["event"].values()
        parts = [rows for shelf in shelves for rows in (*shelf.came, *shelf.left)]
        return min((int(rows["start"].min()) for rows in parts), default=INF)

    def fluents(self, key: Key) -> FluentRows:
        """All values of an input fluent that count now."""
        shelf = self._shelf("fluent", key)
        admitted, kept = shelf.admitted(), shelf.kept()
        pairs = zip(admitted.terms, kept.terms, strict=True)
        *args, value = (concat(pair, self.symbols) for pair in pairs)
        start = _joined(admitted["first"], kept["start"])
        return FluentRows(tuple(args), value, start, _joined(admitted["end"], kept["end"]))

    def forget(self, keep: Mapping[Key, int]) -> None:
        """Drop events at and fluents up to `keep`; what can still be taken back stays.

        Of types without an entry nothing is needed.
        """
        border = self._moment.border
        for shelves in self._shelves.values():
            for key, shelf in shelves.items():
                shelf.forget(min(keep.get(key, border), border))

    def left_over(self, query: int) -> list[Dropped]:
        """Items that never came to count because the run is over."""
        text = f"it arrives or happens after the end of the run, {query}"
        shelves = self._all()
        if not shelves:
            return []
        numbers = _in_order([shelf.waiting for shelf in shelves], self.symbols)["number"]
        found = self._origins.find(numbers)
        return [Dropped(*origin, Reason.OUTSIDE_RUN, query, text) for origin in found]

    def to_state(self) -> dict[str, Any]:
        """All of it as plain values and arrays; codes mean what the symbols say."""
        numbers = [shelf.waiting["number"] for shelf in self._all()]
        waiting = np.sort(np.concatenate([np.empty(0, np.int64), *numbers]))
        shelves = []
        for kind, by_key in self._shelves.items():
            for key, shelf in by_key.items():
                saved = shelf.to_state()
                old = saved["waiting"]["numbers"]["number"]
                saved["waiting"]["numbers"]["number"] = np.searchsorted(waiting, old)
                shelves.append((kind, key, saved))
        return {
            "settings": (self.tick, self.start, self.window),
            "moment": tuple(self._moment),
            "origins": self._origins.to_state(waiting),
            "shelves": shelves,
        }

    @classmethod
    def from_state(
        cls, state: Mapping[str, Any], symbols: Symbols, ordered: bool = False
    ) -> Stream:
        """The stream that `to_state` saved, with the symbols it had."""
        tick, start, window = state["settings"]
        stream = cls(symbols, tick, start, window, ordered)
        stream._moment = Moment(*state["moment"])
        stream._origins = Origins.from_state(state["origins"])
        for kind, (name, arity), saved in state["shelves"]:
            stream._shelf(kind, (name, arity)).set_state(saved)
        return stream

    def lend(
        self, kind: ItemKind, key: Key, wanted: Callable[[tuple[Column, ...]], Mask]
    ) -> tuple[State, list[SomeItems]] | None:
        """Rows of a type that are meant, by their arguments, and the items of those that wait."""
        shelf = self._shelves[kind].get(key)
        if shelf is None:
            return None
        state, numbers = shelf.pick(wanted)
        if not any(len(rows["numbers"]["start"]) for rows in state.values()) and not len(numbers):
            return None
        return state, self._origins.pick(np.sort(numbers))

    def arguments(self, kind: ItemKind, key: Key) -> list[tuple[Column, ...]]:
        """The arguments of all rows of a type: of those that count and of those that wait."""
        shelf = self._shelves[kind].get(key)
        return [] if shelf is None else shelf.arguments()

    def let_go(
        self, kind: ItemKind, key: Key, wanted: Callable[[tuple[Column, ...]], Mask]
    ) -> None:
        """Remove rows of a type that are meant, by their arguments."""
        shelf = self._shelves[kind].get(key)
        if shelf is not None:
            shelf.let_go(wanted)
            self._origins.release()

    def borrow(self, kind: ItemKind, key: Key, state: State) -> None:
        """Add what another stream lent; it was admitted there when it would have been here."""
        self._shelf(kind, key).borrow(state)

    def give(self, types: Iterable[tuple[ItemKind, Key]]) -> None:
        """Items of these types are given: what there is of them, and what comes."""
        self.given = frozenset(types)
        for kind, shelves in self._shelves.items():
            for key, shelf in shelves.items():
                shelf.given = (kind, key) in self.given

    def _all(self) -> list[Shelf]:
        return [shelf for shelves in self._shelves.values() for shelf in shelves.values()]

    def _shelf(self, kind: ItemKind, key: Key) -> Shelf:
        shelves = self._shelves[kind]
        if key not in shelves:
            given = (kind, key) in self.given
            shelves[key] = Shelf(
                key[1], kind == "fluent", self.symbols, self._origins, given, self._more
            )
        return shelves[key]

    def _arrived(self, batches: Iterable[ItemBatch]) -> dict[int, list[Rows]]:
        """The rows of new batches by shelf, numbered in the order of the batches."""
        arrived: dict[int, list[Rows]] = {}
        for batch in batches:
            shelf = self._shelf(batch.kind, (batch.name, batch.arity))
            numbers = {
                "op": batch.op.astype(np.int64),
                "arrival": batch.arrival,
                "number": self._origins.register(batch.origin, len(batch)),
                "start": batch.start,
                **{name: numbers_of(batch.origin.table, name) for name in self._more},
            }
            value = () if batch.value is None else (batch.value,)
            ends = {} if batch.value is None else {"end": batch.end}
            rows = Rows({**numbers, **ends}, (*batch.args, *value))
            arrived.setdefault(id(shelf), []).append(rows)
        return arrived

    def _report(self, verdicts: list[Rows]) -> list[Dropped]:
        if not verdicts:
            return []
        rows = _in_order(verdicts, self.symbols)
        sayings, query = self._sayings(), self._moment.query
        said = [sayings[verdict] for verdict in rows["verdict"].tolist()]
        found = zip(self._origins.find(rows["number"]), said, strict=True)
        return [Dropped(*origin, reason, query, text) for origin, (reason, text) in found]

    def _sayings(self) -> dict[int, tuple[Reason, str]]:
        """Reason and text of every verdict now."""
        query, border, following, _ = self._moment
        late = (
            Reason.TOO_LATE,
            f"it lies at or before {border}, where the window at {query} begins",
        )
        if self.window is None or query - self.window <= self.start:
            text = f"it lies at or before the start of the run, {self.start}"
            late = (Reason.OUTSIDE_RUN, text)
        cut = f"only its part from {following} on is {{}}; what is before is final"
        return {
            TOO_LATE: late,
            CUT: (Reason.PARTLY_TOO_LATE, cut.format("used")),
            CUT_BACK: (Reason.PARTLY_TOO_LATE, cut.format("taken back")),
            UNKNOWN: (Reason.UNKNOWN_RETRACTION, "nothing equal to it has arrived before"),
        }


def _filled(given: Iterable[tuple[Key, Rows]]) -> dict[Key, Rows]:
    return {key: rows for key, rows in given if rows.size}


def _in_order(parts: list[Rows], symbols: Symbols) -> Rows:
    """Rows of any types without their terms, in the order in which items are taken in."""
    rows = join([Rows(part.numbers, ()) for part in parts], symbols)
    return rows.take(np.lexsort((rows["number"], rows["op"] < 0, rows["arrival"])))


def _joined(left: Ints, right: Ints) -> Ints:
    return np.concatenate([left, right]) if len(right) else left
