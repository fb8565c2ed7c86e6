"""Parameters of the Python interface: what is of the wrong kind is told in words, at once.

When a run asks: start, end, window, step and the query times that follow from them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import index
from typing import SupportsIndex, cast

from horai.errors import UsageError
from horai.io.times import MAX_TIME


def whole(given: object, name: str, hint: str | None = None) -> int:
    """A whole number, or a kind error. True and 1.0 are none.

    >>> whole(1.5, "window")
    Traceback (most recent call last):
    ...
    horai.errors.UsageError: window must be a whole number, not 1.5
    """
    try:
        if not isinstance(given, bool):
            return index(cast(SupportsIndex, given))  # also the numbers of numpy
    except TypeError:
        pass
    raise UsageError(f"{name} must be a whole number, not {_shown(given)}", hint)


def length(given: object, name: str, least: int) -> int:
    """A length of time, counted in time-points."""
    hint = f"{name} is a length of time, counted in time-points"
    number = whole(given, name, hint)
    if number < least:
        wanted = "at least 0" if least == 0 else "above 0"
        raise UsageError(f"{name} must be {wanted}, not {number}", hint)
    if number > MAX_TIME:
        raise UsageError(f"{name} must be at most {MAX_TIME}, not {number}", hint)
    return number


def amount(given: object, name: str) -> int:
    """How many of something there are to be, one at least.

    >>> amount(0, "buckets")
    Traceback (most recent call last):
    ...
    horai.errors.UsageError: buckets must be above 0, not 0
      hint: give a whole number, such as 4
    """
    hint = "give a whole number, such as 4"
    number = whole(given, name, hint)
    if number < 1:
        raise UsageError(f"{name} must be above 0, not {number}", hint)
    return number


def point(given: object, name: str) -> int:
    """A time-point."""
    number = whole(given, name, f"{name} is a time-point")
    if abs(number) > MAX_TIME:
        problem = f"{name} must lie between {-MAX_TIME} and {MAX_TIME}, and {number} does not"
        raise UsageError(problem, f"{name} is a time-point")
    return number


def text(given: object, name: str, hint: str | None = None) -> str:
    """A text, or a kind error."""
    if isinstance(given, str):
        return given
    raise UsageError(f"{name} must be a text, not {_shown(given)}", hint)


def function(given: object, name: str) -> None:
    """Nothing if it can be called, or a kind error."""
    if not callable(given):
        raise UsageError(f"{name} must be a function, not {_shown(given)}")


def _shown(given: object) -> str:
    """A value in a message: short ones as they are, others by their kind."""
    said = repr(given)
    return said if len(said) <= 40 and "\n" not in said else f"a {type(given).__name__}"


MOST_QUERIES = 10_000_000  # beyond this a wrong start or step is likelier than patience


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What a run was asked for; None where the input decides."""

    window: int | None = None
    step: int | None = None
    start: int | None = None
    end: int | None = None
    tick: int = 1
    allen_memory: int | None = None

    def __post_init__(self) -> None:
        for name in ("window", "step", "tick", "allen_memory"):
            given = getattr(self, name)
            if given is not None or name == "tick":
                least = 0 if name == "allen_memory" else 1
                number = length(given, name.replace("_", "-"), least)
                object.__setattr__(self, name, number)  # it may have been a number of numpy
        if self.start is not None and self.end is not None and self.end <= self.start:
            raise UsageError(
                f"the end of the run, {self.end}, is not after its start, {self.start}",
                "a run covers the time-points after start, up to and including end",
            )

    @property
    def loses_items(self) -> bool:
        """True when items between two windows are never looked at."""
        return self.window is not None and self.step is not None and self.window < self.step


@dataclass(frozen=True, slots=True)
class Schedule:
    """The query times of a run: start + k*step, the last one clipped to the end."""

    start: int
    end: int
    step: int
    window: int | None
    tick: int
    allen_memory: int | None = None

    @property
    def number(self) -> int:
        """How many query times there are."""
        return -(-(self.end - self.start) // self.step)

    @property
    def next_point(self) -> int:
        """The first time-point of the run; after its end when none lies in it.

        >>> Schedule(start=0, end=25, step=25, window=None, tick=60).next_point
        60
        """
        return self.start + self.tick - self.start % self.tick

    def queries(self) -> Iterator[int]:
        """All query times in order.

        >>> list(Schedule(start=0, end=25, step=10, window=10, tick=1).queries())
        [10, 20, 25]
        """
        query = self.start
        while query < self.end:
            query = min(query + self.step, self.end)
            yield query


def plan_run(settings: RunSettings, extent: tuple[int, int] | None) -> Schedule | None:
    """The schedule of a run, None when there is nothing to run over.

    `extent` is the first occurrence in the input and the last time it names.
    """
    start, end = settings.start, settings.end
    if extent is None and (start is None or end is None):
        return None
    first, last = extent or (0, 0)
    if start is None:
        start = before(first, settings.tick)
    if end is None:
        end = last
    if end <= start:
        raise UsageError(_nothing_between(settings, start, end), "choose another start or end")
    step = settings.step or settings.window or end - start
    if (end - start) // step > MOST_QUERIES:
        raise UsageError(
            f"from {start} to {end} by steps of {step} there are more than "
            f"{MOST_QUERIES:,} query times",
            "choose a longer step, or a start near the first item",
        )
    return Schedule(start, end, step, settings.window, settings.tick, settings.allen_memory)


def before(time: int, tick: int) -> int:
    """The time-point before a time, on the grid.

    >>> before(9, 1), before(20, 10), before(23, 10)
    (8, 10, 20)
    """
    return time - (time % tick or tick)


def _nothing_between(settings: RunSettings, start: int, end: int) -> str:
    if settings.end is None:
        return f"the input ends at {end}, not after the start of the run, {start}"
    return f"the input begins after {start}, not before the end of the run, {end}"
