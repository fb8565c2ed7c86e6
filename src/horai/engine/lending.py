"""What a session knows of some entities, handed to another that begins to ask for them.

Both run the same rules in the same window, up to the same query time. What is handed over is what
items and earlier stages have said of the entities: all that is still kept of it. What rules made of
it stays where it is: whoever begins to ask has made nothing of it yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from horai.engine.arrow_items import ItemKind, SomeItems
from horai.engine.columns import Column
from horai.engine.inputs import folded
from horai.engine.memory import only
from horai.engine.packing import Packer, Unpacker
from horai.engine.relations import Relation, different, joined
from horai.engine.saved import RECORDS
from horai.engine.world import Fluent, merged
from horai.temporal.spans import Mask

if TYPE_CHECKING:
    from horai.engine.session import Session

Key = tuple[str, int]
Type = tuple[ItemKind, Key]
Wanted = Callable[[tuple[Column, ...]], Mask]  # which rows are meant, by their arguments
NAME = "horai past 2"


class Lent(NamedTuple):
    """What is known of some entities, as bytes, and their items that still wait."""

    known: bytes
    waiting: list[SomeItems]


def lend(session: Session, types: Iterable[Type], wanted: Wanted) -> Lent | None:
    """What a session knows of some entities, None if that is nothing."""
    shelves: list[Any] = []
    fluents: dict[Key, Fluent] = {}
    pairs: dict[Key, Relation] = {}
    waiting: list[SomeItems] = []
    for kind, key in types:
        found = session.stream.lend(kind, key, wanted)
        if found is not None:
            shelves.append((kind, key, found[0]))
            waiting += found[1]
        if kind == "fluent":
            for flat in session.program.unwrapping.forms(key):
                _pick(fluents, session.inputs.fluents, flat, _their(session, flat, wanted))
                _pick_pairs(pairs, session.known.pairs, flat, _their(session, flat, wanted))
    if not (shelves or fluents or pairs or waiting):
        return None
    state = {"shelves": shelves, "fluents": fluents, "pairs": pairs}
    return Lent(Packer(session.symbols, RECORDS).bytes(NAME, state), waiting)


def borrow(session: Session, types: Iterable[Type], known: Iterable[bytes], wanted: Wanted) -> None:
    """Know of some entities what others know, and nothing else; what waits comes as items."""
    for kind, key in types:
        session.stream.let_go(kind, key, wanted)
        if kind == "fluent":
            for flat in session.program.unwrapping.forms(key):
                _drop(session, flat, _their(session, flat, wanted))
    for packed in known:
        state = Unpacker(NAME, packed, session.symbols, RECORDS).whole()
        for kind, (name, arity), shelf in state["shelves"]:
            session.stream.borrow(kind, (name, arity), shelf)
        for key, fluent in state["fluents"].items():
            _add_fluent(session, key, fluent)
        for key, table in state["pairs"].items():
            before = [session.known.pairs[key]] if key in session.known.pairs else []
            whole = joined([*before, table], session.symbols)
            session.known.pairs[key] = different(whole, session.symbols)


def arguments(session: Session, type: Type) -> Iterator[tuple[Column, ...]]:
    """The arguments of all rows of a type that a session still knows, or that wait in it."""
    kind, key = type
    yield from session.stream.arguments(kind, key)
    if kind == "fluent":
        for flat in session.program.unwrapping.forms(key):
            if flat in session.inputs.fluents:
                yield _folded(session, flat, session.inputs.fluents[flat].pairs)
            if flat in session.known.pairs:
                yield _folded(session, flat, session.known.pairs[flat])


def _folded(session: Session, flat: Key, pairs: Relation) -> tuple[Column, ...]:
    """The arguments of pairs as they are written; a value stands after them."""
    unwrapping, symbols = session.program.unwrapping, session.symbols
    return folded(flat, pairs.columns[:-1], pairs.rows, unwrapping, symbols)[1]


def _their(session: Session, flat: Key, wanted: Wanted) -> Callable[[Relation], Mask]:
    """Which pairs of a flat fluent are meant."""
    return lambda pairs: wanted(_folded(session, flat, pairs))


def _pick(
    found: dict[Key, Fluent],
    known: dict[Key, Fluent],
    key: Key,
    mask: Callable[[Relation], Mask],
) -> None:
    if key in known and known[key].pairs.rows:
        fluent = known[key]
        chosen = only(fluent, mask(fluent.pairs)[fluent.spans.key])
        if chosen.pairs.rows:
            found[key] = chosen


def _pick_pairs(
    found: dict[Key, Relation],
    known: dict[Key, Relation],
    key: Key,
    mask: Callable[[Relation], Mask],
) -> None:
    if key in known and known[key].rows:
        chosen = known[key].where(np.flatnonzero(mask(known[key])))
        if chosen.rows:
            found[key] = chosen


def _drop(session: Session, key: Key, mask: Callable[[Relation], Mask]) -> None:
    fluents, pairs = session.inputs.fluents, session.known.pairs
    if key in fluents and fluents[key].pairs.rows:
        fluent = fluents[key]
        fluents[key] = only(fluent, ~mask(fluent.pairs)[fluent.spans.key])
    if key in pairs and pairs[key].rows:
        pairs[key] = pairs[key].where(np.flatnonzero(~mask(pairs[key])))


def _add_fluent(session: Session, key: Key, fluent: Fluent) -> None:
    fluents = session.inputs.fluents
    before = [fluents[key]] if key in fluents else []
    fluents[key] = merged([*before, fluent], session.symbols)
