"""`horai why`: run rules over a stream, then prove what holds or happens at a time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import click

from horai.cli import console
from horai.cli.command import ON_STREAM, Quiet, argument, option, run_options, takes, writes
from horai.cli.output import tell_of_run
from horai.cli.query import RUN_SETTINGS
from horai.cli.workload import Workload, choose, run_rules
from horai.errors import UsageError
from horai.explain.proof import DEEPEST, Proof
from horai.explain.why import read_subject
from horai.result import Result
from horai.settings import SPARK

TO_EXPLAIN = [name for name in RUN_SETTINGS if name not in ("master", "buckets")]
_QUESTION = re.compile(r"([a-z]\w*|'[^']+')(\(.*\))?(\s*=.*)?\.?")


@takes(*ON_STREAM[1:], *run_options("run", only=TO_EXPLAIN))
def command(
    named: dict[str, Any],
    given: dict[str, Any],
    words: Annotated[list[str], argument("[RULES]... FLUENT=VALUE|EVENT|ATOM")],
    at: Annotated[
        str | None, option("When: a time-point, or ISO 8601 with --unit.", metavar="TIME")
    ],
    started: Annotated[bool, option("Why the interval that holds then has started.")],
    ended: Annotated[bool, option("Why the interval that holds then ends.")],
    revised: Annotated[bool, option("Which row changed what earlier query times said.")],
    absent: Annotated[bool, option("Why it is not so, and which rows would help.", "--not")],
    depth: Annotated[int | None, option("How deep the proof goes (12).", metavar="N")],
    quiet: Quiet,
    format: Annotated[
        Literal["text", "json", "html"], writes("For people, machines, or a page.")
    ] = "text",
) -> None:
    rules, what = _question(words)
    asked = {"--started": started, "--ended": ended, "--revised": revised, "--not": absent}
    about = [name for name, is_asked in asked.items() if is_asked]
    if len(about) > 1:
        problem = f"{' and '.join(about)} are {len(about)} questions"
        raise UsageError(problem, "ask one after the other")
    if depth is not None and (absent or revised):
        raise UsageError(f"--depth has no meaning with {about[0]}", "it is about proofs")
    chosen = choose(rules, **named)
    result = run_to_explain(chosen, given, quiet, what, absent)
    if absent:
        show(result.why_not(what, at), format)
    else:
        kind = "start" if started else "end" if ended else "revision" if revised else "holds"
        show(result.why(what, at, kind, DEEPEST if depth is None else depth), format)


def run_to_explain(
    chosen: Workload,
    given: Mapping[str, Any],
    quiet: bool,
    what: str | None = None,
    revisable: bool = True,
) -> Result:
    """Run by an engine that keeps the items: proofs are made of them.

    `what` is to be asked; what no run could answer is refused before it.
    """
    settings = chosen.settings("run", given, TO_EXPLAIN)
    if settings.engine == SPARK:
        problem = "a run on Spark keeps no items in this process, so it cannot be explained"
        raise UsageError(problem, "choose another engine: --engine auto")
    rules = chosen.load()
    if what is not None and rules.language == "ec":
        read_subject(rules, what)
    more: dict[str, Any] = {"revisable": revisable} if rules.language == "ec" else {}
    result = run_rules(rules, chosen, settings, quiet, **more)
    tell_of_run(result, quiet)
    return result


def _question(words: list[str]) -> tuple[list[Path], str]:
    """Files of rules, and what is asked: the one word that is no file."""
    asked = [w for w in words if _QUESTION.fullmatch(w) and not Path(w).exists()]
    hint = "horai why rules.ec 'rich(chris)=true' --at 16 --input day.csv"
    strange = [w for w in words if w not in asked and not Path(w).exists() and set(w) & set("=(")]
    if strange:
        raise UsageError(f"{strange[0]} is no question: a name begins with a small letter", hint)
    if not asked:
        raise UsageError("nothing is asked", hint)
    if len(asked) > 1:
        raise UsageError(f"{' and '.join(asked)} are {len(asked)} questions", "ask one")
    return [Path(word) for word in words if word is not asked[0]], asked[0]


def show(proof: Proof, format: str) -> None:
    """Print a proof."""
    match format:
        case "json":
            click.echo(proof.to_json())
        case "html":
            click.echo(f'<!doctype html>\n<meta charset="utf-8">\n{proof._repr_html_()}')
        case _ if console.stdout().is_terminal:
            console.stdout().print(proof.tree())
        case _:
            click.echo(str(proof))
