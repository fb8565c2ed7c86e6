"""What the steps of a stream did, for people and machines."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class StepReport:
    """What a step did. `waiting` is how many files of items wait for a query time.

    `seconds` are those of the clock; `engine_seconds` those that the engine was at work, in all
    buckets together. Several of these run at once.
    """

    step: int
    batch: int
    queries: int
    query: int | None
    changes: int
    dead_letters: int
    state_bytes: int
    waiting: int
    seconds: float
    engine_seconds: float
    totals: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)
