"""Many objects of the same shape at once.

A stream repeats itself: objects with the same keys and the same type are read alike. The first one
is read by itself and shows what kind of item they are; if all others have the same sort of value in
the same places, they are read column by column. Otherwise each is read by itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .blocks import Block, one_file
from .letters import BadRow
from .records import OPS, keys_of_parts, read_object_row
from .rows import Item, RowReader
from .termcolumns import TermColumn, from_terms
from .timecolumns import Times, proper_intervals, read_times
from .times import Clock

# Fewer rows are not worth the trouble.
MANY = 16
TIME_TYPES = {int: pa.int64(), str: pa.string()}

Column = Sequence[Any]


class Unlike(Exception):
    """The rows differ in something that matters."""


def shape(given: object) -> object:
    """Equal for objects that may be read alike."""
    if type(given) is not dict:
        return None
    name = given.get("type", given.get("name"))
    return (name, *given) if type(name) is str else tuple(given)


def block_of_alike(
    given: Sequence[Any], lines: Sequence[int], reader: RowReader, type_name: str | None
) -> Block | None:
    """The block of rows of one shape, or None if they must be read one by one."""
    try:
        first = read_object_row(given[0], lines[0], reader, type_name)
        keys = keys_of_parts(given[0])
        parts = {part: [row[key] for row in given] for part, key in keys.items()}
        return _block(first, parts, lines, reader)
    # Arrow says ValueError or OverflowError of numbers and letters it cannot hold.
    except (BadRow, Unlike, ValueError, OverflowError):
        return None


def _block(
    first: Item, parts: Mapping[str, Column], lines: Sequence[int], reader: RowReader
) -> Block:
    empty: Column = [None] * len(lines)
    for part in ("type", "kind"):
        _require(all(given == parts[part][0] for given in parts.get(part, [])))
    time, begin = parts.get("time", empty), parts.get("start", empty)
    # The first row has only one of the two, so all others must do without the same one.
    used, unused = (time, begin) if begin[0] is None else (begin, time)
    _require(_is_empty(unused))
    start = _times(used, reader.clock).points
    arrival = _times(parts.get("arrival", empty), reader.clock, gaps=True).points
    return Block(
        first.key,
        one_file(reader.file, len(lines)),
        pa.array(lines, pa.int64()),
        _ops(parts.get("op", empty)),
        pc.coalesce(arrival, start),
        start,
        _ends(first, parts.get("end", empty), used is begin, start, reader.clock),
        _value(first, parts.get("value", empty)),
        _args(parts.get("args", [()] * len(lines)), len(first.args)),
    )


def _require(condition: bool) -> None:
    if not condition:
        raise Unlike


def _is_empty(column: Column) -> bool:
    return all(given is None for given in column)


def _times(column: Column, clock: Clock, *, gaps: bool = False, ends: bool = False) -> Times:
    """The times of a column of integers, or of texts; with gaps only where they are allowed."""
    types = set(map(type, column)) - ({type(None)} if gaps else set())
    _require(len(types) <= 1 and types <= TIME_TYPES.keys())
    type_ = TIME_TYPES[types.pop()] if types else pa.int64()
    times = read_times(pa.array(column, type_), clock, ends=ends)
    _require(pc.all(times.readable).as_py())
    return times


def _ends(
    first: Item, column: Column, gaps: bool, start: pa.Array, clock: Clock
) -> pa.Array | None:
    """Ends of intervals. Without a start, a row without an end would be a point."""
    if first.form == "points":
        _require(_is_empty(column))
        return None
    times = _times(column, clock, gaps=gaps, ends=True)
    _require(pc.all(proper_intervals(start, times)).as_py())
    return times.points


def _ops(column: Column) -> pa.Array:
    _require(set(map(type, column)) <= {str, type(None)})
    known = {word: 1 if word is None else OPS.get(word.strip().lower()) for word in set(column)}
    _require(None not in known.values())
    return pa.array([known[word] for word in column], pa.int8())


def _value(first: Item, column: Column) -> TermColumn | None:
    if first.kind == "fluent":
        return _terms(column)
    _require(_is_empty(column))
    return None


def _args(column: Column, arity: int) -> tuple[TermColumn, ...]:
    _require(all(type(args) in (list, tuple) and len(args) == arity for args in column))
    return tuple(_terms(terms) for terms in zip(*column, strict=True))


def _terms(column: Column) -> TermColumn:
    types = set(map(type, column))
    _require(types <= {str, int, float, bool})
    if bool in types:
        words = {True: "true", False: "false"}
        column = [words[given] if type(given) is bool else given for given in column]
    if float in types:
        _require(all(type(given) is not float or math.isfinite(given) for given in column))
    return from_terms(column)
