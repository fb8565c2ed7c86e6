"""From the text of a related language to a LARS program."""

from __future__ import annotations

from collections.abc import Callable

from horai.lang.cql.reader import read_source as read_cql
from horai.lang.diagnostics import Diagnostic, RulesError
from horai.lang.etalis.reader import read_source as read_etalis
from horai.lang.lars.syntax import Program
from horai.lang.ltl.reader import read_source as read_ltl
from horai.lang.report import has_errors
from horai.lang.source import Source
from horai.relatives import cql, etalis, ltl

Translated = tuple[Program, list[Diagnostic]]


def _from_cql(source: Source) -> Translated:
    statements, findings = read_cql(source)
    program, more = cql.translated(statements, source)
    return program, [*findings, *more]


def _from_etalis(source: Source, points: bool = False) -> Translated:
    rules, findings = read_etalis(source)
    # Rules with mistakes cannot be translated; what is wrong is told anyway.
    return (Program(()) if findings else etalis.translated(rules, points)), findings


def _from_ltl(source: Source) -> Translated:
    definitions, findings = read_ltl(source)
    return ltl.translated(definitions), findings


LANGUAGES: dict[str, Callable[[Source], Translated]] = {
    "cql": _from_cql,
    "etalis": _from_etalis,
    "ltl": _from_ltl,
}
POINTS = "etalis"  # the language that can be translated to points, too
ENDS = {"cql": ";", "etalis": ".", "ltl": "."}
"""What ends a statement."""
SUFFIXES = {".cql": "cql", ".sql": "cql", ".etalis": "etalis", ".ele": "etalis", ".ltl": "ltl"}
"""The language of a file, by how its name ends."""


def translated(source: Source, language: str, points: bool = False) -> Translated:
    """The program for a text, and all that is wrong with the text."""
    if points and language == POINTS:
        return _from_etalis(source, points)
    return LANGUAGES[language](source)


def translate(source: Source, language: str, points: bool = False) -> Program:
    """The program for a text; raises `RulesError` with all that is wrong.

    Events of patterns have intervals, which are arguments, or `points` at which they hold.

    >>> from horai.lang.lars.printer import show_program
    >>> program = translate(Source("f", "calm := historically[0,5] quiet."), "ltl")
    >>> print(show_program(program), end="")
    calm :- always quiet [5].
    """
    program, findings = translated(source, language, points)
    if has_errors(findings):
        raise RulesError(findings)
    return program
