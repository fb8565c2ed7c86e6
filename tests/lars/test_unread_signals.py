"""Signals that no rule reads change nothing, whatever they say and whatever engine runs.

Windows that count signals are left out: they count these, too.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.lars.plain_programs import LAST, Sent, programs, signals
from tests.spark.lars_runs import rows_of
from tests.weights import examples

import horai
from horai.errors import UsageError

TERMS = (
    *("2.5", "-0.0", "1e300", "0", "-7", "99999999999999999999999", "'85,5'", '"x y"', "nan"),
    *("inf", "f(g(1),[x,2.5])", "[]", "x", "X y", "'a|b'", "é", "a" * 300),
)
ENGINES = ("plan", "asp", "tms", "reference")
Unread = tuple[str, int, list[str]]
NOISE = st.tuples(
    st.sampled_from(("temp", "pressure")),
    st.integers(0, LAST),
    st.lists(st.sampled_from(TERMS), max_size=3),
)


@examples("heavy")
@given(programs(), signals(late=False), st.lists(NOISE, min_size=1, max_size=6), st.randoms())
def test_what_nobody_reads_changes_nothing(
    text: str,
    sent: tuple[Sent, ...],
    noise: list[tuple[str, int, list[str]]],
    dice: random.Random,
) -> None:
    assume("#" not in text)
    rules = horai.loads(text, language="lars")
    rows = list(rows_of(sent))
    mixed = [*rows, *("|".join([name, f"{t}|{t}", *args]) for name, t, args in noise)]
    dice.shuffle(mixed)
    ran = 0
    for engine in ENGINES:
        how: dict[str, Any] = {"engine": engine, "start": 0, "end": LAST, "models": "all"}
        try:
            wanted = rules.run(rows, **how)
        except (UsageError, horai.RunError):  # it does not run such programs
            continue
        found = rules.run(mixed, **how)
        assert found.rows("windows") == wanted.rows("windows"), engine
        ran += 1
    assert ran


@pytest.mark.parametrize("engine", ["plan", "asp", "reference"])
@pytest.mark.parametrize("term", TERMS)
def test_sums_of_whole_numbers_beside_anything(engine: str, term: str) -> None:
    rules = horai.loads("s(S) :- S = sum { V, K : w(K, V) [5] }.", language="lars")
    found = rules.run(["w|1|1|a|4", f"temp|1|1|{term}"], engine=engine)
    assert [(row.name, row.args) for row in found.rows()] == [("s", (4,))]
