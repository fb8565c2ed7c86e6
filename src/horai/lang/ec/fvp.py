"""Fluent-value pairs, events and times: the arguments that most literals share."""

from __future__ import annotations

from collections.abc import Mapping

from horai.lang.core.diagnostics import Report
from horai.lang.core.printer import is_name, is_pair, show
from horai.lang.core.source import SourceText
from horai.lang.core.terms import Compound, Constant, Int, ListTerm, Term, Var
from horai.lang.ec.builtins import EDGES
from horai.lang.ec.syntax import FVP

Key = tuple[str, int]
# The places of intervals, bound and result; the comparison; whether open intervals count.
DurationForm = tuple[tuple[int, int, int], str, bool]


class Shape:
    """The context of building: where findings go, and what the user has defined."""

    def __init__(
        self,
        source: SourceText,
        report: Report,
        defined: frozenset[Key] = frozenset(),
        durations: Mapping[Key, DurationForm] | None = None,
        private: set[tuple[str, str]] | None = None,
    ) -> None:
        self.source = source
        self.report = report
        self.defined = defined
        self.durations = durations or {}
        self.private = set() if private is None else private

    def wrong(
        self, code: str, message: str, term: Term, hint: str | None = None, note: str | None = None
    ) -> None:
        """Note a finding about a term."""
        self.report.add(code, message, self.source, term.span, hint, note)


def read_fvp(term: Term, shape: Shape, where: str) -> FVP | None:
    """`F=V`, or None after saying what is wrong."""
    if isinstance(term, Compound) and is_pair(term):
        fluent, value = term.args
        if is_name(fluent):
            return FVP(fluent, value, term)
        message = f"`{show(fluent)}` cannot be a fluent: a fluent has a name"
        shape.wrong("H104", message, fluent, "write it as name(arguments)=value")
        return None
    if isinstance(term, Compound) and term.name == "==" and len(term.args) == 2:
        hint = f"write `{show(term.args[0])}={show(term.args[1])}`"
    elif is_name(term):
        hint = f"write `{show(term)}=true`, or the value that is meant"
    else:
        hint = "write it as name(arguments)=value"
    shape.wrong("H103", f"{where} needs a fluent with its value, F=V", term, hint)
    return None


def read_event(term: Term, shape: Shape) -> Term | None:
    """An event, or None after saying what is wrong."""
    if isinstance(term, Compound) and is_pair(term):
        message = f"`{show(term)}` is a fluent with a value, not an event"
        hint = f"write holdsAt({show(term)}, T), or happensAt(start({show(term)}), T)"
    elif is_name(term):
        return term
    elif isinstance(term, Var):
        message = f"the event of happensAt must have a name; `{show(term)}` is a variable"
        hint = "write one rule per event, joined by `;` if you like"
    else:
        message = f"`{show(term)}` cannot be an event: an event has a name"
        hint = "write it as name(arguments)"
    shape.wrong("H109", message, term, hint)
    return None


def read_edge_pair(event: Compound, shape: Shape) -> FVP | None:
    """The `F=V` of `start(F=V)` and its kin."""
    inner = event.args[0]
    if is_pair(inner):
        return read_fvp(inner, shape, event.name)
    message = f"`{event.name}` needs a fluent with its value, F=V"
    hint = f"write `{event.name}({show(inner)}=true)`" if is_name(inner) else None
    note = f"an event cannot be called {' or '.join(EDGES[:2])}: these mark the ends of intervals"
    shape.wrong("H107", message, inner, hint, note)
    return None


def read_time(term: Term, shape: Shape, where: str) -> Term | None:
    """A variable or an integer, or None after saying what is wrong."""
    if isinstance(term, Var | Int):
        return term
    message = f"the time of {where} must be a variable or a whole number"
    hint = None
    if isinstance(term, Compound) and term.name in ("+", "-", "*", "/"):
        hint = f"compute it first: `T2 is {show(term)}`, then use T2"
    elif isinstance(term, Constant):
        hint = f"a variable starts with a capital letter: `{term.name[:1].upper()}{term.name[1:]}`"
    shape.wrong("H105", message, term, hint)
    return None


def read_intervals(term: Term, shape: Shape, where: str) -> Term | None:
    """A variable or a list of intervals, or None after saying what is wrong."""
    if isinstance(term, Var | ListTerm):
        return term
    message = f"{where} must be a variable or a list of intervals, not `{show(term)}`"
    hint = "get the intervals first: `holdsFor(F=V, I)`" if is_pair(term) else None
    shape.wrong("H120", message, term, hint)
    return None
