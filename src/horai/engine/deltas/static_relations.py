"""Allen relations by change: only rows one of whose lists has changed are compared anew.

A relation looks at whole intervals, and an interval may have partners anywhere. So the lists that
are compared are kept, and what is found is found for all intervals of a row at once.
"""

from __future__ import annotations

import numpy as np

from horai.engine.intervals import note_undecided
from horai.engine.world import World
from horai.lang.ec.syntax import Allen
from horai.temporal.allen import allen
from horai.temporal.changes import Change, difference
from horai.temporal.spans import Ints, Mask, Spans, no_spans
from horai.temporal.toggled import toggled

Sides = tuple[Spans, Spans]  # sources and targets


class Related:
    """Two lists that are compared, row by row, and what is found."""

    def __init__(self, literal: Allen) -> None:
        self.literal = literal
        self.sides: Sides = (no_spans(), no_spans())
        self.chosen = no_spans()

    def build(self, sides: Sides, world: World) -> None:
        """Begin with lists of whole intervals."""
        self.sides = sides
        self.chosen = self._compared(sides, world)

    def update(self, changes: list[Change], world: World) -> Spans:
        """Take in how the lists changed; where has what is found changed?"""
        source, target = (
            toggled(side, change).spans for side, change in zip(self.sides, changes, strict=True)
        )
        self.sides = (source, target)
        # The next cut depends on all of them, whether anything has changed or not.
        note_undecided(self.literal.relation, source, target, world)
        rows = _rows(changes)
        if not len(rows):
            return no_spans()
        mine = _of_rows(self.chosen, rows)
        old = self.chosen.where(mine)
        new = self._compared((_only(source, rows), _only(target, rows)), world)
        self.chosen = _together(self.chosen.where(~mine), new)
        return difference(old, new).region()

    def forget(self, until: int) -> None:
        """Drop intervals that were over by then."""
        source, target = (side.where(side.end > until) for side in self.sides)
        self.sides = (source, target)
        self.chosen = self.chosen.where(self.chosen.end > until)

    def _compared(self, sides: Sides, world: World) -> Spans:
        one = self.literal
        return allen(one.relation, *sides, one.mode, world.tick, world.allen_memory)


def _rows(changes: list[Change]) -> Ints:
    """The rows of which something has changed."""
    keys = [spans.key for change in changes for spans in (change.gone, change.new)]
    return np.unique(np.concatenate(keys))


def _of_rows(spans: Spans, rows: Ints) -> Mask:
    """Which spans are those of some rows? Both are sorted."""
    found = np.zeros(len(spans), np.bool_)
    first, after = (np.searchsorted(spans.key, rows, side) for side in ("left", "right"))
    for begin, end in zip(first.tolist(), after.tolist(), strict=True):
        found[begin:end] = True
    return found


def _only(spans: Spans, rows: Ints) -> Spans:
    return spans.where(_of_rows(spans, rows))


def _together(one: Spans, other: Spans) -> Spans:
    """Spans of different rows as one relation."""
    columns = [np.concatenate(both) for both in zip(one, other, strict=True)]
    sorting = np.argsort(columns[0], kind="stable")
    return Spans(*(column[sorting] for column in columns))
