"""Entities whose being known is final, told apart from those that may still turn out unknown.

A complement speaks of every entity that is known, and so does an initial value. An entity known
only by an item that may still be taken back has no final past: it is worked out anew until the item
is final.
"""

from __future__ import annotations

import numpy as np

from horai.engine.columns import codes as code_column
from horai.engine.columns import narrow
from horai.engine.components import Components
from horai.engine.findings import Findings
from horai.engine.memory import Memory, known_rows
from horai.engine.relations import Relation, joined
from horai.engine.simple import Held
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent, fluent_of
from horai.plan.program import Stratum


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
