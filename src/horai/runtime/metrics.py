"""How late a stream was and what came of it: in numbers, per query time and for the whole run.

Counts what becomes of items, query time by query time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from horai.engine.admission import Dropped, Reason
from horai.io import ItemTable
from horai.temporal.spans import Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemCounts:
    """Items by what became of them. Every item that was judged is counted in one of the fields.

    `on_time`: occurs after the query time before. `late`: occurs not after it, and was still used.
    `too_late`: given or taken back when its window had passed. `retracted`: retractions that took
    something back. `unknown_retractions`: those that found nothing. `outside_run`: lies before the
    start or after the end of the run.

    Beside these, `partly_too_late` are those used or taken back that began before their window, and
    `revised` is the number of answers that were taken back, None where it was not counted.
    """

    on_time: int = 0
    late: int = 0
    too_late: int = 0
    retracted: int = 0
    unknown_retractions: int = 0
    outside_run: int = 0
    partly_too_late: int = 0
    revised: int | None = None

    @property
    def judged(self) -> int:
        """All items of which something became."""
        used = self.on_time + self.late + self.retracted
        return used + self.too_late + self.unknown_retractions + self.outside_run

    @property
    def unused(self) -> int:
        """Items that were not used, or not in full."""
        lost = self.too_late + self.unknown_retractions + self.outside_run
        return lost + self.partly_too_late


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowMetrics(ItemCounts):
    """The items that were judged at a query time."""

    query: int


@dataclass(frozen=True, slots=True)
class Bin:
    """How many items arrived `least` to `most` time-points after they occurred."""

    least: int
    most: int
    items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunMetrics(ItemCounts):
    """All items of a run.

    `items` is how many were read, `waiting` those not judged yet because they lie ahead, and
    `unreadable` the rows that are none. `lateness` has the bins from 0 up to the latest item: what
    came at once or before its time, and then doubling lengths.
    """

    items: int = 0
    unreadable: int = 0
    lateness: tuple[Bin, ...] = ()

    @property
    def waiting(self) -> int:
        """Items that are not judged yet; after the end, those that were taken back before."""
        return self.items - self.judged


@dataclass(frozen=True, slots=True)
class Metrics:
    """Of a whole run, and of the windows at its query times, in their order."""

    run: RunMetrics
    windows: Sequence[WindowMetrics] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as `horai run --metrics` writes them."""
        run = asdict(self.run)
        items, bins = run.pop("items"), list(run.pop("lateness"))
        return {
            "run": {"items": items, **run, "waiting": self.run.waiting, "lateness": bins},
            "windows": [{"query": each.query, **asdict(each)} for each in self.windows],
        }


LATEST = 1_000
"""Of how many query times a run without an end tells at least; of those before it keeps totals."""
FATES = tuple(one.name for one in fields(ItemCounts) if one.name != "revised")
_MOST = np.iinfo(np.int64).max
_POWERS = 2 ** np.arange(63, dtype=np.int64)
_NONE = np.zeros((3, 0), np.int64)
_LOST: dict[str, str] = {Reason.TOO_LATE: "too_late", Reason.OUTSIDE_RUN: "outside_run"}
_FATES: dict[str, str] = _LOST | {Reason.UNKNOWN_RETRACTION: "unknown_retractions"}


class Arrived(NamedTuple):
    """Columns of items: +1 or -1, when they arrived, and when they occur or start."""

    op: Ints
    arrival: Ints
    start: Ints

    def where(self, rows: Any) -> Arrived:
        return Arrived(self.op[rows], self.arrival[rows], self.start[rows])


class Counting:
    """What became of the items of a run so far."""

    def __init__(self) -> None:
        self.windows: list[dict[str, int]] = []
        self._queries: list[int] = []
        self._before = dict.fromkeys(FATES, 0)  # of query times that are not kept
        self._revised_before: int | None = 0
        self._bins = np.zeros(_POWERS.size + 1, np.int64)
        self.items = self._left_over = 0
        self._waiting: list[Arrived] = []
        self._whole: tuple[Sequence[ItemTable], range] | None = None

    def judge(
        self,
        tables: Iterable[ItemTable],
        dropped: Sequence[Dropped],
        query: int,
        previous: int | None,
    ) -> None:
        """Count the items that are judged at a query time; `previous` is the one before, if any."""
        counts = dict.fromkeys(FATES, 0)
        waiting, self._waiting = self._waiting, []
        new = [columns_of(table) for table in tables if len(table)]
        self.items += sum(len(items.op) for items in new)
        for items in (*waiting, *new):
            self._count(self._due(items, query), previous, counts)
        if dropped:
            _take_off(counts, dropped, previous)
        self.windows.append(counts)
        self._queries.append(query)

    @property
    def is_idle(self) -> bool:
        """Have all items been judged?"""
        return not self._waiting

    def judge_few(
        self, arrivals: Sequence[int], starts: Sequence[int], query: int, previous: int | None
    ) -> None:
        """Count items that are judged as soon as they come, and used."""
        counts = dict.fromkeys(FATES, 0)
        late = 0
        if starts and previous is not None and min(starts) <= previous:
            late = sum(start <= previous for start in starts)
        if arrivals == starts:
            self._bins[0] += len(starts)
        else:
            for arrival, start in zip(arrivals, starts, strict=True):
                self._bins[max(0, arrival - start).bit_length()] += 1
        self.items += len(starts)
        counts["late"], counts["on_time"] = late, len(starts) - late
        self.windows.append(counts)
        self._queries.append(query)

    def admit(
        self,
        query: int,
        previous: int | None,
        rows: Mapping[tuple[int, int, int, str | None], int],
    ) -> None:
        """Count rows that are judged at a query time: sign, arrival, time, why one was not used."""
        counts = dict.fromkeys(FATES, 0)
        for (op, arrival, start, fate), number in rows.items():
            if fate is not None:
                counts[_FATES[fate]] += number
            elif op < 0:
                counts["retracted"] += number
            else:
                is_late = previous is not None and start <= previous
                counts["late" if is_late else "on_time"] += number
            self._bins[max(0, arrival - start).bit_length()] += number
        self.windows.append(counts)
        self._queries.append(query)

    def cover(self, tables: Sequence[ItemTable], queries: range) -> None:
        """Count the rows of a whole run, none of which is taken back, once somebody asks."""
        self._whole = (tables, queries)

    def _settle(self) -> None:
        if self._whole is None:
            return
        (tables, queries), self._whole = self._whole, None
        times = np.array(queries)
        counts = {name: np.zeros(len(times) + 1, np.int64) for name in FATES}
        for items in (columns_of(table) for table in tables if len(table)):
            place = np.searchsorted(times, items.arrival)  # what comes after the last is left over
            early = items.start < queries.start
            before = np.where(place > 0, times[np.maximum(place, 1) - 1], items.start - 1)
            late = ~early & (items.start <= before)
            for name, rows in (
                ("outside_run", early),
                ("late", late),
                ("on_time", ~early & ~late),
            ):
                counts[name] += np.bincount(place[rows], minlength=len(times) + 1)
            self._bins += into_bins(items)
        self._queries += queries
        columns = zip(*(column[:-1].tolist() for column in counts.values()), strict=True)
        self.windows += [dict(zip(counts, row, strict=True)) for row in columns]

    def finish(self, left_over: int, rows: Iterable[tuple[int, int]] = ()) -> None:
        """The run is over: what still waits lies outside of it.

        `rows` are arrivals and times of those that nobody has looked at.
        """
        self._left_over = left_over
        for arrival, start in rows:
            self._bins[max(0, arrival - start).bit_length()] += 1

    @property
    def queries(self) -> Sequence[int]:
        """The query times of which something is counted."""
        self._settle()
        return self._queries

    def metrics(self, revised: Sequence[int | None], unreadable: int) -> Metrics:
        """All that was counted, with the number of answers taken back at each query time."""
        self._settle()
        windows = [
            WindowMetrics(query=query, revised=gone, **counts)
            for query, counts, gone in zip(self._queries, self.windows, revised, strict=True)
        ]
        total = {name: self._before[name] + sum(w[name] for w in self.windows) for name in FATES}
        total["outside_run"] += self._left_over
        run = RunMetrics(
            items=self.items,
            unreadable=unreadable,
            lateness=bins(self._bins),
            revised=_sum([self._revised_before, *revised]),
            **total,
        )
        return Metrics(run, windows)

    def fold(self, revised: Sequence[int | None], keep: int) -> None:
        """Keep of all query times but the last ones what they add up to."""
        for counts in self.windows[:-keep]:
            for name, number in counts.items():
                self._before[name] += number
        self._revised_before = _sum([self._revised_before, *revised[:-keep]])
        del self.windows[:-keep], self._queries[:-keep]

    def to_state(self, revised: Sequence[int | None]) -> dict[str, Any]:
        """What a session that goes on has to know, as plain values. Windows are not kept."""
        run = asdict(self.metrics(revised, 0).run)
        return {
            "counts": {name: run[name] for name in FATES},
            "revised": run["revised"],
            "items": self.items,
            "bins": self._bins.tolist(),
            "waiting": self.waiting().tolist(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what `to_state` said; `ValueError` if it did not say that."""
        numbers = [state["items"], *state["counts"].values()]
        if state["counts"].keys() != set(FATES) or {type(n) for n in numbers} != {int}:
            raise ValueError("these are no counts")
        if np.shape(state["bins"]) != self._bins.shape:
            raise ValueError("these are no bins")
        self._before, self._revised_before = state["counts"], state["revised"]
        self.items = state["items"]
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
        self.items += items
        self._left_over += items

    def counted(self) -> dict[str, Any]:
        """All that was counted, as plain values that can be put together with those of others."""
        return {
            "queries": self._queries,
            "windows": self.windows,
            "items": self.items,
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
                found.windows = [dict.fromkeys(FATES, 0) for _ in found._queries]
            for counts, more in zip(found.windows, part["windows"], strict=True):
                for name, number in more.items():
                    counts[name] += number
            found.items += part["items"]
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
