"""Allen relations where windows pass and intervals come late."""

from __future__ import annotations

import pytest
from tests.engine.comparing import Setting, agree, at, over
from tests.strategies.static import MODES, RELATIONS

LISTS = """
    collectIntervals(i1(_)=true). collectIntervals(i3(_)=true).
    holdsFor(h(X)=true,I) :- holdsFor(i1(X)=true,I1), holdsFor(i3(X)=true,I2), {}(I1,I2,{},I).
"""
COMPUTED = """
    collectIntervals(i1(_)=true). collectIntervals(i3(_)=true).
    initiatedAt(f(X)=true,T) :- happensAt(e1(X),T).
    terminatedAt(f(X)=true,T) :- happensAt(e2(X),T).
    holdsFor(h(X)=true,I) :- holdsFor(i1(X)=true,I1), holdsFor(i3(X)=true,I2),
        holdsFor(f(X)=true,I3), union_all([I1,I3],I4), {}(I4,I2,{},I5), intDurGreater(I5,2,I).
"""
# An interval of y that is not over holds the cut back to where an interval of x goes on.
ITEMS = [
    over("i1(x)=true", 10, 20),
    over("i3(x)=true", 15, 40),
    over("i1(y)=true", 25, 400),
    over("i3(y)=true", 300, 350),
    over("i3(x)=true", 42, 45),
    at("e1(x)", 12),
    at("e2(x)", 17),
]
LATE = [
    *ITEMS,
    over("i1(x)=true", 44, 60, arrival=58),
    over("i3(z)=true", 50, 58, arrival=70),
    over("i1(z)=true", 45, 52, arrival=66),
    at("e1(z)", 53, arrival=65),
    at("e2(z)", 62, arrival=71),
]


@pytest.mark.parametrize("text", [LISTS, COMPUTED])
@pytest.mark.parametrize("relation", RELATIONS)
def test_intervals_that_are_over_still_have_partners(text: str, relation: str) -> None:
    for mode in ("source", "target", "union"):
        setting = Setting(range(5, 120, 5), 10, allen_memory=25)
        agree(text.format(relation, mode), ITEMS, setting)


# What is looked back to: a window, and how long relations remember.
BACK = ((30, 25), (30, None), (None, 4))


def alike(text: str, back: tuple[int | None, int | None]) -> None:
    window, memory = back
    agree(text, LATE, Setting(range(5, 120, 5), window, allen_memory=memory))


@pytest.mark.parametrize("text", [LISTS, COMPUTED])
@pytest.mark.parametrize("relation", RELATIONS)
def test_late_intervals_have_partners(text: str, relation: str) -> None:
    """Each mode with one way to look back, which is another one for the next relation."""
    for place, mode in enumerate(MODES, list(RELATIONS).index(relation)):
        alike(text.format(relation, mode), BACK[place % len(BACK)])


@pytest.mark.slow
@pytest.mark.parametrize("text", [LISTS, COMPUTED])
@pytest.mark.parametrize("relation", RELATIONS)
def test_late_intervals_have_partners_in_all_modes(text: str, relation: str) -> None:
    for mode in MODES:
        for back in BACK:
            alike(text.format(relation, mode), back)
