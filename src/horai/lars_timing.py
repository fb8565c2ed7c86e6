"""When answers of a LARS program are given: by time, by change, by signals."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal as OneOf

from horai.errors import UsageError
from horai.lang.lars.clock import Clock, Duration, Incompatible, unit_named

_NUMBERED = re.compile(r"([0-9]+)\s*([a-z]+)")
_HINT = "it is time, change, signal, a number of signals (5signals) or a time (10s)"


@dataclass(frozen=True, slots=True)
class Timing:
    """`by` time points or signals, every so many of them; with `changes` only what is new."""

    by: OneOf["time", "signals"] = "time"
    number: int = 1
    changes: bool = False

    @classmethod
    def parse(cls, text: str, clock: Clock) -> Timing:
        """From what people say; a time must be a whole number of time points.

        >>> Timing.parse("10s", Clock.parse("2s")).number, Timing.parse("3signals", Clock(1, "s"))
        (5, Timing(by='signals', number=3, changes=False))
        """
        match text:
            case "time":
                return cls()
            case "change":
                return cls(changes=True)
            case "signal":
                return cls("signals")
        found = _NUMBERED.fullmatch(text)
        number, word = (int(found[1]), found[2]) if found else (0, "")
        if number > 0 and word in ("signal", "signals"):
            return cls("signals", number)
        unit = unit_named(word)
        if number < 1 or unit is None:
            raise UsageError(f"answers cannot be given every {text!r}", _HINT)
        try:
            return cls(number=clock.points(Duration(number, unit)) or 1)
        except Incompatible as wrong:
            hint = f"choose a multiple of the clock, {clock}"
            raise UsageError(f"answers cannot be given every {text}: {wrong}", hint) from None
