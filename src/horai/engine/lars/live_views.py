"""Windows over signals that come in the order of time, brought up to date from tick to tick."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, deque

from horai.engine.lars.literals import Reading
from horai.engine.lars.live_points import is_seen, points_of
from horai.engine.lars.live_tables import Change, Row
from horai.engine.lars.live_terms import Codes
from horai.lang.core.terms import Term, Var, is_anonymous
from horai.lang.lars import syntax as lars


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
