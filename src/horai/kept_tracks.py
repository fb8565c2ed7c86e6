"""What a stream of positions keeps of those it follows, for people who look."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from horai.io.terms import from_source
from horai.signals.state import State
from horai.spark.checkpoint import Checkpoint


def followed(found: Checkpoint) -> dict[str, int] | None:
    """How far positions are settled, and of how many entities; None if these are items."""
    tracks = found.last.tracks
    if tracks is None:
        return None
    states = list(_states(found))
    return {
        "settled": tracks.until,
        "latest": tracks.latest,
        "entities": sum(state.tracks.num_rows for state in states),
        "waiting": sum(state.waiting.num_rows for state in states),
    }


def track_of(found: Checkpoint, name: str) -> list[str]:
    """What is known of an entity: where it was last, the areas it is in, what waits."""
    lines: list[str] = []
    for state in _states(found):
        for row in _of(state.tracks, name):
            silent = ", and silent since" if row["move_silent"] else ""
            place = f"{row['move_lat']:.5f}, {row['move_lon']:.5f}"
            lines.append(f"last at {row['move_time']}{silent}: latitude and longitude {place}")
        lines += [f"in {row['area']}" for row in _of(state.inside, name)]
        lines += [f"a position of {row['time']} waits" for row in _of(state.waiting, name)]
    return lines


def _states(found: Checkpoint) -> Iterator[State]:
    assert found.last.tracks is not None
    for bucket in range(found.identity.groups):
        yield State.from_bytes(found.store.read_tracks(0, bucket, found.last.tracks.number))


def _of(table: pa.Table, name: str) -> list[dict[str, Any]]:
    """The rows about an entity, named as source text or as it is shown."""
    column = table.column("entity").cast(pa.string())
    known = [text for text in pc.unique(column).to_pylist() if name in (text, _shown(text))]
    rows: list[dict[str, Any]] = table.filter(
        pc.is_in(column, value_set=pa.array(known, pa.string()))
    ).to_pylist()
    return rows


def _shown(source: str) -> str:
    return str(from_source(source))
