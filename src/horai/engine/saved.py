"""A session as bytes, and back: all that later answers depend on, and nothing that can run.

Bytes belong to rules and settings: a session with others refuses them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from horai.engine.clockstate import ClockState, Owner, Pending
from horai.engine.columns import Column, codes
from horai.engine.horizon import sources_of
from horai.engine.ledger import Rows
from horai.engine.memory import Memory
from horai.engine.packing import Packer, Record, Records, Unpacker, Unreadable
from horai.engine.relations import Relation
from horai.engine.simple import Held
from horai.engine.stream import Stream
from horai.engine.world import Fluent, Terminations
from horai.lang.ec.errors import EngineError
from horai.temporal.spans import Ints, Spans

if TYPE_CHECKING:
    from horai.engine.session import Session

Key = tuple[str, int]
Cell = tuple[int, Owner, int, int]  # rule, whose, value, and the time that goes with them
NAME = "horai columnar session 3"
# Whatever is wrong inside of bytes shows as one of these, those of Arrow included.
_WRONG_INSIDE = (
    *(ValueError, LookupError, TypeError, AttributeError),
    *(OSError, RecursionError, MemoryError, OverflowError),
)


class NotRestored(EngineError):
    """Saved bytes that this session cannot take up."""


def save(session: Session) -> bytes:
    """All that a session knows between two queries."""
    ledger = session.ledger
    state = {
        "settings": _settings(session),
        "rules": _rules(session),
        "query": session.query,
        "stream": session.stream.to_state(),
        "inputs": (session.inputs.cut, session.inputs.fluents),
        "memories": session.memories,
        "members": session.members.permanent,
        "known": session.known.pairs,
        "archive": ledger.archive,
        "live": ledger.live,
        "looked": ledger.looked,
        "fixed": ledger.fixed,
        "archived": ledger.archived,
    }
    return Packer(session.symbols, RECORDS).bytes(NAME, state)


def restore(session: Session, saved: bytes) -> None:
    """Put a fresh session where the saved one was; `NotRestored` leaves it as it is."""
    state = unpack(session, saved)
    if state.get("rules") != _rules(session):
        raise NotRestored("the session was saved with other rules; load those it was saved with")
    install(session, state)


def unpack(session: Session, saved: bytes) -> dict[str, Any]:
    """What was saved, in the symbols of a session that has the same settings."""
    with readable():
        state: dict[str, Any] = Unpacker(NAME, saved, session.symbols, RECORDS).whole()
        _compare(session, state)
        return state


def install(session: Session, state: dict[str, Any]) -> None:
    """Put a fresh session where a saved one was."""
    with readable():
        stream = Stream.from_state(state["stream"], session.symbols)
        cut, fluents = state["inputs"]
        query, memories = int(state["query"]), list(state["memories"])
        ledger = [state[name] for name in ("archive", "live", "looked", "fixed", "archived")]
        members, known = dict(state["members"]), dict(state["known"])
    session.query = query
    session.stream = stream
    session.inputs.cut, session.inputs.fluents = cut, fluents
    session.memories = memories
    session.members.permanent, session.known.pairs = members, known
    book = session.ledger
    book.archive, book.live, book.looked, book.fixed, book.archived = ledger


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


# --- whose bytes they are -------------------------------------------------------------------------


def _settings(session: Session) -> dict[str, int | bool | None]:
    return {
        "start": session.start,
        "window": session.window,
        "tick": session.tick,
        "allen_memory": session.allen_memory,
        "archive": session.ledger.archive is not None,
    }


def _rules(session: Session) -> str:
    """A fingerprint: the text of the rules, what Python adds, and what the plan made of it."""
    program = session.program
    texts = [source.text for source in program.description.sources]
    strata = [
        (sources_of(s), [p.key for p in s.static], [p.number for p in s.delays])
        for s in program.strata
    ]
    everything = json.dumps([texts, sorted(session.python), strata])
    return hashlib.sha256(everything.encode()).hexdigest()


def _compare(session: Session, state: dict[str, Any]) -> None:
    for name, value in _settings(session).items():
        then = state["settings"][name]
        if then != value:
            raise NotRestored(
                f"the session was saved with {name}={then}, and this one has {name}={value}; "
                f"make it with {name}={then}"
            )


# --- what is packed, class by class ---------------------------------------------------------------


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


def _held(args: tuple[Column, ...], value: Column, start: Ints) -> Held:
    _check(all(len(column) == len(start) for column in (*args, value)))
    return Held(args, value.data, start)


def _rows(columns: tuple[Column, ...], start: Ints, end: Ints | None) -> Rows:
    _check(all(len(column) == len(start) for column in columns))
    _check(end is None or len(end) == len(start))
    return Rows(columns, start, end)


def _check(is_right: bool) -> None:
    if not is_right:
        raise Unreadable("its parts do not fit together")


def _clock_parts(state: ClockState) -> tuple[Any, ...]:
    pending = [(p.rule, p.owner, p.value, p.since) for p in state.pending]
    acted = [(*source, time) for source, time in state.acted.items()]
    return _cells(pending), _cells(acted)


def _clock(pending: dict[Key, Any], acted: dict[Key, Any]) -> ClockState:
    found = [Pending(*cell) for key, table in pending.items() for cell in _listed(key, *table)]
    listed = [cell for key, table in acted.items() for cell in _listed(key, *table)]
    return ClockState(found, {(rule, owner, value): time for rule, owner, value, time in listed})


def _cells(cells: list[Cell]) -> dict[Key, Any]:
    """Rows of fluents by name and arity, as columns."""
    groups: dict[Key, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell[1][0], []).append(cell)
    return {
        key: (
            np.array([rule for rule, _, _, _ in rows], np.int64),
            tuple(codes(np.array([args[i] for _, (_, args), _, _ in rows])) for i in range(key[1])),
            codes(np.array([value for _, _, value, _ in rows])),
            np.array([time for _, _, _, time in rows], np.int64),
        )
        for key, rows in groups.items()
    }


def _listed(
    key: Key, rule: Ints, args: tuple[Column, ...], value: Column, time: Ints
) -> list[Cell]:
    columns = [column.data.tolist() for column in args]
    owners = list(zip(*columns, strict=True)) if columns else [()] * len(rule)
    rows = zip(rule.tolist(), owners, value.data.tolist(), time.tolist(), strict=True)
    return [(number, (key, owner), code, at) for number, owner, code, at in rows]


RECORDS: Records = {
    Relation: Record(lambda r: (r.columns, r.rows), _relation),
    Spans: Record(lambda s: (s.key, s.start, s.end), _spans),
    Fluent: Record(lambda f: (f.pairs, f.spans), _fluent),
    Held: Record(lambda h: (h.args, codes(h.value), h.start), _held),
    Rows: Record(lambda r: (r.columns, r.start, r.end), _rows),
    Terminations: Record(lambda t: (t.table, t.form, t.every), Terminations),
    ClockState: Record(_clock_parts, _clock),
    Memory: Record(
        lambda m: (
            *(m.cut, m.fluents, m.held, m.points, m.terminations, m.rows, m.owners),
            *(m.operands, m.clock),
        ),
        Memory,
    ),
}
