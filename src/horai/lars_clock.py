"""How long a time point of a LARS program is."""

from __future__ import annotations

from horai import parameters
from horai.errors import UsageError
from horai.lang.lars.clock import Clock

DEFAULT_CLOCK = "1s"


def clock_for(clock: str | None, unit: str | None) -> Clock:
    """The clock, which must be one unit long where times of the input have a unit."""
    if unit is None:
        return clock_of(clock or DEFAULT_CLOCK)
    found = clock_of(clock or f"1{unit}")
    if found != clock_of(f"1{unit}"):
        hint = f"with unit={unit} time points are 1 {unit} long; leave out the clock"
        raise UsageError(f"the clock {found} does not fit times in {unit}", hint)
    return found


def clock_of(text: str) -> Clock:
    """The length of a time point that a text says, or a kind error."""
    hint = "for example 500ms, 1s, 5min"
    try:
        return Clock.parse(parameters.text(text, "clock", hint))
    except UsageError:
        raise
    except ValueError as wrong:
        raise UsageError(str(wrong), hint) from None
