"""Windows brought up to date from tick to tick: over rows at points, over signals in their order.

A row may hold at points that are named, as a signal or by a head `@T h`, or at the current one,
wherever that moves. What a window covers costs when it enters and when it leaves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable

from horai.engine.lars.live_rules import Change, Codes, Row
from horai.engine.lars.plain import Reading
from horai.lang.core.terms import Int, Term, Var, is_anonymous
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


def is_served(reading: Reading) -> bool:
    """Is there a view for a reading of signals?"""
    if isinstance(reading.window, lars.TupleWindow):
        return reading.window.future == 0 and reading.modality != "now"
    if isinstance(reading.window, lars.PartitionWindow):
        # A pattern without arguments also counts signals that are not seen here.
        seen = all(p.args is not None for p in reading.window.patterns)
        return seen and reading.window.future == 0 and reading.modality in ("some", "at")
    return is_seen(reading)


class View(ABC):
    """The rows of one reading at the current tick."""

    @abstractmethod
    def tick(self, time: int, signals: list[Row | None]) -> list[Change]:
        """What changes when signals come, in their order; None is one of another predicate."""


class PointsView(View):
    """Windows of all kinds over points of time."""

    def __init__(self, reading: Reading, start: int, codes: Codes) -> None:
        self._points = points_of(reading, start, codes, forgets=True)

    def tick(self, time: int, signals: list[Row | None]) -> list[Change]:
        """The window moves on, and then signals come."""
        self._points.slide(time)
        for row in _own(signals):
            self._points.place(row, time, 1)
        return self._points.changes()


class QueueView(View):
    """A window that signals enter in their order, and leave in the same order."""

    def __init__(self, reading: Reading, start: int) -> None:
        self.modality = reading.modality
        self.start = start
        self.rows: set[Row] = set()
        self._count: Counter[Row] = Counter()
        self._entered: deque[tuple[int, Row]] = deque()  # what leaves again, with when
        self._size: float = _size(reading)

    def _enter(self, row: Row, found: list[Change]) -> None:
        self._count[row] += 1
        if self._count[row] == 1:
            self.rows.add(row)
            found.append((row, True))

    def _leave(self, row: Row, found: list[Change]) -> None:
        self._count[row] -= 1
        if not self._count[row]:
            del self._count[row]
            self.rows.discard(row)
            found.append((row, False))

    def _row(self, args: Row, time: int) -> Row:
        return (*args, 2 * time + 1) if self.modality == "at" else args


class TimeView(QueueView):
    """The signals of the last points; without a window of the current one, or of all."""

    def tick(self, time: int, signals: list[Row | None]) -> list[Change]:
        """What enters, and what is too old."""
        found: list[Change] = []
        for args in _own(signals):
            row = self._row(args, time)
            self._entered.append((time, row))
            self._enter(row, found)
        while self._entered and self._entered[0][0] < time - self._size:
            self._leave(self._entered.popleft()[1], found)
        return _settled(found)


class AlwaysView(QueueView):
    """Rows that have come at every point of a time window."""

    def __init__(self, reading: Reading, start: int) -> None:
        super().__init__(reading, start)
        self._since: dict[Row, int] = {}  # the first point of the run that goes on
        self._last: set[Row] = set()

    def tick(self, time: int, signals: list[Row | None]) -> list[Change]:
        """A run goes on, begins or is over."""
        now = set(_own(signals))
        found: list[Change] = []
        for row in self._last - now:
            del self._since[row]
            if row in self.rows:
                self.rows.discard(row)
                found.append((row, False))
        left = max(self.start, time - self._size)
        for row in now:
            begun = self._since.setdefault(row, time)
            if begun <= left and row not in self.rows:
                self.rows.add(row)
                found.append((row, True))
        self._last = now
        return found


class TupleView(QueueView):
    """The last signals. All of them are counted, those of other predicates too."""

    def __init__(self, reading: Reading, start: int) -> None:
        super().__init__(reading, start)
        self.total = 0

    def tick(self, time: int, signals: list[Row | None]) -> list[Change]:
        """What enters, and what is no longer among the last."""
        found: list[Change] = []
        for args in signals:
            if args is not None:
                row = self._row(args, time)
                self._entered.append((self.total, row))
                self._enter(row, found)
            self.total += 1
            while self._entered and self._entered[0][0] < self.total - self._size:
                self._leave(self._entered.popleft()[1], found)
        return _settled(found)


class GroupView(QueueView):
    """The last signals of each group, which patterns tell apart."""

    def __init__(self, reading: Reading, start: int, codes: Codes) -> None:
        super().__init__(reading, start)
        assert isinstance(reading.window, lars.PartitionWindow)
        name, arity = reading.atom.predicate
        self._patterns = [
            _Grouping(pattern.args, codes)
            for pattern in reading.window.patterns
            if pattern.name == name and pattern.args is not None and len(pattern.args) == arity
        ]
        self._groups: dict[tuple[int, Row], deque[Row]] = {}

    def tick(self, time: int, signals: list[Row | None]) -> list[Change]:
        """What enters, and what is no longer among the last of its group."""
        found: list[Change] = []
        for args in _own(signals):
            fitting = (i for i, pattern in enumerate(self._patterns) if pattern.fits(args))
            number = next(fitting, None)
            if number is None:
                continue
            group = (number, self._patterns[number].key(args))
            queue = self._groups.setdefault(group, deque())
            row = self._row(args, time)
            queue.append(row)
            self._enter(row, found)
            if len(queue) > self._size:
                self._leave(queue.popleft(), found)
        return _settled(found)


class _Grouping:
    """Which signals a pattern fits, and what makes a group of them."""

    def __init__(self, terms: tuple[Term, ...], codes: Codes) -> None:
        self._fixed: list[tuple[int, int]] = []
        self._same: list[tuple[int, int]] = []
        places: dict[str, int] = {}
        for place, term in enumerate(terms):
            if not isinstance(term, Var):
                self._fixed.append((place, codes.code(term)))
            elif term.name in places:
                self._same.append((places[term.name], place))
            elif not is_anonymous(term):
                places[term.name] = place
        self._places = tuple(places.values())

    def fits(self, row: Row) -> bool:
        return all(row[p] == code for p, code in self._fixed) and all(
            row[one] == row[other] for one, other in self._same
        )

    def key(self, row: Row) -> Row:
        return tuple(row[place] for place in self._places)


class TupleAlwaysView(TupleView):
    """Rows that the last signals have at every point since the first of them."""

    def __init__(self, reading: Reading, start: int) -> None:
        super().__init__(reading, start)
        self._times: deque[int] = deque()  # of the signals in the window
        self._points: dict[Row, deque[tuple[int, int]]] = {}  # number and time of each row

    def tick(self, time: int, signals: list[Row | None]) -> list[Change]:
        """Rows that have come at this point are looked at; others are not throughout."""
        here: set[Row] = set()
        for args in signals:
            self._times.append(time)
            if len(self._times) > self._size:
                self._times.popleft()
            if args is not None:
                here.add(args)
                self._points.setdefault(args, deque()).append((self.total, time))
            self.total += 1
        left = self._times[0] if len(self._times) == self._size else self.start
        now = {row for row in here if self._is_throughout(row, left, time)}
        found = [(row, False) for row in self.rows - now] + [(row, True) for row in now - self.rows]
        self.rows = now
        return found

    def _is_throughout(self, row: Row, left: int, time: int) -> bool:
        points = self._points[row]
        while points and points[0][0] < self.total - self._size:
            points.popleft()
        return len({at for _, at in points}) == time - left + 1


def view_of(reading: Reading, start: int, codes: Codes) -> View:
    """The view of a reading that is served: the fastest one for it."""
    always = reading.modality == "always"
    if isinstance(reading.window, lars.PartitionWindow):
        return GroupView(reading, start, codes)
    if not _is_queue(reading):
        return PointsView(reading, start, codes)
    if isinstance(reading.window, lars.TupleWindow):
        return TupleAlwaysView(reading, start) if always else TupleView(reading, start)
    return AlwaysView(reading, start) if always else TimeView(reading, start)


def _is_queue(reading: Reading) -> bool:
    match reading.window:
        case None:
            return reading.modality in ("now", "at")
        case lars.TimeWindow(past=past, future=future, hop=hop):
            endless = past.amount is None and reading.modality == "always"
            return hop is None and future.amount == 0 and not endless
        case lars.TupleWindow():
            return True
        case _:
            return False


def _size(reading: Reading) -> float:
    """How far back it looks, in points or in signals."""
    match reading.window:
        case lars.TimeWindow(past=past):
            if reading.modality == "now":
                return 0
            return float("inf") if past.amount is None else past.amount
        case lars.TupleWindow(past=past) | lars.PartitionWindow(past=past):
            return float("inf") if past is None else past
        case _:
            return 0 if reading.modality == "now" else float("inf")


def _own(signals: list[Row | None]) -> list[Row]:
    return [row for row in signals if row is not None]


def _settled(found: list[Change]) -> list[Change]:
    """Without rows that came and went in the same tick."""
    if len(found) < 2:
        return found
    last: dict[Row, list[bool]] = {}
    for row, came in found:
        last.setdefault(row, []).append(came)
    return [(row, moves[-1]) for row, moves in last.items() if len(moves) % 2]
