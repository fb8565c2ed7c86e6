"""`horai query`: run rules over a stream, then ask.

Questions about the answers of a LARS program: `horai query`.
Questions after a run, one per line.
"""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Protocol

import typer

from horai.cli import console
from horai.cli.combined import speaks_both
from horai.cli.guard import WRONG, guarded
from horai.cli.lars import SETTINGS, is_lars, refuse_lars_options, refuse_lars_settings
from horai.cli.options import (
    AllenMemory,
    Background,
    Clock,
    End,
    Engine,
    Incremental,
    Input,
    InputFormat,
    Predicates,
    Quiet,
    Start,
    Step,
    Strict,
    Tick,
    TimeIn,
    Unit,
    Window,
    choose,
    merged,
    run_rules,
)
from horai.cli.output import tell_dead_letters, tell_of_run
from horai.errors import QueryError, UsageError
from horai.runtime.queries import Bindings, render

if TYPE_CHECKING:
    from horai.cli.options import Workload
    from horai.lang.lars.syntax import Predicate
    from horai.runtime.lars.result import LarsResult
    from horai.runtime.queries import Bindings


class Question(NamedTuple):
    """The result of a run, and the predicates that may be asked for."""

    result: LarsResult
    known: set[Predicate]

    def query(self, text: str) -> list[Bindings]:
        """What the variables of a question stand for."""
        from horai.runtime.lars.result import ask

        return ask(self.result.answers, text, self.known)


def run_to_ask(chosen: Workload, settings: dict[str, Any], quiet: bool) -> tuple[Question, str]:
    """Run a program over the chosen input, and say what may be asked."""
    from horai import lars
    from horai.lang.lars.predicates import background, derived, inputs
    from horai.runtime.lars.result import QUERY_FORMS as FORMS

    if not chosen.input and settings.get("end") is None:
        raise UsageError("no input given", "name the stream: --input FILE, or give --end TIME")
    program = lars.load(chosen.rules, chosen.background)
    asked = {n: v for n, v in settings.items() if n in SETTINGS - {"output_every", "filter"}}
    result = program.run(chosen.input or (), filter="none", **asked)
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


@guarded
def command(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RULES QUERIES",
            help="Files of rules, and queries such as 'holdsAt(F,16)', or '@T h(X)' of LARS "
            "programs; without any, a prompt.",
        ),
    ] = None,
    background: Background = None,
    input: Input = None,
    window: Window = None,
    step: Step = None,
    start: Start = None,
    end: End = None,
    tick: Tick = None,
    unit: Unit = None,
    time_in: TimeIn = None,
    input_format: InputFormat = None,
    strict: Strict = None,
    allen_memory: AllenMemory = None,
    engine: Engine = None,
    incremental: Incremental = None,
    predicates: Predicates = None,
    clock: Clock = None,
    quiet: Quiet = False,
) -> None:
    """Run rules over a stream, then answer queries."""
    queries = [word for word in words or [] if _is_query(word)]
    rules = [Path(word) for word in words or [] if not _is_query(word)]
    chosen = choose(rules, background, predicates, input)
    if speaks_both(chosen.rules):
        raise UsageError("queries are about rules of one language", "name files of one of them")
    if is_lars(chosen.rules):
        refuse_lars_settings(
            {"window": window, "tick": tick, "allen-memory": allen_memory},
            {"incremental": incremental, "predicates": predicates},
        )
        reading = {"unit": unit, "time_in": time_in, "input_format": input_format}
        settings = merged(
            chosen,
            step=step,
            start=start,
            end=end,
            strict=strict,
            engine=engine,
            clock=clock,
            **reading,
        )
        question, greeting = run_to_ask(chosen, settings, quiet)
        _answer(question, queries, greeting)
        return
    refuse_lars_options(clock=clock)
    settings = merged(
        chosen,
        window=window,
        step=step,
        start=start,
        end=end,
        tick=tick,
        unit=unit,
        time_in=time_in,
        input_format=input_format,
        strict=strict,
        allen_memory=allen_memory,
        engine=engine,
        incremental=incremental,
    )
    settings.pop("format", None)
    settings["answers"] = "final"
    result = run_rules(chosen.load(), chosen, settings, quiet)
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
        raise typer.Exit(WRONG)


def _is_query(word: str) -> bool:
    """Queries have parentheses, or begin with `@`, or are names alone; files have endings."""
    is_name = re.fullmatch(r"[a-z]\w*", word) is not None
    return ("(" in word or word.startswith("@") or is_name) and not Path(word).exists()
