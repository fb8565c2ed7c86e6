"""How the windows of LARS are kept: by time as bounds that move, by number as ranks.

Windows by time that have a name are in the registry of `horai.lang.lars.windows`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from horai.lang.core.terms import Int
from horai.lang.lars import syntax as lars
from horai.lang.lars.clock import Duration
from horai.plan.lars.strata import ProgramPlan, readings

FAR = 1 << 61
"""As far as a window without a limit reaches."""


@dataclass(frozen=True, slots=True)
class ByTime:
    """All points from the last multiple of `low_hop`, `past` before it, to `future` after another.

    If it is fixed, from the point `past` to the point `future`. Of several patterns one has to fit.
    """

    past: int = FAR
    low_hop: int = 1
    future: int = FAR
    high_hop: int = 1
    fixed: bool = False
    patterns: tuple[lars.Pattern, ...] | None = None


@dataclass(frozen=True, slots=True)
class ByNumber:
    """The last and the next signals: of all, or for each value of the variables of patterns."""

    past: int
    future: int
    patterns: tuple[lars.Pattern, ...] | None = None


def _points(duration: Duration) -> int:
    assert duration.unit is None, "windows are measured in time points here"
    return FAR if duration.amount is None else duration.amount


def _time(window: lars.TimeWindow) -> ByTime:
    hop = 1 if window.hop is None else _points(window.hop)
    return ByTime(_points(window.past), hop, _points(window.future), hop)


def _interval(window: lars.IntervalWindow) -> ByTime:
    assert isinstance(window.first, Int) and isinstance(window.last, Int)
    return ByTime(window.first.value, 1, window.last.value, 1, fixed=True)


def _named(window: lars.NamedWindow) -> ByTime:
    bounds = window.bounds
    return ByTime(bounds.past, bounds.low_hop, bounds.future, bounds.high_hop)


def _number(window: lars.TupleWindow | lars.PartitionWindow) -> ByNumber:
    patterns = window.patterns if isinstance(window, lars.PartitionWindow) else None
    past, future = (FAR if size is None else size for size in (window.past, window.future))
    return ByNumber(past, future, patterns)


WINDOWS: dict[type[Any], Callable[[Any], ByTime | ByNumber]] = {
    type(None): lambda _: ByTime(),
    lars.TimeWindow: _time,
    lars.IntervalWindow: _interval,
    lars.FilterWindow: lambda window: ByTime(patterns=window.patterns),
    lars.NamedWindow: _named,
    lars.TupleWindow: _number,
    lars.PartitionWindow: _number,
}


def kept(window: lars.Window | None) -> ByTime | ByNumber:
    """How a window is kept; without one it is the whole timeline."""
    return WINDOWS[type(window)](window)


def reach_in_points(plan: ProgramPlan) -> int | None:
    """How many points windows over signals reach back; None if that may be to the start."""
    derived = {key for stratum in plan.strata for key in stratum.keys}
    rules = [*plan.constraints, *(rule for stratum in plan.strata for rule in stratum.rules)]
    found = 0
    for reading in (reading for rule in rules for reading, _ in readings(rule)):
        window = kept(reading.window)
        if reading.atom.predicate in derived or (
            reading.window is None and reading.modality == "now"
        ):
            continue  # what is derived rests on what other windows reach
        if isinstance(window, ByNumber) or window.fixed or window.past >= FAR:
            return None
        found = max(found, window.past + window.low_hop)
    return found
