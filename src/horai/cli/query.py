"""`horai query`: run rules over a stream, then ask; one question per line."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import click

from horai.cli import console
from horai.cli.command import ON_STREAM, WRONG, Exit, Quiet, Times, argument, run_options, takes
from horai.cli.output import iso_unit, tell_of_run
from horai.cli.workload import choose, run_rules
from horai.errors import QueryError
from horai.io.times import Unit
from horai.result import Result
from horai.runtime.queries import FORMS, QUERY_FORMS, in_points, render, times_asked
from horai.settings import options_for

RUN_SETTINGS = [n for n, o in options_for(None, "run").items() if o.written and o.group != "output"]
"""Of a run whose answers are asked for, not written."""


GREETINGS = {
    "ec": f"Ask {FORMS}; `quit` ends.",
    "lars": f"Ask {QUERY_FORMS}; `quit` ends.",
    "combined": f"Ask {FORMS}, or of atoms {QUERY_FORMS}; `quit` ends.",
}


_ENDS = frozenset({"quit", "exit", "halt", "q"})


def converse(result: Result, iso: Unit | None = None) -> None:
    """Answer queries until the input ends or somebody says quit."""
    people = sys.stdin.isatty()
    if people:
        console.say(GREETINGS[result.rules.language])
        with suppress(ImportError):
            import readline  # noqa: F401  makes the arrow keys work in input()
    while (line := _next(people)) is not None:
        asked = line.strip()
        if asked.rstrip(".") in _ENDS:
            return
        if asked:
            answer(result, asked, iso)


def answer(result: Result, asked: str, iso: Unit | None = None) -> bool:
    """Print the answers to one query, with a unit in ISO 8601; False if it was no query."""
    try:
        found = result.bindings(asked)
        click.echo(render(found, times_asked(in_points(asked, iso)) if iso else set(), iso))
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
        click.echo()
        return None


@takes(*ON_STREAM[1:], *run_options("run", only=RUN_SETTINGS))
def command(
    named: dict[str, Any],
    given: dict[str, Any],
    words: Annotated[list[str], argument("[RULES]... [QUERIES]...")],
    times: Times,
    quiet: Quiet,
) -> None:
    queries = [word for word in words if _is_query(word)]
    rules = [Path(word) for word in words if not _is_query(word)]
    chosen = choose(rules, **named)
    shown = {"lars": {"filter": "none"}, "ec": {"answers": "final"}}.get(chosen.language, {})
    settings = chosen.settings("run", given | shown, RUN_SETTINGS)
    iso = iso_unit(times, settings.unit, for_people=True)
    result = run_rules(chosen.load(), chosen, settings, quiet)
    tell_of_run(result, quiet)
    if not queries:
        converse(result, iso)
        return
    good = True
    for query in queries:
        if len(queries) > 1:
            console.stdout().print(f"?- {query.strip().rstrip('.')}.", style="bold")
        good = answer(result, query, iso) and good
    if not good:
        raise Exit(WRONG)


def _is_query(word: str) -> bool:
    """Queries have parentheses, or begin with `@`, or are names alone; files have endings."""
    is_name = re.fullmatch(r"[a-z]\w*", word) is not None
    return ("(" in word or word.startswith("@") or is_name) and not Path(word).exists()
