"""Allen relations against their definitions, pair by pair."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.temporal.columns import Held, Row, held, maximal, relation, rows_of, span_rows

from horai.temporal.allen import MODES, RELATIONS, allen
from horai.temporal.spans import FIRST, INF


def last_point(end: int, tick: int) -> float:
    return math.inf if end == INF else end - (end % tick or tick)


def related(name: str, source: Row, target: Row, tick: int) -> bool:
    a, b = source[1], last_point(source[2], tick)
    c, d = target[1], last_point(target[2], tick)
    return {
        "before": b < c,
        "meets": b == c and a < c < d,
        "overlaps": a < c < b < d,
        "starts": a == c and b < d,
        "finishes": b == d and a > c,
        "during": a > c and b < d,
        "equal": a == c and b == d,
    }[name]


def remembered(source: Row, target: Row, tick: int, memory: int | None) -> bool:
    return memory is None or target[1] - last_point(source[2], tick) <= memory


def points_of_pair(mode: str, source: Held, target: Held) -> Held:
    return {
        "source": source,
        "target": target,
        "union": source | target,
        "intersection": source & target,
        "relative_complement": source - target,
        "relative_complement_inverse": target - source,
    }[mode]


def defined(
    name: str, sources: list[Row], targets: list[Row], mode: str, tick: int, memory: int | None
) -> list[Row]:
    found: Held = set()
    for source in sources:
        for target in targets:
            if (
                source[0] == target[0]
                and related(name, source, target, tick)
                and (name != "before" or remembered(source, target, tick, memory))
            ):
                found |= points_of_pair(mode, held([source]), held([target]))
    return maximal(found)


# One key, so that several spans meet between two points of a wide grid; and two keys.
crowds = span_rows([0], 1) | span_rows([0, 3], 1)


def stretched(rows: list[Row], by: int) -> list[Row]:
    return [(k, s * by, e if e == INF else e * by) for k, s, e in rows]


@pytest.mark.parametrize("name", RELATIONS)
@given(crowds, crowds, st.sampled_from([1, 3, 8]), st.booleans(), st.none() | st.integers(-1, 12))
def test_every_relation_and_mode_is_its_definition(
    name: str, left: list[Row], right: list[Row], tick: int, on_grid: bool, memory: int | None
) -> None:
    """Starts and ends lie on points of the grid only, or anywhere."""
    scale = tick if on_grid else 1
    source, target = relation(stretched(left, scale)), relation(stretched(right, scale))
    for mode in MODES:
        found = allen(name, source, target, mode, tick, memory)
        expected = defined(name, rows_of(source), rows_of(target), mode, tick, memory)
        assert rows_of(found) == expected, mode


# One source, and one target for each relation, on a grid of 10; the same ones the definitions name.
@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("before", (30, 50)),
        ("meets", (20, 50)),
        ("overlaps", (10, 50)),
        ("starts", (0, 50)),
        ("finishes", (-10, 30)),
        ("during", (-10, 50)),
        ("equal", (0, 30)),
    ],
)
def test_each_relation_has_its_pair_and_no_other(name: str, target: tuple[int, int]) -> None:
    source = relation([(1, 0, 30)])
    pair = relation([(1, *target)])
    assert [r for r in RELATIONS if len(allen(r, source, pair, "source", 10))] == [name]


@pytest.mark.parametrize(
    "targets",
    [
        [(3, 4)],  # starts after the last point of the source, which is 0, and before its end
        [(3, 4), (7, 9)],  # the second is missing from nothing, so nothing is missing
        [(1, 2), (3, 4), (5, 7)],  # three of them
        [(-1, 1), (3, 4)],
    ],
)
@pytest.mark.parametrize("sources", [[(1, 6)], [(-3, 2), (3, 6)], [(1, 2), (3, 4), (5, 6)]])
@pytest.mark.parametrize("memory", [None, 3, 6])
def test_targets_between_the_last_point_of_a_source_and_its_end(
    sources: list[tuple[int, int]], targets: list[tuple[int, int]], memory: int | None
) -> None:
    left, right = [(0, *span) for span in sources], [(0, *span) for span in targets]
    for mode in MODES:
        for name in RELATIONS:
            found = allen(name, relation(left), relation(right), mode, 8, memory)
            assert rows_of(found) == defined(name, left, right, mode, 8, memory), (name, mode)


def test_open_ends_are_the_same_last_point() -> None:
    source, target = relation([(0, 5, INF)]), relation([(0, 2, INF)])
    assert rows_of(allen("finishes", source, target, "source")) == [(0, 5, INF)]
    assert rows_of(allen("equal", source, source, "target")) == [(0, 5, INF)]
    assert rows_of(allen("during", source, target, "source")) == []
    assert rows_of(allen("finishes", source, target, MODES[5])) == [(0, 2, 5)]


@pytest.mark.parametrize("tick", [1, 10])
@pytest.mark.parametrize("mode", MODES)
def test_distances_beyond_64_bits_are_not_forgotten_to_be_far(mode: str, tick: int) -> None:
    source, target = relation([(0, FIRST + 20, FIRST + 40)]), relation([(0, INF - 40, INF)])
    assert rows_of(allen("before", source, target, mode, tick, 1000)) == []
    if mode != "intersection":
        assert len(allen("before", source, target, mode, tick)) >= 1


def test_unknown_relations_and_modes_are_refused_even_for_nothing() -> None:
    nothing = relation([])
    with pytest.raises(ValueError, match="no Allen relation after"):
        allen("after", nothing, nothing, "source")
    for name in RELATIONS:
        with pytest.raises(ValueError, match="no mode both"):
            allen(name, nothing, nothing, "both")
        assert rows_of(allen(name, nothing, nothing, "union")) == []
