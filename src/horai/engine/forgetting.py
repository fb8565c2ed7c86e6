"""What a run forgets after a query: all that nobody will look at, and no item can change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from horai.engine.columns import codes as code_column
from horai.engine.columns import narrow
from horai.engine.components import Components
from horai.engine.findings import Findings
from horai.engine.memory import Memory, known_rows, remember, since_when
from horai.engine.relations import Relation, joined
from horai.engine.simple import Held
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent, World, fluent_of
from horai.plan.ec.reach import Source
from horai.plan.program import Stratum

if TYPE_CHECKING:
    from horai.engine.session import Session


# --- whose being known is final ------------------------------------------------------------------
#
# A complement speaks of every entity that is known, and so does an initial value. An entity known
# only by an item that may still be taken back has no final past: it is worked out anew until the
# item is final.


def residents(
    memory: Memory,
    found: Findings,
    stratum: Stratum,
    components: Components,
    symbols: Symbols,
) -> None:
    """Keep the past of those rows only that what is final names."""
    tables: dict[tuple[str, int], tuple[list[Relation], list[Relation]]] = {}
    for place, looked in found.rows.items():
        plan = stratum.static[place]
        rows = components.static.looked_at(plan)
        assert rows is not None
        memory.rows[place] = rows
        before, after = tables.setdefault(plan.key, ([], []))
        before.append(looked)
        after.append(rows)
    for key, (before, after) in tables.items():
        fluent = memory.fluents.get(key)
        if fluent is not None:
            absent = known_rows(fluent.pairs, joined(before, symbols), symbols)
            final = known_rows(fluent.pairs, joined(after, symbols), symbols)
            memory.fluents[key] = fluent.where(final | ~absent)


def settlers(
    memory: Memory, stratum: Stratum, components: Components, start: int, symbols: Symbols
) -> None:
    """Keep the initial values of those only whom what is final names."""
    memory.owners = components.initial_owners(stratum)
    for key, owners in memory.owners.items():
        held = memory.held.get(key)
        if held is None or not len(held):
            continue
        final = known_rows(Relation(held.args, len(held)), owners, symbols)
        kept = np.flatnonzero(final | (held.start > start))
        args = tuple(column.take(kept) for column in held.args)
        memory.held[key] = Held(args, held.value[kept], held.start[kept])


def until_cut(held: Held, cut: int, symbols: Symbols) -> Fluent:
    """Values that hold at the cut, up to there."""
    columns = (*held.args, narrow(code_column(held.value), symbols))
    end = np.full(len(held), cut + 1)
    return fluent_of(columns, held.start, end, len(held), symbols)


def forget(session: Session, world: World, findings: list[Findings], cuts: list[int]) -> None:
    """Keep what may still be looked at, and the state of every component at its cut."""
    border = session.border(world.query)
    if session.window is None or border <= session.start:
        for memory, found in zip(session.memories, findings, strict=True):
            memory.take_rows(found)
        return
    final = session.final(cuts, border)
    attempts = [
        since if f.clock is None else f.clock.first(cut)
        for f, cut, since in zip(findings, cuts, session.compared_since, strict=True)
    ]
    needed = session.horizon.needed(cuts, border, attempts)

    def keep(source: Source) -> int:
        return min(final(source), needed.get(source, border))

    session.members.make_permanent(session.stream, border)
    mixed = session.inputs.told(world, session.stream, session.program.unwrapping)
    session.inputs.cut_at(border, world, keep, session.known, mixed)
    for place, found in enumerate(findings):
        if cuts[place] == session.start:  # not even what holds from the start on is final
            session.memories[place].take_rows(found)
            continue
        session.memories[place] = remember(
            session.memories[place],
            found,
            cuts[place],
            keep,
            session.symbols,
            session.known,
            session.compared_since[place],
        )
    for memory in session.memories:
        for key in mixed.keys() & memory.held.keys():
            memory.held[key] = since_when(
                memory.held[key], world.fluent(key), memory.cut, session.symbols
            )
    _forget_guests(session, world.query, findings)
    session.ledger.close(final)
    # Items are kept as they came, whatever readers call the entities inside them.
    bounds = {
        key: min(keep(("event", flat)) for flat in session.program.unwrapping.forms(key))
        for key in session.stream.keys("event")
    }
    for key in session.stream.keys("fluent"):
        bounds[key] = min(border, bounds.get(key, border))
    session.stream.forget(bounds)


def _forget_guests(session: Session, query: int, findings: list[Findings]) -> None:
    """Of entities known only by what may still be taken back, no past is final.

    Rules that speak of what is absent, and initial values, tell of everyone who is known.
    """
    session.ledger.fixed = {}
    if not any(found.rows or found.owners for found in findings):
        return
    world = World(session.symbols, session.tick, session.start, query, session.allen_memory)
    world.derived = session.derived
    for key, fluent in session.inputs.fluents.items():
        world.add_fluent(key, fluent)
    components = session.components_in(world, session.final_knowledge, session.members.permanent)
    for memory, stratum, found in zip(
        session.memories, session.program.strata, findings, strict=True
    ):
        if found.rows:
            residents(memory, found, stratum, components, session.symbols)
            note_rows(session.ledger.fixed, stratum, memory.rows, session.symbols)
        if found.owners and session.program.dynamic:
            settlers(memory, stratum, components, session.start, session.symbols)
        for key, fluent in memory.fluents.items():
            world.add_fluent(key, components.shown(key, fluent))
        for key, held in memory.held.items():
            world.add_fluent(key, until_cut(held, memory.cut, session.symbols))


def note_rows(
    tables: dict[Source, Relation], stratum: Stratum, rows: dict[int, Relation], symbols: Symbols
) -> None:
    """Rows of rules that speak of what is absent, by what they speak of."""
    for place, table in rows.items():
        source: Source = ("fluent", stratum.static[place].key)
        before = [tables[source]] if source in tables else []
        tables[source] = joined([*before, table], symbols)
