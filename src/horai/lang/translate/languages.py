"""From the text of a related language to a LARS program."""

from __future__ import annotations

from collections.abc import Callable

from horai.lang.core.diagnostics import Diagnostic, Report, RulesError, has_errors
from horai.lang.core.source import SourceText
from horai.lang.lars.syntax import Program
from horai.lang.translate import cql, etalis, ltl

Translated = tuple[Program, list[Diagnostic]]


def _from_cql(source: SourceText) -> Translated:
    read, findings = cql.read_source(source)
    program, more = cql.translated(read, source)
    return program, [*findings, *more]


def _from_etalis(source: SourceText, points: bool = False) -> Translated:
    rules, findings = etalis.read_source(source)
    # Rules with mistakes cannot be translated; what is wrong is told anyway.
    return (Program(()) if findings else etalis.translated(rules, points)), findings


def _from_ltl(source: SourceText) -> Translated:
    definitions, findings = ltl.read_source(source)
    return (Program(()) if findings else ltl.translated(definitions)), findings


LANGUAGES: dict[str, Callable[[SourceText], Translated]] = {
    "cql": _from_cql,
    "etalis": _from_etalis,
    "ltl": _from_ltl,
}
POINTS = "etalis"  # the language that can be translated to points, too
ENDS = {"cql": ";", "etalis": ".", "ltl": "."}
"""The signs that end statements."""
SUFFIXES = {".cql": "cql", ".sql": "cql", ".etalis": "etalis", ".ele": "etalis", ".ltl": "ltl"}
"""The language of a file, by how its name ends."""


def translated(source: SourceText, language: str, points: bool = False) -> Translated:
    """The program for a text, and all that is wrong with the text."""
    try:
        if points and language == POINTS:
            return _from_etalis(source, points)
        return LANGUAGES[language](source)
    except RecursionError:
        report = Report()
        hint = "name parts of it in statements of their own"
        report.add("H801", "a statement is nested too deeply", source, None, hint)
        return Program(()), report.findings


def translate(source: SourceText, language: str, points: bool = False) -> Program:
    """The program for a text; raises `RulesError` with all that is wrong.

    Events of patterns have intervals, which are arguments, or `points` at which they hold.

    >>> from horai.lang.lars.printer import show_program
    >>> program = translate(SourceText("f", "calm := historically[0,5] quiet."), "ltl")
    >>> print(show_program(program), end="")
    calm :- always quiet [5].
    """
    program, findings = translated(source, language, points)
    if has_errors(findings):
        raise RulesError(findings)
    return program
