"""Arguments by the names of columns, in every format that names columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from horai import UsageError, loads
from horai.io import InputError, InputSchema, InputType, Item, read, read_object

SCHEMA = InputSchema.of(
    [
        InputType("speed", "event", 2),
        InputType("heading", "event", 2),
        InputType("level", "fluent", 1, "points"),
    ]
)
FORMATS = ("csv", "jsonl", "parquet", "arrow", "memory", "frame")
COLUMNS = {"speed": ["vessel", "knots"], "level": ["value:depth", "vessel"]}
Row = dict[str, Any]


def items(rows: list[Row], format: str, folder: Path, **settings: Any) -> list[Item]:
    if format == "memory":
        found = read_object(rows, SCHEMA, **settings)
    elif format == "frame":
        found = read_object(pa.Table.from_pylist(rows), SCHEMA, **settings)
    else:
        path = folder / f"rows.{format}"
        if format == "csv":
            lines = [",".join("" if v is None else str(v) for v in row.values()) for row in rows]
            path.write_text("\n".join([",".join(rows[0]), *lines]) + "\n")
        elif format == "jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        elif format == "parquet":
            pq.write_table(pa.Table.from_pylist(rows), path)
        else:
            with pa.ipc.new_file(path, pa.Table.from_pylist(rows).schema) as out:
                out.write_table(pa.Table.from_pylist(rows))
        found = read(path, SCHEMA, **settings)
    assert found.dead_letters == []
    return sorted(found.items(), key=lambda item: item.line)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("copies", [1, 40])
def test_each_type_has_its_own_columns(format: str, copies: int, tmp_path: Path) -> None:
    rows: list[Row] = [
        {"knots": 9, "type": "speed", "depth": None, "time": 1, "vessel": "a"},
        {"knots": None, "type": "level", "depth": 30, "time": 2, "vessel": "b"},
    ] * copies
    found = items(rows, format, tmp_path, columns=COLUMNS)
    assert [(item.name, item.start, item.value, item.args) for item in found] == [
        ("speed", 1, None, ("a", 9)),
        ("level", 2, 30, ("b",)),
    ] * copies


@pytest.mark.parametrize("format", FORMATS)
def test_a_file_of_one_type_need_not_name_it(format: str, tmp_path: Path) -> None:
    rows: list[Row] = [{"knots": 9, "when": 5, "name": "a", "value": 7}]
    (found,) = items(rows, format, tmp_path, columns={"speed": ["time:when", "name", "value"]})
    assert (found.name, found.start, found.args) == ("speed", 5, ("a", 7))


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_a_column_that_is_not_there_is_told(format: str, tmp_path: Path) -> None:
    rows: list[Row] = [{"type": "speed", "time": 1, "vessel": "a", "kn": 9}]
    with pytest.raises(InputError, match=r"no column 'knots' for speed(.|\n)*type, time, vessel"):
        items(rows, format, tmp_path, columns={"speed": ["vessel", "knots"]})


RULES = "initiatedAt(slow(X)=true, T) :- happensAt(speed(X, V), T), V < 9.\n"


def test_runs_take_columns() -> None:
    rows = [{"type": "speed", "time": 1, "knots": 5, "vessel": "a"}]
    found = loads(RULES).run(rows, columns={"speed": ["vessel", "knots"]})
    assert found.holds_for("slow(a)=true") == [(2, float("inf"))]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"sped": ["a", "b"]}, "did you mean speed?"),
        ({"speed": ["a"]}, "it takes 2 arguments, but these are 1 column"),
        ({"speed": []}, "are names of columns"),
        ({"speed": "a"}, "it takes 2 arguments"),
    ],
)
def test_wrong_columns_are_told(columns: dict[str, list[str]], said: str) -> None:
    with pytest.raises(UsageError, match=said.replace("?", r"\?")):
        loads(RULES).run([], columns=columns)
