"""Windows by time that have a name: `[since 1 d]`.

This is their registry: all that reads, prints, checks and runs programs goes by it. What a new one
means to the reference stands in `horai.oracle.lars.stream`, and nothing else has to change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NamedBounds:
    """Which points a window selects, given its length and the current point.

    They go from `past` before the last multiple of `low_hop` to `future` after the last multiple of
    `high_hop`; none of them is still to come.
    """

    past: int = 0
    low_hop: int = 1
    future: int = 0
    high_hop: int = 1


NAMED: dict[str, Callable[[int], NamedBounds]] = {
    "since": lambda length: NamedBounds(low_hop=length),
    "ago": lambda length: NamedBounds(past=length, future=-length),
}
"""By name: `since` goes from the last multiple of a time until now; `ago` is one point."""
