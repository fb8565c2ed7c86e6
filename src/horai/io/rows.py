"""Reading one row at a time: what a row means, and exactly what is wrong with a bad one.

The fast readers take whole columns and hand every row they are not sure about to this module.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from .letters import BadRow
from .linetext import decode, split_fields
from .schema import InputSchema, Kind, RowForm, TableKey
from .terms import BLANKS, Term, read_field
from .times import Clock, is_open_end

FEW = 4  # layouts of one type that a message lists
NO_FIELDS = "no '|' in this row: Type|Arrival|Time|... is expected"


class Item(NamedTuple):
    """One item of the stream: an event, or a value of a fluent at a point or over an interval.

    `start` is the time of an event or point. `end` is None for these, and for an interval that
    is still open. Events have no value.
    """

    op: int
    name: str
    kind: Kind
    form: RowForm
    arrival: int
    start: int
    end: int | None
    value: Term | None
    args: tuple[Term, ...]
    file: str = ""
    line: int = 0

    @property
    def key(self) -> TableKey:
        return TableKey(self.name, len(self.args), self.kind, self.form)


@dataclass(frozen=True)
class RowReader:
    """What is needed to judge a row besides the row."""

    schema: InputSchema
    clock: Clock
    file: str

    def narrative(self, raw: bytes, line: int) -> Item | None:
        """The item of a line of a narrative, None for a blank line. Raises BadRow."""
        text = decode(raw)
        if not text.strip(BLANKS):
            return None
        fields = split_fields(text, "|")
        op, name = split_op(fields[0])
        key = self._choose_key(name, fields)
        rest = iter(fields[1:])
        arrival, start = self.point("arrival", next(rest)), self.point("time", next(rest))
        end = self.end(next(rest), start) if key.form == "intervals" else None
        value = read_field(next(rest)) if key.kind == "fluent" else None
        args = tuple(read_field(field) for field in rest)
        return Item(op, name, key.kind, key.form, arrival, start, end, value, args, self.file, line)

    def _choose_key(self, name: str, fields: list[str]) -> TableKey:
        keys = self.schema.keys(name)
        if not keys:
            if len(fields) == 1:
                raise BadRow("field-count", NO_FIELDS)
            raise BadRow(*self.schema.why_unknown(name))
        fitting = [key for key in keys if key.fields == len(fields)]
        if not fitting:
            if len(fields) == 1 and len(keys) > FEW:
                raise BadRow("field-count", NO_FIELDS)
            raise BadRow("field-count", f"{_fields(len(fields))} given, expected {_layouts(keys)}")
        return fitting[0] if len(fitting) == 1 else self._tell_apart(fitting, fields)

    def _tell_apart(self, keys: list[TableKey], fields: list[str]) -> TableKey:
        """A type with several arities: an interval if there are two times, else an event."""
        forms = {(key.kind, key.form): key for key in keys}
        interval = forms.get(("fluent", "intervals"))
        if interval is not None and self._is_end(fields[3]):
            return interval
        return forms.get(("event", "points")) or forms[("fluent", "points")]

    def _is_end(self, field: str) -> bool:
        try:
            return is_open_end(field) or self.clock.point(field) is not None
        except BadRow:
            return False

    def point(self, part: str, given: object) -> int:
        """A time-point; `part` is what the reason calls it."""
        try:
            return self.clock.point(given)
        except BadRow as bad:
            raise BadRow(bad.code, f"{part}: {bad.reason}") from None

    def end(self, given: object, start: int) -> int | None:
        """The end of an interval, None for open."""
        if is_open_end(given):
            return None
        end = self.point("end", given)
        if end <= start:
            reason = f"the interval [{start}, {end}) is empty: its end must be after its start"
            raise BadRow("end-before-start", reason)
        return end


def split_op(type_field: str) -> tuple[int, str]:
    """Operation and name: a retraction has `-` directly before the name.

    >>> split_op("-go_to"), split_op("go_to")
    ((-1, 'go_to'), (1, 'go_to'))
    """
    if len(type_field) > 1 and type_field.startswith("-"):
        return -1, type_field[1:]
    return 1, type_field


def _fields(count: int) -> str:
    return "1 field" if count == 1 else f"{count} fields"


def _layouts(keys: list[TableKey]) -> str:
    """How rows of a type may look; of a type that takes any number of arguments, the shortest."""
    if len(keys) > FEW:
        shortest = min(keys, key=lambda key: key.fields)
        return f"{shortest.layout}, then its arguments ({shortest.fields} fields or more)"
    return " or ".join(f"{key.layout} ({key.fields} fields)" for key in keys)
