"""From positions to items: all at once, or batch after batch with the same result.

The feed says how positions are written, what is derived, and how late they may be. Between two
batches the state is small Arrow tables.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields, replace
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from horai.io.items.tables import Narrative
from horai.io.letters import DeadLetter
from horai.io.terms import SYMBOLS
from horai.signals import cleaning, motion
from horai.signals.areas import Areas, no_areas, visits
from horai.signals.cleaning import believed, clean, letters_of_cleaning, without_impossible_speeds
from horai.signals.items import in_order, items_of, narrative_of
from horai.signals.motion import EVENTS, Moves, moves
from horai.signals.positions import (
    LETTERS,
    POSITIONS,
    Floats,
    Ints,
    Positions,
    as_letters,
    coded,
    letters_about,
    numbers,
    parted,
    together,
)
from horai.signals.proximity import (
    MEETINGS,
    PAIRS,
    SAMPLES,
    close_pairs,
    in_slices,
    meetings,
    samples,
)
from horai.signals.reading import Layout
from horai.signals.settings import MotionLimits, SettingsError
from horai.temporal.spans import offsets_of

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
        for table in tables:
            table.validate(full=True)  # Arrow itself would read wherever a forged offset points
        until, last = (int(tables[0].schema.metadata[name]) for name in (UNTIL, LAST))
        return cls(until, last, *(table.replace_schema_metadata(None) for table in tables))


_TABLES = [field.name for field in fields(State)][2:]


def start() -> State:
    """Nothing is known yet."""
    schemas = (POSITIONS, TRACKS, INSIDE, SAMPLES, MEETINGS)
    return State(NEVER, NEVER, *(schema.empty_table() for schema in schemas))


class TrackMemory:
    """The tracks of some entities, as arrays that kernels change."""

    def __init__(self, tracks: pa.Table, entities: int) -> None:
        self.clean_ints: Ints = _columns(tracks, "clean_", cleaning.INTS, entities, 0)
        self.clean_floats: Floats = _columns(tracks, "clean_", cleaning.FLOATS, entities, np.nan)
        self.move_ints: Ints = _columns(tracks, "move_", motion.INTS, entities, 0)
        self.move_floats: Floats = _columns(tracks, "move_", motion.FLOATS, entities, np.nan)
        known = tracks.num_rows
        self.clean_ints[known:, 0] = NEVER
        for name in ("time", "stop_since", "slow_since"):
            self.move_ints[known:, motion.INTS.index(name)] = NEVER

    def table(self, names: pa.Array) -> pa.Table:
        """The same as a table."""
        codes = pa.array(np.arange(len(names), dtype=np.int32))
        columns = [pa.DictionaryArray.from_arrays(codes, names)]
        parts = (self.clean_ints, self.clean_floats, self.move_ints, self.move_floats)
        for part in parts:
            columns += [pa.array(np.ascontiguousarray(part[:, i])) for i in range(part.shape[1])]
        return pa.Table.from_arrays(columns, schema=TRACKS)


def _columns(
    tracks: pa.Table, prefix: str, names: tuple[str, ...], entities: int, unknown: float
) -> Any:
    """Columns of tracks side by side; what is not known of new entities is the same of all."""
    made = np.full((entities, len(names)), unknown)
    for place, name in enumerate(names):
        made[: tracks.num_rows, place] = numbers(tracks, prefix + name)
    return made


SLICE = 500_000  # samples that are compared with each other at a time


@dataclass(frozen=True)
class DerivedItems:
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
    """The items that follow from the positions of each entity alone."""

    items: list[pa.Table]
    letters: list[pa.Table]
    samples: pa.Table
    state: State
    first: int | None  # the time of the first position that is believed


@dataclass(frozen=True)
class Pipeline:
    """Cleans positions and derives items from them."""

    settings: MotionLimits = field(default_factory=MotionLimits)
    areas: Areas = field(default_factory=no_areas)

    def run(self, positions: Positions, until: int | None = None) -> DerivedItems:
        """All at once. Everything is known up to `until`, or up to the last position."""
        last = pc.max(positions.table.column("time")).as_py()
        until = until if until is not None else NEVER if last is None else last
        _, found = self._step(start(), positions, until, None)
        return found

    def step(self, state: State, positions: Positions, until: int) -> tuple[State, DerivedItems]:
        """Take in a batch; no positions at `until` or before will come any more.

        Positions of later times wait. What comes too late nevertheless becomes a letter.
        """
        until = max(until, state.until)
        return self._step(state, positions, until, until)

    def finish(self, state: State, until: int | None = None) -> DerivedItems:
        """The items that are left when no more positions come; all is known up to `until`."""
        known = max(state.last, state.until, NEVER if until is None else until)
        nothing = Positions(state.waiting.slice(0, 0), LETTERS.empty_table())
        _, found = self._step(state, nothing, known, None)
        return found

    def _step(
        self, state: State, positions: Positions, until: int, settled: int | None
    ) -> tuple[State, DerivedItems]:
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
        state = replace(state, samples=waiting, meetings=going)
        return state, DerivedItems(items, letters)

    def _meetings(
        self, samples: pa.Table, going: pa.Table, settled: int | None
    ) -> tuple[list[pa.Table], pa.Table]:
        """The pairs that are close, slice by slice of time: there may be very many."""
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
        memory = TrackMemory(state.tracks, len(names))
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
        table = pa.table([coded(sampled[0], names), *map(pa.array, sampled[1:])], schema=SAMPLES)
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
            items_of(kind, coded(who, names), when, two=coded(what, areas))
            for kind, (who, what, when) in (
                ("entersArea", found.enters),
                ("leavesArea", found.leaves),
            )
        ]
        who, what = found.inside
        return pa.table([coded(who, names), coded(what, areas)], schema=INSIDE), items


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
    return items_of("velocity", coded(entity[known], names), time[known], motion=motion)


def _critical(names: pa.Array, events: Ints) -> pa.Table:
    kinds = coded(events[:, 0], pa.array(EVENTS, pa.string()))
    return items_of(kinds, coded(events[:, 1], names), np.ascontiguousarray(events[:, 2]))


def items_of_meetings(told: pa.Table) -> pa.Table:
    """`proximity` as intervals."""
    one, two = (told.column(name).combine_chunks() for name in ("one", "two"))
    start, end = numbers(told, "start"), numbers(told, "end")
    return items_of("proximity", one, start, two=two, end=end)


def last_of_all(tracks: pa.Table) -> int:
    """Up to when the places of all who are not silent are known."""
    times = numbers(tracks, "move_time")[numbers(tracks, "move_silent") == 0]
    times = times[times != NEVER]
    return int(times.min()) if len(times) else 2**62


@dataclass(frozen=True)
class Feed:
    """Raw positions in the place of items.

    `lateness` is how far out of order positions may be, in time-points: what lies before the latest
    one by more than that is settled, and a position that comes for it after all is a dead letter.
    With 0 they come in the order of time.
    """

    pipeline: Pipeline = field(default_factory=Pipeline)
    layout: Layout = field(default_factory=Layout)
    lateness: int = 0

    def __post_init__(self) -> None:
        pipeline: object = self.pipeline  # people give what they like
        layout: object = self.layout
        lateness: object = self.lateness
        if not isinstance(pipeline, Pipeline) or not isinstance(layout, Layout):
            hint = "as in Feed(Pipeline(Settings(...), areas), Layout(...), lateness=600)"
            raise SettingsError("a feed is made of a Pipeline and a Layout", hint)
        if not isinstance(lateness, int) or lateness < 0:
            hint = "use a number of time-points from 0 on"
            raise SettingsError(f"lateness = {lateness} is no length of time", hint)
        ours, theirs = pipeline.settings.unit, layout.clock.unit
        if ours != theirs:
            hint = "give both the same unit"
            problem = f"limits have time-points of 1 {ours}, positions of 1 {theirs}"
            raise SettingsError(problem, hint)

    @property
    def hindsight(self) -> int:
        """How much later than it happens something may be told, in time-points.

        A gap is one after `gap_after`; a stop, slow motion or a piece of a meeting is known when it
        has lasted, or somebody who was silent is heard of again.
        """
        limits = self.pipeline.settings
        meeting = limits.points(limits.close_piece) + limits.points(limits.close_step)
        stops = limits.points(max(limits.stop_time, limits.slow_time))
        return limits.points(limits.gap_after) + max(meeting, stops)

    def to_dict(self) -> dict[str, Any]:
        """The identity of a feed, as plain values."""
        layout, areas = self.layout, self.pipeline.areas
        told = [*areas.sources, *(str(shape.wkt) for shape in areas.shapes)]
        return {
            "lateness": self.lateness,
            "speed_in": layout.speed_in,
            "columns": dict(layout.columns),
            "limits": asdict(self.pipeline.settings),
            "areas": blake2b("\0".join(told).encode(), digest_size=8).hexdigest(),
        }
