"""Background rules without an end are given up, by name and place, by every engine."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.weights import examples

import horai
from horai.errors import RunError
from horai.lang import endless

ENDLESS = {
    "a counter": "n(0). n(N) :- n(M), N is M + 1.",
    "two counters": "a(0). a(N) :- b(M), N is M + 1. b(N) :- a(M), N is M * 2.",
    "twice as many each time": "d(1). d(N) :- d(M), N is M * 2. d(N) :- d(M), N is M * 2 + 1.",
    "lists": "l([]). l([a | X]) :- l(X).",
    "lists of two": "l([]). l([a | X]) :- l(X). l([b | X]) :- l(X).",
    "lists by append": "l([a]). l(Y) :- l(X), append(X, [b], Y).",
    "terms": "t(a). t(f(X)) :- t(X).",
    "terms by equality": "t(a). t(Y) :- t(X), Y = f(X).",
    "terms of two": "t(a). t(f(X, Y)) :- t(X), t(Y).",
    "terms twice as large each time": "t(a). t(f(X, X)) :- t(X).",
    "lists in lists": "l([]). l([X]) :- l(X).",
    "lists of all lists": "l([a]). l(Z) :- l(X), l(Y), append(X, Y, Z).",
    "sums": "s(1). s(Z) :- s(X), s(Y), Z is X + Y.",
    "ranges": "n(1). n(N) :- n(M), between(1, 1000, K), N is M + K.",
    "terms of many": "q(N) :- between(1, 300, N). t(X) :- q(X). t(f(X, Y)) :- t(X), t(Y).",
    "terms of three": "t(1). t(f(X, Y, Z)) :- t(X), t(Y), t(Z).",
    "twice as many calls each time": "p(N) :- N > 0, M is N - 1, p(M), p(M). p(0).",
    "a delay": "n(1). n(N) :- n(M), N is M + 1. fi(f(X)=true, f(X)=false, D) :- n(D).",
}
RULES = "initiatedAt(f(X)=true, T) :- happensAt(e(X), T), {} Y \\= X."
SAID = r":[12]: \w/1 (still has new rows|derives more than|makes values of|calls itself)"


@pytest.mark.parametrize("engine", ["reference", "compiled"])
@pytest.mark.parametrize("kind", ENDLESS)
def test_rules_without_an_end_are_named(
    kind: str, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endless, "MOST_ROUNDS", 1_000)
    monkeypatch.setattr(endless, "MOST_PARTS", 20_000)  # the reference takes its time
    monkeypatch.setattr(endless, "MOST_CALLS", 5_000)
    background = ENDLESS[kind]
    name = background.split(". ")[-1][0] if "q(" in background else background[0]
    asked = "p(100), Y = 1," if name == "p" else f"{name}(Y),"
    rules = horai.loads(f"{background}\n{RULES.format(asked)}")  # checking them ends, too
    with pytest.raises(RunError, match=SAID):
        rules.run("e|1|1|x\n", engine=engine)


@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_squares_end_where_they_have_no_value_any_more(engine: str) -> None:
    rules = horai.loads(f"s(2). s(Z) :- s(X), Z is X * X.\n{RULES.format('s(Y),')}")
    result = rules.run("e|1|1|x\n", engine=engine)
    assert [warning.code for warning in result.warnings] == ["H550"]
    assert result.rows()


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_a_range_that_nobody_can_list_is_refused(engine: str) -> None:
    rules = horai.loads(
        "initiatedAt(f(X)=true, T) :- happensAt(e(X), T), between(1, 1000000000000, N), N > 5."
    )
    with pytest.raises(RunError, match=r":1: between/3 lists at most 1000000 numbers"):
        rules.run("e|1|1|x\n", engine=engine)


@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize(
    "helper",
    [
        "above(X, N) :- between(X, inf, N).",
        "above(X, N) :- between(1, 1000000000000, N), N > X.",
        "above(X, N) :- X > 1, Y is X - 1, above(Y, N).  above(_, N) :- between(1, inf, N).",
    ],
)
def test_a_range_of_a_helper_is_told_where_it_stands(helper: str, engine: str) -> None:
    rules = horai.loads(
        "initiatedAt(f(X)=true, T) :- happensAt(e(X), T), above(X, N), N > 5.\n\n" + helper
    )
    with pytest.raises(RunError, match=r":3: between/3 "):
        rules.run("e|1|1|2\n", engine=engine)


@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_rules_with_an_end_reach_it(engine: str) -> None:
    rules = horai.loads(
        "n(0). n(N) :- n(M), M < 3000, N is M + 1.\n"
        "l([]). l([a | X]) :- l(X), length(X, N), N < 50.\n"
        "next(N, M) :- n(N), M is N + 1.  far(0). far(N) :- far(M), next(M, N).\n"
        "initiatedAt(f(X)=true, T) :- happensAt(e(X), T), n(X), far(X), l(L), length(L, 50)."
    )
    result = rules.run("e|1|1|3000\ne|2|2|3002\n", engine=engine)
    assert result.count("fluent") == 1


# --- any rules: both engines find the same, or both give up --------------------------------------

BODIES = (
    *("p(X), Y is X + 1", "p(X), q(Z), Y is X * Z", "q(X), Y is X - 2", "p(X), Y = f(X)"),
    *("q(X), p(Z), Y = f(X, Z)", "p(X), Y = [X]", "p(X), X = f(Y)", "q(X), X = [Y | _]"),
    *("p(X), X < 3, between(X, 5, Y)", "q(Y), Y \\= 2", "p(X), X = [Z], Y = [a, Z | X]"),
    *("q(X), p(Z), X < Z, Y is X + Z", "p(X), atom(X), Y = g(X, X)", "q(Y), p(Y)", "p(Y)"),
    *("p(X), is_list(X), append(X, [b], Y)", "q(X), X < 50, Y is X + 7", "p(X), Y is X mod 4"),
    *("p(X), X < 9, Y is X + 1, \\+ r(Y)", "p(X), q(Z), Z = f(X), Y = X", "p(X), Y is X * X"),
)
RULE = st.tuples(st.sampled_from("pq"), st.sampled_from(BODIES))


def told(rules: horai.Rules, engine: str) -> Any:
    """The rows of a run, or that it has no end."""
    try:
        return [str(row) for row in rules.run("e|1|1|x\n", engine=engine).rows()]
    except RunError as error:
        return [word for word in ("seems without end", "calls itself") if word in str(error)]


@examples("normal")
@given(st.lists(RULE, min_size=1, max_size=4), st.sampled_from(["1", "a", "[]", "f(2)", "[1]"]))
def test_engines_find_the_same_or_give_up_both(made: list[tuple[str, str]], fact: str) -> None:
    lines = [f"{name}(Y) :- {body}." for name, body in made]
    text = "\n".join([f"p({fact}).", "q(2).", "r(4).", *lines])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(endless, "MOST_PARTS", 20_000)
        patch.setattr(endless, "MOST_ROUNDS", 200)
        patch.setattr(endless, "LARGEST", 100)
        rules = horai.loads(
            f"{text}\ninitiatedAt(f(Y)=true, T) :- happensAt(e(_), T), p(Y).\n"
            "initiatedAt(g(Y)=true, T) :- happensAt(e(_), T), q(Y)."
        )
        assert told(rules, "compiled") == told(rules, "reference"), text


@pytest.mark.slow
def test_as_many_as_are_useful_are_found() -> None:
    """Within the limits a counter, a list and the lengths of ways all reach their end."""
    rules = horai.loads(
        "n(0). n(N) :- n(M), M < 9000, N is M + 1.\n"
        "l([]). l([a | X]) :- l(X), length(X, N), N < 900.\n"
        "all(N) :- between(1, 1000000, N).\n"
        "way(0, 0). way(Y, D) :- way(X, C), X < 3000, Y is X + 1, D is C + 2.\n"
        "initiatedAt(f(X)=true, T) :- happensAt(e(X), T), n(X), all(X), way(3000, D), D > X,"
        " l(L), length(L, 900)."
    )
    for engine in ("compiled", "reference"):
        assert rules.run("e|1|1|5999\n", engine=engine).count("fluent") == 1
