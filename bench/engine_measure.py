"""What the measurements of the engine share: streams, runs, times and tables."""

from __future__ import annotations

import gc
import importlib
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import horai
from horai.engine.answer import Part
from horai.io import Narrative
from horai.io.items.tables import by_arrival, extent
from horai.rules import Rules
from horai.runtime.engines import engine_named

APPLICATIONS = (
    *("maritime", "citytransport", "fleet"),
    *("netbill", "voting", "activities", "feedback"),
)
ENTITIES = 5_000
EVENTS_PER_ENTITY = 200  # where entities grow with events


@dataclass(frozen=True)
class Options:
    """How much is measured."""

    events: int = 1_000_000
    runs: int = 3
    budget: float = 60.0  # CPU seconds that one run may be expected to take
    applications: tuple[str, ...] = APPLICATIONS
    chains: tuple[int, ...] = (1_000, 10_000, 100_000)
    factors: tuple[float, ...] = (0.1, 1, 10)  # of the events, for linearity
    small: int = 2_000  # events, for the reference engine
    windows: int = 100


@dataclass(frozen=True)
class Workload:
    """Rules and a stream in memory."""

    rules: Rules
    narrative: Narrative

    @cached_property
    def span(self) -> tuple[int, int]:
        """The first and the last time of the stream."""
        return extent(self.narrative.tables) or (0, 1)

    def run(self, engine: str = "columnar") -> int:
        """One window over everything, from Arrow tables to the columns of all answers: rows."""
        session = engine_named(engine)(
            self.rules.description,
            start=self.span[0] - 1,
            window=None,
            tick=1,
            allen_memory=None,
            predicates=self.rules.predicates,
        )
        return self.rows(session.advance(self.span[1], self.narrative.tables).part("all"))

    def run_windows(self, window: int, step: int) -> int:
        """Windows that overlap, with what is new at each query time: rows."""
        first, last = self.span
        queries = [*range(first - 1 + step, last, step), last]
        session = self.rules.session(
            start=first - 1, window=window, answers="changelog", engine="columnar"
        )
        rows = 0
        for query, tables in zip(queries, by_arrival(self.narrative.tables, queries), strict=True):
            raw = session.take(query, tables).raw
            rows += self.rows(raw.part("new")) + self.rows(raw.part("gone"))
        return rows

    def rows(self, part: Part) -> int:
        """How many intervals and events of output there are."""
        output = self.rules.is_output
        spans = [len(t.start) for t in part.fluents if output(t.name, len(t.args), True)]
        return sum(spans) + sum(
            len(t.time) for t in part.events if output(t.name, len(t.args), False)
        )


def workload(name: str, events: int, entities: int) -> Workload:
    """A stream of an application."""
    made = importlib.import_module(f"generators.{name}")
    return Workload(horai.loads(*made.rules(entities)), made.narrative(events, entities))


def cpu(job: Callable[[], object], runs: int, budget: float = float("inf")) -> float:
    """The least CPU time of some runs; a run beyond the budget is not repeated."""
    best = float("inf")
    for _ in range(runs):
        gc.collect()
        begin = time.process_time()
        job()
        best = min(best, time.process_time() - begin)
        if best > budget:
            break
    return best


@dataclass
class Table:
    """Rows of text under a title, printed as they come and kept for comparison."""

    title: str
    heads: Sequence[str]
    width: int = 16
    rows: list[Sequence[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        print(f"\n{self.title}", flush=True)
        self._print(self.heads)

    def add(self, *cells: str) -> None:
        """Print a row."""
        self.rows.append(cells)
        self._print(cells)

    def _print(self, cells: Iterable[str]) -> None:
        first, *others = cells
        print(f"{first:<28}" + "".join(f"{cell:>{self.width}}" for cell in others), flush=True)
