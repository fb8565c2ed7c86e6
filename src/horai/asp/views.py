"""Windows over signals, kept up to date from one time to the next.

A view tells which atoms of a predicate hold under a modality in windows: by number for `some` and
`always`, by number and time for `at`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Set
from dataclasses import dataclass

from horai.asp.inputs import Inputs
from horai.asp.plain import Between, Chain, Groups, Modality, Times, Tuples
from horai.asp.windows import Key, Stretch, fitting, select, span_of
from horai.lang.lars.syntax import Predicate

Row = tuple[int, int | None]
"""Number of an atom, and its time under `at`."""


@dataclass(frozen=True, slots=True)
class ViewKey:
    """What is asked: views with equal keys are one."""

    windows: Chain
    modality: Modality
    predicate: Predicate


class View(ABC):
    """What holds in a window; `rows` after `move` belong to the time that was given."""

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
            match window:
                case Times(past=int() as past, hop=hop):
                    position = self.inputs.before(now // hop * hop - past)
                case Tuples(past=int() as past, future=0):
                    position = self.inputs.until(now) - past
                case Between(first=first):
                    position = self.inputs.before(first)
        return max(0, position)


def make_view(key: ViewKey, inputs: Inputs) -> View:
    """The cheapest view that serves."""
    if len(key.windows) == 1 and key.modality == "some":
        match key.windows[0]:
            case Times(past=int(), future=0, hop=1) | Tuples(past=int(), future=0):
                return SlidingSome(key, inputs)
    if len(key.windows) == 1 and key.modality != "always":
        match key.windows[0]:
            case Groups(past=int(), future=0):
                return GroupedView(key, inputs)
    if len(key.windows) == 1 and key.modality == "always":
        match key.windows[0]:
            case Times(future=0, hop=1):
                return SlidingAlways(key, inputs)
    return PlainView(key, inputs)


class PlainView(View):
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


class SlidingSome(View):
    """Counts atoms as they come in and go out: for windows that end now."""

    def __init__(self, key: ViewKey, inputs: Inputs) -> None:
        super().__init__(key, inputs)
        self.window = key.windows[0]
        self.restart()

    def restart(self) -> None:
        """Forget what is counted."""
        self.disorder = self.inputs.disorder
        self.low = self.high = 0
        self.counts: dict[Row, int] = {}

    def move(self, now: int) -> Set[Row]:
        if self.disorder != self.inputs.disorder:
            self.restart()
        dropped = self.inputs.dropped
        high = self.inputs.until(now) + dropped
        low = max(self.keep_from(now) + dropped, self.low)
        for place in range(max(self.high, low), high):
            self.count(place - dropped, 1)
        for place in range(self.low, min(self.high, low)):
            self.count(place - dropped, -1)
        self.low, self.high = low, max(high, low)
        return self.counts.keys()

    def count(self, place: int, change: int) -> None:
        number = self.inputs.numbers[place]
        if self.inputs.predicates[number] != self.key.predicate:
            return
        row = (number, None)
        count = self.counts.get(row, 0) + change
        if count:
            self.counts[row] = count
        else:
            self.counts.pop(row, None)


class SlidingAlways(View):
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
        assert isinstance(window, Times)
        first, _ = span_of(window, inputs.start, now)
        current = inputs.numbers[inputs.before(now) : high]
        return {(n, None) for n in current if n in self.runs and self.runs[n][0] <= first}


class GroupedView(View):
    """Keeps the last signals of every group: for partition windows that end now."""

    def __init__(self, key: ViewKey, inputs: Inputs) -> None:
        super().__init__(key, inputs)
        window = key.windows[0]
        assert isinstance(window, Groups) and window.past is not None
        self.size = window.past
        self.group_of = fitting(window.patterns, inputs.atoms)
        self.restart()

    def restart(self) -> None:
        """Forget all groups."""
        self.disorder = self.inputs.disorder
        self.high = 0
        self.groups: dict[Key, deque[Row]] = {}
        self.counts: dict[Row, int] = {}

    def move(self, now: int) -> Set[Row]:
        if self.disorder != self.inputs.disorder:
            self.restart()
        inputs = self.inputs
        high = inputs.until(now)
        for place in range(self.high, high):
            number = inputs.numbers[place]
            group = self.group_of(number)
            if group is not None:
                time = inputs.times[place] if self.key.modality == "at" else None
                self.enter(self.groups.setdefault(group, deque()), (number, time))
        self.high = high
        return self.counts.keys()

    def enter(self, members: deque[Row], row: Row) -> None:
        """Take a signal into its group; the oldest one leaves if there are too many."""
        members.append(row)
        self.count(row, 1)
        if len(members) > self.size:
            self.count(members.popleft(), -1)

    def count(self, row: Row, change: int) -> None:
        if self.inputs.predicates[row[0]] != self.key.predicate:
            return
        count = self.counts.get(row, 0) + change
        if count:
            self.counts[row] = count
        else:
            del self.counts[row]
