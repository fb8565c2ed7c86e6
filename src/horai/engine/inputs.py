"""Input items as relations of a world, with entities about actions taken apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from horai.engine.columns import Column, ints
from horai.engine.frames import Frame
from horai.engine.matching import build, match
from horai.engine.memory import KnownPairs, after, clipped, only
from horai.engine.relations import Relation
from horai.engine.stream import EventRows, Stream
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent, World, fluent_of, merged
from horai.lang.core.terms import Compound, Term, Var
from horai.lang.ec.unwrapping import Unwrapping
from horai.temporal.spans import Ints

Key = tuple[str, int]
Flat = tuple[Key, tuple[Column, ...], Ints]


class InputMemory:
    """Input fluents up to the border: final, so that items need not be kept for their sake."""

    def __init__(self, start: int) -> None:
        self.cut = start
        self.fluents: dict[Key, Fluent] = {}
        self.lent: list[tuple[Key, Fluent]] = []  # by other sessions, since the last cut

    def borrow(self, key: Key, fluent: Fluent, symbols: Symbols) -> None:
        """What another session knows is final, too."""
        self.lent.append((key, fluent))
        before = [self.fluents[key]] if key in self.fluents else []
        self.fluents[key] = merged([*before, fluent], symbols)

    def fill(self, world: World, stream: Stream, unwrapping: Unwrapping) -> None:
        """Put everything that counts now into a world."""
        for key in stream.keys("event"):
            for flat, table in event_tables(key, stream.events(key), unwrapping, world.symbols):
                world.add_points("event", flat, table)
        self.fill_fluents(world, stream, unwrapping)

    def told(self, world: World, stream: Stream, unwrapping: Unwrapping) -> dict[Key, Fluent]:
        """What items say of fluents that rules define too."""
        mixed = any(
            flat in world.derived for key in stream.keys("fluent") for flat in unwrapping.forms(key)
        )
        if not mixed and not self.fluents.keys() & world.derived:
            return {}
        alone = World(world.symbols, world.tick, world.start, world.query, world.allen_memory)
        self.fill_fluents(alone, stream, unwrapping)
        return {key: alone.fluent(key) for key in alone.fluents if key in world.derived}

    def fill_fluents(self, world: World, stream: Stream, unwrapping: Unwrapping) -> None:
        """Put the input fluents into a world."""
        symbols = world.symbols
        for flat, fluent in self.fluents.items():
            world.add_fluent(flat, fluent)
        for key in stream.keys("fluent"):
            fluents = stream.fluents(key)
            size = len(fluents.start)
            for flat, args, rows in flattened(key, fluents.args, size, unwrapping, symbols):
                columns = (*args, fluents.value.take(rows))
                start, end = fluents.start[rows], fluents.end[rows]
                part = fluent_of(columns, start, end, len(rows), symbols)
                world.add_fluent(flat, after(part, self.cut) if self.cut > world.start else part)

    def cut_at(
        self,
        cut: int,
        world: World,
        keep: Callable[[tuple[str, Key]], int],
        known: KnownPairs,
        told: dict[Key, Fluent],
    ) -> None:
        """Remember what is final; `world` still has all of it, and `told` is of what rules make."""
        self.cut, self.lent = cut, []
        for key, fluent in told.items():
            self.fluents[key] = clipped(fluent, cut, keep(("fluent", key)))
        for key in [key for key in world.fluents if key not in world.derived]:
            fluent = world.fluent(key)
            bound = keep(("fluent", key))
            known.add(key, only(fluent, fluent.spans.end <= bound).pairs)
            self.fluents[key] = clipped(fluent, cut, bound)


def event_tables(
    key: Key, events: EventRows, unwrapping: Unwrapping, symbols: Symbols
) -> Iterator[tuple[Key, Relation]]:
    """Occurrences of an event as relations, by the flat event they belong to."""
    size = len(events.time)
    for flat, args, rows in flattened(key, events.args, size, unwrapping, symbols):
        time = ints(events.time if len(rows) == size else events.time[rows])
        yield flat, Relation((*args, time), len(rows))


def flattened(
    key: Key, args: tuple[Column, ...], rows: int, unwrapping: Unwrapping, symbols: Symbols
) -> Iterator[Flat]:
    """The rows of an entity by the flat entity they belong to."""
    every = np.arange(rows)
    if key not in unwrapping.positions:
        yield key, args, every
        return
    left = np.ones(rows, np.bool_)
    for flat, fold in unwrapping.folds.items():
        if (fold.name, len(fold.parts)) != key:
            continue
        frame = Frame(rows).numbered("@row")
        wanted: list[str] = []
        for position, part in enumerate(fold.parts):
            names = [f"#{position}.{i}" for i in range(part[1] if part else 1)]
            wanted += names
            pattern: Term = Var(names[0])
            if part is not None:
                pattern = Compound(part[0], tuple(Var(name) for name in names))
            column = args[position].take(frame.columns["@row"].data)
            found = match(pattern, column, frame.columns, symbols)
            frame = frame.take(found.rows).with_columns(found.new)
        chosen = frame.columns["@row"].data
        left[chosen] = False
        yield flat, tuple(frame.columns[name] for name in wanted), chosen
    rest = np.flatnonzero(left)
    if len(rest):
        yield key, tuple(column.take(rest) for column in args), rest


def folded(
    key: Key, args: tuple[Column, ...], rows: int, unwrapping: Unwrapping, symbols: Symbols
) -> tuple[str, tuple[Column, ...]]:
    """Name and arguments as they are written."""
    fold = unwrapping.folds.get(key)
    if fold is None:
        return key[0], args
    rest = iter(args)
    columns: list[Column] = []
    for part in fold.parts:
        if part is None:
            columns.append(next(rest))
            continue
        inner = {f"#{i}": next(rest) for i in range(part[1])}
        term = Compound(part[0], tuple(Var(name) for name in inner))
        columns.append(build(term, inner, rows, symbols))
    return fold.name, tuple(columns)
