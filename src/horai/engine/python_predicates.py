"""Predicates written in Python, asked once per distinct row or once for whole columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from horai.engine.columns import Column, codes, column_of, floats, ints, narrow, terms_of
from horai.engine.distinct import Found, groups
from horai.engine.matching import build, match
from horai.engine.symbols import Symbols
from horai.lang.core.terms import Constant, Term
from horai.lang.core.values import parameter_count, to_python, to_term
from horai.lang.ec.errors import PredicateFailed
from horai.temporal.spans import Ints, Mask

Columns = Mapping[str, Column]
Function = Callable[..., Any]
Answers = Any  # an array or a list: what the user's code returned


def call_python(
    name: str,
    function: Function,
    args: tuple[Term, ...],
    columns: Columns,
    rows: int,
    symbols: Symbols,
) -> Found:
    """The answers of a Python predicate.

    With as many parameters as arguments it is a test; with one fewer it computes the last one.
    """
    tests = parameter_count(function) == len(args)
    given = [build(arg, columns, rows, symbols) for arg in (args if tests else args[:-1])]
    ask = _ask_at_once if getattr(function, "vectorised", False) else _ask_one_by_one
    with _blaming(name):
        answers, of_row = ask(function, given, rows, symbols)
        if tests:
            return Found(np.flatnonzero(_truth(answers)[of_row]), {})
        present, column = _column(answers, symbols)
    chosen = np.flatnonzero(present[of_row])
    place = np.cumsum(present) - 1
    return _bind(args[-1], column.take(place[of_row[chosen]]), chosen, columns, symbols)


@contextmanager
def _blaming(name: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # whatever the user's code raises
        raise PredicateFailed(f"the Python predicate {name} failed: {error}") from error


def _bind(target: Term, column: Column, rows: Ints, columns: Columns, symbols: Symbols) -> Found:
    """The computed values as the last argument."""
    there = {name: known.take(rows) for name, known in columns.items()}
    found = match(target, column, there, symbols)
    return Found(rows[found.rows], found.new)


# --- asking --------------------------------------------------------------------------------------


def _ask_one_by_one(
    function: Function, given: list[Column], rows: int, symbols: Symbols
) -> tuple[Answers, Ints]:
    """The answer for every distinct row, and which one is that of each row."""
    first, of_row = groups(given, rows)
    listed = [terms_of(column.take(first), symbols) for column in given]
    asked = zip(*listed, strict=True) if listed else [() for _ in first]
    return [function(*map(to_python, row)) for row in asked], of_row


def _ask_at_once(
    function: Function, given: list[Column], rows: int, symbols: Symbols
) -> tuple[Answers, Ints]:
    """An answer for every row, from one call."""
    if not rows:
        return [], np.arange(0)
    many = getattr(function, "__wrapped__", function)  # the decorator answers for single rows
    answers = many(*(_array(column, symbols) for column in given))
    if len(answers) != rows:
        raise ValueError(f"{len(answers)} answers for {rows} rows")
    if not (isinstance(answers, np.ndarray) and answers.dtype.kind in "bif"):
        listed = answers.tolist() if isinstance(answers, np.ndarray) else answers
        answers = [None if answer != answer else answer for answer in listed]
    return answers, np.arange(rows)


def _array(column: Column, symbols: Symbols) -> Any:
    """Numbers as such, whatever else as Python values; not to be written to."""
    column = narrow(column, symbols)
    if column.kind == "term":
        values = (to_python(term) for term in terms_of(column, symbols))
        return np.fromiter(values, object, len(column))
    view = column.data.view()
    view.flags.writeable = False
    return view


# --- terms and Python values ---------------------------------------------------------------------


def _truth(answers: Answers) -> Mask:
    """Which answers say yes?"""
    if isinstance(answers, np.ndarray):
        return np.asarray((answers != 0) & (answers == answers))  # NaN is no answer
    return np.array([bool(answer) for answer in answers], np.bool_)


def _column(answers: Answers, symbols: Symbols) -> tuple[Mask, Column]:
    """Which answers are values, and those as a column."""
    if isinstance(answers, np.ndarray):
        match answers.dtype.kind:
            case "b":
                words = symbols.codes([Constant("false"), Constant("true")])
                return np.ones(len(answers), np.bool_), codes(words[answers.astype(np.int64)])
            case "i":
                return np.ones(len(answers), np.bool_), ints(answers)
            case _:
                present: Mask = ~np.isnan(answers)
                return present, floats(answers[present])
    there = np.array([answer is not None for answer in answers], np.bool_)
    return there, column_of([to_term(a) for a in answers if a is not None], symbols)
