"""LARS and temporal logic: the worked example G35, and the theorem behind it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.lars.pltl import FALSE, Connected, Step, holds, translated
from tests.lars.story import formula

from horai.lang.lars.syntax import Atom, Formula
from horai.oracle.lars.entailment import Structure
from horai.oracle.lars.stream import Stream

FIRST, LAST = 2, 6


def test_g35_a_formula_of_the_thesis() -> None:
    given_formula = formula("(@1 q ; (p, r [1, +3]))")
    p, r = Atom("p"), Atom("r")
    around = Connected("or", (Step(-1, r), r, Step(1, r)))
    expected = Connected("or", (FALSE, Connected("and", (p, around))))
    assert translated(given_formula, 2, 4, 3) == expected


texts = st.recursive(
    st.sampled_from(["p", "q", "true"]),
    lambda inner: st.one_of(
        inner.map("not {}".format),
        inner.map("some {}".format),
        inner.map("reset {}".format),
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]}, {pair[1]})"),
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]} -> {pair[1]})"),
        st.tuples(st.integers(0, 8), inner).map(lambda pair: f"@{pair[0]} {pair[1]}"),
        st.tuples(st.sampled_from(["[2]", "[1, +1]", "[+2]"]), inner).map(" ".join),
        st.tuples(st.sampled_from(["[0]", "[3]"]), inner).map(
            lambda pair: f"{pair[0]} always {pair[1]}"
        ),
    ),
    max_leaves=6,
)
pairs = st.sets(st.tuples(st.integers(FIRST, LAST), st.sampled_from([Atom("p"), Atom("q")])))


@given(texts, pairs, st.integers(FIRST, LAST))
def test_theorem_16_formulas_of_both_say_the_same(
    text: str, found: set[tuple[int, Atom]], time: int
) -> None:
    given_formula: Formula = formula(text)
    data = Stream(FIRST, LAST, tuple(sorted(found, key=lambda pair: (pair[0], pair[1].name))))
    path = {t: data.at(t) for t in data.timeline}
    seen = Structure(data).entails(given_formula, time)
    assert holds(translated(given_formula, FIRST, LAST, time), path, time) == seen
