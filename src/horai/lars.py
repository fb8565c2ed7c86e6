"""LARS programs: loaded, checked, and ready to run over a stream.

>>> from horai import lars
>>> program = lars.loads("busy(X) :- job(X) [2 s].")
>>> result = program.run(["job|1|1|ada"], start=0, end=4)
>>> [(answer.query, answer.texts()) for answer in result.answers]
[(0, []), (1, ['busy(ada)']), (2, ['busy(ada)']), (3, ['busy(ada)']), (4, [])]
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from horai import parameters
from horai.errors import UsageError
from horai.lang.diagnostics import Diagnostic, RulesError
from horai.lang.lars.clock import Clock
from horai.lang.lars.reader import read_files, read_sources
from horai.lang.lars.syntax import Program
from horai.lang.reader import clean
from horai.lang.report import has_errors
from horai.lang.source import Source
from horai.lars_clock import DEFAULT_CLOCK
from horai.lars_program import LarsProgram
from horai.lars_result import LarsAnswer, LarsResult
from horai.lars_saving import LANGUAGE
from horai.lars_session import Session
from horai.lars_steps import LarsStep
from horai.plan.lars import check
from horai.saving import demand_language, from_bytes

PathLike = str | os.PathLike[str]

__all__ = [
    "LarsAnswer",
    "LarsProgram",
    "LarsResult",
    "LarsStep",
    "Session",
    "load",
    "load_session",
    "loads",
]


def load(
    paths: PathLike | Iterable[PathLike], background: PathLike | Iterable[PathLike] = ()
) -> LarsProgram:
    """Read a program from files; `background` are files of facts. Raises `RulesError`."""
    files = [*_paths(paths), *_paths(background)]
    if not files:
        raise UsageError("no rules given", "name at least one file of rules")
    return readable(*read_files(files))


def loads(text: str, background: str = "") -> LarsProgram:
    """Read a program from text. Raises `RulesError`.

    >>> loads("h :- b [2 s].")
    <LarsProgram for h/0>
    """
    hint = "to read files, use horai.lars.load"
    given = [("<rules>", text), ("<background>", background)]
    sources = [
        Source(name, clean(parameters.text(content, name, hint)))
        for name, content in given
        if content or name == "<rules>"
    ]
    return readable(*read_sources(sources))


def load_session(saved: bytes) -> Session:
    """The session that `Session.save` saved, with its program, ready to go on."""
    found = from_bytes(saved)
    demand_language(found, LANGUAGE)
    settings = {name: value for name, value in found.settings.items() if name != "language"}
    program = readable(*read_sources([Source(name, text) for name, text in found.sources]))
    session = program.session(**settings)
    session.restore(found)
    return session


def readable(program: Program, findings: list[Diagnostic]) -> LarsProgram:
    """A program that could be read, or `RulesError` with all that is wrong."""
    if has_errors(findings):
        # What the checks find in the rules that could be read is worth knowing, too.
        raise RulesError([*findings, *check(program, Clock.parse(DEFAULT_CLOCK))])
    return LarsProgram(program)


def _paths(given: PathLike | Iterable[PathLike]) -> list[Path]:
    return [Path(given)] if isinstance(given, str | os.PathLike) else [Path(p) for p in given]
