"""What became of the signals of a run over a whole stream, query time by query time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow.compute as pc

from horai.counting import Arrived, bins, columns_of, into_bins
from horai.io import DeadLetter, ItemTable, Narrative
from horai.lars_result import LarsResult
from horai.metrics import Metrics, RunMetrics, WindowMetrics
from horai.temporal.spans import Ints, Mask

_CODES = {
    "too-late": "too_late",
    "unknown-retraction": "unknown_retractions",
    "outside-run": "outside_run",
}


def metrics_of(narrative: Narrative, queries: range, result: LarsResult) -> Metrics:
    """Signals by what became of them: a signal is judged at the first query time that knows it."""
    tables = [table for table in narrative.tables if len(table)]
    counts = {name: np.zeros(len(queries) + 1, np.int64) for name in _FIELDS}
    found = np.zeros(len(into_bins(_NOTHING)), np.int64)
    for table in tables:
        items = columns_of(table)
        _count(items, _refused(table, result.dead_letters), np.array(queries), counts)
        found += into_bins(items)
    revised = _revised(result, queries)
    windows = [
        WindowMetrics(
            query=query,
            revised=revised[place],
            **{name: int(numbers[place]) for name, numbers in counts.items()},
        )
        for place, query in enumerate(queries)
    ]
    run = RunMetrics(
        items=sum(map(len, tables)),
        unreadable=len(narrative.dead_letters),
        lateness=bins(found),
        revised=sum(revised),
        **{name: int(numbers.sum()) for name, numbers in counts.items()},
    )
    return Metrics(run, windows)


_FIELDS = ("on_time", "late", "retracted", *_CODES.values())
_NOTHING = Arrived(*(np.empty(0, np.int64) for _ in Arrived._fields))


def _count(
    items: Arrived, refused: dict[str, Mask], queries: Ints, counts: dict[str, Ints]
) -> None:
    place = np.searchsorted(queries, items.arrival)  # what comes after the last is counted there
    left = np.ones(len(items.op), np.bool_)
    for name, mask in refused.items():
        _add(counts[name], place[mask & left])
        left &= ~mask
    before = np.where(place > 0, queries[np.maximum(place, 1) - 1], items.start - 1)
    late = items.start <= before
    _add(counts["retracted"], place[left & (items.op < 0)])
    _add(counts["late"], place[left & (items.op > 0) & late])
    _add(counts["on_time"], place[left & (items.op > 0) & ~late])


def _add(numbers: Ints, places: Ints) -> None:
    numbers += np.bincount(places, minlength=len(numbers))


def _refused(table: ItemTable, letters: Iterable[DeadLetter]) -> dict[str, Mask]:
    """The rows that were not used, by the reason."""
    lines: dict[tuple[str, str], list[int]] = {}
    for letter in letters:
        if letter.code in _CODES:
            lines.setdefault((_CODES[letter.code], letter.file), []).append(letter.line)
    line = table.table.column("line").to_numpy()
    found = {name: np.zeros(len(line), np.bool_) for name in _CODES.values()}
    for (name, file), some in lines.items():
        here = pc.equal(table.table.column("file").cast("string"), file).to_numpy()
        found[name] |= here & np.isin(line, some)
    return found


def _revised(result: LarsResult, queries: Sequence[int]) -> list[int]:
    """How many rows of answers were taken back at each query time."""
    gone: dict[int, int] = {}
    for row in [] if result.revised is None else result.revised.changes:
        if row["op"] == "-":
            gone[row["arrived"]] = gone.get(row["arrived"], 0) + 1
    return [gone.get(query, 0) for query in queries]
