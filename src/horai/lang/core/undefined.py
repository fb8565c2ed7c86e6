"""Expressions that have no value in a run: which, where, and for what.

`V < 90` fails where V is text, and `X is 1 / 0` always does. That is what the language says, and
rarely what somebody meant. Engines tell of such expressions as they meet them; a run that listens
counts the different values for which a condition had none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from horai.lang.core.terms import Constant, Term, variables
from horai.lang.ec.syntax import Clause

Env = tuple[tuple[str, Term], ...]
MOST = 1000  # different values that are counted at one place
_NOTHING = Constant("")
_FRESH = re.compile(r"~\d+$")  # what tells variables of our own apart


@dataclass(slots=True)
class UndefinedCondition:
    """A condition of a clause that had no value, and the values of the variables in question."""

    condition: Term
    expression: Term  # the first that had no value
    clause: Clause
    values: dict[Env, None] = field(default_factory=dict)


class Undefined:
    """All conditions of a run that had no value, in the order in which they were met."""

    def __init__(self) -> None:
        self.places: dict[tuple[int, Term], UndefinedCondition] = {}  # clauses by identity


_run: ContextVar[Undefined | None] = ContextVar("_run", default=None)
_clause: ContextVar[Clause | None] = ContextVar("_clause", default=None)
_condition: ContextVar[Term | None] = ContextVar("_condition", default=None)


@contextmanager
def heard_by(run: Undefined) -> Iterator[None]:
    """Expressions without a value inside are noted in a run."""
    token = _run.set(run)
    try:
        yield
    finally:
        _run.reset(token)


@contextmanager
def inside_of(clause: Clause) -> Iterator[None]:
    """Expressions without a value inside belong to a clause."""
    token = _clause.set(clause)
    try:
        yield
    finally:
        _clause.reset(token)


def asks(condition: Term) -> None:
    """Expressions without a value belong to a condition from now on."""
    _condition.set(condition)


def is_heard() -> bool:
    """Does somebody want to know, who has not heard enough of it?"""
    run, clause = _run.get(), _clause.get()
    if run is None or clause is None:
        return False
    place = run.places.get((id(clause), _condition.get() or _NOTHING))
    return place is None or len(place.values) < MOST


def note(expression: Term, env: Mapping[str, Term]) -> None:
    """An expression has no value where its variables are as `env` says."""
    run, clause = _run.get(), _clause.get()
    if run is None or clause is None:
        return
    condition = _condition.get() or expression
    known = run.places.get((id(clause), condition))
    if known is None:
        known = UndefinedCondition(condition, expression, clause)
        run.places[id(clause), condition] = known
    if len(known.values) < MOST:
        named = {_FRESH.sub("", name): env[name] for name in variables(expression) if name in env}
        known.values[tuple(sorted(named.items()))] = None
