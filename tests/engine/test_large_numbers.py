"""Numbers that no word of the compiled engine holds, and doubles that hold several whole numbers.

Whole numbers are exact on every engine, up to those that nobody could write down.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.weights import examples

import horai
from horai.engine.core.rules import ARITHMETIC
from horai.plan.ec.instructions import FUNCTIONS

WHOLE = [0, 1, -3, 7, 2**53 - 1, 2**53, 2**53 + 1, 2**60 + 1, 2**61 - 1, 2**61, 2**63 - 1, 10**30]
WHOLE += [10**4000, 10**4214]
OTHERS = [0.5, -2.5, 2.0**53, 2.0**60, 1e18, 1e19, 1e300, "inf", "apple"]
NUMBERS = st.sampled_from([*WHOLE, *(-one for one in WHOLE[4:]), *OTHERS])
SIGNS = ("<", ">", "=<", ">=", "=:=", "=\\=")


def _term(sign: str) -> str:
    return f"X {sign} Y" if not sign.isalpha() or sign == "mod" else f"{sign}(X, Y)"


def _rules() -> str:
    lines = [f"R is {_term(sign)}" for sign in ARITHMETIC]
    lines += [f"R is {name}(X)" for name in (*FUNCTIONS, "abs", "-")]
    lines += [f"X {sign} Y, R = true" for sign in SIGNS]
    lines += ["R is X ** 300", "R is (X + 3) ** 9999", "R is X * X * X + Y * Y"]
    lines += ["R = X, R > 5", "W is X * Y, R is W - 1, W > 2 * Y"]
    return "\n".join(
        f"initiatedAt(f{number}(X, Y)=R, T) :- happensAt(v(X, Y), T), {line}."
        for number, line in enumerate(lines)
    )


RULES = horai.loads(_rules())


@examples("normal")
@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=8))
def test_all_engines_compute_the_same(pairs: list[tuple[object, object]]) -> None:
    items = [{"type": "v", "time": time, "args": pair} for time, pair in enumerate(pairs, 1)]
    wanted = RULES.run(items, engine="reference").rows()
    found = RULES.run(items, engine="compiled").rows()
    assert list(map(repr, found)) == list(map(repr, wanted))


def test_large_numbers_survive_saving() -> None:
    session = RULES.session(start=0, engine="compiled")
    session.advance(2, [{"type": "v", "time": 1, "args": [2**61, 2**62]}])
    again = horai.load_session(session.save())
    found = again.advance(4, [{"type": "v", "time": 3, "args": [2**61, 2**63]}])
    values = {row.value for row in found.rows() if row.name == "f0"}
    assert values == {2**61 + 2**62, 2**61 + 2**63}


@pytest.mark.parametrize(
    ("bound", "lasts"), [(2**61, False), (2**62 + 1, False), (-(2**63), True), (-(2**61) - 1, True)]
)
def test_durations_are_compared_with_large_numbers(bound: int, lasts: bool) -> None:
    rules = horai.loads(
        "initiatedAt(up(X)=true, T) :- happensAt(a(X), T).\n"
        "terminatedAt(up(X)=true, T) :- happensAt(b(X), T).\n"
        "holdsFor(long(X, N)=true, I) :- holdsFor(up(X)=true, J), limit(N),"
        " intDurGreater(J, N, I).\n"
        f"limit({bound}). grounding(long(X, N)=true) :- limit(N), one(X). one(x).\n"
    )
    rows = ["a|1|1|x", "b|9|9|x"]
    wanted = rules.run(rows, engine="reference").rows()
    assert any(row.name == "long" for row in wanted) == lasts
    assert rules.run(rows, engine="compiled").rows() == wanted
