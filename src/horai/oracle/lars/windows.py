"""Window functions: the part of a stream that a window selects at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from horai.lang.core.terms import Int, Term, Var, is_anonymous
from horai.lang.lars.clock import Duration
from horai.lang.lars.syntax import (
    Atom,
    FilterWindow,
    IntervalWindow,
    PartitionWindow,
    Pattern,
    TimeWindow,
    TupleWindow,
    Window,
)
from horai.oracle.lars.stream import Pair, Stream

WindowFunction = Callable[[Stream, int], Stream]
INFINITE = 10**18
"""More time points than any timeline has."""


def select(window: Window | WindowFunction, stream: Stream, time: int) -> Stream:
    """What a window selects; durations are numbers of time points.

    Any function that gives back a part of the stream is a window, too.
    """
    if callable(window):
        return window(stream, time)
    match window:
        case TimeWindow(past=past, future=future, hop=hop):
            step = 1 if hop is None else _number(hop)
            return time_based(_number(past), _number(future), step)(stream, time)
        case TupleWindow(past=before, future=after):
            return tuple_based(_count(before), _count(after))(stream, time)
        case PartitionWindow(past=before, future=after, patterns=patterns):
            return partition_based(patterns, _count(before), _count(after))(stream, time)
        case FilterWindow(patterns=patterns):
            return stream.only(lambda atom: any(fits(p, atom) is not None for p in patterns))
        case IntervalWindow(first=Int(value=first), last=Int(value=last)):
            return interval(first, last)(stream, time)
        case _:
            raise AssertionError(f"{window} has times that are not known")


def _number(duration: Duration) -> int:
    assert duration.unit is None, "windows are measured in time points here"
    return _count(duration.amount)


def _count(amount: int | None) -> int:
    return INFINITE if amount is None else amount


def time_based(past: int, future: int = 0, hop: int = 1) -> WindowFunction:
    """The points around the pivot, which is the last multiple of the hop."""

    def window(stream: Stream, time: int) -> Stream:
        if time not in stream:
            return stream
        pivot = time // hop * hop
        return _between(stream, pivot - past, pivot + future)

    return window


def interval(first: int, last: int) -> WindowFunction:
    """The points between two times, whatever the current one is."""
    return lambda stream, time: _between(stream, first, last)


def _between(stream: Stream, first: int, last: int) -> Stream:
    """The points of the timeline between two times; if there is none, nothing at its start."""
    first, last = max(stream.first, first), min(last, stream.last)
    return stream.restricted(first, last) if first <= last else stream.empty(stream.first)


def tuple_based(past: int, future: int = 0) -> WindowFunction:
    """The last signals up to now, and the next ones after it.

    The timeline starts with the oldest of them; with too few signals it is that of the stream.
    """

    def window(stream: Stream, time: int) -> Stream:
        if time not in stream:
            return stream
        before = [pair for pair in stream.counted if pair[0] <= time]
        after = [pair for pair in stream.counted if pair[0] > time]
        last_ones = before[len(before) - past :] if past < len(before) else before
        first = time if past == 0 else stream.first
        if 0 < past <= len(before):
            first = last_ones[0][0]
        last = time if future == 0 else stream.last
        if 0 < future <= len(after):
            last = after[future - 1][0]
        return stream.holding((*last_ones, *after[:future]), first, last)

    return window


def partition_based(patterns: tuple[Pattern, ...], past: int, future: int = 0) -> WindowFunction:
    """A tuple window for each group of atoms that agree on the variables of a pattern.

    Atoms that fit no pattern belong to no group; groups without atoms add no time.
    """

    def window(stream: Stream, time: int) -> Stream:
        if time not in stream:
            return stream
        groups: dict[object, set[Atom]] = {}
        for _, atom in stream.counted:
            key = _key(patterns, atom)
            if key is not None:
                groups.setdefault(key, set()).add(atom)
        of_group = [stream.only(group.__contains__) for group in groups.values()]
        parts = [tuple_based(past, future)(part, time) for part in of_group]
        if not parts:
            return stream.empty(time)
        kept = Counter(pair for part in parts for pair in part.counted)
        first, last = min(part.first for part in parts), max(part.last for part in parts)
        return stream.holding(_last_of_each(stream.counted, kept), first, last)

    return window


def _last_of_each(pairs: tuple[Pair, ...], numbers: Counter[Pair]) -> list[Pair]:
    """As many of each pair as the numbers say, in the order of the stream."""
    left, found = Counter(numbers), list[Pair]()
    for pair in reversed(pairs):
        if left[pair] > 0:
            left[pair] -= 1
            found.append(pair)
    return found[::-1]


def _key(patterns: tuple[Pattern, ...], atom: Atom) -> object:
    for number, pattern in enumerate(patterns):
        found = fits(pattern, atom)
        if found is not None:
            named = {n: v for n, v in found.items() if not is_anonymous(Var(n))}
            return (number, tuple(sorted(named.items())))
    return None


def fits(pattern: Pattern, atom: Atom) -> Mapping[str, Term] | None:
    """The values of the variables for which a pattern is the atom; None when there are none.

    >>> fits(Pattern("tram", (Var("Id"), Var("_#1"))), Atom("tram", (Int(1), Int(2))))
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
