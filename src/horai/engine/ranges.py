"""Joins over time: the points of the same entity between two times, by binary search.

`happensAt(a(X),T), happensAt(b(X),T0), T0 < T, T - T0 < 60` would meet in every pair of points of
an entity; sorted by entity and time, only the pairs inside the limits are made.
"""

from __future__ import annotations

import numpy as np

from horai.engine.arithmetic import evaluate
from horai.engine.columns import bits, codes_of, constant
from horai.engine.frames import Frame
from horai.engine.hashing import build, dense, first
from horai.engine.relations import Match, Relation, join
from horai.engine.symbols import Symbols
from horai.lang.core.terms import Term, Var, is_ground
from horai.plan.ec.literals import names
from horai.plan.operators import Bound
from horai.temporal.kernels import kernel, lean
from horai.temporal.sorting import offsets_of, order
from horai.temporal.spans import INF, Ints

LOWEST = -INF - 1


def range_join(
    frame: Frame,
    table: Relation,
    terms: tuple[Term, ...],
    bounds: tuple[Bound, ...],
    symbols: Symbols,
) -> Match:
    """A join whose last column, a time without a value yet, is known to lie within bounds."""
    low, high = _limits(frame, bounds, symbols)
    simple = all(isinstance(term, Var) or is_ground(term) for term in terms)
    news = {term.name for term in terms if isinstance(term, Var) and term.name not in frame.columns}
    free = [t for t in terms if isinstance(t, Var) and t.name in news]
    if not simple or len(free) != len(news) or (low is None and high is None):
        return join(frame, table, terms, symbols)
    keys = [
        (
            position,
            frame.columns[term.name] if isinstance(term, Var) else constant(term, 1, symbols),
        )
        for position, term in enumerate(terms)
        if not isinstance(term, Var) or term.name in frame.columns
    ]
    lefts: list[Ints] = []
    rights: list[Ints] = []
    for position, column in keys:
        coded = column.kind != table.columns[position].kind
        key = codes_of(column, symbols) if coded else bits(column)
        lefts.append(np.broadcast_to(key, frame.rows) if len(key) == 1 else key)
        rights.append(table.key(position, coded, symbols))
    entity, firsts = dense(rights, table.rows)
    wanted = (
        first(lefts, build([key[firsts] for key in rights]))
        if keys
        else np.zeros(frame.rows, np.int64)
    )
    time: Ints = table.columns[-1].data
    sorting = order(entity, time)
    offsets = offsets_of(entity, len(firsts))
    everywhere = np.full(frame.rows, 0, np.int64)
    left, right = between(
        wanted,
        everywhere + LOWEST if low is None else low,
        everywhere + INF if high is None else high,
        offsets,
        time[sorting],
    )
    places = {
        term.name: position
        for position, term in enumerate(terms)
        if isinstance(term, Var) and term.name in news
    }
    return Match(frame, table, left, sorting[right], None, places)


def _limits(
    frame: Frame, bounds: tuple[Bound, ...], symbols: Symbols
) -> tuple[Ints | None, Ints | None]:
    """The limits of each row; those that are no whole numbers are left to the comparison."""
    low: Ints | None = None
    high: Ints | None = None
    for bound in bounds:
        columns = [frame.columns.get(name) for name in names(bound.term)]
        if any(column is None or column.kind != "int" for column in columns):
            continue
        numbers = evaluate(bound.term, frame.columns, frame.rows, symbols)
        column = numbers.column(symbols)
        if column.kind != "int" or not numbers.valid.all():
            continue
        if bound.lower:
            low = column.data if low is None else np.maximum(low, column.data)
        else:
            high = column.data if high is None else np.minimum(high, column.data)
    return low, high


@lean
def _place(time: Ints, low: int, high: int, wanted: int) -> int:
    """The first place in time[low:high] that is not before `wanted`."""
    while low < high:
        middle = (low + high) // 2
        if time[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def between(entity: Ints, low: Ints, high: Ints, offsets: Ints, time: Ints) -> tuple[Ints, Ints]:
    rows = len(entity)
    begin = np.zeros(rows, np.int64)
    end = np.zeros(rows, np.int64)
    total = 0
    for i in range(rows):
        if entity[i] < 0 or len(offsets) < 2:
            continue
        a, b = offsets[entity[i]], offsets[entity[i] + 1]
        begin[i] = _place(time, a, b, low[i])
        end[i] = b if high[i] == INF else _place(time, a, b, high[i] + 1)
        if end[i] < begin[i]:
            end[i] = begin[i]
        total += end[i] - begin[i]
    left = np.empty(total, np.int64)
    right = np.empty(total, np.int64)
    n = 0
    for i in range(rows):
        for j in range(begin[i], end[i]):
            left[n] = i
            right[n] = j
            n += 1
    return left, right
