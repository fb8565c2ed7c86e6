"""LARS programs from Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import horai
from horai.errors import RunError, UsageError
from horai.io import AnswerRow
from horai.lang.core.diagnostics import RulesError
from horai.oracle.lars import grounding
from horai.plan.lars import strata

BUSY = "busy(X) :- job(X) [2 s]."


def dicts(rows: list[AnswerRow]) -> list[dict[str, Any]]:
    return [row.as_dict() for row in rows]


def test_load_from_files(tmp_path: Path) -> None:
    (tmp_path / "p.lars").write_text("idle(X) :- worker(X), not busy(X). " + BUSY)
    (tmp_path / "facts.lars").write_text("worker(ada).")
    program = horai.load(tmp_path / "p.lars", background=tmp_path / "facts.lars")
    assert repr(program) == "<Rules for busy/1, idle/1>"
    assert program.run(start=0, end=0).at(0).texts() == ["idle(ada)"]
    both = tmp_path / "r.ec"
    both.write_text("initiatedAt(on(X)=true, T) :- happensAt(busy(X), T).")
    assert horai.load([tmp_path / "p.lars", both]).language == "combined"
    with pytest.raises(UsageError, match="no rules given"):
        horai.load([])


def test_all_mistakes_are_raised_at_once() -> None:
    with pytest.raises(RulesError) as caught:
        horai.loads("a :- b [3 parsec].\nc(X) :- d.", language="lars")
    assert [finding.code for finding in caught.value.diagnostics] == ["H602", "H700"]


def test_the_clock_is_checked_when_it_is_known() -> None:
    program = horai.loads(BUSY, language="lars")
    with pytest.raises(RulesError) as caught:
        program.run(start=0, end=1, clock="3s")
    assert [finding.code for finding in caught.value.diagnostics] == ["H703"]
    assert [finding.code for finding in program.check("3s")] == ["H703"]
    assert program.check("500ms") == []


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"clock": "3 parsec"}, "no clock time"),
        ({"clock": 3}, "clock must be a text"),
        ({"models": "some"}, "models cannot be 'some'"),
        ({"filter": " , "}, "the filter names no predicate"),
        ({"engine": "refrence"}, "there is no engine"),
        ({"step": 0}, "step must be above 0"),
        ({"start": 5, "end": 3}, "before its start"),
        ({"start": 0, "end": 10**12}, "more than 10,000,000 query times"),
        ({"input_format": "xml"}, "input-format cannot be"),
    ],
)
def test_wrong_use(wrong: dict[str, object], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        horai.loads(BUSY, language="lars").run(["job|1|1|ada"], **wrong)  # type: ignore[arg-type]


def test_a_run_covers_its_input() -> None:
    result = horai.loads(BUSY, language="lars").run(["job|3|3|ada", "job|7|5|bob"])
    assert [answer.query for answer in result.answers] == [3, 4, 5, 6, 7]
    assert horai.loads(BUSY, language="lars").run([]).answers[0].query == 0


def test_steps() -> None:
    seen: list[tuple[int, int]] = []
    result = horai.loads(BUSY, language="lars").run(
        ["job|1|1|ada"], start=0, end=5, step=2, progress=lambda done, all: seen.append((done, all))
    )
    assert [(answer.query, answer.texts()) for answer in result.answers] == [
        (0, []),
        (2, ["busy(ada)"]),
        (4, []),
    ]
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_t43_filters() -> None:
    program = horai.loads(BUSY + " worker(ada).", language="lars")
    rows = ["job|1|1|ada", "noise|1|1"]

    def shown(**filter: str) -> list[str]:
        return program.run(rows, start=1, end=1, **filter).at(1).texts()  # type: ignore[arg-type]

    assert shown() == ["busy(ada)"]
    assert shown(filter="inferences") == ["busy(ada)"]
    assert shown(filter="none") == ["busy(ada)", "job(ada)", "noise", "worker(ada)"]
    assert shown(filter="job, worker") == ["job(ada)", "worker(ada)"]


def test_rows() -> None:
    result = horai.loads("a :- s, not b. b :- s, not a. c :- s.", language="lars").run(
        ["s|1|1"], start=0, end=1, models="all", filter="a"
    )
    assert dicts(result.rows()) == [
        {"kind": "empty", "query": 0, "model": 1},
        {"kind": "empty", "query": 1, "model": 1},
        {"kind": "atom", "query": 1, "model": 2, "name": "a", "args": []},
    ]
    assert result.rows("final") == result.rows()[1:]
    with pytest.raises(UsageError, match="changes are those of one model"):
        result.rows("changelog")
    with pytest.raises(UsageError, match="there is no form of answer"):
        result.rows("last")
    with pytest.raises(UsageError, match="no query time"):
        result.at(7)


def test_models_that_look_the_same_are_shown_once() -> None:
    result = horai.loads("a :- not b. b :- not a. c.", language="lars").run(
        start=0, end=0, models="all", filter="zzz"
    )
    assert dicts(result.rows()) == [{"kind": "empty", "query": 0, "model": 1}]


def test_changes() -> None:
    result = horai.loads("h(X) :- b(X) [1 s]. :- c.", language="lars").run(
        ["b|1|1|x", "b|2|2|y", "c|4|4"], start=0, end=5
    )
    changes = result.rows("changelog")
    assert [(r.kind, r.query, r.args, r.op) for r in changes] == [
        ("atom", 1, ("x",), "+"),
        ("atom", 2, ("y",), "+"),
        ("atom", 3, ("x",), "-"),
        ("atom", 4, ("y",), "-"),
        ("none", 4, (), None),
    ]
    assert repr(result) == "<Result: 6 query times, 1 without an answer, 0 dead letters>"


def test_no_answer() -> None:
    result = horai.loads("a :- not a.", language="lars").run(start=0, end=0)
    assert not result.at(0).has_answer
    assert dicts(result.rows()) == [{"kind": "none", "query": 0}]


def test_data_frames() -> None:
    frame = horai.loads(BUSY, language="lars").run(["job|1|1|ada"], start=0, end=1).to_pandas()
    assert frame.to_dict("records") == [
        {"kind": "atom", "query": 1, "name": "busy", "args": ("ada",)}
    ]


def test_rows_that_are_not_used() -> None:
    rows = ["job|2|2|ada", "job|3|1|bob", "-job|3|3|eve", "job|x|3|eve", "job|99|99|ada"]
    result = horai.loads(BUSY, language="lars").run(rows, start=2, end=4)
    assert [(letter.line, letter.code) for letter in result.dead_letters] == [
        (2, "outside-run"),
        (3, "unknown-retraction"),
        (4, "bad-time"),
        (5, "outside-run"),
    ]


def test_input_of_other_forms(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("type,time,who\njob,1,ada\n")
    (tmp_path / "b.jsonl").write_text('{"type": "job", "time": 2, "args": ["bob"]}\n')
    files = [tmp_path / "a.csv", tmp_path / "b.jsonl"]
    result = horai.loads(BUSY, language="lars").run(files, start=0, end=2)
    assert result.at(2).texts() == ["busy(ada)", "busy(bob)"]
    header = ["Type|Arrival|Time|Arg1", "job|1|1|ada"]
    assert horai.loads(BUSY, language="lars").run(header, start=0, end=1).dead_letters == []


def test_the_order_of_rows_is_that_of_the_input(tmp_path: Path) -> None:
    for name, row in (("z", "a|1|1"), ("b", "b|1|1"), ("m", "c|1|1")):
        (tmp_path / f"{name}.txt").write_text(row + "\n")
    text = "last(a) :- a [1 #]. last(b) :- b [1 #]. last(c) :- c [1 #]."
    for order in ("zbm", "mzb", "bmz"):
        files = [tmp_path / f"{name}.txt" for name in order]
        answer = horai.loads(text, language="lars").run(files, start=0, end=1).at(1)
        assert answer.texts() == [{"z": "last(a)", "b": "last(b)", "m": "last(c)"}[order[-1]]]


def test_times_with_a_unit() -> None:
    rows = ["job|1970-01-01T00:00:01Z|1970-01-01T00:00:01Z|ada"]
    result = horai.loads(BUSY, language="lars").run(rows, unit="s", end="1970-01-01T00:00:02Z")
    assert [answer.query for answer in result.answers] == [1, 2]


def test_the_clock_and_the_unit() -> None:
    rows = ["job|1000|1000|ada"]
    program = horai.loads("busy(X) :- job(X) [2 ms].", language="lars")
    result = program.run(rows, unit="ms", end=1003)
    assert [bool(answer.atoms) for answer in result.answers] == [True, True, True, False]
    with pytest.raises(UsageError, match="does not fit times in ms"):
        program.run(rows, unit="ms", clock="2ms")


def test_rules_that_were_made_are_not_shown() -> None:
    program = horai.loads("idle :- not job(_) [2 s].", language="lars")
    result = program.run(["job|1|1|ada"], start=0, end=1, filter="none")
    assert [answer.texts() for answer in result.answers] == [["idle"], ["job(ada)"]]
    assert program.check() == []


@pytest.fixture
def few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules without an end are given up sooner than people would want."""
    monkeypatch.setattr(grounding, "MOST_ROUNDS", 20)
    monkeypatch.setattr(strata, "MOST_ROUNDS", 60)


@pytest.mark.usefixtures("few_rounds")
def test_a_run_that_cannot_end_is_stopped() -> None:
    for engine in ("reference", "plan"):
        with pytest.raises(RunError, match="without end"):
            rules = horai.loads("a :- e. @U a :- @T a, U = T + 1.", language="lars")
            rules.run(["e|0|0"], start=0, end=0, engine=engine)


@pytest.mark.usefixtures("few_rounds")
def test_a_tick_that_cannot_end_is_stopped() -> None:
    rules = horai.loads("n(X, 1) :- s(X). n(X, M) :- n(X, N), M = N + 1.", language="lars")
    with pytest.raises(RunError, match="without end"):
        rules.session().advance(0, ["s|0|0|x"])
    rules = horai.loads("n(0). n(X + 1) :- n(X).", language="lars")  # even before anything comes
    with pytest.raises(RunError, match="without end"):
        rules.session().advance(0)


def test_atoms_that_look_alike_have_an_order() -> None:
    program = horai.loads('h(X) :- b(X). h(3) :- c. h("x") :- c. h(f(x)) :- c.', language="lars")
    (answer,) = program.run(["b|1|1|3.0", "b|1|1|x", "b|1|1|'f(x)'", "c|1|1"]).answers
    kinds = [type(atom.args[0]).__name__ for atom in answer.models[0]]
    assert kinds == ["Float", "Int", "Constant", "Compound", "Constant", "Str"]


def test_what_a_program_is() -> None:
    kind = horai.loads("a :- not b [3 s].", language="lars").classification
    assert (str(kind.fragment), sorted(kind.features)) == ("stratified", ["negation", "time"])


def test_rows_after_the_last_query_time_are_told_of_it(tmp_path: Path) -> None:
    (tmp_path / "rows.txt").write_text("a|1|1|x\na|4|4|x\n")
    found = horai.loads("h(X) :- a(X).", language="lars").run(
        tmp_path / "rows.txt", start=0, end=5, step=3
    )
    [letter] = found.dead_letters
    assert letter.reason == "arrives after the last query time; the run ends at 5"


@pytest.mark.parametrize("engine", ["plan", "reference"])
def test_of_equal_numbers_the_least_and_the_largest_are_whole(engine: str, tmp_path: Path) -> None:
    (tmp_path / "rows.txt").write_text("a|0|0|1.0\na|1|1|1\na|9|9|2.0\n")
    program = horai.loads(
        "m(S) :- S = max { X : a(X) [5] }.\nn(S) :- S = min { X : a(X) [5] }.", language="lars"
    )
    found = program.run(tmp_path / "rows.txt", start=0, end=9, engine=engine)
    said = [found.at(time).texts() for time in (0, 1, 9)]
    assert said == [["m(1.0)", "n(1.0)"], ["m(1)", "n(1)"], ["m(2.0)", "n(2.0)"]]


@pytest.mark.parametrize("engine", ["plan", "asp", "reference"])
def test_a_name_with_parentheses_is_no_term(engine: str) -> None:
    program = horai.loads("h(X) :- b(f(X)). k :- b('f(a)').", language="lars")
    assert program.run(["b|1|1|f(a)"], engine=engine).answers[0].texts() == ["k"]
