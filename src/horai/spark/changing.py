"""Other rules for a stream that goes on: may its state be kept, and what becomes of it?

Items and spans lie in buckets where the old rules sent them. They can stay if the new rules read
the same items, and send what there was before to the same places.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from horai.engine.errors import NotRestored
from horai.engine.session import Session
from horai.spark.bucket import session_of
from horai.spark.refusals import Refused
from horai.spark.resizing import Change
from horai.spark.routes import Entity, Route, Routes
from horai.spark.tasks import Clockwork, Plan, RunTask, StageTask

HINT = "begin a new stream with these rules, in another folder"


def check_change(old: Plan, new: Plan, read: Collection[Entity], reads: Collection[Entity]) -> None:
    """Raise `Refused` if state cannot be kept; `read` and `reads` are the inputs then and now."""
    problem = next(_problems(old, new, set(read), set(reads)), None)
    if problem is not None:
        raise Refused(f"the state of the stream cannot be kept with these rules: {problem}", HINT)


def _problems(old: Plan, new: Plan, read: set[Entity], reads: set[Entity]) -> Iterator[str]:
    for entity in sorted(reads - read):
        yield f"they read {_named(entity)}, and what came of it before was not kept"
    for entity in sorted(read - reads):
        yield f"they do not read {_named(entity)} any more"
    for entity in sorted(reads):
        if _ways(old.routes, entity) != _ways(new.routes, entity):
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
            elif entity in given and _ways(old.routes, entity) != _ways(new.routes, entity):
                yield f"{_named(entity)} would have to be in other buckets"
    for number, meeting in enumerate(new.routes.meetings):
        if _before(old.routes, new.routes, number) is None:
            yield f"nobody has asked for {_named(meeting.entity)} in this way before"
    if len(old.stages) != len(new.stages):
        yield f"they run in {len(new.stages)} stages, and the old ones in {len(old.stages)}"


def _ways(routes: Routes, entity: Entity) -> list[Route]:
    """The routes of an entity, whatever numbers meetings have."""
    found = routes.routes.get(entity, ())
    return [route if route.meeting is None else replace(route, meeting=0) for route in found]


def _before(old: Routes, new: Routes, number: int) -> int | None:
    """The meeting of old rules at which all have asked who ask at a new one.

    Of what is new nobody has been told, so that it may be any meeting.
    """
    meeting, before = new.meetings[number], old.meetings_of(new.meetings[number].stage)
    same = [n for n, one in before.items() if one.entity == meeting.entity]
    who = new.askers(number)
    return next((n for n in same or before if who <= old.askers(n)), None)


def _made(plan: Plan) -> dict[Entity, tuple[int, object]]:
    """In which stage everything is made, and who owns it."""
    return {
        entity: (route.round, stage.owners[entity])
        for entity, route in plan.routes.makers.items()
        for stage in plan.stages
        if entity in stage.owners and 2 * stage.number + 1 == route.round
    }


def _named(entity: Entity) -> str:
    return f"{entity[1]}/{entity[2]}"


def changing(old: RunTask, new: RunTask, clock: Clockwork) -> Change:
    """How state of the old rules becomes that of the new ones, which have been checked."""

    def changed(stage: StageTask, saved: bytes) -> bytes:
        then: Session = session_of(old, old.plan.stages[stage.number], clock)
        session = session_of(new, stage, clock)
        try:
            session.evolve(saved, then.program)
        except NotRestored as error:
            raise Refused(f"the state of the stream cannot be kept: {error}", HINT) from error
        return session.save()

    routes = new.plan.routes
    places = {n: _before(old.plan.routes, routes, n) for n in range(len(routes.meetings))}
    return Change(changed, {n: place for n, place in places.items() if place is not None})
