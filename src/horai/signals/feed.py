"""Positions as they come in: how they are written, what is derived, and how late they may be."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from typing import Any

from horai.signals.columns import Layout
from horai.signals.pipeline import Pipeline
from horai.signals.settings import SettingsError


@dataclass(frozen=True)
class Feed:
    """Raw positions in the place of items.

    `lateness` is how far out of order positions may be, in time-points: what lies before the latest
    one by more than that is settled, and a position that comes for it after all is a dead letter.
    With 0 they come in the order of time.
    """

    pipeline: Pipeline = field(default_factory=Pipeline)
    layout: Layout = field(default_factory=Layout)
    lateness: int = 0

    def __post_init__(self) -> None:
        pipeline: object = self.pipeline  # people give what they like
        layout: object = self.layout
        lateness: object = self.lateness
        if not isinstance(pipeline, Pipeline) or not isinstance(layout, Layout):
            hint = "as in Feed(Pipeline(Settings(...), areas), Layout(...), lateness=600)"
            raise SettingsError("a feed is made of a Pipeline and a Layout", hint)
        if not isinstance(lateness, int) or lateness < 0:
            hint = "use a number of time-points from 0 on"
            raise SettingsError(f"lateness = {lateness} is no length of time", hint)
        ours, theirs = pipeline.settings.unit, layout.clock.unit
        if ours != theirs:
            hint = "give both the same unit"
            problem = f"limits have time-points of 1 {ours}, positions of 1 {theirs}"
            raise SettingsError(problem, hint)

    @property
    def hindsight(self) -> int:
        """How much later than it happens something may be told, in time-points.

        A gap is one after `gap_after`; a stop, slow motion or a piece of a meeting is known when it
        has lasted, or somebody who was silent is heard of again.
        """
        limits = self.pipeline.settings
        meeting = limits.points(limits.close_piece) + limits.points(limits.close_step)
        stops = limits.points(max(limits.stop_time, limits.slow_time))
        return limits.points(limits.gap_after) + max(meeting, stops)

    def to_dict(self) -> dict[str, Any]:
        """What makes it this feed and no other, as plain values."""
        layout, areas = self.layout, self.pipeline.areas
        told = [*areas.sources, *(str(shape.wkt) for shape in areas.shapes)]
        return {
            "lateness": self.lateness,
            "speed_in": layout.speed_in,
            "columns": dict(layout.columns),
            "limits": asdict(self.pipeline.settings),
            "areas": blake2b("\0".join(told).encode(), digest_size=8).hexdigest(),
        }
