"""A step with few items, from Python to rows of changes without tables in between.

Rows are read here if they are plain: a known type, whole numbers as times, no quotes. Everything
else (rows that are wrong, ISO times, headers) is left to the readers of `horai.io`, with the rows
beside it: they know what to say about it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from horai import io
from horai.engine.answer import Answer, Changes, Instance
from horai.engine.core.few import Given, ItemType
from horai.engine.core.session import CompiledSession
from horai.io.answers import AnswerRow
from horai.io.schema import TableKey, row_keys
from horai.io.terms import BLANKS, read_field
from horai.io.times import MAX_TIME, MIN_TIME, OPEN_WORDS, TimeScale
from horai.lang.core.terms import Term
from horai.plan.ec.instructions import INF as LAST
from horai.runtime.answers import OutputFilter, value_key
from horai.runtime.values import Value, plain
from horai.temporal.spans import INF

MANY = 2_000
"""More items than that are better read as columns."""
DIGITS = 18  # so many always fit
MOST_WORDS = 100_000  # of fields that are kept


class Few:
    """What a session needs for steps with few items."""

    def __init__(
        self, schema: io.InputSchema, clock: TimeScale, core: CompiledSession, wanted: OutputFilter
    ) -> None:
        self.core = core
        self.read = FewReader(schema, clock, core).read
        self.rows = FewRows(wanted).of


class NotPlain(Exception):
    """There is a row that only the readers of `horai.io` understand."""


class FewReader:
    """Reads items for the compiled engine."""

    def __init__(self, schema: io.InputSchema, clock: TimeScale, core: CompiledSession) -> None:
        self.core, self.tick = core, core.tick
        self.is_plain = clock.time_in in (None, clock.unit) and not schema.columns
        self._types: dict[TableKey, ItemType | None] = {}
        # By name and number of fields: the type, the first argument, has it an end?
        self._by_fields: dict[tuple[str, int], tuple[ItemType, int, bool] | None] = {}
        for types in schema.types.values():
            for key in (key for one in types for key in row_keys(one)):
                of_type = core.item_type(key.kind, (key.name, key.arity))
                self._types[key] = of_type
                place = (key.name, key.fields)
                if of_type is None or place in self._by_fields:
                    self._by_fields[place] = None
                else:
                    first = key.fields - key.arity
                    self._by_fields[place] = (of_type, first, first == 5)
        self._words: dict[str, int] = {}  # of fields
        self._values: dict[str | float, int] = {}  # of the values of items

    def read(self, given: object) -> list[Given] | None:
        """Items that are all plain insertions, None for anything else."""
        if not isinstance(given, list | tuple) or len(given) > MANY or not self.is_plain:
            return None
        try:
            if all(type(one) is str for one in given):
                return [self._line(line) for line in given]
            if all(type(one) is io.Item for one in given):
                return [self._item(item) for item in given]
        except NotPlain:
            pass
        return None

    def _line(self, line: str) -> Given:
        """The item of a line of a narrative."""
        fields = line.rstrip("\r\n").split("|")
        plain = self._by_fields.get((fields[0], len(fields)))
        if plain is None or '"' in line:
            raise NotPlain
        of_type, first, is_interval = plain
        arrival, start = fields[1], fields[2]
        since = until = _number(start)
        if first > 3:
            if is_interval:
                until = INF if fields[3].lower() in OPEN_WORDS else _number(fields[3])
                if until <= since:
                    raise NotPlain
            else:
                until = since + self.tick - since % self.tick
            fields.append(fields[first - 1])  # the value is the last
        try:
            found = tuple([self._words[text] for text in fields[first:]])
        except KeyError:
            found = tuple(map(self._word, fields[first:]))
        came = since if arrival == start else _number(arrival)
        return _new(Given, (came, since, until, of_type, found))

    def _word(self, text: str) -> int:
        if not text.isprintable():
            raise NotPlain  # a line break, half a surrogate pair
        if text in self._words:
            return self._words[text]
        if len(self._words) > MOST_WORDS:
            self._words.clear()
        found = self._words[text] = self.core.word(read_field(text.strip(BLANKS)))
        return found

    def _item(self, item: io.Item) -> Given:
        op, name, kind, form, arrival, start, end, value, args, _, _ = item
        of_type = self._types.get((name, len(args), kind, form))  # type: ignore[call-overload]
        if kind != "fluent":
            end = start
        elif form == "points":
            end = start + self.tick - start % self.tick
        elif end is None:
            end = INF
        if of_type is None or op < 0 or not MIN_TIME <= start <= MAX_TIME or end < start:
            raise NotPlain
        if (kind == "fluent") != (value is not None):
            raise NotPlain
        terms = args if value is None else (*args, value)
        return _new(Given, (arrival, start, end, of_type, tuple(map(self._word_of, terms))))

    def _word_of(self, value: io.Term) -> int:
        if type(value) is int:
            return self.core.word(value)
        if type(value) is not str and type(value) is not float:
            raise NotPlain
        known = self._values.get(value)
        if known is not None:
            return known
        if type(value) is float and not math.isfinite(value):
            raise NotPlain
        if len(self._values) > MOST_WORDS:
            self._values.clear()
        found = self._values[value] = self.core.word(value)
        return found


def _number(text: str) -> int:
    if text.isdecimal() and text.isascii() and len(text) <= DIGITS:
        return int(text)
    raise NotPlain


Key = tuple[Any, ...]
Row = tuple[int, int, int, int]
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
        some_before: list[Row] = []
        for shown, some in groups:
            if shown[3] is None:
                continue
            kind, name, args = shown[3]
            if before is not None and before[2] == shown[2]:
                some = [*some_before, *some]  # its values are in several places
                del rows[-len(some_before) :]
            before, some_before = shown, some
            if len(some) > 1 and kind == "event":
                some.sort()
            elif len(some) > 1:
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

    def _order(self, row: Row, term: Callable[[int], Term]) -> Key:
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


def _by_text(group: tuple[Shown, list[Row]]) -> Any:
    return group[0][1]


def _by_terms(group: tuple[Shown, list[Row]]) -> Any:
    return group[0][2]


_new = tuple.__new__
_NOTHING = (None, None, None)
