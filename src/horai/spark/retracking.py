"""What is known of positions, for more groups of entities than it was written for."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from horai.signals.state import State
from horai.spark.checkpoint import Tracks
from horai.spark.hashing import combined
from horai.spark.records import packed, pick, unpacked
from horai.spark.store import Store
from horai.spark.tracks import names_of


def retrack(known: Tracks, old: Store, groups: int, new: Store, wanted: int) -> None:
    """Write what each group knows anew, for the groups that are made of it."""
    for bucket in range(groups):
        state, samples, going = (old.read_tracks(part, bucket, known.number) for part in range(3))
        for target in range(bucket, wanted, groups):
            mine = _state(State.from_bytes(state), wanted, target)
            meetings = _of(unpacked(going), ("one", "two"), wanted, target)
            new.write_tracks(0, target, known.number, mine.to_bytes())
            # A pair that is found twice is one: so all may have all places.
            new.write_tracks(1, target, known.number, samples)
            new.write_tracks(2, target, known.number, packed(meetings, False))


def _state(state: State, wanted: int, target: int) -> State:
    names = ("waiting", "tracks", "inside")
    return state.with_(
        **{name: _of(getattr(state, name), ("entity",), wanted, target) for name in names}
    )


def _of(table: pa.Table, columns: tuple[str, ...], wanted: int, target: int) -> pa.Table:
    """The rows of a group, by the names in some columns."""
    if not table.num_rows:
        return table
    hashes = [names_of(table, name) for name in columns]
    whole = hashes[0] if len(hashes) == 1 else combined(hashes, table.num_rows)
    return pick(table, np.flatnonzero(whole % np.uint64(wanted) == np.uint64(target)))
