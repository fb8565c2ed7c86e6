"""Counts what becomes of items, query time by query time.

Engines judge an item at the first query time at which it has arrived and does not lie ahead; a
retraction does not wait for the time it is about. They say what they could not use. All the rest
can be counted from the columns of the input, which is done here, the same way for every engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from horai.engine.origins import Dropped, Reason
from horai.io import ItemTable
from horai.metrics import Bin, Metrics, RunMetrics, WindowMetrics
from horai.temporal.spans import Ints

_FIELDS = (
    "on_time",
    "late",
    "too_late",
    "retracted",
    "unknown_retractions",
    "outside_run",
    "partly_too_late",
)
_MOST = np.iinfo(np.int64).max
_POWERS = 2 ** np.arange(63, dtype=np.int64)
_NONE = np.zeros((3, 0), np.int64)
_LOST = {Reason.TOO_LATE: "too_late", Reason.OUTSIDE_RUN: "outside_run"}


class Arrived(NamedTuple):
    """Columns of items: +1 or -1, when they arrived, and when they occur or start."""

    op: Ints
    arrival: Ints
    start: Ints

    def where(self, rows: Any) -> Arrived:
        """Some of the items."""
        return Arrived(self.op[rows], self.arrival[rows], self.start[rows])


class Counting:
    """What became of the items of a run so far."""

    def __init__(self) -> None:
        self.windows: list[dict[str, int]] = []
        self._queries: list[int] = []
        self._before = dict.fromkeys(_FIELDS, 0)  # what a saved run had counted
        self._revised_before: int | None = 0
        self._bins = np.zeros(_POWERS.size + 1, np.int64)
        self._items = self._left_over = 0
        self._waiting: list[Arrived] = []

    def judge(
        self,
        tables: Iterable[ItemTable],
        dropped: Sequence[Dropped],
        query: int,
        previous: int | None,
    ) -> None:
        """Count the items that are judged at a query time; `previous` is the one before, if any."""
        counts = dict.fromkeys(_FIELDS, 0)
        waiting, self._waiting = self._waiting, []
        new = [columns_of(table) for table in tables if len(table)]
        self._items += sum(len(items.op) for items in new)
        for items in (*waiting, *new):
            self._count(self._due(items, query), previous, counts)
        if dropped:
            _take_off(counts, dropped, previous)
        self.windows.append(counts)
        self._queries.append(query)

    def finish(self, left_over: int) -> None:
        """The run is over: what still waits lies outside of it."""
        self._left_over = left_over

    def metrics(self, revised: Sequence[int | None], unreadable: int) -> Metrics:
        """All that was counted, with the number of answers taken back at each query time."""
        windows = [
            WindowMetrics(query=query, revised=gone, **counts)
            for query, counts, gone in zip(self._queries, self.windows, revised, strict=True)
        ]
        total = {name: self._before[name] + sum(w[name] for w in self.windows) for name in _FIELDS}
        total["outside_run"] += self._left_over
        run = RunMetrics(
            items=self._items,
            unreadable=unreadable,
            lateness=bins(self._bins),
            revised=_sum([self._revised_before, *revised]),
            **total,
        )
        return Metrics(run, windows)

    def to_state(self, revised: Sequence[int | None]) -> dict[str, Any]:
        """What a session that goes on has to know, as plain values. Windows are not kept."""
        run = asdict(self.metrics(revised, 0).run)
        return {
            "counts": {name: run[name] for name in _FIELDS},
            "revised": run["revised"],
            "items": self._items,
            "bins": self._bins.tolist(),
            "waiting": self.waiting().tolist(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what `to_state` said."""
        self._before, self._revised_before = state["counts"], state["revised"]
        self._items = state["items"]
        self._bins = np.array(state["bins"], np.int64)
        self.wait_for(np.array(state["waiting"], np.int64))

    def waiting(self) -> Ints:
        """The items that have come and are not judged yet: a column for each."""
        return np.concatenate([_NONE, *map(np.stack, self._waiting)], axis=1)

    def wait_for(self, waiting: Ints) -> None:
        """Go on with what waits elsewhere; who counted it as an item has done so."""
        self._waiting = [Arrived(*waiting)] if waiting.size else []

    def beyond(self, items: int) -> None:
        """Items that came after the end of the run."""
        self._items += items
        self._left_over += items

    def counted(self) -> dict[str, Any]:
        """All that was counted, as plain values that can be put together with those of others."""
        return {
            "queries": self._queries,
            "windows": self.windows,
            "items": self._items,
            "left_over": self._left_over,
            "bins": self._bins.tolist(),
        }

    @classmethod
    def together(cls, parts: Iterable[dict[str, Any]]) -> Counting:
        """What several have counted at the same query times, each some of the items."""
        found = cls()
        for part in parts:
            if not found._queries:
                found._queries = list(part["queries"])
                found.windows = [dict.fromkeys(_FIELDS, 0) for _ in found._queries]
            for counts, more in zip(found.windows, part["windows"], strict=True):
                for name, number in more.items():
                    counts[name] += number
            found._items += part["items"]
            found._left_over += part["left_over"]
            found._bins += np.array(part["bins"], np.int64)
        return found

    def _due(self, items: Arrived, query: int) -> Arrived:
        """The items that are judged now; the others wait."""
        if max(items.arrival.max(), items.start.max()) <= query:
            return items
        ahead = (items.arrival > query) | ((items.start > query) & (items.op > 0))
        if ahead.any():
            self._waiting.append(items.where(ahead))
        return items.where(~ahead)

    def _count(self, items: Arrived, previous: int | None, counts: dict[str, int]) -> None:
        rows = len(items.op)
        if not rows:
            return
        given = items.op > 0
        inserted = int(np.count_nonzero(given))
        late = 0
        if previous is not None and items.start.min() <= previous:
            late = int(np.count_nonzero(given & (items.start <= previous)))
        counts["on_time"] += inserted - late
        counts["late"] += late
        counts["retracted"] += rows - inserted
        self._measure(items)

    def _measure(self, items: Arrived) -> None:
        self._bins += into_bins(items)


def columns_of(table: ItemTable) -> Arrived:
    """What counting needs to know of items."""
    columns = table.table
    return Arrived(*(columns.column(name).to_numpy() for name in Arrived._fields))


def lateness(items: Arrived) -> Ints:
    """How long after its time each item arrived; 0 for those that came before it."""
    late = items.arrival - items.start
    late[items.arrival <= items.start] = 0
    late[late < 0] = _MOST  # so far apart that the difference is no number of 64 bits
    return late


def into_bins(items: Arrived) -> Ints:
    """How many items have a lateness of 0, 1, 2 to 3, 4 to 7, and so on."""
    found = np.zeros(_POWERS.size + 1, np.int64)
    if (items.arrival > items.start).any():
        late = np.searchsorted(_POWERS, lateness(items), side="right")
        return found + np.bincount(late, minlength=found.size)
    found[0] = len(items.op)
    return found


def bins(numbers: Ints) -> tuple[Bin, ...]:
    """Numbers of items by lateness, with what each of them is about."""
    filled = np.flatnonzero(numbers)
    last = int(filled[-1]) if len(filled) else -1
    edges = [0, *_POWERS.tolist(), int(_MOST) + 1]
    return tuple(
        Bin(edges[place], edges[place + 1] - 1, int(numbers[place])) for place in range(last + 1)
    )


def _take_off(counts: dict[str, int], dropped: Sequence[Dropped], previous: int | None) -> None:
    """Items that were not used count as that, and not as what they would have been."""
    by_origin: dict[tuple[int, str], list[Dropped]] = {}
    for one in dropped:
        if one.reason is Reason.PARTLY_TOO_LATE:
            counts["partly_too_late"] += 1
        elif one.reason is Reason.UNKNOWN_RETRACTION:
            counts["unknown_retractions"] += 1
            counts["retracted"] -= 1
        else:
            by_origin.setdefault((id(one.origin), _LOST[one.reason]), []).append(one)
    for (_, name), some in by_origin.items():
        rows = pa.array([one.row for one in some], pa.int64())
        columns = some[0].origin.table.select(["op", "start"]).take(rows)
        given = columns.column("op").to_numpy() > 0
        late = np.zeros(len(some), np.bool_)
        if previous is not None:
            late = given & (columns.column("start").to_numpy() <= previous)
        counts[name] += len(some)
        counts["late"] -= int(late.sum())
        counts["on_time"] -= int((given & ~late).sum())
        counts["retracted"] -= int((~given).sum())


def _sum(numbers: Sequence[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None
