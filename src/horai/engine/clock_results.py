"""What the clockwork has settled, back from numbers to fluents and points of the world."""

from __future__ import annotations

import numpy as np

from horai.engine.clock_candidates import Block
from horai.engine.columns import codes, narrow
from horai.engine.effects import Numbered
from horai.engine.hashing import dense
from horai.engine.heads import Said
from horai.engine.owners import Owners, Values
from horai.engine.relations import Relation
from horai.engine.world import Fluent, no_fluent
from horai.plan.program import Plan, Stratum
from horai.temporal import clockwork
from horai.temporal.clockwork import INITIATE, TERMINATE
from horai.temporal.inertia import ValueSpans
from horai.temporal.sorting import order
from horai.temporal.spans import Mask, Spans

Key = tuple[str, int]


def fluent_of(key: Key, spans: ValueSpans, owners: Owners, values: Values) -> Fluent:
    """The pairs of a fluent and the spans in which each holds."""
    low = owners.offset[key]
    first, last = np.searchsorted(spans.key, [low, low + owners.count[key]])
    if first == last:
        return no_fluent(key[1] + 1)
    owner, value = spans.key[first:last], spans.value[first:last]
    start, end = spans.start[first:last], spans.end[first:last]
    pair, firsts = dense([(owner - low) * (len(values.codes) + 1) + value], len(owner))
    args = owners.owned(key, owner[firsts])
    shown = narrow(codes(values.codes[value[firsts]]), owners.symbols)
    sorting = order(pair, start)
    return Fluent(
        Relation((*args, shown), len(firsts)),
        Spans(pair[sorting], start[sorting], end[sorting]),
    )


class Points:
    """The initiations and terminations that counted, for rules that read them."""

    def __init__(self, program: Plan, stratum: Stratum) -> None:
        self.program = program
        self.initiated: dict[Key, list[Said]] = {key: [] for key in stratum.fluents}
        self.terminated: dict[Key, list[Said]] = {key: [] for key in stratum.fluents}

    def add_candidates(self, blocks: list[Block], met: Mask) -> None:
        """Those of rules; `met` says of all candidates whether their tests were met."""
        at = 0
        for block in blocks:
            rows = met[at : at + len(block.said)]
            at += len(block.said)
            if block.key in self.program.initiations_read:
                self.initiated[block.key].append(block.said.where(rows & (block.kind == INITIATE)))
            if block.key in self.program.terminations_read:
                self.terminated[block.key].append(
                    block.said.where(rows & (block.kind == TERMINATE))
                )

    def add_effects(
        self, table: Numbered, settled: clockwork.Settled, owners: Owners, values: Values
    ) -> None:
        """Those of delayed effects."""
        for key, kind, said in table.said(settled, owners, values):
            if kind == INITIATE:
                self.initiated[key].append(said)
            elif kind == TERMINATE:
                self.terminated[key].append(said)
