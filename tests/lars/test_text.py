"""From text to trees and back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lars.strategies import programs
from tests.weights import examples

from horai.lang.core.terms import Compound, Constant, Int, Var
from horai.lang.lars.clock import Duration
from horai.lang.lars.printer import show_program
from horai.lang.lars.reader import read_files, read_text
from horai.lang.lars.syntax import (
    Aggregate,
    Always,
    And,
    At,
    Atom,
    Choice,
    ChoiceOption,
    Comparison,
    Element,
    FilterWindow,
    Formula,
    Head,
    Implies,
    IntervalWindow,
    Not,
    Or,
    PartitionWindow,
    Pattern,
    Program,
    Reset,
    Rule,
    Some,
    TimeWindow,
    Truth,
    TupleWindow,
    Window,
    Within,
)

B = Atom("b")
X, T = Var("X"), Var("T")


def seconds(number: int) -> TimeWindow:
    return TimeWindow(Duration(number, "s"))


def rule(text: str) -> Rule:
    program, findings = read_text(text)
    assert findings == []
    assert len(program.rules) == 1
    return program.rules[0]


def body(text: str) -> Formula:
    (condition,) = rule(f"h :- {text}.").body
    return condition


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("b", B),
        ("b [3 s]", Within(seconds(3), Some(B))),
        ("b in [3 sec]", Within(seconds(3), Some(B))),
        ("some b [3s]", Within(seconds(3), Some(B))),
        ("always b [3 s]", Within(seconds(3), Always(B))),
        ("b always [3 s]", Within(seconds(3), Always(B))),
        ("b always in [3 s]", Within(seconds(3), Always(B))),
        ("@T b [3 s]", Within(seconds(3), At(T, B))),
        ("b at T [3 s]", Within(seconds(3), At(T, B))),
        ("b at T in [3 s]", Within(seconds(3), At(T, B))),
        ("b at T", At(T, B)),
        ("@3 b", At(Int(3), B)),
        ("@(T+1) b", At(Compound("+", (T, Int(1))), B)),
        ("@T+1 b", At(Compound("+", (T, Int(1))), B)),
        ("not b [3 s]", Not(Within(seconds(3), Some(B)))),
        ("b not in [3 s]", Not(Within(seconds(3), Some(B)))),
        ("not always b [3 s]", Not(Within(seconds(3), Always(B)))),
        ("[3 s] b", Within(seconds(3), B)),
        ("[9 s] always reset [3 s] some b", None),
        ("[3 s] (b, not b)", Within(seconds(3), And((B, Not(B))))),
        ("(b ; b -> true)", Implies(Or((B, B)), Truth(True))),
        ("reset b", Reset(B)),
        ("some (b [3 s])", Some(Within(seconds(3), Some(B)))),
        ("X >= 18", Comparison(">=", X, Int(18))),
        ("X =< 18", Comparison("<=", X, Int(18))),
        ("X % 2 = 0", Comparison("=", Compound("%", (X, Int(2))), Int(0))),
        ("X mod 2 == 0", Comparison("=", Compound("%", (X, Int(2))), Int(0))),
        ("X <> Constant", None),
        (
            "count { X : b [3 s] } > 2",
            Aggregate("count", (Element((X,), (Within(seconds(3), Some(B)),)),), ">", Int(2)),
        ),
        ("2 < #count { X : b }", Aggregate("count", (Element((X,), (B,)),), ">", Int(2))),
        ("X = sum { }", Aggregate("sum", (), "=", X)),
    ],
)
def test_a_condition(text: str, formula: Formula | None) -> None:
    found = body(text)
    if formula is not None:
        assert found == formula
    assert body(show_program(Program((Rule(Atom("h"), (found,)),)))[5:-2]) == found


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("[3]", TimeWindow(Duration(3))),
        ("[0 ms]", TimeWindow(Duration(0, "ms"))),
        ("[4 minutes]", TimeWindow(Duration(4, "min"))),
        ("[inf]", TimeWindow(Duration(None))),
        ("[4 s hop 2 s]", TimeWindow(Duration(4, "s"), hop=Duration(2, "s"))),
        ("[4 s tumbling]", TimeWindow(Duration(4, "s"), hop=Duration(4, "s"))),
        ("[+5 s]", TimeWindow(Duration(0), Duration(5, "s"))),
        ("[3, +1 hop 3]", TimeWindow(Duration(3), Duration(1), Duration(3))),
        ("[3 #]", TupleWindow(3)),
        ("[3#]", TupleWindow(3)),
        ("[+1 #]", TupleWindow(0, 1)),
        ("[2 #, +1 #]", TupleWindow(2, 1)),
        ("[inf #]", TupleWindow(None)),
        (
            "[1 # per tram(Id, a), bus]",
            PartitionWindow(
                1, 0, (Pattern("tram", (Var("Id"), Constant("a"))), Pattern("bus", None))
            ),
        ),
        ("[only tram(a1, 3)]", FilterWindow((Pattern("tram", (Constant("a1"), Int(3))),))),
        ("[from 3 to T]", IntervalWindow(Int(3), T)),
    ],
)
def test_a_window(text: str, window: Window) -> None:
    assert body(f"b {text}") == Within(window, Some(B))
    assert body(f"{text} b") == Within(window, B)


def test_windows_in_a_row_apply_from_left_to_right() -> None:
    only = FilterWindow((Pattern("b", None),))
    assert body("b [only b] [1 #]") == Within(only, Within(TupleWindow(1), Some(B)))
    assert body("[only b] [1 #] some b") == body("b [only b] [1 #]")


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("b.", B),
        ("b :- .", B),
        ("@T b :- @T c [3 #].", At(T, B)),
        ("b at 3 :- c.", At(Int(3), B)),
        ("b ; b | c.", Or((B, B, Atom("c")))),
        ("(b, c) :- d.", And((B, Atom("c")))),
        ("{ b }.", Choice((ChoiceOption(B),))),
        ("1 { b : c ; @T b } 2.", None),
        ("{ b } = 1.", Choice((ChoiceOption(B),), Int(1), Int(1))),
        ("{ b } <= 1.", Choice((ChoiceOption(B),), None, Int(1))),
        ("1 <= { b }.", Choice((ChoiceOption(B),), Int(1), None)),
        (":- b.", None),
        ("n(1..3).", Atom("n", (Compound("..", (Int(1), Int(3))),))),
    ],
)
def test_a_head(text: str, head: Head | None) -> None:
    found = rule(text)
    if head is not None:
        assert found.head == head
    assert rule(show_program(Program((found,)))) == found


def test_a_constraint_has_no_head() -> None:
    assert rule(":- b, not c.").head is None


@pytest.mark.parametrize(
    "text",
    ["% one\nh. % two", "// one\nh. // two", "/* one */ h. /* two\n */", "%* one\n *% h."],
)
def test_comments(text: str) -> None:
    assert rule(text) == Rule(Atom("h"))


@pytest.mark.parametrize(
    "text", ["h :- X > 3, % a note\n b(X).", "h :- b(X), X > 3 % see above\n, c.", "h :- b. %X"]
)
def test_a_percent_sign_before_prose_is_a_comment(text: str) -> None:
    assert "%" not in show_program(read_text(text)[0])
    assert read_text(text)[1] == []


def test_places_are_kept_and_do_not_count() -> None:
    found = rule("h :- b [3 s].")
    within = found.body[0]
    assert (found.span, within.span) == ((0, 13), (5, 12))
    assert found.source is not None and found.source.snippet((5, 12)) == "b [3 s]"
    assert found == rule("h:-b[3s].")


def test_files_are_read_as_one_program(tmp_path: Path) -> None:
    (tmp_path / "a.lars").write_text("a :- b.")
    (tmp_path / "c.lars").write_text("c :- a.")
    program, findings = read_files([tmp_path / "a.lars", tmp_path / "c.lars"])
    assert [r.head for r in program.rules] == [Atom("a"), Atom("c")]
    assert findings == []
    missing = read_files([tmp_path / "none.lars"])[1]
    assert [finding.code for finding in missing] == ["H028"]


@examples("normal")
@given(programs)
def test_what_is_printed_reads_as_the_same_program(program: Program) -> None:
    text = show_program(program)
    found, findings = read_text(text)
    assert findings == [], text
    assert found == program, text


@given(st.text(alphabet="abX T@#[]{}(),.;:-_not always 3s%\n'", max_size=40))
def test_no_text_is_too_odd(text: str) -> None:
    program, findings = read_text(text)
    assert all(finding.span is not None for finding in findings)
    if not findings:
        assert read_text(show_program(program))[0] == program
