"""Components settled by a compiled machine: rules as instructions, all entities in one pass.

It knows all that `Stepwise` knows of time-points one apart, except what a plan has no instructions
for. State at a cut is the same, so that either can take up what the other has left.
"""

from __future__ import annotations

import numpy as np

from horai.engine import machine_rows as row
from horai.engine.clockstate import ClockState, Pending
from horai.engine.columns import Column, codes, codes_of, ints, narrow
from horai.engine.findings import Findings
from horai.engine.hashing import dense
from horai.engine.heads import Heads
from horai.engine.machine_attempts import earlier_attempts
from horai.engine.machine_input import Inputs, NotHere
from horai.engine.machine_kernel import go_on
from horai.engine.machine_room import more_room, new_live, open_attempts, take_up
from horai.engine.machine_rows import Candidates, Given, Live
from horai.engine.memory import Memory
from horai.engine.relations import Relation
from horai.engine.simple import Held
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent, Terminations, no_fluent
from horai.lang.core.terms import Float, Int
from horai.plan.ec.machine import Machine
from horai.plan.ec.opcodes import INITIATE, TERMINATE, TERMINATE_ALL
from horai.plan.program import Plan, Stratum
from horai.temporal.sorting import order
from horai.temporal.spans import INF, Ints, Spans

Key = tuple[str, int]


class MachineRun:
    """Settles one component, if it can."""

    few = 300  # candidates of all runs together for which loading compiled code does not pay
    met = 0

    def __init__(
        self,
        program: Plan,
        stratum: Stratum,
        machine: Machine,
        heads: Heads,
        held: dict[Key, Held],
        memory: Memory,
    ) -> None:
        self.program = program
        self.stratum = stratum
        self.machine = machine
        self.heads = heads
        self.world = heads.world
        self.symbols = heads.symbols
        self.held = held
        self.memory = memory
        self.delays = sorted(machine.delays, key=lambda d: self.node("fluent", d.plan.origin_key))

    def node(self, kind: str, key: Key) -> int:
        """The number of an event or fluent."""
        return self.machine.nodes.index((kind, key))

    def run(self, cut: int, found: Findings) -> bool:
        """Settle all after the memory's cut; False if that takes more than a machine."""
        if self.world.tick != 1 or self._has_others():
            return False
        inputs = Inputs(self.program, self.machine, self.heads)
        try:
            given = inputs.given()
        except NotHere:
            return False
        candidates = inputs.candidates()
        MachineRun.met += len(candidates.time) + 1
        if MachineRun.met <= MachineRun.few:
            return False
        settled = self.settle(candidates, given, inputs.registers(), cut)
        if settled is None:
            return False
        found.clock, live = settled
        self._publish(live, found)
        return True

    def settle(
        self, candidates: Candidates, given: Given, registers: Ints, cut: int
    ) -> tuple[ClockState, Live] | None:
        """Settle all candidates: what is carried over at the cut, and how it ends; None if that
        takes more than a machine."""
        live = new_live(self.machine, given, registers, len(candidates.time), self._held())
        live = take_up(live, given, earlier_attempts(self))
        outcome, live = self._until(candidates, given, live, min(cut, self.world.query))
        if outcome != row.DONE:
            return None
        carried = self._carried(live, given)
        outcome, live = self._until(candidates, given, live, self.world.query)
        return None if outcome != row.DONE else (carried, live)

    def _has_others(self) -> bool:
        """Has a member values that no rule of the component gives it?"""
        low = self.memory.cut
        return any(
            (part.spans.end > low + 1).any()
            for key in self.stratum.fluents
            for part in self.world.fluents.get(key, ())
        )

    def _held(self) -> list[tuple[int, list[Ints], Ints, Ints]]:
        return [
            (
                self.node("fluent", key),
                [codes_of(column, self.symbols) for column in held.args],
                held.value,
                held.start,
            )
            for key, held in self.held.items()
            if len(held)
        ]

    def _until(
        self, candidates: Candidates, given: Given, live: Live, until: int
    ) -> tuple[int, Live]:
        while True:
            outcome = go_on(candidates, given, live, self.machine.layers, until)
            if outcome != row.NO_ROOM:
                return outcome, live
            live = more_room(live, given)

    # --- what is carried over --------------------------------------------------------------------

    def _carried(self, live: Live, given: Given) -> ClockState:
        """The attempts that nothing up to the cut has cancelled."""
        rows = open_attempts(live, given)
        attempts = live.attempts[rows]
        pairs = live.pairs[attempts[:, row.PAIR]]
        owners = live.inst[pairs[:, row.INSTANCE]]
        numbers, since = attempts[:, row.EFFECT].tolist(), attempts[:, row.SINCE].tolist()
        values, args = pairs[:, row.VALUE].tolist(), owners[:, row.ARGS :].tolist()
        found: dict[Pending, None] = {}
        for number, value, listed, at in zip(numbers, values, args, since, strict=True):
            plan = self.delays[number].plan
            owner = (plan.origin_key, tuple(listed[: plan.origin_key[1]]))
            found[Pending(plan.number, owner, value, at)] = None
        return ClockState(list(found))

    # --- results ---------------------------------------------------------------------------------

    def fluents(self, live: Live) -> dict[Key, Fluent]:
        """The spans of all fluents."""
        spans = live.spans[: live.come[row.N_SPANS]]
        inst = live.inst[: live.come[row.N_INST]]
        node = inst[spans[:, 0], row.NODE]
        listed = enumerate(self.machine.nodes)
        return {
            key: self._fluent(inst, spans[node == number], number, key)
            for number, (kind, key) in listed
            if kind == "fluent"
        }

    def events(self, live: Live) -> dict[Key, Relation]:
        """The points of all events."""
        inst = live.inst[: live.come[row.N_INST]]
        points = live.points[: live.come[row.N_POINTS]]
        node = inst[points[:, 1], row.NODE]
        found: dict[Key, Relation] = {}
        for number, (kind, key) in enumerate(self.machine.nodes):
            if kind == "event":
                mine = points[node == number]
                found[key] = self._rows(inst, mine[:, 1], key, None, mine[:, 3])
        return found

    def _publish(self, live: Live, found: Findings) -> None:
        for key, rows in self.events(live).items():
            self._points("event", key, rows, found)
        for key, fluent in self.fluents(live).items():
            found.fluents[key] = fluent
            self.world.add_fluent(key, fluent)
            self._publish_points(live, key, found)

    def _publish_points(self, live: Live, key: Key, found: Findings) -> None:
        """Initiations and terminations, for rules that read them."""
        inst = live.inst[: live.come[row.N_INST]]
        points = live.points[: live.come[row.N_POINTS]]
        if key in self.program.initiations_read | self.program.terminations_read:
            mine = points[inst[points[:, 1], row.NODE] == self.node("fluent", key)]
            if key in self.program.initiations_read:
                begun = mine[mine[:, 0] == INITIATE]
                rows = self._rows(inst, begun[:, 1], key, begun[:, 2], begun[:, 3])
                self._points("initiated", key, rows, found)
            if key in self.program.terminations_read:
                self._terminations(inst, mine, key, found)

    def _points(self, kind: str, key: Key, rows: Relation, found: Findings) -> None:
        found.points[kind, key] = rows
        self.world.add_points(kind, key, rows)

    def _terminations(self, inst: Ints, points: Ints, key: Key, found: Findings) -> None:
        named, every = (points[points[:, 0] == kind] for kind in (TERMINATE, TERMINATE_ALL))
        ended = [
            Terminations(self._rows(inst, named[:, 1], key, named[:, 2], named[:, 3]), None, False),
            Terminations(self._rows(inst, every[:, 1], key, None, every[:, 3]), None, True),
        ]
        listed = [one for one in ended if one.table.rows]
        found.terminations[key] = listed
        self.world.terminations.setdefault(key, []).extend(listed)

    def _rows(self, inst: Ints, one: Ints, key: Key, value: Ints | None, time: Ints) -> Relation:
        columns = [self._shown(inst[one, row.ARGS + place]) for place in range(key[1])]
        if value is not None:
            columns.append(self._shown(value))
        return Relation((*columns, ints(time.copy())), len(one))

    def _fluent(self, inst: Ints, ended: Ints, node: int, key: Key) -> Fluent:
        lasting = np.flatnonzero((inst[:, row.NODE] == node) & (inst[:, row.HELD] != row.NONE))
        owner = np.concatenate((ended[:, 0], lasting))
        if not len(owner):
            return no_fluent(key[1] + 1)
        value = np.concatenate((ended[:, 1], inst[lasting, row.HELD]))
        start = np.concatenate((ended[:, 2], inst[lasting, row.START]))
        end = np.concatenate((ended[:, 3], np.full(len(lasting), INF)))
        pair, firsts = dense([owner, value], len(owner))
        columns = [self._shown(inst[owner[firsts], row.ARGS + place]) for place in range(key[1])]
        sorting = order(pair, start)
        return Fluent(
            Relation((*columns, self._shown(value[firsts])), len(firsts)),
            Spans(pair[sorting], start[sorting], end[sorting]),
        )

    def _shown(self, data: Ints) -> Column:
        return numbers_if_any(np.ascontiguousarray(data), self.symbols)


def numbers_if_any(data: Ints, symbols: Symbols) -> Column:
    """Codes as a column; of numbers if the first is one and all others are of its kind."""
    column = codes(data)
    if len(data) and isinstance(symbols.term(int(data[0])), Int | Float):
        return narrow(column, symbols)
    return column
