"""Write two minutes of a router and its neighbours, the same every time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

POINTS = 120
NODES, ITEMS, LEVELS = 4, 3, 5


def alpha(time: int) -> int:
    """A new episode comes out at 10, interest fades at 55 and is gone at 85."""
    return 12 if time < 10 else 19 if time < 55 else 14 if time < 85 else 8


def rows(random: Random) -> Iterator[tuple[object, ...]]:
    """What happens at each second."""
    quality = [random.randint(1, LEVELS) for _ in range(NODES)]
    for time in range(POINTS):
        yield "alpha", time, time, alpha(time)
        for node in range(NODES):
            if random.random() < 0.2:
                step = random.choice((-1, 1))
                moved = quality[node] + step
                quality[node] = moved if 1 <= moved <= LEVELS else quality[node] - step
                yield "qual", time, time, node + 1, quality[node]
            if random.random() < 0.1:
                yield "cache", time, time, random.randint(1, ITEMS), node + 1
        if random.random() < 0.15:
            late = random.choice((0, 0, 3))  # some requests are told late
            yield "req", time + late, time, random.randint(1, ITEMS), random.randint(1, NODES)
        if time in (30, 95):
            yield "flood_begins", time, time
        if time in (70, 110):
            yield "flood_ends", time, time


def files() -> dict[str, str]:
    """The text of each file: what the router tells of itself, and what it hears of content."""
    texts = {"router.csv": "", "content.csv": ""}
    for row in rows(Random(7)):
        name = "content.csv" if row[0] in ("qual", "cache", "req") else "router.csv"
        texts[name] += "|".join(map(str, row)) + "\n"
    return texts


if __name__ == "__main__":
    for name, text in files().items():
        Path(__file__).with_name(name).write_text(text, encoding="utf-8")
