"""Header lines: which column plays which part."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .letters import InputError
from .schema import InputSchema
from .terms import DECIMAL, INTEGER

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
    """Who is who in a header.

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


def _number(name: str) -> int:
    found = NUMBERED.fullmatch(name)
    return int(found[1]) if found else 0


def is_header(names: Sequence[str], type_name: str | None = None) -> bool:
    """True when the names say where the type and the time stand."""
    columns = find_columns(names)
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
