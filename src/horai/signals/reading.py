"""The reader of positions: CSV, JSON lines, Parquet, Arrow, tables, data frames and messages.

Which column is which is found by its name; rows that cannot be used become letters.
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Literal, cast, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from horai.io.items.arrow import table_of
from horai.io.items.csv import DELIMITERS
from horai.io.items.read import explained, format_of, opened, read_ipc, read_parquet
from horai.io.items.tables import one_file
from horai.io.items.text import (
    blank_lines,
    chunks,
    decode,
    odd_lines,
    scan_fields,
    split,
    split_fields,
)
from horai.io.letters import BadRow, DeadLetter, InputError
from horai.io.schema import Format
from horai.io.terms import BLANKS, TermColumn, distinct, from_arrow, from_text, to_source
from horai.io.times import TimeScale, read_times
from horai.signals.positions import (
    KNOT,
    POSITIONS,
    VALUES,
    Flags,
    Floats,
    Ints,
    Positions,
    joined,
    letters_of,
)

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
    faults.add(there, code, lambda row: f"{part} cannot be {_cell_shown(column[row])}")
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
    faults.add(
        strange, "bad-number", lambda row: f"{part} is no number: {_cell_shown(column[row])}"
    )
    return np.where(np.isinf(found), np.nan, found)


def _has_numbers(type_: pa.DataType) -> bool:
    kinds = pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null
    return any(is_it(type_) for is_it in kinds)


def _cell_shown(cell: pa.Scalar) -> str:
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


Line = tuple[int, bytes]
Row = tuple[int, bytes, dict[str, Any]]
KINDS: dict[type, str] = {type(None): "nothing", int: "whole", float: "decimal", str: "text"}
# What a value is not that is true, a list or an object.
UNFIT = {"entity": ("bad-term", "no name"), "time": ("bad-time", "not a time")}


def json_file(stream: BinaryIO, layout: Layout, file: str) -> Iterator[Positions]:
    """The positions of a file, some megabytes at a time; empty lines are none."""
    for chunk in chunks(stream, file):
        lines = enumerate(map(bytes.strip, chunk.data.split(b"\n")), chunk.first_line)
        yield json_positions(((line, raw) for line, raw in lines if raw), layout, file)


def json_positions(lines: Iterable[Line], layout: Layout, file: str) -> Positions:
    """The positions that numbered lines tell; a line that tells none is a letter."""
    groups: dict[tuple[tuple[str, str], ...], list[Row]] = {}
    letters: list[DeadLetter] = []
    for line, raw in lines:
        try:
            given = _object(raw)
            groups.setdefault(_shape(given), []).append((line, raw, given))
        except BadRow as bad:
            letters.append(DeadLetter(file, line, _shown(raw), bad.reason, bad.code))
    parts = [part for rows in groups.values() for part in _alike(rows, layout, file)]
    return joined([*parts, Positions(joined([]).table, letters_of(letters))])


def _object(raw: bytes) -> dict[str, Any]:
    if not raw.strip():
        raise BadRow("null", "the message has no value")
    try:
        given = json.loads(decode(raw))
    except (ValueError, RecursionError) as error:
        raise BadRow("json", f"not JSON: {error}") from None
    if not isinstance(given, dict):
        raise BadRow("json", "not a JSON object")
    return given


def _shape(given: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Rows of the same shape have columns of the same types: in one with decimals, 5 is 5.0."""
    return tuple((key, KINDS.get(type(value), "other")) for key, value in given.items())


def _alike(rows: Sequence[Row], layout: Layout, file: str) -> Iterator[Positions]:
    """Rows of one shape, as columns."""
    shape = _shape(rows[0][2])
    try:
        places = layout.places([name for name, _ in shape], file)
    except InputError as error:
        yield _refused(rows, file, "missing-column", error.reason)
        return
    for part, place in places.items():
        name, kind = shape[place]
        if kind == "other":
            code, what = UNFIT.get(part, ("bad-number", "no number"))
            for row in rows:
                reason = f"{part} is {what}: {json.dumps(row[2][name])[:60]}"
                yield _refused([row], file, code, reason)
            return
    numbers = np.array([line for line, _, _ in rows], np.int64)
    names = {part: shape[place][0] for part, place in places.items()}
    try:
        cells = {
            part: plain(pa.array([given[name] for _, _, given in rows]))
            for part, name in names.items()
        }
    except (pa.ArrowInvalid, OverflowError, UnicodeEncodeError) as error:
        if len(rows) > 1:
            for row in rows:
                yield from _alike([row], layout, file)
        elif isinstance(error, UnicodeEncodeError):
            yield _refused(rows, file, "encoding", "half a surrogate pair is no character")
        else:
            yield _refused(rows, file, "bad-number", "a number is beyond 64 bits")
        return
    yield typed(cells, numbers, layout, file, text_of=lambda row: _shown(rows[row][1]))


def _refused(rows: Sequence[Row], file: str, code: str, reason: str) -> Positions:
    letters = [DeadLetter(file, line, _shown(raw), reason, code) for line, raw, _ in rows]
    return Positions(joined([]).table, letters_of(letters))


def _shown(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


PathLike = str | os.PathLike[str]
# Text from files is marked by this type: there a number is a number without further signs.
TEXT = pa.large_string()


def read_positions(
    paths: PathLike | Iterable[PathLike],
    layout: Layout | None = None,
    format: Format | None = None,
) -> Positions:
    """Read one or many files of positions; `-` is standard input, CSV unless a format is given.

    Without a format the name of a file tells it.

    Rows that cannot be used become letters. A file that cannot be read raises InputError.
    """
    one = isinstance(paths, str | os.PathLike)
    files = [os.fspath(p) for p in ([cast(PathLike, paths)] if one else cast(Any, paths))]
    return joined([part for file in files for part in _file(file, layout or Layout(), format)])


def positions_of(source: object, layout: Layout | None = None, name: str = "<memory>") -> Positions:
    """Positions of an Arrow table or a data frame; its rows are counted from 1."""
    table = table_of(source, name)
    if table is None:
        hint = "give an Arrow table or a data frame"
        raise InputError(name, f"{type(source).__name__} cannot be read", hint=hint)
    return from_table(table, layout or Layout(), name)


def from_table(table: pa.Table, layout: Layout, file: str, before: int = 0) -> Positions:
    """Positions of a table that comes after so many rows."""
    lines = np.arange(before + 1, before + 1 + table.num_rows)

    def text_of(row: int) -> str:
        values = [table.column(i)[row].as_py() for i in range(table.num_columns)]
        return ",".join("" if value is None else str(value) for value in values)

    cells = [column.combine_chunks() for column in table.columns]
    return from_columns(cells, table.column_names, lines, layout, file, text_of)


def _file(file: str, layout: Layout, format: Format | None) -> Iterator[Positions]:
    label = "<stdin>" if file == "-" else file
    kind = format or ("csv" if file == "-" else format_of(file))
    with explained(label), opened(file) as stream:
        if kind in ("parquet", "arrow"):
            load = read_parquet if kind == "parquet" else read_ipc
            yield from_table(load(pa.BufferReader(stream.read())), layout, label)
        elif kind == "jsonl":
            yield from json_file(cast(BinaryIO, stream), layout, label)
        else:
            yield from _csv(cast(BinaryIO, stream), layout, label)


def _csv(stream: BinaryIO, layout: Layout, file: str) -> Iterator[Positions]:
    """Positions of a CSV file, some megabytes at a time."""
    header: tuple[str, list[str], dict[str, int]] | None = None
    for chunk in chunks(stream, file):
        skip = 0
        if header is None:
            data = chunk.data.lstrip(b" \t\r\n")
            if not data:
                continue
            skip = chunk.data[: len(chunk.data) - len(data)].count(b"\n") + 1
            header = _header(data.split(b"\n", 1)[0].rstrip(b"\r"), layout, file)
        delimiter, names, places = header
        fields = split(chunk.data, delimiter)
        wanted = ~blank_lines(fields)
        wanted[:skip] = False
        plain = wanted & (fields.count == len(names)) & ~odd_lines(fields)
        rows = np.flatnonzero(plain)
        cells = {part: _cells(fields.column(rows, place)) for part, place in places.items()}

        def text_of(row: int, fields=fields, rows=rows) -> str:  # type: ignore[no-untyped-def]
            return str(fields.line(rows[row]).decode("utf-8", "replace"))

        yield typed(cells, chunk.first_line + rows, layout, file, text_of)
        odd = np.flatnonzero(wanted & ~plain)
        if len(odd):
            raw = [fields.line(row) for row in odd.tolist()]
            yield _odd(raw, chunk.first_line + odd, header, layout, file)
    if header is None:
        raise InputError(file, "the file is empty", hint="begin with a line that names columns")


def _header(line: bytes, layout: Layout, file: str) -> tuple[str, list[str], dict[str, int]]:
    try:
        text = decode(line)
        delimiter = max(DELIMITERS, key=text.count)
        names = split_fields(text, delimiter)
    except BadRow as bad:
        raise InputError(file, f"the header cannot be read: {bad.reason}", line=1) from bad
    return delimiter, names, layout.places(names, file)


def _cells(column: pa.Array) -> pa.Array:
    trimmed = pc.utf8_trim(column, characters=BLANKS)
    return pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, pa.string()), trimmed).cast(TEXT)


def _odd(
    raw: list[bytes],
    lines: np.ndarray[tuple[int], np.dtype[np.int64]],
    header: tuple[str, list[str], dict[str, int]],
    layout: Layout,
    file: str,
) -> Positions:
    """Lines with quotes, or with too few or too many fields, one by one."""
    delimiter, names, places = header
    good: list[list[str | None]] = []
    kept: list[int] = []
    letters: list[DeadLetter] = []
    for number, line in enumerate(raw):
        try:
            text = decode(line)
            if not text.strip(BLANKS):
                continue
            fields = [field for field, _ in scan_fields(text, delimiter)]
            if len(fields) != len(names):
                reason = f"{len(fields)} fields given, the header has {len(names)}"
                raise BadRow("field-count", reason)
            good.append([field or None for field in fields])
            kept.append(number)
        except BadRow as bad:
            shown = line.decode("utf-8", "replace")
            letters.append(DeadLetter(file, int(lines[number]), shown, bad.reason, bad.code))
    cells = {part: pa.array([row[i] for row in good], TEXT) for part, i in places.items()}
    found = typed(cells, lines[kept], layout, file, lambda row: raw[kept[row]].decode())
    return Positions(found.table, pa.concat_tables([found.letters, letters_of(letters)]))


def no_positions() -> Positions:
    """None at all."""
    return Positions(POSITIONS.empty_table(), letters_of([]))
