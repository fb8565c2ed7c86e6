"""How long rules stay that come with ticks.

A tick is a time point and the number of signals so far. Every rule carries a duration in time
points and one in signals, and goes as soon as one of them is over; None is for ever.
"""

from __future__ import annotations

from collections.abc import Iterator

from horai.asp.templates import Template

Duration = tuple[int | None, int | None]
FOR_EVER: Duration = (None, None)
Annotated = tuple[Duration, Template]
Tick = tuple[int, int]


class Expiry:
    """Which rules are there: each as long as one of the ticks that brought it says.

    The same rule may come again before it goes; it stays until its last copy has gone.
    """

    def __init__(self) -> None:
        self.copies: dict[Template, int] = {}
        self._now = -1
        self._by_time: dict[int, list[list[Template]]] = {}
        self._by_count: dict[int, list[list[Template]]] = {}

    def add(self, tick: Tick, annotated: Annotated) -> bool:
        """Take in a rule; True if it is new."""
        (points, signals), template = annotated
        is_new = template not in self.copies
        if points is None and signals is None:
            self.copies[template] = self.copies.get(template, 1)
            return is_new
        self.copies[template] = self.copies.get(template, 0) + 1
        entry = [template]  # emptied by whichever end comes first
        if points is not None:
            self._by_time.setdefault(tick[0] + points, []).append(entry)
        if signals is not None:
            self._by_count.setdefault(tick[1] + signals, []).append(entry)
        return is_new

    def expired(self, tick: Tick) -> Iterator[Template]:
        """The rules that go at a tick."""
        gone: list[list[Template]] = []
        if tick[0] > self._now:
            self._now = tick[0]
            ends = [time for time in self._by_time if time <= tick[0]]
            gone = [entry for time in ends for entry in self._by_time.pop(time)]
        for entry in (*gone, *self._by_count.pop(tick[1], ())):
            if entry:
                template = entry.pop()
                self.copies[template] -= 1
                if not self.copies[template]:
                    del self.copies[template]
                    yield template
