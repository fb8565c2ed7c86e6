"""What a session of a LARS program knows, as data that can be written down.

Signals, not the insides of an engine: whoever goes on works them out again.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from horai import io
from horai.errors import UsageError
from horai.lang.lars.syntax import Atom
from horai.lars_memory import ENDLESS
from horai.lars_result import LarsAnswer
from horai.lars_signals import Signal
from horai.values import parse_term, show

if TYPE_CHECKING:
    from horai.lars_session import Session

LANGUAGE = "lars"
State = dict[str, Any]


def to_state(session: Session) -> State:
    """All that a session needs to go on."""
    return {
        "last": session.last,
        "offsets": session.offsets,
        "taken": session.arrivals.taken,
        "waiting": [(order, _row(row)) for _, order, row in session.arrivals.waiting],
        "known": [
            (signal.time, signal.order, _atom(signal.atom), *when)
            for signal, when in session.memory.known.items()
        ],
        "answer": None if session.answer is None else _answer(session.answer),
        "told": [_answer(answer) for answer in session.told.values()],
        "models": [
            (query, None if model is None else [_atom(atom) for atom in model])
            for query, model in session.models.items()
        ],
    }


def from_state(session: Session, data: bytes) -> None:
    """Put into a new session what another one knew."""
    try:
        _restore(session, json.loads(data))
    except (ValueError, LookupError, TypeError) as error:
        hint = "give exactly what session.save() returned"
        raise UsageError("this saved session is damaged", hint) from error


def _restore(session: Session, state: State) -> None:
    session.last = state["last"]
    session.offsets = state["offsets"]
    for order, row in state["waiting"]:
        session.arrivals.taken = order
        session.arrivals.feed([_to_row(row)])
    session.arrivals.taken = state["taken"]
    for time, order, atom, since, until in state["known"]:
        signal = Signal(time, order, _to_atom(atom))
        session.memory.add(signal, since, until)
        if until == ENDLESS:
            session.arrivals.know(signal)
    session.answer = None if state["answer"] is None else _to_answer(state["answer"])
    session.told = {answer.query: answer for answer in map(_to_answer, state["told"])}
    session.models = {
        query: None if atoms is None else frozenset(map(_to_atom, atoms))
        for query, atoms in state["models"]
    }


def _atom(atom: Atom) -> list[str]:
    return [atom.name, *(show(arg) for arg in atom.args)]


def _to_atom(given: list[str]) -> Atom:
    return Atom(given[0], tuple(parse_term(arg) for arg in given[1:]))


def _answer(answer: LarsAnswer) -> list[Any]:
    return [answer.query, [[_atom(atom) for atom in model] for model in answer.models]]


def _to_answer(given: list[Any]) -> LarsAnswer:
    query, models = given
    return LarsAnswer(query, tuple(tuple(_to_atom(atom) for atom in model) for model in models))


def _row(row: io.Item) -> list[Any]:
    args = [io.to_source(arg) for arg in row.args]
    return [row.op, row.name, row.arrival, row.start, args, row.file, row.line]


def _to_row(given: list[Any]) -> io.Item:
    op, name, arrival, start, args, file, line = given
    terms = tuple(io.from_source(arg) for arg in args)
    return io.Item(op, name, "event", "points", arrival, start, None, None, terms, file, line)
