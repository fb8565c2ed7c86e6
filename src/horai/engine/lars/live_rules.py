"""Rules by change, row by row: each solution of a body counts once for its head.

When one row comes or goes, the literals before the one that reads it do not see it, and those after
it do. So every solution with the row is met exactly once, also where literals read the same.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from horai.engine.lars.literals import Literal, Negative, PlainRule, Positive, Source, Total
from horai.engine.lars.live_code import MOST_LOOPS, Found, Tables, Writer
from horai.engine.lars.live_tables import Row
from horai.engine.lars.live_terms import Codes
from horai.engine.lars.signals import Key
from horai.lang.core.terms import Term, Var, is_ground

Made = tuple[Key, bool]  # a predicate, and whether its rows end with the point they hold at
NONE: Key = ("#none", 0)  # what the bodies of constraints say


def can_be_written(rule: PlainRule) -> bool:
    """Does a rule have so few literals that it can be one function?"""
    positive = sum(isinstance(one, Positive) for one in rule.body)
    inner = (len(row.body) for one in rule.body if isinstance(one, Total) for row in one.rows)
    return max([positive, *inner]) <= MOST_LOOPS


class LiveRule:
    """One rule, joined from any of its literals."""

    def __init__(self, rule: PlainRule, tables: Tables, codes: Codes, start: int) -> None:
        self.rule = rule
        self.made: Made = (NONE, False)
        if rule.head is not None:
            self.made = (rule.head.predicate, rule.time is not None)
        self._tables, self._codes, self._start = tables, codes, start
        self.starts: dict[Source, list[tuple[bool, Found]]] = {}
        """For a row that is in its table: the heads of all solutions with it, or, with False, of
        those that it prevents."""
        for place, literal in enumerate(rule.body):
            if isinstance(literal, Positive | Negative):
                found = (isinstance(literal, Positive), self._written(place))
                self.starts.setdefault(literal.reading.source, []).append(found)
        totals = [one for one in rule.body if isinstance(one, Total)]
        self.totalled = {reading.source for total in totals for reading in total.readings()}
        """What its aggregates read: when that changes, the rule is worked out anew."""

    @property
    def sources(self) -> set[Source]:
        """All that it reads."""
        return self.starts.keys() | self.totalled

    @property
    def _terms(self) -> tuple[Term, ...]:
        """What the columns of its rows stand for."""
        args = () if self.rule.head is None else self.rule.head.args
        return args if self.rule.time is None else (*args, self.rule.time)

    @cached_property
    def everything(self) -> Callable[[], list[Row]]:
        """The heads of all solutions."""
        writer = Writer(self._tables, self._codes)
        writer.body((literal, False) for literal in self.rule.body)
        return self._saying(writer, "")

    @cached_property
    def derives(self) -> Callable[[Row], bool] | None:
        """Is there a solution for a head? None if heads do not tell the values of variables."""
        if not all(isinstance(term, Var) or is_ground(term) for term in self._terms):
            return None
        writer = Writer(self._tables, self._codes)
        writer.take(self._terms, "row")
        writer.body((literal, False) for literal in self.rule.body)
        writer.line("return True")
        return writer.function("row", "pass", "return False")

    def _written(self, place: int) -> Found:
        """The function that goes on from a row of one literal."""
        body = self.rule.body
        given = body[place]
        assert isinstance(given, Positive | Negative)
        writer = Writer(self._tables, self._codes)
        writer.take(given.reading.terms, "row")
        source = given.reading.source
        others = ((i, one) for i, one in enumerate(body) if i != place)
        writer.body((one, i < place and _reads(one, source)) for i, one in others)
        return self._saying(writer, "row")

    def _saying(self, writer: Writer, parameters: str) -> Callable[..., list[Row]]:
        """The function that lists the heads of solutions."""
        values = [writer.value(term) for term in self._terms]
        if self.rule.time is not None:  # a point of the timeline, which is a whole number
            writer.enter(f"if {values[-1]} & 1 and {values[-1]} >= {2 * self._start + 1}")
        row = f"({', '.join(values)}{',' if values else ''})"
        writer.line(f"found.append({row})")
        return writer.function(parameters, "found = []", "return found")


def _reads(literal: Literal, source: Source) -> bool:
    return isinstance(literal, Positive | Negative) and literal.reading.source == source
