"""People in front of a camera: writes narrative.csv and staff.ec, or makes a narrative in memory.

    python generate.py [--events N] [--entities N] [--seed N] [--late SHARE] [--retracted SHARE]

Time goes in slots. In each slot everybody is in a scene with somebody else: they pass, walk
together, meet, fight, or one of them puts a bag down. A scene is a row of columns, with the times
at which its parts begin and end. The same seed gives the same stream.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from horai.io import Narrative

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent))

from joining import joined  # noqa: E402 (the examples share these; they lie beside their folders)
from streams import (  # noqa: E402
    NO_DELAY,
    Flags,
    Ints,
    Lateness,
    Rows,
    Stream,
    Words,
    command,
)

SLOT = 160  # seconds; every scene is over by then
# How often what happens; the shares add up to 1.
SCENES = {"pass": 0.25, "move": 0.25, "meet": 0.25, "fight": 0.1, "bag": 0.15}


class Scenes:
    """So many slots with everybody in a scene each time."""

    def __init__(self, people: int, slots: int, dice: np.random.Generator) -> None:
        self.dice = dice
        self.people = people
        self.names = [f"p{i}" for i in range(people)] + [f"bag{i}" for i in range(people)]
        pairs = people // 2
        self.count = pairs * slots
        cast = dice.permuted(np.tile(np.arange(people), (slots, 1)), axis=1)
        self.one: Ints = cast[:, :pairs].ravel()
        self.two: Ints = cast[:, pairs : 2 * pairs].ravel()
        self.scene: Ints = dice.choice(len(SCENES), self.count, p=list(SCENES.values()))
        self.begin: Ints = np.repeat(np.arange(slots) * SLOT, pairs) + self._wait(2, 20)
        # Both come into view, then something begins, changes and ends, then both leave.
        self.onset: Ints = self.begin + self._wait(8, 25)
        self.turn: Ints = self.onset + self._wait(4, 30)
        self.end: Ints = self.turn + self._wait(3, 25)

    def _wait(self, least: int, most: int) -> Ints:
        waits: Ints = self.dice.integers(least, most + 1, self.count)
        return waits

    def _is(self, *scenes: str) -> Flags:
        numbers = [list(SCENES).index(name) for name in scenes]
        return np.isin(self.scene, numbers)

    def _event(self, name: str, who: Ints, time: Ints, keep: Flags) -> Rows:
        return Rows(name, time[keep], (Words(who[keep], self.names),))

    def _state(self, name: str, who: Ints, start: Ints, end: Ints, keep: Flags) -> Rows:
        return Rows(name, start[keep], (Words(who[keep], self.names),), end[keep])

    def _close(self, a: Ints, b: Ints, start: Ints, end: Ints, keep: Flags) -> Rows:
        args = (Words(a[keep], self.names), Words(b[keep], self.names))
        return Rows("close", start[keep], args, end[keep])

    def rows(self) -> list[Rows]:
        """What is seen, one kind after the other."""
        one, two, every = self.one, self.two, np.ones(self.count, dtype=np.bool_)
        late = self.begin + self._wait(0, 6)
        return [
            self._event("appear", one, self.begin, every),
            self._event("appear", two, late, every),
            self._event("disappear", one, self.end, every),
            self._event("disappear", two, self.end, every),
            *self._walks(late),
            *self._company(),
            *self._bags(),
        ]

    def _walks(self, late: Ints) -> list[Rows]:
        """Everybody walks up to the others; most walk off at the end."""
        rows = []
        for who, begin in ((self.one, self.begin), (self.two, late)):
            through = self._is("pass", "move") | (self._is("bag") & (who is self.two))
            until = np.where(through, self.end, self.onset)
            rows.append(self._state("walking", who, begin, until, np.full(self.count, True)))
            off = ~through & self._is("meet", "bag")
            rows.append(self._state("walking", who, self.turn, self.end, off))
        return rows

    def _company(self) -> list[Rows]:
        """Who is close to whom, stands, fights and runs."""
        dice, one, two = self.dice, self.one, self.two
        meet, fight = self._is("meet"), self._is("fight")
        together = self._is("move", "meet", "fight")
        # Who meets parts soon after the first step; who runs is followed to the end.
        until = np.where(meet, np.minimum(self.turn + self._wait(1, 3), self.end), self.end)
        # The same two always come in the same order.
        low, high = np.minimum(one, two), np.maximum(one, two)
        rows = [self._close(low, high, self.onset, until, together)]
        for who in (one, two):
            still = dice.random(self.count) < 0.3
            rows.append(self._state("inactive", who, self.onset, self.turn, meet & still))
            rows.append(self._state("active", who, self.onset, self.turn, meet & ~still))
            wild = dice.random(self.count) < np.where(who is one, 1.0, 0.6)
            rows.append(self._state("abrupt", who, self.onset, self.turn, fight & wild))
            rows.append(self._state("active", who, self.onset, self.turn, fight & ~wild))
            rows.append(self._state("running", who, self.turn, self.end, fight))
        return rows

    def _bags(self) -> list[Rows]:
        """Bags are put down, left, and taken away; some stay for long."""
        bag, put = self.people + self.one, self._is("bag")
        taken = self.turn + self._wait(5, 70)
        # Upstream names a person and a thing in any order.
        turned = self.dice.random(self.count) < 0.5
        return [
            self._event("appear", bag, self.onset, put),
            self._event("disappear", bag, taken, put),
            self._state("active", self.one, self.onset, self.turn, put),
            self._state("inactive", bag, self.onset, taken, put),
            self._close(self.one, bag, self.onset, self.turn, put & ~turned),
            self._close(bag, self.one, self.onset, self.turn, put & turned),
        ]


def stream(events: int, entities: int, seed: int = 7, lateness: Lateness = NO_DELAY) -> Stream:
    """So many items of so many people; retractions come on top."""
    dice = np.random.default_rng(seed)
    people = max(2, entities)
    # A scene has six rows at least; what is too much is cut off at the end.
    slots = events // (6 * (people // 2)) + 2
    return Stream.of(joined(Scenes(people, slots, dice).rows()), events, dice, lateness)


def narrative(
    events: int, entities: int, seed: int = 7, lateness: Lateness = NO_DELAY
) -> Narrative:
    """The stream as typed columns, without going through text."""
    return stream(events, entities, seed, lateness).narrative()


def facts(entities: int) -> str:
    """One person in five works there."""
    lines = [f"staff(p{i})." for i in range(0, max(2, entities), 5)]
    return "\n".join(["% Who works there; generate.py writes this.", *lines, ""])


if __name__ == "__main__":
    command(stream, facts, HERE, "staff.ec", events=1000, entities=20)
