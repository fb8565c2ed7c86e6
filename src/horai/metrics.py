"""How late a stream was and what came of it: in numbers, per query time and for the whole run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Items by what became of them. Every item that was judged is counted in one of the fields.

    `on_time`: occurs after the query time before. `late`: occurs not after it, and was still used.
    `too_late`: given or taken back when its window had passed. `retracted`: retractions that took
    something back. `unknown_retractions`: those that found nothing. `outside_run`: lies before the
    start or after the end of the run.

    Beside these, `partly_too_late` are those used or taken back that began before their window, and
    `revised` is the number of answers that were taken back, None where it was not counted.
    """

    on_time: int = 0
    late: int = 0
    too_late: int = 0
    retracted: int = 0
    unknown_retractions: int = 0
    outside_run: int = 0
    partly_too_late: int = 0
    revised: int | None = None

    @property
    def judged(self) -> int:
        """All items of which something became."""
        used = self.on_time + self.late + self.retracted
        return used + self.too_late + self.unknown_retractions + self.outside_run

    @property
    def unused(self) -> int:
        """Items that were not used, or not in full."""
        lost = self.too_late + self.unknown_retractions + self.outside_run
        return lost + self.partly_too_late


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowMetrics(Counts):
    """The items that were judged at a query time."""

    query: int


@dataclass(frozen=True, slots=True)
class Bin:
    """How many items arrived `least` to `most` time-points after they occurred."""

    least: int
    most: int
    items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunMetrics(Counts):
    """All items of a run.

    `items` is how many were read, `waiting` those not judged yet because they lie ahead, and
    `unreadable` the rows that are none. `lateness` has the bins from 0 up to the latest item: what
    came at once or before its time, and then doubling lengths.
    """

    items: int = 0
    unreadable: int = 0
    lateness: tuple[Bin, ...] = ()

    @property
    def waiting(self) -> int:
        """Items that are not judged yet; after the end, those that were taken back before."""
        return self.items - self.judged


@dataclass(frozen=True, slots=True)
class Metrics:
    """Of a whole run, and of the windows at its query times, in their order."""

    run: RunMetrics
    windows: Sequence[WindowMetrics] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as `horai run --metrics` writes them."""
        run = asdict(self.run)
        items, bins = run.pop("items"), list(run.pop("lateness"))
        return {
            "run": {"items": items, **run, "waiting": self.run.waiting, "lateness": bins},
            "windows": [{"query": each.query, **asdict(each)} for each in self.windows],
        }
