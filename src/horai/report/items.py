"""The items of a stream, under what rules find: points in time, by type and entity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from horai.engine.answer import Answer as EngineAnswer
from horai.io import ItemTable, TermColumn
from horai.report.lanes import LaneBlock, blocks_of, lane_block
from horai.report.pack import Pack
from horai.result import Result
from horai.runtime.answers import AnswerPart, answer_table
from horai.temporal.spans import Ints

MOST_ITEMS = 3_000_000
"""Of a stream with more items, a page has counts over time."""
MOST_WITH_ARGUMENTS = 300_000
"""Of a stream with more items, a page leaves out arguments beside the first; it has the lines."""
BINS = 4096


def given_fluents(pack: Pack, result: Result) -> list[LaneBlock]:
    """The fluents of the input, as the engine used them, unless they are in its answers."""
    last = result.steps[-1].raw if result.steps else None
    if not isinstance(last, EngineAnswer) or not last.has("input"):
        return []
    table = answer_table([AnswerPart(last.part("input"))], last.symbols, lambda *_: True)
    blocks = blocks_of(pack, table.only("fluent"))
    return [replace(block, kind="input") for block in blocks]


def item_blocks(pack: Pack, tables: Iterable[ItemTable]) -> tuple[list[LaneBlock], str]:
    """Events and retractions by type and first argument; and in how much detail.

    The detail is `full`, `times` without further arguments, or `counts`. Intervals and values that
    are given are no points; the run has them among its intervals.
    """
    some = [table for table in tables if len(table)]
    number = sum(map(len, some))
    if number > MOST_ITEMS:
        return [_counts(pack, table, some) for table in some], "counts"
    full = number <= MOST_WITH_ARGUMENTS
    blocks = [block for table in some for block in _points(pack, table, full)]
    return blocks, "full" if full else "times"


def _points(pack: Pack, table: ItemTable, full: bool) -> Iterator[LaneBlock]:
    op = table.table.column("op").to_numpy()
    for kind, rows in (("item", np.flatnonzero(op > 0)), ("retraction", np.flatnonzero(op < 0))):
        if not len(rows) or (table.kind == "fluent" and kind == "item"):
            continue
        some = pa.array(rows)
        args = [table.column(f"a{i}").take(some) for i in range(table.arity)]
        if table.kind == "fluent":
            args.append(table.column("value").take(some))
        files = table.table.column("file").combine_chunks()
        names = np.array([pack.text(name) for name in files.dictionary.to_pylist()], np.int64)
        yield lane_block(
            *(pack, kind, table.name),
            *(args[:1], None),
            _numbers(table, "start", rows),
            more={
                "file": names[files.indices.to_numpy()[rows]],
                "line": _numbers(table, "line", rows),
                "arrival": _numbers(table, "arrival", rows),
            },
            arguments=args[1:] if full else (),
        )


def _counts(pack: Pack, table: ItemTable, tables: list[ItemTable]) -> LaneBlock:
    """How many items of a type there are in each of many parts of the whole time."""
    first = min(int(_all(one, "start").min()) for one in tables)
    last = max(int(_all(one, "start").max()) for one in tables)
    width = max(1, -(-(last + 1 - first) // BINS))
    counts = np.bincount((_all(table, "start") - first) // width)
    bins = np.flatnonzero(counts)
    nothing: tuple[TermColumn, ...] = ()
    start = first + bins * width
    return lane_block(
        *(pack, "item", table.name, nothing, None, start), more={"weight": counts[bins]}
    )


def _numbers(table: ItemTable, name: str, rows: Ints) -> Ints:
    numbers: Ints = table.table.column(name).to_numpy()[rows]
    return numbers


def _all(table: ItemTable, name: str) -> Ints:
    numbers: Ints = table.table.column(name).to_numpy()
    return numbers
