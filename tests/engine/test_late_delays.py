"""Delayed effects of which the points come late or are taken back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.comparing import Setting, agree, at, over
from tests.weights import examples

from horai.lang.core.reader import read_term
from horai.oracle.ec.session import OracleItem

RULES = """
    initiatedAt(f(X)=a, T) :- happensAt(e1(X), T).
    initiatedAt(f(X)=b, T) :- happensAt(e2(X), T).
    terminatedAt(f(X)=a, T) :- happensAt(e3(X), T).
    terminatedAt(f(X)=_, T) :- happensAt(e4(X), T).
    limit(x, 2). limit(y, 7). limit(z, 2). limit(z, 4).
"""
EFFECTS = (
    "fi(f(X)=a, f(X)=b, 3).",
    "fi(f(X)=a, f(X)=c, 3). fi(f(X)=a, g(X)=d, 6). ft(f(X)=b, 4).",
    "fi(f(X)=a, f(X)=b, R) :- limit(X, R).",
    "ft(f(X)=a, 5). p(f(_)=a).",
    "fi(f(X)=a, f(X)=c, 5). p(f(_)=a). initially(f(X)=a) :- limit(X, _).",
    "fi(f(X)=a, f(X)=b, 4). fi(f(X)=b, f(X)=c, 2). p(f(_)=b).",  # effects of effects
)
LAST = 60


@st.composite
def items(draw: st.DrawFn) -> list[OracleItem]:
    """Events of three entities, many of them late, some taken back."""
    found: list[OracleItem] = []
    for _ in range(draw(st.integers(1, 40))):
        term = read_term(f"e{draw(st.integers(1, 4))}({draw(st.sampled_from('xyz'))})")
        time, late = draw(st.integers(1, LAST)), draw(st.sampled_from([0, 0, 0, 5, 20]))
        found.append(OracleItem(term, None, time, time, time + late))
        if draw(st.integers(0, 5)) == 0:
            back = time + late + draw(st.integers(1, 15))
            found.append(OracleItem(term, None, time, time, back, retract=True))
    return found


@examples("heavy")
@given(st.data())
def test_answers_are_those_of_the_reference(data: st.DataObject) -> None:
    text = RULES + data.draw(st.sampled_from(EFFECTS))
    step = data.draw(st.sampled_from([1, 4, 9]))
    setting = Setting(range(step, LAST + 25, step), data.draw(st.sampled_from([None, 20, 45])))
    agree(text, data.draw(items()), setting)


# --- initial values that come late ----------------------------------------------------------------

INITIAL = """
collectIntervals(i(_)=true). collectIntervals(j(_)=true). thing(x). thing(y).
initially(h(X)=a) :- thing(X), holdsFor(i(X)=true, I), I \\= [].
initially(h(X)=b) :- thing(X), holdsFor(j(X)=true, I), I \\= [].
initiatedAt(h(X)=d, T) :- happensAt(e(X), T).
"""


@pytest.mark.parametrize("queries", [(20,), (1, 3, 5, 8, 10, 12, 20)])
@pytest.mark.parametrize("first", ["i", "j"])
@pytest.mark.parametrize(
    "effect",
    [
        "fi(h(X)=a, h(X)=c, 4).",
        "fi(h(X)=a, h(X)=c, 4). p(h(_)=_).",
        "ft(h(X)=_, 4). p(h(_)=_).",
        "ft(h(X)=a, 4).",
        "fi(h(X)=a, h(X)=c, 4) :- holdsAt(i(X)=true, T).",
    ],
)
def test_initial_values_that_cancel_each_other_begin_no_delay(
    effect: str, first: str, queries: tuple[int, ...]
) -> None:
    """One of two initial values is known from the start, the other one only later."""
    second = "j" if first == "i" else "i"
    some = [over(f"{first}(x)=true", 2, 6), over(f"{second}(x)=true", 3, 5, arrival=9)]
    for more in ([], [at("e(x)", 4, 10)], [at("e(x)", 3, 10)]):
        agree(INITIAL + effect, [*some, *more], Setting(queries))
