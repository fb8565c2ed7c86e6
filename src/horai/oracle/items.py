"""Items of a stream as the reference engine sees them, and what becomes of those it cannot use."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from horai.lang.terms import Term


@dataclass(frozen=True, slots=True)
class Item:
    """An event at `start` (`value` is None) or an input fluent with a value over [start, end).

    `arrival` is when it became known; a retraction takes back an equal item that arrived before.
    `tag` is the caller's own mark, given back with dropped items.
    """

    entity: Term
    value: Term | None
    start: int
    end: float
    arrival: int
    retract: bool = False
    tag: object = None


class Reason(StrEnum):
    """Why an item was not used, or not in full."""

    TOO_LATE = "too-late"
    PARTLY_TOO_LATE = "partly-too-late"
    UNKNOWN_RETRACTION = "unknown-retraction"
    OUTSIDE_RUN = "outside-run"


@dataclass(frozen=True, slots=True)
class Dropped:
    """An item that was not used, or of which a part was not."""

    item: Item
    reason: Reason
    query: int
    text: str
