"""What the reference engine cannot do, said in a sentence that names the rule.

These are problems that only show while rules run; the checks before a run find most of them
earlier and say more.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from horai.lang.core.printer import show
from horai.lang.core.undefined import inside_of
from horai.lang.ec.syntax import Clause, Literal


class OracleError(Exception):
    """A run that cannot go on. `clause` is the rule at fault, if known."""

    clause: Clause | None = None

    @property
    def problem(self) -> str:
        """What is wrong, without the place."""
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


class UnboundVariable(OracleError):
    """No condition can be evaluated: a variable gets no value."""

    def __init__(self, literal: Literal) -> None:
        super().__init__(literal)
        self.literal = literal

    @property
    def problem(self) -> str:
        return f"no condition gives a value to a variable of `{show(self.literal.term)}`"


class FutureRead(OracleError):
    """A rule of a cycle asks for something later than the point it is about."""

    def __init__(self, key: tuple[str, int]) -> None:
        super().__init__(key)
        self.key = key

    @property
    def problem(self) -> str:
        name, arity = self.key
        return (
            f"{name}/{arity} is asked for at a later time than the rule is about, "
            "but it depends on the rule itself"
        )


class NotSettled(OracleError):
    """Rules that depend on their own outcome at one and the same time-point."""


class IllegalCycle(OracleError):
    """A statically determined fluent that depends on itself."""


class Unsupported(OracleError):
    """A condition that has no meaning where it stands."""


class EndlessBackground(OracleError, RecursionError):
    """A background predicate that calls itself, or lists rows, without end."""


class PredicateFailed(OracleError):
    """A Python predicate that raised an error or returned something that is no term."""


@contextmanager
def blaming(clause: Clause) -> Iterator[None]:
    """Problems inside are those of the clause, unless one further inside is named already."""
    try:
        with inside_of(clause):
            yield
    except OracleError as error:
        if error.clause is None:
            error.clause = clause
        raise
    except RecursionError as error:
        # The interpreter of Python gave up first: conditions are nested too deeply.
        endless = EndlessBackground("the conditions call each other too deeply, or without end")
        endless.clause = clause
        raise endless from error
