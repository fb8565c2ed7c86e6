"""From positions to items: all at once, or batch after batch with the same result."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from horai.io.items import Narrative
from horai.io.letters import DeadLetter
from horai.signals import motion
from horai.signals.areas import Areas, no_areas, visits
from horai.signals.cleaning import (
    believed,
    clean,
    letters_of_cleaning,
    without_impossible_speeds,
)
from horai.signals.items import in_order, items_of, narrative_of
from horai.signals.letters import LETTERS, as_letters, letters_about
from horai.signals.motion import EVENTS, Moves, moves
from horai.signals.positions import Floats, Ints, Positions, numbers, parted, together
from horai.signals.proximity import PAIRS, close_pairs, meetings
from horai.signals.samples import SAMPLES, in_slices, samples
from horai.signals.settings import Settings
from horai.signals.state import INSIDE, NEVER, Memory, State, start
from horai.temporal.sorting import offsets_of

SLICE = 500_000  # samples that are compared with each other at a time


@dataclass(frozen=True)
class Signals:
    """Items that were derived, in order, and letters about positions that were not used."""

    items: pa.Table
    letters: pa.Table

    def narrative(self) -> Narrative:
        """As a stream that rules can be run over."""
        return narrative_of(self.items, self.dead_letters)

    @property
    def dead_letters(self) -> list[DeadLetter]:
        """Why positions were not used."""
        return as_letters(self.letters)


class Traced(NamedTuple):
    """What follows from the positions of each entity alone."""

    items: list[pa.Table]
    letters: list[pa.Table]
    samples: pa.Table
    state: State
    first: int | None  # the time of the first position that is believed


@dataclass(frozen=True)
class Pipeline:
    """Cleans positions and derives items from them."""

    settings: Settings = field(default_factory=Settings)
    areas: Areas = field(default_factory=no_areas)

    def run(self, positions: Positions, until: int | None = None) -> Signals:
        """All at once. Everything is known up to `until`, or up to the last position."""
        last = pc.max(positions.table.column("time")).as_py()
        until = until if until is not None else NEVER if last is None else last
        _, found = self._step(start(), positions, until, None)
        return found

    def step(self, state: State, positions: Positions, until: int) -> tuple[State, Signals]:
        """Take in a batch; no positions at `until` or before will come any more.

        Positions of later times wait. What comes too late nevertheless becomes a letter.
        """
        until = max(until, state.until)
        return self._step(state, positions, until, until)

    def finish(self, state: State, until: int | None = None) -> Signals:
        """What is left when no more positions come; all is known up to `until`."""
        known = max(state.last, state.until, NEVER if until is None else until)
        nothing = Positions(state.waiting.slice(0, 0), LETTERS.empty_table())
        _, found = self._step(state, nothing, known, None)
        return found

    def _step(
        self, state: State, positions: Positions, until: int, settled: int | None
    ) -> tuple[State, Signals]:
        traced = self.trace(state, positions.table, until)
        state = traced.state
        if settled is not None:
            settled = min(settled, last_of_all(state.tracks))
            ready, later = parted(traced.samples, numbers(traced.samples, "time") <= settled)
            waiting = together([later], SAMPLES)
        else:
            ready, waiting = traced.samples, SAMPLES.empty_table()
        told, going = self._meetings(ready, state.meetings, settled)
        items = in_order([*traced.items, *map(items_of_meetings, told)])
        letters = pa.concat_tables([positions.letters, *traced.letters])
        return state.with_(samples=waiting, meetings=going), Signals(items, letters)

    def _meetings(
        self, samples: pa.Table, going: pa.Table, settled: int | None
    ) -> tuple[list[pa.Table], pa.Table]:
        """Who is close to whom, some time after the other: of pairs there may be very many."""
        told = []
        for part, last in in_slices(samples, SLICE):
            some, going = meetings(close_pairs(part, self.settings), going, last, self.settings)
            told.append(some)
        rest, going = meetings(PAIRS.empty_table(), going, settled, self.settings)
        return [*told, rest], going

    def trace(self, state: State, positions: pa.Table, until: int) -> Traced:
        """Follow each entity up to `until`; samples are those of the state and the new ones."""
        last = pc.max(positions.column("time")).as_py()
        positions, fast = without_impossible_speeds(positions, self.settings)
        letters = [fast]
        late, positions = parted(positions, numbers(positions, "time") <= state.until)
        if late.num_rows:
            letters.append(_too_late(late, state.until))
        rows = together([state.waiting, positions])
        ready, waiting = parted(rows, numbers(rows, "time") <= until)
        entity, names = _entities(state.tracks, ready)
        memory = Memory(state.tracks, len(names))
        cleaned = clean(ready, entity, memory.clean_ints, memory.clean_floats, self.settings)
        letters += letters_of_cleaning(cleaned, self.settings)
        good, entity, fresh = believed(cleaned)
        offsets = offsets_of(entity, len(names))
        time = numbers(good, "time")
        lon, lat, speed, course, heading = (
            numbers(good, name) for name in ("lon", "lat", "speed", "course", "heading")
        )
        moved = moves(
            offsets,
            time,
            (lon, lat, speed, course),
            fresh,
            until,
            (memory.move_ints, memory.move_floats),
            self.settings,
        )
        items = [_velocities(names, entity, time, moved, heading), _critical(names, moved.events)]
        places = (lon, lat)
        inside, seen = self._visits(state.inside, names, offsets, time, places, moved)
        step = self.settings.points(self.settings.close_step)
        sampled = samples(entity, time, places, moved, step)
        table = pa.table([_of(names, sampled[0]), *map(pa.array, sampled[1:])], schema=SAMPLES)
        return Traced(
            [*items, *seen],
            letters,
            together([state.samples, table], SAMPLES),
            State(
                until,
                state.last if last is None else max(state.last, last),
                together([waiting]),
                memory.table(names),
                inside,
                SAMPLES.empty_table(),
                state.meetings,
            ),
            int(time.min()) if len(time) else None,
        )

    def _visits(
        self,
        inside: pa.Table,
        names: pa.Array,
        offsets: Ints,
        time: Ints,
        places: tuple[Floats, Floats],
        moved: Moves,
    ) -> tuple[pa.Table, list[pa.Table]]:
        areas = pa.array(self.areas.sources, pa.string())
        before = _codes(inside.column("entity"), names), _codes(inside.column("area"), areas)
        found = visits(self.areas, offsets, time, places, moved.first, before)
        items = [
            items_of(kind, _of(names, who), when, two=_of(areas, what))
            for kind, (who, what, when) in (
                ("entersArea", found.enters),
                ("leavesArea", found.leaves),
            )
        ]
        who, what = found.inside
        return pa.table([_of(names, who), _of(areas, what)], schema=INSIDE), items


def _too_late(rows: pa.Table, until: int) -> pa.Table:
    reason = f"everything up to {until} has been settled before this came"
    return letters_about(rows, reason, "late-position")


def _entities(tracks: pa.Table, ready: pa.Table) -> tuple[Ints, pa.Array]:
    """A number for each entity: those known before keep theirs, which are the first."""
    known = tracks.column("entity").cast(pa.string())
    new = ready.column("entity").cast(pa.string())
    both = pa.chunked_array([*known.chunks, *new.chunks], pa.string())
    encoded = both.combine_chunks().dictionary_encode()
    codes = np.asarray(encoded.indices).astype(np.int64)
    return codes[len(known) :], encoded.dictionary


def _of(names: pa.Array, codes: Ints) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), names)


def _codes(column: pa.ChunkedArray, names: pa.Array) -> Ints:
    found = pc.index_in(column.cast(pa.string()), value_set=names)
    return np.asarray(found.combine_chunks()).astype(np.int64)


def _velocities(
    names: pa.Array, entity: Ints, time: Ints, moved: Moves, heading: Floats
) -> pa.Table:
    """`velocity` for every position whose speed is known.

    A heading that is not known is taken to be the course, and the other way round; who stands still
    from the first position on and tells neither has 0.
    """
    course = np.where(np.isnan(moved.course), heading, moved.course)
    course = np.where(np.isnan(course), 0.0, course)
    heading = np.where(np.isnan(heading), course, heading)
    known = np.flatnonzero(~np.isnan(moved.speed))
    values = (moved.speed.round(2), course.round(1) % 360.0, heading.round(1) % 360.0)
    motion = values[0][known], values[1][known], values[2][known]
    return items_of("velocity", _of(names, entity[known]), time[known], motion=motion)


def _critical(names: pa.Array, events: Ints) -> pa.Table:
    kinds = _of(pa.array(EVENTS, pa.string()), events[:, 0])
    return items_of(kinds, _of(names, events[:, 1]), np.ascontiguousarray(events[:, 2]))


def items_of_meetings(told: pa.Table) -> pa.Table:
    """`proximity` as intervals."""
    one, two = (told.column(name).combine_chunks() for name in ("one", "two"))
    start, end = numbers(told, "start"), numbers(told, "end")
    return items_of("proximity", one, start, two=two, end=end)


def last_of_all(tracks: pa.Table) -> int:
    """Up to when the places of all who are not silent are known."""
    talks = numbers(tracks, f"move_{motion.INTS[motion.SILENT]}") == 0
    times = numbers(tracks, f"move_{motion.INTS[motion.TIME]}")[talks]
    times = times[times != NEVER]
    return int(times.min()) if len(times) else 2**62
