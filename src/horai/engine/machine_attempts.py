"""Attempts of delayed effects that were made before a machine begins its run.

They are those that the last query has left open or, at the start, those of the values that hold
from the start on. What could be known when they were made is worked out anew, for all together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from horai.engine.clockstate import ClockState
from horai.engine.columns import Column, codes, codes_of, ints, narrow
from horai.engine.frames import Frame
from horai.engine.live import LiveWorld
from horai.engine.matching import build, match
from horai.engine.simple import Held
from horai.engine.world import Fluent, World, fluent_of, merged
from horai.lang.core.terms import Var
from horai.lang.ec.errors import blaming
from horai.plan.ec.machine import MachineDelay
from horai.temporal.spans import INF, Ints

if TYPE_CHECKING:
    from horai.engine.machine import MachineRun

Key = tuple[str, int]


class Past(LiveWorld):
    """The world with the values that hold at the cut, since when they hold."""

    def __init__(self, base: World, held: dict[Key, Held]) -> None:
        super().__init__(base, set(), set())
        self.values = held
        self.known: dict[Key, Fluent] = {}

    def fluent(self, key: Key) -> Fluent:
        """What is known of a fluent at the cut."""
        held = self.values.get(key)
        if held is None or not len(held):
            return self.base.fluent(key)
        if key not in self.known:
            columns = (*held.args, narrow(codes(held.value), self.symbols))
            end = np.full(len(held), INF)
            mine = fluent_of(columns, held.start, end, len(held), self.symbols)
            self.known[key] = merged([mine, self.base.fluent(key)], self.symbols)
        return self.known[key]


def earlier_attempts(run: MachineRun) -> list[tuple[int, int, Ints]]:
    """By effect and node: rows of since, deadline, arguments, value and what is to be kept."""
    evaluator = run.heads.evaluator
    before = evaluator.world
    evaluator.world = Past(before, run.held)
    left = _left_open(run)
    try:
        found = []
        for number, delay in enumerate(run.delays):
            columns, since = _made(run, delay, left.get(delay.plan.number, []))
            if len(since):
                rows = _rows(run, delay, columns, since)
                found.append((number, run.node("fluent", delay.plan.origin_key), rows))
        return found
    finally:
        evaluator.world = before


def _left_open(run: MachineRun) -> dict[int, list[tuple[int, ...]]]:
    """What the last query has left open, by rule: arguments, value and since when."""
    state = run.memory.clock or ClockState()
    found: dict[int, list[tuple[int, ...]]] = {}
    for one in state.pending:
        acted = state.acted.get((one.rule, one.owner, one.value)) if state.acted else None
        if acted is None or acted <= one.since:
            found.setdefault(one.rule, []).append((*one.owner[1], one.value, one.since))
    return found


def _made(
    run: MachineRun, delay: MachineDelay, rows: list[tuple[int, ...]]
) -> tuple[list[Ints], Ints]:
    """Arguments and value of the pairs of which a rule has attempts, and when they were made."""
    key, start = delay.plan.origin_key, run.world.start
    if run.memory.cut == start:
        held = run.held[key]
        columns = [*(codes_of(column, run.symbols) for column in held.args), held.value]
        return columns, np.full(len(held), start - 1)
    table = np.array(rows, np.int64).reshape(len(rows), key[1] + 2)
    return [table[:, place].copy() for place in range(key[1] + 1)], table[:, -1].copy()


def _rows(run: MachineRun, delay: MachineDelay, columns: list[Ints], since: Ints) -> Ints:
    plan, symbols, evaluator = delay.plan, run.symbols, run.heads.evaluator
    with blaming(plan.clause):
        frame = Frame(len(since)).numbered("@attempt")
        for pattern, column in zip(plan.origin, columns, strict=True):
            here: Column = narrow(codes(column), symbols).take(frame.columns["@attempt"].data)
            fits = match(pattern, here, frame.columns, symbols)
            frame = frame.take(fits.rows).with_columns(fits.new)
        if plan.time is not None:
            at = ints(since[frame.columns["@attempt"].data])
            frame = evaluator.bind(Var(plan.time), frame, at)
        frame = evaluator.run(plan.early, frame) if frame.rows else frame
        if not frame.rows:
            return np.empty((0, 2 + len(columns) + len(delay.saved)), np.int64)
        waits = build(plan.delay, frame.columns, frame.rows, symbols)
        frame = evaluator.whole("#delay", frame.with_columns({"#delay": waits}))
        frame = frame.where(frame.columns["#delay"].data > 0)
    rows = frame.columns["@attempt"].data
    deadline = since[rows] + frame.columns["#delay"].data
    saved = [codes_of(frame.columns[name], symbols) for name in delay.saved]
    parts = [since[rows], deadline, *(column[rows] for column in columns), *saved]
    return np.stack(parts, axis=1)[deadline > run.memory.cut]
