"""Answers at query times as spans: each atom with the times from which until which it holds."""

from __future__ import annotations

from typing import NamedTuple

from horai.errors import UsageError
from horai.io import AnswerRow
from horai.lang.lars.syntax import Atom
from horai.lars_result import LarsResult, written
from horai.values import plain

Span = tuple[int, int]


class Spans(NamedTuple):
    """From when until when (not included) atoms hold, and there is no answer; and of which run."""

    atoms: dict[Atom, list[Span]]
    none: list[Span]
    first: int
    last: int

    def rows(self) -> list[AnswerRow]:
        """One row per span, sorted by what holds."""
        listed = sorted(self.atoms, key=lambda atom: (atom.name, written(atom)))
        return [
            AnswerRow("atom", atom.name, [plain(arg) for arg in atom.args], start=start, end=end)
            for atom in listed
            for start, end in self.atoms[atom]
        ]


def spans_of(result: LarsResult) -> Spans:
    """What holds at a query time counts until the next one."""
    if result.every:
        raise UsageError("a picture shows one answer at a time", "leave out --models")
    queries = [answer.query for answer in result.answers]
    step = queries[-1] - queries[-2] if len(queries) > 1 else 1
    last = queries[-1] + step - 1 if queries else 0
    after = dict(zip(queries, [*queries[1:], last + 1], strict=True))
    found = Spans({}, [], queries[0] if queries else 0, last)
    for answer in result.answers:
        span = (answer.query, after[answer.query])
        if not answer.has_answer:
            _longer(found.none, span)
        for atom in answer.atoms:
            _longer(found.atoms.setdefault(atom, []), span)
    return found


def _longer(spans: list[Span], span: Span) -> None:
    """Add a span, or make the last one longer."""
    if spans and spans[-1][1] == span[0]:
        spans[-1] = (spans[-1][0], span[1])
    else:
        spans.append(span)
