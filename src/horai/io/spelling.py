"""How rows of answers look as JSON, as CSV and as text for people: the pieces of their lines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from .answers import AnswerBlock, AnswerTable
from .lines import (
    Piece,
    chunks_of_lines,
    filled,
    iso_texts,
    joined,
    optional,
    spelled,
    texts_of,
)
from .terms import Term, to_source
from .times import Unit

Lines = Iterator[pa.StringArray]
TIMES = ("start", "end", "time")


def columns_of(table: AnswerTable, iso: Unit | None) -> list[str]:
    """The columns of a table of answers; `query` and `op` only where some row has them."""
    extra = [f"{key}_iso" for key in TIMES] if iso is not None else []
    extra += ["query"] if any(block.query is not None for block in table.blocks) else []
    extra += ["op"] if any(block.op is not None for block in table.blocks) else []
    return ["kind", "name", "args", "value", *TIMES, *extra]


def times_of(block: AnswerBlock) -> dict[str, pa.Array]:
    """The times that rows of a block have, by the names they have in every format."""
    if block.end is None:
        return {"time": block.start}
    return {"start": block.start, "end": block.end}


def json_lines(table: AnswerTable, iso: Unit | None) -> Lines:
    """One JSON object per line: only the keys that apply to a row, in a fixed order."""
    return chunks_of_lines(table, [_json_pieces(block, iso) for block in table.blocks])


def _json_pieces(block: AnswerBlock, iso: Unit | None) -> list[Piece]:
    pieces: list[Piece] = [f'{{"kind":"{block.kind}","name":{as_json(block.name)},"args":[']
    pieces += _between([spelled(column, as_json) for column in block.args], ",")
    if block.kind == "fluent":
        value = "null" if block.value is None else spelled(block.value, as_json)
        pieces += ['],"value":', value]
    else:
        pieces.append("]")
    for name, points in times_of(block).items():
        pieces += [f',"{name}":', filled(points, "null")]
    if iso is not None:
        for name, points in times_of(block).items():
            quoted = pc.binary_join_element_wise('"', texts_of(iso_texts(points, iso)), '"', "")
            pieces += [f',"{name}_iso":', quoted.fill_null("null")]
    pieces += optional(block.query, ',"query":', "")
    pieces += optional(block.op, ',"op":"', '"')
    return [*pieces, "}\n"]


def as_json(value: object) -> str:
    """JSON without blanks; letters stay as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


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
        "query": optional(block.query, "", ""),
        "op": optional(block.op, "", ""),
    }
    for name, points in times_of(block).items():
        cells[name] = [filled(points, "inf" if name == "end" else "")]
        if iso is not None:
            cells[f"{name}_iso"] = optional(iso_texts(points, iso), "", "")
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
        return [spelled(block.args[0], lambda term: _csv_cell(as_json([term])))]
    columns = [spelled(column, _csv_inner) for column in block.args]
    return ['"[', *_between(columns, ","), ']"']


def _csv_inner(term: Term) -> str:
    return as_json(term).replace('"', '""')


def _csv_cell(value: object) -> str:
    """A value as Python's csv module writes it, in quotes where needed."""
    buffer = io.StringIO()
    # An empty cell beside it, because the only cell of a line is quoted when it is empty.
    csv.writer(buffer, lineterminator="\n").writerow([value, ""])
    return buffer.getvalue()[:-2]


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
    what: list[Piece] = [to_source(block.name)]
    if block.args:
        columns = [spelled(column, to_source) for column in block.args]
        what += ["(", *_between(columns, ","), ")"]
    if block.value is not None:
        what += ["=", spelled(block.value, to_source)]
    if block.end is None:
        when: list[Piece] = ["at ", shown(block.start)]
    else:
        when = ["(", shown(block.start), ",", shown(block.end), ")"]
    query, op = optional(block.query, "", ":"), optional(block.op, "", "")
    return joined(query, rows), joined(op, rows), joined(what, rows), when
