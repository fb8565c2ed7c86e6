"""A query answered by what has changed since the last one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from horai.engine.answer import Answer
from horai.engine.components import Components
from horai.engine.deltas.changes import Changed
from horai.engine.deltas.costs import Sizes
from horai.engine.deltas.live_world import LiveWorld
from horai.engine.deltas.reasons import NotByChange
from horai.engine.deltas.told import told
from horai.engine.findings import Findings
from horai.engine.forgetting import forget, note_rows
from horai.engine.memory import Memory
from horai.engine.origins import Dropped
from horai.engine.watching import watching

if TYPE_CHECKING:
    from horai.engine.session import Session

# To begin with it is dear, so it has to be expected to be cheaper by this much; then less will do.
TO_BEGIN, TO_GO_ON = 0.8, 1.0
REUSED = 1  # memories are brought up to date this often while a window passes


def pays(session: Session, before: int) -> bool:
    """Is it worth while to work by change, rather than from the cut on?"""
    if session.incremental == "always":
        return True
    sizes = Sizes(*session.stream.sizes(before))
    if sizes.changed >= sizes.counting:
        return False
    most = TO_GO_ON if session.works_by_change else TO_BEGIN
    costs = session.live.costs
    return costs.by_change(sizes) < most * costs.from_scratch(sizes)


def advance_by_change(session: Session, before: int, dropped: Sequence[Dropped]) -> Answer | None:
    """Bring all relations up to date, and tell what came and went; None if it cannot be."""
    start, query = session.start, session.query
    world = LiveWorld(session.symbols, session.tick, start, query, session.allen_memory)
    world.derived = session.derived
    world.stores, world.logs = session.live.board.stores, session.live.board.logs
    world.before = before
    built = session.live.built
    members = session.live.board.domain.members(session.members, session.stream, built)
    components = session.components_in(world, session.knowledge, members, session.profile)
    changed = session.live.take_in(session.stream, session.inputs, world)
    border = session.border(session.query)

    def run(place: int, memory: Memory, cut: Callable[[], int]) -> Findings | None:
        compiled = session.ways[place]
        with watching(session.profile, session.live, place):
            return session.live.run(place, components, memory, compiled, cut, changed, before)

    try:
        findings, cuts = session.each(world, border, run)
    except NotByChange:
        return None  # of one component more was asked than could be known before
    session.live.built = True
    if not session.live.possible:
        return None
    session.ledger.looked = {}
    for stratum, found in zip(session.program.strata, findings, strict=True):
        if found is not None:
            note_rows(session.ledger.looked, stratum, found.rows, session.symbols)
    answer = _answer(session, world, changed if built else None, dropped)
    _remember(session, components, findings, cuts, border)
    return answer


def _answer(
    session: Session, world: LiveWorld, changed: Changed | None, dropped: Sequence[Dropped]
) -> Answer:
    query = world.query
    border = query if session.window is None else query - session.window
    final = session.final(session.cuts, session.inputs.cut)
    if changed is None:
        return session.ledger.answer(world, final, border, dropped)
    rows = told(changed, session.live.board.logs, session.ledger.shown)
    return session.ledger.answer_by_change(
        query, session.live.board.snapshot(), rows, final, border, dropped
    )


def _remember(
    session: Session,
    components: Components,
    findings: list[Findings | None],
    cuts: list[int],
    border: int,
) -> None:
    """Now and then, bring the memories up to date and drop what nobody looks at any more."""
    if session.window is None or border <= session.start:
        for memory, found in zip(session.memories, findings, strict=True):
            if found is not None:
                memory.take_rows(found)
        return
    if border - session.based < session.window // REUSED:
        return
    session.based = border
    whole = [
        session.live.findings(place, memory, cuts[place], components) if found is None else found
        for place, (memory, found) in enumerate(zip(session.memories, findings, strict=True))
    ]
    world = components.world
    session.live.fill_inputs(world)
    forget(session, world, whole, cuts)
