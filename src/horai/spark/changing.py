"""Other rules for a stream that goes on: may its state be kept, and what becomes of it?

Items and spans lie in buckets where the old rules sent them. They can stay if the new rules read
the same items, and send what there was before to the same places.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from horai.engine.errors import NotRestored
from horai.engine.session import Session
from horai.spark.bucket import session_of
from horai.spark.refusals import Refused
from horai.spark.routes import Entity
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
        if old.routes.routes.get(entity) != new.routes.routes.get(entity):
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
            elif entity in given and old.routes.routes[entity] != new.routes.routes[entity]:
                yield f"{_named(entity)} would have to be in other buckets"
    if len(old.stages) != len(new.stages):
        yield f"they run in {len(new.stages)} stages, and the old ones in {len(old.stages)}"


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


def changing(old: RunTask, new: RunTask, clock: Clockwork) -> Callable[[StageTask, bytes], bytes]:
    """How sessions of the old rules become such of the new ones."""

    def changed(stage: StageTask, saved: bytes) -> bytes:
        then: Session = session_of(old, old.plan.stages[stage.number], clock)
        session = session_of(new, stage, clock)
        try:
            session.evolve(saved, then.program)
        except NotRestored as error:
            raise Refused(f"the state of the stream cannot be kept: {error}", HINT) from error
        return session.save()

    return changed
