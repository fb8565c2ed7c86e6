"""What a session knows of some entities, handed to another that begins to ask for them.

Both run the same rules in the same window, up to the same query time. What is handed over is what
items and earlier stages have said of the entities: all that is still kept of it. What rules made of
it stays where it is: whoever begins to ask has made nothing of it yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

from horai.engine.admission import Stream, Wanted
from horai.engine.arrow_items import ItemKind, SomeItems
from horai.engine.columns import Column
from horai.engine.inputs import Inputs, folded
from horai.engine.packing import Packer, Unpacker
from horai.engine.rows import Rows
from horai.engine.symbols import Symbols
from horai.lang.ec.unwrapping import Unwrapping

Key = tuple[str, int]
Type = tuple[ItemKind, Key]
NAME = "horai past 4"


class Lender(Protocol):
    """A session of any engine, as far as it lends."""

    @property
    def symbols(self) -> Symbols: ...
    @property
    def stream(self) -> Stream: ...
    @property
    def inputs(self) -> Inputs: ...
    @property
    def unwrapping(self) -> Unwrapping: ...


class Lent(NamedTuple):
    """What is known of some entities, as bytes, and their items that still wait."""

    known: bytes
    waiting: list[SomeItems]


def lend(session: Lender, types: Iterable[Type], wanted: Wanted) -> Lent | None:
    """What a session knows of some entities, None if that is nothing."""
    buffers: list[tuple[ItemKind, Key, dict[str, Rows]]] = []
    fluents: dict[Key, Rows] = {}
    waiting: list[SomeItems] = []
    for kind, key in types:
        found = session.stream.lend(kind, key, wanted)
        if found is not None:
            buffers.append((kind, key, found[0]))
            waiting += found[1]
        for flat, rows, args in _final(session, (kind, key)):
            theirs = rows.take(wanted(args))
            if theirs.size:
                fluents[flat] = theirs
    if not (buffers or fluents or waiting):
        return None
    state = {"buffers": buffers, "fluents": fluents}
    return Lent(Packer(session.symbols).bytes(NAME, state), waiting)


def borrow(session: Lender, types: Iterable[Type], known: Iterable[bytes], wanted: Wanted) -> None:
    """Know of some entities what others know, and nothing else; what waits comes as items."""
    for kind, key in types:
        session.stream.let_go(kind, key, wanted)
        for flat, rows, args in _final(session, (kind, key)):
            session.inputs.final[flat] = rows.take(~wanted(args))
    for packed in known:
        state = Unpacker(NAME, packed, session.symbols).whole()
        for kind, key, rows in state["buffers"]:
            session.stream.borrow(kind, key, rows)
        for key, rows in state["fluents"].items():
            session.inputs.borrow(key, rows, session.symbols)


def arguments(session: Lender, type: Type) -> Iterator[tuple[Column, ...]]:
    """The arguments of all rows of a type that a session still knows, or that wait in it."""
    yield from session.stream.arguments(*type)
    yield from (args for _, _, args in _final(session, type))


def _final(session: Lender, type: Type) -> list[tuple[Key, Rows, tuple[Column, ...]]]:
    """What is final of a fluent: rows of flat fluents, and their arguments as they are written."""
    kind, key = type
    flats = session.unwrapping.forms(key) if kind == "fluent" else ()
    known, names = session.inputs.final, (session.unwrapping, session.symbols)
    return [
        (flat, rows, folded(flat, rows.terms[:-1], rows.size, *names)[1])
        for flat, rows in ((flat, known[flat]) for flat in flats if flat in known)
        if rows.size
    ]
