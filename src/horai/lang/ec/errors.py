"""Errors that stop a run of Event Calculus rules, in sentences that name the rule.

These are problems that only show while rules run; the checks before a run find most of them
earlier and say more.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from horai.lang.core.printer import show
from horai.lang.core.undefined import inside_of
from horai.lang.ec.syntax import Clause, Literal


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
        if self.clause is None:
            return None
        line, _ = self.clause.source.position(self.clause.span[0])
        return f"{self.clause.source.name}:{line}"

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
