"""To which buckets the rows of an entity go, stage by stage.

A stage has two rounds: in the first, rows that come by a join on entities meet the subscriptions
to them; in the second the engine runs. Rows with a place for the key go to the bucket of what
stands there. Rows that come by joins go to the meeting point of what stands at the place of the
join.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from horai.io.schema import TableKey
from horai.plan.split.stages import Stage
from horai.runtime.hashing import Hashes, Path, hash_argument, hash_rows
from horai.runtime.records import ROW, BlobLabel, Record, Rows, lean, packed, pick

Entity = tuple[str, str, int]  # event or fluent, name, arity
SUBSCRIBE, REFRESH = "subscribe", "refresh"  # in labels: new subscriptions, and those that stay


def meeting_round(stage: int) -> int:
    """The round in which what a stage gets by joins is sent on."""
    return 2 * stage


def engine_round(stage: int) -> int:
    """The round in which a stage runs."""
    return 2 * stage + 1


@dataclass(frozen=True, slots=True)
class Route:
    """Rows go to the bucket of what stands at `place`.

    Without a place all go to bucket 0 (`whole` False) or by all their arguments (True). With a
    meeting point they stop there first, and go on to the buckets that have subscribed. What goes
    `everywhere` has one owner, and is a replica in all other buckets. Where rows are `owned`, they
    are judged and counted.
    """

    round: int
    place: Path | None
    whole: bool = False
    owned: bool = False
    meeting: int | None = None
    everywhere: bool = False


@dataclass(frozen=True, slots=True)
class SubscriptionRoute:
    """Where rows of an anchor subscribe: the bucket of `key`, to what stands at `place`."""

    round: int
    meeting: int
    place: Path
    key: Path


@dataclass(slots=True)
class Meeting:
    """The meeting point of rows of an entity and the subscriptions to what stands at a place.

    `itself` says that the bucket of what stands there wants them too. In a stream it always does:
    it has them for later subscriptions.
    """

    stage: int
    entity: Entity
    place: Path
    itself: bool
    owned: bool


@dataclass(slots=True)
class Routes:
    """All routes of a run with some number of buckets."""

    buckets: int
    pressed: bool = True  # are blobs?
    routes: dict[Entity, list[Route]] = field(default_factory=dict)
    subscribing: dict[Entity, list[SubscriptionRoute]] = field(default_factory=dict)
    meetings: list[Meeting] = field(default_factory=list)
    # Items may be about what rules make, too: they go where it is made.
    makers: dict[Entity, Route] = field(default_factory=dict)
    # Where items go that no rule reads by a key.
    rest: Route = field(default_factory=lambda: Route(engine_round(0), None, owned=True))

    def meetings_of(self, stage: int) -> dict[int, Meeting]:
        """The meetings of a stage, by number."""
        return {n: meeting for n, meeting in enumerate(self.meetings) if meeting.stage == stage}

    def subscribers(self, meeting: int) -> set[tuple[Entity, Path, Path]]:
        """The subscribers of a meeting: anchors, what they subscribe to, and the key they have."""
        return {
            (anchor, ask.place, ask.key)
            for anchor, asks in self.subscribing.items()
            for ask in asks
            if ask.meeting == meeting
        }

    def send(
        self, run: int, seq: int, key: TableKey, table: pa.Table, what: str, after: int
    ) -> Iterator[Record]:
        """The rows of a table to all buckets that want them in rounds after one."""
        entity = (str(key.kind), key.name, key.arity)
        if what == "items" and (entity in self.makers or entity not in self.routes):
            # Of what nobody reads, all is judged and counted all the same.
            routes = [self.makers.get(entity, self.rest)]
        else:
            routes = [route for route in self.routes[entity] if route.round > after]
        stages = [route.round // 2 for route in routes]
        for route in routes:
            rows = table
            if stages.count(route.round // 2) > 1:
                numbers = np.arange(table.num_rows, dtype=np.int64) + (seq << 32)
                rows = table.append_column(ROW, pa.array(numbers))
            label = BlobLabel(what, *key, route.owned, route.meeting or 0)
            yield from self._spread(run, seq, rows, route, label)
        made = entity in self.makers and what == "items"
        for by in () if made else self.subscribing.get(entity, ()):
            if by.round > after:
                wanted, owner = hash_argument(table, by.place), hash_argument(table, by.key)
                buckets = self.bucket(owner).astype(np.uint64)
                pairs = np.unique(np.stack([wanted, buckets]), axis=1)
                label = BlobLabel(SUBSCRIBE, number=by.meeting)
                yield from self.send_subscriptions(by.round, run, seq, label, pairs)

    def owner_route(self, key: TableKey) -> Route:
        """The route of items of a kind to their owner, where they are judged and counted."""
        entity = (str(key.kind), key.name, key.arity)
        if entity in self.makers or entity not in self.routes:
            return self.makers.get(entity, self.rest)
        return next((route for route in self.routes[entity] if route.owned), self.rest)

    def item_owners(self, key: TableKey, table: pa.Table) -> Rows:
        """The buckets in which items are judged and counted."""
        return self.owners(table, self.owner_route(key), key.arity)

    def owners(self, table: pa.Table, route: Route, arity: int) -> Rows:
        """The buckets that rows belong to by a route."""
        if route.place is not None:
            return self.bucket(hash_argument(table, route.place))
        if route.whole:
            return self.bucket(hash_rows(table, arity))
        return np.zeros(table.num_rows, np.int64)

    def _spread(
        self, run: int, seq: int, table: pa.Table, route: Route, label: BlobLabel
    ) -> Iterator[Record]:
        owners = self.owners(table, route, label.arity)
        if route.everywhere:
            yield from self._to_all(run, seq, table, route, label, owners)
            return
        for bucket, part in split(table, owners, self.buckets):
            yield self.record(route.round, run, bucket, seq, label, part)

    def _to_all(
        self, run: int, seq: int, table: pa.Table, route: Route, label: BlobLabel, own: Rows
    ) -> Iterator[Record]:
        """The rows of a table to every bucket, each of them once."""
        if not route.owned:  # they have no owner, so all buckets get the same
            blob = packed(lean(table), self.pressed) if table.num_rows else b""
            for bucket in range(self.buckets if blob else 0):
                slot = self.slot(run, bucket)
                yield Record(route.round, slot, run, bucket, seq, label.dump(), blob)
            return
        for bucket in range(self.buckets):
            for is_owned in (True, False):
                rows = np.flatnonzero((own == bucket) == is_owned)
                if len(rows):
                    named = label._replace(owned=is_owned)
                    yield self.record(route.round, run, bucket, seq, named, pick(table, rows))

    def send_subscriptions(
        self, round: int, run: int, seq: int, label: BlobLabel, pairs: npt.NDArray[np.uint64]
    ) -> Iterator[Record]:
        """Subscriptions, by what they are to and by which buckets, on their way to the owners."""
        told = pa.table({"hash": pairs[0], "bucket": pairs[1]})
        for bucket, part in split(told, self.bucket(pairs[0]), self.buckets):
            yield self.record(round, run, bucket, seq, label, part)

    def bucket(self, hashes: Hashes) -> Rows:
        """The buckets of what has these numbers."""
        return (hashes % np.uint64(self.buckets)).astype(np.int64)

    def record(
        self, round: int, run: int, bucket: int, seq: int, label: BlobLabel, table: pa.Table
    ) -> Record:
        """A table on its way to a bucket."""
        slot = self.slot(run, bucket)
        return Record(round, slot, run, bucket, seq, label.dump(), packed(table, self.pressed))

    def slot(self, run: int, bucket: int) -> int:
        """The partition that works on a bucket, if there are enough of them."""
        return run * self.buckets + bucket


def split(table: pa.Table, buckets: Rows, number: int) -> Iterator[tuple[int, pa.Table]]:
    """The rows of a table by bucket, in their order."""
    if not table.num_rows:
        return
    counts = np.bincount(buckets, minlength=number)
    if counts.max() == table.num_rows:
        yield int(buckets[0]), lean(table)
        return
    ordered = table.take(pa.array(np.argsort(buckets, kind="stable")))
    ends = np.cumsum(counts)
    for bucket in np.flatnonzero(counts).tolist():
        yield bucket, lean(ordered.slice(ends[bucket] - counts[bucket], counts[bucket]))


def routes_of(
    stages: Sequence[Stage], inputs: Sequence[Entity], buckets: int, goes_on: bool = False
) -> Routes:
    """The routes of all that stages read; `inputs` is what may come from the stream.

    A run that `goes_on` step by step does not know yet which buckets will subscribe. A new
    subscriber gets what there was before from the owner; so there has to be one place by which
    buckets subscribe. What they would subscribe to by several places goes everywhere.
    """
    found = Routes(buckets, pressed=not goes_on)
    found.rest = replace(found.rest, whole=stages[0].is_split)
    unowned = dict.fromkeys(inputs)
    for stage in stages:
        for kind, name, arity in (*stage.items, *stage.given):
            _add(found, stage, (str(kind), name, arity), unowned, goes_on)
    for stage in stages:
        for made in stage.makes:
            route = Route(engine_round(stage.number), stage.places.get(made), owned=True)
            found.makers[str(made[0]), made[1], made[2]] = route
    for entity in unowned:
        found.routes.setdefault(entity, []).append(found.rest)
    return found


def _add(
    found: Routes, stage: Stage, entity: Entity, unowned: dict[Entity, None], goes_on: bool
) -> None:
    """The routes of an entity to a stage; the first place it has is that of its owner."""
    routes, round = found.routes.setdefault(entity, []), engine_round(stage.number)
    places = {(str(e[0]), *e[1:]): place for e, place in stage.places.items()}
    direct, owned = places.get(entity), entity in unowned
    if not stage.is_split:
        unowned.pop(entity, None)
        routes.append(Route(round, None, owned=owned))
        return
    if direct is not None:
        unowned.pop(entity, None)
    joins = [join for join in stage.joins if (str(join.entity[0]), *join.entity[1:]) == entity]
    places_asked = dict.fromkeys(join.place for join in joins)
    if joins and goes_on:
        unowned.pop(entity, None)
        if len(places_asked.keys() | ({direct} - {None})) > 1:
            routes.append(Route(round, direct, direct is None, owned, everywhere=True))
            return
    for place in places_asked:
        itself = goes_on or place == direct
        number = len(found.meetings)
        found.meetings.append(Meeting(stage.number, entity, place, itself, owned and itself))
        first = owned and goes_on
        routes.append(Route(meeting_round(stage.number), place, owned=first, meeting=number))
        for join in joins:
            if join.place == place:
                anchor = (str(join.anchor[0]), *join.anchor[1:])
                by = SubscriptionRoute(meeting_round(stage.number), number, join.meeting, join.key)
                found.subscribing.setdefault(anchor, []).append(by)
    if direct is not None and direct not in places_asked:
        routes.append(Route(round, direct, owned=owned))
