"""Terms with variables against columns: taken apart and put together once per distinct row."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from horai.engine.columns import Column, codes, codes_of, common, constant, narrow
from horai.engine.distinct import Found, groups
from horai.engine.forms import form
from horai.engine.symbols import Symbols
from horai.lang.core.terms import Float, Int, Term, Var, is_ground, substitute, variables
from horai.temporal.spans import Mask

Columns = Mapping[str, Column]


def equal(left: Column, right: Column, symbols: Symbols) -> Mask:
    """In which rows are the terms the same?"""
    if {left.kind, right.kind} == {"int", "float"}:
        return np.zeros(len(left), np.bool_)
    ours, theirs = common(left, right, symbols)
    same: Mask = ours == theirs
    return same


def used(columns: Columns, *given: Term) -> dict[str, Column]:
    """The columns of the variables that occur in some terms."""
    names = dict.fromkeys(name for term in given for name in variables(term))
    return {name: columns[name] for name in names if name in columns}


# --- putting together ----------------------------------------------------------------------------


def build(term: Term, columns: Columns, rows: int, symbols: Symbols) -> Column:
    """The term with its variables filled in, row by row; each of them has a column."""
    if isinstance(term, Var):
        return columns[term.name]
    inner = used(columns, term)
    if not inner:
        return constant(substitute(term, {}), rows, symbols)
    first, of_row = groups(list(inner.values()), rows)
    parts = [codes_of(column.take(first), symbols) for column in inner.values()]
    return codes(form(term, symbols).put_together(parts, symbols)[of_row])


# --- taking apart --------------------------------------------------------------------------------


def match(pattern: Term, column: Column, columns: Columns, symbols: Symbols) -> Found:
    """The rows that have the form of the pattern, with a column for each variable that has none.

    Variables that have a column must stand for what they stand for in the same row.
    """
    rows = len(column)
    if isinstance(pattern, Var) and pattern.name not in columns:
        return Found(np.arange(rows), {pattern.name: column})
    if isinstance(pattern, Var) or is_ground(pattern):
        same = equal(build(pattern, columns, rows, symbols), column, symbols)
        return Found(np.flatnonzero(same), {})
    if column.kind != "term":  # a number has no parts
        return Found(np.empty(0, np.int64), {name: _none() for name in _free(pattern, columns)})
    return _agreeing(_take_apart(pattern, column, symbols), columns, symbols)


def _none() -> Column:
    return Column("int", np.empty(0, np.int64))


def _free(pattern: Term, columns: Columns) -> list[str]:
    return [name for name in variables(pattern) if name not in columns]


def _take_apart(pattern: Term, column: Column, symbols: Symbols) -> Found:
    """All variables of the pattern as if none had a column."""
    known = form(pattern, symbols)
    rows, parts = known.take_apart(column.data, symbols)
    listed = zip(known.names, parts, strict=True)
    return Found(rows, {name: _narrow(codes(part), symbols) for name, part in listed})


def _narrow(column: Column, symbols: Symbols) -> Column:
    """As numbers if the first row is one and all others are of its kind."""
    numeric = len(column) and isinstance(symbols.term(int(column.data[0])), Int | Float)
    return narrow(column, symbols) if numeric else column


def _agreeing(found: Found, columns: Columns, symbols: Symbols) -> Found:
    """The rows in which variables stand for what they stood for before."""
    agree = np.ones(len(found.rows), np.bool_)
    for name, column in found.new.items():
        if name in columns:
            agree &= equal(column, columns[name].take(found.rows), symbols)
    new = {name: column for name, column in found.new.items() if name not in columns}
    return restrict(Found(found.rows, new), agree)


def restrict(found: Found, mask: Mask) -> Found:
    """Only some of the answers."""
    if mask.all():
        return found
    return Found(found.rows[mask], {name: column.take(mask) for name, column in found.new.items()})


# --- both ----------------------------------------------------------------------------------------
