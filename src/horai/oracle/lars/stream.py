"""Streams by their definition: timelines, signals, and what windows select from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property

from horai.lang.core.terms import Int, Term, Var, is_anonymous
from horai.lang.lars import syntax as lars
from horai.lang.lars.clock import Duration

Pair = tuple[int, lars.Atom]
"""An atom at a time."""


@dataclass(frozen=True)
class Stream:
    """Signals and derived atoms on the timeline from `first` to `last`.

    `signals` are sorted by time. Tuple windows count them only, nothing that is derived.
    """

    first: int
    last: int
    signals: tuple[Pair, ...] = ()
    derived: frozenset[Pair] = frozenset()

    def __contains__(self, time: int) -> bool:
        return self.first <= time <= self.last

    @property
    def timeline(self) -> range:
        """All time points."""
        return range(self.first, self.last + 1)

    @cached_property
    def pairs(self) -> frozenset[Pair]:
        """Everything that holds, as atoms at times."""
        return frozenset(self.signals) | self.derived

    @cached_property
    def _at(self) -> dict[int, set[lars.Atom]]:
        found: dict[int, set[lars.Atom]] = {}
        for time, atom in self.pairs:
            found.setdefault(time, set()).add(atom)
        return found

    def at(self, time: int) -> set[lars.Atom]:
        """The atoms at a time."""
        return self._at.get(time, set())

    @property
    def times(self) -> Set[int]:
        """The times at which there are atoms."""
        return self._at.keys()

    def plus(self, pairs: Iterable[Pair]) -> Stream:
        """The stream with more atoms derived."""
        return replace(self, derived=self.derived | frozenset(pairs))

    def restricted(self, first: int, last: int) -> Stream:
        """The part between two times that lie on the timeline."""
        return replace(
            self,
            first=first,
            last=last,
            signals=tuple(pair for pair in self.signals if first <= pair[0] <= last),
            derived=frozenset(pair for pair in self.derived if first <= pair[0] <= last),
        )

    def only(self, wanted: Callable[[lars.Atom], bool]) -> Stream:
        """The atoms that are wanted, on the same timeline."""
        return replace(
            self,
            signals=tuple(pair for pair in self.signals if wanted(pair[1])),
            derived=frozenset(pair for pair in self.derived if wanted(pair[1])),
        )

    def empty(self, time: int) -> Stream:
        """Nothing, at one time."""
        return replace(self, first=time, last=time, signals=(), derived=frozenset())

    def holding(self, signals: Iterable[Pair], first: int, last: int) -> Stream:
        """Some of the signals and nothing derived, on a timeline of its own."""
        return replace(self, first=first, last=last, signals=tuple(signals), derived=frozenset())


WindowFunction = Callable[[Stream, int], Stream]
INFINITE = 10**18
"""More time points than any timeline has."""


def select(window: lars.Window | WindowFunction, stream: Stream, time: int) -> Stream:
    """The stream that a window selects; durations are numbers of time points.

    Any function that gives back a part of the stream is a window, too.
    """
    if callable(window):
        return window(stream, time)
    match window:
        case lars.TimeWindow(past=past, future=future, hop=hop):
            step = 1 if hop is None else _number(hop)
            return _time_based(stream, time, _number(past), _number(future), step)
        case lars.TupleWindow(past=before, future=after):
            return tuple_based(stream, time, _count(before), _count(after))
        case lars.PartitionWindow(past=before, future=after, patterns=patterns):
            return _partition_based(stream, time, patterns, _count(before), _count(after))
        case lars.FilterWindow(patterns=patterns):
            return stream.only(lambda atom: any(fits(p, atom) is not None for p in patterns))
        case lars.IntervalWindow(first=Int(value=first), last=Int(value=last)):
            return _between(stream, first, last)
        case lars.NamedWindow(name=name, length=length):
            if time not in stream:
                return stream
            return _between(stream, *NAMED[name](time, _number(length)))
        case _:
            raise AssertionError(f"{window} has times that are not known")


NAMED: dict[str, Callable[[int, int], tuple[int, int]]] = {
    "since": lambda time, length: (time - time % length, time),
    "ago": lambda time, length: (time - length, time - length),
}
"""The first and the last point of windows with a name, by the current point and the length."""


def _number(duration: Duration) -> int:
    assert duration.unit is None, "windows are measured in time points here"
    return _count(duration.amount)


def _count(amount: int | None) -> int:
    return INFINITE if amount is None else amount


def _time_based(stream: Stream, time: int, past: int, future: int, hop: int) -> Stream:
    """The points around the pivot, which is the last multiple of the hop."""
    if time not in stream:
        return stream
    pivot = time // hop * hop
    return _between(stream, pivot - past, pivot + future)


def _between(stream: Stream, first: int, last: int) -> Stream:
    """The points of the timeline between two times; if there is none, nothing at its start."""
    first, last = max(stream.first, first), min(last, stream.last)
    return stream.restricted(first, last) if first <= last else stream.empty(stream.first)


def tuple_based(stream: Stream, time: int, past: int, future: int = 0) -> Stream:
    """The last signals up to now, and the next ones after it.

    The timeline starts with the oldest of them; with too few signals it is that of the stream.
    """
    if time not in stream:
        return stream
    before = [pair for pair in stream.signals if pair[0] <= time]
    after = [pair for pair in stream.signals if pair[0] > time]
    last_ones = before[len(before) - past :] if past < len(before) else before
    first = time if past == 0 else stream.first
    if 0 < past <= len(before):
        first = last_ones[0][0]
    last = time if future == 0 else stream.last
    if 0 < future <= len(after):
        last = after[future - 1][0]
    return stream.holding((*last_ones, *after[:future]), first, last)


def _partition_based(
    stream: Stream, time: int, patterns: tuple[lars.Pattern, ...], past: int, future: int
) -> Stream:
    """A tuple window for each group of atoms that agree on the variables of a pattern.

    Atoms that fit no pattern belong to no group; groups without atoms add no time.
    """
    if time not in stream:
        return stream
    groups: dict[object, set[lars.Atom]] = {}
    for _, atom in stream.signals:
        key = _key(patterns, atom)
        if key is not None:
            groups.setdefault(key, set()).add(atom)
    of_group = [stream.only(group.__contains__) for group in groups.values()]
    parts = [tuple_based(part, time, past, future) for part in of_group]
    if not parts:
        return stream.empty(time)
    kept = Counter(pair for part in parts for pair in part.signals)
    first, last = min(part.first for part in parts), max(part.last for part in parts)
    return stream.holding(_last_of_each(stream.signals, kept), first, last)


def _last_of_each(pairs: tuple[Pair, ...], numbers: Counter[Pair]) -> list[Pair]:
    """As many of each pair as the numbers say, in the order of the stream."""
    left, found = Counter(numbers), list[Pair]()
    for pair in reversed(pairs):
        if left[pair] > 0:
            left[pair] -= 1
            found.append(pair)
    return found[::-1]


def _key(patterns: tuple[lars.Pattern, ...], atom: lars.Atom) -> object:
    for number, pattern in enumerate(patterns):
        found = fits(pattern, atom)
        if found is not None:
            named = {n: v for n, v in found.items() if not is_anonymous(Var(n))}
            return (number, tuple(sorted(named.items())))
    return None


def fits(pattern: lars.Pattern, atom: lars.Atom) -> Mapping[str, Term] | None:
    """The values of the variables for which a pattern is the atom; None when there are none.

    >>> fits(lars.Pattern("tram", (Var("Id"), Var("_#1"))), lars.Atom("tram", (Int(1), Int(2))))
    {'Id': Int(value=1), '_#1': Int(value=2)}
    """
    if pattern.name != atom.name:
        return None
    if pattern.args is None:
        return {}
    if len(pattern.args) != len(atom.args):
        return None
    found: dict[str, Term] = {}
    for wanted, given in zip(pattern.args, atom.args, strict=True):
        if isinstance(wanted, Var):
            if found.setdefault(wanted.name, given) != given:
                return None
        elif wanted != given:
            return None
    return found
