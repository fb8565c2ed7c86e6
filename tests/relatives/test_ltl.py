"""Formulas of past temporal logic: read, translated, and run against their definition."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.relatives.ltl_semantics import holds
from tests.relatives.running import EVERY, answers, program_text
from tests.weights import examples

from horai.lang.core.source import SourceText
from horai.lang.lars.printer import show_program
from horai.lang.lars.reader import read_text
from horai.lang.lars.syntax import Atom, Truth
from horai.lang.translate.ltl import (
    Definition,
    LtlFormula,
    LtlOperation,
    LtlOperator,
    read_source,
    translated,
)
from horai.plan.lars.fragments import Fragment, classify

END = 6
P, Q = Atom("p"), Atom("q")


def op(
    operator: LtlOperator, *parts: LtlFormula, least: int = 0, most: int | None = None
) -> LtlOperation:
    return LtlOperation(operator, parts, least, most)


def formula(text: str) -> LtlFormula:
    (found,), findings = read_source(SourceText("f", f"{text}."))
    assert findings == [], findings[0].render()
    return found.formula


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("not p and q", op("and", op("not", P), Q)),
        ("p or q and p", op("or", P, op("and", Q, P))),
        ("p -> q -> p", op("implies", P, op("implies", Q, P))),
        ("!p | q <-> q", op("iff", op("or", op("not", P), Q), Q)),
        ("previous once p", op("previous", op("once", P))),
        (
            "Y O[1,3] H p",
            op("previous", op("once", op("historically", P), least=1, most=3)),
        ),
        ("p since[2, inf] q", op("since", P, Q, least=2)),
        ("p S q S p", op("since", op("since", P, Q), P)),
        ("(p) -> true", op("implies", P, Truth(True))),
    ],
)
def test_reading(text: str, expected: LtlFormula) -> None:
    assert formula(text) == expected


def test_definitions_stand_for_their_formulas() -> None:
    text = "b := previous a. a := p and q. % the order does not matter\n"
    found, findings = read_source(SourceText("f", text))
    assert findings == []
    assert [one.formula for one in found] == [op("previous", op("and", P, Q)), op("and", P, Q)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("historically[0,5] hot", "holds :- always hot [5]."),
        ("once alarm(a1) and not once[0,2] p", "holds :- alarm(a1) [inf], not p [2]."),
        ("p -> q", "holds :- not p.\nholds :- q."),
    ],
)
def test_simple_formulas_need_windows_only(text: str, expected: str) -> None:
    assert program_text(f"{text}.", "ltl") == f"{expected}\n"


bounds = st.tuples(st.integers(0, 3), st.integers(0, 3) | st.none()).map(
    lambda pair: (pair[0], None if pair[1] is None else pair[0] + pair[1])
)


def formulas() -> st.SearchStrategy[LtlFormula]:
    base: st.SearchStrategy[LtlFormula] = st.sampled_from([P, P, Q, Q, Truth(True), Truth(False)])

    def larger(inner: st.SearchStrategy[LtlFormula]) -> st.SearchStrategy[LtlFormula]:
        one, two = st.tuples(inner), st.tuples(inner, inner)
        one_part: tuple[LtlOperator, ...] = ("not", "previous")
        two_parts: tuple[LtlOperator, ...] = ("and", "or", "implies", "iff")
        return st.one_of(
            *(st.builds(LtlOperation, st.just(word), one) for word in one_part),
            *(st.builds(LtlOperation, st.just(word), two) for word in two_parts),
            *(
                st.builds(lambda f, b, word=word: LtlOperation(word, f, *b), one, bounds)
                for word in ("once", "historically")
            ),
            st.builds(lambda f, b: LtlOperation("since", f, *b), two, bounds),
        )

    return st.recursive(base, larger, max_leaves=5)


paths = st.dictionaries(
    st.integers(0, END), st.sets(st.sampled_from(["p", "q"]), min_size=1), max_size=END
)


def check(given_formula: LtlFormula, path: dict[int, set[str]], engines: tuple[str, ...]) -> None:
    program = translated([Definition("h", given_formula)])
    text = show_program(program)
    rows = [f"{name}|{time}|{time}" for time in path for name in path[time]]
    expected = {t: {"h"} if holds(given_formula, path, t) else set() for t in range(END + 1)}
    for engine in engines:
        assert answers(text, rows, END, engine, "h") == expected, engine


@given(formulas(), paths)
@examples("normal")
def test_programs_say_what_formulas_mean(formula: LtlFormula, path: dict[int, set[str]]) -> None:
    check(formula, path, ("plan", "reference"))


@given(formulas(), paths)
@examples("normal")
def test_every_engine_says_what_formulas_mean(
    formula: LtlFormula, path: dict[int, set[str]]
) -> None:
    check(formula, path, EVERY)


@given(formulas())
def test_programs_are_stratified_and_read_as_printed(formula: LtlFormula) -> None:
    program = translated([Definition("h", formula)])
    assert classify(program).fragment in (Fragment.POSITIVE, Fragment.STRATIFIED)
    assert read_text(show_program(program)) == (program, [])


def test_names_that_are_taken_already() -> None:
    text = "point := once[1,2] (so and not lag_1)."
    program = program_text(text, "ltl")
    rows = ["so|1|1", "so|2|2", "lag_1|2|2"]
    found = answers(program, rows, 5, "plan", "point")
    assert {time for time, shown in found.items() if shown} == {2, 3}


def told(text: str) -> list[tuple[str, int, int, str]]:
    found = [finding.as_json() for finding in read_source(SourceText("f", text))[1]]
    return [(one["code"], one["line"], one["column"], one["text"]) for one in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a := once p", ("H800", 1, 12, "")),
        ("a := once and p.", ("H801", 1, 11, "and")),
        ("a := p q.", ("H801", 1, 8, "q")),
        ("a := (p.", ("H801", 1, 8, ".")),
        ("a := p € q.", ("H801", 1, 8, "€")),
        ("a := next p.", ("H802", 1, 6, "next")),
        ("a := p until q.", ("H802", 1, 8, "until")),
        ("a := once[3,1] p.", ("H803", 1, 10, "[3,1]")),
        ("a := once[-1,1] p.", ("H803", 1, 10, "[-1,1]")),
        ("a := p.\na := q.", ("H804", 2, 1, "a := q")),
        ("a := previous a.", ("H805", 1, 1, "a := previous a")),
        ("a := p(X).", ("H806", 1, 8, "X")),
        ("a := p(Where, 3).", ("H806", 1, 8, "Where")),
        (f"a := {'not ' * 120}p.", ("H801", 1, 1, f"a := {'not ' * 120}p")),
    ],
)
def test_one_mistake(text: str, expected: tuple[str, int, int, str]) -> None:
    assert told(text) == [expected]


def test_all_mistakes_are_told_at_once() -> None:
    text = "a := once[3,1] p.\nb := p and.\nc := q.\nd := e. e := d.\n"
    assert [(code, line) for code, line, _, _ in told(text)] == [
        ("H803", 1),
        ("H801", 2),
        ("H805", 4),
        ("H805", 4),
    ]
