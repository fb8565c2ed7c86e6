"""What a session keeps of a component between two queries, and how it is cut.

Up to its *cut* a component's answer is final: no item that may still arrive can change it. Of that
part only what readers may still look at is kept; the rest is worked out again at the next query.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from horai.engine.clockstate import ClockState
from horai.engine.columns import codes_of
from horai.engine.findings import Findings
from horai.engine.hashing import build, first
from horai.engine.relations import Relation, different, joined
from horai.engine.simple import Held
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent, Terminations, merged, no_fluent
from horai.plan.ec.reach import Source
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


Keep = Callable[[Source], int]


class KnownPairs:
    """Pairs whose spans have been forgotten: complements still speak of them."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self.wanted: frozenset[Key] = frozenset()
        self.pairs: dict[Key, Relation] = {}

    def add(self, key: Key, pairs: Relation) -> None:
        """Note pairs that are about to be forgotten, if anyone will ask for them."""
        if key in self.wanted and pairs.rows:
            before = [self.pairs[key]] if key in self.pairs else []
            self.pairs[key] = different(joined([*before, pairs], self.symbols), self.symbols)


def remember(
    memory: Memory,
    found: Findings,
    cut: int,
    keep: Keep,
    symbols: Symbols,
    known: KnownPairs,
    since: int | None = None,
) -> Memory:
    """The memory of a component at a later cut; `since` is how far back intervals are compared."""
    since = cut if since is None else since
    kept = Memory(cut, rows=found.rows, owners=found.owners, clock=found.clock)
    for key, fluent in found.fluents.items():
        bound = min(keep(("fluent", key)), cut)
        parts = [fluent, *([memory.fluents[key]] if key in memory.fluents else [])]
        whole = union(parts, key[1] + 1, symbols)
        known.add(key, only(whole, whole.spans.end <= bound).pairs)
        if key in found.simple:
            kept.held[key] = holding(whole, cut, symbols)
            kept.fluents[key] = ended(whole, cut, bound)
        else:
            kept.fluents[key] = clipped(whole, cut, bound)
    for (kind, key), points in found.points.items():
        source: Source = ("event" if kind == "event" else "fluent", key)
        parts_ = [points, *([memory.points[kind, key]] if (kind, key) in memory.points else [])]
        kept.points[kind, key] = later(joined(parts_, symbols), keep(source), cut)
    for key, listed in found.terminations.items():
        bound = keep(("fluent", key))
        every = [*listed, *memory.terminations.get(key, ())]
        cut_down = [
            Terminations(later(one.table, bound, cut), one.form, one.every) for one in every
        ]
        kept.terminations[key] = [one for one in cut_down if one.table.rows]
    for place, lists in found.operands.items():
        kept.operands[place] = {
            number: (clipped(fluent, cut, since), rows) for number, (fluent, rows) in lists.items()
        }
    return kept
