"""Streams: a timeline, the signals on it in their order, and what was derived.

A stream of the papers has sets of atoms. Signals keep their order and repetitions here, because
tuple windows count them as they came in; derived atoms have neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from horai.lang.lars.syntax import Atom

Pair = tuple[int, Atom]
"""An atom at a time."""


@dataclass(frozen=True)
class Stream:
    """Signals and derived atoms on the timeline from `first` to `last`.

    `signals` are sorted by time. With `counts_derived` tuple windows count derived atoms too, which
    is how the papers define them; as a rule they count signals only.
    """

    first: int
    last: int
    signals: tuple[Pair, ...] = ()
    derived: frozenset[Pair] = frozenset()
    counts_derived: bool = False

    @classmethod
    def of(cls, first: int, last: int, content: Mapping[int, Iterable[Atom]]) -> Stream:
        """A stream of signals, given by time."""
        times = [time for time in sorted(content) if first <= time <= last]
        return cls(first, last, tuple((time, atom) for time in times for atom in content[time]))

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
    def _at(self) -> dict[int, set[Atom]]:
        found: dict[int, set[Atom]] = {}
        for time, atom in self.pairs:
            found.setdefault(time, set()).add(atom)
        return found

    def at(self, time: int) -> set[Atom]:
        """What holds at a time."""
        return self._at.get(time, set())

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

    def only(self, wanted: Callable[[Atom], bool]) -> Stream:
        """The atoms that are wanted, on the same timeline."""
        return replace(
            self,
            signals=tuple(pair for pair in self.signals if wanted(pair[1])),
            derived=frozenset(pair for pair in self.derived if wanted(pair[1])),
        )

    def empty(self, time: int) -> Stream:
        """Nothing, at one time."""
        return replace(self, first=time, last=time, signals=(), derived=frozenset())

    @cached_property
    def counted(self) -> tuple[Pair, ...]:
        """What tuple windows count, oldest first."""
        if not self.counts_derived:
            return self.signals
        # Derived atoms come after the signals of their time, and of these the first by name last.
        extra = sorted(self.derived - set(self.signals), key=lambda p: repr(p[1]), reverse=True)
        return tuple(sorted((*self.signals, *extra), key=lambda pair: pair[0]))

    def holding(self, counted: Iterable[Pair], first: int, last: int) -> Stream:
        """Some of what is counted, on a timeline of its own."""
        kept = tuple(counted)
        signals = tuple(pair for pair in kept if pair in self._signal_set)
        derived = frozenset(kept) - self._signal_set
        return replace(self, first=first, last=last, signals=signals, derived=derived)

    @cached_property
    def _signal_set(self) -> frozenset[Pair]:
        return frozenset(self.signals)
