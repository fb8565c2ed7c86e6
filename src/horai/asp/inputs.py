"""The signals of a stream in the order that counts: by time, and by arrival within a time point."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from horai.lang.lars.syntax import Atom, Predicate
from horai.plan.lars.reach import Reach

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

    def thin_out(self, reach: Reach, now: int) -> None:
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
