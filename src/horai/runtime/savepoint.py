"""Savepoints: copies of a checkpoint, from which a stream begins again.

It may begin again in another number of buckets, for which state is written anew by entity, and with
other rules, if its state can be kept with them.
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from horai.engine.packing import NotRestored
from horai.runtime.bucket import session_of
from horai.runtime.checkpoint import (
    Checkpoint,
    Identity,
    Manifest,
    Store,
    TrackProgress,
    commit_path,
    create,
    is_checkpoint,
    open_checkpoint,
    write_whole,
)
from horai.runtime.hashing import combined
from horai.runtime.records import BlobLabel, Record, packed, pick, unpacked
from horai.runtime.refusals import Refused
from horai.runtime.routes import SUBSCRIBE, Entity, Route, Routes
from horai.runtime.subscriptions import Subscriptions, subscriptions_in
from horai.runtime.tasks import RunTask, StagePlan, StageTask
from horai.runtime.tracks import names_of
from horai.settings import Schedule
from horai.signals.pipeline import State


def groups_for(groups: int, buckets: int) -> int:
    """How many groups there have to be so that buckets can share them evenly.

    >>> groups_for(4, 8), groups_for(8, 2), groups_for(4, 6)
    (8, 8, 12)
    """
    return math.lcm(groups, buckets)


@dataclass(frozen=True, slots=True)
class Change:
    """The state of a stream under other rules: what becomes of sessions and meetings."""

    session: Callable[[StageTask, bytes], bytes]
    meetings: dict[int, int]


def resize(
    known: Manifest, old: Store, groups: int, new: Store, plan: StagePlan, change: Change
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
    plan: StagePlan,
    stage: StageTask,
    change: Change,
) -> None:
    for bucket in range(groups if stage.is_split else 1):
        about, parts = old.read_state(stage.number, bucket, number)
        parts["session"] = change.session(stage, parts["session"])
        mine = [*plan.routes.meetings_of(stage.number)]
        asked = _renumbered(Subscriptions.load(parts["subscriptions"]), change, mine)
        wanted = plan.routes.buckets
        for target in _targets(stage, bucket, groups, wanted):
            parts["subscriptions"] = _subscribed(asked, groups, wanted, target).dump()
            new.write_state(stage.number, target, number, about, parts)
            # Each item is counted once, when it is judged.
            parts["waiting"] = b""


def _renumbered(asked: Subscriptions, change: Change, meetings: Sequence[int]) -> Subscriptions:
    found = Subscriptions()
    for number in meetings:
        found.add(number, asked.of(change.meetings[number]))
    return found


def _subscribed(asked: Subscriptions, groups: int, wanted: int, target: int) -> Subscriptions:
    """The subscriptions to what a group owns, by all groups that are made of the subscribers."""
    found = Subscriptions()
    for meeting, (hashes, buckets) in asked.pairs.items():
        mine = hashes % np.uint64(wanted) == np.uint64(target)
        for first in range(0, wanted, groups):
            pairs = np.stack([hashes[mine], buckets[mine] + np.uint64(first)])
            found.add(meeting, pairs)
    return found


def _rerouted(
    record: Record, groups: int, target: int, routes: Routes, change: Change
) -> Iterator[Record]:
    """The part of a record that a group gets."""
    label = BlobLabel.load(record.label)
    if label.what == SUBSCRIBE:
        asked = _renumbered(
            subscriptions_in([record])[1], change, [*routes.meetings_of(record.round // 2)]
        )
        yield from _subscriptions(
            record, label, _subscribed(asked, groups, routes.buckets, target), target, routes
        )
        return
    table = unpacked(record.blob)
    route = _route(label, record.round, routes)
    mine = routes.owners(table, route, label.arity) == target
    for rows, owned in ((mine, label.owned), (~mine, False)):
        if rows.any() and (rows is mine or route.everywhere):
            named = label._replace(owned=owned, number=route.meeting or 0)
            part = pick(table, np.flatnonzero(rows))
            yield routes.record(record.round, record.run, target, record.seq, named, part)


def _subscriptions(
    record: Record, label: BlobLabel, asked: Subscriptions, target: int, routes: Routes
) -> Iterator[Record]:
    for meeting, pairs in asked.pairs.items():
        if pairs.shape[1]:
            table = pa.table({"hash": pairs[0], "bucket": pairs[1]})
            named = label._replace(number=meeting)
            yield routes.record(record.round, record.run, target, record.seq, named, table)


def _route(label: BlobLabel, round: int, routes: Routes) -> Route:
    """The route by which a record came to a round."""
    first = routes.owner_route(label.key)
    if first.round == round:
        return first
    entity = (label.kind, label.name, label.arity)
    return next(route for route in routes.routes[entity] if route.round == round)


def retrack(known: TrackProgress, old: Store, groups: int, new: Store, wanted: int) -> None:
    """Write what each group knows anew, for the groups that are made of it."""
    for bucket in range(groups):
        state, samples, going = (old.read_tracks(part, bucket, known.number) for part in range(3))
        for target in range(bucket, wanted, groups):
            mine = _state(State.from_bytes(state), wanted, target)
            meetings = _of(unpacked(going), ("one", "two"), wanted, target)
            new.write_tracks(0, target, known.number, mine.to_bytes())
            # A pair that is found twice is one: so all may have all places.
            new.write_tracks(1, target, known.number, samples)
            new.write_tracks(2, target, known.number, packed(meetings, False))


def _state(state: State, wanted: int, target: int) -> State:
    names = ("waiting", "tracks", "inside")
    return replace(
        state, **{name: _of(getattr(state, name), ("entity",), wanted, target) for name in names}
    )


def _of(table: pa.Table, columns: tuple[str, ...], wanted: int, target: int) -> pa.Table:
    """The rows of a group, by the names in some columns."""
    if not table.num_rows:
        return table
    hashes = [names_of(table, name) for name in columns]
    whole = hashes[0] if len(hashes) == 1 else combined(hashes, table.num_rows)
    return pick(table, np.flatnonzero(whole % np.uint64(wanted) == np.uint64(target)))


TRIES = 3


def save(folder: Path, target: Path) -> Manifest:
    """Copy a stream as it is now; it should not run meanwhile."""
    if target.exists() and any(target.iterdir() if target.is_dir() else [target]):
        raise Refused(f"{target} is there already", "choose a new folder for the savepoint")
    for _ in range(TRIES):
        found = open_checkpoint(folder)
        shutil.rmtree(target, ignore_errors=True)
        try:
            target.mkdir(parents=True)
        except OSError as error:
            problem = f"{target} cannot be written: {error.strerror or error}"
            raise Refused(problem, "choose a folder that you may write to") from error
        try:
            _copy(found, target)
        except FileNotFoundError:
            continue  # the stream went on, and removed what was old
        if open_checkpoint(folder).last.number == found.last.number:
            return found.last
    shutil.rmtree(target, ignore_errors=True)
    raise Refused(f"the stream in {folder} is running", "stop it, and try again")


def _copy(found: Checkpoint, target: Path) -> None:
    """Copy what Spark has read and the state: both are of the same step, or it is done again."""
    if found.spark.is_dir():
        shutil.copytree(found.spark, target / "spark")
    last = found.last
    files = [found.store.path("items", *file) for file in last.items]
    tracks = None if last.tracks is None else last.tracks.number
    for folder, number in (("state", last.state), ("tracks", tracks)):
        if number is not None:
            files += (found.folder / folder).glob(f"*-{number:09}.arrow")
    for folder in ("state", "items", "tracks"):
        (target / folder).mkdir()
    for path in files:
        shutil.copy2(path, target / path.parent.name / path.name)
    if last.number:
        write_whole(commit_path(target, last.number), last.dump())
    write_whole(target / "stream.json", json.dumps(asdict(found.identity), indent=1).encode())


def begin(
    savepoint: Path,
    folder: Path,
    buckets: int | None,
    rules: list[tuple[str, str]],
    predicates: list[str],
    plan: Callable[[Identity], StagePlan],
    change: Change | None,
) -> Checkpoint:
    """A new checkpoint that goes on from a savepoint.

    It may run in another number of buckets, and with other rules if `change` says how.
    """
    if is_checkpoint(folder):
        hint = "leave out the savepoint to go on from there, or choose a new folder"
        raise Refused(f"{folder} is a checkpoint already", hint)
    saved = open_checkpoint(savepoint)
    old = saved.identity
    wanted = old.buckets if buckets is None else buckets
    identity = replace(
        old,
        rules=rules,
        predicates=predicates,
        buckets=wanted,
        groups=groups_for(old.groups, wanted),
    )
    if saved.spark.is_dir():
        shutil.copytree(saved.spark, folder / "spark")
    # The last to be written is what makes the folder a checkpoint.
    made = Checkpoint(folder, identity, saved.last)
    wanted_plan = plan(identity)
    same = {n: n for n in range(len(wanted_plan.routes.meetings))}
    change = change or Change(lambda _, session: session, same)
    known = resize(saved.last, saved.store, old.groups, made.store, wanted_plan, change)
    if known.tracks is not None:
        retrack(known.tracks, saved.store, old.groups, made.store, identity.groups)
    if known.number:
        write_whole(commit_path(folder, known.number), known.dump())
    create(folder, identity)
    return open_checkpoint(folder)


HINT = "begin a new stream with these rules, in another folder"


def check_change(
    old: StagePlan, new: StagePlan, read: Collection[Entity], reads: Collection[Entity]
) -> None:
    """Raise `Refused` if state cannot be kept; `read` and `reads` are the inputs then and now."""
    problem = next(_problems(old, new, set(read), set(reads)), None)
    if problem is not None:
        raise Refused(f"the state of the stream cannot be kept with these rules: {problem}", HINT)


def _problems(
    old: StagePlan, new: StagePlan, read: set[Entity], reads: set[Entity]
) -> Iterator[str]:
    for entity in sorted(reads - read):
        yield f"they read {_named(entity)}, and what came of it before was not kept"
    for entity in sorted(read - reads):
        yield f"they do not read {_named(entity)} any more"
    for entity in sorted(reads):
        if _routes(old.routes, entity) != _routes(new.routes, entity):
            yield f"{_named(entity)} would have to be in other buckets"
    made = _made(old)
    for entity, (place, owner) in _made(new).items():
        if made.get(entity, (place, owner)) != (place, owner):
            yield f"{_named(entity)} would have to be worked out in another place"
    for stage in new.stages:
        then = next((s for s in old.stages if s.number == stage.number), None)
        if then is not None and then.is_split != stage.is_split:
            yield f"stage {stage.number + 1} would be split in another way"
        given = set() if then is None else set(then.given)
        for entity in stage.given:
            if entity in made and entity not in given:
                yield f"{_named(entity)} would have to be known in stage {stage.number + 1} too"
            elif entity in given and _routes(old.routes, entity) != _routes(new.routes, entity):
                yield f"{_named(entity)} would have to be in other buckets"
    for number, meeting in enumerate(new.routes.meetings):
        if _before(old.routes, new.routes, number) is None:
            yield f"no bucket has subscribed to {_named(meeting.entity)} like this before"
    if len(old.stages) != len(new.stages):
        yield f"they run in {len(new.stages)} stages, and the old ones in {len(old.stages)}"


def _routes(routes: Routes, entity: Entity) -> list[Route]:
    """The routes of an entity, whatever numbers meetings have."""
    found = routes.routes.get(entity, ())
    return [route if route.meeting is None else replace(route, meeting=0) for route in found]


def _before(old: Routes, new: Routes, number: int) -> int | None:
    """The meeting of old rules that has had all subscribers of a new one.

    Of what is new there has been no row, so that it may be any meeting.
    """
    meeting, before = new.meetings[number], old.meetings_of(new.meetings[number].stage)
    same = [n for n, one in before.items() if one.entity == meeting.entity]
    who = new.subscribers(number)
    return next((n for n in same or before if who <= old.subscribers(n)), None)


def _made(plan: StagePlan) -> dict[Entity, tuple[int, object]]:
    """In which stage everything is made, and who owns it."""
    return {
        entity: (route.round, stage.owners[entity])
        for entity, route in plan.routes.makers.items()
        for stage in plan.stages
        if entity in stage.owners and 2 * stage.number + 1 == route.round
    }


def _named(entity: Entity) -> str:
    return f"{entity[1]}/{entity[2]}"


def changing(old: RunTask, new: RunTask, schedule: Schedule) -> Change:
    """How state of the old rules becomes that of the new ones, which have been checked."""

    def changed(stage: StageTask, saved: bytes) -> bytes:
        then = session_of(old, old.plan.stages[stage.number], schedule)
        session = session_of(new, stage, schedule)
        try:
            session.evolve(saved, then)
        except NotRestored as error:
            raise Refused(f"the state of the stream cannot be kept: {error}", HINT) from error
        return session.save()

    routes = new.plan.routes
    places = {n: _before(old.plan.routes, routes, n) for n in range(len(routes.meetings))}
    return Change(changed, {n: place for n, place in places.items() if place is not None})
