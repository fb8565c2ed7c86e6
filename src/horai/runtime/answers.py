"""Answers of engines as tables of rows, sorted in one order for all engines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from horai import io
from horai.engine.answer import AtomTable, EventTable, FluentTable, Part
from horai.engine.columns import Column, concat
from horai.engine.symbols import Symbols
from horai.errors import UsageError
from horai.io.schema import TableKey
from horai.runtime.values import plain
from horai.temporal.spans import INF, Ints

_BITS = 63
_LARGEST = 1 << 62


def ranks(columns: Sequence[io.TermColumn]) -> list[Ints]:
    """Integers in the order of the terms, and comparable between the columns.

    Numbers come before text; what looks alike but differs stays apart.
    """
    kinds = {column.kind for column in columns}
    if kinds == {"int"}:
        return [column.array.to_numpy() for column in columns]
    if kinds == {"float"}:
        return [_by_bits(column.array.to_numpy()) for column in columns]
    if kinds == {"atom"} and len(columns) == 1:
        return [_atom_ranks(columns[0].array)]
    return _mixed_ranks(columns)


def _by_bits(numbers: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Ints:
    """The bits of decimals, turned so that they compare as the decimals do."""
    bits: Ints = (numbers + 0.0).view(np.int64)  # the negative zero is equal to the other one
    return np.where(bits < 0, bits ^ np.iinfo(np.int64).max, bits)


def _atom_ranks(column: pa.DictionaryArray) -> Ints:
    # Bytes of UTF-8, by which Arrow compares, sort as the letters do.
    order = pc.array_sort_indices(column.dictionary).to_numpy()
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    ranked: Ints = rank[column.indices.to_numpy()]
    return ranked


def _mixed_ranks(columns: Sequence[io.TermColumn]) -> list[Ints]:
    distinct = [io.distinct(column) for column in columns]
    keys = {value_key(term) for _, terms in distinct for term in terms}
    rank = {key: place for place, key in enumerate(sorted(keys))}
    return [
        np.array([rank[value_key(term)] for term in terms], np.int64)[indices.to_numpy()]
        for indices, terms in distinct
    ]


def value_key(value: io.Term) -> tuple[int, float, str, str]:
    """How values are ordered."""
    if isinstance(value, int | float):
        return (0, value, "", type(value).__name__)
    return (1, 0, str(value), type(value).__name__)


def from_one(columns: Sequence[Ints]) -> list[Ints]:
    """The same order in integers that start at 1, which leaves 0 for what comes before all."""
    filled = [column for column in columns if len(column)]
    low = min((int(column.min()) for column in filled), default=0)
    high = max((int(column.max()) for column in filled), default=0)
    if high - low < _LARGEST:
        return [column - low + 1 for column in columns]
    _, dense = np.unique(np.concatenate(columns), return_inverse=True)
    return np.split(dense + 1, np.cumsum([len(column) for column in columns])[:-1])


def places(keys: Sequence[Ints]) -> Ints | None:
    """Where rows stand that are sorted by several keys, None if they are in order already."""
    packed = _packed(keys)
    # The fastest sort mixes up rows with equal keys; as a rule the first key leaves few of them.
    order: Ints = np.argsort(packed[0])
    first = packed[0][order]
    alike = first[1:] == first[:-1]
    if bool(alike.any()):
        tied = np.append(alike, False) | np.append(False, alike)
        rows = order[tied]
        order[tied] = rows[np.lexsort([rows, *(key[rows] for key in reversed(packed))])]
    return None if bool((order[1:] > order[:-1]).all()) else order


def _packed(keys: Sequence[Ints]) -> list[Ints]:
    """As few keys that say the same: several go into one integer as long as there is room."""
    packed: list[Ints] = []
    room = 0
    for key in keys:
        low, high = (int(key.min()), int(key.max())) if len(key) else (0, 0)
        bits = (high - low).bit_length()
        if bits > _BITS:
            packed.append(key)
            room = 0
        elif packed and bits <= room:
            packed[-1] = (packed[-1] << bits) | (key - low)
            room -= bits
        else:
            packed.append(key - low)
            room = _BITS - bits
    return packed


Answers = Literal["final", "windows", "changelog"]
ANSWERS: tuple[Answers, ...] = get_args(Answers)

# Does an event (False) or a fluent (True) of this name and arity belong into the answer?
OutputFilter = Callable[[str, int, bool], bool]
Table = FluentTable | EventTable | AtomTable


def answers_named(name: str) -> Answers:
    """One of the forms of answer, or a kind error."""
    for known in ANSWERS:
        if name == known:
            return known
    raise UsageError(f"there is no form of answer {name!r}", f"the forms are {', '.join(ANSWERS)}")


class AnswerPart(NamedTuple):
    """A part of an answer, with what its rows say besides: query time, and added or taken away."""

    part: Part
    query: int | None = None
    added: bool | None = None


def answer_table(
    listed: Iterable[AnswerPart], symbols: Symbols, wanted: OutputFilter
) -> io.AnswerTable:
    """The rows of all steps: by query time, kind, name, arguments, value and start.

    Numbers come before text, and what is taken back before what is new.
    """
    groups: dict[tuple[io.AnswerKind, str, int], list[tuple[AnswerPart, Table]]] = {}
    for step in listed:
        tables: list[Table] = [*step.part.atoms, *step.part.events, *step.part.fluents]
        for table in tables:
            kind, arity = _KINDS[type(table)], len(table.args)
            if kind == "atom" or wanted(table.name, arity, kind == "fluent"):
                groups.setdefault((kind, table.name, arity), []).append((step, table))
    return in_order(_block(*key, groups[key], symbols) for key in sorted(groups))


def in_order(blocks: Iterable[io.AnswerBlock]) -> io.AnswerTable:
    """The rows of all blocks in the order of answers."""
    filled = tuple(block for block in blocks if len(block))
    return io.AnswerTable(filled, _order(filled))


_KINDS: dict[type[Table], io.AnswerKind] = {
    AtomTable: "atom",
    EventTable: "event",
    FluentTable: "fluent",
}


def _block(
    kind: io.AnswerKind,
    name: str,
    arity: int,
    rows: Sequence[tuple[AnswerPart, Table]],
    symbols: Symbols,
) -> io.AnswerBlock:
    tables = [table for _, table in rows]
    fluents = [table for table in tables if isinstance(table, FluentTable)]
    lasting = [table for table in tables if not isinstance(table, EventTable)]
    first = rows[0][0]
    starts = [t.time if isinstance(t, EventTable) else t.start for t in tables]
    lengths = [len(start) for start in starts]
    query = None if first.query is None else np.repeat([step.query for step, _ in rows], lengths)
    added = None if first.added is None else np.repeat([step.added for step, _ in rows], lengths)
    args = [concat((table.args[i] for table in tables), symbols) for i in range(arity)]
    ends = np.concatenate([table.end for table in lasting]) if lasting else None
    return io.AnswerBlock(
        kind,
        name,
        tuple(term_column(column, symbols) for column in args),
        term_column(concat((t.value for t in fluents), symbols), symbols) if fluents else None,
        pa.array(np.concatenate(starts), pa.int64()),
        None if ends is None else pa.array(ends, pa.int64(), mask=ends == INF),
        None if query is None else pa.array(query.astype(np.int64)),
        None if added is None else pa.array(["-", "+"]).take(pa.array(added.astype(np.int64))),
    )


def term_column(column: Column, symbols: Symbols) -> io.TermColumn:
    """A column of an engine as one that can be written: each different term is turned once."""
    if column.kind != "term":
        return io.TermColumn(column.kind, pa.array(column.data))
    encoded = pa.array(column.data).dictionary_encode()
    terms = [plain(symbols.term(code)) for code in encoded.dictionary.to_pylist()]
    return io.from_uniques(encoded.indices, terms)


def item_table(
    key: TableKey,
    file: str,
    columns: tuple[Ints, Ints, Ints, Ints | None],
    args: Iterable[Column],
    value: Column | None,
    symbols: Symbols,
) -> io.ItemTable:
    """Rows of an engine as items: signs, arrivals, starts, and ends where they are intervals.

    They stand in no line of the file.
    """
    op, arrival, start, end = columns
    rows = len(start)
    return io.ItemTable.of_columns(
        key,
        file,
        pa.array(np.zeros(rows, np.int64)),
        pa.array(op, pa.int8()),
        pa.array(arrival, pa.int64()),
        pa.array(start, pa.int64()),
        None if end is None else pa.array(end, pa.int64(), mask=end == INF),
        None if value is None else term_column(value, symbols),
        [term_column(column, symbols) for column in args],
    )


def _order(blocks: Sequence[io.AnswerBlock]) -> Ints | None:
    """Where the rows of the answer stand in the blocks, None if they are in order."""
    if not blocks:
        return None
    names = {key: i for i, key in enumerate(sorted({(b.kind, b.name) for b in blocks}))}
    depth = max(len(block.args) for block in blocks)
    keys = [
        _joined([_numbers(block.query, len(block), 0) for block in blocks]),
        _joined([np.full(len(block), names[block.kind, block.name]) for block in blocks]),
        *(_joined(column) for column in zip(*_argument_keys(blocks, depth), strict=True)),
        _joined([_value_keys(block) for block in blocks]),
        _joined([_numbers(block.start, len(block), 0) for block in blocks]),
        _joined([_added(block) for block in blocks]),
        _end_keys(_joined([_numbers(block.end, len(block), INF) for block in blocks])),
    ]
    return places(keys)


def _joined(columns: Sequence[Ints]) -> Ints:
    return np.concatenate(columns)


def _numbers(column: pa.Array | None, rows: int, nothing: int) -> Ints:
    if column is None:
        return np.full(rows, nothing, np.int64)
    numbers: Ints = column.fill_null(nothing).to_numpy()
    return numbers


def _added(block: io.AnswerBlock) -> Ints:
    if block.op is None:
        return np.zeros(len(block), np.int64)
    return np.asarray(block.op.to_numpy(zero_copy_only=False) == "+", np.int64)


def _value_keys(block: io.AnswerBlock) -> Ints:
    if block.value is None:
        return np.zeros(len(block), np.int64)
    return from_one(ranks([block.value]))[0]


def _end_keys(ends: Ints) -> Ints:
    """Open ends come last, but not so far that their key needs all bits."""
    is_open = ends == INF
    return np.where(is_open, ends[~is_open].max(initial=-1) + 1, ends)


def _argument_keys(blocks: Sequence[io.AnswerBlock], depth: int) -> list[list[Ints]]:
    """For every block and argument, integers in the order of the values.

    Blocks of one name and several arities are compared with each other; the shorter come first.
    """
    keys = [[np.zeros(len(block), np.int64) for _ in range(depth)] for block in blocks]
    alike: dict[tuple[str, str, int], list[int]] = {}
    for number, block in enumerate(blocks):
        for i in range(len(block.args)):
            alike.setdefault((block.kind, block.name, i), []).append(number)
    for (_, _, i), numbers in alike.items():
        found = from_one(ranks([blocks[number].args[i] for number in numbers]))
        for number, key in zip(numbers, found, strict=True):
            keys[number][i] = key
    return keys
