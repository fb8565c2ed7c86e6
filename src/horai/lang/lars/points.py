"""Programs with all windows measured in time points, as a clock counts them."""

from __future__ import annotations

from dataclasses import replace

from horai.lang.lars.clock import Clock, Duration
from horai.lang.lars.syntax import (
    Choice,
    Head,
    Option,
    Program,
    Rule,
    TimeWindow,
    Window,
)
from horai.lang.lars.walk import map_windows


def in_points(program: Program, clock: Clock) -> Program:
    """The program with durations turned into numbers of time points; may raise `Incompatible`."""

    def window(given: Window) -> Window:
        return counted(given, clock) if isinstance(given, TimeWindow) else given

    def head(given: Head) -> Head:
        if not isinstance(given, Choice):
            return map_windows(given, window)
        options = tuple(
            Option(o.head, tuple(map_windows(c, window) for c in o.condition), o.span)
            for o in given.options
        )
        return replace(given, options=options)

    def rule(given: Rule) -> Rule:
        changed = None if given.head is None else head(given.head)
        body = tuple(map_windows(condition, window) for condition in given.body)
        return replace(given, head=changed, body=body)

    return replace(program, rules=tuple(rule(one) for one in program.rules))


def counted(window: TimeWindow, clock: Clock) -> TimeWindow:
    """A time window in time points; may raise `Incompatible`.

    >>> counted(TimeWindow(Duration(3, "s")), Clock(500, "ms")).past
    Duration(amount=6, unit=None)
    """
    past, future = clock.points(window.past), clock.points(window.future)
    hop = None if window.hop is None else Duration(clock.points(window.hop))
    return replace(window, past=Duration(past), future=Duration(future), hop=hop)
