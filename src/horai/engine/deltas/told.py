"""Changes of relations as rows of the changelog."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from horai.engine.columns import bits
from horai.engine.deltas.changes import Changed, PointChange
from horai.engine.deltas.log import Log
from horai.engine.deltas.reading import Name
from horai.engine.deltas.store import SpanChange
from horai.engine.hashing import dense
from horai.engine.ledger import BothWays, Rows, Tables
from horai.engine.relations import Relation, joined
from horai.temporal.spans import Ints, Spans


def told(changed: Changed, logs: Mapping[Name, Log], shown: Iterable[Name] | None) -> BothWays:
    """The rows that are gone and those that are new, of the relations that answers show."""
    gone: Tables = {}
    new: Tables = {}
    wanted = None if shown is None else frozenset(shown)
    for name, change in changed.items():
        if name[0] not in ("fluent", "event") or (wanted is not None and name not in wanted):
            continue
        if isinstance(change, SpanChange):
            sides = _rows(change.pairs, change.gone), _rows(change.pairs, change.new)
        else:
            sides = _events(change, logs[name])
        for side, rows in zip((gone, new), sides, strict=True):
            if len(rows):
                side[name] = rows
    return gone, new


def _rows(pairs: Relation, spans: Spans) -> Rows:
    return Rows(tuple(column.take(spans.key) for column in pairs.columns), spans.start, spans.end)


def _events(change: PointChange, log: Log) -> tuple[Rows, Rows]:
    """Events are told once, however often they happen at one time."""
    both = joined([change.gone, change.new], log.symbols)
    columns = both.columns[:-1]
    time: Ints = both.columns[-1].data
    ids, firsts = dense([*map(bits, columns), time], both.rows)
    size = len(firsts)
    came = np.bincount(ids[change.gone.rows :], minlength=size)
    went = np.bincount(ids[: change.gone.rows], minlength=size)
    now = came
    # What lies after all there was before has no equals there.
    if change.gone.rows or bool((time <= change.last).any()):
        asked = [column.take(firsts) for column in columns]
        at = time[firsts]
        question, _ = log.between(tuple(range(len(columns))), asked, at, at + 1)
        now = np.bincount(question, minlength=size)
    before = now - came + went
    gone = _points(both, firsts[(before > 0) & (now == 0)])
    return gone, _points(both, firsts[(before == 0) & (now > 0)])


def _points(table: Relation, rows: Ints) -> Rows:
    taken = table.where(rows)
    return Rows(taken.columns[:-1], taken.columns[-1].data)
