"""Events, point values and interval values are taken back and revised in every format of input."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import horai
from horai import io
from horai.runtime import engines
from horai.runtime.inputs import row_text

RULES = horai.loads("""
initiatedAt(on(X)=true, T) :- happensAt(up(X), T).
initiatedAt(seen(X)=L, T) :- happensAt(look(X), T), holdsAt(level(X)=L, T).
holdsFor(busy(X)=true, I) :- holdsFor(working(X)=true, I1), union_all([I1], I).
""")
Row = dict[str, Any]
Form = Callable[[list[Row], Path], object]
NAMES = ["type", "arrival", "time", "start", "end", "value", "op", "who"]


def event(name: str, time: int, who: str, *, at: int | None = None, op: str = "insert") -> Row:
    return {"type": name, "arrival": at or time, "time": time, "op": op, "who": who}


def level(value: float, time: int, who: str, *, at: int | None = None, op: str = "insert") -> Row:
    return {**event("level", time, who, at=at, op=op), "value": value}


def working(
    start: int, end: int | None, who: str, *, at: int | None = None, op: str = "insert"
) -> Row:
    row = {**event("working", start, who, at=at, op=op), "start": start, "end": end}
    return {**row, "time": None, "value": "true"}


def listed(rows: list[Row]) -> list[Row]:
    """Rows with the arguments as a list, and nothing said that need not be said."""
    return [
        {key: value for key, value in row.items() if value is not None and key != "who"}
        | {"args": [row["who"]]}
        for row in rows
    ]


def narrative(rows: list[Row]) -> list[str]:
    read = io.read_object(listed(rows), RULES.schema)
    lines = {item.line: row_text(item) for item in read.items()}
    return [lines[place] for place in sorted(lines)]


def columns(rows: list[Row]) -> dict[str, list[Any]]:
    """The columns of tables; a column has one type, so levels are texts beside `true`."""
    return {name: [row.get(name) for row in rows] for name in NAMES}


def arrow(rows: list[Row]) -> pa.Table:
    filled = columns(rows)
    values = [None if value is None else str(value) for value in filled.pop("value")]
    field = pa.field("value", pa.string(), metadata={"horai.type": "term"})
    return pa.table(filled).append_column(field, pa.array(values, pa.string()))


def csv_file(rows: list[Row], folder: Path) -> object:
    pd.DataFrame(columns(rows)).astype("object").to_csv(folder / "rows.csv", index=False)
    return folder / "rows.csv"


def json_lines(rows: list[Row], folder: Path) -> object:
    (folder / "rows.jsonl").write_text("\n".join(json.dumps(row) for row in listed(rows)))
    return folder / "rows.jsonl"


def json_array(rows: list[Row], folder: Path) -> object:
    (folder / "rows.json").write_text(json.dumps(listed(rows)))
    return folder / "rows.json"


def narrative_file(rows: list[Row], folder: Path) -> object:
    (folder / "rows.txt").write_text("\n".join(narrative(rows)))
    return folder / "rows.txt"


def parquet_file(rows: list[Row], folder: Path) -> object:
    pyarrow.parquet.write_table(arrow(rows), folder / "rows.parquet")
    return folder / "rows.parquet"


def arrow_file(rows: list[Row], folder: Path) -> object:
    pyarrow.feather.write_feather(arrow(rows), str(folder / "rows.arrow"))
    return folder / "rows.arrow"


def data_frame(rows: list[Row], folder: Path) -> object:
    frame = pd.DataFrame(columns(rows))
    # In a data frame whole numbers with gaps are often decimals, and so is an op of 1 and -1.
    return frame.assign(op=frame["op"].map({"insert": float("nan"), "retract": -1.0}))


def python_items(rows: list[Row], folder: Path) -> object:
    return io.Narrative.from_items(io.read_object(listed(rows), RULES.schema).items())


def two_files(rows: list[Row], folder: Path) -> object:
    """What is taken back need not be of the format it came in."""
    taken = [row for row in rows if row["op"] == "retract"]
    given = [row for row in rows if row["op"] != "retract"]
    return [str(narrative_file(given, folder)), str(parquet_file(taken, folder))]


FORMS: dict[str, Form] = {
    "narrative lines": lambda rows, folder: narrative(rows),
    "narrative text": lambda rows, folder: "\n".join(narrative(rows)),
    "narrative file": narrative_file,
    "csv": csv_file,
    "json lines": json_lines,
    "json array": json_array,
    "parquet": parquet_file,
    "arrow file": arrow_file,
    "arrow table": lambda rows, folder: arrow(rows),
    "data frame": data_frame,
    "dicts": lambda rows, folder: listed(rows),
    "items": python_items,
    "two files": two_files,
}
ALL = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
ENGINE = pytest.mark.parametrize("engine", sorted(engines.ENGINES))


def run(rows: list[Row], form: Form, folder: Path, engine: str) -> horai.Result:
    return RULES.run(form(rows, folder), start=0, end=40, window=20, step=10, engine=engine)


def codes(result: horai.Result) -> list[tuple[str, str]]:
    """Code and text of all dead letters; places differ from format to format."""
    return sorted((letter.code, letter.text) for letter in result.dead_letters)


GIVEN = [
    event("up", 3, "a"),
    event("up", 4, "b"),
    level(7.5, 5, "a"),
    level(8.5, 6, "a"),
    event("look", 5, "a"),
    event("look", 6, "a"),
    working(12, 15, "a"),
    working(17, None, "b"),
]


@ENGINE
@ALL
def test_what_is_taken_back_was_never_there(form: Form, engine: str, tmp_path: Path) -> None:
    gone = [
        event("up", 3, "a", at=8, op="retract"),
        level(7.5, 5, "a", at=14, op="retract"),
        working(12, 15, "a", at=19, op="retract"),
        working(17, None, "b", at=29, op="retract"),
    ]
    result = run([*GIVEN, *gone], form, tmp_path, engine)
    assert codes(result) == []
    assert result.holds_for("on(a)=true") == []
    assert result.holds_for("on(b)=true") == [(5, float("inf"))]
    assert result.holds_for("seen(a)=7.5") == []
    assert result.holds_for("seen(a)=8.5") == [(7, float("inf"))]
    assert result.holds_for("busy(a)=true") == result.holds_for("busy(b)=true") == []


@ENGINE
@ALL
def test_a_revision_is_a_retraction_and_an_insertion(
    form: Form, engine: str, tmp_path: Path
) -> None:
    revised = [
        event("up", 3, "a", at=8, op="retract"),
        event("up", 9, "a", at=12),
        level(7.5, 5, "a", at=14, op="retract"),
        level(9.5, 5, "a", at=14),
        working(12, 15, "a", at=19, op="retract"),
        working(12, 18, "a", at=19),
        working(17, None, "b", at=29, op="retract"),
        working(17, 25, "b", at=29),
    ]
    result = run([*GIVEN, *revised], form, tmp_path, engine)
    assert codes(result) == []
    assert result.holds_for("on(a)=true") == [(10, float("inf"))]
    assert result.holds_for("seen(a)=7.5") == []
    assert result.holds_for("seen(a)=9.5") == [(6, 7)]
    assert result.holds_for("busy(a)=true") == [(12, 18)]
    assert result.holds_for("busy(b)=true") == [(17, 25)]


@ENGINE
@ALL
def test_what_was_never_there_cannot_be_taken_back(form: Form, engine: str, tmp_path: Path) -> None:
    unknown = [
        event("up", 3, "z", at=8, op="retract"),
        event("up", 2, "a", at=8, op="retract"),
        level(7.0, 5, "a", at=8, op="retract"),
        working(12, 16, "a", at=19, op="retract"),
        working(17, 30, "b", at=19, op="retract"),
    ]
    result = run([*GIVEN, *unknown], form, tmp_path, engine)
    assert codes(result) == [
        ("unknown-retraction", "-level|8|5|7.0|a"),
        ("unknown-retraction", "-up|8|2|a"),
        ("unknown-retraction", "-up|8|3|z"),
        ("unknown-retraction", "-working|19|12|16|true|a"),
        ("unknown-retraction", "-working|19|17|30|true|b"),
    ]
    assert {letter.reason for letter in result.dead_letters} == {
        "nothing equal to it has arrived before"
    }
    assert result.rows() == run(GIVEN, form, tmp_path, engine).rows()


@ENGINE
@ALL
def test_what_has_become_final_cannot_be_taken_back(
    form: Form, engine: str, tmp_path: Path
) -> None:
    late = [
        event("up", 3, "a", at=28, op="retract"),
        level(7.5, 5, "a", at=28, op="retract"),
        working(2, 9, "c", at=9),
        working(2, 9, "c", at=31, op="retract"),
        working(12, 15, "a", at=39, op="retract"),
        working(17, None, "b", at=39, op="retract"),
    ]
    result = run([*GIVEN, *late], form, tmp_path, engine)
    assert codes(result) == [
        ("partly-too-late", "-working|39|17|inf|true|b"),
        ("too-late", "-level|28|5|7.5|a"),
        ("too-late", "-up|28|3|a"),
        ("too-late", "-working|31|2|9|true|c"),
        ("too-late", "-working|39|12|15|true|a"),
    ]
    reasons = {letter.text: letter.reason for letter in result.dead_letters}
    assert reasons["-up|28|3|a"] == "it lies at or before 10, where the window at 30 begins"
    assert reasons["-working|39|17|inf|true|b"] == (
        "only its part from 21 on is taken back; what is before is final"
    )
    assert result.holds_for("on(a)=true") == [(4, float("inf"))]
    assert result.holds_for("busy(b)=true") == [(17, 21)]


@ENGINE
def test_a_session_takes_back_what_came_in_another_format(engine: str, tmp_path: Path) -> None:
    session = RULES.session(start=0, window=20, engine=engine)
    session.advance(10, narrative([event("up", 3, "a"), working(5, 8, "a")]))
    answer = session.advance(
        20, arrow([working(5, 8, "a", at=12, op="retract"), event("up", 3, "a", at=12, op="-")])
    )
    assert [(row.op, row.name) for row in answer.changes] == [("-", "busy"), ("-", "on")]
    assert session.finish().dead_letters == []


@ENGINE
def test_one_retraction_takes_back_one_of_two_equal_items(engine: str) -> None:
    twice = ["up|3|3|a", "up|4|3|a", "-up|5|3|a"]
    assert RULES.run(twice, start=0, end=9, engine=engine).holds_for("on(a)=true") != []
    assert RULES.run([*twice, "-up|5|3|a"], start=0, end=9, engine=engine).rows() == []


def test_an_operation_that_revises_is_told_to_be_two_rows() -> None:
    rows = [{"type": "up", "time": 3, "args": ["a"], "op": "revise"}]
    for given in (rows, pa.Table.from_pylist(rows)):
        letter = RULES.run(given, start=0, end=9).dead_letters[0]
        assert letter.code == "op"
        assert "a revision is two rows" in letter.reason
