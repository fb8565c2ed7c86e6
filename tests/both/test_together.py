"""A description and a program as one: stages, answers, what is refused, what is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from scripts.make_diagnostics_page import BORDER, example_findings

import horai
from horai.cli.app import app
from horai.lang.core.diagnostics import RulesError, Severity, all_codes
from horai.rules import Rules

CODES = {code: info for code, info in all_codes().items() if code.startswith("H9")}

UP = "initiatedAt(on(X)=true, T) :- happensAt(hot(X), T)."
DOWN = "terminatedAt(on(X)=true, T) :- happensAt(reset(X), T)."


def both(description: str, program: str) -> Rules:
    return horai.combine(horai.loads(description), horai.loads(program, language="lars"))


def spans(result: object, name: str) -> list[tuple[object, ...]]:
    rows = result.rows()  # type: ignore[attr-defined]
    return [(*r.args, r.start, r.end) for r in rows if r.name == name]


# --- stages --------------------------------------------------------------------------------------


def test_the_language_may_change_several_times() -> None:
    description = f"{UP}\n{DOWN}\ninitiatedAt(known(X)=true, T) :- happensAt(old(X), T)."
    program = "hot(X) :- always heat(X) [1].\nold(X) :- always on(X) [2].\nseen :- known(X) [9]."
    pair = both(description, program)
    assert [stage.language for stage in pair.stages] == [
        *("program", "description", "program", "description", "program")
    ]
    result = pair.run(["heat|1|1|x", "heat|2|2|x", "reset|7|7|x"], start=0, end=9)
    assert spans(result, "hot") == [("x", 1, 3)]
    assert spans(result, "on") == [("x", 2, 8)]
    assert spans(result, "old") == [("x", 4, 8)]
    assert spans(result, "known") == [("x", 5, None)]
    assert spans(result, "seen") == [(5, 10)]


def test_side_by_side_there_are_two_stages() -> None:
    pair = both("initiatedAt(on=true, T) :- happensAt(up, T).", "h :- a [2].")
    assert len(pair.stages) == 2
    result = pair.run(["up|1|1", "a|2|2"], start=0, end=5)
    assert [(row.name, row.start, row.end) for row in result.rows()] == [
        ("h", 2, 5),
        ("on", 2, None),
    ]


def test_a_filter_chooses_what_of_the_program_is_shown() -> None:
    pair = both("initiatedAt(on=true, T) :- happensAt(up, T).", "h :- a [2]. k :- a [1].")
    rows = ["up|1|1", "a|2|2"]
    found = {
        words: {row.name for row in pair.run(rows, start=0, end=5, filter=words).rows()}
        for words in ("inferences", "none", "k")
    }
    assert found == {"inferences": {"h", "k", "on"}, "none": {"h", "k", "on"}, "k": {"k", "on"}}


def test_values_pass_in_both_directions() -> None:
    description = (
        "initiatedAt(light(X)=red, T) :- happensAt(stop(X), T).\n"
        "initiatedAt(light(X)=green, T) :- happensAt(go(X), T).\n"
        "holdsFor(jam(X)=true, I) :- holdsFor(load(X)=high, I)."
    )
    program = "load(X, high) :- always light(X, red) [2].\nload(X, low) :- light(X, green)."
    result = both(description, program).run(["stop|1|1|x", "go|6|6|x"], start=0, end=9)
    assert spans(result, "load") == [("x", "high", 4, 7), ("x", "low", 7, 10)]
    assert spans(result, "jam") == [("x", 4, 7)]


def test_rows_of_input_fluents_are_signals_of_the_program() -> None:
    description = (
        "collectIntervals(open(X)=true).\ninitiatedAt(on(X)=true, T) :- happensAt(hot(X), T)."
    )
    result = both(description, "hot(X) :- always open(X) [2].").run(
        ["open|1|2|6|true|x"], start=0, end=9
    )
    assert spans(result, "hot") == [("x", 4, 6)]
    assert spans(result, "on") == [("x", 5, None)]


# --- several answers, and none -------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["auto", "asp", "reference"])
def test_of_several_answers_what_holds_in_all_counts(engine: str) -> None:
    program = "hot(x) :- heat, not hot(y).\nhot(y) :- heat, not hot(x).\nhot(z) :- heat [2]."
    result = both(UP, program).run(["heat|3|3"], start=0, end=9, engine=engine)
    assert spans(result, "hot") == [("z", 3, 6)]
    assert spans(result, "on") == [("z", 4, None)]


@pytest.mark.parametrize("engine", ["auto", "plan", "asp", "reference"])
def test_without_an_answer_nothing_holds(engine: str) -> None:
    program = "hot(X) :- heat(X) [4].\n:- heat(X), broken [1]."
    rows = ["heat|2|2|x", "broken|3|3", "heat|4|4|y"]
    result = both(UP, program).run(rows, start=0, end=6, engine=engine, step=2)
    assert result.unanswered == [(4, 5)]
    assert spans(result, "hot") == [("x", 2, 4), ("x", 5, 7), ("y", 5, 7)]


def test_truth_maintenance_says_that_it_finds_one_answer_only() -> None:
    program = "hot(x) :- heat, not hot(y).\nhot(y) :- heat, not hot(x)."
    with pytest.raises(horai.UsageError, match="several models"):
        both(UP, program).run(["heat|3|3"], start=0, end=4, engine="tms")


# --- what is known when --------------------------------------------------------------------------


def test_late_and_retracted_rows_change_what_held_before() -> None:
    pair = both(f"{UP}\n{DOWN}", "hot(X) :- always heat(X) [2].")
    session = pair.session(start=0)
    first = session.advance(5, ["heat|3|3|x", "heat|5|5|x"])
    assert first.rows() == []
    second = session.advance(6, ["heat|6|4|x"])
    assert [(r.name, r.start, r.end) for r in second.rows()] == [("hot", 5, 6), ("on", 6, None)]
    third = session.advance(7, ["-heat|7|3|x"])
    assert third.rows() == []
    told = [(r.query, r.op, r.name) for r in session.finish().rows("changelog")]
    assert told == [(6, "+", "hot"), (6, "+", "on"), (7, "-", "hot"), (7, "-", "on")]


def test_what_left_the_window_is_final() -> None:
    pair = both(UP, "hot(X) :- always heat(X) [2].")
    rows = ["heat|3|3|x", "heat|5|5|x", "heat|12|4|x", "-heat|13|3|x", "-other|9|9"]
    result = pair.run(rows, start=0, end=14, step=2, window=4)
    assert result.rows() == []
    assert [(letter.line, letter.code) for letter in result.dead_letters] == [
        (3, "too-late"),
        (4, "too-late"),
        (5, "unknown-type"),
    ]


def test_rows_outside_of_the_run_are_told_once() -> None:
    pair = both(f"{UP}\n{DOWN}", "hot(X) :- heat(X) [2].")
    rows = ["heat|1|1|x", "reset|1|1|x", "heat|9|9|x", "-heat|4|4|x", "heat|4|7|x"]
    result = pair.run(rows, start=2, end=6)
    assert [(letter.line, letter.code) for letter in result.dead_letters] == [
        (1, "outside-run"),
        (2, "outside-run"),
        (3, "outside-run"),
        (4, "unknown-retraction"),
        (5, "outside-run"),
    ]


def test_rows_that_lie_ahead_are_seen_by_windows_that_look_there() -> None:
    pair = both(UP, "hot(X) :- heat(X) [+2].")
    session = pair.session(start=0)
    first = session.advance(3, ["heat|2|4|x", "heat|3|5|y", "heat|4|5|z", "heat|3|9|z"])
    assert [(r.args, r.start, r.end) for r in first.rows() if r.name == "hot"] == [
        (("x",), 2, 4),
        (("y",), 3, 4),
    ]
    session = horai.load_session(session.save())
    second = session.advance(4, ["-heat|4|4|x"])
    assert [(r.args, r.start, r.end) for r in second.rows() if r.name == "hot"] == [
        (("y",), 3, 5),
        (("z",), 3, 5),
    ]
    assert [(letter.line, letter.code) for letter in session.finish().dead_letters] == [
        (2, "outside-run"),
        (3, "outside-run"),
        (4, "outside-run"),
    ]


@pytest.mark.parametrize("before", ["", "-heat|4|4|x"])
def test_a_retraction_takes_back_what_comes_with_it(before: str) -> None:
    """Both languages take rows in by arrival, insertions first."""
    pair = both(UP, "hot(X) :- heat(X).")
    rows = [before, "heat|4|4|x", "heat|5|5|x", "-heat|5|5|x"]
    result = pair.run([row for row in rows if row], start=0, end=6)
    assert result.dead_letters == []
    assert spans(result, "hot") == ([] if before else [("x", 4, 5)])


def test_windows_that_count_let_every_name_in() -> None:
    pair = both(UP, "hot(X) :- heat(X) [2 #].")
    result = pair.run(["heat|1|1|x", "a|2|2", "b|3|3|q|r"], start=0, end=4)
    assert result.dead_letters == []
    assert spans(result, "hot") == [("x", 1, 3)]


def test_a_form_of_answer_that_was_not_kept_is_refused_kindly() -> None:
    asked: dict[str, Any] = {"start": 0, "end": 2, "step": 1, "answers": "windows"}
    result = both(UP, "hot(X) :- heat(X).").run(["heat|1|1|x"], **asked)
    told = [(row.query, row.name) for row in result.rows()]
    assert told == [(1, "hot"), (1, "on"), (2, "hot"), (2, "on")]
    with pytest.raises(horai.UsageError, match="did not keep the changelog"):
        result.rows("changelog")


# --- what does not fit together ------------------------------------------------------------------


@pytest.mark.parametrize("code", CODES)
def test_the_example_of_a_code_triggers_it(code: str) -> None:
    events, windows = CODES[code].example.split(BORDER)
    found = example_findings(events, windows)
    assert {(f.code, f.severity) for f in found} == {(code, CODES[code].severity)}
    assert all(f.hint and f.source for f in found)


def test_a_circle_is_named() -> None:
    with pytest.raises(RulesError) as wrong:
        both(UP, "hot(X) :- warm(X), not on(X).\nwarm(X) :- heat(X) [3].").run(["heat|1|1|x"])
    (finding,) = wrong.value.diagnostics
    assert finding.code == "H901"
    way = "hot/1 of the program -> on/1 of the description -> hot/1 of the program"
    assert finding.message.endswith(way)


def test_a_name_that_the_other_language_derives_is_no_doubt() -> None:
    description = "holdsFor(busy(X)=true, I) :- holdsFor(hot(X)=true, I)."
    assert [w.code for w in horai.loads(description).warnings] == ["H202"]
    assert both(description, "hot(X) :- heat(X) [2].").check() == []


def test_together_takes_rules_and_a_program() -> None:
    with pytest.raises(horai.UsageError, match="a LARS program"):
        horai.combine(horai.loads("h :- a.", language="lars"), horai.loads(UP))


def test_severities() -> None:
    levels = {code: info.severity for code, info in CODES.items()}
    assert levels["H901"] is Severity.ERROR
    assert levels["H902"] is Severity.WARNING


# --- the command line ----------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("r.prolog").write_text(f"{UP}\n{DOWN}\n")
    Path("p.lars").write_text("hot(X) :- room(X), always heat(X) [2 s].\n")
    Path("facts.lars").write_text("room(x).\n")
    Path("f.csv").write_text("heat|1|1|x\nheat|2|2|x\nheat|2|2|y\nreset|9|9|x\n")
    return tmp_path


def run(*words: str) -> tuple[int, str, str]:
    found = CliRunner().invoke(app, list(words), env={"COLUMNS": "200"})
    return found.exit_code, found.stdout, found.stderr


def test_files_stand_in_any_order(files: Path) -> None:
    words = ("-b", "facts.lars", "-i", "f.csv", "--clock", "1s", "--start", "0", "--end", "12")
    code, out, err = run("run", "p.lars", "r.prolog", *words)
    assert (code, err) == (0, "")
    assert [json.loads(line) for line in out.splitlines()] == [
        {"kind": "atom", "name": "hot", "args": ["x"], "start": 1, "end": 3},
        {"kind": "fluent", "name": "on", "args": ["x"], "value": "true", "start": 2, "end": 10},
    ]
    assert run("run", "r.prolog", "p.lars", *words) == (code, out, err)
    assert run("run", "r.prolog", "p.lars", *words, "--engine", "reference") == (code, out, err)


@pytest.mark.parametrize("form", ["csv", "text", "parquet"])
def test_formats(files: Path, form: str) -> None:
    words = ("-b", "facts.lars", "-i", "f.csv", "--clock", "1s", "--format", form, "-o", "out")
    assert run("run", "p.lars", "r.prolog", *words)[0] == 0
    assert (files / "out").stat().st_size > 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "H905"),
        (("--clock", "1s", "--engine", "spark"), "in one process, not on Spark"),
        (("--clock", "1s", "--engine", "plam"), "did you mean plan?"),
        (("--clock", "1s", "--models", "all"), "--models has no meaning"),
        (("--clock", "1s", "--models", "all"), "answers themselves are those of the program alone"),
        (("--clock", "1s", "--tick", "2"), "time points of a program lie one --clock apart"),
        (("--clock", "1s", "--allowed-lateness", "2"), "--window says how late rows may be"),
        (("--clock", "1s", "--reasoning", "models"), "it is cautious"),
        (("--clock", "1s", "--filter", ","), "the filter names no predicate"),
        (("--clock", "3s"), "H703"),
    ],
)
def test_wrong_use(files: Path, words: tuple[str, ...], told: str) -> None:
    code, out, err = run("run", "p.lars", "r.prolog", "-b", "facts.lars", "-i", "f.csv", *words)
    assert (code, out) == (2, "")
    assert told in err


def test_questions_are_about_both_languages() -> None:
    rules = both(f"{UP}\n{DOWN}", "hot(X) :- always heat(X) [2].")
    result = rules.run(["heat|1|1|x", "heat|2|2|x", "heat|3|3|x", "reset|6|6|x"], start=0, end=9)
    assert result.holds_for("hot(x)") == [(1, 4)]
    assert result.holds_for("on(x)=true") == [(2, 7)]
    assert (result.holds_at("hot(X)", 3), result.holds_at("hot(X)", 4)) == (True, False)
    assert [one["T"] for one in result.query("@T hot(x)")] == [1, 2, 3]
    assert len(result.query("holdsAt(on(X)=true, 3)")) == 1
    assert result.query("@4 hot(X)") == []
    with pytest.raises(horai.QueryError, match="no predicate cold/1"):
        result.query("cold(X)")
    frame = result.to_pandas()
    assert sorted(frame["kind"]) == ["atom", "fluent"]


def test_a_question_may_be_about_a_time_before_anything_holds() -> None:
    rules = both(UP, "hot(X) :- always heat(X) [2].")
    result = rules.run([f"heat|{t}|{t}|x" for t in (4, 5, 6)], start=0, end=9)
    assert (result.query("@2 hot(X)"), result.query("@6 hot(X)")) == ([], [{"X": "x"}])


def test_a_timeline_shows_both_languages(files: Path) -> None:
    words = ("-i", "f.csv", "--clock", "1s", "--format", "timeline")
    code, out, _ = run("run", "p.lars", "r.prolog", "-b", "facts.lars", *words)
    assert code == 0
    assert "=" in out


def test_points_without_an_answer_are_told(files: Path) -> None:
    Path("p.lars").write_text("hot(X) :- heat(X).\n:- heat(y).\n")
    code, _, err = run("run", "p.lars", "r.prolog", "-i", "f.csv")
    assert code == 0
    assert "the program has no answer at 1 time point: 2" in err


def test_what_is_wrong_in_either_language_is_told_at_once(files: Path) -> None:
    Path("p.lars").write_text("hot(X) :- heat(X) [2 s.\n")
    Path("r.prolog").write_text("initiatedAt(on(X)=true, T) :- happensAt(hot(X, T).\n")
    code, _, err = run("run", "p.lars", "r.prolog", "-i", "f.csv", "--clock", "1s")
    assert code == 2
    assert "p.lars:1" in err
    assert "r.prolog:1" in err


def test_a_project_may_have_both(files: Path) -> None:
    Path("horai.toml").write_text(
        '[project]\nname = "both"\nrules = ["r.prolog", "p.lars"]\nbackground = ["facts.lars"]\n'
        'input = ["f.csv"]\n\n[run]\nclock = "1s"\nstart = 0\nend = 12\nstep = 4\n'
    )
    code, out, err = run("run", "--format", "text")
    assert (code, err) == (0, "")
    assert out == "hot(x)      (1,3)\non(x)=true  (2,10)\n"
    assert run("check")[0] == 0
