"""Items of the reference engine as the Arrow tables that engines take, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from horai import io
from horai.engine.admission import Stream
from horai.engine.arrow_items import ItemBatch, Source, read_items
from horai.engine.columns import terms_of
from horai.engine.symbols import Symbols
from horai.io.terms import Term as Plain
from horai.io.terms import TermText
from horai.lang.core.printer import show
from horai.lang.core.terms import Compound, Constant, Float, Int, Term, make
from horai.oracle.ec.session import OracleItem

Seen = tuple[Term, Term | None, int, float]
INF = float("inf")
BIG = 2**63 - 1


def plain(term: Term) -> Plain:
    """A term as the readers give it."""
    match term:
        case Constant(name=name):
            return name
        case Int(value=number):
            return number
        case Float(value=real):
            return real
        case _:
            return TermText(show(term))


def row(item: OracleItem, line: int, form: Literal["points", "intervals"] = "intervals") -> io.Item:
    """The row of an item; fluents are intervals unless said otherwise."""
    entity = item.entity
    assert isinstance(entity, Constant | Compound)
    is_event = item.value is None
    is_open = is_event or form == "points" or item.end == INF
    return io.Item(
        op=-1 if item.retract else 1,
        name=entity.name,
        kind="event" if is_event else "fluent",
        form="points" if is_event else form,
        arrival=item.arrival,
        start=item.start,
        end=None if is_open else int(item.end),
        value=None if item.value is None else plain(item.value),
        args=tuple(map(plain, entity.args)) if isinstance(entity, Compound) else (),
        file="day.txt",
        line=line,
    )


def batches(rows: Iterable[io.Item], symbols: Symbols, tick: int) -> list[ItemBatch]:
    """The rows table by table."""
    tables: list[Source] = list(io.Narrative.from_items(rows).tables)
    return [read_items(table, symbols, tick) for table in tables]


def seen(stream: Stream) -> list[Seen]:
    """Everything that counts now, as the reference engine says it."""
    found: list[Seen] = []
    for name, arity in stream.keys("event"):
        events = stream.events((name, arity))
        columns = [terms_of(column, stream.symbols) for column in events.terms]
        for i, time in enumerate(events["start"].tolist()):
            found.append((make(name, *(column[i] for column in columns)), None, time, time))
    for name, arity in stream.keys("fluent"):
        fluents = stream.fluents((name, arity))
        *columns, values = (terms_of(column, stream.symbols) for column in fluents.terms)
        spans = zip(fluents["start"].tolist(), fluents["end"].tolist(), strict=True)
        for i, (start, end) in enumerate(spans):
            entity = make(name, *(column[i] for column in columns))
            found.append((entity, values[i], start, INF if end == BIG else end))
    return found
