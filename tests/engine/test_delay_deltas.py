"""Delayed effects by change: late points make an entity begin again where no attempt was open."""

from __future__ import annotations

import numpy as np
from hypothesis import event, given
from hypothesis import strategies as st
from tests.engine.comparing import Setting
from tests.engine.ways import apart, session_of
from tests.weights import examples

from horai.engine.deltas.parts import Delays
from horai.engine.deltas.quiet import restarts
from horai.lang.core.reader import read_term
from horai.oracle.ec.session import OracleItem
from horai.temporal.spans import FIRST

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


def check(data: st.DataObject) -> None:
    """Compare the ways of one run."""
    text = RULES + data.draw(st.sampled_from(EFFECTS))
    step = data.draw(st.sampled_from([1, 4, 9]))
    setting = Setting(range(step, LAST + 25, step), data.draw(st.sampled_from([None, 20, 45])))
    parts = session_of(text, setting, "always").live.parts
    event("delays by change" if any(isinstance(part, Delays) for part in parts) else "otherwise")
    found = apart(text, data.draw(items()), setting)
    assert found is None, found


@examples("heavy")
@given(st.data())
def test_answers_are_those_from_scratch(data: st.DataObject) -> None:
    check(data)


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(1, 40))),
    st.lists(st.integers(10, 40), min_size=3, max_size=3),
    st.integers(0, 9),
)
def test_a_quiet_time_is_the_last_without_an_open_attempt(
    made: list[tuple[int, int]], high: list[int], longest: int
) -> None:
    known = [(who, time) for who, time in made if 5 <= time < high[who]]
    asked, time = (np.array([row[place] for row in known], np.int64) for place in (0, 1))
    low = np.full(3, 5)
    found = restarts(asked, time, low, np.array(high), longest).tolist()
    for who in range(3):
        times = [at for one, at in known if one == who]
        # Whatever was made before all that is known may be open for as long as any.
        quiet = [
            at
            for at in range(4 + longest, high[who])
            if not any(at - longest < one <= at for one in times)
        ]
        assert found[who] == max(quiet, default=FIRST)
