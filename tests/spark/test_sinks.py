"""What sinks make of changes, without Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.weights import examples

from horai.runtime.refusals import Refused
from horai.runtime.sinks import table as sink_table
from horai.runtime.sinks.console import ConsoleSink
from horai.runtime.sinks.files import ParquetSink
from horai.runtime.sinks.protocol import ROWS, About, Changes
from horai.runtime.sinks.table import TableSink, read_current, upserted

ABOUT = About("one", 0)


def rows(*some: tuple[Any, ...]) -> pa.Table:
    names = ("name", "args", "start", "end", "query", "op")
    listed = [dict(zip(names, row, strict=True)) for row in some]
    return pa.Table.from_pylist([{"kind": "fluent", "value": "true"} | r for r in listed], ROWS)


def changes(number: int, table: pa.Table) -> Changes:
    def no_frame() -> Any:
        raise AssertionError("there is no Spark here")

    return Changes(number, [10 * number], table.num_rows, lambda: table, no_frame)


ANN = ("on", ["ann"], 4, None, 10, "+")
GONE = ("on", ["ann"], 4, None, 20, "-")
SHORT = ("on", ["ann"], 4, 15, 20, "+")
BOB = ("off", ["bob", "x"], 5, None, 20, "+")


def held(folder: Path) -> list[tuple[Any, ...]]:
    listed = read_current(folder).to_pylist()
    return sorted((r["name"], tuple(r["args"]), r["start"], r["end"]) for r in listed)


def test_the_table_has_what_was_said_last(tmp_path: Path) -> None:
    sink = TableSink(str(tmp_path / "t"))
    sink.open(ABOUT)
    sink.write(changes(2, rows(ANN)))
    assert held(tmp_path / "t") == [("on", ("ann",), 4, None)]
    sink.write(changes(4, rows(GONE, SHORT, BOB)))
    wanted = [("off", ("bob", "x"), 5, None), ("on", ("ann",), 4, 15)]
    assert held(tmp_path / "t") == wanted
    # The same step again, by another process.
    again = TableSink(str(tmp_path / "t"))
    again.open(About("one", 2))
    again.write(changes(4, rows(GONE, SHORT, BOB)))
    assert held(tmp_path / "t") == wanted
    again.write(changes(6, ROWS.empty_table()))
    assert held(tmp_path / "t") == wanted
    assert len(list((tmp_path / "t").glob("*.parquet"))) == 2


@examples("heavy")
@given(st.lists(st.lists(st.integers(0, 3), max_size=6), max_size=6))
def test_the_table_is_the_sum_of_the_changes(steps: list[list[int]]) -> None:
    """Each number comes if it is not there, and goes if it is, at growing query times."""
    table, there, query = ROWS.empty_table(), set[int](), 0
    for step in steps:
        some: list[tuple[Any, ...]] = []
        for number in step:
            query += 1
            some.append(("on", [str(number)], 1, None, query, "-" if number in there else "+"))
            there ^= {number}
        table = upserted(table, rows(*some)) if some else table
    assert sorted(args[0] for args in table["args"].to_pylist()) == sorted(map(str, there))


names = st.sampled_from(("on", "off"))
ends = st.none() | st.integers(1, 30)


@examples("heavy")
@given(st.lists(st.lists(st.tuples(names, st.integers(0, 2), ends), max_size=6), max_size=8))
def test_segments_are_one_table(
    tmp_path_factory: pytest.TempPathFactory, steps: list[list[tuple[str, int, int | None]]]
) -> None:
    """Each row comes if it is not there, and goes if it is; small segments are put together."""
    folder = tmp_path_factory.mktemp("t") / "t"
    sink, there, query = TableSink(str(folder)), set[tuple[str, int, int | None]](), 0
    sink.open(ABOUT)
    with patch.multiple(sink_table, SMALL=4, MANY=2):
        for number, step in enumerate(steps, 1):
            some: list[tuple[Any, ...]] = []
            for row in step:
                query += 1
                name, who, end = row
                some.append((name, [str(who)], 0, end, query, "-" if row in there else "+"))
                there ^= {row}
            sink.write(changes(2 * number, rows(*some)))
    listed = [(r["name"], int(r["args"][0]), r["end"]) for r in read_current(folder).to_pylist()]
    assert len(listed) == len(there) and set(listed) == there


def test_a_step_leaves_what_is_over_as_it_is(tmp_path: Path) -> None:
    sink = TableSink(str(tmp_path / "t"))
    sink.open(ABOUT)
    for number in range(1, 6):
        new = ("on", ["ann"], 10 * number, 10 * number + 5, number, "+")
        sink.write(changes(2 * number, rows(new)))
    listed = sorted(path.name for path in (tmp_path / "t").glob("*.parquet"))
    assert listed == [f"fluent-on-00000000{step}.parquet" for step in (2, 4, 6, 8)] + [
        "fluent-on-000000010.parquet"
    ]
    gone = ("on", ["ann"], 40, 45, 6, "-")
    sink.write(changes(12, rows(gone)))
    assert [start for _, _, start, _ in held(tmp_path / "t")] == [10, 20, 30, 50]
    assert sink_table.segments_of(json.loads((tmp_path / "t" / "current.json").read_text()))[
        "fluent on"
    ][0] == sink_table.Segment("fluent-on-000000002.parquet", 1, 15, 15)


def test_a_step_that_is_done_again_is_written_once(tmp_path: Path) -> None:
    sink = ParquetSink(str(tmp_path / "c"))
    sink.open(ABOUT)
    for _ in range(2):
        sink.write(changes(4, rows(GONE, SHORT)))
    sink.write(changes(6, ROWS.empty_table()))
    assert [path.name for path in (tmp_path / "c").glob("*.parquet")] == [
        "changes-000000004.parquet"
    ]


def test_a_folder_belongs_to_one_stream(tmp_path: Path) -> None:
    ParquetSink(str(tmp_path / "c")).open(ABOUT)
    with pytest.raises(Refused, match="of another stream"):
        TableSink(str(tmp_path / "c")).open(About("two", 0))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter").write_text("dear")
    with pytest.raises(Refused, match="is not empty"):
        ParquetSink(str(tmp_path / "full")).open(ABOUT)
    (tmp_path / "file").write_text("")
    with pytest.raises(Refused, match="cannot be written"):
        ParquetSink(str(tmp_path / "file")).open(ABOUT)


def test_the_console(capsys: pytest.CaptureFixture[str]) -> None:
    event = {"kind": "event", "name": "q", "args": [], "time": 7, "query": 9, "op": "+"}
    table = pa.concat_tables([rows(GONE, SHORT), pa.Table.from_pylist([event], ROWS)])
    ConsoleSink().write(changes(2, table))
    assert capsys.readouterr().out.splitlines() == [
        *("9 + q at 7", "20 - on(ann)=true from 4 on", "20 + on(ann)=true from 4 until 15"),
    ]
