"""Terms from texts, and texts of whole descriptions."""

from __future__ import annotations

from horai.lang.diagnostics import Diagnostic
from horai.lang.ec.syntax import EventDescription
from horai.lang.printer import show, show_clause
from horai.lang.reader import read_only_clauses
from horai.lang.source import Source
from horai.lang.terms import Atom, Compound, Term


def read_term(text: str) -> tuple[Term | None, list[Diagnostic]]:
    """The term a text says, with or without a full stop; None when it is wrong."""
    stop = "" if text.rstrip().endswith(".") else "\n."
    clauses, findings = read_only_clauses(Source("<term>", text + stop))
    if findings:
        return None, findings
    (clause,) = clauses
    assert clause.body is None
    return clause.head, []


def show_description(description: EventDescription) -> str:
    """All rules and background facts as one text."""
    lines = [show_clause(rule.clause) for rule in description.rules]
    for (name, _), facts in description.facts.items():
        for row in facts.rows:
            lines.append(show(Compound(name, row) if row else Atom(name), 1199) + ".")
    return "\n".join(lines) + "\n" if lines else ""
