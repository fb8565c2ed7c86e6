"""Arithmetic on columns.

Expressions are computed for all rows at once; where 64 bits may not do, exactly instead, once for
each distinct row.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from horai.engine.columns import Column
from horai.engine.distinct import environments, groups
from horai.engine.numbers import (
    FALSE,
    LARGEST_INT,
    TRUE,
    Numbers,
    TooLarge,
    of_codes,
    of_floats,
    of_ints,
    of_values,
)
from horai.engine.operations import BINARY, UNARY
from horai.engine.symbols import Symbols
from horai.lang.core import arithmetic as scalars
from horai.lang.core.terms import Compound, Constant, Float, Int, Term, Var, variables
from horai.lang.ec.errors import MOST, is_heard, note
from horai.temporal.spans import Mask

Columns = Mapping[str, Column]
NOTHING = Numbers(FALSE, TRUE)  # no row has a value


def evaluate(expression: Term, columns: Columns, rows: int, symbols: Symbols) -> Numbers:
    """The value of an expression in every row; rows without one are not valid, and told of."""
    found = computed(expression, columns, rows, symbols)
    tell(expression, columns, found.valid, symbols)
    return found


def computed(expression: Term, columns: Columns, rows: int, symbols: Symbols) -> Numbers:
    """The value of an expression in every row, for who tells himself where there is none."""
    with np.errstate(all="ignore"):
        try:
            return _evaluate(expression, columns, symbols).over(rows)
        except TooLarge:
            return _exactly(expression, columns, rows, symbols)


def tell(expression: Term, columns: Columns, valid: Mask, symbols: Symbols) -> None:
    """Say for what an expression has no value, once for each distinct row."""
    if valid.all() or not is_heard():
        return
    rows = np.flatnonzero(~valid)
    used = {n: columns[n].take(rows) for n in variables(expression) if n in columns}
    first, _ = groups(list(used.values()), len(rows))
    for env in environments(used, first[:MOST], symbols):
        note(expression, env)


def _evaluate(term: Term, columns: Columns, symbols: Symbols) -> Numbers:
    match term:
        case Var(name=name):
            return _variable(columns.get(name), symbols)
        case Int(value=value):
            if abs(value) > LARGEST_INT:
                raise TooLarge
            return of_ints(np.asarray(value, np.int64))
        case Float(value=real):
            return of_floats(np.asarray(real))
        case Constant(name=name) if name in scalars.CONSTANTS:
            return of_floats(np.asarray(scalars.CONSTANTS[name]))
        case Compound(name=name, args=(arg,)) if name in UNARY:
            return _defined(UNARY[name](_evaluate(arg, columns, symbols)))
        case Compound(name=name, args=(left, right)) if name in BINARY:
            first = _evaluate(left, columns, symbols)
            return _defined(BINARY[name](first, _evaluate(right, columns, symbols)))
    return NOTHING


def _defined(found: Numbers) -> Numbers:
    """What is not a number, such as inf - inf, is no value."""
    if found.exact is not None or found.whole.all():
        return found
    nan = np.isnan(found.floats) & ~found.whole
    return found._replace(valid=found.valid & ~nan) if nan.any() else found


def _variable(column: Column | None, symbols: Symbols) -> Numbers:
    if column is None:
        return NOTHING
    match column.kind:
        case "int":
            return of_ints(column.data)
        case "float":
            return of_floats(column.data)
        case _:
            return of_codes(column.data, lambda code: scalars.value_of(symbols.term(code), {}))


def _exactly(expression: Term, columns: Columns, rows: int, symbols: Symbols) -> Numbers:
    """Once for each distinct row, with integers of any size."""
    used = {name: columns[name] for name in variables(expression) if name in columns}
    first, of_row = groups(list(used.values()), rows)
    envs = environments(used, first, symbols)
    return of_values([scalars.value_of(expression, env) for env in envs]).take(of_row)
