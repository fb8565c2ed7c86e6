"""Objects of one shape are read together as they are read one by one."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from horai.io import InputSchema, InputType, Narrative, read_object
from horai.io.items.json import MANY, read_object_rows
from horai.io.items.rows import RowReader
from horai.io.items.tables import Harvest
from horai.io.times import TimeScale

SCHEMA = InputSchema.of(
    [
        InputType("up", "event", 0),
        InputType("go", "event", 1),
        InputType("go", "event", 2),
        InputType("level", "fluent", 1, "points"),
        InputType("near", "fluent", 1, "intervals"),
        InputType("busy", "fluent", 1),
        InputType("go", "fluent", 1),
    ]
)
Row = dict[str, Any]
COMMON: list[Row] = [
    {"type": "up", "time": 5},
    {"type": "go", "time": 5, "args": ["x"]},
    {"type": "go", "time": 5, "args": ["x"], "value": "v", "op": None},
    {"name": "go", "arrival": 7, "time": 5, "args": ["x", 1]},
    {"type": "level", "time": 5, "value": 1.5, "args": ["x"]},
    {"type": "near", "start": 5, "end": 9, "value": "true", "args": ["x"], "kind": "fluent"},
    {"type": "busy", "start": 5, "end": None, "time": None, "value": True, "args": ["x"]},
    {"type": "busy", "time": 5, "end": 9, "value": True, "args": ["x"]},
    {"type": "up", "time": "5", "op": "insert", "args": []},
]
ODD: dict[str, list[Any]] = {
    "type": ["zz", None, 7, ["up"]],
    "kind": ["event", None, "fluent"],
    "time": [None, 5, "7", "x", True, 2**63, -(2**63), 9.0, "1970-01-01", [1]],
    "start": [None, 5, 6, "6"],
    "end": [None, 9, 5, "inf", "9", 2**64],
    "arrival": [None, 3, "3", "x"],
    "value": [None, "v", 3, 3.0, False, float("nan"), "\ud800", [1]],
    "op": [None, "-", "retract", "insert", "maybe", 1, ["-"]],
    "args": [None, [], ["y"], ("y",), [1], [1.5], [True], ["y", "z"], [None], [2**70], [[]], "y"],
}


@st.composite
def streams(draw: st.DrawFn) -> list[Row]:
    """Many copies of a few rows, some of them with another value somewhere."""
    rows: list[Row] = []
    for _ in range(draw(st.integers(1, 2))):
        base = draw(st.sampled_from(COMMON))
        copies = [dict(base) for _ in range(MANY + 2)]
        for _ in range(draw(st.integers(0, 2))):
            key = draw(st.sampled_from([key for key in base if key in ODD]))
            odd = draw(st.sampled_from(ODD[key]))
            for copy in draw(st.sampled_from([copies, copies[:1], copies[3:5], copies[-1:]])):
                copy[key] = odd
        rows += copies
    return rows


def outcome(narrative: Narrative) -> tuple[list[str], list[tuple[int, str]]]:
    items = sorted(narrative.items(), key=lambda item: item.line)
    return [repr(item) for item in items], [(x.line, x.code) for x in narrative.dead_letters]


@given(streams(), st.sampled_from([None, ("s", None), ("s", "ms"), ("ms", "d")]))
@example([{"type": "go", "time": 5, "args": ["x"], "op": ["-"]}] * 20, None)
def test_together_and_one_by_one(rows: list[Row], units: Any) -> None:
    unit, time_in = units or (None, None)
    together = read_object(rows, SCHEMA, unit=unit, time_in=time_in)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("horai.io.items.json.MANY", 10**9)
        alone = read_object(rows, SCHEMA, unit=unit, time_in=time_in)
    assert outcome(together) == outcome(alone)


@pytest.mark.parametrize("row", COMMON)
def test_common_rows_are_read_together(row: Row) -> None:
    harvest = Harvest(RowReader(SCHEMA, TimeScale(), "f"))
    read_object_rows([row] * MANY, harvest)
    assert [len(block) for block in harvest.tables] == [MANY]
    assert (harvest.items, harvest.letters) == ([], [])


def test_rows_come_in_order_whatever_their_shape() -> None:
    rows = [{"type": "up", "time": i} for i in range(MANY)]
    rows[3:3] = [{"name": "up", "time": 100, "op": "-"}, {"type": "up"}]
    narrative = read_object(rows, SCHEMA)
    assert [item.line for item in narrative.items()] == [*range(1, 5), *range(6, MANY + 3)]
    assert [letter.line for letter in narrative.dead_letters] == [5]
