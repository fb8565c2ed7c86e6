"""How large relations are: facts are counted, items too where an input is given.

Without an input every input type is taken to have `UNIT` items, about a tenth as many entities, and
each item a time of its own. That makes estimates comparable, not true.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from horai.lang.ec.syntax import Facts
from horai.plan.unwrapping import Unwrapping

Key = tuple[str, int]
Source = tuple[str, Key]  # "event" or "fluent", and what it is called
UNIT = 1000
ENTITIES = UNIT / 10
VALUES = 2.0  # of an input fluent: most are true or false


@dataclass(frozen=True, slots=True)
class Size:
    """Rows of a relation, and how many different values each of its columns has."""

    rows: float
    distinct: tuple[float, ...] = ()

    def with_column(self, values: float) -> Size:
        """One column more."""
        return Size(self.rows, (*self.distinct, max(1.0, min(self.rows, values))))

    def plus(self, other: Size) -> Size:
        """Both together; they are taken to speak of the same entities."""
        pairs = zip(self.distinct, other.distinct, strict=True)
        return Size(self.rows + other.rows, tuple(max(pair) for pair in pairs))


@dataclass(frozen=True, slots=True)
class FluentSize:
    """A fluent: its pairs (arguments and value), its intervals, what begins and ends them."""

    pairs: Size
    spans: float
    initiations: float = 0.0
    terminations: float = 0.0


@dataclass(slots=True)
class InputSize:
    """The items of one input type: how many, and per column how many different values.

    The columns are the arguments, then the value of a fluent; `times` are the different times.
    """

    rows: int
    distinct: tuple[int, ...]
    times: int


@dataclass(slots=True)
class Sizes:
    """What is known of the sizes of relations; `inputs` is None where no input is given."""

    unwrapping: Unwrapping
    inputs: dict[Source, InputSize] | None = None
    events: dict[Key, Size] = field(default_factory=dict)
    fluents: dict[Key, FluentSize] = field(default_factory=dict)

    def event(self, key: Key) -> Size:
        """The occurrences of an event; the last column is the time."""
        if key not in self.events:
            found = self._input("event", key)
            self.events[key] = found[0].with_column(found[1])
        return self.events[key]

    def fluent(self, key: Key) -> FluentSize:
        """A fluent that rules define, or an input."""
        if key not in self.fluents:
            size, _ = self._input("fluent", key)
            self.fluents[key] = FluentSize(as_pairs(size), size.rows)
        return self.fluents[key]

    def _input(self, kind: str, key: Key) -> tuple[Size, float]:
        name, arity = self.as_read(key)
        columns = key[1] + (kind == "fluent")
        if self.inputs is None:
            value = (VALUES,) if kind == "fluent" else ()
            return Size(UNIT, (ENTITIES,) * key[1] + value), UNIT
        found = self.inputs.get((kind, (name, arity)))
        if found is None:
            return Size(0.0, (1.0,) * columns), 1.0
        distinct = tuple(float(values) for values in found.distinct)
        if len(distinct) != columns:  # arguments inside arguments are not counted
            distinct = (float(max(1, *found.distinct)),) * columns
        return Size(found.rows, distinct), found.times

    def as_read(self, key: Key) -> Key:
        """The name under which the items of an entity arrive."""
        fold = self.unwrapping.folds.get(key)
        return key if fold is None else (fold.name, len(fold.parts))


def as_pairs(size: Size) -> Size:
    """The different rows among many."""
    rows = min(size.rows, prod(max(1.0, values) for values in size.distinct))
    return Size(rows, size.distinct)


def facts_size(facts: Facts | None, arity: int) -> Size:
    """Facts, counted."""
    if facts is None or not facts.rows:
        return Size(0.0, (1.0,) * arity)
    columns: Sequence[tuple[object, ...]] = list(zip(*facts.rows, strict=True))
    return Size(len(facts.rows), tuple(float(len(set(column))) for column in columns))
