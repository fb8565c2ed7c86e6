"""What the generators of the examples share: columns of items, late and retracted ones, output.

Everything is a numpy column, so that ten million items take seconds. A generator hands over `Rows`,
one per type; `Stream` orders them as they arrive and gives them as a narrative in memory, or as
text, row for row the same.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from horai.io import Narrative, TermColumn
from horai.io.items.tables import ItemTable
from horai.io.schema import TableKey
from horai.io.terms import text_bytes

Ints = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]
Small = np.ndarray[Any, np.dtype[np.int16]]

CHUNK = 1_000_000  # rows of text made at a time, to bound memory


class Words(NamedTuple):
    """A column of atoms: codes into a list of words."""

    codes: Ints
    words: Sequence[str]


Column = Ints | Floats | Words


class Rows(NamedTuple):
    """Items of one type. With `end` they are intervals of a fluent whose value is true."""

    name: str
    start: Ints
    args: tuple[Column, ...]
    end: Ints | None = None

    @property
    def known(self) -> Ints:
        """When an item arrives that is not late: an interval when it is over."""
        return self.start if self.end is None else self.end


class Lateness(NamedTuple):
    """Which share of the items arrives late, and is taken back, and how long that takes.

    Delays follow a Gamma distribution of shape 2: short ones are likely, very long ones happen.
    """

    late: float = 0.0
    retracted: float = 0.0
    mean_delay: float = 900.0

    def delays(self, count: int, dice: np.random.Generator) -> Ints:
        """That many delays, of a second at least."""
        return 1 + dice.gamma(2.0, self.mean_delay / 2, count).astype(np.int64)


NO_DELAY = Lateness()


@dataclass(frozen=True)
class Stream:
    """Rows in the order of arrival: of each item its type, row, arrival time and operation."""

    rows: Sequence[Rows]
    table: Small
    row: Ints
    arrival: Ints
    op: Small

    @classmethod
    def of(
        cls,
        rows: Sequence[Rows],
        events: int,
        dice: np.random.Generator,
        lateness: Lateness = NO_DELAY,
    ) -> Stream:
        """The first `events` items, late or not, and retractions of some of them."""
        known = [part.known for part in rows]
        table = np.repeat(np.arange(len(rows), dtype=np.int16), [len(part) for part in known])
        row = np.concatenate([np.arange(len(part)) for part in known])
        arrival = np.concatenate(known)
        first = np.argsort(arrival, kind="stable")[:events]
        table, row, arrival = table[first], row[first], arrival[first]
        op = np.ones(len(first), dtype=np.int16)
        if lateness.late > 0:
            late = np.flatnonzero(dice.random(len(first)) < lateness.late)
            arrival[late] += lateness.delays(len(late), dice)
        if lateness.retracted > 0:
            wrong = np.flatnonzero(dice.random(len(first)) < lateness.retracted)
            after = arrival[wrong] + lateness.delays(len(wrong), dice)
            table = np.concatenate([table, table[wrong]])
            row = np.concatenate([row, row[wrong]])
            arrival = np.concatenate([arrival, after])
            op = np.concatenate([op, np.full(len(wrong), -1, dtype=np.int16)])
        if lateness.late > 0 or lateness.retracted > 0:
            order = np.argsort(arrival, kind="stable")
            table, row, arrival, op = table[order], row[order], arrival[order], op[order]
        return cls(rows, table, row, arrival, op)

    def __len__(self) -> int:
        return len(self.row)

    def narrative(self, file: str = "<generated>") -> Narrative:
        """The items as typed columns, as if the text had been read."""
        # Sixteen bits, because numpy sorts those by radix: much faster than comparing.
        by_table = np.argsort(self.table, kind="stable")
        bounds = np.searchsorted(self.table[by_table], np.arange(len(self.rows) + 1))
        tables = []
        for part, low, high in zip(self.rows, bounds[:-1], bounds[1:], strict=True):
            if low < high:
                tables.append(self._table(part, by_table[low:high], file))
        return Narrative.of(tables)

    def _table(self, part: Rows, places: Ints, file: str) -> ItemTable:
        row = self.row[places]
        interval = part.end is not None
        kind, form = ("fluent", "intervals") if interval else ("event", "points")
        return ItemTable.of_columns(
            TableKey(part.name, len(part.args), kind, form),  # type: ignore[arg-type]
            file,
            pa.array(places + 1, pa.int64()),
            pa.array(self.op[places], pa.int8()),
            pa.array(self.arrival[places], pa.int64()),
            pa.array(part.start[row], pa.int64()),
            pa.array(part.end[row], pa.int64()) if part.end is not None else None,
            _terms(Words(np.zeros(len(row), dtype=np.int64), ["true"])) if interval else None,
            [_terms(_take(column, row)) for column in part.args],
        )

    def write(self, path: Path) -> None:
        """The items as lines of a narrative."""
        with path.open("wb") as out:
            for begin in range(0, len(self), CHUNK):
                out.write(text_bytes(self._lines(slice(begin, begin + CHUNK))).tobytes())

    def _lines(self, span: slice) -> pa.Array:
        table, row = self.table[span], self.row[span]
        arrival, op = self.arrival[span], self.op[span]
        parts, places = [], []
        for number, part in enumerate(self.rows):
            here = np.flatnonzero(table == number)
            if len(here):
                parts.append(_text(part, row[here], arrival[here], op[here]))
                places.append(here)
        back = np.empty(len(row), dtype=np.int64)
        back[np.concatenate(places)] = np.arange(len(row))
        lines = pa.concat_arrays(parts).take(pa.array(back))
        return pc.binary_join_element_wise(lines, "", "\n")


def _text(part: Rows, row: Ints, arrival: Ints, op: Small) -> pa.Array:
    """Lines of one type."""
    name = pa.array([part.name, f"-{part.name}"]).take(pa.array((op < 0).astype(np.int8)))
    fields = [name, _strings(arrival), _strings(part.start[row])]
    if part.end is not None:
        fields += [_strings(part.end[row]), pa.repeat("true", len(row))]
    fields += [_strings(_take(column, row)) for column in part.args]
    return pc.binary_join_element_wise(*fields, "|")


def _take(column: Column, row: Ints) -> Column:
    return Words(column.codes[row], column.words) if isinstance(column, Words) else column[row]


def _terms(column: Column) -> TermColumn:
    if isinstance(column, Words):
        codes = pa.array(column.codes, pa.int32())
        words = pa.array(column.words, pa.string())
        return TermColumn("atom", pa.DictionaryArray.from_arrays(codes, words))
    kind = "float" if column.dtype.kind == "f" else "int"
    return TermColumn(kind, pa.array(column))  # type: ignore[arg-type]


def _strings(column: Column) -> pa.Array:
    if isinstance(column, Words):
        return pa.array(column.words, pa.string()).take(pa.array(column.codes))
    if column.dtype.kind == "i":
        return pa.array(column).cast(pa.string())
    # One decimal, as the generators round; Arrow would write 12.0 as 12.
    tenths = np.rint(column * 10).astype(np.int64)
    whole, rest = np.divmod(tenths, 10)
    return pc.binary_join_element_wise(_strings(whole), _strings(rest), ".")


def spread(counts: Ints) -> tuple[Ints, Ints]:
    """For counts of things per owner: the owner of each thing, and its number there from 0.

    >>> owner, number = spread(np.array([2, 0, 3]))
    >>> owner.tolist(), number.tolist()
    ([0, 0, 2, 2, 2], [0, 1, 0, 1, 2])
    """
    owner = np.repeat(np.arange(len(counts)), counts)
    number = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    return owner, number


def choose(cumulative: Floats, dice: np.random.Generator) -> Ints:
    """For each row of cumulative weights, which end at 1, a column by chance."""
    drawn = dice.random(len(cumulative))[:, None]
    chosen: Ints = (drawn >= cumulative[:, :-1]).sum(axis=1)
    return chosen


def horizons(events: int, entities: int, rate: float) -> Iterator[float]:
    """Times by which enough may have happened, at `rate` events per entity and second, and on."""
    horizon = 1.1 * events / (entities * rate) + 3600
    while True:
        yield horizon
        horizon *= 1.5


def command(
    stream: Callable[[int, int, int, Lateness], Stream],
    facts: Callable[[int], str],
    folder: Path,
    facts_name: str,
    events: int,
    entities: int,
) -> None:
    """The command line of a generator: writes the narrative and the facts that belong to it."""
    parser = argparse.ArgumentParser(description="Writes a narrative and its facts.")
    parser.add_argument("--events", type=int, default=events)
    parser.add_argument("--entities", type=int, default=entities)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--late", type=float, default=0.0, metavar="SHARE")
    parser.add_argument("--retracted", type=float, default=0.0, metavar="SHARE")
    parser.add_argument("--mean-delay", type=float, default=900.0, metavar="SECONDS")
    parser.add_argument("--folder", type=Path, default=folder, help="where the files go")
    given = parser.parse_args()
    lateness = Lateness(given.late, given.retracted, given.mean_delay)
    made = stream(given.events, given.entities, given.seed, lateness)
    made.write(given.folder / "narrative.csv")
    (given.folder / facts_name).write_text(facts(given.entities), encoding="utf-8")
    print(f"narrative.csv: {len(made)} rows; {facts_name}: {given.entities} entities")
