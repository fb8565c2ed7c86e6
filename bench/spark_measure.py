"""Time, CPU and memory of a process with all that it started: Spark is several of them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

TICKS = os.sysconf("SC_CLK_TCK")


class Took(NamedTuple):
    """Seconds by the clock, seconds of CPU, and how many rows were found."""

    wall: float
    cpu: float
    rows: int


def family() -> float:
    """Seconds of CPU of this process and all that it started, directly or not."""
    parents: dict[int, int] = {}
    used: dict[int, float] = {}
    for number, fields in _processes():
        parents[number] = int(fields[1])
        # Its own, and that of children which are over.
        used[number] = sum(map(int, fields[11:15])) / TICKS
    return sum(seconds for pid, seconds in used.items() if _is_ours(pid, parents))


def _is_ours(pid: int, parents: dict[int, int]) -> bool:
    while pid > 1:
        if pid == os.getpid():
            return True
        pid = parents.get(pid, 0)
    return False


def resident(process: str = "self") -> int:
    """Bytes of memory that a process has now, this one if none is named."""
    pages = int(Path("/proc", process, "statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def resident_java() -> int:
    """The same for the Java that this process has started."""
    parents = {number: int(fields[1]) for number, fields in _processes()}
    ours = [number for number in parents if _is_ours(number, parents)]
    return sum(resident(str(n)) for n in ours if "java" in Path(f"/proc/{n}/comm").read_text())


def _processes() -> Iterator[tuple[int, list[str]]]:
    """All processes, and what there is to know of each."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):  # it is over
                yield int(entry.name), (entry / "stat").read_text().rpartition(")")[2].split()


def took(job: Callable[[], int], runs: int) -> Took:
    """The best of some runs, after one that does not count."""
    job()
    found: list[Took] = []
    for _ in range(runs):
        cpu, began = family(), time.perf_counter()
        rows = job()
        found.append(Took(time.perf_counter() - began, family() - cpu, rows))
    return min(found, key=lambda one: one.cpu)
