"""The way out: answers as JSON lines, CSV, Parquet, Arrow tables or text for people.

Lines of text come from columns: each different value is spelled once, and Arrow joins the rest. In
Parquet and Arrow, arguments and values are Prolog source text.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import IO, Any, Literal, Protocol, TypeAlias, cast, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from horai.io.answers.rows import MORE, POINT_COLUMNS, AnswerBlock, AnswerKind, AnswerTable, Row
from horai.io.items.tables import Numbers
from horai.io.letters import InputError
from horai.io.shown import csv_line, json_text, printable
from horai.io.terms import META, Term, TermColumn, distinct, text_bytes, text_cell, to_source
from horai.io.times import Unit, format_time

Piece: TypeAlias = str | pa.Array
CHUNK = 1 << 16  # rows that are made into text at once: what fits into the caches


def spelled(column: TermColumn, spell: Callable[[Term], str]) -> pa.Array:
    """A column of terms as texts; integers stay, as they look the same everywhere."""
    if column.kind == "int":
        return column.array
    indices, terms = distinct(column)
    texts = pa.array([spell(term) for term in terms], pa.string())
    return pa.DictionaryArray.from_arrays(indices, texts)


def filled(column: pa.Array, nothing: str) -> pa.Array:
    """A column of integers with a text where there is none."""
    return column if not column.null_count else texts_of(column).fill_null(nothing)


def texts_of(column: pa.Array) -> pa.Array:
    """A piece as plain texts."""
    return column if column.type == pa.string() else column.cast(pa.string())


def iso_texts(points: pa.Array, unit: Unit) -> pa.DictionaryArray:
    """Time-points in ISO 8601; null stays null."""
    encoded = points.dictionary_encode()
    texts = [format_time(point, unit) for point in encoded.dictionary.to_pylist()]
    return pa.DictionaryArray.from_arrays(encoded.indices, pa.array(texts, pa.string()))


def optional(column: pa.Array | None, before: str, after: str) -> list[Piece]:
    """Text around each value of a column, and nothing where there is no value."""
    if column is None:
        return []
    around = pc.binary_join_element_wise(before, texts_of(column), after, "")
    return [around.fill_null("")]


def joined(pieces: Sequence[Piece], rows: int) -> pa.Array:
    """The texts of so many rows."""
    if not any(isinstance(piece, pa.Array) for piece in pieces):
        return pa.array(["".join(map(str, pieces))] * rows, pa.string())
    columns = [piece if isinstance(piece, str) else texts_of(piece) for piece in pieces]
    return pc.binary_join_element_wise(*columns, "")


def folded(pieces: Sequence[Piece]) -> list[Piece]:
    """The same line with fewer pieces: shared text goes into the dictionary that follows it."""
    found: list[Piece] = []
    before = ""
    for piece in pieces:
        if isinstance(piece, str):
            before += piece
            continue
        if before and pa.types.is_dictionary(piece.type):
            texts = pc.binary_join_element_wise(before, piece.dictionary, "")
            piece = pa.DictionaryArray.from_arrays(piece.indices, texts)
        elif before:
            found.append(before)
        found.append(piece)
        before = ""
    return [*found, before] if before else found


def chunks_of_lines(
    table: AnswerTable, lines: Sequence[Sequence[Piece]]
) -> Iterator[pa.StringArray]:
    """The lines of a table, many at a time and in order; `lines` has the pieces of each block."""
    lines = [folded(pieces) for pieces in lines]
    lengths = [len(block) for block in table.blocks]
    if table.order is not None:
        yield from _ordered(table.order, np.cumsum([0, *lengths]), lines)
        return
    for pieces, length in zip(lines, lengths, strict=True):
        for begin in range(0, length, CHUNK):
            rows = min(CHUNK, length - begin)
            part = [p if isinstance(p, str) else p.slice(begin, rows) for p in pieces]
            yield joined(part, rows)


def _ordered(
    order: Numbers, bounds: Numbers, lines: Sequence[Sequence[Piece]]
) -> Iterator[pa.StringArray]:
    for begin in range(0, len(order), CHUNK):
        rows = order[begin : begin + CHUNK]
        block = np.searchsorted(bounds, rows, side="right") - 1
        texts = []
        for number in np.flatnonzero(np.bincount(block)).tolist():
            places = pa.array(rows[block == number] - bounds[number])
            pieces = [p if isinstance(p, str) else p.take(places) for p in lines[number]]
            texts.append(joined(pieces, len(places)))
        if len(texts) == 1:
            yield texts[0]
        else:
            back = np.argsort(np.argsort(block, kind="stable"))
            yield pa.concat_arrays(texts).take(pa.array(back))


def utf8(lines: pa.StringArray) -> bytes:
    """The bytes of all lines, one after the other."""
    return text_bytes(lines).tobytes()


Lines = Iterator[pa.StringArray]
TIMES = ("start", "end", "time")


QUERY_TIMES = ("query", "arrived")


def columns_of(table: AnswerTable, iso: Unit | None) -> list[str]:
    """The columns of a table of answers; `query` and the like only where some row has them."""
    if table.blocks and all(block.is_of_points for block in table.blocks):
        return point_columns(iso)
    extra = [f"{key}_iso" for key in TIMES] if iso is not None else []
    more = [name for name in MORE if any(getattr(b, name) is not None for b in table.blocks)]
    return ["kind", "name", "args", "value", *TIMES, *extra, *_with_iso(more, iso)]


def point_columns(iso: Unit | None) -> list[str]:
    """The columns of what holds at query times."""
    return list(_with_iso(POINT_COLUMNS, iso))


def _with_iso(names: Iterable[str], iso: Unit | None) -> Iterator[str]:
    """The names, with that of the same time in ISO 8601 behind each query time."""
    for name in names:
        yield name
        if iso is not None and name in QUERY_TIMES:
            yield f"{name}_iso"


def iso_columns(block: AnswerBlock, iso: Unit | None) -> dict[str, pa.Array]:
    """All times of a block in ISO 8601, as `start_iso` and the like; nothing without a unit."""
    if iso is None:
        return {}
    found = times_of(block)
    found |= {name: c for name in QUERY_TIMES if (c := getattr(block, name)) is not None}
    return {f"{name}_iso": iso_texts(points, iso) for name, points in found.items()}


def times_of(block: AnswerBlock) -> dict[str, pa.Array]:
    """The times that rows of a block have, by the names they have in every format."""
    if block.is_of_points:
        return {}
    if block.end is None:
        return {"time": block.start}
    return {"start": block.start, "end": block.end}


def json_lines(table: AnswerTable, iso: Unit | None) -> Lines:
    """One JSON object per line: only the keys that apply to a row, in a fixed order."""
    return chunks_of_lines(table, [_json_pieces(block, iso) for block in table.blocks])


def _json_pieces(block: AnswerBlock, iso: Unit | None) -> list[Piece]:
    if block.is_of_points:
        return _json_of_points(block, iso)
    pieces: list[Piece] = [f'{{"kind":"{block.kind}"', *_json_entity(block)]
    if block.kind == "fluent":
        value = "null" if block.value is None else spelled(block.value, json_text)
        pieces += [',"value":', value]
    for name, points in times_of(block).items():
        pieces += [f',"{name}":', filled(points, "null")]
    if iso is not None:
        for name, points in times_of(block).items():
            quoted = pc.binary_join_element_wise('"', texts_of(iso_texts(points, iso)), '"', "")
            pieces += [f',"{name}_iso":', quoted.fill_null("null")]
    return [*pieces, *_json_more(block, MORE, iso), "}\n"]


def _json_of_points(block: AnswerBlock, iso: Unit | None) -> list[Piece]:
    """What holds at a query time: the query time comes first."""
    pieces: list[Piece] = [f'{{"kind":"{block.kind}"', *_json_more(block, ("query", "model"), iso)]
    pieces += _json_entity(block) if block.name else []
    return [*pieces, *_json_more(block, ("op", "arrived", "signals"), iso), "}\n"]


def _json_entity(block: AnswerBlock) -> list[Piece]:
    args = _between([spelled(column, json_text) for column in block.args], ",")
    return [f',"name":{json_text(block.name)},"args":[', *args, "]"]


def _json_more(block: AnswerBlock, names: Sequence[str], iso: Unit | None) -> list[Piece]:
    pieces: list[Piece] = []
    texts = iso_columns(block, iso)
    for name in names:
        quote = '"' if name == "op" else ""
        pieces += optional(getattr(block, name), f',"{name}":{quote}', quote)
        pieces += optional(texts.get(f"{name}_iso"), f',"{name}_iso":"', '"')
    return pieces


def _between(columns: list[pa.Array], sign: str) -> list[Piece]:
    pieces: list[Piece] = []
    for column in columns:
        pieces += [sign, column] if pieces else [column]
    return pieces


def csv_lines(table: AnswerTable, iso: Unit | None) -> Lines:
    """A table with a line of names; an open end is `inf`."""
    columns = columns_of(table, iso)
    yield pa.array([",".join(columns) + "\n"], pa.string())
    yield from chunks_of_lines(table, [_csv_pieces(block, columns, iso) for block in table.blocks])


def _csv_pieces(block: AnswerBlock, columns: list[str], iso: Unit | None) -> list[Piece]:
    cells: dict[str, list[Piece]] = {
        "kind": [block.kind],
        "name": [_csv_cell(block.name)],
        "args": _csv_args(block),
        "value": [] if block.value is None else [spelled(block.value, _csv_cell)],
        **{name: optional(getattr(block, name), "", "") for name in MORE},
    }
    for name, points in times_of(block).items():
        cells[name] = [filled(points, "inf" if name == "end" else "")]
    for name, texts in iso_columns(block, iso).items():
        cells[name] = optional(texts, "", "")
    pieces: list[Piece] = []
    for column in columns:
        pieces += [",", *cells.get(column, [])]
    return [*pieces[1:], "\n"]


def _csv_args(block: AnswerBlock) -> list[Piece]:
    """A JSON list. With a comma in it the cell is in quotes; alone, that depends on the value."""
    if not block.args:
        return ["[]"]
    if len(block.args) == 1:
        if block.args[0].kind == "int":
            return ["[", block.args[0].array, "]"]
        return [spelled(block.args[0], lambda term: _csv_cell(json_text([term])))]
    columns = [spelled(column, _csv_inner) for column in block.args]
    return ['"[', *_between(columns, ","), ']"']


def _csv_inner(term: Term) -> str:
    return json_text(term).replace('"', '""')


def _csv_cell(value: object) -> str:
    """A value as Python's csv module writes it, in quotes where needed, and never a formula."""
    value = text_cell(value) if isinstance(value, str) else value
    # An empty cell beside it, because the only cell of a line is quoted when it is empty.
    return csv_line([value, ""])[:-1]


def _shown(term: Term) -> str:
    """A term for people, whose terminal it does not steer."""
    return printable(to_source(term))


def text_lines(table: AnswerTable, iso: Unit | None) -> Lines:
    """Aligned columns: query time and change if there are any, what, and when."""
    cells = [_text_cells(block, iso) for block in table.blocks]
    widths = [max(map(_width, column)) for column in zip(*(c[:-1] for c in cells), strict=True)]
    lines = []
    for *padded, when in cells:
        pieces: list[Piece] = []
        for cell, width in zip(padded, widths, strict=True):
            if width:
                pieces += [pc.utf8_rpad(cell, width), "  "]
        lines.append([*pieces, *when, "\n"])
    return chunks_of_lines(table, lines)


def _width(cells: pa.Array) -> int:
    return pc.max(pc.utf8_length(cells)).as_py() or 0


def _text_cells(
    block: AnswerBlock, iso: Unit | None
) -> tuple[pa.Array, pa.Array, pa.Array, list[Piece]]:
    def shown(points: pa.Array) -> pa.Array:
        texts = points if iso is None else texts_of(iso_texts(points, iso))
        return filled(texts, "inf")

    rows = len(block)
    what: list[Piece] = [_shown(block.name)]
    if block.args:
        columns = [spelled(column, _shown) for column in block.args]
        what += ["(", *_between(columns, ","), ")"]
    if block.value is not None:
        what += ["=", spelled(block.value, _shown)]
    if block.is_of_points:
        when: list[Piece] = []
    elif block.end is None:
        when = ["at ", shown(block.start)]
    else:
        when = ["(", shown(block.start), ",", shown(block.end), ")"]
    query = optional(iso_columns(block, iso).get("query_iso", block.query), "", ":")
    op = optional(block.op, "", "")
    return joined(query, rows), joined(op, rows), joined(what, rows), when


# --- what holds at query times, many atoms at once ------------------------------------------------


_LAST = ("op", "arrived", "signals")


class PointRow(Protocol):
    """What lines have in common that differ in their atoms only, as `AnswerRow` says it."""

    @property
    def kind(self) -> AnswerKind: ...
    @property
    def query(self) -> int | None: ...
    @property
    def model(self) -> int | None: ...
    @property
    def op(self) -> str | None: ...
    @property
    def arrived(self) -> int | None: ...
    @property
    def signals(self) -> int | None: ...


class PointLines:
    """Lines of what holds at query times; CSV without its line of names.

    What one line after the other has in common, the query time first of all, is written once; the
    text of an atom can be kept from line to line.
    """

    def __init__(self, form: str, iso: Unit | None = None) -> None:
        self.form, self.iso = form, iso

    def atom(self, name: str, args: Sequence[Term]) -> str:
        """What a line says about an atom."""
        match self.form:
            case "text":
                shown = ",".join(map(str, args))
                return printable(f"{name}({shown})" if args else name).replace("\n", "\\n")
            case "jsonl":
                return f'"name":{json_text(name)},"args":{json_text(list(args))}'
            case _:
                return csv_line([text_cell(name), json_text(list(args))])

    def lines(self, row: PointRow, atoms: Sequence[str]) -> str:
        """A line for each atom, or for the `row` itself if it is about none."""
        if self.form == "text":
            return f"{self._place(row)}: {_words(row, atoms)}\n"
        before, after = (self._json if self.form == "jsonl" else self._csv)(row, bool(atoms))
        return before + f"{after}\n{before}".join(atoms or [""]) + f"{after}\n"

    def _json(self, row: PointRow, with_atoms: bool) -> tuple[str, str]:
        """What stands before and after an atom."""
        before = f'"kind":"{row.kind}"{self._fields(row, ("query", "model"))}'
        return f"{{{before}{',' if with_atoms else ''}", f"{self._fields(row, _LAST)}}}"

    def _fields(self, row: PointRow, names: Sequence[str]) -> str:
        """Numbers, times and signs, which need no care."""
        found = ""
        for name in names:
            point = getattr(row, name)
            if point is None:
                continue
            found += f',"{name}":"{point}"' if name == "op" else f',"{name}":{point}'
            if self.iso is not None and name in QUERY_TIMES:
                found += f',"{name}_iso":"{format_time(point, self.iso)}"'
        return found

    def _csv(self, row: PointRow, with_atoms: bool) -> tuple[str, str]:
        before = [row.kind, *self._cells(row, ("query", "model")).values()]
        after = self._cells(row, _LAST).values()
        nothing = "" if with_atoms else csv_line(["", "[]"])
        return f"{csv_line(before)},{nothing}", f",{csv_line(after)}"

    def _cells(self, row: PointRow, names: Sequence[str]) -> dict[str, int | str | None]:
        """Some of a row, each query time with the same in ISO 8601 behind it."""
        found: dict[str, int | str | None] = {}
        for name in names:
            point = found[name] = getattr(row, name)
            if self.iso is not None and name in QUERY_TIMES:
                found[f"{name}_iso"] = None if point is None else format_time(point, self.iso)
        return found

    def _place(self, row: PointRow) -> str:
        """What a line is about: `5, 3 model 1 +` is a change at 5 of the answer at 3."""

        def time(point: int) -> str:
            return str(point) if self.iso is None else format_time(point, self.iso)

        arrived = "" if row.arrived is None else f"{time(row.arrived)}, "
        query = "" if row.query is None else time(row.query)
        model = "" if row.model is None else f" model {row.model}"
        signals = "" if row.signals is None else f" signal {row.signals}"
        op = "" if row.op is None else f" {row.op}"
        return f"{arrived}{query}{signals}{model}{op}"


def _words(row: PointRow, atoms: Sequence[str]) -> str:
    """What people read: `busy(ada), free(bob)`."""
    return ", ".join(atoms) or ("no answer" if row.kind == "none" else "-")


_SOURCE = {META: b"term"}
_TYPES = {
    "args": pa.list_(pa.string()),
    **dict.fromkeys({*TIMES, *MORE} - {"op"}, pa.int64()),
}


def arrow_table(table: AnswerTable, iso: Unit | None) -> pa.Table:
    """The table of answers; `args` and `value` are marked as source text."""
    # A table of CSV always has the same columns; here those go of which no row has anything.
    rare = {name for name in MORE if name != "query"}
    rare -= {name for name in rare if any(getattr(b, name) is not None for b in table.blocks)}
    fields = [
        pa.field(
            name,
            _TYPES.get(name, pa.string()),
            metadata=_SOURCE if name in ("args", "value") else {},
        )
        for name in columns_of(table, iso)
        if name not in rare
    ]
    schema = pa.schema(fields)
    blocks = [_arrow_block(block, schema, iso) for block in table.blocks]
    whole = pa.concat_tables(blocks) if blocks else schema.empty_table()
    if table.order is not None:
        whole = whole.take(pa.array(table.order))
    return whole.combine_chunks()


def _arrow_block(block: AnswerBlock, schema: pa.Schema, iso: Unit | None) -> pa.Table:
    rows = len(block)
    columns: dict[str, pa.Array] = {
        "kind": pa.repeat(pa.scalar(block.kind, pa.string()), rows),
        "name": pa.repeat(pa.scalar(block.name, pa.string()), rows),
        "args": _lists([_sources(column) for column in block.args], rows),
        **times_of(block),
    }
    if block.value is not None:
        columns["value"] = _sources(block.value)
    columns |= {name: texts_of(texts) for name, texts in iso_columns(block, iso).items()}
    for name in MORE:
        if getattr(block, name) is not None:
            columns[name] = texts_of(block.op) if name == "op" else getattr(block, name)
    arrays = [columns.get(field.name, pa.nulls(rows, field.type)) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def _sources(column: TermColumn) -> pa.Array:
    return texts_of(spelled(column, to_source))


def _lists(columns: list[pa.Array], rows: int) -> pa.ListArray:
    """The lists of the values that stand side by side."""
    arity = len(columns)
    offsets = pa.array(np.arange(rows + 1, dtype=np.int32) * arity)
    if not columns:
        return pa.ListArray.from_arrays(offsets, pa.array([], pa.string()))
    places = np.arange(rows * arity).reshape(arity, rows).T.ravel()
    return pa.ListArray.from_arrays(offsets, pa.concat_arrays(columns).take(pa.array(places)))


AnswerFormat = Literal["jsonl", "csv", "parquet", "text"]
ANSWER_FORMATS: tuple[AnswerFormat, ...] = get_args(AnswerFormat)
SUFFIXES: dict[str, AnswerFormat] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".txt": "text",
}

Target = str | os.PathLike[str] | IO[str] | IO[bytes]
Answers = AnswerTable | Iterable[Row]


def write_answers(
    answers: Answers,
    target: Target,
    *,
    format: AnswerFormat | None = None,
    unit: Unit | None = None,
    times: Literal["points", "iso"] = "points",
) -> None:
    """Write answers to a file, an open stream, or `-` for standard output.

    The format is that of the file name, or JSON lines. With `times="iso"` each time is followed by
    the same in ISO 8601 (`start_iso`, ...), which needs the `unit` of a time-point.
    """
    if times == "iso" and unit is None:
        raise ValueError("times='iso' needs unit: say how long a time-point is")
    chosen = format or _format_of(target)
    if chosen not in ANSWER_FORMATS:
        raise ValueError(f"unknown format {chosen!r}: use one of {', '.join(ANSWER_FORMATS)}")
    table = _as_table(answers)
    iso = unit if times == "iso" else None
    if chosen == "parquet":
        import pyarrow.parquet as pq

        with _binary(target) as out:
            pq.write_table(arrow_table(table, iso), out)
        return
    with _writer(target) as write:
        for lines in _LINES[chosen](table, iso):
            write(utf8(lines))


def answer_table(answers: Answers, iso: Unit | None = None) -> pa.Table:
    """Answers as an Arrow table. `args` and `value` are Prolog source text, and marked as such."""
    return arrow_table(_as_table(answers), iso)


def json_line(row: Row, iso: Unit | None = None) -> str:
    """One line of JSON.

    >>> json_line({"kind": "fluent", "name": "f", "args": [], "value": 3, "start": 4, "end": 9})
    '{"kind":"fluent","name":"f","args":[],"value":3,"start":4,"end":9}'
    """
    lines = next(json_lines(_as_table([row]), iso))
    return cast(str, lines[0].as_py()).removesuffix("\n")


def _as_table(answers: Answers) -> AnswerTable:
    return answers if isinstance(answers, AnswerTable) else AnswerTable.of(answers)


def _format_of(target: Target) -> AnswerFormat:
    if target == "-" or not isinstance(target, str | os.PathLike):
        return "jsonl"
    found = SUFFIXES.get(PurePath(target).suffix.lower())
    if found is None:
        hint = f"name the format ({', '.join(ANSWER_FORMATS)}), or use one of {' '.join(SUFFIXES)}"
        raise InputError(os.fspath(target), "the file name does not tell its format", hint=hint)
    return found


@contextmanager
def _binary(target: Target) -> Iterator[Any]:
    if target == "-":
        yield sys.stdout.buffer
    elif not isinstance(target, str | os.PathLike):
        yield target
    else:
        with Path(target).open("wb") as out:
            yield out


@contextmanager
def _writer(target: Target) -> Iterator[Callable[[bytes], object]]:
    """What takes UTF-8: a file as it is, a stream of text in its own encoding."""
    if target != "-" and isinstance(target, str | os.PathLike):
        with Path(target).open("wb") as out:
            yield out.write
    else:
        text = sys.stdout if target == "-" else cast(IO[str], target)
        shown = printable if target == "-" and text.isatty() else str
        yield lambda lines: text.write(shown(lines.decode()))


_LINES: dict[str, Callable[[AnswerTable, Unit | None], Lines]] = {
    "jsonl": json_lines,
    "csv": csv_lines,
    "text": text_lines,
}
