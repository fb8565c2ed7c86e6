"""The tasks of workers: a run, its stages and its clock, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

from horai.lang.ec.syntax import EventDescription
from horai.plan.split.stages import Stage, stages_of
from horai.predicates import Predicate
from horai.runtime.checkpoint import ItemFile, Store
from horai.runtime.findings import Sought
from horai.runtime.hashing import Path
from horai.runtime.records import Record
from horai.runtime.routes import Entity, Routes, routes_of
from horai.settings import Schedule


@dataclass(frozen=True, slots=True)
class Ownership:
    """Which bucket tells of a row: that of what stands at `place`, or of all arguments."""

    place: Path | None = None
    whole: bool = False

    @property
    def is_split(self) -> bool:
        """False if one bucket has all rows."""
        return self.whole or self.place is not None


class Parcel:
    """A description that travels as bytes, made once; who knows its mark leaves it closed.

    It travels inside of what Spark sends to its workers, so Spark packs it: bytes from elsewhere
    never come here.
    """

    def __init__(self, mark: str, content: EventDescription | None, packed: bytes = b"") -> None:
        self.mark, self._content, self._packed = mark, content, packed

    def open(self) -> EventDescription:
        """The description."""
        if self._content is None:
            self._content = _spark().loads(self._packed)
        return self._content

    def __hash__(self) -> int:
        return hash(self.mark)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Parcel) and self.mark == other.mark

    def __reduce__(self) -> tuple[type[Parcel], tuple[str, None, bytes]]:
        self._packed = self._packed or _spark().dumps(self._content)
        return Parcel, (self.mark, None, self._packed)


def _spark() -> Any:
    from pyspark.serializers import CPickleSerializer

    return CPickleSerializer()


@dataclass(slots=True)
class StageTask:
    """A stage as a bucket runs it."""

    number: int
    description: Parcel
    is_split: bool
    given: list[Entity]
    sends: set[Entity]
    owners: dict[Entity, Ownership]
    # Where items are shown, the first stage also shows those that no rule speaks of: all but these.
    known: frozenset[Entity] | None = None


@dataclass(slots=True)
class StagePlan:
    """The stages of a description with some number of buckets."""

    stages: list[StageTask]
    routes: Routes


@dataclass(slots=True)
class RunTask:
    """A whole run, or a step of a stream, as buckets have to know it.

    `frontiers` tell for stages that are done before which time what they send to later ones cannot
    change any more, at each query time; `given_final` the same of all that is given to a stage. A
    step has a `number`; `state` is that of the step whose state it goes on from, `items` what waits
    for a query time. A whole run has no `store`: it ends with its only step.
    """

    plan: StagePlan
    predicates: dict[str, Predicate] = field(default_factory=dict)
    forms: tuple[str, ...] = ("final",)
    include_input: bool = False
    schedule: Schedule | None = None
    frontiers: dict[int, list[int]] = field(default_factory=dict)
    given_final: list[int] | None = None
    sought: list[Sought] = field(default_factory=list)  # where spellings are looked at
    store: Store | None = None
    number: int = 0
    state: int | None = None
    items: list[ItemFile] = field(default_factory=list)
    ends: bool = True
    refreshes: bool = False  # are subscriptions refreshed?

    def only(self, number: int) -> RunTask:
        """The task of the buckets of one stage."""
        stage = self.plan.stages[number]
        makers = [one.number for one in self.plan.stages if one.sends.intersection(stage.given)]
        given = earliest([self.frontiers[one] for one in makers]) if makers else None
        plan = StagePlan([stage], self.plan.routes)
        items = [file for file in self.items if file[0] // 2 == number]
        return replace(self, plan=plan, given_final=given, frontiers={}, items=items)

    def waiting(self, round: int, bucket: int) -> list[Record]:
        """The items of a bucket that no query time has asked for yet, in their order."""
        if self.store is None:
            return []
        files = [file for file in self.items if file[:2] == (round, bucket)]
        return [record for file in sorted(files) for record in self.store.read_items(*file)]


def earliest(frontiers: Iterable[Sequence[int]]) -> list[int]:
    """At each query time the frontier of all: the earliest."""
    return [min(column) for column in zip(*frontiers, strict=True)]


def plan_of(
    description: EventDescription,
    inputs: Sequence[Entity],
    buckets: int,
    include_input: bool,
    goes_on: bool = False,
) -> StagePlan:
    """The plan of a run over buckets; there is at least one stage, for items have to be judged."""
    stages = list(stages_of(description)) or [Stage(0)]
    routes = routes_of(stages, inputs, buckets, goes_on)
    later = {(str(e[0]), *e[1:]) for stage in stages for e in stage.given}
    tasks: list[StageTask] = []
    whole = _fingerprint(description)
    for stage in stages:
        makes: list[Entity] = [(str(kind), name, arity) for kind, name, arity in stage.makes]
        places = {(str(e[0]), *e[1:]): place for e, place in stage.places.items()}
        owners = {made: Ownership(places.get(made)) for made in makes}
        if include_input:
            owners |= _shown(routes, inputs, stage.number)
        given: list[Entity] = [(str(kind), name, arity) for kind, name, arity in stage.given]
        sends = {made for made in makes if made in later}
        known = None
        if include_input and stage.number == 0:
            known = frozenset([*inputs, *routes.makers])
        mine = Parcel(f"{whole}/{stage.number}", stage.description(description))
        tasks.append(StageTask(stage.number, mine, stage.is_split, given, sends, owners, known))
    return StagePlan(tasks, routes)


def _fingerprint(description: EventDescription) -> str:
    """Tells rules apart: workers plan those they know only once."""
    text = "\0".join(part for s in description.sources for part in (s.name, s.text))
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _shown(routes: Routes, inputs: Sequence[Entity], stage: int) -> dict[Entity, Ownership]:
    """The items that buckets of a stage own, and show where items are to be shown."""
    found: dict[Entity, Ownership] = {}
    for entity in inputs:
        for route in routes.routes.get(entity, ()):
            meeting = None if route.meeting is None else routes.meetings[route.meeting]
            is_owned = route.owned or (meeting is not None and meeting.owned)
            if is_owned and route.round // 2 == stage:
                found[entity] = Ownership(route.place, route.whole)
    return found
