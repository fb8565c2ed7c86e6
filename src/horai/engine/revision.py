"""How what is known of a fluent differs from what was known before."""

from __future__ import annotations

from dataclasses import dataclass

from horai.engine.columns import bits
from horai.engine.hashing import build, dense, first
from horai.engine.relations import Relation, joined
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent
from horai.temporal.spans import Ints, Spans, difference, sort_spans


@dataclass(frozen=True, slots=True)
class Revision:
    """The whole spans of a fluent that are no longer there, and those that were not there before.

    Keys are rows of `pairs`.
    """

    pairs: Relation
    gone: Spans
    new: Spans

    def __bool__(self) -> bool:
        return bool(len(self.gone) or len(self.new))

    @property
    def removed(self) -> Spans:
        """The time in which a pair held before, and no longer does."""
        return difference(self.gone, self.new)

    @property
    def added(self) -> Spans:
        """The time in which a pair holds, and did not before."""
        return difference(self.new, self.gone)


def revision(before: Fluent, now: Fluent, symbols: Symbols) -> Revision:
    """What is gone and what is new in a fluent."""
    rows = joined([before.pairs, now.pairs], symbols)
    number, once = dense([bits(column) for column in rows.columns], rows.rows)
    place = number[: before.pairs.rows], number[before.pairs.rows :]
    old, new = (_renamed(*side) for side in zip((before.spans, now.spans), place, strict=True))
    return Revision(rows.where(once), _without(old, new), _without(new, old))


def _renamed(spans: Spans, place: Ints) -> Spans:
    """Spans with other keys, in their order."""
    return sort_spans(place[spans.key], spans.start, spans.end)


def _without(spans: Spans, others: Spans) -> Spans:
    """The spans that are not among others."""
    if not len(spans) or not len(others):
        return spans
    return spans.where(first([*spans], build([*others])) < 0)
