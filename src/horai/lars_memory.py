"""What a run of a LARS program has to remember of its signals, to go on or to answer again."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from horai.lang.lars.syntax import Atom
from horai.lars_engines import Changes
from horai.lars_signals import Signal
from horai.plan.lars.reach import Reach

ENDLESS = 2**62
FEW = 256
"""With so few signals forgetting is not worth its time."""


@dataclass
class Memory:
    """Signals, each with the time from which it counts and the one until which it does."""

    reach: Reach
    known: dict[Signal, tuple[int, int]] = field(default_factory=dict)
    _at: dict[int, dict[Signal, None]] = field(default_factory=dict)
    _kept: int = 0

    def add(self, signal: Signal, since: int, until: int = ENDLESS) -> None:
        """A signal that counts from a time on."""
        self.known[signal] = (since, until)
        self._at.setdefault(signal.time, {})[signal] = None

    def remove(self, signal: Signal, until: int) -> None:
        """A signal that counts until a time; there may be none left at which it does."""
        since, _ = self.known[signal]
        if until > since:
            self.known[signal] = (since, until)
        else:
            self._drop(signal)

    def at(self, query: int) -> set[Atom]:
        """The atoms that signals say about a query time, as far as they count then."""
        here = self._at.get(query, {})
        return {s.atom for s in here if self.known[s][0] <= query < self.known[s][1]}

    def changes(self, queries: Sequence[int]) -> Iterator[Changes]:
        """What comes and goes from query time to query time, for one who knows nothing yet."""
        added: list[list[Signal]] = [[] for _ in queries]
        removed: list[list[Signal]] = [[] for _ in queries]
        for signal, (since, until) in self.known.items():
            come, gone = bisect_left(queries, since), bisect_left(queries, until)
            if come < gone:
                added[come].append(signal)
                if gone < len(queries):
                    removed[gone].append(signal)
        for place, query in enumerate(queries):
            yield query, added[place], removed[place]

    def forget(self, horizon: int) -> list[Signal]:
        """Drop what no answer from a time on can depend on, once that is worth the time it takes.

        Signals before that time can no longer be taken back.
        """
        if len(self.known) < 2 * self._kept + FEW:
            return []
        lasting = [signal for signal, (_, until) in self.known.items() if until == ENDLESS]
        lasting.sort(key=lambda signal: (signal.time, signal.order))
        # Those at the horizon may still go, and leave their place in a window to one before them.
        needed = self.reach.needed([(s.time, s.atom) for s in lasting], horizon - 1)
        gone = [signal for signal, stays in zip(lasting, needed, strict=True) if not stays]
        gone += [signal for signal, (_, until) in self.known.items() if until <= horizon]
        for signal in gone:
            self._drop(signal)
        self._kept = len(self.known)
        return gone

    def _drop(self, signal: Signal) -> None:
        del self.known[signal]
        here = self._at[signal.time]
        del here[signal]
        if not here:
            del self._at[signal.time]


def earliest(signals: Iterable[Signal]) -> int | None:
    """The first time that signals speak of."""
    return min((signal.time for signal in signals), default=None)
