"""Where lines are in memory: tables of their points and turns, and how these are packed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from horai.temporal.kernels import kernel, lean_kernel
from horai.temporal.line_points import COLUMNS, START, TIME, copy_rows
from horai.temporal.spans import Ints

SPARE = 4  # turns that fit after a line, beside half of what it has


class Lines(NamedTuple):
    """Where the points of each line are, where its turns are, and how many of them have room."""

    first: Ints
    length: Ints
    turn_first: Ints
    turn_length: Ints
    turn_space: Ints


class Turns(NamedTuple):
    """The turns of all lines, and how much of the table is used."""

    table: Ints
    used: int


def rows_for(many: int) -> Ints:
    """A table for points or turns."""
    return np.empty((many, COLUMNS), np.int64)


@lean_kernel
def move_lines(
    chosen: Ints, target: Ints, lines: Lines, room: Ints, into: Ints, forgotten: int
) -> None:
    """Put the points of lines elsewhere, without those at or before a time."""
    first, length = lines.first, lines.length
    for c in range(len(chosen)):
        me = chosen[c]
        at, end = first[me], first[me] + length[me]
        while at < end and room[at, TIME] <= forgotten:
            at += 1
        copy_rows(room, at, into, target[c], end - at)
        first[me], length[me] = target[c], end - at


def packed_turns(lines: Lines, turns: Turns, forgotten: int) -> Turns:
    """The turns of lines side by side, without those that are over before later points come."""
    return Turns(*_packed_turns(lines, turns.table, forgotten))


@kernel
def _packed_turns(lines: Lines, turns: Ints, forgotten: int) -> tuple[Ints, int]:
    _, _, first, length, space = lines
    need = 0
    for me in range(len(first)):
        while length[me] > 1 and turns[first[me] + 1, START] <= forgotten + 1:
            first[me] += 1
            length[me] -= 1
        space[me] = length[me] + length[me] // 2 + SPARE
        need += space[me]
    found = np.empty((need + need // 2, COLUMNS), np.int64)
    used = 0
    for me in range(len(first)):
        copy_rows(turns, first[me], found, used, length[me])
        first[me] = used
        used += space[me]
    return found, used
