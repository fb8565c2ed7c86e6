"""Data frames in, data frames out, whatever the library."""

from __future__ import annotations

from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import horai
from horai.errors import UsageError

RULES = horai.loads(
    """
    initiatedAt(fast(V)=true, T) :- happensAt(speed(V, S), T), S > 20.
    terminatedAt(fast(V)=true, T) :- happensAt(speed(V, S), T), S =< 20.
    happensAt(sprint(V), T) :- happensAt(speed(V, S), T), S > 40.
    """
)
COLUMNS = {"ship": ["b", "a", "b"], "when": [5, 3, 9], "knots": [45, 8, 12]}
ROWS: list[dict[str, Any]] = [
    {"kind": "event", "name": "sprint", "args": ["b"], "value": None, "start": None, "time": 5},
    {"kind": "fluent", "name": "fast", "args": ["b"], "value": "true", "start": 6, "time": None},
]
MAKE: dict[str, Any] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "duckdb": lambda columns: duckdb.from_arrow(pa.table(columns)),
}


def rows_of(answer: Any) -> list[dict[str, Any]]:
    if isinstance(answer, pd.DataFrame):
        answer = pa.Table.from_pandas(answer)
    found = pa.table(answer).to_pylist()
    return [{name: row.get(name) for name in ROWS[0]} for row in found]


@pytest.mark.parametrize("library", MAKE)
def test_answers_come_in_the_library_of_the_items(library: str) -> None:
    data = MAKE[library](COLUMNS)
    found = horai.frame(data, event="speed", time="when", arguments=["ship", "knots"])
    assert repr(found) == f"<Frame of {library}>"
    answer = found.recognise(RULES)
    assert isinstance(answer, type(data))
    assert rows_of(answer) == ROWS
    assert found.run(RULES).holds_for("fast(b)=true") == [(6, 10)]


def test_rows_that_are_not_used_are_told() -> None:
    days = pd.DataFrame({**COLUMNS, "when": pd.to_datetime(["2024-05-01"] * 3)})
    found = horai.frame(days, event="speed", time="when", arguments=["ship", "knots"])
    with pytest.warns(UserWarning, match="3 rows of the frame not used; the first: time: "):
        assert found.recognise(RULES).empty
    assert len(found.recognise(RULES, unit="s")) == 1  # and no warning


@pytest.mark.parametrize("library", MAKE)
def test_a_frame_that_says_its_types_needs_no_names(library: str) -> None:
    data = MAKE[library]({"type": ["speed"], "time": [5], "ship": ["b"], "knots": [45]})
    assert len(rows_of(horai.frame(data).recognise(RULES, end=7))) == 2


def test_settings_and_files_of_rules(tmp_path: Any) -> None:
    path = tmp_path / "r.ec"
    path.write_text("initiatedAt(on=true, T) :- happensAt(up, T).")
    data = pd.DataFrame({"type": ["up"], "time": ["2026-01-01T00:00:09Z"]})
    answer = horai.frame(data).recognise(path, unit="s", answers="changelog")
    assert list(answer["op"]) == ["+"]


@pytest.mark.parametrize("kind", ["final", "changelog", "windows"])
def test_results_go_to_other_libraries(kind: str) -> None:
    result = RULES.run(["speed|5|5|b|45", "speed|9|9|b|2"], step=4, window=8, start=0)
    table = result.to_arrow(kind)
    assert table.num_rows == len(result.rows(kind)) > 0
    assert result.to_polars(kind).to_arrow().to_pylist() == table.to_pylist()
    assert result.to_duckdb(answers=kind).to_arrow_table().to_pylist() == table.to_pylist()
    with duckdb.connect() as connection:
        mine = result.to_duckdb(connection, kind)
        assert len(mine.fetchall()) == table.num_rows


@pytest.mark.parametrize(
    ("given", "names", "said"),
    [
        ([1, 2], {}, "list is no data frame"),
        (pd.DataFrame(COLUMNS), {"event": "speed"}, "which columns are the arguments of speed"),
        (pd.DataFrame(COLUMNS), {"arguments": ["ship"]}, "name the event, too"),
        (
            pl.DataFrame(COLUMNS),
            {"event": "speed", "time": "at", "arguments": ["ship", "kn"]},
            "no column at, kn",
        ),
    ],
)
def test_misuse_is_told(given: object, names: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        horai.frame(given, **names)


def test_a_library_that_is_absent_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(UsageError, match="polars is not installed"):
        RULES.run(["speed|5|5|b|45"]).to_polars()


def test_names_are_there_to_complete() -> None:
    assert {"load", "frame", "Result", "__version__"} <= set(dir(horai))
    assert not {"TYPE_CHECKING", "annotations"} & set(dir(horai))
    assert [name for name in horai.__all__ if name not in dir(horai)] == []
