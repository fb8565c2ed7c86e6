"""Commercial vehicles on the road: writes narrative.csv and vehicles.ec, or makes it in memory.

    python generate.py [--events N] [--entities N] [--seed N] [--late SHARE] [--retracted SHARE]

Each vehicle goes from leg to leg: parked, in town, in the country, on a motorway, waiting with the
engine on. It burns fuel, is filled up when parked, and now and then somebody steals some. All legs
together are turned into columns of events at once. The same seed gives the same stream.
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
    choose,
    command,
    horizons,
    spread,
)


class Leg(NamedTuple):
    """What a vehicle may do, and what it does next: weights of the legs in their order."""

    name: str
    least: int  # seconds
    most: int
    report: int  # seconds between two messages
    burns: float  # litres per hour, of a tank of 100
    then: tuple[int, ...]


LEGS = (
    Leg("parked", 600, 2400, 240, 0.0, (0, 1, 0, 0, 0)),
    Leg("urban", 300, 1200, 60, 8.0, (20, 0, 46, 26, 8)),
    Leg("rural", 600, 2400, 60, 10.0, (10, 48, 0, 36, 6)),
    Leg("motorway", 900, 4800, 60, 14.0, (8, 36, 46, 0, 10)),
    Leg("waiting", 120, 900, 90, 2.0, (0, 50, 30, 20, 0)),
)
PARKED, URBAN, WAITING = 0, 1, 4
ROADS = ("urban", "rural", "motorway")  # the legs on a road, in their order from 1 on
LEVELS = ("good", "poor")
KINDS = ("van", "truck", "coach", "truck")  # of vehicles, in turn
TANKS = {"van": 70, "truck": 400, "coach": 300}  # litres
# As in background.ec, by kind of vehicle and road.
LIMITS = {"van": (50, 90, 120), "truck": (50, 70, 85), "coach": (50, 80, 100)}

START_LEVEL = (0.3, 0.95)  # share of the tank
REFUEL_BELOW, FULL = 0.35, 0.95
THEFT, STOLEN = 0.2, 0.25  # how probable it is while parked, and the share of a tank
FUELLED = 2  # every so many messages say how much fuel there is
STATION = 0.06  # how probable it is that a message comes from near a petrol station
DIM, ICE = 0.15, 0.25  # how probable bad visibility and ice are on a leg
HARSH = {"abruptAcceleration": 0.5, "abruptBraking": 0.5, "abruptCornering": 0.4}  # per leg
RATE = 1 / 42  # events per vehicle and second, roughly


def kind_of(number: int) -> str:
    """The kind of a vehicle."""
    return KINDS[number % len(KINDS)]


def vehicles(entities: int) -> list[str]:
    """Their names, which tell the kind: `van_1`, `truck_2`, ..."""
    return [f"{kind_of(i)}_{i + 1}" for i in range(entities)]


def facts(entities: int) -> str:
    """Kind and tank of every vehicle, as rules know them."""
    names = vehicles(entities)
    kinds = [f"vehicleKind({name}, {kind_of(i)})." for i, name in enumerate(names)]
    tanks = [f"threshold({name}, fuel, {TANKS[kind_of(i)]})." for i, name in enumerate(names)]
    return "\n".join(["% Written by generate.py.", *kinds, *tanks]) + "\n"


class Legs(NamedTuple):
    """One row per leg; `before` is the kind of leg that it follows, fuel is a share of the tank."""

    vehicle: Ints
    kind: Ints
    before: Ints
    begin: Ints
    end: Ints
    fuel: Floats  # at the begin
    left: Floats  # at the end


def drive_until(horizon: float, entities: int, dice: np.random.Generator) -> Legs:
    """Legs of all vehicles: in each step every vehicle gets its next one."""
    weights = np.array([leg.then for leg in LEGS], dtype=np.float64)
    table = np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True)
    least, most = (np.array([getattr(leg, name) for leg in LEGS]) for name in ("least", "most"))
    burns = np.array([leg.burns for leg in LEGS]) / 100 / 3600
    vehicle, kind = np.arange(entities), np.full(entities, PARKED)
    clock = dice.integers(1, 1200, entities)
    fuel = dice.uniform(*START_LEVEL, entities)
    steps: list[Legs] = []
    while clock.min() < horizon:
        before, kind = kind, choose(table[kind], dice)
        lasts = dice.integers(least[kind], most[kind])
        left = np.maximum(fuel - burns[kind] * lasts, 0.02)
        parked = kind == PARKED
        left = np.where(parked & (fuel < REFUEL_BELOW), FULL, left)
        robbed = parked & (dice.random(entities) < THEFT)
        left = np.where(robbed, np.maximum(fuel - STOLEN, 0.02), left)
        steps.append(Legs(vehicle, kind, before, clock, clock + lasts, fuel, left))
        clock, fuel = clock + lasts, left
    columns = [np.concatenate(column) for column in zip(*steps, strict=True)]
    early = columns[3] < horizon
    return Legs(*(column[early] for column in columns))


class Fleet:
    """Turns legs into rows."""

    def __init__(self, legs: Legs, entities: int, dice: np.random.Generator) -> None:
        self.legs, self.dice = legs, dice
        self.names = vehicles(entities)
        self.temper = dice.gamma(4.0, 0.25, entities)
        self.limits = np.array([LIMITS[kind_of(i)] for i in range(entities)])
        self.tanks = np.array([TANKS[kind_of(i)] for i in range(entities)], dtype=np.float64)
        self.on_road = (legs.kind >= URBAN) & (legs.kind < WAITING)

    def _event(self, name: str, leg: Ints, time: Ints, *more: Column) -> Rows:
        return Rows(name, time, (Words(self.legs.vehicle[leg], self.names), *more))

    def _within(self, leg: Ints) -> Ints:
        """A time during each leg, neither at its begin nor at its end."""
        begin, end = self.legs.begin[leg], self.legs.end[leg]
        return begin + 10 + (self.dice.random(len(leg)) * (end - begin - 20)).astype(np.int64)

    def rows(self) -> list[Rows]:
        """All items, type by type."""
        return [*self.messages(), *self.engine(), self.roads(), *self.weather(), *self.harsh()]

    def messages(self) -> list[Rows]:
        """Speed, fuel and petrol stations: what a map adds has the time of the message."""
        legs, dice = self.legs, self.dice
        every = np.array([leg.report for leg in LEGS])[legs.kind]
        leg, number = spread((legs.end - legs.begin - 10) // every)
        time = legs.begin[leg] + 5 + number * every[leg] + dice.integers(0, every[leg] // 4)
        driving = np.flatnonzero(legs.kind[leg] != PARKED)
        fuelled = (number % FUELLED == 0) | (legs.kind[leg] == PARKED)
        sensed = np.flatnonzero(fuelled)
        near = np.flatnonzero(self.on_road[leg] & (dice.random(len(leg)) < STATION))
        # At a station the tracker always says how much there is.
        level = np.union1d(sensed, near)
        return [
            self._event("speed", leg[driving], time[driving], self._speed(leg[driving])),
            self._event("fuelLevel", leg[level], time[level], self._level(leg[level], time[level])),
            self._event("closeToGas", leg[near], time[near]),
        ]

    def _speed(self, leg: Ints) -> Floats:
        """Around a share of the limit that depends on driver and leg; nothing while waiting."""
        legs, dice = self.legs, self.dice
        road = np.clip(legs.kind - URBAN, 0, len(ROADS) - 1)
        limit = self.limits[legs.vehicle, road]
        share = 0.6 + 0.3 * self.temper[legs.vehicle] + dice.normal(0, 0.08, len(road))
        wobble = 1 + 0.12 * dice.standard_normal(len(leg))
        speed = np.clip((limit * share)[leg] * wobble, 4.0, 160.0)
        return np.where(self.on_road[leg], speed, 0.0).round(1)

    def _level(self, leg: Ints, time: Ints) -> Floats:
        """Litres: burnt evenly on a leg; filled up, or stolen, in the middle of one."""
        legs = self.legs
        share = (time - legs.begin[leg]) / (legs.end[leg] - legs.begin[leg])
        share = np.where(legs.kind[leg] == PARKED, share > 0.5, share)
        level = legs.fuel[leg] + share * (legs.left - legs.fuel)[leg]
        litres: Floats = (level * self.tanks[legs.vehicle[leg]]).round(1)
        return litres

    def engine(self) -> list[Rows]:
        """Drivers start the engine when they leave and stop it when they park."""
        legs = self.legs
        leave = np.flatnonzero((legs.before == PARKED) & (legs.kind != PARKED))
        park = np.flatnonzero(legs.kind == PARKED)
        return [
            self._event("engineOn", leave, legs.begin[leave]),
            self._event("engineOff", park, legs.begin[park]),
        ]

    def roads(self) -> Rows:
        """Each leg on the road begins with another kind of road."""
        leg = np.flatnonzero(self.on_road)
        kind = Words(self.legs.kind[leg] - URBAN, ROADS)
        return self._event("roadChange", leg, self.legs.begin[leg] + 1, kind)

    def weather(self) -> list[Rows]:
        """Fog that comes and goes, and icy stretches of road."""
        dim = self._some(DIM, self.on_road)
        comes = self._within(dim)
        goes = comes + self.dice.integers(120, 1200, len(dim))
        leg, time = np.concatenate([dim, dim]), np.concatenate([comes, goes])
        level = Words(np.repeat([1, 0], len(dim)), LEVELS)
        ice = self._some(ICE, self.on_road)
        start = self._within(ice)
        end = start + self.dice.integers(30, 400, len(ice))
        names = (Words(self.legs.vehicle[ice], self.names),)
        return [
            self._event("visibilityChange", leg, time, level),
            Rows("icyRoad", start, names, end),
        ]

    def harsh(self) -> list[Rows]:
        """What the accelerometer notices; some drivers make it notice more than others."""
        found = []
        for name, chance in HARSH.items():
            mean = np.where(self.on_road, chance * self.temper[self.legs.vehicle], 0.0)
            leg, _ = spread(self.dice.poisson(mean))
            found.append(self._event(name, leg, self._within(leg)))
        return found

    def _some(self, chance: float, among: Flags) -> Ints:
        return np.flatnonzero(among & (self.dice.random(len(among)) < chance))


def stream(events: int, entities: int, seed: int = 7, lateness: Lateness = NO_DELAY) -> Stream:
    """So many items of so many vehicles; retractions come on top."""
    for horizon in horizons(events, entities, RATE):
        dice = np.random.default_rng(seed)
        rows = Fleet(drive_until(horizon, entities, dice), entities, dice).rows()
        # What begins before the horizon is complete only up to there.
        if sum(int((part.known < horizon).sum()) for part in rows) >= events:
            break
    return Stream.of(rows, events, dice, lateness)


def narrative(
    events: int, entities: int, seed: int = 7, lateness: Lateness = NO_DELAY
) -> Narrative:
    """The stream as typed columns, without going through text."""
    return stream(events, entities, seed, lateness).narrative()


if __name__ == "__main__":
    command(stream, facts, HERE, "vehicles.ec", events=2000, entities=8)
