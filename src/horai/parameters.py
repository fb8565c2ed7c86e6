"""Parameters of the Python interface: what is of the wrong kind is told in words, at once."""

from __future__ import annotations

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
