"""Candidates of the rules of a component with their tests, as the clockwork takes them.

Of each rule the candidates are found for all entities at once. What they ask of the component's own
past stays with them as tests on fluents and values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from horai.engine.columns import Column, codes, codes_of
from horai.engine.frames import Frame
from horai.engine.heads import EVERY, Heads, Said
from horai.engine.matching import build
from horai.engine.owners import Owners, Values
from horai.engine.simple import spelled_out
from horai.engine.symbols import Symbols
from horai.lang.ec.errors import blaming
from horai.plan.ec.settling import Guard, Tests
from horai.plan.program import PointPlan
from horai.temporal import clockwork
from horai.temporal.clockwork import GHOST, INITIATE, TERMINATE
from horai.temporal.inertia import EVERY_VALUE
from horai.temporal.spans import Ints, Mask

Key = tuple[str, int]
Test = tuple[Key, tuple[Column, ...], Ints, bool]


@dataclass(slots=True)
class Block:
    """Candidates of one rule under one alternative of its tests."""

    key: Key
    said: Said
    kind: Ints
    tests: list[Test]


def blocks_of(plan: PointPlan, alternatives: list[Tests], heads: Heads) -> list[Block]:
    """The candidates of a rule, under each alternative of its tests."""
    with blaming(plan.clause):
        frame, said = heads.candidates(plan)
    kind = np.full(len(said), TERMINATE if plan.kind == "terminated" else INITIATE)
    allowed = heads.allowed(plan.key, said)
    if not allowed.all():
        if plan.kind == "terminated":
            rows = np.flatnonzero(allowed)
            frame, said, kind = frame.take(rows), said.where(rows), kind[rows]
        else:
            kind = np.where(allowed, INITIATE, GHOST)
    return [
        Block(plan.key, said, kind, [_test(guard, frame, heads.symbols) for guard in tests])
        for tests in alternatives
    ]


def _test(guard: Guard, frame: Frame, symbols: Symbols) -> Test:
    columns = (
        [build(term, frame.columns, frame.rows, symbols) for term in guard.terms]
        if frame.rows
        else [codes(np.empty(0, np.int64)) for _ in guard.terms]
    )
    return guard.key, tuple(columns[:-1]), codes_of(columns[-1], symbols), guard.positive


def spelled(blocks: list[Block], values: list[Ints], symbols: Symbols) -> list[Block]:
    """Terminations of all values of a form, one block for each of some values that they fit."""
    if all(block.said.form is None for block in blocks):
        return blocks
    known = np.concatenate([*values, np.empty(0, np.int64)])
    known = known[known != EVERY]
    return [
        Block(block.key, said, block.kind, block.tests)
        for block in blocks
        for said in spelled_out(block.said, known, symbols)
    ]


def in_time_order(
    blocks: list[Block], owners: Owners, values: Values
) -> tuple[clockwork.Candidates, clockwork.Guards, Ints]:
    """All candidates sorted by time, their tests, and the place each had before."""
    empty = np.empty(0, np.int64)
    time, fluent, value, kind = [empty], [empty], [empty], [empty]
    begin, end = [empty], [empty]
    guards: list[tuple[Ints, Ints, Mask]] = []
    total = 0
    for block in blocks:
        rows, width = len(block.said), len(block.tests)
        assert block.said.value is not None
        time.append(block.said.time)
        fluent.append(owners.numbers(block.key, block.said.args, rows))
        number = values.numbers(block.said.value)
        value.append(np.where(block.said.value == EVERY, EVERY_VALUE, number))
        kind.append(block.kind)
        begin.append(total + width * np.arange(rows))
        end.append(begin[-1] + width)
        total += width * rows
        if width and rows:
            guards.append(_guards(block, owners, values))
    whole = np.concatenate(time)
    place = np.argsort(whole, kind="stable")
    columns = [np.concatenate(part)[place] for part in (fluent, value, kind, begin, end)]
    joined = [np.concatenate([part[i] for part in guards] or [empty]) for i in range(3)]
    return (
        clockwork.Candidates(whole[place], *columns),
        clockwork.Guards(joined[0], joined[1], joined[2].astype(np.bool_)),
        place,
    )


def _guards(block: Block, owners: Owners, values: Values) -> tuple[Ints, Ints, Mask]:
    """The tests of a block, those of one candidate next to each other."""
    rows = len(block.said)
    fluent = np.empty((rows, len(block.tests)), np.int64)
    value = np.empty_like(fluent)
    positive = np.empty(fluent.shape, np.bool_)
    for place, (key, args, wanted, sign) in enumerate(block.tests):
        fluent[:, place] = owners.numbers(key, args, rows)
        value[:, place] = values.numbers(wanted)
        positive[:, place] = sign
    return fluent.ravel(), value.ravel(), positive.ravel()
