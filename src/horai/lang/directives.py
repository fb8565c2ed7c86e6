"""Directives `:- ...`: most only steer other systems and are passed over."""

from __future__ import annotations

from dataclasses import dataclass

from horai.lang.grammar import ParsedClause
from horai.lang.report import Report
from horai.lang.source import Source
from horai.lang.terms import Atom, ListTerm, Span, Str, Term, children, functor

_HARMLESS = frozenset(
    {
        "dynamic",
        "discontiguous",
        "multifile",
        "table",
        "use_module",
        "module",
        "set_prolog_flag",
        "style_check",
        "set_stream",
        "license",
        "yap_flag",
    }
)
_LOADING = frozenset({"consult", "include", "ensure_loaded", "load_files", "compile"})


@dataclass(frozen=True, slots=True)
class Load:
    """A file that a directive such as `:- ['areas.prolog'].` asks for."""

    name: str
    source: Source
    span: Span


def check_directive(
    parsed: ParsedClause,
    span: Span,
    source: Source,
    report: Report,
    loads: list[Load] | None = None,
) -> None:
    """Accept a directive, or say what to do instead.

    Files to load go to `loads`; without it there is nobody to load them.
    """
    body = parsed.body
    if body is None:
        return
    found = functor(body)
    name = parsed.directive or (found[0] if found else "")
    if name == "initialization":
        hint = "remove it; `horai run` starts the reasoning"
        report.add("H025", "rule files start no programs", source, span, hint)
    elif name in _LOADING or isinstance(body, ListTerm):
        _consult(body, span, source, report, loads)
    elif name not in _HARMLESS:
        hint = "remove it if it is not meant for another system"
        report.add("H026", "this directive has no meaning here", source, span, hint)


def _consult(
    body: Term, span: Span, source: Source, report: Report, loads: list[Load] | None
) -> None:
    files = [
        part.name if isinstance(part, Atom) else part.value
        for part in children(body)
        if isinstance(part, Atom | Str)
    ]
    if loads is not None:
        loads.extend(Load(name, source, span) for name in files)
        return
    if not files:
        return  # a library of the Prolog system
    named = ", ".join(files)
    hint = f"pass {named} as a rules or background file"
    report.add("H027", "only rules that are files themselves can load others", source, span, hint)
