"""Event descriptions from texts and files: the entry points of the Event Calculus reader."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from horai.lang.codes import Report
from horai.lang.diagnostics import Diagnostic, sort_key
from horai.lang.ec.fvp import Shape
from horai.lang.ec.heads import build_rule
from horai.lang.ec.shape_codes import SHAPE_CODES
from horai.lang.ec.syntax import Clause, EventDescription, Facts
from horai.lang.reader import clean, read_clauses, read_file
from horai.lang.source import Source
from horai.lang.terms import Atom, Compound

Result = tuple[EventDescription, list[Diagnostic]]


def read_text(text: str, name: str = "<text>") -> Result:
    """The event description a text says, and all that is wrong with it.

    >>> description, findings = read_text("initiatedAt(on=true, T) :- happensAt(up, T).")
    >>> len(description.rules), findings
    (1, [])
    """
    return read_sources([Source(name, clean(text))])


def read_files(paths: Iterable[Path | str], background: Iterable[Path | str] = ()) -> Result:
    """The event description of several files together; rules may stand in any of them."""
    sources: list[Source] = []
    findings: list[Diagnostic] = []
    for path in (*paths, *background):
        source, wrong = read_file(path)
        sources.append(source)
        findings.extend(wrong)
    return read_sources(sources, findings)


def read_sources(sources: list[Source], findings: Iterable[Diagnostic] = ()) -> Result:
    """The event description of texts already in memory."""
    report = Report(SHAPE_CODES)
    report.extend(findings)
    description = EventDescription(sources=list(sources))
    clauses: list[Clause] = []
    for source in sources:
        more, facts, wrong = read_clauses(source)
        clauses.extend(more)
        report.extend(wrong)
        for key, rows in facts.items():
            merged = description.facts.setdefault(key, Facts())
            merged.rows.extend(rows.rows)
            merged.places.extend(rows.places)
    defined = frozenset(description.facts) | _defined(clauses)
    for clause in clauses:
        rule = build_rule(clause, Shape(clause.source, report, defined))
        if rule is not None:
            description.rules.append(rule)
    return description, sorted(report.findings, key=sort_key)


def _defined(clauses: list[Clause]) -> frozenset[tuple[str, int]]:
    heads = (clause.head for clause in clauses)
    return frozenset(
        (head.name, len(head.args)) if isinstance(head, Compound) else (head.name, 0)
        for head in heads
        if isinstance(head, Atom | Compound)
    )
