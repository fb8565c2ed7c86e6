"""Columns of times: text, numbers or time stamps to int64 time-points, without a loop over rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .letters import BadRow
from .termcolumns import is_digits
from .times import MAX_TIME, MIN_TIME, OPEN_WORDS, Clock, Unit

# 18 digits always fit into 64 bits; the rare longer ones are looked at one by one.
PLAIN = r"^-?[0-9]{1,18}$"


class Times(NamedTuple):
    """Time-points (null where there is none) and whether each row was readable.

    A row is readable when it holds a time, is empty, or (for ends) says the interval is open.
    """

    points: pa.Array
    readable: pa.Array


def read_times(column: pa.Array, clock: Clock, *, ends: bool = False) -> Times:
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
    return Times(points, pc.or_(readable, _is_open(column)) if ends else readable)


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


def _from_text(column: pa.Array, clock: Clock) -> pa.Array:
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


def _from_other_text(column: pa.Array, clock: Clock) -> pa.Array:
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


def _point_or_none(text: str, clock: Clock) -> int | None:
    try:
        return clock.point(text)
    except BadRow:
        return None


def _from_timestamps(column: pa.Array, clock: Clock) -> pa.Array:
    if clock.unit is None:
        return pa.nulls(len(column), pa.int64())
    if pa.types.is_date(column.type):
        column = column.cast(pa.timestamp("s"))
    return _scale(column.cast(pa.int64()), column.type.unit, clock)


def _from_integers(column: pa.Array, clock: Clock) -> pa.Array:
    if pa.types.is_uint64(column.type):
        fits = pc.less_equal(column, pa.scalar(MAX_TIME, pa.uint64()))
        column = pc.if_else(fits, column, pa.scalar(None, pa.uint64()))
    return _scale(column.cast(pa.int64()), clock.time_in, clock)


def _from_floats(column: pa.Array, clock: Clock) -> pa.Array:
    column = column.cast(pa.float64())
    # 2**63 itself is a float but no int64.
    whole = pc.and_(pc.less(pc.abs(column), 2.0**63), pc.equal(pc.floor(column), column))
    whole_numbers = pc.if_else(whole, column, pa.scalar(None, pa.float64()))
    return _scale(whole_numbers.cast(pa.int64()), clock.time_in, clock)


def _scale(column: pa.Array, given: Unit | None, clock: Clock) -> pa.Array:
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


def proper_intervals(start: pa.Array, end: Times) -> pa.Array:
    """Where the end is open, or a time after the start."""
    later = pc.fill_null(pc.greater(end.points, start), True)
    return pc.and_(end.readable, later)
