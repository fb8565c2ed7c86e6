"""The limits of signals: what counts as a stop, a turn, a gap, and so on."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from horai.io.times import NANOSECONDS, UNITS, Unit

MOST_POINTS = 2**31  # of a duration; more is a slip
MOST_STEPS = 100_000  # between two positions of a track


class SettingsError(ValueError):
    """A limit that makes no sense; `problem` and `hint` are for people."""

    def __init__(self, problem: str, hint: str) -> None:
        self.problem, self.hint = problem, hint
        super().__init__(f"{problem}\n  hint: {hint}")


@dataclass(frozen=True, slots=True)
class MotionLimits:
    """Limits: durations are seconds, speeds knots, distances metres, angles degrees.

    Those of critical points have the values that Patroumpas et al. (2017) give as examples: a gap
    of 10 minutes, a stop below 1 knot, slow motion below 5, a change of speed by a quarter, a turn
    by 15 degrees.
    """

    unit: Unit = "s"
    """The length of a time-point."""
    max_speed: float = 60.0
    """The speed beyond which a position cannot be right."""
    trust_after: int = 3
    """So many positions in a row that fit each other but not the ones before are believed."""
    gap_after: float = 600.0
    """Silence longer than this is a gap."""
    stop_speed: float = 1.0
    """Slower than this is a stop ..."""
    stop_time: float = 120.0
    """... if it lasts at least so long."""
    slow_speed: float = 5.0
    """Slower than this, but no stop, is slow motion ..."""
    slow_time: float = 120.0
    """... if it lasts at least so long."""
    speed_change: float = 0.25
    """A speed that differs from the one before by more than this share of it is changing ..."""
    speed_noise: float = 0.5
    """... unless the difference is no more than this."""
    turn: float = 15.0
    """A course that differs by more than this from that of the last turn is a turn."""
    close: float = 500.0
    """No farther from each other than this is close."""
    close_step: float = 60.0
    """How often distances are looked at."""
    close_piece: float = 600.0
    """Being close is told in pieces no longer than this, so that news need not wait for the end."""

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise SettingsError(f"unknown unit of time {self.unit!r}", f"use {', '.join(UNITS)}")
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name != "unit" and not (math.isfinite(value) and value >= 0):
                raise SettingsError(f"{field.name} = {value} is no limit", "use a number from 0 on")
        if self.trust_after < 1:
            raise SettingsError("trust_after = 0: nothing would ever be believed", "use 1 or more")
        if self.slow_speed < self.stop_speed:
            raise SettingsError(
                f"slow_speed ({self.slow_speed}) is below stop_speed ({self.stop_speed})",
                "what is slower than slow_speed but no stop is slow motion",
            )
        for name in ("gap_after", "close_step", "close_piece"):
            if self.points(getattr(self, name)) < 1:
                raise SettingsError(
                    f"{name} = {getattr(self, name)} s is shorter than a time-point ({self.unit})",
                    "make it longer, or time-points shorter",
                )
        if self.points(self.close_piece) % self.points(self.close_step):
            raise SettingsError(
                f"close_piece ({self.close_piece}) is no multiple of close_step "
                f"({self.close_step})",
                "use a multiple, such as ten times as long",
            )

        if self.points(self.gap_after) > MOST_STEPS * self.points(self.close_step):
            raise SettingsError(
                f"gap_after ({self.gap_after}) is more than {MOST_STEPS:,} times close_step "
                f"({self.close_step})",
                "that many places would be guessed between two positions; make close_step longer",
            )

    @property
    def seconds(self) -> float:
        """The length of a time-point in seconds."""
        return NANOSECONDS[self.unit] / 1e9

    def points(self, duration: float) -> int:
        """A duration in time-points, rounded down.

        >>> MotionLimits(unit="min").points(600.0)
        10
        """
        found = duration / self.seconds
        if found > MOST_POINTS:
            raise SettingsError(f"{duration} s is too long for time-points of 1 {self.unit}", "")
        return int(found)
