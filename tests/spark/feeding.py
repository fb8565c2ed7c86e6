"""Cases as streams: in random chunks, out of order, with rows that are taken back and come again.

What is known in the end does not depend on any of this.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from tests.spark.given_cases import Given

from horai.io import Item, TimeScale
from horai.runtime.inputs import read_input


@dataclass(frozen=True)
class Feed:
    """A case as a stream: what comes together, and how far arrivals may be out of order.

    If `in_time`, rows are out of order by no more than the stream waits for, so that it says what a
    run over the same rows says. Otherwise they come in any order, and it does not wait.
    """

    given: Given
    settings: dict[str, Any]
    chunks: list[list[str]]
    delay: int
    in_time: bool
    taken_back: int  # rows that come again
    out_of_order: int  # rows that come before one that has arrived earlier

    @property
    def rows(self) -> list[str]:
        """All rows as they come."""
        return [row for chunk in self.chunks for row in chunk]

    @property
    def forgets(self) -> bool:
        """May rows come too late?"""
        return self.given.settings.get("window") is not None and not self.in_time


class _Line(NamedTuple):
    text: str
    item: Item | None  # None for what cannot be read

    @property
    def arrival(self) -> float:
        return float("-inf") if self.item is None else self.item.arrival

    @property
    def about(self) -> str:
        """The same for a row and for one that takes it back."""
        name, _, rest = _fields(self.text)
        return f"{name.removeprefix('-')}|{rest}"


def _fields(text: str) -> tuple[str, str, str]:
    """The name, the arrival and the rest of a row."""
    name, arrival, rest = (*text.split("|", 2), "", "")[:3]
    return name, arrival, rest


def feed_of(given: Given, seed: int, *, in_time: bool, most: int) -> Feed:
    """A case as a stream of `most` chunks at most, another one for every seed."""
    dice = random.Random(f"{given.name} {seed}")
    settings = _settings(given, dice)
    own = _read(given)
    lines = _taken_back(own, settings, dice)
    delay = dice.randint(0, 2 * settings["step"]) if in_time else 0
    ordered = _jittered(lines, delay, dice) if in_time else _shuffled(lines, settings, dice)
    cuts = sorted(dice.randint(0, len(ordered)) for _ in range(dice.randint(1, most - 1)))
    chunks = [[line.text for line in ordered[a:b]] for a, b in pairwise([0, *cuts, len(ordered)])]
    again = (len(lines) - len(own)) // 2
    disorder = sum(a.arrival > b.arrival for a, b in pairwise(ordered))
    return Feed(given, settings, chunks, delay, in_time, again, disorder)


def _settings(given: Given, dice: random.Random) -> dict[str, Any]:
    """Those of the case. One that is asked only once is asked a few times, and forgets nothing."""
    settings = dict(given.settings)
    clock = TimeScale(settings.get("unit"))
    start, end = (clock.point(settings[name]) for name in ("start", "end"))
    length = end - start
    settings |= {"start": start, "end": end}
    settings.setdefault("step", settings.get("window", -(-length // dice.randint(2, 5))))
    settings.setdefault("window", dice.choice((None, length, 2 * length)))
    return settings


def _read(given: Given) -> list[_Line]:
    clock = TimeScale(given.settings.get("unit"))
    found: list[_Line] = []
    for text in given.lines:
        items = read_input([text], given.rules.schema, clock).items()
        found.append(_Line(text, next(iter(items), None)))
    return found


def _taken_back(
    lines: Sequence[_Line], settings: dict[str, Any], dice: random.Random
) -> list[_Line]:
    """Some rows are taken back and come again, as long as the window reaches back to them."""
    gone_already = {line.about for line in lines if line.text.startswith("-")}
    found: list[_Line] = []
    for line in lines:
        found.append(line)
        last = None if line.about in gone_already else _last_arrival(line, settings)
        if line.item is None or last is None or dice.random() < 0.5:
            continue
        gone = dice.randint(line.item.arrival, last)
        name, _, rest = _fields(line.text)
        for word, then in ((f"-{name}", gone), (name, dice.randint(gone, last))):
            found.append(_Line(f"{word}|{then}|{rest}", line.item._replace(arrival=then)))
    return found


def _last_arrival(line: _Line, settings: dict[str, Any]) -> int | None:
    """The last time at which a row can come and count in full, None if there is none."""
    item, start, end, step = line.item, settings["start"], settings["end"], settings["step"]
    is_number = _fields(line.text)[1].removeprefix("-").isdigit()
    if item is None or item.start <= start or not is_number:
        return None
    last, window = end, settings["window"]
    if window is not None and item.start <= end - window:
        last = start + (item.start + window - 1 - start) // step * step  # the last query to see it
    return last if item.arrival <= last else None


def _jittered(lines: Sequence[_Line], delay: int, dice: random.Random) -> list[_Line]:
    """By arrival, but for what is within the delay.

    A query time is asked when something has come that is later by more than the delay. What arrives
    up to the query time has come before that.
    """
    keyed = [(line.arrival + dice.uniform(0, delay), dice.random(), line) for line in lines]
    return [line for _, _, line in sorted(keyed, key=lambda one: one[:2])]


def _shuffled(lines: Sequence[_Line], settings: dict[str, Any], dice: random.Random) -> list[_Line]:
    """In any order, but a row comes before what takes it back, and nothing after what ends it."""
    groups: dict[str, list[_Line]] = {}
    for line in sorted(lines, key=lambda line: line.arrival):
        groups.setdefault(line.about, []).append(line)
    keyed: list[tuple[bool, float, _Line]] = []
    for some in groups.values():
        keys = sorted(dice.random() for _ in some)
        pairs = zip(some, keys, strict=True)
        keyed += [(line.arrival > settings["end"], key, line) for line, key in pairs]
    return [line for _, _, line in sorted(keyed, key=lambda one: one[:2])]
