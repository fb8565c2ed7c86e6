"""From the Arrow tables of a narrative to columns the engine computes with.

Integers are not copied. Of symbols, each entry of the dictionary is looked up once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from horai.engine.columns import Column, codes, floats, ints
from horai.engine.symbols import Symbols
from horai.lang.core.reader import read_term
from horai.temporal.spans import INF, Ints

ItemKind = Literal["event", "fluent"]
Signs = npt.NDArray[np.int8]
TYPE = b"horai.type"
_MOST = 64  # dictionaries of large tables whose codes are kept
_NOT_YET = -2  # no term has this code
ORDER = "order"
"""The column that says in which order signals of one time point came."""


class Source(Protocol):
    """A table of items as the readers make it; its columns are those of `horai.io.ItemTable`."""

    @property
    def name(self) -> str: ...
    @property
    def arity(self) -> int: ...
    @property
    def kind(self) -> ItemKind: ...
    @property
    def form(self) -> Literal["intervals", "points"]: ...
    @property
    def table(self) -> pa.Table: ...


@dataclass(frozen=True, slots=True)
class SomeItems:
    """Rows taken out of a source, themselves a source."""

    name: str
    arity: int
    kind: ItemKind
    form: Literal["intervals", "points"]
    table: pa.Table


def pick(source: Source, rows: Ints) -> SomeItems:
    """Some rows of a source, without keeping the others alive."""
    table = source.table.take(pa.array(rows, pa.int64()))
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            few = _array(table, field.name).dictionary_decode().dictionary_encode()
            table = table.set_column(place, field, few.cast(field.type))
    return SomeItems(source.name, source.arity, source.kind, source.form, table)


class ItemBatch(NamedTuple):
    """Items of one type as columns; row i is row i of `origin.table`.

    `op` is negative for retractions. Events end where they start, intervals that are open at
    `INF`.
    """

    name: str
    arity: int
    kind: ItemKind
    op: Signs
    arrival: Ints
    start: Ints
    end: Ints
    value: Column | None
    args: tuple[Column, ...]
    origin: Source

    def __len__(self) -> int:
        return len(self.op)


def read_items(source: Source, symbols: Symbols, tick: int) -> ItemBatch:
    """The items of a source. Raises `NotATerm` for a symbol that should be source text."""
    table = source.table
    start = numbers_of(table, "start")
    is_fluent = source.kind == "fluent"
    return ItemBatch(
        source.name,
        source.arity,
        source.kind,
        _array(table, "op").to_numpy(zero_copy_only=False),
        numbers_of(table, "arrival"),
        start,
        _ends(source, start, tick) if is_fluent else start,
        _terms(table, "value", symbols) if is_fluent else None,
        tuple(_terms(table, f"a{i}", symbols) for i in range(source.arity)),
        source,
    )


def _array(table: pa.Table, name: str) -> pa.Array:
    chunked = table.column(name)
    if chunked.num_chunks == 1:
        return chunked.chunk(0)
    if pa.types.is_dictionary(chunked.type):
        chunked = chunked.unify_dictionaries()
    return chunked.combine_chunks()


def numbers_of(table: pa.Table, name: str) -> Ints:
    """A column of whole numbers, not copied if it is in one piece."""
    numbers: Ints = _array(table, name).to_numpy(zero_copy_only=False)
    return numbers


def _ends(source: Source, start: Ints, tick: int) -> Ints:
    """A value at a point holds until the next time-point."""
    if source.form == "points":
        following: Ints = start + (tick - start % tick)
        # What would lie beyond the largest number has wrapped around.
        return np.where(following > start, following, INF)
    ends = _array(source.table, "end")
    whole: Ints = (ends.fill_null(INF) if ends.null_count else ends).to_numpy()
    return whole


def _terms(table: pa.Table, name: str, symbols: Symbols) -> Column:
    kind = table.schema.field(name).metadata[TYPE]
    array = _array(table, name)
    match kind:
        case b"int":
            return ints(array.to_numpy(zero_copy_only=False))
        case b"float":
            return floats(array.to_numpy(zero_copy_only=False))
        case _:
            return codes(_symbol_codes(array, symbols, is_source=kind == b"term"))


def _symbol_codes(array: pa.DictionaryArray, symbols: Symbols, *, is_source: bool) -> Ints:
    """The codes of a column of symbols; those no row uses are looked up only if it is cheap."""
    entries, places = array.dictionary, array.indices.to_numpy(zero_copy_only=False)
    if len(entries) <= len(places):
        every: Ints = _codes_of(entries, symbols, is_source)[places]
        return every
    # A slice of a large table carries the dictionary of the whole, and so will others.
    where = (entries.buffers()[1].address, entries.offset, len(entries))
    dictionaries = symbols.dictionaries
    if where not in dictionaries:
        if len(dictionaries) >= _MOST:
            dictionaries.clear()
        dictionaries[where] = (entries, np.full(len(entries), _NOT_YET))
    known = dictionaries[where][1]
    found: Ints = known[places]
    new = np.unique(places[found == _NOT_YET])
    if len(new):
        known[new] = _codes_of(entries.take(pa.array(new)), symbols, is_source)
        found = known[places]
    return found


def _codes_of(entries: pa.Array, symbols: Symbols, is_source: bool) -> Ints:
    texts = entries.to_pylist()
    return symbols.codes(map(read_term, texts)) if is_source else symbols.atoms(texts)
