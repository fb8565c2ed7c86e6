"""What a run cost: runs, rows and seconds of every rule and component."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

from horai.plan.program import Plan


@dataclass(slots=True)
class Stats:
    """How often something ran, over how many rows and for how long, what is inside included."""

    calls: int = 0
    rows_in: int = 0
    rows_out: int = 0
    seconds: float = 0.0

    def add(self, rows_in: int, rows_out: int, seconds: float) -> None:
        """One more call."""
        self.calls += 1
        self.rows_in += rows_in
        self.rows_out += rows_out
        self.seconds += seconds


@dataclass(slots=True)
class Profile:
    """Filled in while a session runs. Rules and components are known by `id`."""

    program: Plan | None = None
    rules: dict[int, Stats] = field(default_factory=dict)
    components: dict[int, Stats] = field(default_factory=dict)
    queries: int = 0
    seconds: float = 0.0

    @contextmanager
    def query(self) -> Iterator[None]:
        """The time inside is that of one query."""
        began = perf_counter()
        yield
        self.queries += 1
        self.seconds += perf_counter() - began
