"""How the instances of a program are divided among several machines.

A row belongs to the machine that its home names, a word of its key (`layout.py`). What rules ask of
rows with the same home is at hand; others may be in other machines, which tell it (`shards.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from horai.engine.core.program import Program
from horai.engine.core.retention import Kept, Shape
from horai.plan.ec.instructions import KIND
from horai.temporal.spans import Ints, Mask


def divides(program: Program) -> bool:
    """Can the rows of a program be divided?

    They cannot if a cycle asks others, which would go back in time with each answer; or if rules
    look through an index for rows that may be anywhere.
    """
    mixed = program.layout.mixed
    return not program.layout.scattered and not any(program.cyclic[level] for level in mixed)


def homes(program: Program) -> list[int]:
    """The place of the home in the key of each table, -1 for none."""
    tables = program.layout.tables
    found = [table.home if table.width else -1 for table in tables]
    for table in tables:
        for places, buckets in table.indexes.items():
            found[buckets.number] = places.index(table.home) if table.home in places else -1
    return found


def looked_at(program: Program) -> list[int]:
    """Of each column, is there anybody who looks at lines of other rows?"""
    beside = {site for one in program.columns for _, site in one.readers}
    others = {
        site.column.number
        for number, site in enumerate(program.layout.sites)
        if number not in beside
    }
    return [int(one.number in others) for one in program.columns]


# --- rows that are kept ---------------------------------------------------------------------------


def merged(found: Sequence[Kept], own: Sequence[Mask], shape: Shape) -> Kept:
    """What several machines kept, as if one had all of it; `own` says which rows are their own.

    Of the rows of others they have what looks at them, and nothing else.
    """
    places: dict[tuple[int, bytes], int] = {}
    chosen: list[tuple[int, int]] = []
    rows = [np.empty(len(one.tables), np.int64) for one in found]
    starts = [_starts(shape.width[one.tables]) for one in found]
    for wanted in (True, False):
        for number, (one, mine) in enumerate(zip(found, own, strict=True)):
            for row in np.flatnonzero(mine == wanted).tolist():
                table = int(one.tables[row])
                first = starts[number][row]
                key = one.keys[first : first + shape.width[table]].tobytes()
                place = places.setdefault((table, key), len(chosen))
                if place == len(chosen):
                    chosen.append((number, row))
                rows[number][row] = place
    tables = np.array([table for table, _ in places], np.int64)
    first = _starts(shape.lines[tables])
    lines = [first[rows[k]].repeat(shape.lines[one.tables]) for k, one in enumerate(found)]
    sizes = np.zeros((int(shape.lines[tables].sum()), 3), np.int64)
    said, links, timers = [], [], []
    for one, line in zip(found, lines, strict=True):
        line += _within(shape.lines[one.tables])
        sizes[line] += one.sizes
        said.append(_renumbered(one.said.reshape(-1, 5), line, 2).ravel())
        links.append(_renumbered(one.links, line, 0, 2))
        timers.append(_renumbered(one.timers, line, 1))
    return Kept(
        tables,
        np.frombuffer(b"".join(key for _, key in places), np.int64),
        sizes,
        np.concatenate([one.points for one in found]),
        np.concatenate([one.spans for one in found]),
        np.concatenate(said),
        np.concatenate(links),
        np.unique(np.concatenate(timers), axis=0),
    )


def parts(whole: Kept, owner: Ints, number: int, shape: Shape) -> Iterator[Kept]:
    """What was kept for each of so many machines: their rows, and those that these look at."""
    row = np.repeat(np.arange(len(whole.tables)), shape.lines[whole.tables])
    said = whole.said.reshape(-1, 5)
    sayer = owner[row[_sayers(whole, shape)]]
    looker = owner[row[whole.links[:, 2]]]
    waits = owner[row[whole.timers[:, 1]]]
    for shard in range(number):
        mine = owner == shard
        some = mine.copy()
        some[row[said[sayer == shard, 2]]] = True
        some[row[whole.links[looker == shard, 0]]] = True
        there, is_own = some[row], mine[row]
        line = np.cumsum(there) - 1
        yield Kept(
            whole.tables[some],
            whole.keys[np.repeat(some, shape.width[whole.tables])],
            np.where(is_own[:, None], whole.sizes, 0)[there],
            whole.points[np.repeat(is_own, whole.sizes[:, 0])],
            whole.spans[np.repeat(is_own, whole.sizes[:, 1])],
            _renumbered(said[sayer == shard], line, 2).ravel(),
            _renumbered(whole.links[looker == shard], line, 0, 2),
            _renumbered(whole.timers[waits == shard], line, 1),
        )


def home_words(found: Kept, shape: Shape, places: Ints) -> tuple[Ints, Mask]:
    """The word of the home of each row, and which rows have one."""
    place = places[found.tables]
    has = place >= 0
    words = np.zeros(len(place), np.int64)
    words[has] = found.keys[(_starts(shape.width[found.tables]) + place)[has]]
    return words, has


def _sayers(found: Kept, shape: Shape) -> Ints:
    """The line of the point that said it, of each thing that points remember."""
    column = shape.columns(found.tables)
    stride = np.maximum(shape.stride[column], 1)
    line = np.repeat(np.arange(len(column)), found.sizes[:, 0] // stride)
    remembers = (shape.head[column[line]] == 3) & (shape.kind[column[line]] == KIND["EVENT"])
    length = found.points[_starts(stride[line])[remembers] + 2]
    return np.repeat(line[remembers], length // 5)


def _starts(sizes: Ints) -> Ints:
    found: Ints = np.cumsum(sizes) - sizes
    return found


def _within(sizes: Ints) -> Ints:
    found: Ints = np.arange(sizes.sum()) - np.repeat(_starts(sizes), sizes)
    return found


def _renumbered(rows: Ints, number: Ints, *columns: int) -> Ints:
    """Rows with other numbers in some columns."""
    found = rows.copy()
    for column in columns:
        found[:, column] = number[rows[:, column]]
    return found
