"""Aggregates: what the solutions of each row of an outer frame come to.

The caller has made the solutions distinct; each belongs to a row, its group.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from horai.engine import numbers
from horai.engine.arithmetic import evaluate
from horai.engine.columns import Column, codes, codes_of, ints
from horai.engine.comparison import ranks
from horai.engine.hashing import dense, distinct
from horai.engine.matching import build
from horai.engine.numbers import Numbers, full, of_floats, of_ints, of_values
from horai.engine.symbols import Symbols
from horai.lang.core.arithmetic import NoValue, Number, largest, smallest, total
from horai.lang.core.terms import ListTerm, Term
from horai.temporal.sorting import order
from horai.temporal.spans import Ints, Mask

Columns = Mapping[str, Column]


class Aggregated(NamedTuple):
    """Which rows have a value, and the values of those rows."""

    mask: Mask
    column: Column


def aggregate(
    kind: str, group: Ints, template: Term | None, columns: Columns, rows: int, symbols: Symbols
) -> Aggregated:
    """`count`, `sum`, `max`, `min`, `bag` (also `findall`) or `set` of the template in each row.

    The template is a term over the columns of the solutions.
    """
    if kind == "count" or template is None:
        return Aggregated(np.ones(rows, np.bool_), ints(np.bincount(group, minlength=rows)))
    solutions = len(group)
    if kind in ("bag", "findall", "set"):
        listed = codes_of(build(template, columns, solutions, symbols), symbols)
        return _lists(group, listed, rows, symbols, once=kind == "set")
    found = _reduce(kind, group, evaluate(template, columns, solutions, symbols), rows)
    return Aggregated(found.valid, found.take(found.valid).column(symbols))


# --- lists ---------------------------------------------------------------------------------------


def _lists(group: Ints, listed: Ints, rows: int, symbols: Symbols, once: bool) -> Aggregated:
    """The terms of each row in the standard order."""
    if once:
        kept = distinct([group, listed], len(group))
        group, listed = group[kept], listed[kept]
    of_row, first = dense([listed], len(listed))
    terms = np.fromiter(symbols.terms(listed[first]), object, len(first))
    sorting = order(group, ranks(listed[first], symbols)[of_row])
    begins = np.searchsorted(group[sorting], np.arange(rows + 1)).tolist()
    placed = terms[of_row[sorting]].tolist()
    built = (ListTerm(tuple(placed[begins[i] : begins[i + 1]])) for i in range(rows))
    return Aggregated(np.ones(rows, np.bool_), codes(symbols.codes(built)))


# --- numbers -------------------------------------------------------------------------------------


def _reduce(kind: str, group: Ints, values: Numbers, rows: int) -> Numbers:
    """One number per row; a row has none if one of its solutions has none."""
    sorting = order(group, group)
    group, values = group[sorting], values.take(sorting)
    begins = np.searchsorted(group, np.arange(rows + 1))
    filled = np.flatnonzero(begins[:-1] < begins[1:])  # rows that have solutions
    sized = begins[filled]
    fast = FAST[kind](values, sized) if len(filled) else None
    if fast is None:
        fast = _one_by_one(PICK[kind], values, begins, filled)
    return _placed(fast, filled, _sound(values, sized), rows, empty=kind == "sum")


def _sound(values: Numbers, begins: Ints) -> Mask:
    """Do all solutions of each row have a value?"""
    if not len(begins):
        return np.empty(0, np.bool_)
    return np.logical_and.reduceat(values.valid, begins)


def _placed(found: Numbers, filled: Ints, sound: Mask, rows: int, empty: bool) -> Numbers:
    """The numbers at their rows; a row without solutions has zero or nothing."""
    place = np.full(rows, len(filled), np.int64)
    place[filled] = np.arange(len(filled))
    size = len(filled)
    exact = None if found.exact is None else np.append(found.exact, 0)
    padded = Numbers(
        np.append(full(found.valid, size) & sound, empty),
        np.append(full(found.whole, size), True),
        np.append(full(found.ints, size), 0) if exact is None else found.ints,
        np.append(full(found.floats, size), 0.0) if exact is None else found.floats,
        exact,
    )
    return padded.take(place)


def _one_by_one(
    pick: Callable[[Sequence[Number]], Number], values: Numbers, begins: Ints, filled: Ints
) -> Numbers:
    listed = values.values(len(values.valid))
    bounds = begins.tolist()
    return of_values([_tried(pick, listed[bounds[i] : bounds[i + 1]]) for i in filled.tolist()])


def _tried(pick: Callable[[Sequence[Number]], Number], values: Sequence[Number]) -> Number | None:
    try:
        return pick(values)
    except NoValue:
        return None


def _sum(values: Numbers, begins: Ints) -> Numbers | None:
    """Integers whose sums surely fit; decimals have to be rounded once, one sum at a time."""
    if values.exact is not None or not values.whole.all():
        return None
    data = full(values.ints, len(values.valid))
    if numbers.bound(data) * len(data) > numbers.LARGEST_INT:
        return None
    return of_ints(np.add.reduceat(data, begins))


def _best(pick: np.ufunc) -> Callable[[Numbers, Ints], Numbers | None]:
    def run(values: Numbers, begins: Ints) -> Numbers | None:
        size = len(values.valid)
        if values.exact is not None:
            return None
        if values.whole.all():
            return of_ints(pick.reduceat(full(values.ints, size), begins))
        if values.whole.any() or np.isnan(values.floats).any():
            return None
        return of_floats(pick.reduceat(full(values.floats, size), begins))

    return run


FAST: dict[str, Callable[[Numbers, Ints], Numbers | None]] = {
    "sum": _sum,
    "max": _best(np.maximum),
    "min": _best(np.minimum),
}
PICK: dict[str, Callable[[Sequence[Number]], Number]] = {
    "sum": total,
    "max": largest,
    "min": smallest,
}
