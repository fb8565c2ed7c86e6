"""How laws ask the reference engine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from horai.lang.ec.builder import read_text
from horai.lang.ec.syntax import EventDescription
from horai.lang.terms import Term
from horai.oracle import Answer, Item, Session
from horai.oracle.intervals import Intervals

Spans = dict[tuple[Term, Term], Intervals]


def read(text: str) -> EventDescription:
    """A description that is known to be legal."""
    return read_text(text)[0]


def ask(
    description: EventDescription,
    given: Sequence[Item],
    queries: Iterable[int],
    *,
    tick: int = 1,
    window: int | None = None,
) -> list[Answer]:
    """Answers at query times; all items are given at once."""
    session = Session(description, tick=tick, window=window)
    return [session.advance(q, given if i == 0 else ()) for i, q in enumerate(queries)]
