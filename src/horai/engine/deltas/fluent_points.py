"""All initiations and terminations of a fluent, of whatever rules, found by fluent and time."""

from __future__ import annotations

import numpy as np

from horai.engine.columns import Column, codes, ints
from horai.engine.deltas.log import Log
from horai.engine.heads import Said
from horai.engine.relations import Relation
from horai.engine.symbols import Symbols
from horai.lang.terms import Term
from horai.temporal.spans import Ints, Mask


class FluentPoints:
    """Points of several rules: arguments, value, the number of the rule, and time."""

    def __init__(self, arity: int, initiates: list[bool], symbols: Symbols) -> None:
        self.arity = arity
        self._initiates = np.array(initiates, np.bool_)  # of every rule
        self._forms: dict[int, Term] = {}  # rules that end all values of a form
        nothing = np.empty(0, np.int64)
        columns = (*(codes(nothing) for _ in range(arity + 1)), ints(nothing), ints(nothing))
        self.log = Log(Relation(columns, 0), symbols)

    def add(self, rule: int, said: Said) -> Ints:
        """More points of a rule; their numbers."""
        assert said.value is not None
        if said.form is not None:
            self._forms[rule] = said.form
        number = np.full(len(said), rule)
        columns = (*said.args, codes(said.value), ints(number), ints(said.time))
        return self.log.add(Relation(columns, len(said)))

    def remove(self, numbers: Ints) -> None:
        """Points that are no longer there."""
        self.log.discard(numbers)

    def following(self, keys: list[Column], time: Ints) -> Ints:
        """When some fluents have their first point after a time."""
        return self.log.following(tuple(range(self.arity)), keys, time)

    def between(
        self, keys: list[Column], low: Ints, high: Ints
    ) -> tuple[list[tuple[Ints, Said]], list[tuple[Ints, Said]]]:
        """Initiations and terminations of some fluents between two times.

        Each comes with the question it answers.
        """
        asked, rows = self.log.between(tuple(range(self.arity)), keys, low, high)
        table = self.log.at(rows)[0]
        rule = table.columns[-2].data
        begins = self._initiates[rule]
        plain = ~begins & ~np.isin(rule, list(self._forms)) if self._forms else ~begins
        ended: list[tuple[Mask, Term | None]] = [(plain, None)] if plain.any() else []
        ended += [(rule == number, form) for number, form in self._forms.items()]
        return (
            [(asked[begins], self._said(table.where(begins), None))],
            [(asked[mask], self._said(table.where(mask), form)) for mask, form in ended],
        )

    def forget(self, until: int) -> None:
        """Drop what lies at or before a time."""
        self.log.forget(until)

    def _said(self, table: Relation, form: Term | None) -> Said:
        *args, value, _, time = table.columns
        return Said(tuple(args), time.data, value.data, form)
