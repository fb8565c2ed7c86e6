"""Parquet, Arrow files, Arrow tables and data frames."""

import datetime as dt
import decimal
import struct
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from horai.io import AnswerRow, InputError, InputSchema, InputType, answer_table, read, read_object

TABLE = pa.table(
    {
        "type": pa.array(["go_to", "working", "working", "up", "go_to"]).dictionary_encode(),
        "op": [None, "insert", "retract", "+", "-"],
        "arrival": [9, 15, None, 3, 4],
        "time": [9, None, 16, 3, 4],
        "start": [None, 10, None, None, None],
        "end": [None, 15, None, None, None],
        "value": [None, "true", "true", None, None],
        "who": ["chris", "chris", "chris", None, "bob"],
        "where": ["work", None, None, None, "12"],
    }
)
EXPECTED = [
    (1, "go_to", 9, 9, None, None, ("chris", "work"), 1),
    (1, "working", 15, 10, 15, "true", ("chris",), 2),
    (-1, "working", 16, 16, None, "true", ("chris",), 3),
    (1, "up", 3, 3, None, None, (), 4),
    (-1, "go_to", 4, 4, None, None, ("bob", "12"), 5),
]


def found(narrative: Any) -> list[tuple[object, ...]]:
    items = sorted(narrative.items(), key=lambda item: item.line)
    return [(i.op, i.name, i.arrival, i.start, i.end, i.value, i.args, i.line) for i in items]


def test_parquet(schema: InputSchema, tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "s.parquet", row_group_size=2)
    narrative = read(tmp_path / "s.parquet", schema)
    assert narrative.dead_letters == []
    assert found(narrative) == EXPECTED


@pytest.mark.parametrize("suffix", ["arrow", "feather", "ipc"])
@pytest.mark.parametrize("layout", ["file", "stream"])
def test_arrow_ipc(schema: InputSchema, tmp_path: Path, suffix: str, layout: str) -> None:
    path = tmp_path / f"s.{suffix}"
    make = pa.ipc.new_file if layout == "file" else pa.ipc.new_stream
    with make(str(path), TABLE.schema) as writer:
        writer.write_table(TABLE)
    assert found(read(path, schema)) == EXPECTED


def test_objects_in_memory(schema: InputSchema) -> None:
    assert found(read_object(TABLE, schema)) == EXPECTED
    assert found(read_object(TABLE.combine_chunks().to_batches()[0], schema)) == EXPECTED
    assert found(read_object(TABLE.to_pandas(), schema)) == EXPECTED


def test_any_table_that_speaks_arrow(schema: InputSchema) -> None:
    class Foreign:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return TABLE.__arrow_c_stream__(requested_schema)

    assert found(read_object(Foreign(), schema)) == EXPECTED


@pytest.mark.parametrize(
    ("column", "kind", "terms"),
    [
        (pa.array([1, 2], pa.int16()), "int", [1, 2]),
        (pa.array([1, 2**63], pa.uint64()), "term", [1, 2**63]),
        (pa.array([1.5, 2.0], pa.float32()), "float", [1.5, 2.0]),
        (pa.array(["1", "b"]), "atom", ["1", "b"]),
        (pa.array(["1", "b"], pa.large_string()), "atom", ["1", "b"]),
        (pa.array([b"1", b"b"]), "atom", ["1", "b"]),
        (pa.array(["1", "b"]).dictionary_encode(), "atom", ["1", "b"]),
        (pa.array([7, 8]).dictionary_encode(), "int", [7, 8]),
        (pa.array([True, False]), "atom", ["true", "false"]),
        (pa.array([decimal.Decimal("1.5"), decimal.Decimal("2.5")]), "float", [1.5, 2.5]),
        (pa.array([decimal.Decimal("1"), decimal.Decimal("2")]), "int", [1, 2]),
        (
            pa.array([dt.date(2024, 3, 1), dt.date(2024, 3, 2)]),
            "atom",
            ["2024-03-01", "2024-03-02"],
        ),
    ],
)
def test_types_of_columns(
    schema: InputSchema, column: pa.Array, kind: str, terms: list[object]
) -> None:
    table = pa.table({"type": ["working"] * 2, "time": [1, 2], "value": column, "a0": column})
    narrative = read_object(table, schema)
    assert narrative.dead_letters == []
    assert [narrative.tables[0].column(c).kind for c in ("value", "a0")] == [kind, kind]
    assert [(type(i.args[0]), i.args[0]) for i in narrative.items()] == [
        (type(t), t) for t in terms
    ]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([60_000_000_000, 3], pa.timestamp("ns", "UTC")),
        pa.array([60_000, 3], pa.timestamp("ms")),
        pa.array([60, 0], pa.timestamp("s", "Europe/Athens")),
        pa.array(["1970-01-01T00:01:00Z", "1970-01-01T00:00:00Z"]),
        pa.array(["1970-01-01T00:01", "1970-01-01"]).dictionary_encode(),
        pa.array([60.0, 0.0]),
        pa.array([60, 0], pa.uint8()),
        pa.array([decimal.Decimal("60.00"), decimal.Decimal("0")]),
    ],
)
def test_types_of_times(schema: InputSchema, column: pa.Array) -> None:
    narrative = read_object(pa.table({"type": ["up", "up"], "time": column}), schema, unit="s")
    assert narrative.dead_letters == []
    assert [item.start for item in narrative.items()] == [60, 0]


def test_time_stamps_need_a_unit(schema: InputSchema) -> None:
    column = pa.array([1_500_000_001], pa.timestamp("ns"))
    (letter,) = read_object(pa.table({"type": ["up"], "time": column}), schema).dead_letters
    assert (letter.code, letter.line) == ("unit", 1)
    assert "1970-01-01 00:00:01.500000001" in letter.text


def test_bad_rows(schema: InputSchema) -> None:
    rows: list[dict[str, object]] = [
        {"type": "velocity", "time": 1.0, "a0": "v", "a1": 1.0, "a2": 1.0},
        {"type": "velocity", "time": 1.0, "a0": "v", "a1": float("nan"), "a2": 1.0},
        {"type": "velocity", "time": 1.0, "a0": "v", "a1": None, "a2": 1.0},
        {"type": "velocity", "time": 1.0, "a0": "v", "a1": 1.0},
        {"type": "velocity", "time": 1.5, "a0": "v", "a1": 1.0, "a2": 1.0},
        {"type": "velocity", "time": None, "a0": "v", "a1": 1.0, "a2": 1.0},
        {"type": "velocity", "time": float("nan"), "a0": "v", "a1": 1.0, "a2": 1.0},
        {"type": "veloccity", "time": 1.0},
        {"type": None, "time": 1.0},
        {"type": "up", "time": 1.0, "op": "x"},
        {"type": "up", "time": 1.0, "value": "x"},
        {"type": "near", "time": 1.0, "end": 1.0, "value": "x", "a0": "v", "a1": 1.0},
        {"type": "up", "time": 1.0, "start": 1.0},
        {"type": "near", "time": 1.0, "end": float("inf"), "value": "x", "a0": "v", "a1": 1.0},
    ]
    columns = ("type", "time", "start", "end", "op", "value", "a0", "a1", "a2")
    table = pa.table({c: pa.array([r.get(c) for r in rows], from_pandas=False) for c in columns})
    narrative = read_object(table, schema, name="rows")
    assert sorted(item.line for item in narrative.items()) == [1, 14]
    assert [(x.line, x.code) for x in narrative.dead_letters] == [
        (2, "bad-number"),
        (3, "null"),
        (4, "arity"),
        (5, "bad-time"),
        (6, "null"),
        (7, "null"),
        (8, "unknown-type"),
        (9, "null"),
        (10, "op"),
        (11, "value"),
        (12, "end-before-start"),
        (13, "form"),
    ]
    assert {letter.file for letter in narrative.dead_letters} == {"rows"}


@pytest.mark.parametrize("kind", [pa.list_, pa.large_list, lambda inner: pa.list_(inner, 2)])
def test_a_list_of_arguments(schema: InputSchema, kind: Any) -> None:
    args = pa.array([["a", "b"], ["c", None], ["d", "e"]], kind(pa.string()))
    table = pa.table({"type": ["go_to"] * 3, "time": [1, 2, 3], "args": args, "other": [1, 2, 3]})
    narrative = read_object(table, schema)
    assert [item.args for item in narrative.items()] == [("a", "b"), ("d", "e")]
    assert [letter.code for letter in narrative.dead_letters] == ["null"]


def test_lists_of_different_length(schema: InputSchema) -> None:
    table = pa.table(
        {
            "type": ["up", "level", "go_to", "up", "up"],
            "time": [1, 2, 3, 4, 5],
            "value": [None, 1, None, None, None],
            "args": [[], [1.5], [2.5, 3.5], None, [1.0]],
        }
    )
    narrative = read_object(table.slice(1), schema)
    assert [(i.name, i.args) for i in narrative.items()] == [
        ("go_to", (2.5, 3.5)),
        ("level", (1.5,)),
        ("up", ()),
    ]
    assert [(x.line, x.code) for x in narrative.dead_letters] == [(4, "arity")]


def test_answers_as_a_table_are_input_again(schema: InputSchema) -> None:
    table = answer_table(
        [
            AnswerRow("fluent", "working", ["New York"], 12, 14, None),
            AnswerRow("fluent", "working", [12], "12", 14, 20),
            AnswerRow("event", "go_to", [3.0, "x"], time=9),
        ]
    )
    items = list(read_object(table, schema).items())
    assert [(i.name, i.value, i.args, i.end) for i in items] == [
        ("go_to", None, (3.0, "x"), None),
        ("working", 12, ("New York",), None),
        ("working", "12", (12,), 20),
    ]


def test_tables_of_items_are_input_again(schema: InputSchema) -> None:
    text = "go_to|9|8|chris|12\n-go_to|9|8|12.5|New York\nnear|5|5|inf|1|x|y\n"
    narrative = read_object(text, schema)
    for table in narrative.tables:
        again = read_object(table.table, schema, type_name=table.name, name="<memory>")
        assert again.dead_letters == []
        assert [item[:9] for item in again.items()] == [item[:9] for item in table.items()]
        assert again.tables[0].table.schema.equals(table.table.schema, check_metadata=True)


def test_a_data_frame_with_gaps_and_mixed_columns(schema: InputSchema) -> None:
    frame = pd.DataFrame(
        {
            "type": ["working", "working", "up", "working", "up"],
            "start": [10.0, 11.0, 12.0, 13.0, 14.0],
            "end": [15, None, None, None, None],
            "value": ["true", 3, None, 3.5, float("nan")],
            "who": ["chris", 12, None, True, pd.NA],
        }
    )
    narrative = read_object(frame, schema)
    assert narrative.dead_letters == []
    assert [(i.start, i.end, i.value, i.args) for i in narrative.items()] == [
        (12, None, None, ()),
        (14, None, None, ()),
        (10, 15, "true", ("chris",)),
        (11, None, 3, (12,)),
        (13, None, 3.5, ("true",)),
    ]


def test_a_data_frame_with_time_stamps(schema: InputSchema) -> None:
    times = [pd.Timestamp("2024-03-01T12:00:00Z"), pd.NaT]
    frame = pd.DataFrame({"type": ["up", "up"], "time": times}, index=[5, 5])
    narrative = read_object(frame, schema, unit="h")
    assert [item.start for item in narrative.items()] == [1709294400 // 3600]
    assert [letter.code for letter in narrative.dead_letters] == ["null"]


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"time": [1]}, "no column says the type"),
        ({"type": ["up"]}, "no column says the time"),
        ({"type": ["up"], "time": [1], "a0": [{"x": 1}]}, "column 'a0' of type struct"),
        ({"type": ["up"], "time": [1], "a0": [b"\xff"]}, "column 'a0' of type binary"),
        ({"type": ["up"], "time": [1], "args": ["x"]}, "column 'args' of type string"),
        ({"type": ["up"], "time": [[1]]}, "cannot be"),
    ],
)
def test_columns_that_cannot_be_used(
    schema: InputSchema, columns: dict[str, Any], reason: str
) -> None:
    with pytest.raises(InputError, match=reason):
        read_object(pa.table(columns), schema)


def test_a_mixed_column_of_a_data_frame_that_cannot_be_used(schema: InputSchema) -> None:
    frame = pd.DataFrame({"type": ["up", "up"], "time": [1, 2], "a0": [{1, 2}, "x"]})
    with pytest.raises(InputError, match="column 'a0' cannot be used"):
        read_object(frame, schema)


def test_an_empty_table(schema: InputSchema) -> None:
    assert len(read_object(pa.table({"type": [], "time": []}), schema)) == 0


def test_values_that_are_no_numbers_and_kinds_that_do_not_fit(schema: InputSchema) -> None:
    rows = {"type": ["level"] * 3, "time": [1, 2, 3], "a0": ["x"] * 3}
    values = pa.array([float("nan"), float("inf"), 1.5], from_pandas=False)
    narrative = read_object(pa.table(rows | {"value": values}), schema)
    assert [item.start for item in narrative.items()] == [3]
    assert [letter.code for letter in narrative.dead_letters] == ["bad-number"] * 2
    kinds = {"value": ["a", "b", "c"], "kind": ["event", "fluent", None]}
    narrative = read_object(pa.table(rows | kinds), schema)
    assert [item.start for item in narrative.items()] == [2, 3]
    assert [letter.code for letter in narrative.dead_letters] == ["form"]


def test_an_event_and_a_fluent_of_one_name() -> None:
    schema = InputSchema.of([InputType("a", "event", 1), InputType("a", "fluent", 1)])
    table = pa.table({"type": ["a", "a"], "time": [1, 2], "value": [None, "v"], "a0": ["x", "y"]})
    assert [(i.kind, i.args) for i in read_object(table, schema).items()] == [
        ("event", ("x",)),
        ("fluent", ("y",)),
    ]


@pytest.mark.parametrize("layout", ["file", "stream"])
def test_offsets_that_point_elsewhere_are_refused(
    schema: InputSchema, tmp_path: Path, layout: str
) -> None:
    """Arrow itself would read memory wherever they point."""
    table = pa.table({"type": ["up", "up"], "time": [1, 2]})
    path = tmp_path / "s.arrow"
    make = pa.ipc.new_file if layout == "file" else pa.ipc.new_stream
    with make(str(path), table.schema) as writer:
        writer.write_table(table)
    offsets = struct.pack("<iii", 0, 2, 4)
    assert path.read_bytes().count(offsets) == 1
    forged = path.read_bytes().replace(offsets, struct.pack("<iii", 0, 2**24, 2**25))
    path.write_bytes(forged)
    with pytest.raises(InputError, match=r"s\.arrow"):
        read(path, schema)
