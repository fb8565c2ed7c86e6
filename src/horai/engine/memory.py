"""What a session keeps of a component between two queries, and how it is cut.

Up to its *cut* a component's answer is final: no item that may still arrive can change it. Of that
part only what readers may still look at is kept; the rest is worked out again at the next query.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from horai.engine.clockstate import ClockState
from horai.engine.columns import codes_of
from horai.engine.findings import Findings
from horai.engine.hashing import build, first
from horai.engine.relations import Relation
from horai.engine.simple import Held
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent, Terminations, merged, no_fluent
from horai.temporal.spans import INF, Ints, Mask, Spans

Key = tuple[str, int]
FOREVER = -(1 << 62)  # as a bound: keep everything


@dataclass(slots=True)
class Memory:
    """The state of one component at its cut."""

    cut: int
    fluents: dict[Key, Fluent] = field(default_factory=dict)
    held: dict[Key, Held] = field(default_factory=dict)
    points: dict[tuple[str, Key], Relation] = field(default_factory=dict)
    terminations: dict[Key, list[Terminations]] = field(default_factory=dict)
    # Rows that the last query looked at, for rules that speak of what is absent.
    rows: dict[int, Relation] = field(default_factory=dict)
    owners: dict[Key, Relation] = field(default_factory=dict)
    # Lists computed inside rules, as far as they reach over the cut, and all their rows.
    operands: dict[int, dict[int, tuple[Fluent, Relation]]] = field(default_factory=dict)
    clock: ClockState | None = None

    def take_rows(self, found: Findings) -> None:
        """Note whom the last query looked at; nothing has become final."""
        self.rows, self.owners = found.rows, found.owners


def ended(fluent: Fluent, cut: int, keep: int) -> Fluent:
    """The spans that were over right after the cut, as far back as they are needed."""
    spans = fluent.spans
    return only(fluent, (spans.end <= cut + 1) & (spans.end > keep))


def clipped(fluent: Fluent, cut: int, keep: int) -> Fluent:
    """The part of a fluent up to the cut, as far back as it is needed; starts stay true."""
    spans = fluent.spans
    found = only(fluent, (spans.start <= cut) & (spans.end > keep))
    end = np.minimum(found.spans.end, cut + 1)
    return Fluent(found.pairs, Spans(found.spans.key, found.spans.start, end))


def after(fluent: Fluent, cut: int, free: Mask | None = None) -> Fluent:
    """The part of a fluent after the cut; pairs that are `free` are left whole."""
    spans = fluent.spans
    start = np.maximum(spans.start, cut + 1)
    if free is not None:
        start = np.where(free[spans.key], spans.start, start)
    there = start < spans.end
    found = only(Fluent(fluent.pairs, Spans(spans.key, start, spans.end)), there)
    return found


def holding(fluent: Fluent, cut: int, symbols: Symbols) -> Held:
    """The values that hold right after the cut, each with its true start."""
    spans = fluent.spans
    rows = np.flatnonzero((spans.start <= cut + 1) & (spans.end > cut + 1))
    pair = spans.key[rows]
    *args, value = (column.take(pair) for column in fluent.pairs.columns)
    return Held(tuple(args), codes_of(value, symbols), spans.start[rows])


def since_when(held: Held, fluent: Fluent, cut: int, symbols: Symbols) -> Held:
    """Values that hold, with the starts that they have together with what items say of them."""
    whole = holding(fluent, cut, symbols)
    if not len(held) or not len(whole):
        return held
    mine, theirs = (
        [*(codes_of(column, symbols) for column in one.args), one.value] for one in (held, whole)
    )
    place = first(mine, build(theirs))
    start = np.where(place < 0, held.start, np.minimum(held.start, whole.start[place]))
    return Held(held.args, held.value, start)


def only(fluent: Fluent, mask: Mask) -> Fluent:
    """Some of the spans, with the pairs they need."""
    if mask.all():
        return fluent
    spans = fluent.spans.where(mask)
    used = np.zeros(fluent.pairs.rows, np.bool_)
    used[spans.key] = True
    if used.all():
        return Fluent(fluent.pairs, spans)
    number: Ints = np.cumsum(used) - 1
    pairs = fluent.pairs.where(np.flatnonzero(used))
    return Fluent(pairs, Spans(number[spans.key], spans.start, spans.end))


def later(points: Relation, keep: int, until: int = INF) -> Relation:
    """Points after one time and up to another."""
    time: Ints = points.columns[-1].data
    mask = (time > keep) & (time <= until)
    return points if mask.all() else points.where(mask)


def known_rows(rows: Relation, before: Relation | None, symbols: Symbols) -> Mask:
    """Which rows were there at the last query?"""
    if before is None or not before.rows or not rows.rows:
        return np.zeros(rows.rows, np.bool_)
    if not rows.columns:
        return np.ones(rows.rows, np.bool_)
    left = [codes_of(column, symbols) for column in rows.columns]
    right = [codes_of(column, symbols) for column in before.columns]
    found: Mask = first(left, build(right)) >= 0
    return found


def union(parts: list[Fluent], width: int, symbols: Symbols) -> Fluent:
    """Fluents of one name as one."""
    filled = [part for part in parts if part.pairs.rows]
    return merged(filled, symbols) if filled else no_fluent(width)
