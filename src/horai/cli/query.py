"""`horai query`: run rules over a stream, then ask."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from horai.cli import console
from horai.cli.both import speaks_both
from horai.cli.dead_letters import tell_dead_letters
from horai.cli.guard import WRONG, guarded
from horai.cli.lars import is_lars, refuse_lars_options, refuse_lars_settings
from horai.cli.lars_ask import run_to_ask
from horai.cli.lars_options import Clock
from horai.cli.options import (
    AllenMemory,
    Background,
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
from horai.cli.repl import GREETING, Asked, answer, converse
from horai.errors import UsageError


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
    _answer(result, queries, GREETING)


def _answer(result: Asked, queries: list[str], greeting: str) -> None:
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
