"""What can go wrong besides the rules and the input: wrong parameters, queries, case files.

`RulesError` (horai.lang) and `InputError` (horai.io) say what is wrong with rules and streams.


Words for people.
"""

from __future__ import annotations


class UsageError(ValueError):
    """A parameter that makes no sense: a window of no length, an end before the start."""

    def __init__(self, problem: str, hint: str | None = None) -> None:
        self.problem = problem
        self.hint = hint
        super().__init__(problem if hint is None else f"{problem}\n  hint: {hint}")


class QueryError(UsageError):
    """A query that cannot be read or asks for something no rule speaks of."""


class RunError(Exception):
    """A run that the engine could not finish because of what the rules say."""


class RunFailed(RunError):
    """A run that something else has ended: a sink that takes nothing, a machine, Spark."""


class CaseError(Exception):
    """A case file that cannot be read; `problems` are (line, text), all of them."""

    def __init__(self, file: str, problems: list[tuple[int, str]]) -> None:
        self.file = file
        self.problems = sorted(problems)
        super().__init__("\n".join(f"{file}:{line}: {text}" for line, text in self.problems))


def counted(number: int, what: str) -> str:
    """A number with its noun.

    >>> counted(1, "warning"), counted(3, "query")
    ('1 warning', '3 queries')
    """
    if number == 1:
        return f"1 {what}"
    return f"{number} {what[:-1]}ies" if what.endswith("ry") else f"{number} {what}s"
