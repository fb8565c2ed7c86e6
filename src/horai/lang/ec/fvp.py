"""Fluent-value pairs, events and times: the arguments that most literals share."""

from __future__ import annotations

from horai.lang.codes import CodeInfo, Report
from horai.lang.ec.syntax import FVP
from horai.lang.source import Source
from horai.lang.terms import Atom, Compound, Int, Span, Term, Var


class Shape:
    """What is being built: where findings go, and what the user has defined."""

    def __init__(
        self, source: Source, report: Report, defined: frozenset[tuple[str, int]] = frozenset()
    ) -> None:
        self.source = source
        self.report = report
        self.defined = defined

    def wrong(
        self, code: str, message: str, term: Term, hint: str | None = None, note: str | None = None
    ) -> None:
        """Note a finding about a term."""
        self.report.add(code, message, self.source, term.span, hint, note)


def is_pair(term: Term) -> bool:
    """True for `F=V`."""
    return isinstance(term, Compound) and term.name == "=" and len(term.args) == 2


def read_fvp(term: Term, shape: Shape, where: str) -> FVP | None:
    """`F=V`, or None after saying what is wrong."""
    if not (isinstance(term, Compound) and is_pair(term)):
        shape.wrong("H103", f"{where} needs a fluent-value pair F=V", term)
        return None
    fluent, value = term.args
    if not isinstance(fluent, Atom | Compound):
        shape.wrong("H104", "a fluent must have a name", fluent)
        return None
    return FVP(fluent, value, term)


def read_time(term: Term, shape: Shape, where: str) -> Term | None:
    """A variable or an integer, or None after saying what is wrong."""
    if isinstance(term, Var | Int):
        return term
    shape.wrong("H105", f"the time of {where} must be a variable or a whole number", term)
    return None


__all__ = ["CodeInfo", "Shape", "Span", "is_pair", "read_fvp", "read_time"]
