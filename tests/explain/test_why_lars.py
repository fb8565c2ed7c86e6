"""Proofs of atoms of LARS programs: windows and support, in any engine, also of chosen streams."""

import pytest
from hypothesis import given
from tests.asp.programs import MIXED, Kind, Signals, programs, streams
from tests.weights import examples

import horai
from horai.errors import RunError, UsageError
from horai.explain.proof import Proof
from horai.lang.core.diagnostics import RulesError
from horai.lang.lars.printer import show_program
from horai.lang.lars.reader import read_text
from horai.lang.lars.syntax import Atom, Program
from horai.oracle.lars.answers import answers_at
from horai.runtime.queries import atom_of
from horai.runtime.values import show

RULES = """\
busy(X) :- tram(X, S) [3], not jam(S) [3].
late(X) :- busy(X), slow(X).
{ wait(X) ; walk(X) } 1 :- busy(X).
:- busy(X), not wait(X), not walk(X).
slow(a1).
"""
ROWS = ["tram|4|4|a1|b", "tram|5|5|a2|b", "jam|8|8|b"]


@pytest.fixture(scope="module")
def result() -> horai.Result:
    rules = horai.loads(RULES.replace("[3]", "[3 s]"), language="lars")
    return rules.run(ROWS, start=1, end=9)


def test_windows_and_the_signals_in_them(result: horai.Result) -> None:
    proof = result.why("late(a1)", 6)
    busy, slow = proof.premises
    assert (proof.rule.line if proof.rule else 0, proof.bindings) == (2, (("X", "a1"),))
    window, absent = busy.premises
    assert (window.kind, window.interval, absent.kind) == ("window", (3, 7), "not")
    assert [(row.line, row.text) for row in window.rows] == [(1, "tram|4|4|a1|b")]
    assert (slow.kind, slow.text) == ("fact", "slow(a1)")


def test_what_is_chosen_says_so(result: horai.Result) -> None:
    (chosen,) = [text for text in result.at(5).texts() if text in ("wait(a1)", "walk(a1)")]
    proof = result.why(chosen, 5)
    assert (proof.kind, proof.note) == ("chosen", "an option of a choice")
    assert proof.premises[0].text == "busy(a1)"


@pytest.mark.parametrize("engine", ["auto", "asp", "reference"])
def test_every_engine_is_explained_alike(engine: str) -> None:
    text = "seen(X) :- tram(X, _) [3 s].\ntwice(X) :- seen(X), count { T : @T tram(X, _) } > 1.\n"
    rules = horai.loads(text, language="lars")
    result = rules.run([*ROWS, "tram|6|6|a1|c"], engine=engine, start=1, end=9)
    assert str(result.why("seen(a1)", 7)).splitlines()[0] == (
        "seen(a1) holds at 7  <rules>:1  X=a1"
    )
    assert [row.line for row in result.why("twice(a1)", 7).rows] == [1, 4]


@pytest.mark.parametrize(
    ("what", "at", "problem"),
    [
        ("late(a1)", 9, "late(a1) does not hold at 9: it holds at 4, 5, 6, 7"),
        ("late(a2)", 5, "late(a2) does not hold at 5: it never holds"),
        ("late(a1)", None, "say at what query time late(a1) is meant"),
        ("late(a1)", 40, "40 is no query time of the run: they are 1 to 9"),
        ("late(X)", 5, "late(X) has variables"),
        ("lates(a1)", 5, "no predicate lates/1"),
    ],
)
def test_misuse(result: horai.Result, what: str, at: int | None, problem: str) -> None:
    with pytest.raises(UsageError) as told:
        result.why(what, at)
    assert problem in told.value.problem


def test_other_questions_are_for_events_and_fluents(result: horai.Result) -> None:
    with pytest.raises(UsageError, match="why not is a question about events and fluents"):
        result.why_not("late(a2)", 5)
    with pytest.raises(UsageError, match="each query time has its own reasons"):
        result.why("late(a1)", 5, about="end")


# --- random programs -----------------------------------------------------------------------------


@examples("normal")
@given(programs(Kind(values=MIXED)), streams(Kind(values=MIXED)))
def test_random_programs(program: Program, signals: Signals) -> None:
    """All that a proof says holds in one answer stream; its leaves are input and facts."""
    text = show_program(program)
    try:
        rules = horai.loads(text, language="lars")
        result = rules.run([line(*one) for one in signals], start=0, end=5, engine="reference")
    except (RulesError, RunError):
        return
    for answer in result.answers:
        for told in answer.texts():
            proof = result.why(told, answer.query, depth=100)
            assert mistakes(rules.in_points(), proof, signals, answer.query) == []


def line(time: int, atom: Atom) -> str:
    return "|".join([atom.name, str(time), str(time), *map(show, atom.args)])


def mistakes(program: Program, proof: Proof, signals: Signals, query: int) -> list[str]:
    known = [one for one in signals if one[0] <= query]
    claims = {
        (node.at, atom_of(node.text))
        for node in proof.walk()
        if node.kind in ("holds", "chosen", "item") and node.at is not None
    }
    found = [f"{node.says} rests on nothing" for node in proof.leaves if rests_on_nothing(node)]
    streams_ = answers_at(program, known, query, 0)
    if not any(all(atom in one.at(time) for time, atom in claims) for one in streams_):
        found.append(f"no answer stream at {query} has {sorted(map(str, claims))}")
    for node in proof.walk():
        if node.kind == "item" and (node.at, atom_of(node.text)) not in known:
            found.append(f"{node.says} is no signal")
        if node.kind == "fact" and read_text(f"{node.text}.")[0].rules[0].head not in {
            rule.head for rule in program.rules if not rule.body
        }:
            found.append(f"{node.text} is no fact")
    return found


def rests_on_nothing(node: Proof) -> bool:
    is_derived = node.kind in ("holds", "chosen") and node.note != "as proved above"
    return is_derived and (node.rule is None or "proof goes on" in node.note)
