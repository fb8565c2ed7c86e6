"""`horai query`: run rules over a stream, then ask; one question per line."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import click

from horai.cli import console
from horai.cli.command import WRONG, Exit, takes
from horai.cli.options import BACKGROUND, INPUT, PREDICATES, QUIET, argument, run_options
from horai.cli.output import tell_dead_letters, tell_of_run
from horai.cli.workload import Workload, arguments, choose, run_rules
from horai.errors import QueryError, UsageError
from horai.runtime.queries import Bindings, render
from horai.settings import RunSettings

if TYPE_CHECKING:
    from horai.lang.lars.syntax import Predicate
    from horai.runtime.lars.result import LarsResult

_SETTINGS = [
    *("window", "step", "start", "end", "tick", "unit", "time_in", "input_format", "strict"),
    *("allen_memory", "engine", "incremental", "master", "buckets", "columns"),
    *("clock", "models", "reasoning", "least_change", "allowed_lateness"),
]


class Question(NamedTuple):
    """The result of a run, and the predicates that may be asked for."""

    result: LarsResult
    known: set[Predicate]

    def query(self, text: str) -> list[Bindings]:
        """What the variables of a question stand for."""
        from horai.runtime.lars.result import ask

        return ask(self.result.answers, text, self.known)


def run_to_ask(chosen: Workload, settings: RunSettings, quiet: bool) -> tuple[Question, str]:
    """Run a program over the chosen input, and say what may be asked."""
    from horai import lars
    from horai.lang.lars.predicates import background, derived, inputs
    from horai.runtime.lars.result import QUERY_FORMS as FORMS

    if settings.end is None:
        chosen.demand_input("name the stream: --input FILE, or give --end TIME")
    program = lars.load(chosen.rules, chosen.background)
    result = program.run(chosen.input or (), filter="none", **arguments(settings))
    tell_dead_letters(result.dead_letters, None, quiet)
    rules = program.program
    seen = {atom.predicate for answer in result.answers for atom in answer.atoms}
    known = derived(rules) | inputs(rules) | background(rules) | seen
    return Question(result, known), f"Ask {FORMS}; `quit` ends."


GREETING = "Ask holdsFor(F,I), holdsAt(F,16) or happensAt(E,T); `quit` ends."


class Askable(Protocol):
    """The result of a run that answers questions."""

    def query(self, text: str) -> list[Bindings]:
        """What the variables of a question stand for."""


_ENDS = frozenset({"quit", "exit", "halt", "q"})


def converse(result: Askable, greeting: str = GREETING) -> None:
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


def answer(result: Askable, asked: str) -> bool:
    """Print the answers to one query; False if it was no query."""
    try:
        click.echo(render(result.query(asked)))
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


@takes(
    argument("words", "[RULES]... [QUERIES]...", nargs=-1, type=str),
    BACKGROUND,
    INPUT,
    PREDICATES,
    *run_options("run", only=_SETTINGS),
    QUIET,
)
def command(
    words: list[str],
    background: list[Path],
    input: list[str],
    predicates: Path | None,
    given: dict[str, Any],
    quiet: bool,
) -> None:
    queries = [word for word in words if _is_query(word)]
    rules = [Path(word) for word in words if not _is_query(word)]
    chosen = choose(rules, background, predicates, input)
    if chosen.language == "combined":
        raise UsageError("queries are about rules of one language", "name files of one of them")
    settings = chosen.settings("run", given, _SETTINGS)
    if chosen.language == "lars":
        question, greeting = run_to_ask(chosen, settings, quiet)
        _answer(question, queries, greeting)
        return
    result = run_rules(chosen.load(), chosen, settings, quiet, answers="final")
    tell_dead_letters(result.dead_letters, None, quiet)
    tell_of_run(result.warnings, quiet)
    _answer(result, queries, GREETING)


def _answer(result: Askable, queries: list[str], greeting: str) -> None:
    """Answer what was asked, or ask for questions."""
    if not queries:
        converse(result, greeting)
        return
    good = True
    for query in queries:
        if len(queries) > 1:
            console.stdout().print(f"?- {query.strip().rstrip('.')}.", style="bold")
        good = answer(result, query) and good
    if not good:
        raise Exit(WRONG)


def _is_query(word: str) -> bool:
    """Queries have parentheses, or begin with `@`, or are names alone; files have endings."""
    is_name = re.fullmatch(r"[a-z]\w*", word) is not None
    return ("(" in word or word.startswith("@") or is_name) and not Path(word).exists()
