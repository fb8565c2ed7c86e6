"""Lines of points that come and go, against inertia over all that are there."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.weights import examples

from horai.temporal.inertia import EVERY_VALUE, Changes, ValueSpans, inertia
from horai.temporal.inertia_changes import LineChanges, LineSpans, change_lines
from horai.temporal.line_points import COLUMNS
from horai.temporal.line_tables import Lines, Turns, move_lines, packed_turns
from horai.temporal.spans import INF

Point = tuple[int, int, int, bool]  # line, time, value, does it initiate?
Span = tuple[int, int, int, int]
MANY, SPACE, FORM = 3, 80, -2
FITS = np.array([[True, False, True]])  # the form is that of values 0 and 2

POINTS = st.tuples(
    st.integers(0, MANY - 1), st.integers(0, 25), st.integers(0, 2), st.just(True)
) | st.tuples(st.integers(0, MANY - 1), st.integers(0, 25), st.integers(FORM, 2), st.just(False))
HISTORIES = st.lists(
    st.tuples(st.lists(POINTS, max_size=8), st.lists(st.integers(0, 99), max_size=3)), max_size=6
)
HELD = st.dictionaries(st.integers(0, MANY - 1), st.integers(0, 2))


def rows(spans: LineSpans) -> list[Span]:
    """Spans one by one."""
    return list(zip(*(column.tolist() for column in spans), strict=True))


def spelled_out(points: list[Point]) -> list[Point]:
    """A termination of a form as terminations of its values."""
    found = []
    for line, time, value, initiates in points:
        every = [0, 2] if value == FORM else [value]
        found += [(line, time, one, initiates) for one in every]
    return found


def as_a_whole(points: list[Point], held: dict[int, int], tick: int) -> set[Span]:
    """What all points that are there lead to."""
    ordered = sorted(spelled_out(points))
    key, time, value = (np.array([point[i] for point in ordered], np.int64) for i in range(3))
    changes = Changes(key, time, value, np.array([point[3] for point in ordered], np.bool_))
    lines = np.array(sorted(held), np.int64)
    values = np.array([held[line] for line in sorted(held)], np.int64)
    start = np.full(len(lines), -5)
    found = inertia(changes, tick, ValueSpans(lines, values, start, start))
    return {(k, v, s, e) for k, v, s, e in zip(*(column.tolist() for column in found), strict=True)}


class Kept:
    """Lines with what they lead to, kept by what comes and goes."""

    def __init__(self, held: dict[int, int], tick: int) -> None:
        self.tick = tick
        there = np.array([line in held for line in range(MANY)], np.int64)
        zeros = np.zeros(MANY, np.int64)
        first = np.cumsum(there) - there
        self.lines = Lines(np.arange(MANY) * SPACE, zeros, first, there, there.copy())
        begun = [(-5, held[line]) for line in sorted(held)]
        self.turns = Turns(np.array(begun, np.int64).reshape(-1, COLUMNS), len(held))
        self.room = np.full((MANY * SPACE, COLUMNS), -77, np.int64)
        self.spans = {(line, value, -5, INF) for line, value in held.items()}

    def change(self, come: list[Point], go: list[Point]) -> None:
        moves = sorted([(*point, True) for point in come] + [(*point, False) for point in go])
        changes = LineChanges(
            np.array([move[0] for move in moves], np.int64),
            np.array([move[1] for move in moves], np.int64),
            np.array([2 * move[2] + move[3] for move in moves], np.int64),
            np.array([move[4] for move in moves], np.bool_),
        )
        gone, new, self.turns = change_lines(
            changes, self.lines, self.room, self.turns, FITS, self.tick
        )
        assert not set(rows(gone)) & set(rows(new))
        assert set(rows(gone)) <= self.spans
        assert not set(rows(new)) & self.spans
        self.spans = (self.spans - set(rows(gone))) | set(rows(new))

    def points(self) -> list[Point]:
        """The points as they lie in the lines."""
        found = []
        for line in range(MANY):
            at, end = self.lines.first[line], self.lines.first[line] + self.lines.length[line]
            for time, code in self.room[at:end].tolist():
                found.append((line, time, code >> 1, bool(code & 1)))
        return found


def check(history: list[tuple[list[Point], list[int]]], held: dict[int, int], tick: int) -> Kept:
    kept, known = Kept(held, tick), list[Point]()
    for come, numbers in history:
        go = [known.pop(number % len(known)) for number in numbers if known]
        known += come
        kept.change(come, go)
        assert Counter(kept.points()) == Counter(known)
        assert kept.points() == sorted(kept.points(), key=lambda point: point[:2])
        assert kept.spans == as_a_whole(known, held, tick)
    return kept


@examples("light")
@given(HISTORIES, HELD, st.sampled_from([1, 1, 3]))
def test_lines_say_what_inertia_says(
    history: list[tuple[list[Point], list[int]]], held: dict[int, int], tick: int
) -> None:
    check(history, held, tick)


@examples("light")
@given(HISTORIES, st.integers(-1, 20), st.lists(POINTS, max_size=8))
def test_lines_go_on_elsewhere_without_their_past(
    history: list[tuple[list[Point], list[int]]], forgotten: int, more: list[Point]
) -> None:
    kept = check(history, {}, 1)
    known = kept.points()
    room = np.full((2 * MANY * SPACE, COLUMNS), -77, np.int64)
    everyone = np.arange(MANY)
    move_lines(everyone, (2 * everyone + 1) * SPACE, kept.lines, kept.room, room, forgotten)
    kept.room = room
    kept.turns = packed_turns(kept.lines, kept.turns, forgotten)
    assert kept.points() == [point for point in known if point[1] > forgotten]
    later = [point for point in more if point[1] > forgotten]
    kept.change(later, [])
    assert kept.spans == as_a_whole(known + later, {}, 1)


def test_every_value_is_ended_by_one_code() -> None:
    kept = Kept({0: 1}, 1)
    kept.change([(0, 4, EVERY_VALUE, False)], [])
    assert kept.spans == {(0, 1, -5, 5)}
