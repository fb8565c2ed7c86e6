"""State for more groups of entities than it was written for.

Of a group several are made, each with all that the old one knew: what a group does not own it does
not tell, and nothing it tells depends on it. Groups are never put together, so that for fewer
buckets each bucket gets several of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from horai.engine.arrow_items import Source
from horai.io.schema import TableKey
from horai.spark.checkpoint import Manifest
from horai.spark.meeting import Asked, asked_in
from horai.spark.records import Label, Record, pick, unpacked
from horai.spark.routes import ASKING, Route, Routes
from horai.spark.store import Store
from horai.spark.tasks import Plan, StageTask


def groups_for(groups: int, buckets: int) -> int:
    """How many groups there have to be so that buckets can share them evenly.

    >>> groups_for(4, 8), groups_for(8, 2), groups_for(4, 6)
    (8, 8, 12)
    """
    return math.lcm(groups, buckets)


@dataclass(frozen=True, slots=True)
class Change:
    """How state goes on with other rules: sessions of a stage, and for each meeting who asked."""

    session: Callable[[StageTask, bytes], bytes]
    meetings: dict[int, int]


def same_rules(plan: Plan) -> Change:
    """All goes on as it was."""
    return Change(lambda _, saved: saved, {n: n for n in range(len(plan.routes.meetings))})


def resize(
    known: Manifest, old: Store, groups: int, new: Store, plan: Plan, change: Change
) -> Manifest:
    """Write the state of a stream in some groups anew, for the groups of a plan."""
    for stage in plan.stages:
        if known.state is not None:
            _states(known.state, old, groups, new, plan, stage, change)
    items = [(f, r) for f in sorted(known.items) for r in old.read_items(*f)]
    kept: dict[tuple[int, int, int], list[Record]] = {}
    for (round, bucket, number), record in items:
        stage = plan.stages[round // 2]
        for target in _targets(stage, bucket, groups, plan.routes.buckets):
            found = kept.setdefault((round, target, number), [])
            found += _rerouted(record, groups, target, plan.routes, change)
    filled = {file: records for file, records in kept.items() if records}
    for (round, target, number), records in filled.items():
        new.write_items(round, target, number, records)
    known.items = sorted(filled)
    return known


def _targets(stage: StageTask, bucket: int, groups: int, wanted: int) -> range:
    """The groups that are made of one."""
    return range(bucket, wanted, groups) if stage.is_split else range(1)


def _states(
    number: int,
    old: Store,
    groups: int,
    new: Store,
    plan: Plan,
    stage: StageTask,
    change: Change,
) -> None:
    for bucket in range(groups if stage.is_split else 1):
        about, parts = old.read_state(stage.number, bucket, number)
        parts["session"] = change.session(stage, parts["session"])
        mine = [*plan.routes.meetings_of(stage.number)]
        asked = _renumbered(Asked.load(parts["asked"]), change, mine)
        wanted = plan.routes.buckets
        for target in _targets(stage, bucket, groups, wanted):
            parts["asked"] = _asked(asked, groups, wanted, target).dump()
            new.write_state(stage.number, target, number, about, parts)
            # Each item is counted once, when it is judged.
            parts["waiting"] = b""


def _renumbered(asked: Asked, change: Change, meetings: Sequence[int]) -> Asked:
    found = Asked()
    for number in meetings:
        found.add(number, asked.of(change.meetings[number]))
    return found


def _asked(asked: Asked, groups: int, wanted: int, target: int) -> Asked:
    """Who asks for what is at home in a group: of who did, all that are made of it."""
    found = Asked()
    for meeting, (hashes, buckets) in asked.pairs.items():
        mine = hashes % np.uint64(wanted) == np.uint64(target)
        for first in range(0, wanted, groups):
            pairs = np.stack([hashes[mine], buckets[mine] + np.uint64(first)])
            found.add(meeting, pairs)
    return found


def _rerouted(
    record: Record, groups: int, target: int, routes: Routes, change: Change
) -> Iterator[Record]:
    """What of a record a group gets."""
    label = Label.load(record.label)
    if label.what == ASKING:
        asked = _renumbered(asked_in([record])[1], change, [*routes.meetings_of(record.round // 2)])
        yield from _asking(
            record, label, _asked(asked, groups, routes.buckets, target), target, routes
        )
        return
    table = unpacked(record.blob)
    route = _route(label, record.round, routes)
    mine = routes.owners(table, route, label.arity) == target
    for rows, home in ((mine, label.home), (~mine, False)):
        if rows.any() and (rows is mine or route.everywhere):
            named = label._replace(home=home, number=route.meeting or 0)
            part = pick(table, np.flatnonzero(rows))
            yield routes.record(record.round, record.run, target, record.seq, named, part)


def _asking(
    record: Record, label: Label, asked: Asked, target: int, routes: Routes
) -> Iterator[Record]:
    for meeting, pairs in asked.pairs.items():
        if pairs.shape[1]:
            table = pa.table({"hash": pairs[0], "bucket": pairs[1]})
            named = label._replace(number=meeting)
            yield routes.record(record.round, record.run, target, record.seq, named, table)


def _route(label: Label, round: int, routes: Routes) -> Route:
    """The route by which a record came to a round."""
    home = routes.home(label.key)
    if home.round == round:
        return home
    entity = (label.kind, label.name, label.arity)
    return next(route for route in routes.routes[entity] if route.round == round)


def table_key(source: Source) -> TableKey:
    """What kind of items a source has."""
    return TableKey(source.name, source.arity, source.kind, source.form)
