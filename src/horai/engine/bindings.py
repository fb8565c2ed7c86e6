"""Variables given values: patterns against columns, interval lists as values, domains."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count

import numpy as np

from horai.engine import intervals
from horai.engine.columns import Column, ints
from horai.engine.distinct import Found
from horai.engine.frames import Frame, is_number
from horai.engine.matching import build, match
from horai.engine.relations import Relation
from horai.engine.world import World
from horai.lang.core.terms import Term, Var, is_ground
from horai.plan import operators as op
from horai.plan.ec.literals import names
from horai.temporal.spans import Mask, Spans

Names = frozenset[str]
Function = Callable[..., object]
Domains = Mapping[str, Column]
InDomain = Callable[[op.Key, tuple[Column, ...], Column | None, int], Mask]


class Bindings:
    """What evaluation needs to know, and how it binds variables.

    `domains` are values for the free variables of `holdsFor`.
    """

    def __init__(
        self,
        world: World,
        facts: Callable[[op.Key], Relation],
        stated: Callable[[op.Key], Relation | None],
        procedures: op.Procedures,
        python: Mapping[str, Function],
    ) -> None:
        self.world = world
        self.symbols = world.symbols
        self.facts = facts
        self.stated = stated
        self.procedures = procedures
        self.python = python
        self.domains: Domains = {}
        self.known_pairs: Mapping[op.Key, Relation] = {}  # pairs that only absence still asks for
        self.overrides: dict[int, Relation] = {}  # relations that stand in for one operator's own
        self.in_domain: InDomain = lambda key, args, value, rows: np.ones(rows, np.bool_)
        self.nothing_absent = False  # at the very start, formulas say nothing of what is absent
        self.uncut: intervals.Whole | None = None  # for lists that are looked at as intervals
        self.spreads = 0  # how often a variable took all values that are known
        self._depth = 0  # of calls inside each other
        self._calls = 0  # inside of the outermost one
        self._temporal: dict[int, bool] = {}
        self._numbers = count()

    def number(self) -> str:
        """A new name for a column of row numbers."""
        return f"@{next(self._numbers)}"

    def spread(self, name: str, frame: Frame) -> Frame:
        """Every value of the domain of a variable, for every row."""
        self.spreads += 1
        values = self.domains.get(name)
        if values is None:
            return frame.empty().with_columns({name: ints(np.empty(0))})
        rows = np.repeat(np.arange(frame.rows), len(values))
        column = values.take(np.tile(np.arange(len(values)), frame.rows))
        return frame.take(rows).with_columns({name: column})

    def bind_list(self, result: Term, spans: Spans, frame: Frame) -> Frame:
        """Give an interval list to a variable, or compare it with what is there."""
        free = isinstance(result, Var) and result.name not in frame.columns
        if isinstance(result, Var) and free and result.name not in frame.lists:
            return Frame(frame.rows, frame.columns, {**frame.lists, result.name: spans})
        column = intervals.as_terms(spans, frame.rows, self.symbols)
        frame = self.as_columns(frame, names(result)).with_columns({"#list": column})
        return self._bind(result, frame, "#list")

    def as_columns(self, frame: Frame, wanted: Names) -> Frame:
        """Interval lists among the wanted variables as columns of list terms."""
        here = [name for name in frame.lists if name in wanted]
        if not here:
            return frame
        made = {
            name: intervals.as_terms(frame.lists[name], frame.rows, self.symbols) for name in here
        }
        rest = {name: spans for name, spans in frame.lists.items() if name not in here}
        return Frame(frame.rows, {**frame.columns, **made}, rest)

    def plain(self, frame: Frame, terms: tuple[Term, ...]) -> tuple[Frame, tuple[Term, ...]]:
        """Compound patterns whose variables all have values become columns of their own."""
        frame = self.as_columns(frame, names(*terms))
        plain: list[Term] = []
        for position, term in enumerate(terms):
            if isinstance(term, Var) or is_ground(term) or not names(term) <= set(frame.columns):
                plain.append(term)
                continue
            column = build(term, frame.columns, frame.rows, self.symbols)
            frame = frame.with_columns({f"#arg{position}": column})
            plain.append(Var(f"#arg{position}"))
        return frame, tuple(plain)

    def unify(self, left: Term, right: Term, frame: Frame) -> Frame:
        """`L = R`, where at least one side has a value."""
        for one, other in ((left, right), (right, left)):
            if not isinstance(one, Var) or not isinstance(other, Var):
                continue
            free = other.name not in frame.columns and other.name not in frame.lists
            if one.name in frame.lists and free:
                lists = {**frame.lists, other.name: frame.lists[one.name]}
                return Frame(frame.rows, frame.columns, lists)
        frame = self.as_columns(frame, names(left, right))
        if not names(right) <= set(frame.columns):
            left, right = right, left
        column = build(right, frame.columns, frame.rows, self.symbols)
        return self._bind(left, frame.with_columns({"#right": column}), "#right")

    def bind(self, pattern: Term, frame: Frame, column: Column) -> Frame:
        """Make a pattern equal to a column that is no variable yet."""
        return self._bind(pattern, frame.with_columns({"#given": column}), "#given")

    def _bind(self, pattern: Term, frame: Frame, source: str) -> Frame:
        """Make a pattern equal to a column: free variables are bound, the rest is compared."""
        column = frame.columns[source]
        if isinstance(pattern, Var) and pattern.name not in frame.columns:
            if pattern.name in frame.lists:
                frame = self.as_columns(frame, frozenset({pattern.name}))
            else:
                return frame.with_columns({pattern.name: column})
        return extended(frame, match(pattern, column, frame.columns, self.symbols))


def keeps(needed: Names) -> Callable[[str], bool]:
    """Which columns stay: those that are needed, and numbers of rows."""
    return lambda name: name in needed or is_number(name)


def everything(name: str) -> bool:
    """All columns stay."""
    return True


def extended(frame: Frame, found: Found) -> Frame:
    """The rows that a condition accepts, with what it binds."""
    if len(found.rows) == frame.rows and bool((found.rows == np.arange(frame.rows)).all()):
        return frame.with_columns(found.new)
    return frame.take(found.rows).with_columns(found.new)
