"""What a machine has to keep of its rows, as arrays; what nobody looks at any more is forgotten.

A row comes back when somebody names it, and then what looks at it is found again. So only those
rows are kept that say something, wait for a time, or that somebody looks at who may have to be
evaluated again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from horai.engine.core.program import Program
from horai.engine.core.reach import ENDLESS, Reach
from horai.plan.ec.instructions import FIELD, FIELDS, INF, KIND, TABLE
from horai.temporal.spans import Ints, Mask


class Kept(NamedTuple):
    """The rows of a machine. Lines are numbered as the rows have them, one after the other."""

    tables: Ints
    keys: Ints
    sizes: Ints  # of each line: words of points, words of spans, timer
    points: Ints
    spans: Ints
    said: Ints  # what points remember, each (rule, what, line, time, value)
    links: Ints
    timers: Ints


class Shape:
    """What a program says about rows and lines, as arrays by table, column or site."""

    def __init__(self, program: Program) -> None:
        tables = np.array(program.tables, np.int64).reshape(-1, len(TABLE))
        columns = np.array(program.cols, np.int64).reshape(-1, FIELDS)
        self.width, self.lines = tables[:, TABLE["T_KEYS"]], tables[:, TABLE["T_COLUMNS"]]
        self.first = tables[:, TABLE["T_FIRST"]]
        self.kind = columns[:, FIELD["C_KIND"]]
        self.head = columns[:, FIELD["C_HEAD"]]
        own = {KIND["EVENT"]: 0, KIND["SIMPLE"]: 3}
        own |= {KIND[name]: 2 for name in ("INPUT", "KNOWN", "STATED")}
        stride = np.array([own.get(kind, -1) for kind in range(len(KIND))])[self.kind]
        self.stride = np.where(stride == 0, columns[:, FIELD["C_STRIDE"]], stride)
        sites = program.layout.sites
        self.by_row = np.array([site.lists for site in sites], np.bool_)
        """Is it a whole row that looks? Then its program makes the links when it comes back."""
        self.known = columns[:, FIELD["C_KNOWN"]] != 0
        """Makes an item members of dynamic domains? One that is final does so from then on."""
        self.rules = columns[:, FIELD["C_CODE"]]
        self.stays = np.zeros(len(tables), np.bool_)
        if program.first is not None:
            self.stays[program.first] = True
        """The tables whose rows are more than what their lines say."""

    def columns(self, tables: Ints) -> Ints:
        """The columns of the lines of rows."""
        count = self.lines[tables]
        within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        found: Ints = np.repeat(self.first[tables], count) + within
        return found


def kept(machine: Any, shape: Shape, reach: Reach, cut: int, following: int) -> Kept:
    """All that may be looked at again, after a border and the time-point that follows it."""
    rows, lines, links, timers = (
        np.empty((count, width), np.int64)
        for count, width in zip(machine.sizes(), (3, 6, 4, 2), strict=True)
    )
    machine.rows(rows)
    machine.lines(lines)
    machine.links(links)
    machine.timers(timers)
    keys, pool = (np.frombuffer(words, np.int64) for words in machine.words())
    column = lines[:, 0]
    row = np.repeat(np.arange(len(rows)), shape.lines[rows[:, 0]])

    line, place = _pieces(lines[:, 3], lines[:, 4], np.full(len(lines), 3))
    there = pool[place + 1] > after(reach.spans[column[line]], cut)
    there |= shape.known[column[line]] & (place == lines[line, 3])
    span_line, span_place = line[there], place[there]

    stride = shape.stride[column]
    line, place = _pieces(lines[:, 1], np.where(stride > 0, lines[:, 2], 0), stride)
    is_input = shape.kind[column[line]] == KIND["INPUT"]
    last = np.where(is_input, pool[place + is_input], pool[place])
    bound = np.where(is_input, following, after(reach.points[column[line]], cut))
    there = last > bound
    line, place = line[there], place[there]
    line, place, pool = _final_parts(
        shape, column, span_line, span_place, line, place, pool, following
    )

    count = np.bincount(line, minlength=len(lines))
    sizes = np.column_stack(
        [count * stride, 3 * np.bincount(span_line, minlength=len(lines)), lines[:, 5]]
    )
    points = pool[_words(place, stride[line])]
    said = _remembered(shape.head[column[line]] == 3, place, stride[line], points, pool)

    needed = ~shape.by_row[links[:, 1]] & (sizes[links[:, 2], 0] > 0)
    needed &= links[:, 3] > after(reach.looks[links[:, 1]], cut)
    links = links[needed]
    stays = shape.stays[rows[:, 0]]
    for some in (np.flatnonzero(sizes[:, 0] + sizes[:, 1]), said[:, 2], links[:, 0], timers[:, 1]):
        stays[row[some]] = True

    alive = stays[row]
    number = np.cumsum(alive) - 1
    said[:, 2], links[:, 0], links[:, 2] = (
        number[said[:, 2]],
        number[links[:, 0]],
        number[links[:, 2]],
    )
    timers[:, 1] = number[timers[:, 1]]
    rows = rows[stays]
    return Kept(
        rows[:, 0].copy(),
        keys[_words(rows[:, 2], shape.width[rows[:, 0]])],
        sizes[alive],
        points,
        pool[_words(span_place, np.full(len(span_place), 3))],
        said.ravel(),
        links,
        np.unique(timers, axis=0),
    )


def after(reach: Ints, cut: int) -> Ints:
    """After when something may be looked at, by how far back it is."""
    found: Ints = np.where(reach >= ENDLESS, -INF, cut - reach)
    return found


def _pieces(place: Ints, words: Ints, stride: Ints) -> tuple[Ints, Ints]:
    """Of points or spans of all lines, one after the other, the line and the place."""
    count = words // np.maximum(stride, 1)
    line = np.repeat(np.arange(len(place)), count)
    within = np.arange(len(line)) - np.repeat(np.cumsum(count) - count, count)
    return line, place[line] + within * stride[line]


def _words(place: Ints, count: Ints) -> Ints:
    """The places of the words of some pieces."""
    within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    found: Ints = np.repeat(place, count) + within
    return found


def _final_parts(
    shape: Shape,
    column: Ints,
    span_line: Ints,
    span_place: Ints,
    line: Ints,
    place: Ints,
    pool: Ints,
    following: int,
) -> tuple[Ints, Ints, Ints]:
    """Intervals of input fluents that are final and forgotten: their union is said instead."""
    mine = shape.kind[column[span_line]] == KIND["INPUT"]
    mine &= pool[span_place] < following
    if not mine.any():
        return line, place, pool
    start = pool[span_place[mine]]
    end = np.minimum(pool[span_place[mine] + 1], following)
    more = len(pool) + 2 * np.arange(len(start))
    pool = np.concatenate([pool, np.column_stack([start, end]).ravel()])
    line, place = np.concatenate([line, span_line[mine]]), np.concatenate([place, more])
    is_input = shape.kind[column[line]] == KIND["INPUT"]
    ends = np.where(is_input, pool[place + is_input], 0)
    order = np.lexsort((ends, pool[place], line))
    return line[order], place[order], pool


def _remembered(has: Mask, place: Ints, stride: Ints, points: Ints, pool: Ints) -> Ints:
    """The lists of what points said; points get their lengths."""
    first = np.cumsum(stride) - stride
    list_of = pool[place[has] + 2]
    length = np.where(list_of != 0, pool[list_of + 1], 0)
    points[first[has] + 2] = length
    found: Ints = pool[_words(list_of + 2, length)].reshape(-1, 5)
    return found
