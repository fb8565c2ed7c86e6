"""Verdicts on two programs, and the streams that tell them apart."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from horai.lang.core.terms import Constant, Float, Int, Str, Term
from horai.lang.lars.printer import show, show_rule
from horai.lang.lars.syntax import Atom, Rule
from horai.oracle.lars.stream import Pair

Content = frozenset[tuple[int | None, Atom]]
"""An answer: atoms at times; those of the background have no time."""


class Notion(StrEnum):
    """In which surroundings two programs must have the same answers."""

    ordinary = "ordinary"
    data = "data"
    uniform = "uniform"
    strong = "strong"


@dataclass(frozen=True)
class Counterexample:
    """Signals and rules with which two programs have different answers at a time."""

    signals: tuple[Pair, ...]
    context: tuple[Rule, ...]
    time: int
    answers: tuple[frozenset[Content], frozenset[Content]]

    def narrative(self) -> list[str]:
        """The signals as rows: `name|arrival|time|args`."""
        return ["|".join([a.name, str(t), str(t), *map(_cell, a.args)]) for t, a in self.signals]

    def rules(self) -> list[str]:
        """The rules to add to both programs, as text."""
        return [show_rule(rule) for rule in self.context]

    def answer_texts(self, which: int) -> list[str]:
        """The answers of a program, one line each; those of both programs are left out."""
        own, other = self.answers[which], self.answers[1 - which]
        return sorted(_line(answer) for answer in own - other)


@dataclass(frozen=True)
class Verdict:
    """Equal, different, or not found to be different; `reason` says how that is known."""

    notion: Notion
    is_equal: bool | None
    reason: str
    counterexample: Counterexample | None = None


def _line(answer: Content) -> str:
    def place(pair: tuple[int | None, Atom]) -> tuple[int, str]:
        return (-1 if pair[0] is None else pair[0], show(pair[1]))

    shown = [show(a) if t is None else f"@{t} {show(a)}" for t, a in sorted(answer, key=place)]
    return ", ".join(shown) or "-"


def _cell(term: Term) -> str:
    match term:
        case Constant(name=name):
            return name
        case Int(value=value) | Float(value=value) | Str(value=value):
            return str(value)
        case _:
            return show(Atom("x", (term,)))[2:-1]
