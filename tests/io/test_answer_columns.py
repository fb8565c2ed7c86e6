"""Written by columns, answers look as the definitions below say, which take one row at a time."""

import csv
import io
import json
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.weights import examples

from horai.io import AnswerRow, AnswerTable, TermText, Unit, format_time, to_source, write_answers
from horai.io import answers as by_columns

LETTERS = st.sampled_from(
    ["a", "b", "Z", "é", "🂡", '"', "'", ",", "\n", "\r", "\t", "\\", " ", "|"]
)
ATOMS = st.text(LETTERS, max_size=4) | st.sampled_from(["true", "12", "-", "[]", "null"])
TERMS = (
    ATOMS
    | st.sampled_from([TermText("f(x)"), TermText("[1,'a b']"), TermText('g("q",X)')])
    | st.integers(-5, 5)
    | st.sampled_from([2**63, -(2**70)])
    | st.sampled_from([0.0, -0.0, 1.5, 3.0, 1e22, 1e-7, -2.25, 0.1])
)
TIMES = st.integers(-(10**6), 10**6)
MAYBE_TIME = st.none() | TIMES
FORMATS = ("jsonl", "csv", "text")
UNITS = st.sampled_from([None, "s", "ms", "d"])


@st.composite
def answer_rows(draw: st.DrawFn) -> AnswerRow:
    name = draw(st.sampled_from(["rich", "f", "New York", 'a"b,c']))
    args = tuple(draw(st.lists(TERMS, max_size=3)))
    query, op = draw(MAYBE_TIME), draw(st.sampled_from([None, "+", "-"]))
    if draw(st.booleans()):
        return AnswerRow("event", name, args, time=draw(TIMES), query=query, op=op)
    value, start, end = draw(TERMS), draw(TIMES), draw(MAYBE_TIME)
    return AnswerRow("fluent", name, args, value, start, end, None, query, op)


ANSWERS = st.lists(answer_rows(), max_size=12)


def fields(row: AnswerRow, iso: Unit | None) -> dict[str, Any]:
    """What a row says, in the order in which it is said."""
    times = {"start": row.start, "end": row.end} if row.kind == "fluent" else {"time": row.time}
    said: dict[str, Any] = {"kind": row.kind, "name": row.name, "args": list(row.args)}
    said |= ({"value": row.value} if row.kind == "fluent" else {}) | times
    if iso is not None:
        for name, time in times.items():
            said[f"{name}_iso"] = None if time is None else format_time(time, iso)
    said |= {} if row.query is None else {"query": row.query}
    if iso is not None and row.query is not None:
        said["query_iso"] = format_time(row.query, iso)
    return said | ({} if row.op is None else {"op": row.op})


def compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def columns(rows: Sequence[AnswerRow], iso: Unit | None) -> list[str]:
    times = ["start", "end", "time"]
    extra = [f"{name}_iso" for name in times] if iso is not None else []
    if any(row.query is not None for row in rows):
        extra += ["query"] if iso is None else ["query", "query_iso"]
    extra += ["op"] if any(row.op is not None for row in rows) else []
    return ["kind", "name", "args", "value", *times, *extra]


def as_jsonl(rows: Sequence[AnswerRow], iso: Unit | None) -> str:
    return "".join(compact(fields(row, iso)) + "\n" for row in rows)


def as_csv(rows: Sequence[AnswerRow], iso: Unit | None) -> str:
    def line(cells: Sequence[object]) -> str:
        out = io.StringIO(newline="")
        csv.writer(out, lineterminator="\r\n").writerow(cells)  # so that both are quoted
        return out.getvalue()[:-2] + "\n"

    names = columns(rows, iso)
    lines = [line(names)]
    for row in rows:
        cells = fields(row, iso)
        cells["args"] = compact(cells["args"])
        for name in ("name", "value"):
            text = cells.get(name)
            if isinstance(text, str) and re.match(r"[=+\-@\t\r]|'[=+\-@\t\r']", text):
                cells[name] = f"'{text}"  # no formula for spreadsheets
        if row.kind == "fluent" and row.end is None:
            cells["end"] = "inf"
        lines.append(line([cells.get(name, "") for name in names]))
    return "".join(lines)


def as_text(rows: Sequence[AnswerRow], iso: Unit | None) -> str:
    def shown(point: int | None) -> str:
        if point is None:
            return "inf"
        return str(point) if iso is None else format_time(point, iso)

    table = []
    for row in rows:
        what = to_source(row.name)
        what += f"({','.join(map(to_source, row.args))})" if row.args else ""
        what += "" if row.value is None else f"={to_source(row.value)}"
        when = f"({shown(row.start)},{shown(row.end)})"
        when = when if row.kind == "fluent" else f"at {shown(row.time)}"
        query = "" if row.query is None else f"{shown(row.query)}:"
        table.append((query, row.op or "", what, when))
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True) if width)
        for cells in table
    ]
    return "".join(line.rstrip() + "\n" for line in lines)


BY_ROW = {"jsonl": as_jsonl, "csv": as_csv, "text": as_text}


def written(answers: Any, form: Any, unit: Unit | None) -> str:
    out = io.StringIO()
    write_answers(answers, out, format=form, unit=unit, times="points" if unit is None else "iso")
    return out.getvalue()


@pytest.mark.parametrize("form", FORMATS)
@given(rows=ANSWERS, unit=UNITS)
def test_lines_are_those_of_the_definition(
    form: str, rows: list[AnswerRow], unit: Unit | None
) -> None:
    assert written(rows, form, unit) == BY_ROW[form](rows, unit)


@pytest.mark.parametrize("form", FORMATS)
def test_many_rows_are_written_in_several_pieces(
    form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(by_columns, "CHUNK", 7)
    rows = [
        AnswerRow("fluent", f"f{i % 3}", (i, "x"), "true", i, None if i % 5 else i + 9, query=i)
        for i in range(60)
    ]
    assert written(rows, form, None) == BY_ROW[form](rows, None)
    in_blocks = sorted(rows, key=lambda row: row.name)
    table = AnswerTable(AnswerTable.of(in_blocks).blocks)
    assert written(table, form, None) == BY_ROW[form](in_blocks, None)


@examples("normal")
@given(rows=ANSWERS, unit=UNITS)
def test_parquet_has_the_same_rows(rows: list[AnswerRow], unit: Unit | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.parquet"
        write_answers(rows, path, unit=unit, times="points" if unit is None else "iso")
        found = pq.read_table(path)
    names = columns(rows, unit)
    assert found.column_names == names
    for row, cells in zip(rows, found.to_pylist(), strict=True):
        said = fields(row, unit)
        said["args"] = [to_source(arg) for arg in row.args]
        said["value"] = None if row.value is None else to_source(row.value)
        assert cells == {name: said.get(name) for name in names}


@given(rows=ANSWERS)
def test_rows_come_back_from_columns(rows: list[AnswerRow]) -> None:
    table = AnswerTable.of(rows)
    assert [repr(row) for row in table.rows()] == [repr(row) for row in rows]
    events = [row for row in rows if row.kind == "event"]
    assert table.only("event").rows() == events
    assert (len(table), table.count("event")) == (len(rows), len(events))


def test_a_file_has_the_bytes_of_a_stream(tmp_path: Path) -> None:
    rows = [AnswerRow("event", "g", ("é\n",), time=9), AnswerRow("event", "g", (3,), time=9)]
    for form, name in (("jsonl", "a.jsonl"), ("csv", "a.csv"), ("text", "a.txt")):
        write_answers(rows, tmp_path / name)
        assert (tmp_path / name).read_bytes().decode() == written(rows, form, None)


def test_an_order_over_blocks_is_obeyed() -> None:
    blocks = AnswerTable.of([AnswerRow("event", name, (), time=1) for name in "abc"]).blocks
    table = AnswerTable(blocks, np.array([2, 0, 1]))
    assert [row.name for row in table.rows()] == ["c", "a", "b"]
    assert [json.loads(line)["name"] for line in written(table, "jsonl", None).splitlines()] == [
        *"cab"
    ]


# --- what holds at query times ----------------------------------------------------------------


@st.composite
def point_rows(draw: st.DrawFn) -> list[AnswerRow]:
    """Rows that differ in what they say about, and in nothing else."""
    kind = draw(st.sampled_from(["atom", "none", "empty"]))
    row = AnswerRow(
        kind,  # type: ignore[arg-type]
        query=draw(TIMES),
        op=draw(st.sampled_from([None, "+", "-"])),
        model=draw(st.none() | st.integers(1, 3)),
        arrived=draw(MAYBE_TIME),
        signals=draw(st.none() | st.integers(1, 9)),
    )
    if kind != "atom":
        return [row]
    names = st.sampled_from(["h", "New York", 'a"b,c', "=1"])
    said = draw(st.lists(st.tuples(names, st.lists(TERMS, max_size=3)), min_size=1, max_size=4))
    return [row._replace(name=name, args=tuple(args)) for name, args in said]


@examples("normal")
@given(st.lists(point_rows(), min_size=1, max_size=4), UNITS)
def test_lines_of_many_atoms_are_those_of_each_row(
    groups: list[list[AnswerRow]], unit: Unit | None
) -> None:
    for form in ("jsonl", "csv"):
        lines = by_columns.PointLines(form, unit)
        found = "".join(
            lines.lines(group[0], [lines.atom(row.name, row.args) for row in group if row.name])
            for group in groups
        )
        wanted = io.StringIO()
        table = AnswerTable.of(row for group in groups for row in group)
        write_answers(
            table,
            wanted,
            format="jsonl" if form == "jsonl" else "csv",
            unit=unit,
            times="points" if unit is None else "iso",
        )
        names = ",".join(by_columns.point_columns(unit)) + "\n"
        assert (names if form == "csv" else "") + found == wanted.getvalue()


def test_lines_for_people() -> None:
    lines = by_columns.PointLines("text")
    atoms = [
        lines.atom("busy", ("ada", 3)),
        lines.atom("late", ("a\nb\x1b[2J",)),
        lines.atom("s", ()),
    ]
    row = AnswerRow("atom", query=3, arrived=5, model=1, op="+")
    assert lines.lines(row, atoms) == "5, 3 model 1 +: busy(ada,3), late(a\\nb\\x1b[2J), s\n"
    assert lines.lines(AnswerRow("none", query=3), []) == "3: no answer\n"
    assert lines.lines(AnswerRow("empty", query=3, signals=2), []) == "3 signal 2: -\n"
    dated = by_columns.PointLines("text", "s")
    assert dated.lines(AnswerRow("none", query=0), []) == "1970-01-01T00:00:00Z: no answer\n"
