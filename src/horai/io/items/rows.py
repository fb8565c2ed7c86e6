"""The reader of single rows: what a row means, and exactly what is wrong with a bad one.

The fast readers take whole columns and hand every row they are not sure about to this module. A row
is a line of a narrative, or a record with named parts (JSON objects, CSV and Arrow rows), whose
header says which column plays which part.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, NamedTuple, TypeVar

from horai.io.items.text import decode, split_fields
from horai.io.letters import BadRow, InputError
from horai.io.schema import Format, InputSchema, InputType, Kind, RowForm, TableKey, TypeColumns
from horai.io.terms import BLANKS, DECIMAL, INTEGER, MAX_DIGITS, Term, TermText, read_field
from horai.io.times import OPEN_WORDS, TimeScale, is_open_end

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


class RowReader(NamedTuple):
    """How rows are read: what the rules know, how times are meant, and what the caller has said."""

    schema: InputSchema
    clock: TimeScale
    file: str = ""
    type_name: str | None = None  # of rows that name none
    strict: bool = False
    format: Format | None = None

    def is_json(self, lines: bytes) -> bool:
        """Are lines that are no file JSON? The first one that says something tells."""
        return (self.format or lines.lstrip()[:1]) in ("jsonl", b"{")

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
            raise BadRow(
                "field-count",
                f"{_counted([len(fields)], 'field')} given, expected {_layouts(keys)}",
            )
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


K = TypeVar("K")
T = TypeVar("T")
DIGITS = 18  # so many always fit
MOST_KNOWN = 100_000  # of fields and of kinds of rows that are kept


class NotPlain(Exception):
    """There is a row that only `RowReader` understands."""


class _Known(dict[K, T]):
    """What was made of each key, while there are not too many."""

    def __init__(self, make: Callable[[K], T]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: K) -> T:
        if len(self) > MOST_KNOWN:
            self.clear()
        found = self[key] = self._make(key)
        return found


class PlainLines(Generic[K, T]):
    """Reads lines of narratives that are plain, in a tenth of the time that others need.

    They are insertions of which name and number of fields tell the kind, with whole numbers as
    times and without quotes. What kinds and terms are to whoever reads is asked of `kind_of` and
    `term_of`, once for each; what has None there is not plain either. A value at a point ends
    with its `tick`, an open interval at `never`.
    """

    def __init__(
        self,
        schema: InputSchema,
        clock: TimeScale,
        kind_of: Callable[[TableKey], K | None],
        term_of: Callable[[Term], T | None],
        tick: int = 1,
        never: int = 0,
    ) -> None:
        self._tick, self._never = tick, never
        is_plain = clock.time_in in (None, clock.unit) and not schema.columns
        self._kinds = _Known(partial(_plain_kind, schema if is_plain else InputSchema({}), kind_of))
        self._term = _Known(partial(_plain_term, term_of)).__getitem__
        self._time = _Known(_plain_time).__getitem__

    def row(self, line: str) -> tuple[int, int, int, K, tuple[T, ...]]:
        """Arrival, start, end, kind, and the terms with the value last."""
        fields = line.rstrip("\r\n").split("|")
        kind, first, is_interval = self._kinds[fields[0], len(fields)]
        if '"' in line:
            raise NotPlain
        arrival, start = fields[1], fields[2]
        since = until = self._time(start)
        if first > 3:
            if is_interval:
                until = self._never if fields[3].lower() in OPEN_WORDS else self._time(fields[3])
                if until <= since:
                    raise NotPlain
            else:
                until = since + self._tick - since % self._tick
            fields.append(fields[first - 1])  # the value is the last
        known = since if arrival == start else self._time(arrival)
        return known, since, until, kind, tuple(map(self._term, fields[first:]))


def _plain_kind(
    schema: InputSchema, kind_of: Callable[[TableKey], K | None], place: tuple[str, int]
) -> tuple[K, int, bool]:
    """The kind of rows of a name with so many fields, the first argument, and has it an end?"""
    name, fields = place
    is_plain = name[:1].isalpha() and name.isprintable() and name == name.strip()
    keys = [key for key in schema.keys(name) if key.fields == fields] if is_plain else []
    kind = kind_of(keys[0]) if len(keys) == 1 else None
    if kind is None:
        raise NotPlain
    first = fields - keys[0].arity
    return kind, first, first == 5


def _plain_term(term_of: Callable[[Term], T | None], text: str) -> T:
    # Not a line break, half a surrogate pair.
    term = term_of(read_field(text.strip(BLANKS))) if text.isprintable() else None
    if term is None:
        raise NotPlain
    return term


def _plain_time(text: str) -> int:
    if text.isdecimal() and text.isascii() and len(text) <= DIGITS:
        return int(text)
    raise NotPlain


def split_op(type_field: str) -> tuple[int, str]:
    """Operation and name: a retraction has `-` directly before the name.

    >>> split_op("-go_to"), split_op("go_to")
    ((-1, 'go_to'), (1, 'go_to'))
    """
    if len(type_field) > 1 and type_field.startswith("-"):
        return -1, type_field[1:]
    return 1, type_field


def _counted(some: Iterable[int], noun: str) -> str:
    """Numbers of which one is right, with their noun.

    >>> _counted([1], "field"), _counted([3, 1], "field")
    ('1 field', '1 or 3 fields')
    """
    numbers = sorted({*some})
    return f"{' or '.join(map(str, numbers))} {noun}{'' if numbers == [1] else 's'}"


def _layouts(keys: list[TableKey]) -> str:
    """How rows of a type may look; of a type that takes any number of arguments, the shortest."""
    if len(keys) > FEW:
        shortest = min(keys, key=lambda key: key.fields)
        return f"{shortest.layout}, then its arguments ({shortest.fields} fields or more)"
    return " or ".join(f"{key.layout} ({key.fields} fields)" for key in keys)


# For each part the names it may have, the best first. Only one column can play a part; a second
# candidate (a column `name` beside `type`) is an argument.
ALIASES: dict[str, tuple[str, ...]] = {
    "type": ("type", "name", "event_type"),
    "kind": ("kind",),
    "op": ("op",),
    "arrival": ("arrival",),
    "time": ("time", "occurrence", "occurs", "timestamp", "t"),
    "start": ("start",),
    "end": ("end",),
    "value": ("value",),
    "args": ("args",),
}
NUMBERED = re.compile(r"(?:a|arg)([0-9]{1,4})")
TIME_WORD = re.compile(r"time|arriv|occur|start|point|stamp|date", re.IGNORECASE)


@dataclass(frozen=True)
class Columns:
    """Places of the columns that play a part, and of the arguments in order."""

    parts: dict[str, int]
    args: list[int] = field(default_factory=list)

    def has(self, part: str) -> bool:
        return part in self.parts


def find_columns(names: Sequence[str], ignore: Iterable[int] = ()) -> Columns:
    """The columns of a header by their parts.

    >>> find_columns(["time", "type", "vessel", "speed"])
    Columns(parts={'type': 1, 'time': 0}, args=[2, 3])
    """
    plain = [name.strip().lower() for name in names]
    parts: dict[str, int] = {}
    for part, aliases in ALIASES.items():
        found = next((alias for alias in aliases if alias in plain), None)
        if found is not None:
            parts[part] = plain.index(found)
    rest = [i for i in range(len(plain)) if i not in {*parts.values(), *ignore} and plain[i]]
    if "args" in parts:
        rest = []
    elif all(NUMBERED.fullmatch(plain[i]) for i in rest):
        rest.sort(key=lambda i: _number(plain[i]))
    return Columns(parts, rest)


def columns_of_types(names: Sequence[str], schema: InputSchema, file: str) -> dict[str, Columns]:
    """The columns of types whose columns somebody has named, if they are in this file.

    A file with none of the columns of a type is about others; one with some of them is told.
    """
    found = {}
    for type_, chosen in schema.columns.items():
        places = {name: _place(name, names) for name in chosen.names}
        missing = [name for name, place in places.items() if place is None]
        if len(missing) == len(places):
            continue
        if missing:
            hint = f"the columns are {', '.join(names)}"
            raise InputError(file, f"no column {missing[0]!r} for {type_}", hint=hint)
        args = [places[name] or 0 for name in chosen.args]
        parts = {p: i for p, i in find_columns(names).parts.items() if i not in args}
        parts.pop("args", None)
        parts.update({part: places[name] or 0 for part, name in chosen.parts.items()})
        found[type_] = Columns(parts, args)
    return found


def _place(name: str, names: Sequence[str]) -> int | None:
    plain = [given.strip() for given in names]
    if name in plain:
        return plain.index(name)
    small = [given.lower() for given in plain]
    return small.index(name.lower()) if name.lower() in small else None


class Header(NamedTuple):
    """The columns of a table, those of some types, and the type of rows that name none."""

    columns: Columns
    by_type: dict[str, Columns]
    type_name: str | None

    def columns_of(self, type_: object) -> Columns:
        """The columns of rows of a type."""
        return self.by_type.get(str(type_), self.columns)


def header_of(names: Sequence[str], reader: RowReader, ignore: Iterable[int] = ()) -> Header:
    """The header of a table with these columns."""
    file, type_name = reader.file, reader.type_name
    _check_names(names, file)
    general, by_type = find_columns(names, ignore), columns_of_types(names, reader.schema, file)
    if len(by_type) == 1:
        only = next(iter(by_type))
        if general.parts.get("type") in by_type[only].args:
            del general.parts["type"]  # it is called like one, and is an argument
        if not general.has("type"):
            type_name = type_name or only
    if type_name in by_type and not general.has("type"):
        general, by_type = by_type[type_name], {}
    if not by_type or not general.has("type"):  # otherwise rows of other types tell what they lack
        check_columns(general, file, type_name)
    return Header(general, by_type, type_name)


def _check_names(names: Sequence[str], file: str) -> None:
    """Refuse a table with two columns of one name: which of them is meant would be a guess."""
    known: set[str] = set()
    for given in names:
        name = given.strip()
        name = name.lower() if name.lower() in RANKS else name
        if name and name in known:
            hint = "give each column a name of its own"
            raise InputError(file, f"two columns are called {name!r}", hint=hint)
        known.add(name)


def _number(name: str) -> int:
    found = NUMBERED.fullmatch(name)
    return int(found[1]) if found else 0


def is_header(
    names: Sequence[str], type_name: str | None = None, schema: InputSchema | None = None
) -> bool:
    """True when the names say where the type and the time stand."""
    columns = find_columns(names)
    for chosen in schema.columns.values() if schema is not None else ():
        if all(_place(name, names) is not None for name in chosen.names):
            return True
    timed = columns.has("time") or columns.has("start")
    return timed and (columns.has("type") or type_name is not None)


def check_columns(columns: Columns, file: str, type_name: str | None) -> None:
    """Refuse a table without which no row could be read."""
    if not columns.has("type") and type_name is None:
        hint = "name a column 'type', or say which type all rows have (type_name)"
        raise InputError(file, "no column says the type of a row", hint=hint)
    if not columns.has("time") and not columns.has("start"):
        hint = "name a column 'time', or two columns 'start' and 'end'"
        raise InputError(file, "no column says the time of a row", hint=hint)


def is_narrative_header(fields: Sequence[str], schema: InputSchema) -> bool:
    """True for a first line such as `Type|Arrival|Time|...`, which names the fields."""
    times = fields[1:3]
    if not times or schema.lookup(fields[0].removeprefix("-")):
        return False
    if any(INTEGER.fullmatch(text) or DECIMAL.fullmatch(text) for text in times):
        return False
    return any(TIME_WORD.search(text) or text.lower() == "t" for text in times)


OPS = {
    **dict.fromkeys(("insert", "+", "add", "1", "+1", "1.0"), 1),
    **dict.fromkeys(("retract", "-", "delete", "-1", "-1.0"), -1),
}
# What change feeds call a revision. It says only the new row; which old one is meant is a guess.
REVISIONS = ("revise", "update", "replace", "upsert", "correct")
HUGE = 10**MAX_DIGITS
RANKS = {
    alias: (part, place) for part, aliases in ALIASES.items() for place, alias in enumerate(aliases)
}


def read_object_row(given: object, line: int, reader: RowReader) -> Item:
    """The item of a JSON object or Python dict."""
    if not isinstance(given, Mapping):
        raise BadRow("json", 'a row is an object such as {"type":"go_to","time":9,"args":[]}')
    parts = {part: given[key] for part, key in keys_of_parts(given).items()}
    if "value" in parts:
        parts["value"] = read_value(parts["value"])
    args = [read_value(arg) for arg in listed_args(given)]
    try:
        return read_record(parts, args, line, reader)
    except BadRow as bad:
        strangers = [str(key) for key in given if key not in RANKS]
        if bad.code != "arity" or "args" in given or not strangers:
            raise
        hint = f'{bad.reason}; give {", ".join(strangers)} as a list: "args":[...]'
        raise BadRow("arity", hint) from None


def arranged(given: object, columns: Mapping[str, TypeColumns], type_name: str | None) -> object:
    """An object with its arguments as a list, if somebody has said where they are."""
    if not isinstance(given, Mapping):
        return given
    keys = keys_of_parts(given)
    only = next(iter(columns)) if len(columns) == 1 else None
    if only is not None and keys.get("type") in columns[only].args:
        del keys["type"]  # it is called like one, and is an argument
    name = given[keys["type"]] if "type" in keys else type_name or only
    chosen = columns.get(name) if isinstance(name, str) else None
    if chosen is None or not any(key in given for key in chosen.names):
        return given
    own = {part: given[key] for part, key in keys.items() if key not in chosen.args}
    named = {part: given.get(key) for part, key in chosen.parts.items()}
    return {**own, **named, "type": name, "args": [given.get(key) for key in chosen.args]}


def keys_of_parts(keys: Iterable[object]) -> dict[str, str]:
    """For each part that is there, the key that plays it: the best one if there are several."""
    found: dict[str, str] = {}
    for key in keys:
        rank = RANKS.get(key) if isinstance(key, str) else None
        if rank is not None:
            part, place = rank
            if part not in found or place < RANKS[found[part]][1]:
                found[part] = str(key)
    return found


def listed_args(given: Mapping[object, object]) -> Sequence[object]:
    """The arguments of an object: a list, or keys `a0`, `a1`, ..."""
    if "args" not in given:
        numbered = [(NUMBERED.fullmatch(str(key)), arg) for key, arg in given.items()]
        places = [(int(found[1]), arg) for found, arg in numbered if found]
        return [arg for _, arg in sorted(places, key=lambda place: place[0])]
    args = given["args"]
    if isinstance(args, list | tuple):
        return args
    raise BadRow("bad-term", f'args is a list such as ["chris","work"], not {_shown(args)}')


def read_value(given: object) -> Term | None:
    """The term of a JSON or Python value; None stays None, for whoever asks to complain."""
    if given is None or isinstance(given, TermText):
        return given
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, str):
        return _checked_text(given)
    if isinstance(given, float):
        if math.isfinite(given):
            return float(given)
        raise BadRow("bad-number", f"{given} is not a number the rules can use")
    if isinstance(given, int):
        if abs(given) < HUGE:
            return int(given)
        raise BadRow("bad-number", "an integer with too many digits")
    if hasattr(given, "item"):  # a numpy scalar
        return read_value(given.item())
    raise BadRow("bad-term", f"{_shown(given)} is neither text nor a number nor true/false")


def _checked_text(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadRow("encoding", f"{text!r} holds half a character and is not UTF-8") from error
    return str(text)


def read_record(
    parts: Mapping[str, object], args: Sequence[Term | None], line: int, reader: RowReader
) -> Item:
    """The item of a record. A part that is not there at all differs from one that is None."""
    if reader.type_name is not None:
        parts = {"type": reader.type_name, **parts}
    name = _needed(parts, "type", "the type of the row")
    if not isinstance(name, str):
        raise BadRow("unknown-type", f"the type {_shown(name)} is not a name")
    type_ = _choose_type(name, parts, args, reader.schema)
    op = read_op(parts.get("op"))
    whole = tuple(_filled(arg, i, name) for i, arg in enumerate(args))
    value, is_interval = None, False
    if type_.kind == "event":
        _check_event(name, parts)
    else:
        value = read_value(_needed(parts, "value", f"the value of the fluent {name}"))
        is_interval = parts.get("start") is not None or parts.get("end") is not None
        if is_interval and type_.form == "points":
            raise BadRow("form", f"{name} arrives as points: give time, not start and end")
        if not is_interval and type_.form == "intervals":
            raise BadRow("form", f"{name} arrives as intervals: give start and end, not time")
    start = reader.point("start" if is_interval else "time", _first_time(parts))
    arrival, end = parts.get("arrival"), parts.get("end")
    return Item(
        op,
        name,
        type_.kind,
        "intervals" if is_interval else "points",
        start if arrival is None else reader.point("arrival", arrival),  # else it is at once
        start,
        None if end is None else reader.end(end, start),
        value,
        whole,
        reader.file,
        line,
    )


def _check_event(name: str, parts: Mapping[str, object]) -> None:
    if parts.get("end") is not None:
        raise BadRow("form", f"{name} is an event: it has a time and no end")
    if parts.get("value") is not None:
        reason = "is an event and has no value; an argument needs another column name, such as a0"
        raise BadRow("value", f"{name} {reason}")


def _choose_type(
    name: str, parts: Mapping[str, object], args: Sequence[object], schema: InputSchema
) -> InputType:
    types = schema.lookup(name)
    if not types:
        raise BadRow(*schema.why_unknown(name))
    kind = parts.get("kind")
    if kind is not None:
        types = [type_ for type_ in types if type_.kind == kind]
    if not types:
        raise BadRow("form", f"the rules do not read {name} as {_shown(kind)}")
    fitting = [type_ for type_ in types if type_.arity == len(args)]
    if not fitting:
        takes = _counted((type_.arity for type_ in types), "argument")
        reason = f"{name} takes {takes}, {len(args)} given"
        if parts.get("value") is not None and all(type_.kind == "event" for type_ in types):
            reason += "; `value` is the value of a fluent, no argument of an event: rename it"
        raise BadRow("arity", reason)
    by_value = "event" if parts.get("value") is None else "fluent"
    return next((type_ for type_ in fitting if type_.kind == by_value), fitting[0])


def _first_time(parts: Mapping[str, object]) -> object:
    time, start = parts.get("time"), parts.get("start")
    if time is not None and start is not None:
        raise BadRow("form", "give either time, or start and end, not both")
    if start is not None:
        return start
    return _needed(
        parts, "time" if "time" in parts or "start" not in parts else "start", "the time"
    )


def read_op(given: object) -> int:
    """+1 for an insertion (also when nothing is said), -1 for a retraction."""
    if given is None:
        return 1
    word = str(given).strip().lower()
    if word not in OPS:
        advice = "; a revision is two rows: retract the old one, insert the new one"
        more = advice if word in REVISIONS else ""
        raise BadRow("op", f"op is insert or retract, not {_shown(given)}{more}")
    return OPS[word]


def _needed(parts: Mapping[str, object], part: str, what: str) -> object:
    if part not in parts:
        raise BadRow("missing-column", f"{what} is missing: there is no {part!r}")
    if parts[part] is None:
        raise BadRow("null", f"{what} is empty ({part!r})")
    return parts[part]


def _filled(arg: Term | None, place: int, name: str) -> Term:
    if arg is None:
        raise BadRow("null", f"argument {place + 1} of {name} is empty")
    return arg


def _shown(given: object) -> str:
    text = repr(given)
    return text if len(text) <= 60 else text[:59] + "…"
