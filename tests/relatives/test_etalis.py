"""Atom patterns: read, translated, and run against their table of intervals."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from tests.relatives.etalis_semantics import Ground, Intervals, least_model, written
from tests.relatives.running import EVERY, answers, program_text
from tests.weights import examples

from horai.lang.core.source import SourceText
from horai.lang.core.terms import Compound, Int, Term, Var
from horai.lang.lars.printer import show_program
from horai.lang.lars.reader import read_text
from horai.lang.lars.syntax import Atom, Comparison
from horai.lang.translate.etalis import (
    Absent,
    Binary,
    Lasting,
    Moment,
    Pattern,
    PatternRule,
    Where,
    read_source,
    translated,
)

END = 7
X, Y, Z = Atom("x"), Atom("y"), Atom("z")
V, W = Var("V"), Var("W")


def rules(text: str) -> list[PatternRule]:
    found, findings = read_source(SourceText("f", text))
    assert findings == [], findings[0].render()
    return found


def run(text: str, rows: list[str], time: int, shown: str, engine: str = "plan") -> set[str]:
    return answers(program_text(text, "etalis"), rows, time, engine, shown)[time]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x SEQ y SEQ z", Binary("SEQ", Binary("SEQ", X, Y), Z)),
        ("x OR y AND z", Binary("OR", X, Binary("AND", Y, Z))),
        ("x PAR y DURING z", Binary("PAR", X, Binary("DURING", Y, Z))),
        ("(x OR y) MEETS z", Binary("MEETS", Binary("OR", X, Y), Z)),
        ("(x SEQ y).5", Lasting(Binary("SEQ", X, Y), 5)),
        ("NOT(x).[y, z]", Absent(X, Y, Z)),
        ("x SEQ 7", Binary("SEQ", X, Moment(7))),
        (
            "w(V) WHERE V + 1 > 3",
            Where(Atom("w", (V,)), (Comparison(">", Compound("+", (V, Int(1))), Int(3)),)),
        ),
    ],
)
def test_reading(text: str, expected: Pattern) -> None:
    (found,) = rules(f"a <- {text}.")
    assert found.pattern == expected


@pytest.mark.parametrize("engine", EVERY)
class TestWorkedExamples:
    def test_g37_t37_a_sequence(self, engine: str) -> None:
        rows = ["x|2|2", "y|5|5", "y|6|6"]
        assert run("a <- x SEQ y.", rows, 6, "a_iv", engine) == {"a_iv(2,5)", "a_iv(2,6)"}
        assert run("a <- x SEQ y.", rows[:2], 5, "a_iv", engine) == {"a_iv(2,5)"}

    def test_g37_t39_intervals_that_overlap(self, engine: str) -> None:
        rows = ["x1|1|1", "x2|4|4", "x1|3|3", "x2|5|5", "y1|6|6", "y2|8|8"]
        text = "x <- (x1 SEQ x2).3. y <- y1 SEQ y2. z <- x SEQ y."
        assert run(text, rows, 8, "x_iv,z_iv", engine) == {
            *("x_iv(1,4)", "x_iv(3,4)", "x_iv(3,5)"),
            *("z_iv(1,8)", "z_iv(3,8)"),
        }

    def test_t38_patterns_inside_of_patterns(self, engine: str) -> None:
        rows = ["b|1|1", "y|2|2", "c|3|3", "z|5|5"]
        nested = "x <- b SEQ c. a <- x PAR (y SEQ z)."
        named = "x <- b SEQ c. a <- x PAR h. h <- y SEQ z."
        assert run(nested, rows, 5, "a_iv", engine) == {"a_iv(1,5)"}
        assert run(named, rows, 5, "a_iv", engine) == {"a_iv(1,5)"}

    def test_absence(self, engine: str) -> None:
        text = "a(P) <- NOT(call(P)).[leave(P), back(P)]."
        rows = ["leave|1|1|ada", "leave|1|1|bob", "call|2|2|bob", "back|4|4|ada", "back|4|4|bob"]
        assert run(text, rows, 4, "a_iv", engine) == {"a_iv(ada,1,4)"}

    def test_events_may_need_themselves(self, engine: str) -> None:
        rows = ["x|1|1", "x|2|2", "x|4|4"]
        text = "a <- x. a <- a SEQ x."
        expected = {(1, 1), (2, 2), (4, 4), (1, 2), (1, 4), (2, 4)}
        assert run(text, rows, 4, "a_iv", engine) == {f"a_iv({f},{t})" for f, t in expected}


def test_signals_of_events_that_rules_make() -> None:
    assert run("a <- x SEQ y.", ["a|1|1"], 2, "a_iv") == {"a_iv(1,1)"}


def test_variables_that_look_like_times() -> None:
    rows = ["x|1|1|9", "y|2|2|9"]
    assert run("a(T1) <- x(T1) SEQ y(T1).", rows, 2, "a_iv") == {"a_iv(9,1,2)"}


_RELATIONS = ["SEQ", "AND", "PAR", "EQUALS", "MEETS", "DURING", "STARTS", "FINISHES", "OR"]


@st.composite
def patterns(draw: DrawFn, known: list[str], depth: int = 3) -> Pattern:
    """A pattern over `x`, `y`, ... with one argument; alternatives speak of the same variables."""
    form = draw(st.sampled_from(["event", "event", "pair", "pair", "pair", "long", "where", "not"]))
    if depth == 0 or form == "event":
        args: list[Term] = [V, V, W, Int(1)]
        return Atom(draw(st.sampled_from(known)), (draw(st.sampled_from(args)),))
    inner = patterns(known, depth - 1)
    if form == "pair":
        relation = draw(st.sampled_from(_RELATIONS))
        if relation == "OR":  # both speak of V, and of nothing else
            one, other = (Atom(draw(st.sampled_from(known)), (V,)) for _ in range(2))
            return Binary("OR", one, other)
        return Binary(relation, draw(inner), draw(inner))  # type: ignore[arg-type]
    if form == "long":
        return Lasting(draw(inner), draw(st.integers(0, 3)))
    if form == "not":
        absent = Atom(draw(st.sampled_from(["x", "y"])), (V,))
        return Absent(absent, Atom(draw(st.sampled_from(known)), (V,)), draw(inner))
    sign = draw(st.sampled_from(["=", "!=", "<", ">="]))
    event = Atom(draw(st.sampled_from(known)), (V,))
    limits: list[Term] = [Int(1), Compound("-", (Int(3), Int(1)))]
    limit = draw(st.sampled_from(limits))
    return Where(event, (Comparison(sign, V, limit),))  # type: ignore[arg-type]


@st.composite
def rule_bases(draw: DrawFn) -> list[PatternRule]:
    """Rules for `a`, and for `b` which may build on it."""
    first = draw(patterns(["x", "y"]))
    second = draw(patterns(["x", "y", "a"], 2))
    third = draw(patterns(["x", "a", "b"], 1))
    head = [Atom(name, (V,)) for name in "abb"]
    bodies = [
        Binary("SEQ", Atom("x", (V,)), part) if draw(st.booleans()) else part
        for part in (first, second, third)
    ]
    return [PatternRule(h, p) for h, p in zip(head, bodies, strict=True)]


streams = st.lists(
    st.tuples(st.integers(0, END), st.sampled_from("xy"), st.integers(1, 2)), max_size=6
)


def check(
    base: list[PatternRule], stream: list[tuple[int, str, int]], engines: tuple[str, ...]
) -> None:
    text = "".join(f"{_shown(rule.head)} <- {_shown(rule.pattern)}.\n" for rule in base)
    found, findings = read_source(SourceText("f", text))
    if findings:  # a variable that nothing binds
        assert {finding.code for finding in findings} <= {"H805", "H806"}
        return
    assert found == base
    program = translated(base)
    shown = show_program(program)
    assert read_text(shown) == (program, [])
    rows = [f"{name}|{time}|{time}|{value}" for time, name, value in stream]
    expected = {}
    for time in (END // 2, END):
        signals: list[tuple[int, Ground]] = [
            (t, (name, (Int(value),))) for t, name, value in stream if t <= time
        ]
        expected[time] = written(least_model(base, signals), "ab")
    for engine in engines:
        seen = answers(shown, rows, END, engine, "a_iv,b_iv")
        assert {time: seen[time] for time in expected} == expected, engine


def _shown(pattern: Pattern) -> str:
    match pattern:
        case Atom(name=name, args=args):
            return f"{name}({','.join(map(_term, args))})"
        case Moment(time=time):
            return str(time)
        case Lasting(pattern=inner, most=most):
            return f"({_shown(inner)}).{most}"
        case Binary(relation=relation, left=left, right=right):
            return f"(({_shown(left)}) {relation} ({_shown(right)}))"
        case Absent(pattern=inner, first=first, last=last):
            return f"NOT({_shown(inner)}).[{_shown(first)}, {_shown(last)}]"
        case Where(pattern=inner, conditions=conditions):
            shown = (f"{_term(c.left)} {c.sign} {_term(c.right)}" for c in conditions)
            return f"({_shown(inner)} WHERE {', '.join(shown)})"


def _term(term: Term) -> str:
    match term:
        case Var(name=name):
            return name
        case Int(value=value):
            return str(value)
        case Compound(name=sign, args=(left, right)):
            return f"({_term(left)} {sign} {_term(right)})"
    raise AssertionError(term)


@given(rule_bases(), streams)
@examples("normal")
def test_programs_derive_the_intervals_of_patterns(
    base: list[PatternRule], stream: list[tuple[int, str, int]]
) -> None:
    check(base, stream, ("plan",))


@given(rule_bases(), streams)
@examples("heavy")
def test_every_engine_derives_the_intervals_of_patterns(
    base: list[PatternRule], stream: list[tuple[int, str, int]]
) -> None:
    check(base, stream, EVERY)


def _is_separable(model: Intervals) -> bool:
    """Do the intervals of every event have points between them?"""
    return all(
        one[1] + 1 < other[0]
        for intervals in model.values()
        for one, other in pairwise(sorted(intervals))
    )


@pytest.mark.parametrize("engine", ["plan", "asp", "reference"])
def test_g38_points(engine: str) -> None:
    text = show_program(translated(rules("a <- x SEQ y. b <- NOT(x).[a, z]."), points=True))
    text += "at(T) :- @T a."
    rows = ["x|2|2", "y|5|5", "z|8|8"]
    seen = answers(text, rows, 8, engine, "at,a_iv,b_iv")
    assert seen[5] == {"a_iv(2,5)", *(f"at({time})" for time in (2, 3, 4, 5))}
    assert seen[8] == {*seen[5], "b_iv(2,8)"}


@given(rule_bases(), streams)
@examples("normal")
def test_points_say_what_intervals_say_that_are_apart(
    base: list[PatternRule], stream: list[tuple[int, str, int]]
) -> None:
    base = base[:2]  # those after it may need themselves
    signals: list[tuple[int, Ground]] = [
        (2 * time, (name, (Int(value),))) for time, name, value in stream
    ]
    text = "".join(f"{_shown(rule.head)} <- {_shown(rule.pattern)}.\n" for rule in base)
    if read_source(SourceText("f", text))[1]:  # rules whose heads have variables of their own
        return
    model = least_model(base, signals)
    if not _is_separable(model):
        return
    rows = [f"{name}|{2 * time}|{2 * time}|{value}" for time, name, value in stream]
    program = show_program(translated(base, points=True))
    assert answers(program, rows, 2 * END, "plan", "a_iv,b_iv")[2 * END] == written(model, "ab")


@pytest.mark.slow
@pytest.mark.timeout(7200)
@given(rule_bases(), streams)
@examples("normal")
def test_programs_derive_the_intervals_of_patterns_at_length(
    base: list[PatternRule], stream: list[tuple[int, str, int]]
) -> None:
    check(base, stream, ("plan", "asp", "tms"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a <- x SEQ y", ("H800", 1, 13, "")),
        ("a <- x SEQ .", ("H801", 1, 12, ".")),
        ("a <- x seq y.", ("H801", 1, 8, "seq")),
        ("a.", ("H801", 1, 1, "a")),
        ("a <- x ; y.", ("H801", 1, 8, ";")),
        ("a <- NOT(x).", ("H802", 1, 6, "NOT(x)")),
        ("a <- NOT x.", ("H802", 1, 6, "NOT")),
        ("a <- x SEQ NOT(y(V) OR z) SEQ w.", ("H802", 1, 12, "NOT(y(V) OR z)")),
        ("a <- x AND NOT(y), z.", ("H802", 1, 12, "NOT(y)")),
        ("a <- NOT(x SEQ).[y, z].", ("H801", 1, 15, ")")),
        ("a <- NOT(x).[y, z] SEQ.", ("H801", 1, 23, ".")),
        ("a <- NOT(a).[x, y].", ("H805", 1, 10, "a")),
        ("a <- NOT(b).[x, y]. b <- a SEQ x.", ("H805", 1, 10, "b")),
        ("a <- x. a <- NOT(x).[x, a].", ("H805", 1, 25, "a")),
        ("a(V) <- x.", ("H806", 1, 3, "V")),
        ("a <- x(V) WHERE W > 3.", ("H806", 1, 17, "W")),
        ("a(V) <- x(V) OR y.", ("H806", 1, 11, "V")),
        ("a <- NOT(x(V)).[y, z] SEQ w(V).", ("H806", 1, 12, "V")),
    ],
)
def test_one_mistake(text: str, expected: tuple[str, int, int, str]) -> None:
    (found,) = [finding.as_json() for finding in read_source(SourceText("f", text))[1]]
    assert (found["code"], found["line"], found["column"], found["text"]) == expected
    assert found["hint"]
