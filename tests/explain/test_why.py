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


def test_with_a_unit_times_are_told_as_people_read_them() -> None:
    rules = library.loads(
        "initiatedAt(on(X)=true, T) :- happensAt(up(X), T).\n"
        "holdsFor(long(X)=true, I) :- holdsFor(on(X)=true, J), intDurGreater(J, 3, I).\n"
    )
    result = rules.run(
        ["up|1970-01-01T00:05:00Z|1970-01-01T00:05:00Z|a"], unit="min", start=0, end=20
    )
    proof = result.why("on(a)=true", "1970-01-01T00:08:00Z")
    assert str(proof) == (
        "on(a)=true holds at 1970-01-01T00:08:00Z, from 1970-01-01T00:06:00Z on\n"
        "├── on(a)=true is initiated at 1970-01-01T00:05:00Z"
        "  <rules>:1  X=a, T=1970-01-01T00:05:00Z\n"
        "│   └── up(a) at 1970-01-01T00:05:00Z  <memory>:1\n"
        "└── nothing ends on(a)=true between 1970-01-01T00:06:00Z and 1970-01-01T00:08:00Z"
    )
    assert (proof.to_dict()["at"], proof.premises[0].to_dict()["bindings"]["T"]) == (8, "5")
    assert "from 1970-01-01T00:06:00Z lasts 14 until 1970-01-01T00:20:00Z (open)" in str(
        result.why("long(a)=true", 8)
    )
    with pytest.raises(UsageError, match="does not hold at 1970-01-01T00:03:00Z"):
        result.why("on(a)=true", 3)


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
        (("rules.ec", "Rich(chris)=true", "--at", "15"), "a name begins with a small letter"),
        (("rules.ec", "rich(a)=true", "--at", "15", "--not", "--depth", "3"), "has no meaning"),
    ],
)
def test_misuse_of_the_command(horai: Run, words: tuple[str, ...], problem: str) -> None:  # noqa: F811
    found = horai("why", *words, "-i", "day.csv")
    assert problem in found.output
    assert found.exit_code == 2


@pytest.mark.parametrize(
    ("words", "problem", "hint"),
    [
        (("why", "rich(a)=true", "--engine", "spark"), "a run on Spark keeps no", "--engine auto"),
        (("whatif", "--with", "a|1", "--engine", "spark"), "a run on Spark keeps no", "auto"),
        (("why", "rch(a)=true"), "no fluent rch/1", "did you mean rich/1?"),
    ],
)
def test_what_no_run_could_answer_is_refused_before_it(
    horai: Run,  # noqa: F811
    words: tuple[str, ...],
    problem: str,
    hint: str,
) -> None:
    command, *rest = words
    found = horai(command, "rules.ec", *rest, "-i", "there_is_no_such_file.csv")
    assert problem in found.output
    assert hint in found.output
    assert found.exit_code == 2


def test_a_value_outside_its_grounding_ends_another_without_being_claimed() -> None:
    rules = library.loads(
        "initiatedAt(mode(X)=a, T) :- happensAt(up(X), T).\n"
        "initiatedAt(mode(X)=b, T) :- happensAt(down(X), T).\n"
        "grounding(mode(X)=b) :- special(X).\n"
        "special(y).\n"
    )
    result = rules.run(["up|2|2|x", "down|6|6|x"], start=0, end=20)
    (ended,) = result.why("mode(x)=a", 5, about="end").premises
    assert (ended.text, ended.claim) == ("mode(x)=b", "")
    assert ended.note == "which ends mode(x)=a; it is outside its grounding and never holds"


# --- moments that are no time-points -------------------------------------------------------------


def test_between_two_time_points_only_rules_that_name_their_time_act() -> None:
    rules = library.loads(
        "collectIntervals(near(_)=true).\n"
        "initiatedAt(on(X)=true, T) :- happensAt(up(X), T).\n"
        "initiatedAt(on(X)=false, T) :- holdsAt(near(X)=true, T).\n"
    )
    result = rules.run(["up|3|3|a", "near|5|5|19|true|a"], tick=5, start=0, end=30)
    (started,) = result.why("on(a)=true", 5, about="start").premises
    assert (started.text, started.at) == ("on(a)=true", 3)
    (ended,) = result.why("on(a)=true", 8, about="end").premises
    assert (ended.text, ended.at) == ("on(a)=false", 5)  # at 6 and 7 it holds, too


def test_edges_of_input_between_two_time_points() -> None:
    rules = library.loads(
        "buildFromPoints(at(_)=here).\n"
        "initiatedAt(gone(X)=true, T) :- happensAt(end(at(X)=here), T), T > 5.\n"
    )
    result = rules.run(["at|18|18|here|x"], tick=5, start=0, end=40)
    (edge, _) = result.why("gone(x)=true", 30).premises[0].premises
    assert (edge.kind, edge.at, edge.premises[0].interval) == ("ends", 15, (18, 20))


# --- delayed effects -----------------------------------------------------------------------------


def test_deadlines_of_a_length_that_depends_on_the_instance() -> None:
    """What an attempt comes to rests on the effects of others."""
    rules = library.loads(
        "initiatedAt(level(X)=V, T) :- happensAt(set(X, V), T).\n"
        "fi(level(X)=V, level(X)=W, R) :- wait(X, R), next(V, W).\n"
        "wait(a, 3). wait(b, 5). next(1, 2). next(2, 3).\n"
    )
    result = rules.run(["set|1|1|a|1", "set|1|1|b|1", "set|5|5|a|1"], start=0, end=20)
    found = result.why("level(a)=3", 12).premises[0]
    assert [(n.kind, n.at) for n in found.walk() if n.kind in ("delayed", "initiated")] == [
        ("delayed", 11),
        ("delayed", 8),
        ("initiated", 5),
    ]
    assert [row.text for row in found.rows] == ["set|5|5|a|1"]
    assert result.why("level(b)=2", 7).premises[0].at == 6


def test_what_would_come_about_at_the_start_is_not_seen() -> None:
    rules = library.loads(
        "initially(n=1).\nfi(n=1, n=2, 1).\nfi(n=1, m=1, 3).\n"
        "initiatedAt(n=V, T) :- happensAt(set(V), T).\n"
    )
    result = rules.run(["set|9|9|3"], start=0, end=12)
    assert result.holds_for("n=1") == [(0, 10)]
    (effect, _) = result.why("m=1", 5).premises
    assert (effect.kind, effect.at, effect.premises[0].kind) == ("delayed", 2, "initially")


def test_a_chain_of_effects_is_as_deep_as_is_asked() -> None:
    rules = library.loads(
        "initiatedAt(lamp=on, T) :- happensAt(go, T).\n"
        "fi(lamp=on, lamp=off, 2). fi(lamp=off, lamp=on, 2).\n"
    )
    result = rules.run(["go|1|1"], start=0, end=200)
    proof = result.why("lamp=on", 198, depth=5)
    assert sum(node.kind == "delayed" for node in proof.walk()) < 7
    assert proof.leaves[0].note.startswith("the proof goes on")
    assert [row.text for row in result.why("lamp=on", 198, depth=200).rows] == ["go|1|1"]


def test_what_is_taken_back_in_a_later_batch_proves_nothing() -> None:
    rules = library.loads("initiatedAt(on(X)=true, T) :- happensAt(up(X), T).")
    session = rules.session(start=0)
    session.advance(10, ["up|3|3|a", "up|5|5|a"])
    session.advance(20, ["-up|12|3|a"])
    assert [row.text for row in session.result().why("on(a)=true", 8).rows] == ["up|5|5|a"]
    with pytest.raises(UsageError, match="does not happen at 3: it happens at 5"):
        session.result().why("up(a)", 3)
