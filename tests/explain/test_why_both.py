"""Proofs of combined rules go through both languages, down to rows of the input."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from tests.both.definition import said, settle
from tests.both.pairs import END, Pair, known_items, pairs
from tests.both.test_against_reference import loaded
from tests.cli.conftest import Run, horai  # noqa: F401  the command line in a folder
from tests.explain.checking import OF_EVENTS, questions, wrong
from tests.weights import examples

import horai as library
from horai.errors import UsageError
from horai.explain.proof import Proof, RowChange
from horai.lang.lars.clock import Clock
from horai.lang.lars.predicates import head_predicates
from horai.lang.lars.syntax import Program
from horai.lang.lars.walk import in_points
from horai.oracle.lars.answers import answers_at
from horai.rules import Rules
from horai.runtime.queries import atom_of
from horai.runtime.values import show

ALARM = """\
collectIntervals(open(Room)=true).
initiatedAt(alarm(Room)=on, T) :- happensAt(hot(Room), T).
terminatedAt(alarm(Room)=on, T) :- happensAt(reset(Room), T).
holdsFor(wasted(Room)=true, I) :-
    holdsFor(open(Room)=true, I1), holdsFor(heating(Room)=true, I2), intersect_all([I1, I2], I).
"""
ROOMS = """\
hot(R) :- always warm(R) [2 s].
heating(R) :- pulse(R) [3 s].
call(R) :- always alarm(R, on) [3 s], not visit(R) [5 s].
"""
ROWS = [
    *("warm|1|1|kitchen", "warm|2|2|kitchen", "pulse|4|4|kitchen"),
    *("open|7|5|9|true|kitchen", "reset|8|8|kitchen", "warm|9|1|hall"),
]


@pytest.fixture(scope="module")
def both() -> Rules:
    return library.combine(library.loads(ALARM), library.loads(ROOMS, language="lars"))


@pytest.fixture(scope="module")
def result(both: Rules) -> library.Result:
    return both.run(ROWS, clock="1s", start=0, end=10)


def test_an_atom_rests_on_a_fluent_that_rests_on_an_atom(result: library.Result) -> None:
    proof = result.why("call(kitchen)", 6)
    always, absent = proof.premises
    assert (proof.rule.text if proof.rule else "", absent.kind) == (
        "call(R) :- always alarm(R, on) [3 s], not visit(R) [5 s].",
        "not",
    )
    first, *others = always.premises[0].premises
    assert [(one.text, one.at) for one in (first, *others)] == [
        ("alarm(kitchen, on)", at) for at in (3, 4, 5, 6)
    ]
    (alarm,) = first.premises
    assert (alarm.claim, alarm.interval) == ("holdsAt(alarm(kitchen)=on,3)", (2, 9))
    (event,) = alarm.premises[0].premises
    (atom,) = event.premises
    assert (event.kind, event.text, event.at) == ("happens", "hot(kitchen)", 1)
    assert (atom.kind, atom.text, atom.at) == ("holds", "hot(kitchen)", 1)
    assert [row.text for row in proof.rows] == ["warm|1|1|kitchen"]
    assert [one.premises[0].note for one in others] == ["as proved above"] * 3


def test_intervals_rest_on_rows_and_on_atoms(result: library.Result) -> None:
    given_, told = result.why("wasted(kitchen)=true", 6).premises
    assert (given_.kind, str(given_.row)) == ("item", "<memory>:4")
    assert (told.text, told.interval) == ("heating(kitchen)=true", (4, 8))
    assert [(one.text, one.at) for one in told.premises] == [("heating(kitchen)", 6)]
    assert [row.text for row in told.rows] == ["pulse|4|4|kitchen"]


def test_other_questions(result: library.Result) -> None:
    (ended,) = result.why("alarm(kitchen)=on", 6, about="end").premises
    assert (ended.kind, ended.at, [row.text for row in ended.rows]) == (
        *("terminated", 8),
        ["reset|8|8|kitchen"],
    )
    assert result.why("heating(kitchen)=true", 5).premises[0].text == "heating(kitchen)"
    assert "the proof goes on" in str(result.why("call(kitchen)", 6, depth=3))
    assert "the proof goes on" not in str(result.why("call(kitchen)", 6, depth=7))


@pytest.mark.parametrize(
    ("what", "at", "problem", "hint"),
    [
        ("call(kitchen)", 9, "call(kitchen) does not hold at 9: it holds at 5, 6, 7, 8", "--not"),
        ("call(kitchen)", None, "say at what time call(kitchen) is meant", "it holds at 5, 6"),
        ("call(kitchen)", 16, "16 is outside the run, which goes from 1 to 10", "a time in it"),
        ("call(X)", 6, "call(X) has variables", ""),
        ("alarm(kitchen,on)", 6, "is of the description", "ask about alarm(kitchen)=on"),
        ("alarm(kitchen)=on", 9, "does not hold at 9: it holds in (2,9)", "--not"),
        ("cold(kitchen)", 6, "no name cold/1 in the rules", "alarm/2, call/1, heating/1, pulse/1"),
        ("cal(kitchen)", 6, "no name cal/1 in the rules", "did you mean call/1?"),
    ],
)
def test_misuse(result: library.Result, what: str, at: int | None, problem: str, hint: str) -> None:
    with pytest.raises(UsageError) as told:
        result.why(what, at)
    assert problem in told.value.problem
    assert hint in (told.value.hint or "")


def test_what_only_some_answers_have() -> None:
    rules = library.combine(
        library.loads("initiatedAt(on(X)=true, T) :- happensAt(hot(X), T)."),
        library.loads("hot(x) :- heat, not hot(y).\nhot(y) :- heat, not hot(x).", language="lars"),
    )
    result = rules.run(["heat|3|3"], start=0, end=5, reasoning="brave")
    for name in ("x", "y"):
        (told,) = result.why(f"on({name})=true", 4).premises[0].premises
        assert (told.text, told.premises[0].premises[1].kind) == (f"hot({name})", "not")


def test_why_not_goes_through_both(result: library.Result) -> None:
    (rule,) = result.why_not("call(hall)", 3).premises
    (always,) = rule.premises
    assert (always.text, always.note) == ("always alarm(hall, on) [3]", "not at 1")
    assert always.premises[0].text.startswith("alarm(hall)=on would be initiated at 0")
    (lacks,) = result.why_not("wasted(kitchen)=true", 8).premises
    (missing,) = lacks.premises
    (atom,) = missing.premises
    assert (missing.text, atom.premises[0].text) == (
        "holdsAt(heating(kitchen)=true,8)",
        "pulse(kitchen) [3]",
    )
    assert atom.changes == (RowChange("+", "pulse|8|8|kitchen"),)
    (other, _) = result.why_not("alarm(kitchen)=on", 10).premises
    assert other.changes == (RowChange("-", "reset|8|8|kitchen"),)


def test_what_if(both: Rules, result: library.Result) -> None:
    found = result.what_if(without=["warm|1|1|kitchen"])
    assert [(r.op, r.name, r.start, r.end) for r in found] == [
        ("-", "call", 5, 9),
        ("-", "hot", 1, 3),
        ("-", "alarm", 2, 9),
    ]
    late = both.run(ROWS, clock="1s", start=0, end=10, step=5, window=10)
    (revised,) = late.why("alarm(hall)=on", 4, about="revision").premises
    assert [(row.text, p.note) for p in revised.premises for row in p.rows] == [
        ("warm|9|1|hall", "late: arrived at 9")
    ]


def test_the_command(horai: Run) -> None:  # noqa: F811
    Path("alarm.ec").write_text(ALARM)
    Path("rooms.lars").write_text(ROOMS)
    Path("rooms.csv").write_text("\n".join(ROWS) + "\n")
    asked = ("why", "alarm.ec", "rooms.lars", "alarm(hall)=on", "--at", "4", "-i", "rooms.csv")
    assert horai(*asked, "--clock", "1s", "--start", "0").output == (
        "alarm(hall)=on holds at 4, from 2 on\n"
        "├── alarm(hall)=on is initiated at 1  alarm.ec:2  Room=hall, T=1\n"
        "│   └── hot(hall) happens at 1\n"
        "│       └── hot(hall) holds at 1  rooms.lars:1  R=hall\n"
        "│           └── always warm(hall) [2] at 1\n"
        "│               └── always warm(hall) at 1\n"
        "│                   └── warm(hall) at 1  rooms.csv:6\n"
        "└── nothing ends alarm(hall)=on between 2 and 4\n"
    )


# --- random pairs --------------------------------------------------------------------------------


@examples("heavy")
@given(pairs())
def test_random_pairs(pair: Pair) -> None:
    """Events and fluents are proved as ever; all that is said of atoms is in an answer stream."""
    both = loaded(pair)
    result = both.run(pair.lines(), start=0, end=END)
    asked = [one for one in questions(result) if one[1] > 0][:12]
    proofs = [result.why(what, at, depth=100) for what, at in asked]
    assert wrong(result, proofs) == []
    assert [one for proof in proofs for one in mistakes(both, pair, proof)] == []


@examples("heavy")
@given(pairs(late=False))
def test_each_row_that_is_named_helps(pair: Pair) -> None:
    both = loaded(pair)
    result = both.run(pair.lines(), start=0, end=END)
    for what, at in list(questions(result))[:4]:
        for time in (at - 3, at + 3):
            if 0 < time <= END and not holds(result, what, time):
                proof = result.why_not(what, time)
                for wish in {wish for node in proof.walk() for wish in node.changes}:
                    lines = [one for one in pair.lines() if (wish.op, one) != ("-", wish.row)]
                    lines += [wish.row] if wish.op == "+" else []
                    changed = both.run(lines, start=0, end=END, engine="reference")
                    assert holds(changed, what, time), (wish, what, time)


def holds(result: library.Result, what: str, at: int) -> bool:
    if result.rules.description.rules and "=" in what:
        return bool(result.query(f"holdsAt({what},{at})"))
    if result.rules.is_output(what.partition("(")[0], 1, False):
        return bool(result.query(f"happensAt({what},{at})"))
    return bool(result.query(f"@{at} {what}"))


def mistakes(both: Rules, pair: Pair, proof: Proof) -> Iterator[str]:
    """What is said of an atom, or of what it rests on, and is in no answer stream."""
    if proof.kind in ("holds", "chosen", "item") and not OF_EVENTS.match(proof.claim):
        yield from _of_atom(both, pair, proof)
        below = list(_leaving(proof))
    else:
        below = list(proof.premises)
    for one in below:
        yield from mistakes(both, pair, one)


def _leaving(proof: Proof) -> Iterator[Proof]:
    """Where the proof of an atom goes over to the other language."""
    for premise in proof.premises:
        if OF_EVENTS.match(premise.claim):
            yield premise
        else:
            yield from _leaving(premise)


def _atoms(proof: Proof) -> Iterator[Proof]:
    yield proof
    for premise in proof.premises:
        if not OF_EVENTS.match(premise.claim):
            yield from _atoms(premise)


def _of_atom(both: Rules, pair: Pair, proof: Proof) -> Iterator[str]:
    known = known_items(pair, END)
    program = in_points(both.program, Clock.parse("1s"))
    answer = settle(both.description, program, known, 0, END).description
    rows = [(one.start, atom_of(show(one.entity))) for one in known]
    signals = [*rows, *said(answer, program, known, 0, END)]
    claims = {
        (node.at, atom_of(node.text))
        for node in _atoms(proof)
        if node.kind in ("holds", "chosen", "item") and node.at is not None
    }
    assert proof.at is not None
    for stage in both.stages:
        if isinstance(stage.rules, Program) and any(
            atom_of(proof.text).predicate in head_predicates(rule) for rule in stage.rules.rules
        ):
            mine = in_points(stage.rules, Clock.parse("1s"))
            for stream in answers_at(mine, signals, proof.at, 1):
                if all(atom in stream.at(time) for time, atom in claims):
                    return
    yield f"no answer stream at {proof.at} has {claims}"
