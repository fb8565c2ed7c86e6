"""Rules from files, from text and from saved sessions, with all that is wrong told at once."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable
from pathlib import Path

from horai import parameters
from horai.errors import UsageError
from horai.lang.codes import has_errors
from horai.lang.diagnostics import Diagnostic, RulesError, sort_key
from horai.lang.ec.builder import read_files, read_sources
from horai.lang.ec.syntax import EventDescription
from horai.lang.reader import clean
from horai.lang.source import Source
from horai.plan.check import check
from horai.plan.mode_table import PythonPredicate
from horai.plan.ungrounded import computed
from horai.predicates import Given, Predicate, collect, collect_again
from horai.rules import PathLike, Rules
from horai.saving import demand_language, from_bytes
from horai.session import Session


def load(
    paths: PathLike | Iterable[PathLike],
    background: PathLike | Iterable[PathLike] = (),
    predicates: Given = None,
) -> Rules:
    """Read and check rules from files.

    `background` are files of facts and helper rules. `predicates` are Python functions that rules
    may call, by name or as a list. All that is wrong is raised at once as `RulesError`.
    """
    files, more = _paths(paths), _paths(background)
    if not files:
        raise UsageError("no rules given", "name at least one file of rules")
    for path in files:
        if path.suffix == ".lars":
            hint = "horai run, check, plan, graph, query and report take it; or horai.lars.load"
            raise UsageError(f"{path} is a LARS program", hint)
    description, findings = read_files(files, more)
    return checked(description, findings, collect(predicates))


def loads(text: str, background: str = "", predicates: Given = None) -> Rules:
    """Read and check rules from text.

    >>> loads("initiatedAt(on=true, T) :- happensAt(up, T).")
    <Rules for on/0>
    """
    hint = "to read files, use horai.load"
    sources = [Source("<rules>", clean(parameters.text(text, "rules", hint)))]
    if background:
        more = parameters.text(background, "background", hint)
        sources.append(Source("<background>", clean(more)))
    description, findings = read_sources(sources)
    return checked(description, findings, collect(predicates))


def load_session(saved: bytes, predicates: Given = None) -> Session:
    """The session that `Session.save` saved, with its rules, ready to go on.

    Python predicates are not saved; give them again. Load only what you saved yourself: bytes may
    name the reference engine, which saves pickles.
    """
    found = from_bytes(saved)
    demand_language(found, None)
    functions = collect_again(predicates, found.predicates, "load_session")
    description, findings = read_sources(Source(name, text) for name, text in found.sources)
    session = checked(description, findings, functions).session(**found.settings)
    session.restore(found)
    return session


def checked(
    description: EventDescription, findings: list[Diagnostic], predicates: dict[str, Predicate]
) -> Rules:
    """Rules from a description, or `RulesError` with all that is wrong."""
    findings = all_findings(description, findings, predicates)
    if has_errors(findings):
        raise RulesError(findings)
    if any(finding.code == "H314" for finding in findings):
        description = computed(description, _python(predicates))
    return Rules(description, findings, predicates)


def all_findings(
    description: EventDescription, findings: list[Diagnostic], predicates: dict[str, Predicate]
) -> list[Diagnostic]:
    """What reading found and what the checks of the plan find, in the order of the text."""
    found = check(description, _python(predicates), findings)
    return sorted([*findings, *found], key=sort_key)


def _python(predicates: dict[str, Predicate]) -> list[PythonPredicate]:
    return [
        PythonPredicate(name, len(inspect.signature(function).parameters))
        for name, function in predicates.items()
    ]


def _paths(given: PathLike | Iterable[PathLike]) -> list[Path]:
    if isinstance(given, str | os.PathLike):
        return [Path(given)]
    try:
        return [Path(path) for path in given]
    except TypeError:
        hint = "name a file or several; for rules as text there is horai.loads"
        raise UsageError("this names no file of rules", hint) from None
