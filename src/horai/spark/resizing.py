"""State for more groups of entities than it was written for.

Of a group several are made, each with all that the old one knew: what a group does not own it does
not tell, and nothing it tells depends on it. Groups are never put together, so that for fewer
buckets each bucket gets several of them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator

import numpy as np

from horai.engine.arrow_items import Source
from horai.io.schema import TableKey
from horai.spark.checkpoint import Manifest, Store
from horai.spark.records import Label, Record, pick, unpacked
from horai.spark.routes import Route, Routes, engine_round
from horai.spark.tasks import Plan, StageTask


def groups_for(groups: int, buckets: int) -> int:
    """How many groups there have to be so that buckets can share them evenly.

    >>> groups_for(4, 8), groups_for(8, 2), groups_for(4, 6)
    (8, 8, 12)
    """
    return math.lcm(groups, buckets)


Changed = Callable[[StageTask, bytes], bytes]  # a session of a stage, as it should go on


def resize(
    known: Manifest, old: Store, groups: int, new: Store, plan: Plan, changed: Changed | None
) -> Manifest:
    """Write the state of a stream in some groups anew, for the groups of a plan."""
    for stage in plan.stages:
        if known.state is not None:
            _states(known.state, old, groups, new, plan, stage, changed)
    items = [(f, r) for f in sorted(known.items) for r in old.read_items(*f)]
    kept: dict[tuple[int, int, int], list[Record]] = {}
    for (stage_number, bucket, number), record in items:
        stage = plan.stages[stage_number]
        for target in _targets(stage, bucket, groups, plan.routes.buckets):
            found = kept.setdefault((stage_number, target, number), [])
            found += _rerouted(record, stage, target, plan.routes)
    filled = {file: records for file, records in kept.items() if records}
    for (stage_number, target, number), records in filled.items():
        new.write_items(stage_number, target, number, records)
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
    changed: Changed | None,
) -> None:
    for bucket in range(groups if stage.is_split else 1):
        about, parts = old.read_state(stage.number, bucket, number)
        if changed is not None:
            parts["session"] = changed(stage, parts["session"])
        for target in _targets(stage, bucket, groups, plan.routes.buckets):
            new.write_state(stage.number, target, number, about, parts)
            # Each item is counted once, when it is judged.
            parts["waiting"] = json.dumps([]).encode()


def _rerouted(record: Record, stage: StageTask, target: int, routes: Routes) -> Iterator[Record]:
    """What of a record a group gets."""
    label = Label.load(record.label)
    table = unpacked(record.blob)
    route = _route(label, stage, routes)
    mine = routes.owners(table, route, label.arity) == target
    for rows, home in ((mine, label.home), (~mine, False)):
        if rows.any() and (rows is mine or route.everywhere):
            named = label._replace(home=home)
            part = pick(table, np.flatnonzero(rows))
            yield routes.record(record.round, record.run, target, record.seq, named, part)


def _route(label: Label, stage: StageTask, routes: Routes) -> Route:
    """The route by which a record came to a stage."""
    round = engine_round(stage.number)
    home = routes.home(label.key)
    if home.round == round:
        return home
    entity = (label.kind, label.name, label.arity)
    return next(route for route in routes.routes[entity] if route.round == round)


def table_key(source: Source) -> TableKey:
    """What kind of items a source has."""
    return TableKey(source.name, source.arity, source.kind, source.form)
