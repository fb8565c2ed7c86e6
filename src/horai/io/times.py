"""Time-points: whole numbers, or real time stamps that a unit maps to whole numbers.

A column of text, numbers or time stamps becomes int64 time-points without a loop over rows.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from horai.io.letters import BadRow
from horai.io.terms import BLANKS, DECIMAL, INTEGER, is_digits

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
# A delay after the last time, and a duration from the first to the last, must be less than what
# stands for infinity (2 ** 62), and a time is a term of 61 bits and a sign, too.
MIN_TIME, MAX_TIME = -(2**61) + 1, 2**61 - 1
OPEN_WORDS = ("inf", "+inf", "infinity", "+infinity")

EPOCH = dt.datetime(1970, 1, 1)
LOOKS_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ].*)?")
ISO = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[T ][0-9]{2}(?::[0-9]{2}(?::[0-9]{2}(?P<fraction>[.,][0-9]+)?)?)?"
    r"(?:Z|[+-][0-9]{2}(?::?[0-5][0-9])?)?)?"
)


@dataclass(frozen=True)
class TimeScale:
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

        >>> TimeScale().point(" 17 "), TimeScale("min").point("1970-01-01T01:30:59Z")
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
        """The factor and divisor of a time in unit `given`. One of the two is 1."""
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
    found = ISO.fullmatch(text)
    fraction = "" if found is None else found["fraction"] or ""
    try:
        if found is None:
            raise ValueError(text)
        moment = dt.datetime.fromisoformat(text.replace(fraction, ""))  # it knows no nanoseconds
    except ValueError as error:
        raise BadRow("bad-time", f"{text!r} is not an ISO 8601 time") from error
    since = moment.replace(tzinfo=None) - EPOCH - (moment.utcoffset() or dt.timedelta(0))
    return (since.days * 86400 + since.seconds) * 10**9 + int(fraction[1:10].ljust(9, "0"))


def _checked(point: int) -> int:
    if MIN_TIME <= point <= MAX_TIME:
        return point
    raise BadRow("bad-time", f"{point} is not a time: times lie between -2**61 and 2**61")


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


# 18 digits always fit into 64 bits; the rare longer ones are looked at one by one.
PLAIN = r"^-?[0-9]{1,18}$"


class TimeColumn(NamedTuple):
    """Time-points (null where there is none) and whether each row was readable.

    A row is readable when it holds a time, is empty, or (for ends) says the interval is open.
    """

    points: pa.Array
    readable: pa.Array


def read_times(column: pa.Array, clock: TimeScale, *, ends: bool = False) -> TimeColumn:
    """The time-points of a column of any type. With `ends`, infinity is readable and null."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_null(column.type):
        column = column.cast(pa.int64())
    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        points = _from_timestamps(column, clock)
    elif pa.types.is_integer(column.type):
        points = _from_integers(column, clock)
    elif pa.types.is_floating(column.type):
        # pandas turns a column of integers with gaps into floats with NaN.
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
        points = _from_floats(column, clock)
    elif pa.types.is_boolean(column.type):
        points = pa.nulls(len(column), pa.int64())
    else:
        column = column.cast(pa.string())
        points = _from_text(column, clock)
    points = _within_limits(points)
    readable = pc.or_(points.is_valid(), column.is_null())
    return TimeColumn(points, pc.or_(readable, _is_open(column)) if ends else readable)


def _within_limits(points: pa.Array) -> pa.Array:
    """Null where a time is so far away that what is computed from it might not fit."""
    ends = pc.min_max(points)
    if not ends["min"].is_valid or (
        ends["min"].as_py() >= MIN_TIME and ends["max"].as_py() <= MAX_TIME
    ):
        return points
    fits = pc.and_(pc.greater_equal(points, MIN_TIME), pc.less_equal(points, MAX_TIME))
    return pc.if_else(fits, points, pa.scalar(None, pa.int64()))


def _is_open(column: pa.Array) -> pa.Array:
    if pa.types.is_floating(column.type):
        return pc.fill_null(pc.equal(column, float("inf")), False)
    if pa.types.is_string(column.type) and not is_digits(column):
        words = pc.utf8_lower(pc.utf8_trim(column, characters=" \t"))
        return pc.is_in(words, value_set=pa.array(OPEN_WORDS))
    return pa.repeat(False, len(column))


def _from_text(column: pa.Array, clock: TimeScale) -> pa.Array:
    if is_digits(column):
        try:
            return _scale(column.cast(pa.int64()), clock.time_in, clock)
        except pa.ArrowInvalid:
            pass
    column = pc.utf8_trim(column, characters=" \t")
    plain = pc.match_substring_regex(column, PLAIN)
    nothing = pa.scalar(None, pa.string())
    numbers = pc.if_else(plain, column, nothing).cast(pa.int64())
    points = _scale(numbers, clock.time_in, clock)
    rest = pc.if_else(plain, nothing, column)
    if rest.null_count == len(rest):
        return points
    return pc.coalesce(points, _from_other_text(rest, clock))


def _from_other_text(column: pa.Array, clock: TimeScale) -> pa.Array:
    """Time stamps by Arrow when it can read all of them, each different text by itself if not."""
    if clock.unit is not None:
        step = "ns" if clock.unit == "ns" else "us"
        for type_ in (pa.timestamp(step), pa.timestamp(step, "UTC")):
            try:
                return _from_timestamps(column.cast(type_), clock)
            except pa.ArrowInvalid:
                continue
    encoded = column.dictionary_encode()
    points = [_point_or_none(text, clock) for text in encoded.dictionary.to_pylist()]
    return pa.array(points, pa.int64()).take(encoded.indices)


def _point_or_none(text: str, clock: TimeScale) -> int | None:
    try:
        return clock.point(text)
    except BadRow:
        return None


def _from_timestamps(column: pa.Array, clock: TimeScale) -> pa.Array:
    if clock.unit is None:
        return pa.nulls(len(column), pa.int64())
    if pa.types.is_date(column.type):
        column = column.cast(pa.timestamp("s"))
    return _scale(column.cast(pa.int64()), column.type.unit, clock)


def _from_integers(column: pa.Array, clock: TimeScale) -> pa.Array:
    if pa.types.is_uint64(column.type):
        fits = pc.less_equal(column, pa.scalar(MAX_TIME, pa.uint64()))
        column = pc.if_else(fits, column, pa.scalar(None, pa.uint64()))
    return _scale(column.cast(pa.int64()), clock.time_in, clock)


def _from_floats(column: pa.Array, clock: TimeScale) -> pa.Array:
    column = column.cast(pa.float64())
    # 2**63 itself is a float but no int64.
    whole = pc.and_(pc.less(pc.abs(column), 2.0**63), pc.equal(pc.floor(column), column))
    whole_numbers = pc.if_else(whole, column, pa.scalar(None, pa.float64()))
    return _scale(whole_numbers.cast(pa.int64()), clock.time_in, clock)


def _scale(column: pa.Array, given: Unit | None, clock: TimeScale) -> pa.Array:
    """Times in unit `given` as time-points; null where they leave 64 bits."""
    if given is None or clock.unit is None:
        return column
    times, per = clock.ratio(given)
    if per > 1:
        valid = np.asarray(column.is_valid())
        return pa.array(_numbers(column) // per, pa.int64(), mask=~valid)
    if times == 1:
        return column
    most = MAX_TIME // times
    fits = pc.and_(pc.less_equal(column, most), pc.greater_equal(column, -most))
    return pc.multiply(pc.if_else(fits, column, pa.scalar(None, pa.int64())), times)


def _numbers(column: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.asarray(pc.fill_null(column, 0), dtype=np.int64)


def proper_intervals(start: pa.Array, end: TimeColumn) -> pa.Array:
    """Where the end is open, or a time after the start."""
    later = pc.fill_null(pc.greater(end.points, start), True)
    return pc.and_(end.readable, later)
