"""What a session knows of some entities, handed to another that begins to ask for them.

Both run the same rules in the same window, up to the same query time. What is handed over is what
items and earlier stages have said of the entities: all that is still kept of it. What rules made of
it stays where it is: whoever begins to ask has made nothing of it yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Protocol

from horai.engine.arrow_items import ItemKind, SomeItems
from horai.engine.columns import Column
from horai.engine.inputs import InputMemory, folded
from horai.engine.memory import only
from horai.engine.packing import Packer, Unpacker
from horai.engine.relations import Relation
from horai.engine.saved import RECORDS
from horai.engine.stream import Stream
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent
from horai.lang.ec.unwrapping import Unwrapping
from horai.temporal.spans import Mask

Key = tuple[str, int]
Type = tuple[ItemKind, Key]
Wanted = Callable[[tuple[Column, ...]], Mask]  # which rows are meant, by their arguments
NAME = "horai past 3"


class Lender(Protocol):
    """A session of any engine, as far as it lends."""

    @property
    def symbols(self) -> Symbols: ...
    @property
    def stream(self) -> Stream: ...
    @property
    def inputs(self) -> InputMemory: ...
    @property
    def unwrapping(self) -> Unwrapping: ...


class Lent(NamedTuple):
    """What is known of some entities, as bytes, and their items that still wait."""

    known: bytes
    waiting: list[SomeItems]


def lend(session: Lender, types: Iterable[Type], wanted: Wanted) -> Lent | None:
    """What a session knows of some entities, None if that is nothing."""
    shelves: list[Any] = []
    fluents: dict[Key, Fluent] = {}
    waiting: list[SomeItems] = []
    for kind, key in types:
        found = session.stream.lend(kind, key, wanted)
        if found is not None:
            shelves.append((kind, key, found[0]))
            waiting += found[1]
        if kind == "fluent":
            for flat in session.unwrapping.forms(key):
                _pick(fluents, session.inputs.fluents, flat, _their(session, flat, wanted))
    if not (shelves or fluents or waiting):
        return None
    state = {"shelves": shelves, "fluents": fluents}
    return Lent(Packer(session.symbols, RECORDS).bytes(NAME, state), waiting)


def borrow(session: Lender, types: Iterable[Type], known: Iterable[bytes], wanted: Wanted) -> None:
    """Know of some entities what others know, and nothing else; what waits comes as items."""
    for kind, key in types:
        session.stream.let_go(kind, key, wanted)
        if kind == "fluent":
            for flat in session.unwrapping.forms(key):
                _drop(session, flat, _their(session, flat, wanted))
    for packed in known:
        state = Unpacker(NAME, packed, session.symbols, RECORDS).whole()
        for kind, (name, arity), shelf in state["shelves"]:
            session.stream.borrow(kind, (name, arity), shelf)
        for key, fluent in state["fluents"].items():
            session.inputs.borrow(key, fluent, session.symbols)


def arguments(session: Lender, type: Type) -> Iterator[tuple[Column, ...]]:
    """The arguments of all rows of a type that a session still knows, or that wait in it."""
    kind, key = type
    yield from session.stream.arguments(kind, key)
    if kind == "fluent":
        for flat in session.unwrapping.forms(key):
            if flat in session.inputs.fluents:
                yield _folded(session, flat, session.inputs.fluents[flat].pairs)


def _folded(session: Lender, flat: Key, pairs: Relation) -> tuple[Column, ...]:
    """The arguments of pairs as they are written; a value stands after them."""
    unwrapping, symbols = session.unwrapping, session.symbols
    return folded(flat, pairs.columns[:-1], pairs.rows, unwrapping, symbols)[1]


def _their(session: Lender, flat: Key, wanted: Wanted) -> Callable[[Relation], Mask]:
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


def _drop(session: Lender, key: Key, mask: Callable[[Relation], Mask]) -> None:
    fluents = session.inputs.fluents
    if key in fluents and fluents[key].pairs.rows:
        fluent = fluents[key]
        fluents[key] = only(fluent, ~mask(fluent.pairs)[fluent.spans.key])
