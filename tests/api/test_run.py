"""A whole run from Python: query times, forms of input, forms of answer."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import horai

RULES = """
initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose_wallet(X), T).
happensAt(party(X), T) :- happensAt(win_lottery(X), T), \\+ holdsAt(rich(X)=true, T).
"""
LINES = ["win_lottery|13|13|chris", "lose_wallet|19|19|chris"]


@pytest.fixture
def rules() -> horai.Rules:
    return horai.loads(RULES)


def spans(result: horai.Result) -> list[tuple[int | None, int | None]]:
    return [(row.start, row.end) for row in result.rows("final") if row.kind == "fluent"]


def queries(result: horai.Result) -> list[int]:
    return [answer.query for answer in result.answers]


def test_without_window_there_is_one_answer_at_the_end(rules: horai.Rules) -> None:
    result = rules.run(LINES)
    assert queries(result) == [19]
    assert result.holds_for("rich(chris)=true") == [(14, 20)]


def test_step_without_window_asks_often_and_forgets_nothing(rules: horai.Rules) -> None:
    result = rules.run(["win_lottery|18|13|chris", "lose_wallet|19|19|chris"], start=0, step=5)
    assert queries(result) == [5, 10, 15, 19]
    assert result.holds_for("rich(chris)=true") == [(14, 20)]
    assert result.dead_letters == []


def test_window_without_step_steps_by_the_window(rules: horai.Rules) -> None:
    assert queries(rules.run(LINES, window=8, start=0, end=20)) == [8, 16, 20]


@pytest.mark.parametrize("step", [1, 2, 3, 4, 5, 7, 19, 100])
def test_the_final_answer_does_not_depend_on_the_step(rules: horai.Rules, step: int) -> None:
    result = rules.run(LINES, start=0, step=step)
    assert queries(result)[-1] == 19
    assert spans(result) == [(14, 20)]


def test_the_run_starts_at_the_point_before_the_first_occurrence(rules: horai.Rules) -> None:
    result = rules.run(["win_lottery|13|13|chris"], window=1)
    assert queries(result) == [13]
    assert spans(result) == [(14, None)]


def test_the_start_lies_on_the_grid_of_the_tick(rules: horai.Rules) -> None:
    result = rules.run(["win_lottery|23|23|chris", "lose_wallet|40|40|chris"], tick=10, window=10)
    assert queries(result) == [30, 40]
    assert spans(result) == [(30, 50)]


def test_the_end_is_the_last_time_named_even_an_arrival(rules: horai.Rules) -> None:
    assert queries(rules.run(["win_lottery|25|13|chris"])) == [25]


def test_a_point_of_an_input_fluent_names_one_time() -> None:
    rules = horai.loads(
        "points(near(X)=true).\nholdsFor(seen(X)=true, I) :- holdsFor(near(X)=true, I)."
    )
    assert queries(rules.run(["near|7|7|true|a"])) == [7]


def test_no_input_gives_no_answer(rules: horai.Rules) -> None:
    result = rules.run([])
    assert (result.answers, result.rows(), result.dead_letters) == ([], [], [])
    assert len(result.spans) == len(result.events) == len(result.to_pandas()) == 0


def test_no_input_between_a_start_and_an_end_shows_what_holds_anyway() -> None:
    rules = horai.loads("initially(on=true).\nterminatedAt(on=true, T) :- happensAt(off, T).")
    result = rules.run([], start=0, end=10)
    assert [row.value for row in result.rows()] == ["true"]


@pytest.mark.parametrize("form", ["lines", "text", "dicts", "arrow", "pandas", "file"])
def test_every_form_of_input_says_the_same(rules: horai.Rules, form: str, tmp_path: Path) -> None:
    dicts = [
        {"type": "win_lottery", "time": 13, "args": ["chris"]},
        {"type": "lose_wallet", "time": 19, "args": ["chris"]},
    ]
    columns = {"type": ["win_lottery", "lose_wallet"], "time": [13, 19], "who": ["chris"] * 2}
    path = tmp_path / "day.csv"
    path.write_text("\n".join(LINES) + "\n")
    given: dict[str, object] = {
        "lines": LINES,
        "text": "\n".join(LINES),
        "dicts": dicts,
        "arrow": pa.table(columns),
        "pandas": pd.DataFrame(columns),
        "file": path,
    }
    assert spans(rules.run(given[form])) == [(14, 20)]


def test_rows_come_in_three_forms(rules: horai.Rules) -> None:
    result = rules.run(LINES, start=0, step=15, end=30)
    shown = [(r.kind, r.start, r.end, r.time, r.query, r.op) for r in result.rows("changelog")]
    assert shown == [
        ("event", None, None, 13, 15, "+"),
        ("fluent", 14, None, None, 15, "+"),
        ("fluent", 14, None, None, 30, "-"),
        ("fluent", 14, 20, None, 30, "+"),
    ]
    windows = [(row.query, row.start, row.end) for row in result.rows("windows")]
    assert windows == [(15, None, None), (15, 14, None), (30, None, None), (30, 14, 20)]
    assert len(rules.run(LINES, answers="windows", start=0, step=15, end=30).rows()) == 4


def test_tables_and_frames(rules: horai.Rules) -> None:
    result = rules.run(LINES)
    assert result.spans.to_pylist() == [
        {"name": "rich", "args": ["chris"], "value": "true", "start": 14, "end": 20}
    ]
    assert result.events.to_pylist() == [{"name": "party", "args": ["chris"], "time": 13}]
    frame = result.to_pandas()
    assert list(frame.columns) == ["kind", "name", "args", "value", "start", "end", "time"]
    assert frame["args"].tolist() == [("chris",), ("chris",)]
    assert "rich" in result._repr_html_()
    assert repr(result) == "<Result: 1 interval, 1 event, 1 query time, 0 dead letters>"


def test_input_is_shown_on_request(rules: horai.Rules) -> None:
    names = [row.name for row in rules.run(LINES, include_input=True).rows()]
    assert names == ["lose_wallet", "party", "win_lottery", "rich"]


def test_what_was_not_used_is_told(rules: horai.Rules) -> None:
    lines = [
        "win_lottery|13|13|chris",
        "lose_wallet|x|19|chris",
        "lose_wallet|40|12|chris",
        "-win_lottery|20|19|chris",
        "lose_wallet|99|99|chris",
        "win_lottery|5|0|chris",
    ]
    result = rules.run(lines, window=10, step=10, start=0, end=50)
    assert [(letter.line, letter.code) for letter in result.dead_letters] == [
        (2, "bad-time"),
        (3, "too-late"),
        (4, "unknown-retraction"),
        (5, "outside-run"),
        (6, "outside-run"),
    ]
    assert result.dead_letters[3].text == "lose_wallet|99|99|chris"


def test_strict_stops_at_a_bad_row_but_not_at_a_late_one(rules: horai.Rules) -> None:
    with pytest.raises(horai.InputError, match="not a time"):
        rules.run(["win_lottery|x|13|chris"], strict=True)
    late = ["win_lottery|30|1|chris", "win_lottery|30|30|chris"]
    assert len(rules.run(late, window=5, strict=True).dead_letters) == 1


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"window": 0}, "window must be above 0, not 0"),
        ({"step": -1}, "step must be above 0, not -1"),
        ({"tick": 0}, "tick must be above 0, not 0"),
        ({"allen_memory": -1}, "allen-memory must be at least 0, not -1"),
        ({"start": 5, "end": 5}, "the end of the run, 5, is not after its start, 5"),
        ({"start": 50}, "the input ends at 19, not after the start of the run, 50"),
        ({"end": 3}, "the input begins after 12, not before the end of the run, 3"),
        ({"start": -(10**12), "step": 1}, "there are more than 10,000,000 query times"),
        ({"engine": "warp"}, "there is no engine 'warp'"),
        ({"answers": "all"}, "answers cannot be 'all'"),
        ({"unit": "year"}, "unit cannot be 'year'"),
        ({"time_in": "ms"}, "times in ms need a unit"),
        ({"input_format": "xml"}, "input-format cannot be 'xml'"),
        ({"start": "2024-01-01"}, "start: ISO time needs --unit"),
        ({"start": "soon"}, "start: 'soon' is not a time"),
        ({"step": "x"}, "step must be a whole number, not 'x'"),
        ({"window": 1.5}, "window must be a whole number, not 1.5"),
        ({"window": 10**30}, "window must be at most"),
        ({"tick": True}, "tick must be a whole number, not True"),
        ({"allen_memory": [1]}, "allen-memory must be a whole number"),
        ({"progress": "x"}, "progress must be a function, not 'x'"),
        ({"profile": "x"}, "profile must be a Profile"),
    ],
)
def test_wrong_settings_are_explained(
    rules: horai.Rules, settings: dict[str, object], problem: str
) -> None:
    with pytest.raises(horai.UsageError, match=problem):
        rules.run(LINES, **settings)  # type: ignore[arg-type]


def test_times_of_the_run_may_be_iso() -> None:
    rules = horai.loads(RULES)
    lines = ["win_lottery|2024-01-01T00:00:13Z|2024-01-01T00:00:13Z|chris"]
    result = rules.run(lines, unit="s", start="2024-01-01", end="2024-01-01T00:01:00Z")
    assert queries(result) == [1704067260]
    assert spans(result) == [(1704067214, None)]


def test_epoch_times_in_another_unit(rules: horai.Rules) -> None:
    lines = ["win_lottery|13000|13999|chris", "lose_wallet|19000|19000|chris"]
    assert spans(rules.run(lines, unit="s", time_in="ms")) == [(14, 20)]
    session = rules.session(start=0, unit="s", time_in="ms")
    assert [row.end for row in session.advance(30, lines).spans] == [20]


def test_a_file_of_any_name(rules: horai.Rules, tmp_path: Path) -> None:
    path = tmp_path / "stream.log"
    path.write_text("\n".join(LINES) + "\n")
    with pytest.raises(horai.InputError, match="does not tell its format"):
        rules.run(path)
    assert spans(rules.run(path, input_format="narrative")) == [(14, 20)]


def test_progress_is_told(rules: horai.Rules) -> None:
    seen: list[tuple[int, int]] = []
    rules.run(LINES, start=0, end=30, step=10, progress=lambda done, all: seen.append((done, all)))
    assert seen == [(1, 3), (2, 3), (3, 3)]
