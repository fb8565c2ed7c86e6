"""Answers: rows for people, typed columns for all else, and the way out of both.

They are written as JSON lines, CSV, Parquet, Arrow tables or text for people. Lines of text come
from columns: each different value is spelled once, and Arrow joins the rest. In Parquet and Arrow,
arguments and values are Prolog source text.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path, PurePath
from typing import IO, Any, Literal, NamedTuple, TypeAlias, cast, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from horai.io.items.tables import Numbers
from horai.io.letters import InputError
from horai.io.schema import Kind
from horai.io.shown import csv_line, json_text, printable
from horai.io.terms import (
    META,
    Term,
    TermColumn,
    distinct,
    from_terms,
    text_bytes,
    text_cell,
    to_source,
    to_terms,
)
from horai.io.times import Unit, format_time

AnswerKind = Kind | Literal["atom", "none", "empty"]


class AnswerRow(NamedTuple):
    """A maximal interval of a fluent (`start`, `end`; None = still open), or an event (`time`).

    An atom of a LARS program has maximal intervals too, but no value; or it holds at the query time
    only, and has no start. `none` says that there is no answer at a query time, `empty` that an
    answer has no atoms. `query` is the query time the row belongs to, `op` is `+` or `-` in a
    changelog, `model` the number of one of several answers, `arrived` the query time at which it
    was known, and `signals` how many signals had come by then.
    """

    kind: AnswerKind
    name: str = ""
    args: Sequence[Term] = ()
    value: Term | None = None
    start: int | None = None
    end: int | None = None
    time: int | None = None
    query: int | None = None
    op: str | None = None
    model: int | None = None
    arrived: int | None = None
    signals: int | None = None

    def __repr__(self) -> str:
        rare = ("model", "arrived", "signals")
        shown = [(n, v) for n, v in self._asdict().items() if n not in rare or v is not None]
        return f"AnswerRow({', '.join(f'{name}={value!r}' for name, value in shown)})"

    def as_dict(self) -> dict[str, Any]:
        """Only the fields that apply, in the order in which they are written.

        >>> AnswerRow("atom", "busy", ("ada",), query=3).as_dict()
        {'kind': 'atom', 'query': 3, 'name': 'busy', 'args': ['ada']}
        """
        row = {name: value for name, value in self._asdict().items() if value is not None}
        row["args"] = list(self.args)
        if self.kind == "fluent" and self.end is None:
            row["end"] = None
        if self.name and (self.start is not None or self.time is not None):
            return row
        shown = row if self.name else row.keys() - {"name", "args"}
        return {name: row[name] for name in POINT_COLUMNS if name in shown}


POINT_COLUMNS = ("kind", "query", "model", "name", "args", "op", "arrived", "signals")
"""The columns of what holds at query times."""
MORE = ("query", "op", "model", "arrived", "signals")
"""Columns that a block only has where one of its rows does."""


Row = AnswerRow | Mapping[str, Any]


@dataclass(frozen=True)
class AnswerBlock:
    """Rows of one kind, name and arity.

    `start` is the time of an event, which has no `end` (null = open); `value` is there for fluents
    only. `query` and what follows are None when no row has them. What holds at query times only has
    neither start nor end: its start is null.
    """

    kind: AnswerKind
    name: str
    args: tuple[TermColumn, ...]
    value: TermColumn | None
    start: pa.Array
    end: pa.Array | None
    query: pa.Array | None = None
    op: pa.Array | None = None
    model: pa.Array | None = None
    arrived: pa.Array | None = None
    signals: pa.Array | None = None

    def __len__(self) -> int:
        return len(self.start)

    @property
    def is_of_points(self) -> bool:
        """Do its rows say what holds at query times?"""
        return self.kind not in ("fluent", "event") and self.end is None


@dataclass(frozen=True)
class AnswerTable:
    """An answer: row i is row `order[i]` of the blocks one after the other, or row i itself."""

    blocks: tuple[AnswerBlock, ...] = ()
    order: Numbers | None = None

    @classmethod
    def of(cls, rows: Iterable[Row]) -> AnswerTable:
        """The table of rows, in their order."""
        groups: dict[tuple[object, ...], list[tuple[int, AnswerRow]]] = {}
        for place, given in enumerate(rows):
            row = given if isinstance(given, AnswerRow) else AnswerRow(**given)
            key = (row.kind, row.name, len(row.args), row.value is None, row.start is None)
            groups.setdefault(key, []).append((place, row))
        places = np.array([place for group in groups.values() for place, _ in group], np.int64)
        blocks = tuple(_block([row for _, row in group]) for group in groups.values())
        return cls(blocks, np.argsort(places))

    def __len__(self) -> int:
        return sum(len(block) for block in self.blocks)

    def count(self, kind: AnswerKind) -> int:
        """How many rows there are of a kind."""
        return sum(len(block) for block in self.blocks if block.kind == kind)

    def only(self, *kinds: AnswerKind) -> AnswerTable:
        """The rows of some kinds, in the same order."""
        kept = tuple(block for block in self.blocks if block.kind in kinds)
        if self.order is None:
            return AnswerTable(kept)
        marks = np.concatenate([np.full(len(b), b.kind in kinds) for b in self.blocks] or [_NONE])
        places = np.cumsum(marks) - 1
        return AnswerTable(kept, places[self.order[marks[self.order]]])

    def lists(self) -> dict[str, list[Any]]:
        """The columns of `AnswerRow` as Python lists."""
        columns: dict[str, list[Any]] = {name: [] for name in AnswerRow._fields}
        for block in self.blocks:
            for name, values in _python_lists(block).items():
                columns[name].extend(values)
        if self.order is None:
            return columns
        order = self.order.tolist()
        return {name: [values[i] for i in order] for name, values in columns.items()}

    def rows(self) -> list[AnswerRow]:
        """The rows one by one."""
        return list(map(AnswerRow._make, zip(*self.lists().values(), strict=True)))


_NONE = np.zeros(0, np.bool_)


def _block(rows: Sequence[AnswerRow]) -> AnswerBlock:
    first = rows[0]
    is_event, is_point = first.kind == "event", first.kind != "fluent" and first.start is None
    values = [row.value for row in rows if row.value is not None]
    more = {name: [getattr(row, name) for row in rows] for name in MORE}
    return AnswerBlock(
        first.kind,
        first.name,
        tuple(from_terms([row.args[i] for row in rows]) for i in range(len(first.args))),
        from_terms(values) if first.kind == "fluent" and values else None,
        pa.array([row.time if is_event else row.start for row in rows], pa.int64()),
        None if is_event or is_point else pa.array([row.end for row in rows], pa.int64()),
        **{
            name: pa.array(column, pa.string() if name == "op" else pa.int64())
            for name, column in more.items()
            if any(value is not None for value in column)
        },
    )


def _python_lists(block: AnswerBlock) -> dict[str, Iterable[Any]]:
    rows = len(block)
    nothing = [None] * rows
    lasts = block.kind != "event"
    starts = block.start.to_pylist()
    args = [to_terms(column) for column in block.args]
    more = {name: getattr(block, name) for name in MORE}
    return {
        "kind": repeat(block.kind, rows),
        "name": repeat(block.name, rows),
        "args": zip(*args, strict=True) if args else repeat((), rows),
        "value": nothing if block.value is None else to_terms(block.value),
        "start": starts if lasts else nothing,
        "end": nothing if block.end is None else block.end.to_pylist(),
        "time": nothing if lasts else starts,
        **{n: nothing if column is None else column.to_pylist() for n, column in more.items()},
    }


# --- lines of text -------------------------------------------------------------------------------

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
    return [*pieces, *_json_more(block, _LAST, iso), "}\n"]


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


_FIRST, _LAST = ("kind", "query", "model"), ("op", "arrived", "signals")
"""Which columns stand before what a line says of an atom, and which behind."""


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

    def lines(self, row: AnswerRow, atoms: Sequence[str]) -> str:
        """A line for each atom, or for the `row` itself if it is about none."""
        if self.form == "text":
            return f"{self._place(row)}: {_words(row, atoms)}\n"
        before, after = (self._json if self.form == "jsonl" else self._csv)(row, bool(atoms))
        return before + f"{after}\n{before}".join(atoms or [""]) + f"{after}\n"

    def _json(self, row: AnswerRow, with_atoms: bool) -> tuple[str, str]:
        """What stands before and after an atom: numbers, times and signs, which need no care."""
        before, after = (
            "".join(
                f',"{name}":"{value}"' if isinstance(value, str) else f',"{name}":{value}'
                for name, value in self._cells(row, names).items()
                if value is not None
            )
            for names in (_FIRST, _LAST)
        )
        return f"{{{before[1:]}{',' if with_atoms else ''}", f"{after}}}"

    def _csv(self, row: AnswerRow, with_atoms: bool) -> tuple[str, str]:
        before, after = (csv_line(self._cells(row, names).values()) for names in (_FIRST, _LAST))
        nothing = "" if with_atoms else csv_line(["", "[]"])
        return f"{before},{nothing}", f",{after}"

    def _cells(self, row: AnswerRow, names: Sequence[str]) -> dict[str, int | str | None]:
        """Some of a row, each query time with the same in ISO 8601 behind it."""
        found: dict[str, int | str | None] = {}
        for name in names:
            point = found[name] = getattr(row, name)
            if self.iso is not None and name in QUERY_TIMES:
                found[f"{name}_iso"] = None if point is None else format_time(point, self.iso)
        return found

    def _place(self, row: AnswerRow) -> str:
        """What a line is about: `5, 3 model 1 +` is a change at 5 of the answer at 3."""

        def time(point: int) -> str:
            return str(point) if self.iso is None else format_time(point, self.iso)

        arrived = "" if row.arrived is None else f"{time(row.arrived)}, "
        query = "" if row.query is None else time(row.query)
        model = "" if row.model is None else f" model {row.model}"
        signals = "" if row.signals is None else f" signal {row.signals}"
        op = "" if row.op is None else f" {row.op}"
        return f"{arrived}{query}{signals}{model}{op}"


def _words(row: AnswerRow, atoms: Sequence[str]) -> str:
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
