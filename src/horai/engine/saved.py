"""Saved bytes: what in them may be packed, and what is wrong with those that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from horai.engine.columns import Column
from horai.engine.ledger import Rows
from horai.engine.packing import Record, Records, Unreadable
from horai.engine.relations import Relation
from horai.engine.world import Fluent
from horai.lang.ec.errors import EngineError
from horai.temporal.spans import Ints, Spans

# Whatever is wrong inside of bytes shows as one of these, those of Arrow included.
_WRONG_INSIDE = (
    *(ValueError, LookupError, TypeError, AttributeError),
    *(OSError, RecursionError, MemoryError, OverflowError),
)


class NotRestored(EngineError):
    """Saved bytes that this session cannot take up."""


@contextmanager
def readable() -> Iterator[None]:
    """Whatever is wrong inside of bytes, in words."""
    try:
        yield
    except _WRONG_INSIDE as error:
        said = str(error) if isinstance(error, Unreadable) else "something in the bytes is wrong"
        raise NotRestored(
            f"this is no saved session that can be read: {said}; "
            "give exactly what save() returned, from the same version of Horai"
        ) from error


def _relation(columns: tuple[Column, ...], rows: int) -> Relation:
    _check(all(len(column) == rows for column in columns))
    return Relation(columns, rows)


def _spans(key: Ints, start: Ints, end: Ints) -> Spans:
    _check(len(key) == len(start) == len(end))
    return Spans(key, start, end)


def _fluent(pairs: Relation, spans: Spans) -> Fluent:
    """Sweeps trust these numbers as places in arrays, so that they are looked at here."""
    key = spans.key
    _check(bool((key[1:] >= key[:-1]).all()))
    _check(not len(key) or bool(key[0] >= 0 and key[-1] < pairs.rows))
    return Fluent(pairs, spans)


def _rows(columns: tuple[Column, ...], start: Ints, end: Ints | None) -> Rows:
    _check(all(len(column) == len(start) for column in columns))
    _check(end is None or len(end) == len(start))
    return Rows(columns, start, end)


def _check(is_right: bool) -> None:
    if not is_right:
        raise Unreadable("its parts do not fit together")


RECORDS: Records = {
    Relation: Record(lambda r: (r.columns, r.rows), _relation),
    Spans: Record(lambda s: (s.key, s.start, s.end), _spans),
    Fluent: Record(lambda f: (f.pairs, f.spans), _fluent),
    Rows: Record(lambda r: (r.columns, r.start, r.end), _rows),
}
