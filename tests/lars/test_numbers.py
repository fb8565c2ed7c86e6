"""Whole numbers are exact up to 2^1024; clingo has 32 bits of them, columns 64."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.weights import examples

import horai
from horai.errors import RunError
from horai.runtime.lars.engines import LARS_ENGINES

ENGINES = list(LARS_ENGINES)
WITHOUT_TOTALS = [engine for engine in ENGINES if engine != "tms"]
ARITHMETIC = """
a(X) :- n(X).
b(Y) :- n(X), Y = X + X.
c(Y) :- n(X), Y = X * X.
d(Y) :- n(X), Y = X - 1.
e(X) :- n(X), X > 5.
f(Y) :- n(X), Y = X / 3.
g(Y) :- n(X), Y = X % 7.
h(Y) :- n(X), Y = X ^ 2.
k(Y) :- n(X), Y = -X.
"""


HUGE = f"{10**308}.0"


def run(text: str, rows: list[str], engine: str, end: int = 1) -> list[list[str]]:
    result = horai.loads(text, language="lars").run(rows, start=1, end=end, engine=engine)
    return [answer.texts() for answer in result.answers]


def one_by_one(text: str, rows: list[str], engine: str) -> list[str]:
    session = horai.loads(text, language="lars").session(engine=engine, start=1)
    return session.advance(1, rows).texts()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("asked", [lambda *given: run(*given)[0], one_by_one])
@pytest.mark.parametrize(
    "number",
    [*(sign * (2**bits + more) for bits in (30, 31, 61, 62, 63, 64, 500) for more in (-1, 0, 1)
       for sign in (1, -1))],
)  # fmt: skip
def test_arithmetic_is_exact(asked: object, engine: str, number: int) -> None:
    towards_zero = abs(number) // 3 * (1 if number > 0 else -1)
    rest = abs(number) % 7 * (1 if number > 0 else -1)
    expected = [
        *(f"a({number})", f"b({2 * number})", f"c({number**2})", f"d({number - 1})"),
        *([f"e({number})"] if number > 5 else []),
        *(f"f({towards_zero})", f"g({rest})", f"h({number**2})", f"k({-number})"),
    ]
    assert callable(asked)
    assert sorted(asked(ARITHMETIC, [f"n|1|1|{number}"], engine)) == sorted(expected)


@pytest.mark.parametrize("engine", ENGINES)
def test_additions_of_small_numbers_may_leave_32_bits(engine: str) -> None:
    text = """
    e(X + Y) :- n(X), n(Y) [9 s].
    f(Z + Y) :- e(Z), n(Y).
    g(X + X + X + X) :- n(X).
    below :- f(X), X < 0.
    """
    rows = ["n|1|1|1073741823", "n|2|2|1073741822"]
    first, second = run(text, rows, engine, 2)
    assert first == ["e(2147483646)", "f(3221225469)", "g(4294967292)"]
    assert second == [
        *("e(2147483644)", "e(2147483645)", "f(3221225466)", "f(3221225467)", "g(4294967288)")
    ]


@pytest.mark.parametrize("engine", ["plan", "reference"])
def test_totals_are_exact(engine: str) -> None:
    text = "t(S) :- S = sum { X : n(X) [1 s] }. m(S) :- S = max { X : n(X) [1 s] }."
    large = 2**63 - 1
    rows = [f"n|1|1|{large}", f"n|1|1|{large - 1}", "n|2|2|0.5"]
    assert run(text, rows, engine, 3) == [
        [f"m({large})", f"t({2 * large - 1})"],
        [f"m({large})", "t(1.8446744073709552e+19)"],
        ["m(0.5)", "t(0.5)"],
    ]


@pytest.mark.parametrize("engine", WITHOUT_TOTALS)
def test_each_total_counts_for_itself(engine: str) -> None:
    text = "t(P, S) :- p(P), S = sum { X : n(P, X) }. p(1..4)."
    rows = [f"n|1|1|{one}|1000000000" for one in range(1, 5)]
    assert run(text, rows, engine) == [[f"t({one},1000000000)" for one in range(1, 5)]]


def test_what_clingo_cannot_do_is_said() -> None:
    message = "an aggregate with the number 5000000000, beyond .*; try the engine `reference`"
    with pytest.raises(RunError, match=message):
        run("t(S) :- S = sum { X : n(X) }.", ["n|1|1|5000000000"], "asp")


@pytest.mark.parametrize("engine", ENGINES)
def test_times_may_be_beyond_the_numbers_of_clingo(engine: str) -> None:
    text = """
    @T h :- n(T).          k :- h [+5000000000 s].    p :- not h [2 s, +6000000000 s].
    g(T) :- @T h.          l :- always k [3 s].
    """
    rows = ["n|5000000000|5000000000|5000000003", "n|5000000001|5000000001|5000000002"]
    result = horai.loads(text, language="lars").run(
        rows, start=5000000000, end=5000000003, engine=engine
    )
    far, near = "g(5000000003)", "g(5000000002)"
    assert [answer.texts() for answer in result.answers] == [
        [far, "k", "l"],
        [near, "k"],
        ["p"],
        ["p"],
    ]


def test_a_total_that_clingo_would_not_hold_is_said() -> None:
    rows = ["n|1|1|1073741823", "n|1|1|1073741822"]
    with pytest.raises(RunError, match="a sum of numbers that may come to 2147483645"):
        run("t(S) :- S = sum { X : n(X) }.", rows, "asp")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "condition, number, shown",
    [
        ("Y = X * X", str(2**600), r"4149\.\.\.\d{4} \(181 digits\) \* 4149"),
        ("Y = X ^ 2000", "2", r"2 \^ 2000"),
        ("Y = X * 10", HUGE, r"1e\+308 \* 10"),
        ("Y = X + X", HUGE, r"1e\+308 \+ 1e\+308"),
        ("Y = X / 0.001", HUGE, r"1e\+308 / 0\.001"),
        ("Y = X ^ 2.0", HUGE, r"1e\+308 \^ 2\.0"),
    ],
)
def test_a_number_beyond_all_bounds_stops_the_run(
    engine: str, condition: str, number: str, shown: str
) -> None:
    text = f"a(X) :- n(X).\nb(Y) :- n(X), {condition}."
    with pytest.raises(RunError, match=rf"^{shown}.* is beyond 2\^1024.*: see <rules>:2$"):
        run(text, [f"n|1|1|{number}"], engine)
    with pytest.raises(RunError, match="beyond"):
        one_by_one(text, [f"n|1|1|{number}"], engine)


@pytest.mark.parametrize("engine", ["plan", "reference"])
@pytest.mark.parametrize("numbers", [[HUGE, "11" + HUGE[2:]], [str(2**1023), str(2**1023 + 1)]])
def test_a_total_beyond_all_bounds_stops_the_run(engine: str, numbers: list[str]) -> None:
    text = "t(S) :- S = sum { X : n(X) }."
    with pytest.raises(RunError, match=r"^sum \{ .* \} is beyond 2\^1024.*<rules>:1$"):
        run(text, [f"n|1|1|{number}" for number in numbers], engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_has_no_value_is_not_too_large(engine: str) -> None:
    text = "a(Y) :- n(X), Y = X / 0.\nb(Y) :- n(X), Y = X / 0.0.\nc(Y) :- n(X), Y = 2 ^ (0 - X)."
    assert run(text, ["n|1|1|3"], engine) == [[]]


@pytest.mark.parametrize("engine", ENGINES)
def test_times_end_at_61_bits(engine: str) -> None:
    text = "@T h :- n(T). g(T) :- @T h."
    times = [2**61 - 1, 2**61, 10**30]
    rows = [f"n|1|1|{time}" for time in times]
    assert run(text, rows, engine) == [[f"g({times[0]})"]]


BOUNDS = [0, 1, 2**15, 2**29, 2**30, 2**31, 2**60, 2**61, 2**62, 2**63, 2**64]
NUMBERS = st.builds(
    lambda sign, bound, more: sign * (bound + more),
    st.sampled_from([1, -1]),
    st.sampled_from(BOUNDS),
    st.integers(-2, 2),
)


@examples("normal")
@given(st.lists(NUMBERS, min_size=1, max_size=3), st.sampled_from("+-*/%"), st.integers(-3, 3))
def test_engines_compute_the_same(numbers: list[int], sign: str, other: int) -> None:
    text = f"""
    a(X {sign} Y) :- n(X), n(Y).
    b(Z) :- a(X), Z = X {sign} M, Z > X, m(M).
    c(X + Y + {abs(other)}) :- a(X), n(Y), X != Y.
    m({other}).
    """
    rows = [f"n|1|1|{number}" for number in numbers]
    expected = run(text, rows, "reference")
    assert {engine: run(text, rows, engine) for engine in ENGINES} == dict.fromkeys(
        ENGINES, expected
    )


# --- rules without end -------------------------------------------------------------------------


ENDLESS = {
    "numbers": "c(X) :- n(X).\nc(X + 1) :- c(X).",
    "through another": "c(X) :- n(X).\nd(Y) :- c(X), Y = X + 1.\nc(X) :- d(X).",
    "times": "@1 c :- n(_).\n@U c :- @T c, U = T + 1.",
    "pairs": "c(X, X) :- n(X).\nc(X + 1, Y) :- c(X, Y).\nc(X, Y + 1) :- c(X, Y).",
}


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up sooner than people would want."""
    monkeypatch.setattr("horai.plan.lars.strata.MOST_ROUNDS", 60)
    monkeypatch.setattr("horai.oracle.lars.grounding.MOST_ROUNDS", 40)
    monkeypatch.setattr("horai.asp.symbols.MOST_CALLS", 2000)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ENDLESS)
def test_rules_without_end_are_given_up(engine: str, name: str) -> None:
    message = r"^rules still derive new atoms after .*, it seems without end .*: see <rules>:2"
    with pytest.raises(RunError, match=message):
        run(ENDLESS[name], ["n|1|1|3"], engine)
    with pytest.raises(RunError, match=message):
        one_by_one(ENDLESS[name], ["n|1|1|3"], engine)


def test_rules_that_grow_in_two_ways_are_given_up_sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("horai.plan.lars.strata.MANY_ROUNDS", 20)
    monkeypatch.setattr("horai.plan.lars.strata.MANY_ROWS", 300)
    with pytest.raises(RunError, match=r"after \d\d\d? rounds, it seems without end"):
        run(ENDLESS["pairs"], ["n|1|1|3"], "plan")


@pytest.mark.parametrize("engine", ENGINES)
def test_terms_without_end_are_given_up(engine: str) -> None:
    message = r"after 100 rounds, it seems without end .*: see <rules>:2"
    with pytest.raises(RunError, match=message):
        run("c(X) :- n(X).\nc(f(X)) :- c(X).", ["n|1|1|3"], engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_rules_with_a_bound_come_to_an_end(engine: str) -> None:
    most = 100 if engine == "reference" else 1000
    text = f"c(X) :- n(X). c(X + 1) :- c(X), X < {most}. last(X) :- c(X), X >= {most}."
    result = horai.loads(text, language="lars").run(
        ["n|1|1|1"], start=1, end=1, engine=engine, filter="last"
    )
    assert result.answers[0].texts() == [f"last({most})"]


def test_the_time_is_that_of_the_signal_that_begins_it() -> None:
    with pytest.raises(RunError, match=r"\(at time 2\)"):
        run(ENDLESS["numbers"], ["n|2|2|3"], "asp", 3)
