"""What goes wrong in a run of Event Calculus rules: errors, and expressions without a value.

Errors are sentences that name the rule. They only show while rules run; the checks before a run
find most of them earlier and say more.

`V < 90` fails where V is text, and `X is 1 / 0` always does. That is what the language says, and
rarely what somebody meant. Engines tell of such expressions as they meet them; a run that listens
counts the different values for which a condition had none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

from horai.lang.core.printer import show
from horai.lang.core.terms import Constant, Term, variables
from horai.lang.ec.syntax import Clause, Literal

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
    caller: Clause  # the rule that asked the background rule, or the clause itself
    values: dict[Env, None] = field(default_factory=dict)


class Undefined:
    """All conditions of a run that had no value, in the order in which they were met."""

    def __init__(self) -> None:
        self.places: dict[tuple[int, Term], UndefinedCondition] = {}  # clauses by identity


_run: ContextVar[Undefined | None] = ContextVar("_run", default=None)
_clause: ContextVar[Clause | None] = ContextVar("_clause", default=None)
_caller: ContextVar[Clause | None] = ContextVar("_caller", default=None)
_condition: ContextVar[Term | None] = ContextVar("_condition", default=None)


@contextmanager
def heard_by(run: Undefined) -> Iterator[None]:
    """Expressions without a value inside are noted in a run."""
    token = _run.set(run)
    try:
        yield
    finally:
        _run.reset(token)


def retell(heard: Undefined) -> None:
    """Note what was heard elsewhere in the run that listens now."""
    run = _run.get()
    if run is None:
        return
    for place, one in heard.places.items():
        known = run.places.setdefault(place, replace(one, values={}))
        for env in one.values:
            if len(known.values) < MOST:
                known.values[env] = None


@contextmanager
def inside_of(clause: Clause) -> Iterator[None]:
    """Expressions without a value inside belong to a clause."""
    token, caller = _clause.set(clause), _caller.set(_caller.get() or clause)
    try:
        yield
    finally:
        _clause.reset(token)
        _caller.reset(caller)


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
        known = UndefinedCondition(condition, expression, clause, _caller.get() or clause)
        run.places[id(clause), condition] = known
    if len(known.values) < MOST:
        named = {_FRESH.sub("", name): env[name] for name in variables(expression) if name in env}
        known.values[tuple(sorted(named.items()))] = None


class EngineError(Exception):
    """A run that cannot go on. `clause` is the rule at fault, if known."""

    clause: Clause | None = None

    @property
    def problem(self) -> str:
        """The problem, without the place."""
        return " ".join(str(arg) for arg in self.args)

    @property
    def place(self) -> str | None:
        """File and line of the rule at fault."""
        return None if self.clause is None else self.clause.place

    def __str__(self) -> str:
        return self.problem if self.place is None else f"{self.place}: {self.problem}"


class UnboundVariable(EngineError):
    """No condition can be evaluated: a variable gets no value."""

    def __init__(self, literal: Literal) -> None:
        term = show(literal.term)
        super().__init__(f"no condition gives a value to a variable of `{term}`")


class FutureRead(EngineError):
    """A rule of a cycle that depends on what the cycle itself decides later."""

    def __init__(self, key: tuple[str, int]) -> None:
        super().__init__(
            f"{key[0]}/{key[1]} is asked for at a later time than the rule is about, "
            "but it depends on the rule itself"
        )


class NotSettled(EngineError):
    """Rules that are true if, and only if, they are not."""


class IllegalCycle(EngineError):
    """A statically determined fluent that depends on itself."""


class Unsupported(EngineError):
    """A rule that passes the checks and still has no meaning where it stands."""


class Endless(EngineError, RecursionError):
    """A background predicate that calls itself, or lists rows, without end."""


class PredicateFailed(EngineError):
    """A Python predicate that raised an error or returned something that is no term."""


@contextmanager
def blaming(clause: Clause) -> Iterator[None]:
    """Problems inside are those of the clause, unless one further inside is named already."""
    try:
        with inside_of(clause):
            yield
    except EngineError as error:
        if error.clause is None:
            error.clause = clause
        raise
    except RecursionError as error:
        # The interpreter of Python gave up first: conditions are nested too deeply.
        endless = Endless("the conditions call each other too deeply, or without end")
        endless.clause = clause
        raise endless from error
