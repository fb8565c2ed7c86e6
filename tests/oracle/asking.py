"""How laws ask the reference engine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from horai.lang.core.terms import Term
from horai.lang.ec.reader import read_text
from horai.lang.ec.syntax import EventDescription
from horai.oracle.ec.intervals import Intervals
from horai.oracle.ec.session import OracleAnswer, OracleItem, OracleSession

Spans = dict[tuple[Term, Term], Intervals]


def read(text: str) -> EventDescription:
    """A description that is known to be legal."""
    return read_text(text)[0]


def ask(
    description: EventDescription,
    given: Sequence[OracleItem],
    queries: Iterable[int],
    *,
    tick: int = 1,
    window: int | None = None,
) -> list[OracleAnswer]:
    """Answers at query times; all items are given at once."""
    session = OracleSession(description, tick=tick, window=window)
    return [session.advance(q, given if i == 0 else ()) for i, q in enumerate(queries)]
