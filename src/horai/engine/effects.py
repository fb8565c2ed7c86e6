"""Delayed effects as a table: which pair leads to which other one, after how long."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from horai.engine.clockstate import Owner
from horai.engine.columns import Column, codes, codes_of, concat, narrow
from horai.engine.frames import Frame
from horai.engine.hashing import build as build_index
from horai.engine.hashing import dense, first
from horai.engine.heads import Heads, Said
from horai.engine.matching import build, match
from horai.engine.owners import Owners, Values
from horai.engine.symbols import Symbols
from horai.lang.ec.errors import blaming
from horai.plan.program import DelayPlan, Plan, Stratum
from horai.temporal import clockwork
from horai.temporal.clockwork import GHOST, INITIATE, TERMINATE
from horai.temporal.spans import Ints, Mask

Key = tuple[str, int]
Pairs = tuple[tuple[Column, ...], Ints]


@dataclass(slots=True)
class Step:
    """The effects of one rule on some pairs, row by row."""

    plan: DelayPlan
    origin: Pairs
    target: Pairs
    delay: Ints
    kind: Ints
    postponable: Mask

    def __len__(self) -> int:
        return len(self.delay)


@dataclass(slots=True)
class Numbered:
    """The table with fluents and values by number, sorted as the kernel wants it."""

    effects: clockwork.Effects
    origin_key: list[Key]
    target_key: list[Key]
    _by_source: dict[tuple[int, int, int], list[int]] = field(default_factory=dict)

    def of(self, rule: int, fluent: int, value: int) -> list[int]:
        """The effects of a rule on a pair."""
        if not self._by_source:
            columns = (self.effects.rule, self.effects.origin_fluent, self.effects.origin_value)
            rows = zip(*(column.tolist() for column in columns), strict=True)
            for place, source in enumerate(rows):
                self._by_source.setdefault(source, []).append(place)
        return self._by_source.get((rule, fluent, value), [])

    def sources(
        self, effects: Ints, owners: Owners, values: Values, symbols: Symbols
    ) -> list[tuple[int, Owner, int]]:
        """Rule and pair of some effects."""
        found: list[tuple[int, Owner, int]] = [(0, (("", 0), ()), 0)] * len(effects)
        keys = [self.origin_key[effect] for effect in effects.tolist()]
        rules = self.effects.rule[effects].tolist()
        codes = values.codes[self.effects.origin_value[effects]].tolist()
        for key in dict.fromkeys(keys):
            places = [place for place, one in enumerate(keys) if one == key]
            numbers = self.effects.origin_fluent[effects[places]]
            columns = [codes_of(c, symbols).tolist() for c in owners.owned(key, numbers)]
            rows = zip(*columns, strict=True) if columns else [()] * len(places)
            for place, args in zip(places, rows, strict=True):
                found[place] = (rules[place], (key, tuple(args)), codes[place])
        return found

    def said(
        self, settled: clockwork.Settled, owners: Owners, values: Values
    ) -> Iterator[tuple[Key, int, Said]]:
        """What effects did, by fluent and kind."""
        kinds = self.effects.kind[settled.effect]
        for key in dict.fromkeys(self.target_key):
            mine = np.array([k == key for k in self.target_key], np.bool_)[settled.effect]
            for kind in (INITIATE, TERMINATE):
                rows = np.flatnonzero(mine & (kinds == kind))
                chosen = settled.effect[rows]
                args = owners.owned(key, self.effects.target_fluent[chosen])
                value = values.codes[self.effects.target_value[chosen]]
                yield key, kind, Said(args, settled.effect_time[rows], value)


@dataclass(slots=True)
class EffectTable:
    """All effects that pairs of a component can have."""

    steps: list[Step]
    symbols: Symbols

    @property
    def values(self) -> list[Ints]:
        """The values that take part."""
        found = [step.origin[1] for step in self.steps]
        return found + [step.target[1] for step in self.steps]

    def owners(self) -> Iterator[tuple[Key, tuple[Column, ...], int]]:
        """The fluents that take part."""
        for step in self.steps:
            yield step.plan.origin_key, step.origin[0], len(step)
            yield step.plan.target_key, step.target[0], len(step)

    def numbered(self, owners: Owners, values: Values) -> Numbered:
        """The table as the kernel takes it."""
        empty = np.empty(0, np.int64)
        columns: list[list[Ints]] = [[empty] for _ in range(8)]
        origin_key: list[Key] = []
        target_key: list[Key] = []
        for step in self.steps:
            rows = len(step)
            parts = (
                np.full(rows, step.plan.number),
                owners.numbers(step.plan.origin_key, step.origin[0], rows),
                values.numbers(step.origin[1]),
                step.delay,
                step.kind,
                owners.numbers(step.plan.target_key, step.target[0], rows),
                values.numbers(step.target[1]),
                step.postponable.astype(np.int64),
            )
            for column, part in zip(columns, parts, strict=True):
                column.append(part)
            origin_key += [step.plan.origin_key] * rows
            target_key += [step.plan.target_key] * rows
        whole = [np.concatenate(column) for column in columns]
        place = np.lexsort((whole[0], whole[2], whole[1]))
        ordered = [column[place] for column in whole]
        rule, origin, value, delay, kind, target, aim, postponable = ordered
        effects = clockwork.Effects(
            rule, origin, value, delay, kind, target, aim, postponable.astype(np.bool_)
        )
        listed = place.tolist()
        return Numbered(effects, [origin_key[i] for i in listed], [target_key[i] for i in listed])


def find_effects(
    program: Plan, stratum: Stratum, heads: Heads, begun: dict[Key, list[Pairs]]
) -> EffectTable:
    """The effects of all pairs that can be initiated, effects of effects included."""
    found: list[Step] = []
    symbols = heads.symbols
    if not stratum.delays:
        return EffectTable(found, symbols)
    seen: dict[Key, Pairs] = {}
    news = {key: _new(key, parts, seen, symbols) for key, parts in begun.items()}
    while True:  # there are only so many values: see `plan.guards`
        steps = [
            step
            for plan in stratum.delays
            if (pairs := news.get(plan.origin_key)) is not None
            for step in _effects(plan, pairs, program, heads)
        ]
        found += steps
        targets: dict[Key, list[Pairs]] = {}
        for step in steps:
            if step.plan.initiates and len(step):
                targets.setdefault(step.plan.target_key, []).append(step.target)
        news = {key: _new(key, parts, seen, symbols) for key, parts in targets.items()}
        if not any(pairs is not None for pairs in news.values()):
            return EffectTable(found, symbols)


def _new(key: Key, parts: list[Pairs], seen: dict[Key, Pairs], symbols: Symbols) -> Pairs | None:
    """The pairs that were not seen before, each once."""
    if not parts:
        return None
    args = tuple(concat([part[0][i] for part in parts], symbols) for i in range(key[1]))
    value = np.concatenate([part[1] for part in parts])
    keys = [*(codes_of(column, symbols) for column in args), value]
    firsts = dense(keys, len(value))[1]
    if key in seen:
        old = [*(codes_of(column, symbols) for column in seen[key][0]), seen[key][1]]
        firsts = firsts[first([column[firsts] for column in keys], build_index(old)) < 0]
    if not len(firsts):
        return None
    new = tuple(column.take(firsts) for column in args), value[firsts]
    if key in seen:
        before = seen[key]
        pairs = zip(before[0], new[0], strict=True)
        both = tuple(concat(pair, symbols) for pair in pairs)
        seen[key] = both, np.concatenate((before[1], new[1]))
    else:
        seen[key] = new
    return new


def _effects(plan: DelayPlan, pairs: Pairs, program: Plan, heads: Heads) -> Iterator[Step]:
    symbols = heads.symbols
    with blaming(plan.clause):
        columns = (*pairs[0], narrow(codes(pairs[1]), symbols))
        frame = Frame(len(pairs[1])).numbered("@pair")
        for pattern, column in zip(plan.origin, columns, strict=True):
            here = column.take(frame.columns["@pair"].data)
            fits = match(pattern, here, frame.columns, symbols)
            frame = frame.take(fits.rows).with_columns(fits.new)
        frame = heads.evaluator.run(plan.full, heads.aimed(plan, frame))
        if not frame.rows:
            return
        delay = build(plan.delay, frame.columns, frame.rows, symbols)
        frame = heads.evaluator.whole("#delay", frame.with_columns({"#delay": delay}))
        frame = frame.where(frame.columns["#delay"].data > 0)
        if not frame.rows:
            return
        yield _step(plan, pairs, frame, program, heads)


def _step(plan: DelayPlan, pairs: Pairs, frame: Frame, program: Plan, heads: Heads) -> Step:
    symbols = heads.symbols
    rows = frame.columns["@pair"].data
    origin = tuple(column.take(rows) for column in pairs[0]), pairs[1][rows]
    built = [build(term, frame.columns, frame.rows, symbols) for term in plan.target]
    target = tuple(built[:-1]), codes_of(built[-1], symbols)
    kind = np.full(frame.rows, TERMINATE)
    if plan.initiates:
        allowed = heads.groundings.allows(plan.target_key, target[0], built[-1], frame.rows)
        kind = np.where(allowed, INITIATE, GHOST)
    postponable = _postponable(program, plan.origin_key, origin, symbols)
    return Step(plan, origin, target, frame.columns["#delay"].data, kind, postponable)


def _postponable(program: Plan, key: Key, pairs: Pairs, symbols: Symbols) -> Mask:
    """Which pairs have a p(F=V)?"""
    rows = len(pairs[1])
    mask = np.zeros(rows, np.bool_)
    for fvp in program.postponable:
        patterns = (*getattr(fvp.fluent, "args", ()), fvp.value)
        if (getattr(fvp.fluent, "name", ""), len(patterns) - 1) != key:
            continue
        frame = Frame(rows).numbered("@pair")
        for pattern, column in zip(patterns, (*pairs[0], codes(pairs[1])), strict=True):
            here = column.take(frame.columns["@pair"].data)
            fits = match(pattern, here, frame.columns, symbols)
            frame = frame.take(fits.rows).with_columns(fits.new)
        mask[frame.columns["@pair"].data] = True
    return mask
