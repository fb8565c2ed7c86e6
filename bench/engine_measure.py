"""What the measurements of the engine share: streams, runs, times and tables."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import horai
from horai.engine.answer import Part
from horai.io import Narrative
from horai.io.items.tables import extent
from horai.rules import Rules
from horai.runtime.engines import AUTO, engine_named

APPLICATIONS = (
    *("maritime", "citytransport", "fleet"),
    *("netbill", "voting", "activities", "feedback"),
)
ENTITIES = 5_000
EVENTS_PER_ENTITY = 200  # where entities grow with events


@dataclass(frozen=True)
class Workload:
    """Rules and a stream in memory."""

    rules: Rules
    narrative: Narrative

    @cached_property
    def span(self) -> tuple[int, int]:
        """The first and the last time of the stream."""
        return extent(self.narrative.tables) or (0, 1)

    def run(self) -> int:
        """One window over everything, from Arrow tables to the columns of all answers: rows."""
        session = engine_named(AUTO)(
            self.rules.description,
            start=self.span[0] - 1,
            window=None,
            tick=1,
            allen_memory=None,
            predicates=self.rules.predicates,
        )
        return self.rows(session.advance(self.span[1], self.narrative.tables).part("all"))

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
