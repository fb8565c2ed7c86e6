"""Windows over derived atoms that do not slide: rules for the points they cover, time by time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from horai.asp.encode import selected
from horai.asp.templates import Check, Literal, Template, at, plain_name
from horai.asp.views import ViewKey
from horai.asp.windows import chain_span
from horai.lang.lars.syntax import Comparison
from horai.lang.terms import Int, Term, Var

_T = Var("T'")


@dataclass(frozen=True, slots=True)
class SpannedRules:
    """A window atom over derived atoms, and the rules for its predicate at a time."""

    name: str
    key: ViewKey
    start: int

    def at(self, time: int) -> Iterator[Template]:
        """The rules for the points that the window covers at a time."""
        span = chain_span(self.key.windows, self.start, time)
        if span is None:
            return
        for args in selected(self.key.windows, self.key.predicate):
            atom = Literal(plain_name(self.key.predicate), args)
            if self.key.modality == "always":
                if span[1] is not None:
                    points = range(span[0], span[1] + 1)
                    body = tuple(at(atom, Int(point)) for point in points)
                    yield Template(Literal(self.name, args), body)
            else:
                yield self._somewhere(atom, *span)

    def _somewhere(self, atom: Literal, first: int, last: int | None) -> Template:
        held: tuple[Term, ...] = atom.args
        if self.key.modality == "at":
            held = (*held, _T)
        checks = [Check(Comparison(">=", _T, Int(first)))]
        if last is not None:
            checks.append(Check(Comparison("<=", _T, Int(last))))
        return Template(Literal(self.name, held), (at(atom, _T),), (), tuple(checks))
