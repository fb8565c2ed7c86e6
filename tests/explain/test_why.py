"""What a proof says: rules, bindings, rows with their places, and what is said of misuse."""

import json

import pytest
from tests.cli.conftest import Run, horai  # noqa: F401  the command line in a folder

import horai as library
from horai.errors import UsageError

RULES = """\
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T), \\+ holdsAt(insured(X)=true, T).
initiatedAt(location(X)=Place, T) :- happensAt(go(X, Place), T).
initiatedAt(alarm(X)=on, T) :- happensAt(ring(X), T).
ft(alarm(X)=on, 3).
holdsFor(happy(X)=true, I) :-
    holdsFor(rich(X)=true, I1), holdsFor(location(X)=pub, I2), union_all([I1, I2], I).
holdsFor(long(X)=true, I) :- holdsFor(rich(X)=true, I1), intDurGreater(I1, 5, I).
happensAt(cheer(X), T) :- happensAt(start(happy(X)=true), T).
collectIntervals(insured(_)=true).
"""
DAY = """\
win|13|13|chris
go|17|17|chris|pub
lose|19|19|chris
go|21|21|chris|home
insured|30|25|30|true|chris
ring|5|5|chris
"""


@pytest.fixture(scope="module")
def result() -> library.Result:
    return library.loads(RULES).run(DAY, start=0, end=40)


def test_inertia_rests_on_an_initiation_and_on_nothing_that_ends_it(result: library.Result) -> None:
    assert str(result.why("rich(chris)=true", 15)) == (
        "rich(chris)=true holds at 15, from 14 until 20\n"
        "├── rich(chris)=true is initiated at 13  <rules>:1  X=chris, T=13\n"
        "│   └── win(chris) at 13  <memory>:1\n"
        "└── nothing ends rich(chris)=true between 14 and 15"
    )


def test_a_list_is_followed_to_the_fluent_that_holds(result: library.Result) -> None:
    proof = result.why("happy(chris)=true", 21)
    assert [p.text for p in proof.premises] == ["location(chris)=pub"]
    assert [(p.line, p.text) for p in proof.rows] == [(2, "go|17|17|chris|pub")]


def test_a_duration_is_told_with_its_interval(result: library.Result) -> None:
    (filtered,) = result.why("long(chris)=true", 14).premises
    assert (filtered.kind, filtered.interval) == ("intervals", (14, 20))
    assert filtered.text == "the interval from 14 lasts 6 until 20: > 5"


def test_an_event_and_the_start_it_is_made_of(result: library.Result) -> None:
    proof = result.why("cheer(chris)", 13)
    assert [node.kind for node in proof.walk()][:3] == ["happens", "starts", "holds"]


def test_an_input_fluent_is_its_row(result: library.Result) -> None:
    proof = result.why("insured(chris)=true", 27)
    assert (proof.kind, proof.interval, str(proof.row)) == ("item", (25, 30), "<memory>:5")


def test_why_it_has_ended(result: library.Result) -> None:
    (lost,) = result.why("rich(chris)=true", 15, about="end").premises
    assert (lost.kind, lost.at) == ("terminated", 19)
    assert [p.kind for p in lost.premises] == ["item", "not"]
    assert lost.premises[1].claim == "\\+ holdsAt(insured(chris)=true,19)"
    (other,) = result.why("location(chris)=pub", 19, about="end").premises
    assert (other.text, other.note) == ("location(chris)=home", "which ends location(chris)=pub")
    (late,) = result.why("alarm(chris)=on", 6, about="end").premises
    assert (late.kind, late.at) == ("delayed", 8)


def test_variables_stand_for_what_holds(result: library.Result) -> None:
    assert result.why("location(chris)=Where", 19).text == "location(chris)=pub"


def test_plain_values_have_the_documented_form(result: library.Result) -> None:
    found = json.loads(result.why("rich(chris)=true", 15).to_json())
    assert found["claim"] == "holdsAt(rich(chris)=true,15)"
    initiated = found["premises"][0]
    assert initiated["rule"]["line"] == 1
    assert initiated["bindings"] == {"X": "chris", "T": "13"}
    assert initiated["premises"][0]["row"] == {
        "file": "<memory>",
        "line": 1,
        "text": "win|13|13|chris",
    }


def test_a_proof_says_where_it_goes_on() -> None:
    rules = library.loads(
        "initiatedAt(n=1, T) :- happensAt(up, T), \\+ holdsAt(n=_, T).\n"
        "initiatedAt(n=M, T) :- happensAt(up, T), holdsAt(n=N, T), M is N + 1.\n"
    )
    result = rules.run([f"up|{t}|{t}" for t in range(1, 51)])
    note = "the proof goes on: ask about this, or with a greater depth"
    assert [n.note for n in result.why("n=49", 50, depth=5).walk()].count(note) == 1
    assert note not in [n.note for n in result.why("n=49", 50, depth=100).walk()]


@pytest.mark.parametrize(
    ("what", "at", "problem", "hint"),
    [
        ("rich(chris)=true", 24, "does not hold at 24: it holds in (14,20)", "--not"),
        ("cheer(chris)", 24, "does not happen at 24: it happens at 13", "--not"),
        ("rich(eve)=true", 24, "does not hold at 24: it never holds", "--not"),
        ("rich(chris)=true", None, "say at what time", "it holds in (14,20)"),
        ("rich(chris)=true", 99, "99 is outside the run, which goes from 0 to 40", "a time in it"),
        ("rich(chris)=true", "noon", "the time", ""),
        ("rihc(chris)=true", 15, "no fluent rihc/1 in the rules", "did you mean rich/1?"),
        ("rich(chris)", 15, "rich(chris) is a fluent", "write rich(chris)=true"),
        ("holdsAt(rich(chris)=true,15)", 15, "is a query", "ask about rich(chris)=true"),
        ("rich(", 15, "cannot be read", ""),
    ],
)
def test_misuse(result: library.Result, what: str, at: int | None, problem: str, hint: str) -> None:
    with pytest.raises(UsageError) as told:
        result.why(what, at)
    assert problem in told.value.problem
    assert hint in (told.value.hint or "")


def test_questions_with_several_answers_are_asked_one_by_one() -> None:
    rules = library.loads("initiatedAt(on(X)=true, T) :- happensAt(up(X), T).")
    result = rules.run(["up|1|1|a", "up|1|1|b", "up|9|9|a"])
    with pytest.raises(UsageError, match=r"on.a.=true, on.b.=true at 5"):
        result.why("on(X)=true", 5)


def test_what_does_not_last_has_no_end(result: library.Result) -> None:
    with pytest.raises(UsageError, match="has not ended: it holds from 22 on"):
        result.why("location(chris)=home", 30, about="end")
    with pytest.raises(UsageError, match="is an event"):
        result.why("cheer(chris)", 13, about="end")
    with pytest.raises(UsageError, match="nothing is known about 'middle'"):
        result.why("cheer(chris)", 13, about="middle")


def test_rows_that_were_not_used_prove_nothing() -> None:
    rules = library.loads("initiatedAt(on=true, T) :- happensAt(up, T).")
    rows = ["up|3|3", "up|8|8", "-up|20|8", "up|60|30", "up|70|70"]
    result = rules.run(rows, start=0, step=10, window=20)
    assert [row.line for row in result.why("on=true", 50).rows] == [1]
    assert {letter.code for letter in result.dead_letters} == {"too-late"}


def test_a_run_that_was_taken_up_does_not_know_its_items() -> None:
    rules = library.loads("initiatedAt(on=true, T) :- happensAt(up, T).")
    session = rules.session(start=0)
    session.advance(10, ["up|3|3"])
    assert session.result().why("on=true", 5).rows[0].text == "up|3|3"
    again = library.load_session(session.save())
    again.advance(20, [])
    with pytest.raises(UsageError, match="did not keep its items"):
        again.result().why("on=true", 5)


# --- the command line ----------------------------------------------------------------------------


def test_the_command(horai: Run) -> None:  # noqa: F811
    found = horai("why", "rules.ec", "rich(chris)=true", "--at", "15", "-i", "day.csv")
    assert found.output == (
        "rich(chris)=true holds at 15, from 14 until 20\n"
        "├── rich(chris)=true is initiated at 13  rules.ec:1  X=chris, T=13\n"
        "│   └── win(chris) at 13  day.csv:1\n"
        "└── nothing ends rich(chris)=true between 14 and 15\n"
    )


def test_forms_of_the_command(horai: Run) -> None:  # noqa: F811
    asked = ("why", "rules.ec", "rich(chris)=true", "--at", "15", "-i", "day.csv")
    assert json.loads(horai(*asked, "--format", "json").stdout)["kind"] == "holds"
    assert "<details open>" in horai(*asked, "--format", "html").stdout
    assert "terminated at 19" in horai(*asked, "--ended").stdout


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("rules.ec", "--at", "15"), "nothing is asked"),
        (("rules.ec", "a=b", "c=d", "--at", "15"), "a=b and c=d are 2 questions"),
        (("rules.ec", "rich(chris)=true", "--at", "30"), "30 is outside the run"),
        (("rules.ec", "rich(chris)=true", "--at", "15", "--started", "--ended"), "are 2 questions"),
    ],
)
def test_misuse_of_the_command(horai: Run, words: tuple[str, ...], problem: str) -> None:  # noqa: F811
    found = horai("why", *words, "-i", "day.csv")
    assert problem in found.output
    assert found.exit_code == 2


def test_a_run_with_a_longer_tick_is_refused() -> None:
    rules = library.loads("initiatedAt(on(X)=true, T) :- happensAt(up(X), T).")
    result = rules.run(["up|5|5|a"], tick=5, end=30)
    with pytest.raises(UsageError, match="no proofs of runs with a tick of 5"):
        result.why("on(a)=true", 10)
    with pytest.raises(UsageError, match="no proofs of runs with a tick of 5"):
        result.why_not("on(b)=true", 10)
