"""`horai query`: run rules over a stream, then ask."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from horai.cli import console
from horai.cli.dead_letters import tell_dead_letters
from horai.cli.guard import WRONG, guarded
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
from horai.cli.repl import answer, converse


@guarded
def command(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RULES QUERIES",
            help="Files of rules, and queries such as 'holdsAt(F,16)'; without any, a prompt.",
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
    quiet: Quiet = False,
) -> None:
    """Run rules over a stream, then answer queries."""
    queries = [word for word in words or [] if _is_query(word)]
    rules = [Path(word) for word in words or [] if not _is_query(word)]
    chosen = choose(rules, background, predicates, input)
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
    if not queries:
        converse(result)
        return
    good = True
    for query in queries:
        if len(queries) > 1:
            console.stdout().print(f"?- {query.strip().rstrip('.')}.", style="bold")
        good = answer(result, query) and good
    if not good:
        raise typer.Exit(WRONG)


def _is_query(word: str) -> bool:
    """Queries have parentheses; file names hardly ever do."""
    return "(" in word and not Path(word).exists()
