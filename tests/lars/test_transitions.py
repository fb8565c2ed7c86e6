"""What never holds together must not meet in an engine: all of a time point is one update."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.weights import examples

import horai
from horai.errors import RunError

MUCH = 99_999_999
RULES = (
    "h(Z) :- a(X) [0], b(Y) [0], Z = X ^ Y.",
    "h(Z) :- a(X) [1], b(Y) [0], not c [0], Z = X ^ Y.",
    "h(Z) :- a(X) [1 #], b(Y) [2 #], Z = X ^ Y.",
    "h(Z) :- a(X), b(Y), Z = X ^ Y.",
    "p(X) :- a(X) [0]. q(Y) :- b(Y) [1], not c [0]. h(Z) :- p(X), q(Y), Z = X ^ Y.",
)
ENGINES = ("plan", "asp", "tms")
rows = st.tuples(st.sampled_from("abc"), st.sampled_from([1, 2, 9, MUCH]))


def at(time: int, given: list[tuple[str, int]]) -> list[str]:
    """Rows of a time point."""
    return [f"{n}|{time}|{time}" + (f"|{v}" if n != "c" else "") for n, v in given]


@pytest.mark.parametrize("engine", ENGINES)
def test_numbers_that_never_meet(engine: str) -> None:
    session = horai.loads(RULES[0], language="lars").session(start=1, engine=engine)
    assert session.advance(1, at(1, [("a", 1), ("b", MUCH)])).texts() == ["h(1)"]
    for time in range(2, 12):
        more = [("a", 9), ("b", 2)] if time % 2 == 0 else [("a", 1), ("b", MUCH)]
        found = session.advance(time, at(time, more)).texts()
        assert found == ["h(81)" if time % 2 == 0 else "h(1)"]


@examples("normal")
@given(
    st.sampled_from(RULES), st.lists(st.lists(rows, max_size=3), min_size=1, max_size=6), st.data()
)
def test_engines_stop_where_the_reference_does(
    text: str, points: list[list[tuple[str, int]]], data: st.DataObject
) -> None:
    engine = data.draw(st.sampled_from(ENGINES))
    program = horai.loads(text, language="lars")
    known: list[str] = []
    session = program.session(start=0, engine=engine)
    for time, given_rows in enumerate(points):
        new = at(time, given_rows)
        known += new
        try:
            wanted = program.run(known, start=0, end=time, step=max(1, time), engine="reference")
        except RunError:
            return  # at this time, or at the first one
        assert session.advance(time, new).models == wanted.at(time).models
