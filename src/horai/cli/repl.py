"""Questions after a run, one per line."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Protocol

import typer

from horai.cli import console
from horai.errors import QueryError
from horai.queries import Bindings, render

GREETING = "Ask holdsFor(F,I), holdsAt(F,16) or happensAt(E,T); `quit` ends."


class Asked(Protocol):
    """The result of a run that answers questions."""

    def query(self, text: str) -> list[Bindings]:
        """What the variables of a question stand for."""


_ENDS = frozenset({"quit", "exit", "halt", "q"})


def converse(result: Asked, greeting: str = GREETING) -> None:
    """Answer queries until the input ends or somebody says quit."""
    people = sys.stdin.isatty()
    if people:
        console.say(greeting)
        with suppress(ImportError):
            import readline  # noqa: F401  makes the arrow keys work in input()
    while (line := _next(people)) is not None:
        asked = line.strip()
        if asked.rstrip(".") in _ENDS:
            return
        if asked:
            answer(result, asked)


def answer(result: Asked, asked: str) -> bool:
    """Print the answers to one query; False if it was no query."""
    try:
        typer.echo(render(result.query(asked)))
    except QueryError as problem:
        console.error(problem.problem, problem.hint)
        return False
    return True


def _next(people: bool) -> str | None:
    if not people:
        return sys.stdin.readline() or None
    try:
        return input("?- ")
    except EOFError:
        typer.echo()
        return None
