"""Runs in two languages that are saved and taken up again, and what they count."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.both.pairs import END, Pair, pairs
from tests.both.test_against_reference import loaded
from tests.both.test_together import run
from tests.weights import examples

import horai
from horai.errors import UsageError
from horai.session import Session

RULES = "initiatedAt(on(X)=true, T) :- happensAt(hot(X), T), \\+ away(X).\n"
RULES += "terminatedAt(on(X)=true, T) :- happensAt(reset(X), T).\naway(z).\n"
PROGRAM = "hot(X) :- always heat(X) [2].\ncold(X) :- on(X), not heat(X) [3].\n"
ROWS = ["heat|1|1|x", "heat|2|2|x", "heat|3|3|x", "heat|9|2|y", "reset|9|9|x", "heat|9|14|x"]


def fed(pair: Pair, engine: str, window: int | None, saved_at: set[int]) -> list[object]:
    """All that a run says at each query time; at some of them it is saved and taken up."""
    session = loaded(pair).session(engine=engine, window=window)
    said: list[object] = []
    for query in range(3, END + 4, 3):
        lines = [
            "|".join([op + name, str(at), str(t), x])
            for op, name, at, t, x in pair.rows
            if query - 3 < at <= query
        ]
        answer = session.advance(query, lines)
        said.append([answer.rows(form) for form in ("final", "windows", "changelog")])
        if query in saved_at:
            session = horai.load_session(session.save())
    result = session.finish()
    counted = result.metrics.to_dict()["run"]
    return [*said, result.unanswered, sorted(result.dead_letters), counted]


def check(pair: Pair, engine: str, window: int | None, saved_at: set[int]) -> None:
    assert fed(pair, engine, window, saved_at) == fed(pair, engine, window, set())


ENGINES = st.sampled_from(["auto", "auto", "asp", "reference"])
WINDOWS = st.sampled_from([None, 3, 7])
TIMES = st.sets(st.sampled_from([3, 6, 9, 12]), min_size=1)


@examples("heavy")
@given(pairs(), ENGINES, WINDOWS, TIMES)
def test_a_run_goes_on_as_if_nothing_had_been(
    pair: Pair, engine: str, window: int | None, saved_at: set[int]
) -> None:
    check(pair, engine, window, saved_at)


def session_of(**more: object) -> Session:
    both = horai.combine(horai.loads(RULES), horai.loads(PROGRAM, language="lars"))
    return both.session(**more)


def test_settings_are_saved_with_it() -> None:
    session = session_of(window=9, clock="2s", filter="cold,hot", answers="changelog")
    session.advance(5, ROWS[:3])
    again = horai.load_session(session.save())
    assert again.settings == session.settings
    assert (again.last, again.start, again.settings.window, again.form) == (5, 0, 9, "changelog")


def test_a_damaged_session_is_told() -> None:
    with pytest.raises(UsageError, match="damaged"):
        horai.load_session(session_of().save()[:-3])


def test_predicates_have_to_be_given_again() -> None:
    def warm(x: str) -> bool:
        return x == "x"

    text = "initiatedAt(on(X)=true, T) :- happensAt(hot(X), T), warm(X).\n"
    rules = horai.loads(text, predicates={"warm": warm})
    session = horai.combine(rules, horai.loads(PROGRAM, language="lars")).session()
    session.advance(4, ROWS[:3])
    with pytest.raises(UsageError, match="needs the Python predicate warm"):
        horai.load_session(session.save())
    again = horai.load_session(session.save(), predicates={"warm": warm})
    assert again.advance(6).rows("final") == session.advance(6).rows("final")


def test_rows_are_counted_once() -> None:
    """Those of the description by its engine, others by the program; what passes is no row."""
    both = horai.combine(horai.loads(RULES), horai.loads(PROGRAM, language="lars"))
    rows = [*ROWS, "-heat|9|7|nobody", "reset|30|30|y", "heat|31|31|y", "gibberish", "-reset|9|8|x"]
    result = both.run(rows, start=0, end=15, step=5, window=5)
    run = result.metrics.run
    assert (run.items, run.unreadable) == (10, 1)
    assert (run.too_late, run.unknown_retractions, run.outside_run) == (1, 2, 2)
    assert run.on_time + run.late + run.retracted == 10 - 5
    assert sum(window.revised or 0 for window in result.metrics.windows) == run.revised
    codes = sorted(letter.code for letter in result.dead_letters)
    assert len(codes) == 6


def test_several_answers() -> None:
    rules = horai.loads("initiatedAt(on(X)=true, T) :- happensAt(go(X), T).")
    program = horai.loads(
        "go(X) :- s(X), not stay(X). stay(X) :- s(X), not go(X).", language="lars"
    )
    both = horai.combine(rules, program)
    assert both.run(["s|1|1|x"], start=0, end=3).rows() == []
    names = [row.name for row in both.run(["s|1|1|x"], start=0, end=3, reasoning="brave").rows()]
    assert names == ["go", "stay", "on"]
    with pytest.raises(UsageError, match="reasoning cannot be 'models'"):
        both.run([], reasoning="models")


# --- the command line -----------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("r.ec").write_text(RULES)
    Path("p.lars").write_text(PROGRAM)
    Path("all.csv").write_text("\n".join(ROWS) + "\n")
    Path("a.csv").write_text("\n".join(ROWS[:3]) + "\n")
    Path("b.csv").write_text("\n".join(ROWS[3:]) + "\n")
    return tmp_path


WORDS = ("run", "r.ec", "p.lars", "--step", "4", "--window", "20", "--answers")


def test_a_state_goes_on(files: Path) -> None:
    _, whole, _ = run(*WORDS, "changelog", "-i", "all.csv", "--start", "0", "--end", "16")
    code, first, said = run(
        *WORDS, "changelog", "-i", "a.csv", "--start", "0", "--end", "4", "--state", "s"
    )
    assert (code, said) == (0, "")
    code, second, said = run(*WORDS, "changelog", "-i", "b.csv", "--end", "16", "--state", "s")
    assert (code, said) == (0, "")
    assert first + second == whole
    assert '"op": "-"' in second or '"op":"-"' in second
    assert [path.name for path in files.glob("s*")] == ["s"]


def test_the_final_answer_is_that_of_all_parts(files: Path) -> None:
    _, whole, _ = run(*WORDS, "final", "-i", "all.csv", "--start", "0", "--end", "16")
    run(*WORDS, "final", "-i", "a.csv", "--start", "0", "--end", "4", "--state", "s")
    _, last, _ = run(*WORDS, "final", "-i", "b.csv", "--end", "16", "--state", "s")
    assert last == whole


def test_metrics(files: Path) -> None:
    words = ("-i", "all.csv", "--start", "0", "--metrics", "m.json")
    assert run(*WORDS, "changelog", *words)[0] == 0
    assert json.loads(Path("m.json").read_text())["run"]["items"] == len(ROWS)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("-i", "b.csv", "--start", "3"), "goes on after 4: a start makes no sense"),
        (("-i", "b.csv", "--window", "9"), "was saved with 20 as window"),
        (("-i", "b.csv", "--clock", "3s"), "was saved with no as clock"),
        (("-i", "a.csv"), "goes on after 4, and this run ends at 3"),
        (("--end", "3"), "goes on after 4, and this run ends at 3"),
    ],
)
def test_a_state_that_does_not_fit(files: Path, words: tuple[str, ...], told: str) -> None:
    start = ("-i", "a.csv", "--start", "0", "--end", "4", "--window", "20", "--state", "s")
    assert run("run", "r.ec", "p.lars", *start)[0] == 0
    code, out, err = run("run", "r.ec", "p.lars", *words, "--state", "s")
    assert (code, out) == (2, "")
    assert told in err


def test_a_state_of_other_rules(files: Path) -> None:
    assert run("run", "r.ec", "p.lars", "-i", "a.csv", "--state", "s")[0] == 0
    Path("p.lars").write_text(PROGRAM + "% more\n")
    code, _, err = run("run", "r.ec", "p.lars", "-i", "b.csv", "--state", "s")
    assert code == 2
    assert "s was saved by a run of other rules" in err


@pytest.mark.parametrize(("text", "language"), [(PROGRAM, "lars"), (RULES, "ec")])
def test_rules_of_one_language_do_not_run_on(text: str, language: str, tmp_path: Path) -> None:
    rules = horai.loads(text, language=language)
    with pytest.raises(UsageError, match="do not run on from a file"):
        rules.run_on(tmp_path / "kept", ["b|1|1"])
    assert not list(tmp_path.iterdir())
