"""Buses and trams of a city: writes narrative.csv and vehicles.ec, or makes a narrative in memory.

    python generate.py [--events N] [--entities N] [--seed N] [--late SHARE] [--retracted SHARE]

Each vehicle drives from stop to stop. Its delay grows and shrinks, its driver is calm or not, it is
full in the rush hours and cold or warm with the weather. A trip between two stops is one row of a
table, and all trips together are turned into columns of events at once. The same seed gives the
same stream.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from horai.io import Narrative

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent))

from streams import (  # noqa: E402 (the examples share it; it lies beside their folders)
    NO_DELAY,
    Column,
    Flags,
    Floats,
    Ints,
    Lateness,
    Rows,
    Stream,
    Words,
    command,
    horizons,
)

TRIP = (90, 420)  # seconds from stop to stop
DWELL = (15, 75)  # seconds at a stop, as a rule
HELD_UP = 0.03  # how probable it is that it takes minutes instead
KEPT = 0.85  # how much of a delay is left at the next stop
EARLY, LATE = -60, 120  # seconds: what counts as off schedule
DAY, WARMING = 86_400, 7_200
START = 6  # o'clock when the stream begins
RATE = 1 / 65  # events per vehicle and second, roughly

STATUS = ("early", "scheduled", "late")
LEVELS = ("low", "normal", "high")
HEAT = ("very_cold", "cold", "normal", "warm", "very_warm")


class Manoeuvre(NamedTuple):
    """How a driver may shake the vehicle: when on a trip, how often, and how strongly."""

    name: str
    begin: float  # as a share of the trip
    end: float
    chance: float  # for a driver of average temper
    degrees: tuple[str, str]


MANOEUVRES = (
    Manoeuvre("abrupt_acceleration", 0.02, 0.3, 0.25, ("abrupt", "very_abrupt")),
    Manoeuvre("sharp_turn", 0.35, 0.6, 0.3, ("sharp", "very_sharp")),
    Manoeuvre("abrupt_deceleration", 0.65, 0.95, 0.25, ("abrupt", "very_abrupt")),
)


def vehicles(entities: int) -> list[str]:
    """Their names, which tell the kind: every fourth is a tram."""
    return [f"{'tram' if i % 4 == 3 else 'bus'}_{i + 1}" for i in range(entities)]


def facts(entities: int) -> str:
    """The kind of every vehicle, as rules know it."""
    kinds = [f"vehicle({name}, {name.split('_')[0]})." for name in vehicles(entities)]
    return "\n".join(["% Written by generate.py.", *kinds]) + "\n"


class Trips(NamedTuple):
    """One row per trip: it leaves a stop, enters the next one, and leaves again; so late it is."""

    vehicle: Ints
    number: Ints
    leave: Ints
    enter: Ints
    again: Ints
    left_late: Floats
    late: Floats


def drive_until(horizon: float, entities: int, dice: np.random.Generator) -> Trips:
    """Trips of all vehicles, as many each."""
    pause = (DWELL[0] + DWELL[1]) / 2 + HELD_UP * 240
    many = int(1.2 * horizon / (sum(TRIP) / 2 + pause)) + 20
    shape = (many, entities)
    lasts = dice.integers(*TRIP, shape)
    held_up = np.where(dice.random(shape) < HELD_UP, dice.integers(120, 600, shape), 0)
    stays = dice.integers(*DWELL, shape) + held_up
    # Traffic adds to the delay, the timetable has slack that takes most of it away again.
    pushes = dice.normal(5, 45, shape) + held_up * 0.8
    late = np.zeros(shape)
    for trip in range(1, many):
        late[trip] = KEPT * late[trip - 1] + pushes[trip - 1]
    left_late = np.vstack([np.zeros((1, entities)), late[:-1] + dice.normal(0, 10, late[1:].shape)])
    rounds = np.cumsum(lasts + stays, axis=0)
    begin = dice.integers(1, 600, entities)
    leave = begin + np.vstack([np.zeros((1, entities), dtype=np.int64), rounds[:-1]])
    enter = leave + lasts
    number, vehicle = np.indices(shape, dtype=np.int64)
    return Trips(
        vehicle.ravel(),
        number.ravel(),
        leave.ravel(),
        enter.ravel(),
        (enter + stays).ravel(),
        left_late.ravel(),
        late.ravel(),
    )


class City:
    """Turns trips into rows."""

    def __init__(self, trips: Trips, entities: int, dice: np.random.Generator) -> None:
        self.trips, self.dice = trips, dice
        self.names = vehicles(entities)
        self.is_tram = (np.arange(entities) % 4 == 3).astype(np.int64)
        # Vehicles of a line of eight serve the same stops.
        self.stops = [f"stop_{i + 1}" for i in range(40 * (1 + (entities - 1) // 8))]
        self.temper = dice.gamma(2.0, 0.5, entities)
        # The weather differs a little from vehicle to vehicle.
        self.phase = dice.integers(0, WARMING, entities)

    def _event(self, name: str, trip: Ints, time: Ints, *more: Column) -> Rows:
        vehicle = self.trips.vehicle[trip]
        kind = Words(self.is_tram[vehicle], ("bus", "tram"))
        return Rows(name, time, (Words(vehicle, self.names), kind, *more))

    def rows(self) -> list[Rows]:
        """All items, type by type."""
        shaken = [rows for manoeuvre in MANOEUVRES for rows in self.manoeuvre(manoeuvre)]
        return [*self.visits(), *shaken, self.density(), self.noise(), self.temperature()]

    def visits(self) -> list[Rows]:
        """Entering and leaving stops, early, as scheduled or late."""
        trips, every = self.trips, np.arange(len(self.trips.leave))
        line = trips.vehicle // 8 * 40
        found = []
        for name, time, place, late in (
            ("stop_leave", trips.leave, trips.number, trips.left_late),
            ("stop_enter", trips.enter, trips.number + 1, trips.late),
        ):
            stop = Words(line + (place + 7 * trips.vehicle) % 40, self.stops)
            status = (late > EARLY).astype(np.int64) + (late > LATE)
            found.append(self._event(name, every, time, stop, Words(status, STATUS)))
        return found

    def manoeuvre(self, kind: Manoeuvre) -> list[Rows]:
        """Begin and end of the manoeuvres of one kind."""
        trips, dice = self.trips, self.dice
        # Who is late, drives harder.
        hurry = self.temper[trips.vehicle] * (1 + np.clip(trips.left_late / 300, 0, 1))
        trip = np.flatnonzero(dice.random(len(hurry)) < kind.chance * hurry)
        hard = dice.random(len(trip)) < 0.15 * hurry[trip]
        degree = Words(hard.astype(np.int64), kind.degrees)
        lasts = trips.enter[trip] - trips.leave[trip]
        begin = trips.leave[trip] + (lasts * dice.uniform(kind.begin, kind.end, len(trip)))
        start = begin.astype(np.int64)
        # A manoeuvre is over before the next one can begin, and before the stop.
        end = start + np.minimum(dice.integers(2, 9, len(trip)), lasts // 30)
        return [
            self._event(f"{kind.name}_start", trip, start, degree),
            self._event(f"{kind.name}_end", trip, end, degree),
        ]

    def _changed(self, level: Ints) -> Flags:
        """Trips on which a level differs from the one on the trip before of the same vehicle."""
        table = level.reshape(-1, len(self.names))
        differs = np.ones(table.shape, dtype=np.bool_)
        differs[1:] = table[1:] != table[:-1]
        return differs.ravel()

    def _report(self, name: str, level: Ints, words: tuple[str, ...]) -> Rows:
        """Changes are reported while the vehicle is at the stop."""
        trip = np.flatnonzero(self._changed(level))
        stays = self.trips.again[trip] - self.trips.enter[trip]
        time = self.trips.enter[trip] + self.dice.integers(1, stays)
        return self._event(name, trip, time, Words(level[trip], words))

    def _smooth(self, noise: Floats) -> Floats:
        """The mean of three trips of a vehicle, so that levels last for some stops."""
        table = noise.reshape(-1, len(self.names))
        before = np.vstack([table[:1], table[:-1]])
        after = np.vstack([table[1:], table[-1:]])
        mean: Floats = (before + table + after).ravel() / 3
        return mean

    def density(self) -> Rows:
        """Vehicles are full in the morning and in the afternoon."""
        hour = (self.trips.enter % DAY / 3600 + START) % 24
        rush = np.exp(-((hour - 8) ** 2) / 2) + np.exp(-((hour - 17) ** 2) / 4)
        load = rush + self._smooth(self.dice.normal(0.4, 0.6, len(hour)))
        level = (load > 0.35).astype(np.int64) + (load > 0.8)
        return self._report("passenger_density_change", level, LEVELS)

    def noise(self) -> Rows:
        """Noise comes and goes."""
        loud = self._smooth(self.dice.normal(0, 1, len(self.trips.enter)))
        level = (loud > -0.5).astype(np.int64) + (loud > 0.6)
        return self._report("noise_level_change", level, LEVELS)

    def temperature(self) -> Rows:
        """Heating and sun follow each other in the course of hours."""
        turn = 2 * np.pi * (self.trips.enter + self.phase[self.trips.vehicle]) / WARMING
        heat = 2 + 2.2 * np.sin(turn) + self.dice.normal(0, 0.2, len(turn))
        level = np.clip(np.rint(heat), 0, 4).astype(np.int64)
        return self._report("internal_temperature_change", level, HEAT)


def stream(events: int, entities: int, seed: int = 7, lateness: Lateness = NO_DELAY) -> Stream:
    """So many items of so many vehicles; retractions come on top."""
    for horizon in horizons(events, entities, RATE):
        dice = np.random.default_rng(seed)
        rows = City(drive_until(horizon, entities, dice), entities, dice).rows()
        # All vehicles have as many trips; after the horizon some may have run out of them.
        if sum(int((part.start < horizon).sum()) for part in rows) >= events:
            break
    return Stream.of(rows, events, dice, lateness)


def narrative(
    events: int, entities: int, seed: int = 7, lateness: Lateness = NO_DELAY
) -> Narrative:
    """The stream as typed columns, without going through text."""
    return stream(events, entities, seed, lateness).narrative()


if __name__ == "__main__":
    command(stream, facts, HERE, "vehicles.ec", events=2000, entities=8)
