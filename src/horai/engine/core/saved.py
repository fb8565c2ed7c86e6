"""A session of the compiled engine as bytes, and back: rows of the machine, items, answers.

The bytes are those of `engine/packing.py`: what they are called, a checksum, arrays, and the terms
that are used. They belong to rules and settings. The machine trusts its arrays, so everything in
them is looked at before it gets them: every place, every size, every order.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from horai.engine.admission import Stream
from horai.engine.columns import Column, codes
from horai.engine.core.retention import Kept, Shape
from horai.engine.core.words import Words
from horai.engine.packing import NotRestored, Packer, Unpacker, Unreadable, readable
from horai.engine.symbols import Symbols
from horai.plan.ec.instructions import (
    ANY,
    EVENT_SAID,
    GHOST,
    INF,
    INITIATED,
    KIND,
    PEND,
    RULES_AT,
    SPAN_SAID,
    TERMINATED,
    WIDTH,
)
from horai.temporal.spans import Ints, Mask

if TYPE_CHECKING:
    from horai.engine.core.session import CompiledSession

NAME = "horai compiled session 4"
SETTINGS = ("start", "window", "tick", "allen_memory", "archive")
MOST_WORDS = 1 << 30  # of a line


def save(session: CompiledSession) -> bytes:
    """All that a session knows between two queries."""
    found = session.kept()
    used, machine = _with_places(found, session)
    state = {
        "settings": {name: getattr(session, name) for name in SETTINGS},
        "rules": _rules(session),
        "query": session.query,
        "final": session.final,
        "stream": session.stream.to_state(),
        "inputs": session.inputs.to_state(),
        "told": session.told,
        "symbols": codes(2 * used),
        "machine": machine,
    }
    return Packer(session.symbols).bytes(NAME, state)


def restore(session: CompiledSession, saved: bytes) -> None:
    """Put a fresh session where the saved one was; `NotRestored` leaves it as it is."""
    with readable():
        state = unpack(session, saved, session.symbols)
        query, final = int(state["query"]), int(state["final"])
        _check(session.start <= final <= query < INF)
        machine = with_words(state["machine"], state["symbols"], session.shape, session.words)
        look_at(machine, session)
        stream = Stream.from_state(state["stream"], session.symbols)
        session.inputs.set_state(state["inputs"])
    session.told = state["told"]
    session.take_up(machine, query, final, stream)


def unpack(session: CompiledSession, saved: bytes, symbols: Symbols) -> dict[str, Any]:
    """What was saved with the rules and settings of a session, in some symbols."""
    state: dict[str, Any] = Unpacker(NAME, saved, symbols).whole()
    _compare(session, state)
    return state


# --- whose bytes they are -------------------------------------------------------------------------


def _rules(session: CompiledSession) -> str:
    """A fingerprint: the text of the rules, what Python adds, and the program made of them."""
    texts = [source.text for source in session.plan.description.sources]
    program = session.program
    columns = [
        (one.kind, *one.key, one.keys, one.rest, one.table.number, one.fields)
        for one in program.columns
    ]
    sites = [site.words() for site in program.layout.sites]
    code = program.code[::WIDTH]  # operands name terms, by numbers of the session
    everything = json.dumps([texts, sorted(session.python), columns, sites, program.tables, code])
    return hashlib.sha256(everything.encode()).hexdigest()


def _compare(session: CompiledSession, state: dict[str, Any]) -> None:
    for name in SETTINGS:
        value, then = getattr(session, name), state["settings"][name]
        if then != value:
            raise NotRestored(
                f"the session was saved with {name}={then}, and this one has {name}={value}; "
                f"make it with {name}={then}"
            )
    if state["rules"] != _rules(session):
        raise NotRestored("the session was saved with other rules; load those it was saved with")


# --- the words of terms ---------------------------------------------------------------------------


def _terms(found: Kept, shape: Shape) -> tuple[Mask, Mask, Mask]:
    """Which words of points, spans and lists of what was said are terms."""
    column = shape.columns(found.tables)
    stride, head = shape.stride[column], shape.head[column]
    count = found.sizes[:, 0]
    within = np.arange(len(found.points)) - np.repeat(np.cumsum(count) - count, count)
    within %= np.repeat(np.maximum(stride, 1), count)
    kind = np.repeat(shape.kind[column], count)
    points = (kind == KIND["EVENT"]) & (within >= np.repeat(head, count))
    points |= (kind == KIND["SIMPLE"]) & (within == 1)
    return points, np.arange(len(found.spans)) % 3 == 2, np.arange(len(found.said)) % 5 == 4


def _symbols(words: Ints, mask: Mask | None = None) -> Mask:
    """Which of them are places in the table of symbols."""
    found: Mask = ((words & 3) == 0) & (words >= 0)
    return found if mask is None else found & mask


def _with_places(found: Kept, session: CompiledSession) -> tuple[Ints, dict[str, Ints]]:
    """The symbols that are used, and all arrays with places among these."""
    points, spans, said = _terms(found, session.shape)
    masks = {
        "keys": _symbols(found.keys),
        "points": _symbols(found.points, points),
        "spans": _symbols(found.spans, spans),
        "said": _symbols(found.said, said),
    }
    arrays = found._asdict()
    used = np.unique(np.concatenate([arrays[name][mask] for name, mask in masks.items()])) >> 2
    for name, mask in masks.items():
        words = arrays[name].copy()
        words[mask] = 4 * np.searchsorted(used, words[mask] >> 2)
        arrays[name] = words
    return used, {name: words.ravel() for name, words in arrays.items()}


def with_words(state: dict[str, Any], symbols: Column, shape: Shape, words_of: Words) -> Kept:
    """The arrays with the words of a session instead of places among the saved symbols."""
    widths = {"sizes": 3, "links": 4, "timers": 2}
    arrays = {name: np.array(state[name], np.int64) for name in Kept._fields}
    _check(all(state[name].dtype == np.int64 for name in arrays))
    for name, width in widths.items():
        arrays[name] = arrays[name].reshape(-1, width)
    found = Kept(**arrays)
    _check_sizes(found, shape)
    words = words_of.of_column(Column("term", symbols.data))
    points, spans, said = _terms(found, shape)
    masks = {"keys": None, "points": points, "spans": spans, "said": said}
    for name, mask in masks.items():
        mine = _symbols(arrays[name], mask)
        places = arrays[name][mine] >> 2
        _check(not len(places) or bool(places.max() < len(words)))
        arrays[name][mine] = words[places]
        others = arrays[name] if mask is None else arrays[name][mask]
        odd = others[((others & 3) == 0) & (others < 0)]
        _check(bool(np.isin(odd, (ANY, GHOST) if name in ("points", "said") else ()).all()))
    return found


# --- what the machine trusts ----------------------------------------------------------------------


def _check(is_right: bool) -> None:
    if not is_right:
        raise Unreadable("its parts do not fit together")


def _check_sizes(found: Kept, shape: Shape) -> None:
    """Are there as many words as tables, columns and sizes say?"""
    _check(_inside(found.tables, len(shape.width)))
    _check(int(shape.width[found.tables].sum()) == len(found.keys))
    column = shape.columns(found.tables)
    _check(len(column) == len(found.sizes))
    points, spans, timer = found.sizes.T
    _check(_inside(points, MOST_WORDS) and _inside(spans, MOST_WORDS))
    _check(int(points.sum()) == len(found.points) and int(spans.sum()) == len(found.spans))
    stride = shape.stride[column]
    _check(bool((points % np.maximum(stride, 1) == 0).all()))
    _check(not points[stride < 0].any() and not (spans % 3).any())
    _check(not spans[np.isin(shape.kind[column], [KIND["EVENT"], KIND["NONE"]])].any())
    _check(_are_times(timer) and len(found.said) % 5 == 0)


def look_at(found: Kept, session: CompiledSession) -> None:
    """Would the machine ever look beside its memory, or not know what it sees?"""
    shape = session.shape
    column = shape.columns(found.tables)
    kind = shape.kind[column]
    _check_rows(found, shape)
    _check_points(found, shape, column)
    _check_spans(found)
    lines = len(column)
    line, site, target, when = found.links.T
    sites = session.program.layout.sites
    _check(_inside(line, lines) and _inside(target, lines) and _are_times(when))
    _check(_inside(site, len(sites)))
    asked = np.array([one.column.number for one in sites], np.int64)
    driver = np.array([-1 if s.driver is None else s.driver.number for s in sites], np.int64)
    _check(not shape.by_row[site].any() and bool((driver[site] == column[target]).all()))
    _check(bool(((asked[site] == column[line]) | (kind[line] == KIND["NONE"])).all()))
    time, line = found.timers.T
    _check(_inside(line, lines) and _are_times(time) and bool((time[1:] >= time[:-1]).all()))
    waits = [KIND[name] for name in ("EVENT", "SIMPLE", "FILTER")]
    _check(bool(np.isin(kind[line], waits).all()))


def _check_rows(found: Kept, shape: Shape) -> None:
    """Is every instance there once?"""
    width = shape.width[found.tables]
    first = np.cumsum(width) - width
    for table in np.unique(found.tables).tolist():
        mine = first[found.tables == table]
        keys = found.keys[mine[:, None] + np.arange(shape.width[table])]
        _check(len(np.unique(keys, axis=0)) == len(keys) if keys.shape[1] else len(keys) == 1)


def _check_points(found: Kept, shape: Shape, column: Ints) -> None:
    stride = np.maximum(shape.stride[column], 1)
    count = found.sizes[:, 0] // stride
    line = np.repeat(np.arange(len(column)), count)
    words = np.repeat(stride, count)
    place = np.cumsum(words) - words
    time, kind = found.points[place], shape.kind[column[line]]
    _check(_are_times(time) and _in_order(line, time[1:] >= time[:-1]))
    mine = np.isin(kind, (KIND["INPUT"], KIND["STATED"]))
    end = found.points[place[mine] + 1]
    _check(_are_times(end) and bool((time[mine] < end).all()))
    mine = kind == KIND["EVENT"]
    state = found.points[place[mine] + 1]
    rules = shape.rules[column[line[mine]]]
    rules = rules | rules << PEND | rules << 2 * PEND
    _check(bool((state >= 0).all()) and not (state >> RULES_AT & ~rules).any())
    mine = shape.head[column[line]] == 3
    mine &= kind == KIND["EVENT"]
    length = found.points[place[mine] + 2]
    _check(_inside(length, MOST_WORDS) and not (length % 5).any())
    _check(int(length.sum()) == len(found.said))
    rule, what, line, time, end = found.said.reshape(-1, 5).T
    _check(_inside(rule, PEND) and _inside(line, len(column)) and _are_times(time))
    said = column[line]
    event = (what == EVENT_SAID) & (shape.kind[said] == KIND["EVENT"])
    event &= shape.stride[said] - shape.head[said] <= 1
    point = np.isin(what, (INITIATED, TERMINATED)) & (shape.kind[said] == KIND["SIMPLE"])
    span = (what == SPAN_SAID) & (shape.kind[said] == KIND["STATED"])
    span &= (end == ANY) | ((end & 1 == 1) & (time < end >> 1))
    _check(bool((event | point | span).all()))


def _check_spans(found: Kept) -> None:
    start, end, _ = found.spans.reshape(-1, 3).T
    line = np.repeat(np.arange(len(found.sizes)), found.sizes[:, 1] // 3)
    _check(_are_times(start) and _are_times(end) and bool((start < end).all()))
    _check(_in_order(line, start[1:] >= end[:-1]))


def _in_order(line: Ints, follows: Mask) -> bool:
    """Does each piece follow the one before it in its line?"""
    return bool((follows | (line[1:] != line[:-1])).all())


def _inside(numbers: Ints, size: int) -> bool:
    return not len(numbers) or bool(numbers.min() >= 0 and numbers.max() < size)


def _are_times(numbers: Ints) -> bool:
    return not len(numbers) or bool(numbers.min() >= -INF and numbers.max() <= INF)
