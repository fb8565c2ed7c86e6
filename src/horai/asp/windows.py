"""Windows over signals, by their definitions and kept up to date from one time to the next.

Signals are in the order that counts: by time, and by arrival within a time point. The timeline has
a start and no end. A tuple window counts signals, also equal ones of a time point.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Set
from dataclasses import dataclass

from horai.lang.lars.syntax import Atom, Pattern, Predicate
from horai.lang.lars.windows import FAR, ByNumber, ByTime, Selection
from horai.plan.lars.normal import Chain, Modality
from horai.plan.lars.reach import SignalReach, group_of

Signal = tuple[int, Atom] | tuple[int, Atom, int]
"""A time point and a ground atom, perhaps with its place among the signals of that time point."""


class Inputs:
    """All signals that may still count. Atoms are numbered, so that sets of them are cheap."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.times: list[int] = []
        self.numbers: list[int] = []
        self.orders: list[int] = []
        self.arrived = 0
        self.dropped = 0
        """How many signals were forgotten; they were the first ones."""
        self.disorder = 0
        """Changes whenever positions of signals do: whoever remembers positions starts anew."""
        self.atoms: list[Atom] = []
        self.predicates: list[Predicate] = []
        self._known: dict[Atom, int] = {}
        self._thinned = 0  # how many were left when signals were forgotten the last time

    def number(self, atom: Atom) -> int:
        """The number of an atom."""
        found = self._known.get(atom)
        if found is None:
            found = self._known[atom] = len(self.atoms)
            self.atoms.append(atom)
            self.predicates.append(atom.predicate)
        return found

    def add(self, signals: Iterable[Signal]) -> set[int]:
        """Take in signals; those before the start do not count. Gives the numbers of new atoms."""
        known = len(self.atoms)
        for time, atom, *order in signals:
            if time >= self.start:
                self.arrived += 1
                self._insert(time, self.number(atom), order[0] if order else self.arrived)
        return set(range(known, len(self.atoms)))

    def _insert(self, time: int, number: int, order: int) -> None:
        place = len(self.times)
        if place and (self.times[-1], self.orders[-1]) > (time, order):
            first, last = self.before(time), self.until(time)
            place = bisect_right(self.orders, order, first, last)
            self.disorder += 1
        self.times.insert(place, time)
        self.numbers.insert(place, number)
        self.orders.insert(place, order)

    def retract(self, signals: Iterable[Signal]) -> None:
        """Take signals back: of several equal ones the last, unless their place is given."""
        for time, atom, *order in signals:
            number = self.number(atom)
            for place in range(self.until(time) - 1, self.before(time) - 1, -1):
                if self.numbers[place] == number and order in ([], [self.orders[place]]):
                    del self.times[place], self.numbers[place], self.orders[place]
                    self.disorder += 1
                    break

    def before(self, time: int) -> int:
        """How many of the signals kept are earlier than a time."""
        return bisect_left(self.times, time)

    def until(self, time: int) -> int:
        """How many of the signals kept are not later than a time."""
        return bisect_right(self.times, time)

    def thin_out(self, reach: SignalReach, now: int) -> None:
        """Forget signals that no window sees, wherever they are, once many more have come."""
        if len(self.times) < 1000 + 2 * self._thinned:
            return
        known = [(t, self.atoms[n]) for t, n in zip(self.times, self.numbers, strict=True)]
        places = [place for place, stays in enumerate(reach.needed(known, now)) if stays]
        if len(places) < len(self.times):
            self.times, self.numbers, self.orders = (
                [column[place] for place in places]
                for column in (self.times, self.numbers, self.orders)
            )
            self.disorder += 1
        self._thinned = len(places)

    def forget(self, keep_from: int) -> None:
        """Forget signals before a position, once they are as many as those that stay."""
        if keep_from > 1000 and 2 * keep_from > len(self.times):
            del self.times[:keep_from], self.numbers[:keep_from], self.orders[:keep_from]
            self.dropped += keep_from


Entry = tuple[int, int, int]
"""Time, position and number of a signal."""
Key = Hashable


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of the stream: its points from `first` to `last` (None: no end) and its signals."""

    first: int
    last: int | None
    entries: list[Entry]

    def has(self, time: int) -> bool:
        """Whether the timeline contains a point."""
        return self.first <= time and (self.last is None or time <= self.last)


def select(inputs: Inputs, windows: Chain, now: int) -> Stretch:
    """The signals that windows select at a time, applied one after the other."""
    first, last = inputs.start, None
    if windows and isinstance(windows[0], ByTime):
        # Only the signals that the first window keeps are looked at.
        first, last = span_of(windows[0], inputs.start, now)
    stop = len(inputs.times) if last is None else inputs.until(last)
    places = range(inputs.before(first), stop)
    entries = [(inputs.times[place], place, inputs.numbers[place]) for place in places]
    stretch = Stretch(first, last, entries)
    for window in windows:
        stretch = _applied(window, stretch, now, inputs.atoms)
    return stretch


def span_of(window: ByTime, start: int, now: int) -> tuple[int, int | None]:
    """The points that a window covers at a time. There are none if the last is before the first."""
    if window.fixed:
        return max(start, window.past), window.future
    last = (
        None if window.future >= FAR else now // window.high_hop * window.high_hop + window.future
    )
    if window.past >= FAR:
        return start, last
    return max(start, now // window.low_hop * window.low_hop - window.past), last


def _applied(window: Selection, stretch: Stretch, now: int, atoms: list[Atom]) -> Stretch:
    if isinstance(window, ByTime):
        if window.fixed or stretch.has(now):  # around the current point, if there is one
            stretch = _cut(stretch, *span_of(window, stretch.first, now))
        if window.patterns is None:
            return stretch
        fits = fitting(window.patterns, atoms)
        kept = [entry for entry in stretch.entries if fits(entry[2]) is not None]
        return Stretch(stretch.first, stretch.last, kept)
    if not stretch.has(now):
        return stretch
    if window.patterns is None:
        return last_and_next(window.past, window.future, stretch, now)
    return _grouped(window.patterns, window, stretch, now, atoms)


def _cut(stretch: Stretch, first: int, last: int | None) -> Stretch:
    low = max(first, stretch.first)
    high = stretch.last if last is None else last
    if high is not None and stretch.last is not None:
        high = min(high, stretch.last)
    kept = [e for e in stretch.entries if low <= e[0] and (high is None or e[0] <= high)]
    return Stretch(low, high, kept)


def last_and_next(past: int, future: int, stretch: Stretch, now: int) -> Stretch:
    """The tuple window: the last signals until now, and the next ones after it."""
    before = [entry for entry in stretch.entries if entry[0] <= now]
    after = [entry for entry in stretch.entries if entry[0] > now]
    first, last = stretch.first, stretch.last
    if past == 0:
        before, first = [], now
    elif len(before) >= past:
        before = before[-past:]
        first = before[0][0]
    if future == 0:
        after, last = [], now
    elif len(after) >= future:
        after = after[:future]
        last = after[-1][0]
    return Stretch(first, last, before + after)


def _grouped(
    patterns: tuple[Pattern, ...], window: ByNumber, stretch: Stretch, now: int, atoms: list[Atom]
) -> Stretch:
    fits = fitting(patterns, atoms)
    groups: dict[Key, list[Entry]] = {}
    for entry in stretch.entries:
        key = fits(entry[2])
        if key is not None:
            groups.setdefault(key, []).append(entry)
    parts = [
        last_and_next(
            window.past, window.future, Stretch(stretch.first, stretch.last, entries), now
        )
        for entries in groups.values()
    ]
    if not parts:
        return Stretch(now, now, [])
    ends = [part.last for part in parts if part.last is not None]
    last = max(ends) if len(ends) == len(parts) else None
    entries = sorted(entry for part in parts for entry in part.entries)
    return Stretch(min(part.first for part in parts), last, entries)


# --- patterns ---------------------------------------------------------------------------------


def fitting(patterns: tuple[Pattern, ...], atoms: list[Atom]) -> Callable[[int], Key | None]:
    """A function from numbers of atoms to the group they fall into; None for those in none."""
    known: dict[int, Key | None] = {}

    def fit(number: int) -> Key | None:
        if number not in known:
            known[number] = group_of(patterns, atoms[number])
        return known[number]

    return fit


def chain_span(windows: Chain, start: int, now: int) -> tuple[int, int | None] | None:
    """The points that windows without counting cover together; None if there are none."""
    first, last = start, None
    for window in windows:
        assert isinstance(window, ByTime)
        if not (window.fixed or Stretch(first, last, []).has(now)):
            continue
        cut = _cut(Stretch(first, last, []), *span_of(window, first, now))
        if cut.last is not None and cut.last < cut.first:
            return None
        first, last = cut.first, cut.last
    return first, last


Row = tuple[int, int | None]
"""Number of an atom, and its time under `at`."""


@dataclass(frozen=True, slots=True)
class ViewKey:
    """The key of a view: views with equal keys are one."""

    windows: Chain
    modality: Modality
    predicate: Predicate


class WindowView(ABC):
    """The rows of a window; `rows` after `move` belong to the time that was given."""

    def __init__(self, key: ViewKey, inputs: Inputs) -> None:
        self.key = key
        self.inputs = inputs

    @abstractmethod
    def move(self, now: int) -> Set[Row]:
        """The rows at a time, which never falls."""

    def keep_from(self, now: int) -> int:
        """The position of the first signal that may still count at this or a later time."""
        position = 0
        for window in self.key.windows[:1]:
            if isinstance(window, ByTime):
                position = self.inputs.before(span_of(window, self.inputs.start, now)[0])
            elif window.patterns is None and window.past < FAR and not window.future:
                position = self.inputs.until(now) - window.past
        return max(0, position)


def make_view(key: ViewKey, inputs: Inputs) -> WindowView:
    """The cheapest view that serves."""
    match key.windows:
        case (ByTime(future=0, is_sliding=True),) if key.modality == "always":
            return SlidingAlways(key, inputs)
        case _ if key.modality == "always":
            return PlainView(key, inputs)
        case (ByTime(past=past, future=0, is_sliding=True),) if past < FAR:
            return SlidingView(key, inputs)
        case (ByNumber(past=past, future=0, patterns=None),) if past < FAR:
            return SlidingView(key, inputs)
        case (ByNumber(past=past, future=0),) if past < FAR:
            return GroupedView(key, inputs)
    return PlainView(key, inputs)


class PlainView(WindowView):
    """Computes everything anew every time."""

    def move(self, now: int) -> Set[Row]:
        stretch = select(self.inputs, self.key.windows, now)
        predicates, wanted = self.inputs.predicates, self.key.predicate
        own = [(t, n) for t, _, n in stretch.entries if predicates[n] == wanted]
        if self.key.modality == "some":
            return {(number, None) for _, number in own}
        if self.key.modality == "at":
            return {(number, time) for time, number in own}
        return {(number, None) for number in _throughout(stretch, own)}


def _throughout(stretch: Stretch, entries: Iterable[tuple[int, int]]) -> set[int]:
    """The atoms that hold at all points. Without an end of time none does."""
    if stretch.last is None:
        return set()
    points: dict[int, set[int]] = {}
    for time, number in entries:
        points.setdefault(number, set()).add(time)
    length = stretch.last - stretch.first + 1
    return {number for number, times in points.items() if len(times) == length}


class CountedView(WindowView):
    """Counts how often a row is in the window, as signals come in and go out."""

    def __init__(self, key: ViewKey, inputs: Inputs) -> None:
        super().__init__(key, inputs)
        self.restart()

    def restart(self) -> None:
        """Forget what is counted."""
        self.disorder = self.inputs.disorder
        self.counts: dict[Row, int] = {}

    def row(self, place: int) -> Row:
        """The row of a signal."""
        time = self.inputs.times[place] if self.key.modality == "at" else None
        return self.inputs.numbers[place], time

    def count(self, row: Row, change: int) -> None:
        """A signal comes in or goes out."""
        if self.inputs.predicates[row[0]] == self.key.predicate:
            count = self.counts[row] = self.counts.get(row, 0) + change
            if not count:
                del self.counts[row]


class SlidingView(CountedView):
    """The rows of a window that ends now."""

    def restart(self) -> None:
        super().restart()
        self.low = self.high = 0

    def move(self, now: int) -> Set[Row]:
        if self.disorder != self.inputs.disorder:
            self.restart()
        dropped = self.inputs.dropped
        low = max(self.keep_from(now) + dropped, self.low)
        high = max(self.inputs.until(now) + dropped, low)
        for place in range(max(self.high, low), high):
            self.count(self.row(place - dropped), 1)
        for place in range(self.low, min(self.high, low)):
            self.count(self.row(place - dropped), -1)
        self.low, self.high = low, high
        return self.counts.keys()


class SlidingAlways(WindowView):
    """Remembers since when atoms hold without a gap: for time windows that end now."""

    def __init__(self, key: ViewKey, inputs: Inputs) -> None:
        super().__init__(key, inputs)
        self.restart()

    def restart(self) -> None:
        """Forget all runs."""
        self.disorder = self.inputs.disorder
        self.high = 0
        self.runs: dict[int, tuple[int, int]] = {}

    def move(self, now: int) -> Set[Row]:
        if self.disorder != self.inputs.disorder:
            self.restart()
        inputs, wanted = self.inputs, self.key.predicate
        high = inputs.until(now)
        for place in range(max(0, self.high - inputs.dropped), high):
            number, time = inputs.numbers[place], inputs.times[place]
            if inputs.predicates[number] == wanted:
                since, last = self.runs.get(number, (time, time))
                self.runs[number] = (since if time - last <= 1 else time, time)
        self.high = high + inputs.dropped
        window = self.key.windows[0]
        assert isinstance(window, ByTime)
        first, _ = span_of(window, inputs.start, now)
        current = inputs.numbers[inputs.before(now) : high]
        return {(n, None) for n in current if n in self.runs and self.runs[n][0] <= first}


class GroupedView(CountedView):
    """Keeps the last signals of every group: for partition windows that end now."""

    def restart(self) -> None:
        super().restart()
        window = self.key.windows[0]
        assert isinstance(window, ByNumber) and window.patterns is not None
        self.size = window.past
        self.group_of = fitting(window.patterns, self.inputs.atoms)
        self.high = 0
        self.groups: dict[Key, deque[Row]] = {}

    def move(self, now: int) -> Set[Row]:
        if self.disorder != self.inputs.disorder:
            self.restart()
        high = self.inputs.until(now)
        for place in range(self.high, high):
            group = self.group_of(self.inputs.numbers[place])
            if group is not None:
                members = self.groups.setdefault(group, deque())
                members.append(self.row(place))
                self.count(members[-1], 1)
                if len(members) > self.size:
                    self.count(members.popleft(), -1)
        self.high = high
        return self.counts.keys()
