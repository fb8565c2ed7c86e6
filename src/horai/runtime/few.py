"""A step with few items, from Python to rows of changes without tables in between.

Rows are read here if they are plain: a known type, whole numbers as times, no quotes. Everything
else (rows that are wrong, ISO times, headers) is left to the readers of `horai.io`, with the rows
beside it: they know what to say about it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from horai import io
from horai.engine.admission import Given, ItemType
from horai.engine.answer import Answer, Changes, Instance
from horai.engine.core.session import CompiledSession
from horai.io.answers import AnswerRow
from horai.io.items.rows import NotPlain, PlainLines
from horai.io.times import MAX_TIME, MIN_TIME, TimeScale
from horai.lang.core.terms import Term
from horai.plan.ec.instructions import INF as LAST
from horai.runtime.answers import OutputFilter, value_key
from horai.runtime.values import Value, plain
from horai.temporal.spans import INF

MANY = 2_000
"""More items than that are better read as columns."""
MOST_WORDS = 100_000  # of instances and values that are kept


class Few:
    """What a session needs for steps with few items."""

    def __init__(
        self, schema: io.InputSchema, clock: TimeScale, core: CompiledSession, wanted: OutputFilter
    ) -> None:
        self.core = core
        self.read = FewReader(schema, clock, core).read
        self.rows = FewRows(wanted).of


Row = tuple[int, int, int, ItemType, tuple[int, ...]]
"""Arrival, start, end, type and words of an item."""


class FewReader:
    """Reads items for the compiled engine."""

    def __init__(self, schema: io.InputSchema, clock: TimeScale, core: CompiledSession) -> None:
        self.core, self.tick = core, core.tick
        self._types = {
            key: core.item_type(key.kind, (key.name, key.arity)) for key in schema.every_key
        }
        word = partial(_word, core)  # not of this reader: it would hold itself
        self._line = PlainLines(schema, clock, self._types.get, word, core.tick, INF).row

    def read(self, given: object) -> Given | None:
        """Items that are all plain insertions, None for anything else."""
        if not isinstance(given, list | tuple) or len(given) > MANY:
            return None
        kinds = set(map(type, given))
        try:
            if kinds <= {str}:
                return _by_column(list(map(self._line, given)))
            if kinds == {io.Item}:
                return _by_column(self._rows_of(given))
        except NotPlain:
            pass
        return None

    def _rows_of(self, items: Sequence[io.Item]) -> list[Row]:
        types, words_of, tick = self._types, self.core.words_of, self.tick
        rows: list[Row] = []
        for op, name, kind, form, arrival, start, end, value, args, _, _ in items:
            of_type = types.get((name, len(args), kind, form))  # type: ignore[call-overload]
            if kind != "fluent":
                end = start
            elif form == "points":
                end = start + tick - start % tick
            elif end is None:
                end = INF
            words = words_of(args if value is None else (*args, value))
            if of_type is None or op < 0 or not MIN_TIME <= start <= MAX_TIME or end < start:
                raise NotPlain
            if words is None or (kind == "fluent") != (value is not None):
                raise NotPlain
            rows.append((arrival, start, end, of_type, words))
        return rows


def _word(core: CompiledSession, term: io.Term) -> int | None:
    words = core.words_of((term,))
    return None if words is None else words[0]


def _by_column(rows: list[Row]) -> Given:
    return Given(*zip(*rows, strict=True)) if rows else Given()


Key = tuple[Any, ...]
Change = tuple[int, int, int, int]
Shown = tuple[Instance, str | None, Key, tuple[str, str, tuple[Value, ...]] | None]


class FewRows:
    """The rows of changes, in the order of answers. Terms are made plain once."""

    def __init__(self, wanted: OutputFilter) -> None:
        self._wanted = wanted
        # By the identity of instances, which are kept beside: hashing them takes longer.
        self._instances: dict[int, Shown] = {}
        self._only_atoms = True  # all instances have a text as key
        self._values: dict[int, tuple[Key, Value]] = {}  # by their words

    def of(self, raw: Answer, changes: Sequence[Changes]) -> list[AnswerRow]:
        """The rows of an answer."""
        query, term = raw.query, raw.term
        assert term is not None
        instances, values = self._instances, self._values
        groups = [(instances.get(id(one[0])) or self._instance(one[0]), one[1]) for one in changes]
        groups.sort(key=_by_text if self._only_atoms else _by_terms)
        rows: list[AnswerRow] = []
        before: Shown | None = None
        some_before: list[Change] = []
        for shown, some in groups:
            if shown[3] is None:
                continue
            kind, name, args = shown[3]
            if before is not None and before[2] == shown[2]:
                some = [*some_before, *some]  # its values are in several places
                del rows[-len(some_before) :]
            before, some_before = shown, some
            if len(some) > 1:
                if len({row[0] for row in some}) == 1:  # of one value, or an event
                    some.sort()
                else:
                    some.sort(key=lambda row: self._order(row, term))
            for value, start, sign, end in some:
                said = "+" if sign > 0 else "-"
                if kind == "event":
                    row: Key = (kind, name, args, None, None, None, start, query, said, *_NOTHING)
                else:
                    held = values.get(value) or self._value(value, term)
                    until = None if end >= LAST else end
                    row = (kind, name, args, held[1], start, until, None, query, said, *_NOTHING)
                rows.append(_new(AnswerRow, row))
        return rows

    def _order(self, row: Change, term: Callable[[int], Term]) -> Key:
        word, start, sign, end = row
        return (*(self._values.get(word) or self._value(word, term))[0], start, sign, end)

    def _instance(self, instance: Instance) -> Shown:
        kind, name, terms = instance
        args = tuple(map(plain, terms))
        key = (kind, name, *(part for arg in args for part in value_key(arg)))
        text = None
        if all(type(arg) is str and "\0" not in arg for arg in args):
            text = "".join(f"{part}\0" for part in (kind, name, *args))
        else:
            self._only_atoms = False
        if len(self._instances) > MOST_WORDS:
            self._instances.clear()
        wanted = self._wanted(name, len(args), kind == "fluent")
        found = (instance, text, key, (kind, name, args) if wanted else None)
        self._instances[id(instance)] = found
        return found

    def _value(self, word: int, term: Callable[[int], Term]) -> tuple[Key, Value]:
        if len(self._values) > MOST_WORDS:
            self._values.clear()
        value = plain(term(word))
        found = self._values[word] = (value_key(value), value)
        return found


def _by_text(group: tuple[Shown, list[Change]]) -> Any:
    return group[0][1]


def _by_terms(group: tuple[Shown, list[Change]]) -> Any:
    return group[0][2]


_new = tuple.__new__
_NOTHING = (None, None, None)
