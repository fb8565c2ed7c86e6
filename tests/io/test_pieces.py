"""Files in pieces: together they are the file, and rows keep their lines."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from horai.io import InputError, InputSchema, InputType, Narrative, TimeScale, read
from horai.io.items.read import pieces_of, read_piece
from horai.io.items.rows import RowReader

SCHEMA = InputSchema.of([InputType("up", "event", 1), InputType("on", "fluent", 1)])
ROWS = [*(f"up|{i}|{i}|x{i % 7}" for i in range(200)), "up|bad|1|x", "nobody|1|1", "up|1|1|'é'"]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("horai.io.items.read._BLOCK", 100)
    monkeypatch.setattr("horai.io.items.read.PIECE_ROWS", 60)


def told(narrative: Narrative) -> tuple[list[object], list[object]]:
    items = sorted(narrative.items(), key=lambda item: (item.line, item.name))
    return [*items], [*sorted(narrative.dead_letters)]


def check(path: Path, least: int) -> None:
    options = RowReader(SCHEMA, TimeScale())
    pieces = pieces_of(str(path), None, 300)
    assert len(pieces) >= least
    items: list[object] = []
    letters: list[object] = []
    for piece in pieces:
        more = told(read_piece(piece, options))
        items += more[0]
        letters += more[1]
    assert (items, letters) == told(read(path, SCHEMA))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_narratives(tmp_path: Path, end: str) -> None:
    path = tmp_path / "rows.txt"
    path.write_bytes(end.join([ROWS[0], "", *ROWS[1:]]).encode())
    check(path, 5)


def test_csv_with_a_header(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    rows = [",".join((row.split("|")[0], *row.split("|")[2:])) for row in ROWS]
    path.write_text("﻿\n\ntype,time,who\n" + "\n".join(rows) + "\n", encoding="utf-8")
    check(path, 5)


def test_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [f'{{"type": "up", "time": {i}, "args": ["x"]}}' for i in range(60)]
    path.write_text("\n".join([*rows[:30], "{", *rows[30:]]) + "\n")
    check(path, 3)


def test_parquet_by_row_groups(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    table = pa.table({"type": ["up"] * 200, "time": [*range(199), None], "who": ["x"] * 200})
    pq.write_table(table, path, row_group_size=30)
    check(path, 3)


@pytest.mark.parametrize("name", ["rows.txt.gz", "rows.arrow", "rows.json", "nowhere.txt", "-"])
def test_what_is_not_cut(tmp_path: Path, name: str) -> None:
    path = name if name == "-" else str(tmp_path / name)
    if name == "rows.json":
        Path(path).write_text('[{"type": "up", "time": 1, "args": ["x"]}]')
    elif name not in ("nowhere.txt", "-"):
        Path(path).write_bytes(b"")
    assert len(pieces_of(path, None)) == 1


def test_an_empty_file_is_one_piece(tmp_path: Path) -> None:
    path = tmp_path / "rows.txt"
    path.write_text("")
    check(path, 1)


def test_a_strict_reader_names_the_line_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.txt"
    path.write_text("\n".join(ROWS) + "\n")
    strict = RowReader(SCHEMA, TimeScale(), strict=True)
    with pytest.raises(InputError) as found:
        for piece in pieces_of(str(path), None, 300):
            read_piece(piece, strict)
    assert found.value.line == 201
