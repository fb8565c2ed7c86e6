"""Terms from texts, and texts of clauses and whole descriptions."""

from __future__ import annotations

from horai.lang.core.diagnostics import Diagnostic
from horai.lang.core.printer import OPERATORS, show
from horai.lang.core.reader import read_only_clauses
from horai.lang.core.source import SourceText
from horai.lang.core.terms import Compound, Constant, Term
from horai.lang.ec.syntax import Clause, EventDescription


def read_term(text: str) -> tuple[Term | None, list[Diagnostic]]:
    """The term a text says, with or without a full stop; None when it is wrong."""
    stop = "" if text.rstrip().endswith(".") else "\n."
    clauses, findings = read_only_clauses(SourceText("<term>", text + stop))
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
            lines.append(show(Compound(name, row) if row else Constant(name), 1199) + ".")
    return "\n".join(lines) + "\n" if lines else ""


def show_clause(clause: Clause) -> str:
    """The clause with its full stop, conditions on lines of their own."""
    if clause.head is None:
        return f":- {show(clause.body, 1199)}." if clause.body is not None else ""
    head = show(clause.head, 1199)
    if clause.body is None:
        return f"{head}."
    conditions: list[str] = []
    rest = clause.body
    while isinstance(rest, Compound) and rest.name == "," and len(rest.args) == 2:
        conditions.append(_condition(rest.args[0]))
        rest = rest.args[1]
    conditions.append(_condition(rest))
    return f"{head} :-\n    " + ",\n    ".join(conditions) + "."


def _condition(term: Term) -> str:
    # A bare operator right before the full stop would wait for its operand.
    bare = isinstance(term, Constant) and term.name in OPERATORS
    return show(term, 998 if bare else 999)
