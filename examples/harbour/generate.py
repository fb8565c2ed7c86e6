"""Writes narrative.csv: one morning around a harbour, the same every time.

Five vessels follow a script; speeds jitter a little, and one report in ten arrives late.
"""

from __future__ import annotations

import random
from pathlib import Path

TARGET = Path(__file__).parent / "narrative.csv"
EVERY = 8  # minutes between two reports of speed

Row = tuple[object, ...]


class Morning:
    """Collects the rows of all vessels."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._chance = random.Random(7)

    def event(self, kind: str, time: int, *args: object) -> None:
        """Something that happens at a minute; now and then its report is late."""
        late = self._chance.randint(1, 6) if self._chance.random() < 0.1 else 0
        self.rows.append((kind, time + late, time, *args))

    def sail(self, vessel: str, begin: int, end: int, knots: float) -> None:
        """Reports of speed from one minute to another."""
        for time in range(begin, end, EVERY):
            speed = max(0.0, knots + self._chance.uniform(-0.4, 0.4))
            self.event("velocity", time, vessel, f"{speed:.1f}")

    def visit(self, vessel: str, begin: int, end: int, area: str) -> None:
        """A stay in an area."""
        self.event("enters", begin, vessel, area)
        self.event("leaves", end, vessel, area)

    def pause(self, vessel: str, begin: int, end: int, what: str) -> None:
        """A stop or a gap in the signal."""
        self.event(f"{what}_start", begin, vessel)
        self.event(f"{what}_end", end, vessel)


def morning() -> list[Row]:
    """The rows in the order in which they arrive."""
    day = Morning()
    # The ferry is in a hurry twice: it passes the narrows at 14 knots, then at 13.
    day.visit("ferry", 5, 30, "ferry_pier")
    day.pause("ferry", 8, 28, "stop")
    day.sail("ferry", 30, 62, 9)
    day.visit("ferry", 48, 92, "narrows")
    day.sail("ferry", 62, 96, 14)
    day.sail("ferry", 96, 180, 16)
    day.visit("ferry", 180, 224, "narrows")
    day.sail("ferry", 182, 222, 13)
    day.visit("ferry", 226, 290, "ferry_pier")
    day.pause("ferry", 230, 288, "stop")
    # The seagull trawls on the south bank, going to and fro, and is home for lunch.
    day.visit("seagull", 2, 40, "old_harbour")
    day.pause("seagull", 6, 38, "gap")
    day.sail("seagull", 40, 100, 8)
    day.visit("seagull", 102, 262, "south_bank")
    day.sail("seagull", 104, 256, 3.5)
    for time in (110, 121, 133, 146, 158, 169, 200, 212, 224, 237):
        day.event("turn", time, "seagull")
    day.sail("seagull", 256, 340, 8.5)
    # The atlas waits at sea. The mole comes to it, silent on the way, and goes again.
    day.sail("atlas", 0, 64, 11)
    day.sail("atlas", 64, 250, 0.6)
    day.pause("atlas", 66, 252, "stop")
    day.sail("atlas", 250, 356, 12)
    day.visit("mole", 20, 90, "old_harbour")
    day.sail("mole", 90, 118, 9)
    day.pause("mole", 118, 164, "gap")
    day.sail("mole", 166, 174, 6)
    day.sail("mole", 174, 212, 1)
    day.sail("mole", 212, 260, 10)
    day.rows.append(("close", 215, 170, 215, "true", "atlas", "mole"))
    # The swift passes the mole in the harbour mouth, and is a little too fast once.
    day.sail("swift", 60, 100, 7)
    day.visit("swift", 96, 150, "narrows")
    day.sail("swift", 100, 116, 11.5)
    day.sail("swift", 116, 172, 8)
    day.rows.append(("close", 100, 92, 100, "true", "swift", "mole"))
    day.visit("swift", 172, 340, "old_harbour")
    day.pause("swift", 176, 330, "gap")
    return sorted(day.rows, key=lambda row: (int(str(row[1])), [str(part) for part in row]))


def main() -> None:
    """Write the file."""
    lines = ["|".join(str(part) for part in row) for row in morning()]
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{TARGET.name}: {len(lines)} rows")


if __name__ == "__main__":
    main()
