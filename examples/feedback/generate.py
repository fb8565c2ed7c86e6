"""Hosts and bacteria: writes narrative.csv and organisms.ec, or makes a narrative in memory.

    python generate.py [--events N] [--entities N] [--seed N] [--late SHARE] [--retracted SHARE]

Three organisms in four are hosts, which are exposed to an antigen now and then and sometimes get a
serum. The others are bacteria in a dish, which are looked at every few minutes, infected, starved,
fed and put into ultraviolet light. The same seed gives the same stream.
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
    Ints,
    Lateness,
    Rows,
    Stream,
    Words,
    command,
)

# Time-points from one event of an organism to the next, on average.
EVERY = {"exposure": 120, "serum": 900, "infect": 120, "uv": 180}
LOOK = 7  # bacteria are looked at in steps of this, give or take two
MEAL = 180  # a bacterium starves once in so many time-points, for half of them


class Dish(NamedTuple):
    """How many organisms of each kind there are."""

    hosts: int
    bacteria: int

    @classmethod
    def of(cls, entities: int) -> Dish:
        bacteria = max(1, entities // 4)
        return cls(max(1, entities - bacteria), bacteria)

    def rate(self) -> float:
        """Events per time-point."""
        hosts = self.hosts * (1 / EVERY["exposure"] + 1 / EVERY["serum"])
        light = 1 / EVERY["infect"] + 1 / EVERY["uv"] + 2 / MEAL
        return hosts + self.bacteria * (light + 1 / LOOK)


def by_chance(
    name: str, prefix: str, organisms: int, horizon: int, dice: np.random.Generator
) -> Rows:
    """Events of one kind, spread over all organisms and the whole time."""
    count = organisms * horizon // EVERY[name] + 1
    who: Ints = dice.integers(0, organisms, count)
    time: Ints = dice.integers(1, horizon + 1, count)
    return Rows(name, time, (Words(who, [f"{prefix}{i}" for i in range(organisms)]),))


def in_turn(
    name: str, bacteria: int, horizon: int, every: int, shift: int, dice: np.random.Generator
) -> Rows:
    """Events that every bacterium sees about every so many time-points, each at its own pace."""
    times = horizon // every + 1
    who: Ints = np.repeat(np.arange(bacteria), times)
    own: Ints = np.repeat(np.random.default_rng(bacteria).integers(0, every, bacteria), times)
    jitter = dice.integers(0, 3, len(who))
    time: Ints = np.tile(np.arange(times) * every, bacteria) + own + jitter + shift + 1
    return Rows(name, time, (Words(who, [f"b{i}" for i in range(bacteria)]),))


def stream(events: int, entities: int, seed: int = 7, lateness: Lateness = NO_DELAY) -> Stream:
    """So many events of so many organisms; retractions come on top."""
    dice = np.random.default_rng(seed)
    dish = Dish.of(entities)
    # A little too much, of which the end is cut off.
    horizon = int(1.1 * events / dish.rate()) + 2 * MEAL
    rows = [
        by_chance("exposure", "h", dish.hosts, horizon, dice),
        by_chance("serum", "h", dish.hosts, horizon, dice),
        by_chance("infect", "b", dish.bacteria, horizon, dice),
        by_chance("uv", "b", dish.bacteria, horizon, dice),
        in_turn("look", dish.bacteria, horizon, LOOK, 0, dice),
        in_turn("starve", dish.bacteria, horizon, MEAL, 0, dice),
        in_turn("feed", dish.bacteria, horizon, MEAL, MEAL // 2, dice),
    ]
    return Stream.of(rows, events, dice, lateness)


def narrative(
    events: int, entities: int, seed: int = 7, lateness: Lateness = NO_DELAY
) -> Narrative:
    """The stream as typed columns, without going through text."""
    return stream(events, entities, seed, lateness).narrative()


def facts(entities: int) -> str:
    """What organisms are like: how fast they answer, and which infections come back."""
    dish = Dish.of(entities)
    lines = ["% What the organisms are like; generate.py writes this."]
    # Suppressor cells take 72 hours and 10 more to act; slower hosts do not get over an infection.
    lines += [f"answers_within(h{i}, {30 + i * 13 % 60})." for i in range(dish.hosts)]
    lines += [f"chronic(h{i}, {200 + i * 29 % 200})." for i in range(0, dish.hosts, 6)]
    lines += [f"strain(b{i}, {9 + i * 5 % 12})." for i in range(dish.bacteria)]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    command(stream, facts, HERE, "organisms.ec", events=1000, entities=20)
