"""A session that goes on with other rules.

What is known at the border of the window stays, and from there on the new rules hold: the items of
the window are looked at anew with them. A fluent that was there before goes on with the values it
had by then; one that is new begins with none. What was told of it until then stays told; the next
answer says what differs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from horai.engine.admission import Stream
from horai.engine.core.layout import Relation
from horai.engine.core.retention import Kept
from horai.engine.core.saved import NAME, look_at, unpack, with_words
from horai.engine.inputs import tables_of
from horai.engine.packing import NotRestored, Packer, Unpacker, readable
from horai.plan.ec.instructions import INF
from horai.plan.program import Plan
from horai.temporal.spans import Ints

if TYPE_CHECKING:
    from horai.engine.core.staged import CompiledStage

Key = tuple[str, int]
COUNT = 0xFFFF
"""The bits of the state of an event that count; the others are about rules."""


def evolve(session: CompiledStage, saved: bytes, then: CompiledStage) -> None:
    """Put a fresh session where one of other rules was saved; `NotRestored` says why not.

    `then` is a fresh session of the old rules.
    """
    _check_kinds(session.plan, then.plan)
    with readable():
        state = unpack(then, saved, session.symbols)
        kept = with_words(state["machine"], state["symbols"], then.shape, session.words)
        look_at(kept, then)
        query, final = int(state["query"]), int(state["final"])
        stream = Stream.from_state(state["stream"], session.symbols)
        session.inputs.set_state(state["inputs"])
    _check_waiting(then, kept, final)
    then.restore(saved)
    told = then.told or (final, tables_of(then._now(final), then.symbols))
    packed = Packer(then.symbols).bytes(NAME, told)
    session.told = Unpacker(NAME, packed, session.symbols).whole()
    session.begin_again(_known(session, then, kept, final), query, final, stream)


def _check_waiting(then: CompiledStage, kept: Kept, final: int) -> None:
    """What began before the border, and is due after it, is judged by rules that are gone then."""
    waits = [one.number for one in then.program.columns if one.key[0].startswith("deadline ")]
    column = then.shape.columns(kept.tables)
    place = np.cumsum(kept.sizes[:, 0]) - kept.sizes[:, 0]
    for line in np.flatnonzero(np.isin(column, waits)).tolist():
        points = kept.points[place[line] : place[line] + kept.sizes[line, 0]]
        points = points.reshape(-1, int(then.shape.stride[column[line]]))
        if np.any((points[:, 0] > final) & (points[:, -1] >> 1 <= final)):
            raise NotRestored("delayed effects with conditions wait, which the old rules judge")


def _check_kinds(now: Plan, then: Plan) -> None:
    turned = (_listed(then) & _begun(now)) | (_begun(then) & _listed(now))
    for name, arity in sorted(turned):
        raise NotRestored(
            f"{name}/{arity} was worked out from intervals and now is from initiations, or the "
            "other way round"
        )


def _listed(plan: Plan) -> set[Key]:
    """The fluents whose intervals rules say."""
    return {one.key for stratum in plan.strata for one in stratum.static}


def _begun(plan: Plan) -> set[Key]:
    """The fluents of which rules say when they begin or end."""
    every = [one for stratum in plan.strata for one in stratum.points]
    return {one.key for one in every if one.kind != "event"}


def _columns(session: CompiledStage) -> dict[tuple[Any, ...], Relation]:
    """The columns that have a meaning of their own, by it."""
    found: dict[tuple[Any, ...], Relation] = {}
    for key, one in session.program.layout.events.items():
        if key == one.key and " " not in key[0] and "~" not in key[0]:
            found["event", *key] = one
    for key, some in session.program.layout.fluents.items():
        for one in some:
            if one.derived and one.kind in ("simple", "static") and "~" not in key[0]:
                found[one.kind, *key, one.value] = one
    return found


def _known(session: CompiledStage, then: CompiledStage, kept: Kept, final: int) -> Kept:
    """What was known up to the border, in the rows of the new program."""
    now, before = _columns(session), _columns(then)
    meant = {before[what].number: (what, now[what]) for what in before.keys() & now.keys()}
    shape = then.shape
    column = shape.columns(kept.tables)
    width = shape.width[kept.tables]
    first = np.cumsum(width) - width
    row = np.repeat(np.arange(len(kept.tables)), shape.lines[kept.tables])
    points = np.cumsum(kept.sizes[:, 0]) - kept.sizes[:, 0]
    spans = np.cumsum(kept.sizes[:, 1]) - kept.sizes[:, 1]
    lines: dict[tuple[int, tuple[int, ...]], dict[int, tuple[Ints, Ints]]] = {}
    for line in np.flatnonzero(np.isin(column, list(meant))).tolist():
        number = int(column[line])
        what, relation = meant[number]
        stride = int(shape.stride[number])
        mine = kept.points[points[line] : points[line] + kept.sizes[line, 0]]
        held = kept.spans[spans[line] : spans[line] + kept.sizes[line, 1]].reshape(-1, 3)
        held = held[held[:, 0] <= final + 1].copy()
        held[held[:, 1] > final + 1, 1] = INF
        mine = mine.reshape(-1, max(stride, 1)).copy()
        if what[0] == "event":
            mine = _events(session, then, what, number, relation, mine, final)
        elif what[0] == "simple":
            mine = mine[mine[:, 0] <= final]
        else:
            mine = mine[:0]
        if len(mine) or len(held):
            at = int(row[line])
            key = tuple(kept.keys[first[at] : first[at] + width[at]].tolist())
            columns = lines.setdefault((relation.table.number, key), {})
            columns[relation.place] = (mine.ravel(), held.ravel())
    return _rows(session, lines)


def _events(
    session: CompiledStage,
    then: CompiledStage,
    what: tuple[Any, ...],
    number: int,
    relation: Relation,
    points: Ints,
    final: int,
) -> Ints:
    """What happened up to the border; no rule looks at it again."""
    old, new = then.shape.head[number], session.shape.head[relation.number]
    points = points[points[:, 0] <= final]
    points[:, 1] &= COUNT
    same = (then.program.columns[number].keys, then.program.columns[number].rest)
    if len(points) and same != (relation.keys, relation.rest):
        raise NotRestored(f"{what[1]}/{what[2]} is now known by other arguments")
    if old == new:
        points[:, 2:new] = 0
        return points
    extra = np.zeros((len(points), max(new - old, 0)), np.int64)
    return np.hstack([points[:, : min(old, new)], extra, points[:, old:]])


def _rows(
    session: CompiledStage, lines: dict[tuple[int, tuple[int, ...]], dict[int, tuple[Ints, Ints]]]
) -> Kept:
    nothing = np.zeros(0, np.int64)
    count = session.shape.lines
    sizes: list[tuple[int, int, int]] = []
    points, spans = [nothing], [nothing]
    for (table, _), columns in lines.items():
        for place in range(int(count[table])):
            mine, held = columns.get(place, (nothing, nothing))
            sizes.append((len(mine), len(held), 0))
            points.append(mine)
            spans.append(held)
    return Kept(
        np.array([table for table, _ in lines], np.int64),
        np.array([word for _, key in lines for word in key], np.int64),
        np.array(sizes, np.int64).reshape(-1, 3),
        np.concatenate(points),
        np.concatenate(spans),
        nothing,
        nothing.reshape(-1, 4),
        nothing.reshape(-1, 2),
    )
