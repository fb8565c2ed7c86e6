"""Time-points: whole numbers, or real time stamps mapped to whole numbers by a unit."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import Literal, get_args

from .letters import BadRow
from .terms import BLANKS, DECIMAL, INTEGER

Unit = Literal["ns", "us", "ms", "s", "min", "h", "d"]
UNITS: tuple[Unit, ...] = get_args(Unit)
NANOSECONDS: dict[Unit, int] = {
    "ns": 1,
    "us": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "min": 60 * 10**9,
    "h": 3600 * 10**9,
    "d": 86400 * 10**9,
}
# Half of what 64 bits hold: a delay after the last time, or a duration from the first to the last,
# must fit as well.
MIN_TIME, MAX_TIME = -(2**62), 2**62
OPEN_WORDS = ("inf", "+inf", "infinity", "+infinity")

EPOCH = dt.datetime(1970, 1, 1)
LOOKS_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ].*)?")
ISO = re.compile(
    r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[T ](?P<hour>[0-9]{2})(?::(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})"
    r"(?:[.,](?P<fraction>[0-9]+))?)?)?"
    r"(?P<zone>Z|(?P<sign>[+-])(?P<zh>[0-9]{2})(?::?(?P<zm>[0-9]{2}))?)?)?"
)


@dataclass(frozen=True)
class Clock:
    """How times of the input become time-points.

    `unit` is the length of a time-point; without it times are plain integers. `time_in` is the
    unit of integer times in the input (epoch times); without it they are time-points already.
    """

    unit: Unit | None = None
    time_in: Unit | None = None

    def __post_init__(self) -> None:
        for given in (self.unit, self.time_in):
            if given is not None and given not in UNITS:
                raise ValueError(f"unknown time unit {given!r}: use one of {', '.join(UNITS)}")
        if self.time_in is not None and self.unit is None:
            raise ValueError("time_in needs unit: say also how long a time-point is")

    def point(self, given: object) -> int:
        """The time-point of one time as it stands in the input.

        >>> Clock().point(" 17 "), Clock("min").point("1970-01-01T01:30:59Z")
        (17, 90)
        """
        if isinstance(given, str):
            return self._from_text(given.strip(BLANKS))
        if isinstance(given, dt.date):
            return self._from_text(given.isoformat())
        if isinstance(given, int) and not isinstance(given, bool):
            return self._from_integer(given)
        if isinstance(given, float) and given.is_integer():
            return self._from_integer(int(given))
        raise BadRow("bad-time", f"{given!r} is not a time: a whole number is expected")

    def ratio(self, given: Unit) -> tuple[int, int]:
        """What to multiply and floor-divide a time in unit `given` by. One of the two is 1."""
        assert self.unit is not None
        here, there = NANOSECONDS[self.unit], NANOSECONDS[given]
        return (there // here, 1) if there >= here else (1, here // there)

    def _from_text(self, text: str) -> int:
        if INTEGER.fullmatch(text):
            return self._from_integer(int(text))
        whole, _, fraction = text.partition(".")
        if DECIMAL.fullmatch(text) and INTEGER.fullmatch(whole) and not fraction.strip("0"):
            return self._from_integer(int(whole))
        if LOOKS_ISO.fullmatch(text):
            return self._from_iso(text)
        shown = text if len(text) <= 60 else text[:59] + "…"
        raise BadRow("bad-time", f"{shown!r} is not a time: a whole number is expected")

    def _from_integer(self, number: int) -> int:
        if self.time_in is not None:
            times, per = self.ratio(self.time_in)
            number = number * times // per
        return _checked(number)

    def _from_iso(self, text: str) -> int:
        if self.unit is None:
            raise BadRow("unit", f"ISO time needs --unit: {text!r}; for example --unit s")
        return _checked(iso_nanoseconds(text) // NANOSECONDS[self.unit])


def is_open_end(given: object) -> bool:
    """True for the word that says an interval has not ended yet."""
    if isinstance(given, float):
        return given == float("inf")
    return isinstance(given, str) and given.strip(BLANKS).lower() in OPEN_WORDS


def iso_nanoseconds(text: str) -> int:
    """Nanoseconds since 1970 of an ISO 8601 time; without a zone it is UTC.

    >>> iso_nanoseconds("1970-01-01T01:00:00.5+01:00")
    500000000
    """
    try:
        return _iso_nanoseconds(text)
    except ValueError as error:
        raise BadRow("bad-time", f"{text!r} is not an ISO 8601 time") from error


def _iso_nanoseconds(text: str) -> int:
    found = ISO.fullmatch(text)
    if found is None:
        raise ValueError(text)
    hour, minute, second = (int(found[part] or 0) for part in ("hour", "minute", "second"))
    date = dt.date.fromisoformat(found["date"])
    since = dt.datetime.combine(date, dt.time(hour, minute, second)) - EPOCH
    offset = _offset_seconds(found)
    fraction = int((found["fraction"] or "0")[:9].ljust(9, "0"))
    return (since.days * 86400 + since.seconds - offset) * 10**9 + fraction


def _offset_seconds(found: re.Match[str]) -> int:
    if found["sign"] is None:
        return 0
    hours, minutes = int(found["zh"]), int(found["zm"] or 0)
    if hours > 23 or minutes > 59:
        raise ValueError(found[0])
    return (hours * 3600 + minutes * 60) * (1 if found["sign"] == "+" else -1)


def _checked(point: int) -> int:
    if MIN_TIME <= point <= MAX_TIME:
        return point
    raise BadRow("bad-time", f"{point} is not a time: times lie between -2**62 and 2**62")


def format_time(point: int, unit: Unit) -> str:
    """A time-point as an ISO 8601 string in UTC; a plain number outside the years 1 to 9999.

    >>> format_time(90, "min"), format_time(19783, "d"), format_time(1500, "ms")
    ('1970-01-01T01:30:00Z', '2024-03-01', '1970-01-01T00:00:01.500Z')
    """
    seconds, nanoseconds = divmod(point * NANOSECONDS[unit], 10**9)
    try:
        moment = EPOCH + dt.timedelta(seconds=seconds)
    except OverflowError:
        return str(point)
    if unit == "d":
        return moment.date().isoformat()
    digits = {"ms": 3, "us": 6, "ns": 9}.get(unit, 0)
    fraction = f".{nanoseconds:09d}"[: digits + 1] if digits else ""
    return f"{moment.isoformat()}{fraction}Z"
