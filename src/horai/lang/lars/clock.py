"""Clock time: how long a time point is, and how many of them a duration spans."""

from __future__ import annotations

import re
from dataclasses import dataclass

MILLISECONDS = {"ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
"""The units of time by how many milliseconds they have."""

_ALSO = {
    **dict.fromkeys(("msec", "msecs", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("mins", "minute", "minutes"), "min"),
    **dict.fromkeys(("hour", "hours"), "h"),
    **dict.fromkeys(("day", "days"), "d"),
}
UNITS = frozenset(MILLISECONDS) | frozenset(_ALSO)
_CLOCK = re.compile(r"\s*([0-9]+)\s*([a-z]+)\s*")


def unit_named(word: str) -> str | None:
    """The unit that a word names; None when it names none.

    >>> unit_named("sec"), unit_named("parsec")
    ('s', None)
    """
    return word if word in MILLISECONDS else _ALSO.get(word)


@dataclass(frozen=True, slots=True)
class Duration:
    """A length of time; `amount` None is infinite, `unit` None counts time points."""

    amount: int | None
    unit: str | None = None

    def __str__(self) -> str:
        amount = "inf" if self.amount is None else str(self.amount)
        return amount if self.unit is None else f"{amount} {self.unit}"


class Incompatible(ValueError):
    """A duration that is no whole number of time points."""


@dataclass(frozen=True, slots=True)
class Clock:
    """The length of one time point: `Clock(500, "ms")`."""

    amount: int = 1
    unit: str = "s"

    @classmethod
    def parse(cls, text: str) -> Clock:
        """The clock that a text says; `ValueError` when it says none.

        >>> Clock.parse("500ms"), Clock.parse("1 sec")
        (Clock(amount=500, unit='ms'), Clock(amount=1, unit='s'))
        """
        found = _CLOCK.fullmatch(text)
        unit = unit_named(found[2]) if found else None
        if found is None or unit is None or int(found[1]) == 0:
            raise ValueError(f"{text!r} is no clock time: a number above 0 and a unit, like 500ms")
        return cls(int(found[1]), unit)

    def points(self, duration: Duration) -> int | None:
        """How many time points a duration is, None for infinite; raises `Incompatible`.

        >>> Clock(500, "ms").points(Duration(3, "s"))
        6
        >>> Clock(2, "s").points(Duration(3, "s"))
        Traceback (most recent call last):
        ...
        horai.lang.lars.clock.Incompatible: 3 s is no multiple of 2 s
        """
        if duration.amount is None or duration.unit is None:
            return duration.amount
        one = self.amount * MILLISECONDS[self.unit]
        points, rest = divmod(duration.amount * MILLISECONDS[duration.unit], one)
        if rest:
            raise Incompatible(f"{duration} is no multiple of {self}")
        return points

    def __str__(self) -> str:
        return f"{self.amount} {self.unit}"
