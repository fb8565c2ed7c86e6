"""Every command runs guarded: what is wrong is said in words, with the right exit status.

0 fine, 1 it ran but something failed, 2 wrong use or wrong input, 130 interrupted.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import typer

from horai.cli import console, leave
from horai.cli.app import DEBUG
from horai.errors import CaseError, RunError, RunFailed, UsageError, counted
from horai.io import InputError
from horai.io.shown import shortened
from horai.lang.core.diagnostics import RulesError, Severity, has_errors

P = ParamSpec("P")

FAILED = 1
WRONG = 2
INTERRUPTED = 130


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """The command with its errors turned into messages and exit status."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            if signal.getsignal(signal.SIGINT) is leave:  # from here on there is work to end
                signal.signal(signal.SIGINT, signal.default_int_handler)
            command(*args, **kwargs)
            sys.stdout.flush()
        except typer.Exit:
            raise
        except KeyboardInterrupt:
            console.error("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            # Whoever reads our output has seen enough. Python flushes once more when it ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except Exception as problem:
            if os.environ.get(DEBUG):
                raise
            raise typer.Exit(_explain(problem)) from None

    return run


def _explain(problem: Exception) -> int:
    match problem:
        case RulesError():
            console.show_findings(problem.diagnostics)
            errors = sum(d.severity is Severity.ERROR for d in problem.diagnostics)
            console.error(f"the rules have {counted(errors, 'error')}")
            assert has_errors(problem.diagnostics)
        case UsageError():
            console.error(problem.problem, problem.hint)
        case CaseError():
            for line, text in problem.problems:
                console.error(f"{problem.file}:{line}: {text}")
        case InputError():
            place = problem.file if problem.line is None else f"{problem.file}:{problem.line}"
            row = f"\n  row: {shortened(problem.text)}" if problem.text else ""
            console.error(f"{place}: {problem.reason}{row}", problem.hint or None)
        case RunError():
            console.error(str(problem))
            return FAILED if isinstance(problem, RunFailed) else WRONG
        case OSError():
            name = f"{problem.filename}: " if problem.filename else ""
            console.error(f"{name}{problem.strerror or problem}")
        case _:
            console.error(
                f"{type(problem).__name__}: {problem}",
                f"this is a fault of Horai; {DEBUG}=1 shows where it happened",
            )
            return FAILED
    return WRONG
