"""Where simple fluents are settled anew, and that it is enough to settle them there."""

from __future__ import annotations

from itertools import pairwise
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.comparing import Setting
from tests.engine.ways import apart

from horai.engine.columns import Column, column_of, terms_of
from horai.engine.deltas.fluent_points import FluentPoints
from horai.engine.deltas.regions import changed_regions
from horai.engine.heads import Said
from horai.engine.symbols import Symbols
from horai.lang.printer import show
from horai.lang.terms import Atom, Term, make
from horai.oracle import Item
from horai.temporal.spans import INF, Ints

Region = tuple[str, int, int]


class Known:
    """Points that are there now, as a fluent has them."""

    def __init__(self, points: dict[str, list[int]], symbols: Symbols) -> None:
        self.points, self.symbols = points, symbols

    def following(self, keys: list[Column], time: Ints) -> Ints:
        """The first point of each entity after a time."""
        names = [show(term) for term in terms_of(keys[0], self.symbols)]
        found = [
            min((t for t in self.points.get(name, []) if t > after), default=INF)
            for name, after in zip(names, time.tolist(), strict=True)
        ]
        return np.array(found, np.int64)


def regions(
    changed: list[tuple[str, int]], known: dict[str, list[int]], before: int, tick: int = 1
) -> list[Region]:
    """Where fluents are settled anew."""
    symbols = Symbols()
    args = (column_of([Atom(name) for name, _ in changed], symbols),)
    said = Said(args, np.array([time for _, time in changed], np.int64))
    points = cast(FluentPoints, Known(known, symbols))
    found, _ = changed_regions([said], points, 1, before, tick, symbols)
    names = [show(term) for term in terms_of(found.asked()[0], symbols)]
    return sorted(zip(names, found.low.tolist(), found.high.tolist(), strict=True))


def test_a_late_point_matters_until_after_the_next_one() -> None:
    assert regions([("x", 5)], {"x": [2, 5, 9, 12]}, 20) == [("x", 5, 10)]


def test_without_another_point_it_matters_to_the_end() -> None:
    assert regions([("x", 5)], {"x": [2], "y": [9]}, 20) == [("x", 5, INF)]


def test_what_is_new_has_nothing_after_it() -> None:
    assert regions([("x", 25), ("x", 23)], {"x": [23, 25]}, 20) == [("x", 23, INF)]


def test_regions_that_touch_are_one() -> None:
    known = {"x": [5, 8, 11, 15, 19], "y": [6, 7]}
    found = regions([("x", 5), ("x", 8), ("x", 15), ("y", 6)], known, 20)
    assert found == [("x", 5, 12), ("x", 15, 20), ("y", 6, 8)]


def test_points_of_a_cell_act_together() -> None:
    # Cells are 3-5, 6-8, 9-11: another point of the same cell makes up for nothing.
    assert regions([("x", 4)], {"x": [5, 7]}, 20, tick=3) == [("x", 3, 9)]
    # A point that is new lies in a cell that was looked at before.
    assert regions([("x", 5)], {"x": [5]}, 4, tick=3) == [("x", 3, INF)]


@given(
    st.lists(st.tuples(st.sampled_from("xy"), st.integers(0, 30)), min_size=1, max_size=6),
    st.dictionaries(st.sampled_from("xy"), st.lists(st.integers(0, 30), max_size=6)),
    st.integers(0, 30),
    st.sampled_from([1, 3]),
)
def test_every_change_and_what_follows_it_lies_in_one_region(
    changed: list[tuple[str, int]], known: dict[str, list[int]], before: int, tick: int
) -> None:
    found = regions(changed, known, before, tick)
    for name, time in changed:
        (region,) = [one for one in found if one[0] == name and one[1] <= time < one[2]]
        cell = time - time % tick
        after = [t for t in known.get(name, []) if t >= cell + tick]
        if cell <= before and after:
            assert region[2] > min(after)
        else:
            assert region[2] == INF
    for one, other in pairwise(found):
        assert one[0] != other[0] or one[2] < other[1]


# --- one fluent of many values, and all that can come late ---------------------------------------

RULES = """
    initiatedAt(f(X)=V,T) :- happensAt(set(X,V),T).
    initiatedAt(f(X)=a,T) :- happensAt(again(X),T), holdsAt(g(X)=true,T).
    terminatedAt(f(X)=a,T) :- happensAt(drop(X),T).
    terminatedAt(f(X)=_,T) :- happensAt(clear(X),T).
    initiatedAt(g(X)=true,T) :- happensAt(again(X),T).
    terminatedAt(g(X)=true,T) :- happensAt(clear(X),T).
    initiatedAt(whole=V,T) :- happensAt(set(_,V),T).
    terminatedAt(whole=_,T) :- happensAt(clear(_),T).
"""
X, Y = Atom("x"), Atom("y")
HAPPENINGS: list[Term] = [
    *(make("set", who, Atom(value)) for who in (X, Y) for value in "abc"),
    *(make(name, who) for name in ("again", "drop", "clear") for who in (X, Y)),
]


@st.composite
def items(draw: st.DrawFn) -> list[Item]:
    """Events close together, most of them late, many taken back."""
    found: list[Item] = []
    for _ in range(draw(st.integers(1, 25))):
        event, time = draw(st.sampled_from(HAPPENINGS)), draw(st.integers(1, 20))
        arrival = time + draw(st.integers(0, 12))
        found.append(Item(event, None, time, time, arrival))
        if draw(st.integers(0, 4)) == 4:
            later = arrival + draw(st.integers(0, 6))
            found.append(Item(event, None, time, time, later, retract=True))
    return found


def settled_alike(told: list[Item], window: int | None, step: int, tick: int) -> None:
    """Settled in regions it is as if settled as a whole."""
    found = apart(RULES, told, Setting(range(step, 40, step), window, tick))
    assert found is None, found


CUTS = (st.sampled_from([None, 5, 14, 30]), st.sampled_from([1, 2, 5, 9]), st.sampled_from([1, 3]))


@settings(max_examples=20, deadline=None)
@given(items(), *CUTS)
def test_inertia_in_regions(told: list[Item], window: int | None, step: int, tick: int) -> None:
    settled_alike(told, window, step, tick)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@settings(max_examples=2000, deadline=None)
@given(items(), *CUTS)
def test_inertia_in_regions_at_length(
    told: list[Item], window: int | None, step: int, tick: int
) -> None:
    settled_alike(told, window, step, tick)
