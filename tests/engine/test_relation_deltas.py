"""Allen relations where windows pass: from scratch as in one window, and by change likewise."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from tests.engine.comparing import Setting, differences
from tests.engine.test_incremental_cases import at, over
from tests.engine.ways import apart
from tests.strategies.static import MODES, RELATIONS

from horai.engine.deltas import static_relations
from horai.engine.deltas.static_relations import Related
from horai.engine.symbols import Symbols
from horai.engine.world import World
from horai.lang.core.terms import Var
from horai.lang.ec.syntax import Allen
from horai.temporal.allen import allen
from horai.temporal.changes import Change, no_change
from horai.temporal.spans import INF, Spans, no_spans

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
        found = differences(text.format(relation, mode), ITEMS, setting)
        assert found is None, found


# What is looked back to: a window, and how long relations remember.
BACK = ((30, 25), (30, None), (None, 4))


def same_by_change(text: str, back: tuple[int | None, int | None]) -> None:
    window, memory = back
    found = apart(text, LATE, Setting(range(5, 120, 5), window, allen_memory=memory))
    assert found is None, found


@pytest.mark.parametrize("text", [LISTS, COMPUTED])
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_same_by_change(text: str, relation: str) -> None:
    """Each mode with one way to look back, which is another one for the next relation."""
    for place, mode in enumerate(MODES, list(RELATIONS).index(relation)):
        same_by_change(text.format(relation, mode), BACK[place % len(BACK)])


@pytest.mark.slow
@pytest.mark.parametrize("text", [LISTS, COMPUTED])
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_same_by_change_in_all_ways(text: str, relation: str) -> None:
    for mode in MODES:
        for back in BACK:
            same_by_change(text.format(relation, mode), back)


def spans(*rows: tuple[int, int, int]) -> Spans:
    columns = np.array(rows, np.int64).reshape(len(rows), 3).T.copy()
    return Spans(columns[0], columns[1], columns[2])


def listed(found: Spans) -> list[tuple[int, ...]]:
    return list(zip(*(column.tolist() for column in found), strict=True))


def test_only_rows_that_changed_are_compared() -> None:
    variable = Var("I")
    related = Related(Allen("during", variable, variable, "source", variable, variable))
    world = World(Symbols(), 1, 0, 100, None)
    sources, targets = spans((0, 5, 8), (1, 5, 8), (2, 5, 8)), spans((0, 1, 20), (2, 6, 20))
    related.build((sources, targets), world)
    assert listed(related.chosen) == [(0, 5, 8)]
    compared: list[Spans] = []

    def noted(relation: str, source: Spans, *others: Any) -> Spans:
        compared.append(source)
        return allen(relation, source, *others)

    nothing, more = no_change(), Change(no_spans(), spans((2, 2, 6)))
    with patch.object(static_relations, "allen", noted):
        changed = related.update([nothing, more], world)
    assert [listed(one) for one in compared] == [[(2, 5, 8)]]
    assert listed(changed) == [(2, 5, 8)]
    assert listed(related.chosen) == [(0, 5, 8), (2, 5, 8)]
    assert listed(related.update([nothing, nothing], world)) == []
    related.forget(8)
    assert [listed(side) for side in (related.chosen, *related.sides)] == [
        [],
        [],
        [(0, 1, 20), (2, 2, 20)],
    ]


def test_how_far_back_intervals_are_compared() -> None:
    world = World(Symbols(), 1, 0, 100, 7)
    assert world.undecided.first(50) == 50
    world.undecided.related.append((spans((0, 5, 30), (0, 40, 60), (1, 45, INF)), 0))
    assert world.undecided.first(50) == 40
    assert world.undecided.first(35) == 35
    world.undecided.related.append((spans((0, 48, 49)), 7))
    assert world.undecided.first(50) == 40
    assert world.undecided.first(45) == 38
