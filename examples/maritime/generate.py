"""A fleet at sea: writes narrative.csv and fleet.ec, or makes a narrative in memory.

    python generate.py [--events N] [--entities N] [--seed N] [--late SHARE] [--retracted SHARE]

Each vessel goes from activity to activity, as is usual for its type: it sails, slows down, stops,
drifts, fishes, falls silent, or meets another. An activity is a leg with a begin and an end; all
legs together are turned into columns of events at once. The same seed gives the same stream.
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

# Types in turn, so that every four neighbours, who meet each other, are a mixed company.
TYPES = (
    *("cargo", "tug", "fishing", "tanker", "pilot", "cargo", "fishing", "passenger"),
    *("sar", "tanker", "fishing", "cargo", "tug", "pleasure", "fishing", "pilot"),
)
# The usual speed of each of them, as in background.ec.
SPEEDS = (12.5, 8.0, 8.5, 11.5, 14.0, 12.5, 8.5, 17.0, 18.0, 11.5, 8.5, 12.5, 8.0, 8.0, 8.5, 14.0)
KINDS = {"port": "nearPorts", "coast": "nearCoast", "anchorage": "anchorage", "bank": "fishing"}


class Activity(NamedTuple):
    """A kind of leg. Speeds are knots, or shares of the usual speed where `relative`."""

    name: str
    least: int  # seconds a leg lasts
    most: int
    report: int  # seconds between two reports of velocity
    slow: float
    fast: float
    relative: bool = False
    area: str = ""
    signs: str = ""  # events at begin and end: `stop`, `slow_motion`, `gap`
    turns: int = 0  # seconds between two changes of heading
    weight: int = 0  # how often vessels choose it


ACTIVITIES = (
    Activity("moor", 1800, 7200, 900, 0.0, 0.3, area="port", signs="stop", weight=8),
    Activity("sail", 1200, 5400, 360, 0.6, 1.35, relative=True, turns=2400, weight=30),
    Activity("coast", 900, 2400, 300, 0.3, 1.1, relative=True, area="coast", weight=16),
    Activity("slow", 900, 2700, 300, 0.6, 4.5, signs="slow_motion", weight=12),
    Activity("anchor", 1800, 7200, 900, 0.0, 0.3, area="anchorage", signs="stop", weight=8),
    Activity("halt", 900, 3000, 450, 0.0, 0.4, signs="stop", weight=8),
    Activity("drift", 900, 2700, 240, 0.6, 3.0, weight=10),
    Activity("silent", 1200, 5400, 0, 0.0, 0.0, signs="gap", weight=8),
    Activity("fish", 2400, 7200, 360, 1.5, 6.0, area="bank", turns=420),
    Activity("search", 1200, 4800, 300, 0.3, 0.8, relative=True, turns=360),
    Activity("tow", 900, 2700, 240, 1.8, 6.2),
)
NUMBER = {activity.name: number for number, activity in enumerate(ACTIVITIES)}
# What only some types do, in the place of some of the rest.
SPECIAL = {"fishing": ("fish", 30), "sar": ("search", 30)}
MEETING = 0.12  # how probable it is that two neighbours meet next
PASSING = 0.2  # how probable it is that a leg under way passes close to another vessel
SILENT_IN_PORT = 0.25  # how probable it is that a moored vessel switches its sender off
RATE = 1 / 310  # events per vessel and second, roughly


def vessels(entities: int) -> list[str]:
    """Their names, which tell the type: `cargo_1`, `tug_2`, ..."""
    return [f"{TYPES[i % len(TYPES)]}_{i + 1}" for i in range(entities)]


def areas(entities: int) -> list[str]:
    """Names of areas; more vessels have more of them. Kinds take turns."""
    each = max(2, entities // 50)
    return [f"{kind}_{i + 1}" for i in range(each) for kind in KINDS]


def facts(entities: int) -> str:
    """Type of every vessel and kind of every area, as rules know them."""
    types = [f"vesselType({name}, {name.split('_')[0]})." for name in vessels(entities)]
    kinds = [f"areaType({name}, {KINDS[name.split('_')[0]]})." for name in areas(entities)]
    return "\n".join(["% Written by generate.py.", *types, *kinds]) + "\n"


class Legs(NamedTuple):
    """What the fleet does, one row per leg. `other` is the vessel met, or -1."""

    vessel: Ints
    activity: Ints
    begin: Ints
    end: Ints
    other: Ints


def habits() -> Floats:
    """Cumulative weights of the next activity, by type of vessel and activity before."""
    weights = np.array([activity.weight for activity in ACTIVITIES], dtype=np.float64)
    table = np.tile(weights, (len(TYPES), len(ACTIVITIES), 1))
    for number, name in enumerate(TYPES):
        if name in SPECIAL:
            special, weight = SPECIAL[name]
            table[number, :, NUMBER[special]] = weight
    # Doing the same again would be one leg, not two, and would leave an area when entering it.
    table[:, np.arange(len(ACTIVITIES)), np.arange(len(ACTIVITIES))] = 0
    cumulative: Floats = np.cumsum(table, axis=2) / table.sum(axis=2, keepdims=True)
    return cumulative


def sail_until(horizon: float, entities: int, dice: np.random.Generator) -> Legs:
    """Legs of all vessels: in each step every vessel gets its next one."""
    table, kind = habits(), np.arange(entities) % len(TYPES)
    least = np.array([activity.least for activity in ACTIVITIES])
    most = np.array([activity.most for activity in ACTIVITIES])
    is_tug = np.array([name == "tug" for name in TYPES])[kind]
    vessel = np.arange(entities)
    clock = dice.integers(1, 1800, entities)
    activity = np.full(entities, NUMBER["silent"])
    steps: list[Legs] = []
    while clock.min() < horizon:
        activity = choose(table[kind, activity], dice)
        lasts = dice.integers(least[activity], most[activity])
        # Neighbours are the vessels of a group of four; who may meet whom changes in turn.
        other = vessel ^ (1 + len(steps) % 3)
        lower = (vessel < other) & (other < entities) & (dice.random(entities) < MEETING)
        one = np.flatnonzero(lower)
        two = other[one]
        together = np.where(
            is_tug[one] | is_tug[two],
            NUMBER["tow"],
            np.where(dice.random(len(one)) < 0.5, NUMBER["slow"], NUMBER["halt"]),
        )
        meets = np.full(entities, -1)
        meets[one], meets[two] = two, one
        activity[one] = activity[two] = together
        lasts[two] = lasts[one] = dice.integers(least[together], most[together])
        clock[one] = clock[two] = np.maximum(clock[one], clock[two])
        steps.append(Legs(vessel, activity, clock.copy(), clock + lasts, meets))
        clock = clock + lasts
    columns = [np.concatenate(column) for column in zip(*steps, strict=True)]
    early = columns[2] < horizon
    return Legs(*(column[early] for column in columns))


class Fleet:
    """Turns legs into rows."""

    def __init__(self, legs: Legs, entities: int, dice: np.random.Generator) -> None:
        self.legs, self.entities, self.dice = legs, entities, dice
        self.names, self.areas = vessels(entities), areas(entities)
        in_port = legs.activity == NUMBER["moor"]
        self.silent = in_port & (dice.random(len(in_port)) < SILENT_IN_PORT)

    def _is(self, *names: str) -> Flags:
        return np.isin(self.legs.activity, [NUMBER[name] for name in names])

    def _per_activity(self, field: str) -> Ints:
        values = np.array([getattr(activity, field) for activity in ACTIVITIES])
        return values[self.legs.activity]

    def _event(self, name: str, leg: Ints, time: Ints, *more: Column) -> Rows:
        return Rows(name, time, (Words(self.legs.vessel[leg], self.names), *more))

    def rows(self) -> list[Rows]:
        """All items, type by type."""
        return [self.velocity(), *self.stays(), *self.signs(), *self.changes(), self.proximity()]

    def velocity(self) -> Rows:
        """Reports of speed, course over ground and heading."""
        legs, dice = self.legs, self.dice
        lasts, every = legs.end - legs.begin, self._per_activity("report")
        leg, number = spread(np.where(every > 0, 1 + lasts // np.maximum(every, 1), 0))
        time = legs.begin[leg] + 20 + number * every[leg]
        # Reports come when they come: a little later each, but in order.
        time = time + dice.integers(0, np.maximum(every[leg] // 3, 1))
        share = (time - legs.begin[leg]) / lasts[leg]
        quiet = self.silent[leg] & (share > 0.35) & (share < 0.7)
        seen = np.flatnonzero((time < legs.end[leg] - 20) & ~quiet)
        leg, time = leg[seen], time[seen]
        usual = np.array(SPEEDS)[legs.vessel % len(TYPES)]
        scale = np.where(self._per_activity("relative"), usual, 1.0)
        low, high = self._per_activity("slow") * scale, self._per_activity("fast") * scale
        base = dice.uniform(low, high)[leg]
        wobble = 1 + 0.06 * dice.standard_normal(len(leg))
        speed = np.maximum(base * wobble, 0.0).round(1)
        bearing = dice.integers(0, 360, len(lasts))[leg]
        course = ((bearing + 4 * dice.standard_normal(len(leg))) % 360).round(1) % 360
        aside = np.where(self._is("drift"), dice.integers(40, 150, len(lasts)), 0)[leg]
        heading = (bearing + aside + dice.integers(-3, 4, len(leg))) % 360
        return self._event("velocity", leg, time, speed, course, heading)

    def stays(self) -> list[Rows]:
        """Entering and leaving areas."""
        kinds = list(KINDS)
        number = [kinds.index(a.area) if a.area else -1 for a in ACTIVITIES]
        leg = np.flatnonzero(np.array(number)[self.legs.activity] >= 0)
        kind = np.array(number)[self.legs.activity[leg]]
        each = len(self.areas) // len(kinds)
        area = Words(self.dice.integers(0, each, len(leg)) * len(kinds) + kind, self.areas)
        enters = self.legs.begin[leg] + self.dice.integers(0, 10, len(leg))
        leaves = self.legs.end[leg] - self.dice.integers(1, 10, len(leg))
        return [
            self._event("entersArea", leg, enters, area),
            self._event("leavesArea", leg, leaves, area),
        ]

    def signs(self) -> list[Rows]:
        """What the tracker notices at begin and end of a leg: stops, slow motion, gaps."""
        found, sign = [], self._per_activity("signs")
        for name in ("stop", "slow_motion", "gap"):
            leg = np.flatnonzero(sign == name)
            begin = self.legs.begin[leg] + self.dice.integers(12, 20, len(leg))
            end = self.legs.end[leg] - self.dice.integers(12, 20, len(leg))
            if name == "gap":
                port = np.flatnonzero(self.silent)
                lasts = (self.legs.end - self.legs.begin)[port]
                leg = np.concatenate([leg, port])
                begin = np.concatenate([begin, self.legs.begin[port] + lasts * 35 // 100])
                end = np.concatenate([end, self.legs.begin[port] + lasts * 7 // 10])
            found.append(self._event(f"{name}_start", leg, begin))
            found.append(self._event(f"{name}_end", leg, end))
        return found

    def changes(self) -> list[Rows]:
        """Changes of heading during a leg, and of speed at its begin, or during a search."""
        legs, dice, every = self.legs, self.dice, self._per_activity("turns")
        leg, number = spread(
            np.where(every > 0, (legs.end - legs.begin) // np.maximum(every, 1), 0)
        )
        time = legs.begin[leg] + number * every[leg] + dice.integers(20, every[leg] - 20)
        turned = self._event("change_in_heading", leg, time)
        moved = np.flatnonzero(self._is("sail", "coast", "slow", "tow", "search"))
        faster = np.flatnonzero((legs.activity[leg] == NUMBER["search"]) & (number % 3 == 1))
        begin = np.concatenate([legs.begin[moved] + 20, time[faster]])
        begin = begin + dice.integers(0, 20, len(begin))
        leg = np.concatenate([moved, leg[faster]])
        return [
            turned,
            self._event("change_in_speed_start", leg, begin),
            self._event("change_in_speed_end", leg, begin + dice.integers(30, 240, len(leg))),
        ]

    def proximity(self) -> Rows:
        """Intervals during which two vessels are close: meetings, and others that pass by."""
        legs, dice = self.legs, self.dice
        meeting = np.flatnonzero(legs.vessel < legs.other)
        passing = np.flatnonzero(self._is("sail", "coast") & (dice.random(len(legs.end)) < PASSING))
        one = np.concatenate([legs.vessel[meeting], legs.vessel[passing]])
        near = (legs.vessel[passing] + dice.integers(1, 9, len(passing))) % self.entities
        two = np.concatenate([legs.other[meeting], near])
        start = np.concatenate([legs.begin[meeting] + 40, legs.begin[passing] + 60])
        brief = legs.begin[passing] + dice.integers(90, 400, len(passing))
        end = np.concatenate([legs.end[meeting] - 60, brief])
        pair = np.flatnonzero(one != two)
        # The same two vessels always come in the same order.
        ordered = (np.minimum(one, two)[pair], np.maximum(one, two)[pair])
        args = tuple(Words(vessel, self.names) for vessel in ordered)
        return Rows("proximity", start[pair], args, end[pair])


def stream(events: int, entities: int, seed: int = 7, lateness: Lateness = NO_DELAY) -> Stream:
    """So many items of so many vessels; retractions come on top."""
    for horizon in horizons(events, entities, RATE):
        dice = np.random.default_rng(seed)
        rows = Fleet(sail_until(horizon, entities, dice), entities, dice).rows()
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
    command(stream, facts, HERE, "fleet.ec", events=2000, entities=16)
