"""`horai fmt`: the layout of rules put right."""

from __future__ import annotations

import sys
from difflib import unified_diff
from pathlib import Path
from typing import Annotated

import click

from horai.cli.command import (
    FAILED,
    SUFFIX,
    Exit,
    StdinName,
    argument,
    option,
    standard_input,
    takes,
)
from horai.cli.workload import choose
from horai.errors import counted
from horai.lang.core.diagnostics import Diagnostic, RulesError, has_errors
from horai.lang.core.reader import read_clauses, read_file
from horai.lang.core.source import SourceText
from horai.lang.lars.reader import read_sources
from horai.lang.layout import formatted

NO_LINE_END = "\\ No newline at end of file\n"


@takes()
def command(
    rules: Annotated[list[Path], argument("[RULES]...")],
    check: Annotated[bool, option("Write nothing; exit status 1 if a file would change.")],
    diff: Annotated[bool, option("Write nothing; show what would change.")],
    stdin_name: StdinName,
) -> None:
    given = standard_input(rules, stdin_name)
    if given is not None:
        text = _formatted(given, [])
        if diff or check:
            _finish([(Path(given.name), given.text, text)], check, diff)
        else:
            sys.stdout.write(text)
        return
    chosen = choose(rules, runs=False)
    paths = list(dict.fromkeys([*chosen.rules, *chosen.background]))
    # All are read before the first is written: a mistake in one leaves all as they are.
    read = [(path, *read_file(path)) for path in paths]
    found = [(path, source, _formatted(source, wrong)) for path, source, wrong in read]
    if check or diff:
        _finish([(path, source.text, text) for path, source, text in found], check, diff)
        return
    changed = [path for path, source, text in found if _replace(path, text)]
    click.echo(f"{counted(len(changed), 'file')} changed, {len(found) - len(changed)} as before")


def _formatted(source: SourceText, wrong: list[Diagnostic]) -> str:
    """The text of rules with its layout put right; raises if it cannot be read."""
    is_program = Path(source.name).suffix.lower() == SUFFIX
    findings = [*wrong, *(read_sources([source])[1] if is_program else read_clauses(source)[2])]
    if has_errors(findings):
        raise RulesError(one for one in findings if has_errors([one]))
    return formatted(source.text, "lars" if is_program else "ec")


def _replace(path: Path, text: str) -> bool:
    """Write a file unless it is so already; it is never there in part, and keeps its line ends."""
    before = path.read_bytes()
    after = text.replace("\n", "\r\n" if b"\r\n" in before else "\n").encode()
    if before == after:
        return False
    target = path.resolve()
    part = target.with_name(target.name + ".part")
    part.write_bytes(after)
    part.chmod(target.stat().st_mode)
    part.replace(target)
    return True


def _finish(found: list[tuple[Path, str, str]], check: bool, diff: bool) -> None:
    """Show what would change; with `check` it is a failure if something does."""
    changed = [one for one in found if one[1] != one[2]]
    for path, before, after in changed:
        if diff:
            lines = before.splitlines(True), after.splitlines(True)
            for line in unified_diff(*lines, str(path), f"{path}, formatted"):
                click.echo(line if line.endswith("\n") else f"{line}\n{NO_LINE_END}", nl=False)
        else:
            click.echo(f"{path} would change")
    if check and changed:
        raise Exit(FAILED)
