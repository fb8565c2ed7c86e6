"""What literals read: rows with the query times at which each holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from horai.engine.columns import bits, ints
from horai.engine.frames import unit
from horai.engine.hashing import dense
from horai.engine.lars.plain import Reading
from horai.engine.lars.signals import Key, Signals, entering, groups_of, ranked, table, versions
from horai.engine.relations import Relation, join
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent, fluent_of, merged, no_fluent
from horai.lang.core.terms import Int
from horai.lang.lars import syntax as lars
from horai.lang.lars.clock import Duration
from horai.temporal.spans import INF, Ints, Mask
from horai.temporal.windows import Sliding, full_count, seen, since_left, throughout

ALL = Sliding(INF, INF)


@dataclass(slots=True)
class Derived:
    """What rules derive: at the query time itself, and at points they name."""

    now: Fluent  # by arguments
    at: Fluent  # by arguments and point


@dataclass(slots=True)
class Known:
    """All relations on a timeline, for the query times up to `last`."""

    signals: Signals
    derived: Mapping[Key, Derived]
    symbols: Symbols
    first: int
    last: int

    def read(self, reading: Reading) -> Fluent:
        """The rows of a literal: its arguments, and the point if it names one."""
        key = reading.atom.predicate
        match reading.window:
            case None:
                return self._sliding(key, ALL, reading.modality)
            case lars.TimeWindow(past=past, future=future, hop=hop):
                step = 1 if hop is None else _points(hop)
                window = Sliding(_points(past), _points(future), step)
                return self._sliding(key, window, reading.modality)
            case lars.TupleWindow() | lars.PartitionWindow() as window:
                return self._last_signals(key, window, reading.modality)
            case lars.FilterWindow(patterns=patterns):
                if not any(_may_fit(pattern, key) for pattern in patterns):
                    return no_fluent(key[1] + (reading.modality == "at"))
                return self._filtered(key, patterns, reading.modality)
            case lars.IntervalWindow(first=Int(value=first), last=Int(value=last)):
                points = self._points(key, with_now=True)
                time = self._times(points)
                inside = points.where((time >= first) & (time <= last))
                if reading.modality == "always":
                    return self._at_all_points(inside, last - max(first, self.first) + 1)
                return self._over_time(inside, ALL, reading.modality)
            case _:
                raise AssertionError(f"not plain: {reading.window}")

    def holding(self, key: Key) -> Fluent:
        """What holds of a predicate at the query times themselves."""
        return self._sliding(key, ALL, "now")

    # --- by time ---------------------------------------------------------------------------------

    def _sliding(self, key: Key, window: Sliding, modality: str) -> Fluent:
        derived = self.derived.get(key)
        # What holds at the query time itself is in every window that does not hop.
        simple = derived is not None and (modality in ("now", "some")) and window.hop == 1
        points = self._points(key, with_now=not simple)
        found = self._over_time(points, window, modality)
        if derived is None or not simple:
            return found
        return merged([found, derived.now], self.symbols)

    def _over_time(self, points: Fluent, window: Sliding, modality: str) -> Fluent:
        spans, time = points.spans, self._times(points)
        if modality == "always":
            keys, args = self._by_arguments(points)
            rows = keys[spans.key]
            found = throughout(
                rows, time[spans.key], spans.start, spans.end, window, self.first, self.last
            )
            return Fluent(args, found)
        at = time[spans.key]
        low, high = seen(at, window)
        if modality == "now":
            low, high = np.maximum(low, at), np.minimum(high, at + 1)
        low, high = np.maximum(low, spans.start), np.minimum(high, spans.end)
        return self._cut(points, low, high, modality)

    def _at_all_points(self, points: Fluent, number: int) -> Fluent:
        """What has so many points that it has all of them."""
        if number < 1:
            return no_fluent(len(points.pairs.columns) - 1)
        keys, args = self._by_arguments(points)
        held = points.spans
        high = np.minimum(held.end, self.last + 1)
        return Fluent(args, full_count(keys[held.key], held.start, high, number))

    def _cut(self, points: Fluent, low: Ints, high: Ints, modality: str) -> Fluent:
        there = low < high
        rows = points.spans.key[there]
        wanted = points.pairs.columns if modality == "at" else points.pairs.columns[:-1]
        columns = tuple(column.take(rows) for column in wanted)
        return fluent_of(columns, low[there], high[there], len(rows), self.symbols)

    def _filtered(self, key: Key, patterns: tuple[lars.Pattern, ...], modality: str) -> Fluent:
        points = self._points(key, with_now=True)
        fits = np.zeros(points.pairs.rows, np.bool_)
        for pattern in patterns:
            if _may_fit(pattern, key):
                fits |= self._fitting(points.pairs, pattern)
        return self._over_time(points.where(fits), ALL, modality)

    def _fitting(self, pairs: Relation, pattern: lars.Pattern) -> Mask:
        fits = np.zeros(pairs.rows, np.bool_)
        if pattern.args is None:
            return ~fits
        args = Relation(pairs.columns[:-1], pairs.rows)
        fits[join(unit(), args, pattern.args, self.symbols).source_rows()] = True
        return fits

    # --- by number -------------------------------------------------------------------------------

    def _last_signals(
        self, key: Key, window: lars.TupleWindow | lars.PartitionWindow, modality: str
    ) -> Fluent:
        """Only signals are counted, and nothing else is in the window."""
        keys = sorted(self.signals.rows)
        if key not in keys:
            return no_fluent(key[1] + (modality == "at"))
        size = INF if window.past is None else window.past
        patterns = window.patterns if isinstance(window, lars.PartitionWindow) else None
        rows = self.signals.rows[key]
        found: list[Fluent] = []
        for version in versions(self.signals, keys):
            if version.low > self.last:
                break
            if window.past == 0:
                break  # nothing that was is in it
            group = groups_of(version, self.signals, keys, patterns, self.symbols)
            last = min(self.last, version.high - 1)
            spans = ranked(version.time, group, size, self.first, last)
            mine = np.flatnonzero(version.predicate == keys.index(key))
            low = np.maximum(spans.start[mine], version.low)
            high = np.minimum(spans.end[mine], version.high)
            there = low < high
            chosen = table(rows, version.row[mine][there])
            points = fluent_of(chosen.columns, low[there], high[there], chosen.rows, self.symbols)
            if modality == "always":
                number, args = self._by_arguments(points)
                held = points.spans
                always = since_left(
                    number[held.key], held.start, held.end, spans.left, self.first, last
                )
                found.append(Fluent(args, always))
            else:
                found.append(self._over_time(points, ALL, modality))
        if window.future != 0:
            found.extend(self._next_signals(key, window.future, patterns, modality))
        return merged(found, self.symbols) if found else no_fluent(key[1] + (modality == "at"))

    def _next_signals(
        self, key: Key, size: int | None, patterns: tuple[lars.Pattern, ...] | None, modality: str
    ) -> Iterator[Fluent]:
        """The signals to come that are known already: the next ones after the query time."""
        keys = sorted(self.signals.rows)
        for version in versions(self.signals, keys, ahead=True):
            group = groups_of(version, self.signals, keys, patterns, self.symbols)
            low = np.maximum(entering(version.time, group, size), version.low)
            high = np.minimum(version.time, version.high)
            mine = (version.predicate == keys.index(key)) & (group >= 0) & (low < high)
            chosen = table(self.signals.rows[key], version.row[mine])
            points = fluent_of(chosen.columns, low[mine], high[mine], chosen.rows, self.symbols)
            yield self._over_time(points, ALL, modality)

    # --- rows ------------------------------------------------------------------------------------

    def _points(self, key: Key, with_now: bool) -> Fluent:
        """All atoms of a predicate by arguments and point."""
        parts = [self.signals.relation(key)] if key in self.signals.rows else []
        derived = self.derived.get(key)
        if derived is not None:
            parts.append(derived.at)
            if with_now:
                parts.append(self._spelled_out(derived.now))
        filled = [part for part in parts if len(part.spans)]
        return merged(filled, self.symbols) if filled else no_fluent(key[1] + 1)

    def _spelled_out(self, now: Fluent) -> Fluent:
        """What holds at the query time itself, query time by query time."""
        high = np.minimum(now.spans.end, self.last + 1)
        count = np.maximum(high - now.spans.start, 0)
        row = np.repeat(now.spans.key, count)
        begin = np.cumsum(count) - count
        time = np.arange(int(count.sum())) + np.repeat(now.spans.start - begin, count)
        columns = (*(column.take(row) for column in now.pairs.columns), ints(time))
        return fluent_of(columns, time, time + 1, len(row), self.symbols)

    def _by_arguments(self, points: Fluent) -> tuple[Ints, Relation]:
        """A number for the arguments of each row, and the arguments of each number."""
        columns = points.pairs.columns[:-1]
        numbers, firsts = dense([bits(column) for column in columns], points.pairs.rows)
        return numbers, Relation(tuple(column.take(firsts) for column in columns), len(firsts))

    def _times(self, points: Fluent) -> Ints:
        time: Ints = points.pairs.columns[-1].data
        return time


def _points(duration: Duration) -> int:
    """The length of a window in time points."""
    assert duration.unit is None, "windows are measured in time points here"
    return INF if duration.amount is None else duration.amount


def _may_fit(pattern: lars.Pattern, key: Key) -> bool:
    return pattern.name == key[0] and (pattern.args is None or len(pattern.args) == key[1])
