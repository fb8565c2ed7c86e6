"""What is remembered between two batches of positions, as small Arrow tables."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
import pyarrow as pa

from horai.io.termcolumns import SYMBOLS
from horai.signals import cleaning, motion
from horai.signals.positions import POSITIONS, Floats, Ints, numbers
from horai.signals.proximity import MEETINGS
from horai.signals.samples import SAMPLES

NEVER = -(2**63)
UNTIL = b"horai.until"
LAST = b"horai.last"

_CLEAN = [(f"clean_{n}", pa.int64()) for n in cleaning.INTS]
_CLEAN += [(f"clean_{n}", pa.float64()) for n in cleaning.FLOATS]
_MOVE = [(f"move_{n}", pa.int64()) for n in motion.INTS]
_MOVE += [(f"move_{n}", pa.float64()) for n in motion.FLOATS]
TRACKS = pa.schema([("entity", SYMBOLS), *_CLEAN, *_MOVE])
INSIDE = pa.schema([("entity", SYMBOLS), ("area", SYMBOLS)])


@dataclass(frozen=True)
class State:
    """`until`: how far all is settled. `last`: the latest time of any position, dropped ones
    included. `waiting`: positions of later times. `tracks`: a row for
    each entity. `inside`: who is in which area. `samples`: places at times at which not all are
    known. `meetings`: who may still be close to whom.
    """

    until: int
    last: int
    waiting: pa.Table
    tracks: pa.Table
    inside: pa.Table
    samples: pa.Table
    meetings: pa.Table

    def to_bytes(self) -> bytes:
        """The state as bytes, to be kept in a file."""
        sink = pa.BufferOutputStream()
        times = {UNTIL: str(self.until).encode(), LAST: str(self.last).encode()}
        for name in _TABLES:
            table: pa.Table = getattr(self, name).replace_schema_metadata(times).combine_chunks()
            with pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table)
        whole: bytes = sink.getvalue().to_pybytes()
        return whole

    @classmethod
    def from_bytes(cls, data: bytes) -> State:
        """The state that `to_bytes` wrote."""
        source = pa.BufferReader(data)
        tables = [pa.ipc.open_stream(source).read_all() for _ in _TABLES]
        until, last = (int(tables[0].schema.metadata[name]) for name in (UNTIL, LAST))
        return cls(until, last, *(table.replace_schema_metadata(None) for table in tables))

    def with_(self, **changes: pa.Table) -> State:
        """The state with some tables exchanged."""
        return replace(self, **changes)


_TABLES = [field.name for field in fields(State)][2:]


def start() -> State:
    """Nothing is known yet."""
    schemas = (POSITIONS, TRACKS, INSIDE, SAMPLES, MEETINGS)
    return State(NEVER, NEVER, *(schema.empty_table() for schema in schemas))


class Memory:
    """What is known of each of some entities, as arrays that kernels change."""

    def __init__(self, tracks: pa.Table, entities: int) -> None:
        self.clean_ints = _ints(tracks, "clean_", cleaning.INTS, entities)
        self.clean_floats = _floats(tracks, "clean_", cleaning.FLOATS, entities)
        self.move_ints = _ints(tracks, "move_", motion.INTS, entities)
        self.move_floats = _floats(tracks, "move_", motion.FLOATS, entities)
        known = tracks.num_rows
        self.clean_ints[known:, 0] = NEVER
        for place in (motion.TIME, motion.STOP_SINCE, motion.SLOW_SINCE):
            self.move_ints[known:, place] = NEVER

    def table(self, names: pa.Array) -> pa.Table:
        """The same as a table."""
        codes = pa.array(np.arange(len(names), dtype=np.int32))
        columns = [pa.DictionaryArray.from_arrays(codes, names)]
        parts = (self.clean_ints, self.clean_floats, self.move_ints, self.move_floats)
        for part in parts:
            columns += [pa.array(np.ascontiguousarray(part[:, i])) for i in range(part.shape[1])]
        return pa.Table.from_arrays(columns, schema=TRACKS)


def _ints(tracks: pa.Table, prefix: str, names: tuple[str, ...], entities: int) -> Ints:
    made = np.zeros((entities, len(names)), np.int64)
    for place, name in enumerate(names):
        made[: tracks.num_rows, place] = numbers(tracks, prefix + name)
    return made


def _floats(tracks: pa.Table, prefix: str, names: tuple[str, ...], entities: int) -> Floats:
    made = np.full((entities, len(names)), np.nan)
    for place, name in enumerate(names):
        made[: tracks.num_rows, place] = numbers(tracks, prefix + name)
    return made
