"""Committees at work: writes narrative.csv and committees.ec, or makes a narrative in memory.

    python generate.py [--events N] [--entities N] [--seed N] [--late SHARE] [--retracted SHARE]

Every motion comes up again and again. Each time is a row of columns: who proposes, who seconds, how
everybody votes, when the chair closes the ballot and what he declares. Most of it is in order; some
people vote twice, or in a committee that is not theirs, and some chairs are hasty, wrong or
forgetful. The same seed gives the same stream.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

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

VOTES = ("nay", "aye")
OUTCOMES = ("not_carried", "carried")
SIZE = 8  # members of a committee, the chair among them
MOTIONS = 3  # motions of a committee
ROUND = 90  # minutes until a motion comes up again; the rules need 65 at most
BALLOT = 30  # minutes until a ballot closes by itself


class Parliament(NamedTuple):
    """Committees of the same size; agents that are left over belong to none."""

    agents: int
    size: int
    committees: int

    @classmethod
    def of(cls, entities: int) -> Parliament:
        agents = max(2, entities)
        size = min(SIZE, agents)
        return cls(agents, size, agents // size)


class Rounds:
    """Motions that come up so many times each."""

    def __init__(self, parliament: Parliament, times: int, dice: np.random.Generator) -> None:
        self.parliament = parliament
        self.dice = dice
        motions = parliament.committees * MOTIONS
        self.count = motions * times
        self.agents = [f"a{i}" for i in range(parliament.agents)]
        self.motions = [f"m{i}" for i in range(motions)]
        self.motion: Ints = np.tile(np.arange(motions), times)
        offset = dice.integers(3, ROUND, motions)
        begin = np.repeat(np.arange(times) * ROUND, motions) + np.tile(offset, times)
        self.begin: Ints = begin + dice.integers(0, 10, self.count)
        # The members of a committee have consecutive numbers, and the first one has the chair.
        self.chair: Ints = self.motion // MOTIONS * parliament.size

    def _chance(self, share: float) -> Flags:
        return self.dice.random(self.count) < share

    def _wait(self, least: int, most: int) -> Ints:
        waits: Ints = self.dice.integers(least, most + 1, self.count)
        return waits

    def _rows(
        self, name: str, at: Ints, time: Ints, agent: Ints, word: Words | None = None
    ) -> Rows:
        """Actions in the rounds numbered by `at`; the other columns are as long as `at`."""
        who = (Words(agent, self.agents), Words(self.motion[at], self.motions))
        return Rows(name, time, who if word is None else (*who, word))

    def rows(self) -> list[Rows]:
        """All actions, one kind after the other."""
        size, chair = self.parliament.size, self.chair
        first = self._wait(0, size - 1)
        other = (first + self._wait(1, size - 1)) % size
        proposer = chair + first
        # Some second their own motion, which does not count, and some motions nobody wants.
        wanted = self._chance(0.92)
        own = self._chance(0.04)
        seconded = self.begin + self._wait(1, 15)
        seconder = np.where(own, proposer, chair + other)
        opened = np.flatnonzero(wanted & ~own)
        every = np.arange(self.count)
        asked = np.flatnonzero(wanted)
        strange = np.flatnonzero(self._chance(0.02))
        guest = (chair[strange] + self.dice.integers(0, self.parliament.agents, len(strange))) % (
            self.parliament.agents
        )
        return [
            # Mostly people of other committees, who have no power here.
            self._rows("propose", strange, self.begin[strange] - 2, guest),
            self._rows("propose", every, self.begin, proposer),
            self._rows("second", asked, seconded[asked], seconder[asked]),
            *self._ballots(opened, seconded[opened]),
        ]

    def _ballots(self, opened: Ints, begin: Ints) -> list[Rows]:
        """Votes, closing and declaration of the rounds that get so far."""
        dice, size, chair = self.dice, self.parliament.size, self.chair[opened]
        count = len(opened)
        fate = dice.random(count)  # of the closing: hasty, in order, or left to the clock
        wait = np.where(fate < 0.08, dice.integers(3, 10, count), dice.integers(12, 29, count))
        closes = fate < 0.8
        closed = begin + np.where(closes, wait, BALLOT)

        # Ten votes in a hundred or so come after the end.
        mood = dice.uniform(0.2, 0.8, count)[:, None]
        voice = (dice.random((count, size)) < mood).astype(np.int64)
        spent = (dice.random((count, size)) * 1.1 * (closed - begin)[:, None]).astype(np.int64)
        time = begin[:, None] + 1 + spent
        votes = dice.random((count, size)) < 0.85
        twice = votes & (dice.random((count, size)) < 0.03)
        later = time + 1 + dice.integers(0, 6, (count, size))

        valid = np.where(votes & (time < closed[:, None]), 2 * voice - 1, 0)
        valid = np.where(twice & (later < closed[:, None]), 1 - 2 * voice, valid)
        right = (valid.sum(axis=1) > 0).astype(np.int64)
        said = np.where(dice.random(count) < 0.04, 1 - right, right)
        declares = np.flatnonzero(dice.random(count) < 0.95)
        declared = closed + dice.integers(1, 11, count)

        ones, seats = np.nonzero(votes)
        again, chairs = np.nonzero(twice)
        strange = np.flatnonzero(dice.random(count) < 0.02)
        guest = (chair[strange] + size) % self.parliament.agents
        ends = np.flatnonzero(closes)
        return [
            self._votes(opened[ones], time[votes], chair[ones] + seats, voice[votes]),
            self._votes(opened[again], later[twice], chair[again] + chairs, 1 - voice[twice]),
            self._votes(opened[strange], begin[strange] + 2, guest, right[strange]),
            self._rows("close_ballot", opened[ends], closed[ends], chair[ends]),
            self._rows(
                "declare",
                opened[declares],
                declared[declares],
                chair[declares],
                Words(said[declares], OUTCOMES),
            ),
        ]

    def _votes(self, at: Ints, time: Ints, agent: Ints, vote: Ints) -> Rows:
        return self._rows("vote", at, time, agent, Words(vote, VOTES))


def stream(events: int, entities: int, seed: int = 7, lateness: Lateness = NO_DELAY) -> Stream:
    """So many actions of so many agents; retractions come on top."""
    dice = np.random.default_rng(seed)
    parliament = Parliament.of(entities)
    # A round has about ten actions, with small committees at least three; the rest is cut off.
    a_round = 1 + parliament.size * 0.6
    times = int(events / a_round) // (parliament.committees * MOTIONS) + 2
    return Stream.of(joined(Rounds(parliament, times, dice).rows()), events, dice, lateness)


def narrative(
    events: int, entities: int, seed: int = 7, lateness: Lateness = NO_DELAY
) -> Narrative:
    """The stream as typed columns, without going through text."""
    return stream(events, entities, seed, lateness).narrative()


def facts(entities: int) -> str:
    """Committees, their members and their motions."""
    parliament = Parliament.of(entities)
    lines = ["% Committees, members and motions; generate.py writes this."]
    for committee in range(parliament.committees):
        first = committee * parliament.size
        lines.append(f"chair_of(a{first}, k{committee}).")
        lines += [f"member_of(a{first + i}, k{committee})." for i in range(parliament.size)]
        lines += [f"motion(m{committee * MOTIONS + i}, k{committee})." for i in range(MOTIONS)]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    command(stream, facts, HERE, "committees.ec", events=1000, entities=24)
