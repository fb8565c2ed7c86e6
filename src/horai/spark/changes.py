"""Parts of answers as tables: what travels to later stages, and what is kept as the answer.

Between stages travel the changes of each query time: rows that are new and rows that are gone
since the one before, as items that arrive at the query time. Whoever takes them in has, at every
query time, exactly the spans and events that the stage had found by then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from horai.engine.answer import EventTable, FluentTable, Part
from horai.engine.columns import Column, concat
from horai.engine.staged import rows_of_event, rows_of_fluent
from horai.engine.symbols import Symbols
from horai.io.schema import TableKey
from horai.io.termcolumns import META, SYMBOLS
from horai.lang.printer import show
from horai.lang.terms import Atom
from horai.spark.records import Rows
from horai.spark.routes import Entity

Table = FluentTable | EventTable
OPEN = np.iinfo(np.int64).max
# The rows of a table that a bucket may tell of.
Owned = Callable[[Entity, Table], Rows | None]


def entity_of(table: Table) -> Entity:
    """What a table is about."""
    kind = "fluent" if isinstance(table, FluentTable) else "event"
    return kind, table.name, len(table.args)


def only(part: Part, owned: Owned) -> Part:
    """The rows of a part that a bucket may tell of."""
    fluents: list[FluentTable] = []
    events: list[EventTable] = []
    for fluent in part.fluents:
        rows = owned(entity_of(fluent), fluent)
        if rows is None or len(rows):
            fluents.append(fluent if rows is None else rows_of_fluent(fluent, rows))
    for event in part.events:
        rows = owned(entity_of(event), event)
        if rows is None or len(rows):
            events.append(event if rows is None else rows_of_event(event, rows))
    return Part(fluents, events)


@dataclass(slots=True)
class Collected:
    """Parts of several query times, put together entity by entity."""

    symbols: Symbols
    rows: dict[Entity, list[tuple[int, int, Table]]] = field(default_factory=dict)

    def add(self, part: Part, query: int, op: int = 1) -> None:
        """The rows of a part at a query time; `op` is -1 for those that are gone."""
        tables: list[Table] = [*part.fluents, *part.events]
        for table in tables:
            self.rows.setdefault(entity_of(table), []).append((query, op, table))

    def tables(self) -> Iterator[tuple[TableKey, pa.Table]]:
        """One table of items for each entity; they arrive at the query times."""
        for (kind, name, arity), rows in self.rows.items():
            if kind == "fluent":
                yield TableKey(name, arity, "fluent", "intervals"), self._table(arity, rows)
            else:
                yield TableKey(name, arity, "event", "points"), self._table(arity, rows)

    def _table(self, arity: int, rows: list[tuple[int, int, Table]]) -> pa.Table:
        tables = [table for _, _, table in rows]
        starts = [t.start if isinstance(t, FluentTable) else t.time for t in tables]
        lengths = [len(start) for start in starts]
        columns: list[tuple[pa.Field, pa.Array]] = []

        def number(name: str, type_: pa.DataType, data: object) -> None:
            columns.append((pa.field(name, type_), pa.array(data, type_)))

        number("op", pa.int8(), np.repeat([op for _, op, _ in rows], lengths))
        number("arrival", pa.int64(), np.repeat([query for query, _, _ in rows], lengths))
        number("start", pa.int64(), np.concatenate(starts))
        fluents = [table for table in tables if isinstance(table, FluentTable)]
        if fluents:
            ends = np.concatenate([table.end for table in fluents])
            array = pa.array(ends, pa.int64(), mask=ends == OPEN)
            columns.append((pa.field("end", pa.int64()), array))
            columns.append(self._terms("value", concat((t.value for t in fluents), self.symbols)))
        for place in range(arity):
            column = concat((table.args[place] for table in tables), self.symbols)
            columns.append(self._terms(f"a{place}", column))
        nowhere = pa.DictionaryArray.from_arrays(
            pa.array(np.zeros(sum(lengths), np.int32)), pa.array([""], pa.string())
        )
        columns.append((pa.field("file", SYMBOLS), nowhere))
        number("line", pa.int64(), np.zeros(sum(lengths), np.int64))
        schema = pa.schema([field for field, _ in columns])
        return pa.Table.from_arrays([array for _, array in columns], schema=schema)

    def _terms(self, name: str, column: Column) -> tuple[pa.Field, pa.Array]:
        kind, array = term_array(column, self.symbols)
        return pa.field(name, array.type, metadata={META: kind}), array


def term_array(column: Column, symbols: Symbols) -> tuple[bytes, pa.Array]:
    """A column of an engine as one of items, with its kind."""
    if column.kind != "term":
        return column.kind.encode(), pa.array(column.data)
    codes, places = np.unique(column.data, return_inverse=True)
    terms = [symbols.term(code) for code in codes.tolist()]
    atoms = [term.name for term in terms if isinstance(term, Atom)]
    is_atoms = len(atoms) == len(terms)
    texts = atoms if is_atoms else [show(term) for term in terms]
    array = pa.DictionaryArray.from_arrays(
        pa.array(places.astype(np.int32)), pa.array(texts, pa.string())
    )
    return b"atom" if is_atoms else b"term", array


def reach(key: TableKey, table: pa.Table) -> int:
    """How far before its query time a change lies, at most."""
    arrival, first = first_changes(key, table)
    return int((arrival - first).max(initial=0)) + 1


def first_changes(key: TableKey, table: pa.Table) -> tuple[Rows, Rows]:
    """For every row its query time, and the first time-point that it changes.

    An interval that is given again with another end has changed only from the earlier of the two
    ends on.
    """
    arrival, start = (table.column(name).to_numpy() for name in ("arrival", "start"))
    if key.kind == "fluent" and table.num_rows > 1:
        return arrival, _first_differences(key, table, arrival, start)
    return arrival, start


def _first_differences(key: TableKey, table: pa.Table, arrival: Rows, start: Rows) -> Rows:
    end = table.column("end").fill_null(OPEN).to_numpy()
    names = [*(f"a{place}" for place in range(key.arity)), "value"]
    codes = [_codes(table.column(name)) for name in names]
    order = np.lexsort((table.column("op").to_numpy(), *codes, start, arrival))
    same = np.ones(len(order) - 1, np.bool_)
    for column in (*codes, start, arrival):
        same &= column[order[1:]] == column[order[:-1]]
    # At one query time there is one interval that begins at a point before, and one after.
    first = start.copy()
    both = np.flatnonzero(same)
    shorter = np.minimum(end[order[both]], end[order[both + 1]])
    first[order[both]] = shorter
    first[order[both + 1]] = shorter
    return np.minimum(first, arrival)


def _codes(column: pa.ChunkedArray) -> Rows:
    array = column.chunk(0)
    if pa.types.is_dictionary(array.type):
        found: Rows = array.indices.to_numpy(zero_copy_only=False)
        return found
    encoded: Rows = array.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    return encoded
