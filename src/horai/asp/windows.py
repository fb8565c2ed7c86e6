"""What windows select from the signals, straight from their definitions.

The timeline has a start and no end. A tuple window counts signals, also equal ones of a time point.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from horai.asp.inputs import Inputs
from horai.asp.plain import Between, Chain, Groups, Only, Times, Tuples, Window
from horai.lang.lars.syntax import Atom, Pattern
from horai.lang.terms import Term, Var, is_anonymous

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
    """What windows select at a time, applied one after the other."""
    if windows and isinstance(windows[0], Times | Between):
        # Only the signals that the first window keeps are looked at.
        first, last = span_of(windows[0], inputs.start, now)
        stop = len(inputs.times) if last is None else inputs.until(last)
        places = range(inputs.before(first), stop)
        stretch = Stretch(first, last, _entries(inputs, places))
        windows = windows[1:]
    else:
        stretch = Stretch(inputs.start, None, _entries(inputs, range(len(inputs.times))))
    for window in windows:
        stretch = _applied(window, stretch, now, inputs.atoms)
    return stretch


def _entries(inputs: Inputs, places: range) -> list[Entry]:
    return [(inputs.times[place], place, inputs.numbers[place]) for place in places]


def span_of(window: Times | Between, start: int, now: int) -> tuple[int, int | None]:
    """The points that a window covers at a time. There are none if the last is before the first."""
    if isinstance(window, Between):
        return max(start, window.first), window.last
    pivot = now // window.hop * window.hop
    first = start if window.past is None else max(start, pivot - window.past)
    return first, None if window.future is None else pivot + window.future


def _applied(window: Window, stretch: Stretch, now: int, atoms: list[Atom]) -> Stretch:
    if isinstance(window, Only):
        fits = fitting(window.patterns, atoms)
        kept = [entry for entry in stretch.entries if fits(entry[2]) is not None]
        return Stretch(stretch.first, stretch.last, kept)
    if isinstance(window, Between):
        return _cut(stretch, window.first, window.last)
    if not stretch.has(now):  # a window looks around the current point, and there is none
        return stretch
    if isinstance(window, Times):
        first, last = span_of(window, stretch.first, now)
        return _cut(stretch, first, last)
    if isinstance(window, Tuples):
        return last_and_next(window.past, window.future, stretch, now)
    return _grouped(window, stretch, now, atoms)


def _cut(stretch: Stretch, first: int, last: int | None) -> Stretch:
    low = max(first, stretch.first)
    high = stretch.last if last is None else last
    if high is not None and stretch.last is not None:
        high = min(high, stretch.last)
    kept = [e for e in stretch.entries if low <= e[0] and (high is None or e[0] <= high)]
    return Stretch(low, high, kept)


def last_and_next(past: int | None, future: int | None, stretch: Stretch, now: int) -> Stretch:
    """The tuple window: the last signals until now, and the next ones after it."""
    before = [entry for entry in stretch.entries if entry[0] <= now]
    after = [entry for entry in stretch.entries if entry[0] > now]
    first, last = stretch.first, stretch.last
    if past == 0:
        before, first = [], now
    elif past is not None and len(before) >= past:
        before = before[-past:]
        first = before[0][0]
    if future == 0:
        after, last = [], now
    elif future is not None and len(after) >= future:
        after = after[:future]
        last = after[-1][0]
    return Stretch(first, last, before + after)


def _grouped(window: Groups, stretch: Stretch, now: int, atoms: list[Atom]) -> Stretch:
    fits = fitting(window.patterns, atoms)
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
    """A function from numbers of atoms to the group they fall into; None for those that do not fit.

    The group is the first pattern that fits together with the values of its variables.
    """
    known: dict[int, Key | None] = {}

    def fit(number: int) -> Key | None:
        if number not in known:
            known[number] = _group(patterns, atoms[number])
        return known[number]

    return fit


def _group(patterns: tuple[Pattern, ...], atom: Atom) -> Key | None:
    for place, pattern in enumerate(patterns):
        if pattern.name != atom.name:
            continue
        if pattern.args is None:
            return (place,)
        found: dict[str, Term] = {}
        if len(pattern.args) == len(atom.args) and all(
            matches(wanted, given, found)
            for wanted, given in zip(pattern.args, atom.args, strict=True)
        ):
            return (place, tuple(found.values()))
    return None


def matches(wanted: Term, given: Term, found: dict[str, Term]) -> bool:
    """Whether a term fits a pattern; `found` collects the values of its variables."""
    if not isinstance(wanted, Var):
        return wanted == given
    return is_anonymous(wanted) or found.setdefault(wanted.name, given) == given


def chain_span(windows: Chain, start: int, now: int) -> tuple[int, int | None] | None:
    """The points that windows without counting cover together; None if there are none."""
    first, last = start, None
    for window in windows:
        if isinstance(window, Only):
            continue
        assert isinstance(window, Times | Between)
        if isinstance(window, Times) and not Stretch(first, last, []).has(now):
            continue
        cut = _cut(Stretch(first, last, []), *span_of(window, first, now))
        if cut.last is not None and cut.last < cut.first:
            return None
        first, last = cut.first, cut.last
    return first, last
