"""Built-in predicates over columns: ranges and types as a whole, lists once per distinct row."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from horai.engine.arithmetic import evaluate
from horai.engine.columns import Column, ints, terms_of
from horai.engine.distinct import Found, environments, groups, repeated, spread
from horai.engine.matching import build, used, values
from horai.engine.numbers import LARGEST_INT, Numbers, bound, compare, full
from horai.engine.symbols import Symbols
from horai.lang.core.arithmetic import NoValue
from horai.lang.core.terms import (
    Compound,
    Float,
    Int,
    Term,
    Var,
    substitute,
    variables,
)
from horai.lang.ec.builtins import BUILTINS, MOST_LISTED, Args, Solutions
from horai.lang.ec.errors import Endless, note
from horai.plan.ec.unify import answers
from horai.temporal.spans import Ints, Mask

Columns = Mapping[str, Column]


def call(name: str, args: Args, columns: Columns, rows: int, symbols: Symbols) -> Found:
    """The answers of a built-in predicate; equal answers of one row count once."""
    if name == "between":
        return _between(args, columns, rows, symbols)
    builtin = BUILTINS[name, len(args)]
    assert builtin.solutions is not None, f"{name} depends on the run"
    if builtin.is_test:
        return _picked(_is_a(builtin.types, build(args[0], columns, rows, symbols), symbols))
    return _one_by_one(builtin.solutions, Compound(name, args), columns, rows, symbols)


def _picked(mask: Mask) -> Found:
    return Found(np.flatnonzero(mask), {})


def _is_a(types: tuple[type, ...], column: Column, symbols: Symbols) -> Mask:
    if column.kind != "term":
        return np.full(len(column), (Int if column.kind == "int" else Float) in types)
    first, of_row = groups([column], len(column))
    answers = [isinstance(term, types) for term in terms_of(column.take(first), symbols)]
    return np.array(answers, np.bool_)[of_row]


def _one_by_one(
    solutions: Solutions, goal: Compound, columns: Columns, rows: int, symbols: Symbols
) -> Found:
    inner = used(columns, *goal.args)
    first, of_row = groups(list(inner.values()), rows)
    names = _free(goal.args, columns)
    listed: list[list[tuple[Term, ...]]] = []
    for env in environments(inner, first, symbols):
        args = tuple(substitute(arg, env) for arg in goal.args)
        found: dict[tuple[Term, ...], None] = {}
        try:
            for bindings in answers(solutions, args):
                found[values(names, bindings)] = None
        except NoValue:
            note(goal, env)
        listed.append(list(found))
    return spread(listed, names, of_row, symbols)


def _free(args: Args, columns: Columns) -> list[str]:
    found = dict.fromkeys(name for arg in args for name in variables(arg))
    return [name for name in found if name not in columns]


# --- between -------------------------------------------------------------------------------------


def _between(args: Args, columns: Columns, rows: int, symbols: Symbols) -> Found:
    low, high = (evaluate(arg, columns, rows, symbols) for arg in args[:2])
    endless = _infinite(high)
    fit = full(low.valid & high.valid & low.whole & (high.whole | endless), rows)
    target = args[2]
    if isinstance(target, Var) and target.name not in columns:
        if (fit & endless).any():
            raise Endless("between/3 up to infinity has no end")
        return _listed(target.name, low, high, np.flatnonzero(fit), symbols)
    if _free((target,), columns):  # of some form, which no integer has
        return Found(np.empty(0, np.int64), {n: ints(np.empty(0)) for n in _free(args, columns)})
    return _picked(fit & _inside(build(target, columns, rows, symbols), low, high, symbols))


def _infinite(high: Numbers) -> Mask:
    if high.exact is not None:
        return np.array([value == math.inf for value in high.exact.tolist()], np.bool_)
    endless: Mask = ~high.whole & (high.floats == math.inf)
    return endless


def _inside(target: Column, low: Numbers, high: Numbers, symbols: Symbols) -> Mask:
    whole = _is_a((Int,), target, symbols)
    number = evaluate(Var("#"), {"#": target}, len(target), symbols)
    return whole & compare("=<", low, number) & compare("=<", number, high)


def _listed(name: str, low: Numbers, high: Numbers, rows: Ints, symbols: Symbols) -> Found:
    """Every integer of the range in every row."""
    if low.exact is not None or high.exact is not None:
        return _listed_exactly(name, low, high, rows, symbols)
    begins, ends = (full(side.ints, len(side.valid))[rows] for side in (low, high))
    if bound(begins) + bound(ends) >= LARGEST_INT:
        return _listed_exactly(name, low, high, rows, symbols)
    _refuse_long(int(np.max(ends - begins, initial=0)))
    places, found = repeated(begins, np.maximum(ends - begins + 1, 0))
    return Found(rows[places], {name: ints(found)})


def _refuse_long(length: int) -> None:
    if length >= MOST_LISTED:
        most = f"between/3 lists at most {MOST_LISTED} numbers"
        raise Endless(f"{most}, here {length + 1}")


def _listed_exactly(name: str, low: Numbers, high: Numbers, rows: Ints, symbols: Symbols) -> Found:
    begins, ends = low.take(rows).values(len(rows)), high.take(rows).values(len(rows))
    for begin, end in zip(begins, ends, strict=True):
        _refuse_long(int(end) - int(begin))
    answers: list[list[tuple[Term, ...]]] = [
        [(Int(value),) for value in range(int(begin), int(end) + 1)]
        for begin, end in zip(begins, ends, strict=True)
    ]
    found = spread(answers, [name], np.arange(len(rows)), symbols)
    return Found(rows[found.rows], found.new)
