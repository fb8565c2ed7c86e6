"""Rows at points of time, seen through a window that moves on from tick to tick.

A row may hold at points that are named, as a signal or by a head `@T h`, or at the current one,
wherever that moves. What a window covers costs when it enters and when it leaves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable

from horai.engine.lars.literals import Reading
from horai.engine.lars.live_tables import Change, Row
from horai.engine.lars.live_terms import Codes
from horai.lang.core.terms import Int, Var
from horai.lang.lars import syntax as lars
from horai.temporal.spans import INF

Bounds = Callable[[int], tuple[int, int]]  # the first and the last point, which never fall
Fits = Callable[[Row], bool]


def is_seen(reading: Reading) -> bool:
    """Can a reading be kept up to date as rows at points?"""
    match reading.window:
        case None:
            return reading.modality != "always"
        case lars.TimeWindow(future=future, hop=hop):
            if reading.modality == "now":
                return hop is None
            return reading.modality != "always" or future.amount is not None
        case lars.FilterWindow():
            return reading.modality in ("some", "at")
        case lars.IntervalWindow(first=Int(), last=Int()):
            return reading.modality != "now"
        case _:
            return False


class Points(ABC):
    """The rows of a reading at the current tick."""

    def __init__(self, reading: Reading, start: int, codes: Codes, forgets: bool) -> None:
        self.bounds = _bounds(reading, start)
        self.fits = _fitting(reading, codes)
        self.forgets = forgets  # whether rows at points stay for ever, so none is taken back
        self.time = start - 1
        self.low, self.high = start, start - 1  # nothing yet
        self._at: dict[int, Counter[Row]] = {}
        self._now: dict[Row, None] = {}
        self._covered: Counter[tuple[Row, int]] = Counter()
        self._changed: dict[Row, bool] = {}

    def place(self, row: Row, point: int, more: int) -> None:
        """A row comes to a point that is named, or leaves it."""
        if (self.forgets and point < self.low) or not self.fits(row):
            return
        there = self._at.setdefault(point, Counter())
        there[row] += more
        if not there[row]:
            del there[row]
        if not there:
            del self._at[point]
        if self.low <= point <= self.high:
            self._cover(row, point, more)

    def hold(self, row: Row, came: bool) -> None:
        """A row comes to hold at the current point, or does so no longer."""
        if not self.fits(row):
            return
        if came:
            self._now[row] = None
        else:
            del self._now[row]
        if self.low <= self.time <= self.high:
            self._cover(row, self.time, 1 if came else -1)

    def slide(self, time: int) -> None:
        """Go on to a later point."""
        low, high = self.bounds(time)
        was_inside, is_inside = self.low <= self.time <= self.high, low <= time <= high
        if was_inside:
            self._move(-1, self.time)
        for point in self._between(self.low, min(low - 1, self.high)):
            for row, number in self._at[point].items():
                self._cover(row, point, -number)
        if self.forgets:
            for point in self._between(self.low, low - 1):
                del self._at[point]
        for point in self._between(max(self.high + 1, low), high):
            for row, number in self._at[point].items():
                self._cover(row, point, number)
        self.low, self.high, self.time = low, high, time
        if is_inside:
            self._move(1, time)

    def _move(self, more: int, time: int) -> None:
        for row in self._now:
            self._cover(row, time, more)

    def _between(self, low: int, high: int) -> list[int]:
        """The points from one to another that have rows."""
        if high - low < len(self._at):
            return [point for point in range(low, high + 1) if point in self._at]
        return [point for point in self._at if low <= point <= high]

    def _cover(self, row: Row, point: int, more: int) -> None:
        pair = (row, point)
        before = self._covered[pair]
        self._covered[pair] = before + more
        if not before + more:
            del self._covered[pair]
        if (before == 0) != (before + more == 0):
            self._count(row, point, before == 0)

    @abstractmethod
    def _count(self, row: Row, point: int, came: bool) -> None:
        """A row holds at one more point of the window, or at one less."""

    def _toggle(self, row: Row, came: bool) -> None:
        """A change, or the end of one that is undone."""
        if self._changed.pop(row, None) is None:
            self._changed[row] = came

    def changes(self) -> list[Change]:
        """What has changed since this was last asked."""
        found, self._changed = self._changed, {}
        return list(found.items())


class SomePoints(Points):
    """Rows that hold at some point of the window."""

    def __init__(self, reading: Reading, start: int, codes: Codes, forgets: bool) -> None:
        super().__init__(reading, start, codes, forgets)
        self._number: Counter[Row] = Counter()

    def _count(self, row: Row, point: int, came: bool) -> None:
        self._number[row] += 1 if came else -1
        if self._number[row] == came:
            self._toggle(row, came)
        if not self._number[row]:
            del self._number[row]


class AtPoints(Points):
    """Rows with each of the points of the window at which they hold."""

    def _count(self, row: Row, point: int, came: bool) -> None:
        self._toggle((*row, 2 * point + 1), came)


class AlwaysPoints(Points):
    """Rows that hold at all points of the window."""

    def __init__(self, reading: Reading, start: int, codes: Codes, forgets: bool) -> None:
        super().__init__(reading, start, codes, forgets)
        self._number: Counter[Row] = Counter()
        self._rows: set[Row] = set()
        self._touched: dict[Row, None] = {}

    def _count(self, row: Row, point: int, came: bool) -> None:
        self._number[row] += 1 if came else -1
        if not self._number[row]:
            del self._number[row]
        self._touched[row] = None

    def changes(self) -> list[Change]:
        """Rows that were touched, and those that have to hold at more points than before."""
        needed = self.high - self.low + 1
        found: list[Change] = []
        for row in {**self._touched, **dict.fromkeys(self._rows)}:
            holds = 0 < needed == self._number[row]
            if holds != (row in self._rows):
                (self._rows.add if holds else self._rows.discard)(row)
                found.append((row, holds))
        self._touched = {}
        return found


def points_of(reading: Reading, start: int, codes: Codes, forgets: bool) -> Points:
    """What keeps a reading that can be seen."""
    kinds = {"at": AtPoints, "always": AlwaysPoints}
    return kinds.get(reading.modality, SomePoints)(reading, start, codes, forgets)


def _bounds(reading: Reading, start: int) -> Bounds:
    match reading.window:
        case _ if reading.modality == "now":
            return lambda time: (time, time)
        case lars.TimeWindow(past=past, future=future, hop=hop):
            back = INF if past.amount is None else past.amount
            ahead = INF if future.amount is None else future.amount
            step = 1 if hop is None or hop.amount is None else hop.amount

            def around(time: int) -> tuple[int, int]:
                pivot = time // step * step
                return max(start, pivot - back), pivot + ahead

            return around
        case lars.IntervalWindow(first=Int(value=first), last=Int(value=last)):
            return lambda time: (max(start, first), last)
        case _:
            return lambda time: (start, INF)


def _fitting(reading: Reading, codes: Codes) -> Fits:
    """Which rows a filter lets through; without one, all."""
    if not isinstance(reading.window, lars.FilterWindow):
        return lambda row: True
    name, arity = reading.atom.predicate
    wanted = [
        [(i, codes.code(a)) for i, a in enumerate(p.args or ()) if not isinstance(a, Var)]
        for p in reading.window.patterns
        if p.name == name and (p.args is None or len(p.args) == arity)
    ]
    return lambda row: any(all(row[i] == code for i, code in fixed) for fixed in wanted)
