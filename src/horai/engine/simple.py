"""Simple fluents: initiations and terminations of all entities to spans, by one pass of inertia."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from horai.engine.columns import Column, codes, codes_of, concat, narrow
from horai.engine.hashing import dense
from horai.engine.heads import EVERY, Said
from horai.engine.matching import match
from horai.engine.relations import Relation
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent, no_fluent
from horai.temporal.inertia import EVERY_VALUE, Changes, ValueSpans, inertia
from horai.temporal.sorting import order
from horai.temporal.spans import Ints, Spans


@dataclass(slots=True)
class Held:
    """Values that hold already: arguments, the code of the value and since when."""

    args: tuple[Column, ...]
    value: Ints
    start: Ints

    def __len__(self) -> int:
        return len(self.value)


def held_nothing(arity: int) -> Held:
    """No values."""
    empty = np.empty(0, np.int64)
    return Held(tuple(codes(empty) for _ in range(arity)), empty, empty)


@dataclass(slots=True)
class Instances:
    """The fluents of one name by number: columns of arguments with one row each."""

    args: tuple[Column, ...]
    rows: int


def numbered(
    parts: list[tuple[Column, ...]], sizes: list[int], arity: int, symbols: Symbols
) -> tuple[list[Ints], Instances]:
    """A number for every different row of arguments, over several tables at once."""
    columns = [concat([part[i] for part in parts], symbols) for i in range(arity)]
    ids, firsts = dense([codes_of(column, symbols) for column in columns], sum(sizes))
    instances = Instances(tuple(column.take(firsts) for column in columns), len(firsts))
    return list(np.split(ids, np.cumsum(sizes)[:-1])), instances


def settle(
    arity: int,
    initiated: Said,
    terminated: list[Said],
    held: Held,
    tick: int,
    symbols: Symbols,
) -> Fluent:
    """The spans of a fluent from all its points and the values it begins with."""
    assert initiated.value is not None
    known = np.concatenate((initiated.value, held.value))
    ended = [part for said in terminated for part in spelled_out(said, known, symbols)]
    tables = [initiated.args, held.args, *(said.args for said in ended)]
    sizes = [len(initiated), len(held), *(len(said) for said in ended)]
    if not len(initiated) and not len(held):
        return no_fluent(arity + 1)
    numbers, instances = numbered(tables, sizes, arity, symbols)
    found, values = settle_numbered(numbers, initiated, ended, held, tick)
    return _fluent(found, instances, values, symbols)


def settle_numbered(
    numbers: list[Ints], initiated: Said, ended: list[Said], held: Held, tick: int
) -> tuple[ValueSpans, Ints]:
    """The same where fluents have numbers: of initiations, of what is held, of each of `ended`.

    The second part has the codes of the values.
    """
    assert initiated.value is not None
    known = np.concatenate((initiated.value, held.value))
    if not len(known):
        return ValueSpans(known, known, known, known), known
    value_ids, firsts = dense([known], len(known))
    values = known[firsts]
    changes = _changes(initiated, ended, numbers, value_ids, values)
    before = order(numbers[1], held.start)
    start = held.start[before]
    holding = ValueSpans(numbers[1][before], value_ids[len(initiated) :][before], start, start)
    return inertia(changes, tick, holding), values


def spelled_out(said: Said, known: Ints, symbols: Symbols) -> list[Said]:
    """A termination of all values of a form, as terminations of the known values it fits."""
    if said.form is None:
        return [said]
    values = np.unique(known)
    fits = match(said.form, codes(values), {}, symbols).rows
    return [
        Said(said.args, said.time, np.full(len(said), value)) for value in values[fits].tolist()
    ]


def _changes(
    initiated: Said, ended: list[Said], numbers: list[Ints], value_ids: Ints, values: Ints
) -> Changes:
    """All points, sorted by fluent and time; values that never begin need no number."""
    place = np.argsort(values)
    keys, times = [numbers[0]], [initiated.time]
    found = [value_ids[: len(initiated)]]
    for said, number in zip(ended, numbers[2:], strict=True):
        assert said.value is not None
        keys.append(number)
        times.append(said.time)
        found.append(_value_numbers(said.value, values, place))
    key, time, value = np.concatenate(keys), np.concatenate(times), np.concatenate(found)
    initiates = np.zeros(len(key), np.bool_)
    initiates[: len(initiated)] = True
    sorting = order(key, time)
    return Changes(key[sorting], time[sorting], value[sorting], initiates[sorting])


def _value_numbers(wanted: Ints, values: Ints, place: Ints) -> Ints:
    """The numbers of values; `EVERY_VALUE` for all of them, one beyond for unknown ones."""
    ordered = values[place]
    at = np.minimum(np.searchsorted(ordered, wanted), len(values) - 1)
    there = ordered[at] == wanted
    found: Ints = np.where(there, place[at], len(values))
    return np.where(wanted == EVERY, EVERY_VALUE, found)


def _fluent(found: ValueSpans, instances: Instances, values: Ints, symbols: Symbols) -> Fluent:
    rows = len(found.key)
    pair, firsts = dense([found.key * len(values) + found.value], rows)
    owner = found.key[firsts]
    args = tuple(column.take(owner) for column in instances.args)
    value = narrow(codes(values[found.value[firsts]]), symbols)
    sorting = order(pair, found.start)
    spans = Spans(pair[sorting], found.start[sorting], found.end[sorting])
    return Fluent(Relation((*args, value), len(firsts)), spans)
