"""Proofs of atoms of LARS programs: windows and support, in any engine, also of chosen streams."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from tests.asp.programs import MIXED, Kind, Signals, programs, streams
from tests.weights import examples

import horai
from horai.errors import RunError, UsageError
from horai.explain.proof import Proof, RowChange
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
    with pytest.raises(UsageError, match="each query time has its own reasons"):
        result.why("late(a1)", 5, about="end")


# --- why not -------------------------------------------------------------------------------------

HEAT = """\
hot(X) :- temp(X, V) [5], V > 30.
many(X) :- hot(X), count { T : @T temp(X, _) } > 2.
long(X) :- always warm(X) [2].
{ wait(X) ; walk(X) } 1 :- hot(X).
:- hot(X), broken(X) [3].
:- wait(X). :- walk(X).
"""
TEMPS = [
    "temp|2|2|a|35",
    "temp|3|3|b|20",
    "broken|6|6|a",
    "temp|9|9|b|36",
    "warm|7|7|b",
    "warm|9|9|b",
]


@pytest.fixture(scope="module")
def heat() -> horai.Result:
    return horai.loads(HEAT, language="lars").run(TEMPS, start=1, end=12)


@pytest.mark.parametrize(
    ("what", "at", "unmet", "wishes"),
    [
        ("hot(b)", 4, ["20 > 30"], []),
        ("hot(c)", 9, ["temp(c, V) [5]", "V > 30"], ["+ temp|9|9|c|36"]),
        ("many(b)", 9, ["count { T : @T temp(b, _) } > 2"], []),
        ("long(b)", 9, ["always warm(b) [2]"], ["+ warm|8|8|b"]),
        ("long(b)", 12, ["always warm(b) [2]"], []),
        ("many(c)", 9, ["hot(c)", "count { T : @T temp(c, _) } > 2"], []),
        ("hot(a)", 6, [], ["- broken|6|6|a"]),  # the program has no answer
    ],
)
def test_why_not(
    heat: horai.Result, what: str, at: int, unmet: list[str], wishes: list[str]
) -> None:
    proof = heat.why_not(what, at)
    found = [node for rule in proof.premises for node in rule.premises if node.kind == "unmet"]
    assert (proof.kind, [node.text for node in found]) == ("fails", unmet)
    assert sorted({f"{w.op} {w.row}" for n in proof.walk() for w in n.changes}) == wishes


def test_a_negation_that_is_violated_names_the_row_behind_it(result: horai.Result) -> None:
    rules = horai.loads(RULES.replace("[3]", "[3 s]"), language="lars")
    (rule,) = rules.run([*ROWS, "tram|8|8|a1|b"], start=1, end=9).why_not("busy(a1)", 9).premises
    (violated,) = rule.premises
    assert (violated.text, [row.text for row in violated.rows]) == (
        "not jam(b) [3]",
        ["jam|8|8|b"],
    )
    assert rule.changes == (RowChange("-", "jam|8|8|b"),)
    assert (rule.rule.line if rule.rule else 0, rule.bindings) == (1, (("X", "a1"), ("S", "b")))
    (derived,) = result.why_not("late(a2)", 5).premises
    assert [node.text for node in derived.premises] == ["slow(a2)"]


def test_an_option_that_was_not_chosen(result: horai.Result) -> None:
    (other,) = [one for one in ("wait(a1)", "walk(a1)") if one not in result.at(5).texts()]
    (rule,) = result.why_not(other, 5).premises
    assert rule.text == f"{other} may be chosen at 5, and was not"


def test_what_cannot_be_asked_why_not(heat: horai.Result) -> None:
    with pytest.raises(UsageError, match=r"hot.b. holds at 9"):
        heat.why_not("hot(b)", 9)
    with pytest.raises(UsageError, match="has variables"):
        heat.why_not("hot(X)", 9)
    with pytest.raises(UsageError, match="40 is no query time"):
        heat.why_not("hot(a)", 40)


@examples("normal")
@given(programs(Kind(values=MIXED)), streams(Kind(values=MIXED)))
def test_each_row_that_is_named_helps(program: Program, signals: Signals) -> None:
    """A run of the reference with the row, or without it, gives what was asked."""
    settings: dict[str, Any] = {"start": 0, "end": 5, "engine": "reference"}
    try:
        rules = horai.loads(show_program(program), language="lars")
        result = rules.run([line(*one) for one in signals], **settings)
    except (RulesError, RunError):
        return
    atoms = {text for answer in result.answers for text in answer.texts()}
    for asked in sorted(atoms)[:3]:
        for answer in result.answers:
            if result.query(f"@{answer.query} {asked}"):
                continue
            proof = result.why_not(asked, answer.query)
            for wish in {wish for node in proof.walk() for wish in node.changes}:
                rows = [line(*one) for one in signals]
                rows = [one for one in rows if (wish.op, one) != ("-", wish.row)]
                rows += [wish.row] if wish.op == "+" else []
                changed = rules.run(rows, **settings)
                assert changed.query(f"@{answer.query} {asked}"), (wish, asked, answer.query)


# --- what if -------------------------------------------------------------------------------------


def test_what_if_keeps_the_order_of_rows(tmp_path: Path) -> None:
    """Windows that count rows see those of a run again in the order in which files were given."""
    rules = horai.loads("last(X) :- tram(X, _) [1 #].", language="lars")
    for name, tram in (("b", "first"), ("a", "second")):
        (tmp_path / f"{name}.csv").write_text(f"tram|3|3|{tram}|s\n")
    result = rules.run([tmp_path / "b.csv", tmp_path / "a.csv"], start=1, end=6)
    assert [(r.name, r.args, r.start, r.end) for r in result.atoms] == [("last", ("second",), 3, 7)]
    found = result.what_if(added=["tram|5|5|third|s"])
    assert [(r.op, r.args, r.start, r.end) for r in found] == [
        ("-", ("second",), 3, 7),
        ("+", ("second",), 3, 5),
        ("+", ("third",), 5, 7),
    ]
    assert [(r.op, r.args) for r in result.what_if(without=[f"{tmp_path / 'a.csv'}:1"])] == [
        ("-", ("second",)),
        ("+", ("first",)),
    ]


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


def test_a_proof_does_not_look_at_each_point_of_a_fine_clock() -> None:
    text = "hint(X) :- waits(X) [90 d], bus(B) [90 d], not late(B) [90 d].\n"
    now = 40_000_000_000  # milliseconds
    rows = ["late|1|1|b1", f"waits|{now}|{now}|m", f"bus|{now}|{now}|b1"]
    rules = horai.loads(text, language="lars")
    result = rules.run(rows, engine="tms", clock="1ms", start=0, end=now, step=now)
    assert [row.line for row in result.why("hint(m)", now).rows] == [2, 3]
