"""When formulas hold: the worked examples, and laws."""

from __future__ import annotations

from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lars.story import atoms, derived_on, formula, stream
from tests.lars.test_windows import D2, data_of, signals

from horai.lang.lars.printer import show_term
from horai.lang.lars.syntax import Always, Atom, Formula, Some, Window, Within
from horai.oracle.lars.entailment import Structure
from horai.oracle.lars.stream import Stream, WindowFunction, tuple_based

D2_LATE = Stream(30, 50, D2.signals)


def holds(text: str, data: Stream, time: int, background: str = "") -> bool:
    return Structure(data, frozenset(atoms(background))).entails(formula(text), time)


def test_g10_a_future_window() -> None:
    data = stream(0, 50, {40: "tram(a3,h)", 43: "exp(a3,m)", 44: "exp(a1,m)"})
    assert holds("exp(a3,m) [+5]", data, 42)
    assert not holds("exp(a3,m) [+5]", data, 44)


def test_g11_reset_goes_back_to_the_whole_stream() -> None:
    data = stream(0, 500, dict.fromkeys(range(3, 500, 5), "s"))
    assert holds("[60] always reset [5] some s", data, 500)
    assert not holds("[60] always [5] some s", data, 500)
    often = stream(0, 500, dict.fromkeys(range(0, 501, 5), "s"))
    assert holds("[60] always reset [5] some s", often, 500)
    assert holds("[60] always [5] some s", often, 500)


def test_g12_the_time_of_evaluation_may_lie_outside_of_the_window() -> None:
    early, late = stream(0, 9, {5: "x"}), stream(0, 9, {8: "x"})
    assert holds("x [3 hop 3]", early, 8)
    assert not holds("x [3 hop 3]", late, 8)
    assert not holds("@8 true [3 hop 3]", early, 8)
    assert holds("[3 hop 3] true", early, 8)
    assert not holds("[3 hop 3] x", late, 8)


def test_times_outside_of_the_timeline() -> None:
    data = stream(0, 3, {1: "a"})
    assert not holds("@9 a", data, 1)
    assert not holds("@9 not a", data, 1)
    assert holds("not @9 a", data, 1)


def test_the_background_holds_always_and_everywhere() -> None:
    data = stream(0, 5, {})
    for text in ("a", "@3 a", "always a [2]", "[1 #] a", "[only b] a"):
        assert holds(text, data, 4, "a")


def test_g17_nested_windows_and_their_graph() -> None:
    data = stream(0, 8, {5: "a", 7: "b", 8: "c"})
    nested = "[2 #] (b [3], c [1 #])"
    assert [time for time in range(9) if holds(nested, data, time)] == [8]
    cuts = [tuple_based(data, time, 2) for time in range(9)]
    shown = " ".join(f"{cut.first}-{cut.last}" for cut in cuts)
    assert shown == "0-0 0-1 0-2 0-3 0-4 0-5 0-6 5-7 7-8"


def test_g14_historic_queries() -> None:
    for text in ("tram(a3,h) [5]", "bus(b2,m)", "always bus(b2,m) [1]"):
        assert len({holds(f"@45 ({text})", D2, t) for t in range(51)} | {holds(text, D2, 45)}) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [("[1 #] some (b, c)", False), ("(b [9 #], c [9 #])", True), ("[9 #] (some b, some c)", True)],
)
def test_g29_conjunctions_and_windows(text: str, expected: bool) -> None:
    assert holds(text, stream(0, 5, {1: "b", 4: "c"}), 5) == expected


def test_t44_intervals_do_not_depend_on_the_time() -> None:
    data, longer = stream(0, 6, {1: "p", 2: "p"}), stream(0, 6, {1: "p", 2: "p", 3: "p"})
    whole = "([from 1 to 2] always p, not @0 p, not @3 p)"
    assert all(holds("[from 1 to 2] always p", data, t) for t in range(7))
    assert all(holds(whole, data, t) for t in range(7))
    assert not any(holds(whole, longer, t) for t in range(7))


def without(name: str) -> WindowFunction:
    """A window that takes an atom away at time 0 and nothing at time 1."""
    return lambda data, time: data.only(lambda atom: time != 0 or atom.name != name)


def in_window(window: WindowFunction, inner: Formula) -> Formula:
    return Within(cast(Window, window), inner)


def test_g18_windows_may_be_any_function() -> None:
    data = stream(0, 1, dict.fromkeys((0, 1), "x1, x2, x3"))
    matrix = formula("(not x1, (x2 ; x3))")
    for last, expected in ((Some, True), (Always, False)):
        inner = last(in_window(without("x3"), matrix))
        sentence = Some(in_window(without("x1"), Always(in_window(without("x2"), inner))))
        assert Structure(data).entails(sentence, 0) == expected


def test_g16_a_negation_over_all_constants() -> None:
    constants = ["a1", "a3", "b1", "b2", "b", "h", "s", "m"]
    trams = [(a, st, u) for u, at in D2_LATE.signals for a, st in [split(at)] if at.name == "tram"]
    found = [
        (a, st, b, u)
        for a, st, u in trams
        for b in constants
        if holds(f"@{u} (tram({a},{st}), not bus({b},{st}) [+3])", D2_LATE, 45)
    ]
    assert len(found) == 29


def split(atom: Atom) -> tuple[str, str]:
    one, other = atom.args
    return show_term(one), show_term(other)


# Queries with variables are rules: their head collects the answers.


def query(text: str, head: str, data: Stream, time: int) -> set[str]:
    (found,) = derived_on(f"{head} :- {text}.", data, time)
    return {atom.split(":")[1] for atom in found}


def test_g13_queries() -> None:
    assert query("tram(A,St) [5]", "q(A,St)", D2_LATE, 45) == {"q(a3,h)", "q(a3,m)", "q(a1,m)"}
    assert query("@U tram(a3,St) [5]", "q(St,U)", D2_LATE, 45) == {"q(h,40)", "q(m,43)"}
    together = "@U (tram(A,St), bus(B,St) [+3])"
    assert query(together, "q(A,St,U,B)", D2_LATE, 45) == {
        "q(a1,b,36,b1)",
        "q(a3,m,43,b2)",
        "q(a1,m,44,b2)",
    }


def test_g15_a_filter_before_a_tuple_window() -> None:
    text = "[only tram(a1,_)] [1 #] @U tram(a1,St)"
    assert query(text, "q(St,U)", D2, 45) == {"q(m,44)"}


def test_g16_a_negation_over_known_values() -> None:
    text = "@U (tram(A,St), not bus(B,St) [+3]), some bus(B,St2)"
    found = query(text, "q(A,St,B,St2,U)", D2_LATE, 45)
    assert found == {
        "q(a1,b,b2,m,36)",
        *(f"q(a3,h,{rest},40)" for rest in ("b1,b", "b1,s", "b2,m")),
        *(f"q({tram},m,b1,{to},{time})" for tram, time in (("a3", 43), ("a1", 44)) for to in "bs"),
    }


# --- laws ---

FORMULAS = ["a", "b", "some a", "a [2]", "always a [1]", "[1 #] a", "@3 b", "(a, b)", "(a ; not b)"]
any_formula = st.sampled_from(FORMULAS)
times = st.integers(0, 8)


@given(signals, any_formula, any_formula, times)
def test_laws_of_connectives(found: list[tuple[int, str]], one: str, other: str, time: int) -> None:
    data = data_of(found)

    def same(left: str, right: str) -> bool:
        return holds(left, data, time) == holds(right, data, time)

    assert same(f"not not ({one})", one)
    assert same(f"not ({one}, {other})", f"(not ({one}) ; not ({other}))")
    assert same(f"({one} -> {other})", f"(not ({one}) ; {other})")
    assert same(f"not [3] some ({one})", f"[3] always not ({one})")
    assert same(f"[3] some (({one}) ; {other})", f"([3] some ({one}) ; [3] some ({other}))")
    assert same(f"reset ({one})", one)
    assert same(f"@{time} ({one})", one)
