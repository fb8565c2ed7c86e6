"""What a page draws: lanes of a timeline, and one container of all columns and texts.

A lane is a line: a fluent with its value, an atom, or events of an entity. Rows of one name become
lanes by their arguments and value, in the order in which people count (`v2` comes before `v10`),
and within a lane they are in the order of time.

The container is the length of a header, the header as JSON, and the columns one after the other,
compressed. Wherever the header has `{"$": [at, rows, type, delta]}`, the page puts a typed array.
Everything a stream says is in it, so no name of a stream ever stands in the page as HTML.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from horai.io import AnswerTable, TermColumn, distinct, to_source
from horai.io.terms import Term
from horai.temporal.spans import INF, Ints

OPEN = INF
"""The end of an interval that is still open."""


class Pack:
    """What a page shows, as columns and as texts that are numbered."""

    def __init__(self) -> None:
        self._columns: list[bytes] = []
        self._size = 0
        self._texts: dict[str, int] = {}

    def column(self, values: Ints, *, delta: bool = False) -> dict[str, Any]:
        """A column of whole numbers from 0 on, in as few bytes as hold them.

        With `delta` it is kept as differences, which take less room where values grow.
        """
        most = int(values.max(initial=0))
        kind = next((k for k in ("u1", "u2", "u4") if most <= np.iinfo(k).max), "f8")
        if delta and kind != "f8":
            kept = np.diff(values, prepend=0).astype(np.int64) & np.iinfo(kind).max
            return self._add(kept.astype(f"<{kind}"), True)
        return self._add(values.astype(f"<{kind}"), False)

    def decimals(self, values: np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, Any]:
        """A column of decimals."""
        return self._add(values.astype("<f8"), False)

    def _add(self, values: np.ndarray[Any, Any], delta: bool) -> dict[str, Any]:
        data = values.tobytes()
        at, room = self._size, -len(data) % 8  # JavaScript wants columns to begin at such places
        self._columns.append(data + bytes(room))
        self._size += len(data) + room
        return {"$": [at, len(values), values.dtype.str[1:], int(delta)]}

    def text(self, text: str) -> int:
        """The number of a text."""
        return self._texts.setdefault(text, len(self._texts))

    @property
    def texts(self) -> list[str]:
        """The texts by number."""
        return list(self._texts)

    def terms(self, terms: Iterable[Term]) -> Ints:
        """The numbers of terms, as source text."""
        return np.array([self.text(to_source(term)) for term in terms], np.int64)

    def packed(self, header: dict[str, Any]) -> str:
        """The container as text, for a page that has it inside."""
        return base64.b64encode(self.compressed(header)).decode("ascii")

    def compressed(self, header: dict[str, Any]) -> bytes:
        """The container; `header` is what the page makes of it."""
        whole = {**header, "texts": self.texts}
        told = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
        text = told.encode("utf-8", "replace")
        text += b" " * (-(len(text) + 8) % 8)
        parts = [len(text).to_bytes(8, "little"), text, *self._columns]
        return zlib.compress(b"".join(parts), 6)


@dataclass(frozen=True, slots=True)
class LaneBlock:
    """The lanes of one kind and name, which have the same number of arguments.

    `args` and `value` are numbers of texts, by lane, and `rows` says how many rows a lane has.
    `start` and what follows is by row; without `end` they are points in time.
    """

    kind: str
    name: str
    args: tuple[Ints, ...]
    value: Ints | None
    rows: Ints
    start: Ints
    end: Ints | None = None
    more: Mapping[str, Ints] = field(default_factory=dict)
    arguments: tuple[TermColumn, ...] = ()  # beside those of the lane, by row


def lane_block(
    pack: Pack,
    kind: str,
    name: str,
    args: Sequence[TermColumn],
    value: TermColumn | None,
    start: Ints,
    end: Ints | None = None,
    more: Mapping[str, Ints] | None = None,
    arguments: Sequence[TermColumn] = (),
) -> LaneBlock:
    """The rows of one name, sorted into lanes."""
    keys = [*args, *([] if value is None else [value])]
    coded = [_coded(column, pack) for column in keys]
    ranks = [rank for _, rank in coded]
    order = np.lexsort((start, *reversed(ranks)))
    changes = np.zeros(len(start), np.bool_)
    changes[:1] = True
    for rank in ranks:
        there = rank[order]
        changes[1:] |= there[1:] != there[:-1]
    firsts = np.flatnonzero(changes)
    texts = [code[order][firsts] for code, _ in coded]
    rows = np.diff(np.append(firsts, len(start)))
    return LaneBlock(
        kind,
        name,
        tuple(texts[: len(args)]),
        None if value is None else texts[-1],
        rows,
        start[order],
        None if end is None else end[order],
        {key: column[order] for key, column in (more or {}).items()},
        tuple(column.take(pa.array(order)) for column in arguments),
    )


def _coded(column: TermColumn, pack: Pack) -> tuple[Ints, Ints]:
    """By row the number of the text, and a number by which rows are sorted."""
    indices, terms = distinct(column)
    places = indices.to_numpy()
    order = sorted(range(len(terms)), key=[_natural(term) for term in terms].__getitem__)
    rank = np.empty(len(terms), np.int64)
    rank[order] = np.arange(len(terms))
    return pack.terms(terms)[places], rank[places]


def _natural(term: Term) -> tuple[bool, float, list[tuple[int, str]], str]:
    """Numbers first, then texts with the numbers in them taken as numbers."""
    if isinstance(term, int | float):
        return (False, term, [], "")
    parts = re.split(r"([0-9]{1,18})", term)
    return (
        True,
        0,
        [(int(part), "") if part.isdecimal() else (-1, part) for part in parts],
        to_source(term),
    )


def blocks_of(pack: Pack, table: AnswerTable) -> list[LaneBlock]:
    """The lanes of rows of answers: intervals of fluents and atoms, and events."""
    found = []
    for one in filter(len, table.blocks):
        start = one.start.to_numpy()
        end = None if one.end is None else one.end.fill_null(OPEN).to_numpy()
        found.append(lane_block(pack, one.kind, one.name, one.args, one.value, start, end))
    return found


def packed_lanes(pack: Pack, blocks: Sequence[LaneBlock], base: int) -> dict[str, Any]:
    """Lanes for the page: times count from `base`, and a length of 0 is open."""
    said = [
        {
            "kind": block.kind,
            "name": pack.text(block.name),
            "lanes": len(block.rows),
            "args": [pack.column(column) for column in block.args],
            "value": None if block.value is None else pack.column(block.value),
            "arguments": [_argument(pack, column) for column in block.arguments],
        }
        for block in blocks
    ]
    lasting = [
        np.where(block.end == OPEN, 0, block.end - block.start)
        for block in blocks
        if block.end is not None
    ]
    names = {name for block in blocks for name in block.more}
    return {
        "blocks": said,
        "rows": pack.column(_joined(blocks, lambda block: block.rows)),
        "start": pack.column(_joined(blocks, lambda block: block.start) - base, delta=True),
        "length": pack.column(np.concatenate(lasting)) if lasting else None,
        **{name: _more(pack, blocks, name) for name in sorted(names)},
    }


def _more(pack: Pack, blocks: Sequence[LaneBlock], name: str) -> dict[str, Any]:
    return pack.column(_joined(blocks, lambda block: block.more[name]), delta=name == "line")


def _argument(pack: Pack, column: TermColumn) -> dict[str, Any]:
    """Values of rows: numbers as they are where the page can say them, else texts."""
    if column.kind == "float":
        return {"decimals": pack.decimals(column.array.to_numpy())}
    indices, terms = distinct(column)
    return {"texts": pack.column(pack.terms(terms)[indices.to_numpy()])}


def _joined(blocks: Sequence[LaneBlock], column: Callable[[LaneBlock], Ints]) -> Ints:
    return np.concatenate([np.zeros(0, np.int64), *map(column, blocks)])
