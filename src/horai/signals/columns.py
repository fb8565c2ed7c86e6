"""Which column is which, and cells as typed columns; rows that cannot be used become letters."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from horai.io.items.blocks import one_file
from horai.io.letters import BadRow, DeadLetter, InputError
from horai.io.terms import BLANKS, TermColumn, distinct, from_arrow, from_text, to_source
from horai.io.times import TimeScale, read_times
from horai.signals.positions import POSITIONS, VALUES, Flags, Floats, Ints, Positions, letters_of
from horai.signals.sphere import KNOT

SpeedUnit = Literal["kn", "m/s", "km/h", "mph"]
SPEED_UNITS: tuple[SpeedUnit, ...] = get_args(SpeedUnit)
KNOTS: dict[SpeedUnit, float] = {
    "kn": 1.0,
    "m/s": 1 / KNOT,
    "km/h": 1 / 1.852,
    "mph": 1.609344 / 1.852,
}

# For each column the names it may have, the best first; letters only, in lower case.
ALIASES: dict[str, tuple[str, ...]] = {
    "entity": ("entity", "vessel", "mmsi", "sourcemmsi", "vehicle", "object", "ship", "id"),
    "time": ("time", "timestamp", "t", "basedatetime", "datetime", "ts"),
    "lon": ("lon", "longitude", "lng", "long", "x"),
    "lat": ("lat", "latitude", "y"),
    "speed": ("speed", "sog", "speedoverground"),
    "course": ("course", "cog", "courseoverground"),
    "heading": ("heading", "trueheading"),
}
NEEDED = ("entity", "time", "lon", "lat")
NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$"
# What the Automatic Identification System sends for "not available".
NO_SPEED, NO_COURSE, NO_HEADING = 102.3, 360.0, 511.0


@dataclass(frozen=True)
class Layout:
    """How positions are written: units, and columns whose names do not tell what they are."""

    clock: TimeScale = field(default_factory=lambda: TimeScale("s"))
    speed_in: SpeedUnit = "kn"
    columns: Mapping[str, str] = field(default_factory=dict)

    def places(self, names: Sequence[str], file: str) -> dict[str, int]:
        """Where each column stands."""
        plain = ["".join(filter(str.isalnum, name.lower())) for name in names]
        found: dict[str, int] = {}
        for part, aliases in ALIASES.items():
            if part in self.columns:
                found[part] = _place(self.columns[part], names, part, file)
                continue
            there = next((alias for alias in aliases if alias in plain), None)
            if there is not None:
                found[part] = plain.index(there)
        missing = [part for part in NEEDED if part not in found]
        if missing:
            said = ", ".join(names) or "none"
            usual = "; ".join(", ".join(ALIASES[part][:4]) for part in missing)
            hint = f"say which it is: --column {missing[0]}=NAME, or columns= of a Layout; "
            hint += f"usual names are {usual}"
            reason = f"no column tells {' or '.join(missing)}; there are {said}"
            raise InputError(file, reason, hint=hint)
        return found


def _place(wanted: str, names: Sequence[str], part: str, file: str) -> int:
    if wanted in names:
        return list(names).index(wanted)
    close = difflib.get_close_matches(wanted, names, n=1)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(names)}"
    raise InputError(file, f"there is no column {wanted!r} for {part}", hint=hint)


class Faults(dict[int, tuple[str, str]]):
    """Rows that cannot be used: code and reason of the first thing that is wrong with each."""

    def add(self, rows: Flags, code: str, reason: Callable[[int], str]) -> None:
        """Some rows are wrong, for a reason that may differ from row to row."""
        for row in np.flatnonzero(rows).tolist():
            self.setdefault(row, (code, reason(row)))


def from_columns(
    columns: Sequence[pa.Array],
    names: Sequence[str],
    lines: Ints,
    layout: Layout,
    file: str,
    text_of: Callable[[int], str],
) -> Positions:
    """Positions of columns with names, whatever types they have."""
    places = layout.places(names, file)
    cells = {part: plain(columns[place]) for part, place in places.items()}
    return typed(cells, lines, layout, file, text_of)


def plain(array: pa.Array) -> pa.Array:
    """A column without wrappings; as in text files, an empty text is nothing."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_large_string(array.type) or pa.types.is_string_view(array.type):
        array = array.cast(pa.string())
    if pa.types.is_string(array.type):
        blank = pc.equal(pc.utf8_trim(array, characters=BLANKS), "")
        array = pc.if_else(blank, pa.scalar(None, pa.string()), array)
    return array


def typed(
    cells: Mapping[str, pa.Array],
    lines: Ints,
    layout: Layout,
    file: str,
    text_of: Callable[[int], str],
) -> Positions:
    """Cells by column as positions. `text_of` gives a row as it was written."""
    many = len(lines)
    faults = Faults()
    for part in NEEDED:
        _check_there(part, cells[part], faults)
    kinds = {"entity": "bad-term", "time": "bad-time"}
    cells = {**cells, **{part: _tame(part, cells[part], kinds[part], faults) for part in kinds}}
    times = read_times(cells["time"], layout.clock)
    for row in np.flatnonzero(~_flags(times.readable)).tolist():
        faults.setdefault(row, _why_no_time(cells["time"][row].as_py(), layout.clock))
    found = {part: _numbers(part, cells.get(part), many, faults) for part in VALUES}
    _check_degrees("lon", found["lon"], 180.0, faults)
    _check_degrees("lat", found["lat"], 90.0, faults)
    found["speed"] = _knots(found["speed"], layout.speed_in, faults)
    found["course"] = _direction("course", found["course"], NO_COURSE, faults)
    heading = np.where(found["heading"] == 360.0, 0.0, found["heading"])
    found["heading"] = _direction("heading", heading, NO_HEADING, faults)
    good = np.ones(many, np.bool_)
    good[list(faults)] = False
    kept = pa.array(good)
    table = pa.table(
        [
            _sources(cells["entity"].filter(kept)),
            times.points.filter(kept),
            *(pa.array(found[part][good]) for part in VALUES),
            one_file(file, int(good.sum())),
            pa.array(lines[good]),
        ],
        schema=POSITIONS,
    )
    letters = [
        DeadLetter(file, int(lines[row]), text_of(row), reason, code)
        for row, (code, reason) in sorted(faults.items())
    ]
    return Positions(table, letters_of(letters))


def _check_there(part: str, column: pa.Array, faults: Faults) -> None:
    faults.add(_flags(_is_empty(column)), "null", lambda _: f"{part} is empty")


def _tame(part: str, column: pa.Array, code: str, faults: Faults) -> pa.Array:
    """Lists and the like are no names and no times: nothing is left of them but faults."""
    if not (pa.types.is_nested(column.type) or pa.types.is_fixed_size_binary(column.type)):
        return column
    there = _flags(column.is_valid())
    faults.add(there, code, lambda row: f"{part} cannot be {_shown(column[row])}")
    return pa.nulls(len(column), pa.string())


def _check_degrees(part: str, column: Floats, most: float, faults: Faults) -> None:
    beyond = np.abs(column) > most
    faults.add(beyond, "coordinates", lambda row: f"{part} {column[row]:g} is beyond {most:g}")


def _knots(speed: Floats, unit: SpeedUnit, faults: Faults) -> Floats:
    if unit == "kn":
        speed = np.where(np.isclose(speed, NO_SPEED), np.nan, speed)
    faults.add(speed < 0, "motion", lambda row: f"speed {speed[row]:g} is below zero")
    knots: Floats = speed * KNOTS[unit]
    return knots


def _direction(part: str, degrees: Floats, nobody_knows: float, faults: Faults) -> Floats:
    degrees = np.where(degrees == nobody_knows, np.nan, degrees)
    strange = (degrees < 0) | (degrees >= 360)
    faults.add(strange, "motion", lambda r: f"{part} {degrees[r]:g} is not between 0 and 360")
    return degrees


def _flags(column: pa.Array) -> Flags:
    return np.asarray(column, dtype=np.bool_)


def _is_empty(column: pa.Array) -> pa.Array:
    if pa.types.is_floating(column.type):
        return pc.is_null(column, nan_is_null=True)
    return column.is_null()


def _numbers(part: str, column: pa.Array | None, many: int, faults: Faults) -> Floats:
    """Numbers, NaN where a cell is empty."""
    if column is None:
        return np.full(many, np.nan)
    is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    strange = np.zeros(many, np.bool_)
    cells = column
    if not is_text and not _has_numbers(column.type):
        strange |= _flags(column.is_valid())
        cells = pa.nulls(many, pa.float64())
    try:
        cells = cells.cast(pa.float64())
    except pa.ArrowInvalid:
        reads = pc.fill_null(pc.match_substring_regex(cells, NUMBER), False)
        strange |= ~_flags(reads) & _flags(cells.is_valid())
        cells = pc.if_else(reads, cells, pa.scalar(None, cells.type)).cast(pa.float64())
    found: Floats = np.array(cells.to_numpy(zero_copy_only=False), dtype=np.float64)
    if is_text:  # elsewhere not-a-number means that there is none
        strange |= np.isnan(found) & _flags(cells.is_valid())
    strange |= np.isinf(found)
    faults.add(strange, "bad-number", lambda row: f"{part} is no number: {_shown(column[row])}")
    return np.where(np.isinf(found), np.nan, found)


def _has_numbers(type_: pa.DataType) -> bool:
    kinds = pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null
    return any(is_it(type_) for is_it in kinds)


def _shown(cell: pa.Scalar) -> str:
    return repr(cell.as_py())[:60]


def _why_no_time(cell: object, clock: TimeScale) -> tuple[str, str]:
    try:
        clock.point(cell)
    except BadRow as bad:
        return bad.code, f"time: {bad.reason}"
    return "bad-time", f"time: {cell!r} is not a time"


def _sources(column: pa.Array) -> pa.Array:
    """The entities of rows, as source text: in text files numbers are numbers, elsewhere text."""
    marked = pa.types.is_large_string(column.type)
    terms: TermColumn = from_text(column.cast(pa.string())) if marked else from_arrow(column)
    codes, names = distinct(terms)
    sources = pa.array([to_source(name) for name in names], pa.string())
    return pa.DictionaryArray.from_arrays(codes.cast(pa.int32()), sources)
