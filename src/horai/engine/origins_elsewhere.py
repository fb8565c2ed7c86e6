"""Delayed effects of fluents that another component has settled before.

Their points are all known: they take part as if they had been said here, so that breaks and new
initiations count.
"""

from __future__ import annotations

from collections.abc import Iterator

from horai.engine.columns import Column, codes_of
from horai.engine.heads import EVERY
from horai.engine.moments import Moments, Owner, Saying
from horai.engine.symbols import Symbols

Key = tuple[str, int]


def settled_elsewhere(key: Key, moments: Moments, low: int) -> list[tuple[Owner, int, int]]:
    """Enter the points of a fluent after `low`; returns its initiations."""
    found: list[tuple[Owner, int, int]] = []
    for saying in _sayings(key, moments):
        kind, _, args, value, t = saying
        initial = t < moments.world.start == low  # a value from the start counts as begun before it
        if t <= low and not initial:
            continue
        moments.enter(saying)
        moments.history.setdefault((key, args), []).append(t)
        if kind == "initiated" and isinstance(value, int):
            found.append(((key, args), value, t))
    for owner, times in moments.history.items():
        if owner[0] == key:
            moments.history[owner] = sorted(set(times))
    return found


def _sayings(key: Key, moments: Moments) -> Iterator[Saying]:
    base, symbols = moments.world.base, moments.symbols
    begun = base.scan("initiated", key)
    for *args, value, t in _rows(begun.columns, symbols):
        yield "initiated", key, tuple(args), value, t
    start, tick = base.start, base.tick
    fluent = base.fluent(key)
    pairs = list(_rows(fluent.pairs.columns, symbols, timed=False))
    for pair in fluent.spans.key[fluent.spans.start == start].tolist():
        *args, value = pairs[pair]
        yield "initiated", key, tuple(args), value, start - (start % tick or tick)
    for ended in base.terminated(key):
        for row in _rows(ended.table.columns, symbols):
            if ended.every:
                form = EVERY if ended.form is None else ended.form
                yield "terminated", key, tuple(row[:-1]), form, row[-1]
            else:
                yield "terminated", key, tuple(row[:-2]), row[-2], row[-1]


def _rows(
    columns: tuple[Column, ...], symbols: Symbols, timed: bool = True
) -> Iterator[tuple[int, ...]]:
    """Rows of codes; the last column is a time and stays as it is."""
    listed = [codes_of(column, symbols).tolist() for column in columns]
    if timed:
        listed[-1] = columns[-1].data.tolist()
    return zip(*listed, strict=True)
