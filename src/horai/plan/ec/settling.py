"""How a component is settled: all at once, or in the order of time."""

from __future__ import annotations

from typing import Literal as OneOf

from horai.plan.program import Stratum

Strategy = OneOf["lists", "points", "plain", "time"]
WORDS: dict[Strategy, str] = {
    "lists": "interval lists",
    "points": "points in time",
    "plain": "plain inertia",
    "time": "in the order of time",
}


def settling(stratum: Stratum) -> Strategy:
    """The strategy for a component."""
    if not stratum.points and not stratum.initially and not stratum.delays:
        return "lists"
    if not stratum.delays and all(plan.split is None for plan in stratum.points):
        return "plain" if stratum.fluents else "points"
    return "time"
