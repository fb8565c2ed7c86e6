"""Reading one record (a row with named parts) at a time: JSON objects, CSV and Arrow rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from .headers import ALIASES, NUMBERED
from .letters import BadRow
from .rows import Item, RowReader
from .schema import InputSchema, InputType, RowForm
from .terms import MAX_DIGITS, Term, TermText

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


def read_object_row(
    given: object, line: int, reader: RowReader, type_name: str | None = None
) -> Item:
    """The item of a JSON object or Python dict."""
    if not isinstance(given, Mapping):
        raise BadRow("json", 'a row is an object such as {"type":"go_to","time":9,"args":[]}')
    parts = {part: given[key] for part, key in keys_of_parts(given).items()}
    if type_name is not None:
        parts.setdefault("type", type_name)
    if "value" in parts:
        parts["value"] = read_value(parts["value"])
    args = [read_value(arg) for arg in _listed_args(given)]
    try:
        return read_record(parts, args, line, reader)
    except BadRow as bad:
        strangers = [str(key) for key in given if key not in RANKS]
        if bad.code != "arity" or "args" in given or not strangers:
            raise
        hint = f'{bad.reason}; give {", ".join(strangers)} as a list: "args":[...]'
        raise BadRow("arity", hint) from None


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


def _listed_args(given: Mapping[object, object]) -> Sequence[object]:
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
    name = _needed(parts, "type", "the type of the row")
    if not isinstance(name, str):
        raise BadRow("unknown-type", f"the type {_shown(name)} is not a name")
    type_ = _choose_type(name, parts, args, reader.schema)
    op = read_op(parts.get("op"))
    whole = tuple(_filled(arg, i, name) for i, arg in enumerate(args))
    if type_.kind == "event":
        return _event(type_, op, parts, whole, line, reader)
    return _fluent(type_, op, parts, whole, line, reader)


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
        arities = " or ".join(str(arity) for arity in sorted({type_.arity for type_ in types}))
        raise BadRow("arity", f"{name} takes {arities} arguments, {len(args)} given")
    by_value = "event" if parts.get("value") is None else "fluent"
    return next((type_ for type_ in fitting if type_.kind == by_value), fitting[0])


def _event(
    type_: InputType,
    op: int,
    parts: Mapping[str, object],
    args: tuple[Term, ...],
    line: int,
    reader: RowReader,
) -> Item:
    if parts.get("end") is not None:
        raise BadRow("form", f"{type_.name} is an event: it has a time and no end")
    if parts.get("value") is not None:
        reason = "is an event and has no value; an argument needs another column name, such as a0"
        raise BadRow("value", f"{type_.name} {reason}")
    start = reader.point("time", _first_time(parts))
    arrival = _arrival(parts, start, reader)
    name = type_.name
    return Item(op, name, "event", "points", arrival, start, None, None, args, reader.file, line)


def _fluent(
    type_: InputType,
    op: int,
    parts: Mapping[str, object],
    args: tuple[Term, ...],
    line: int,
    reader: RowReader,
) -> Item:
    name = type_.name
    value = read_value(_needed(parts, "value", f"the value of the fluent {name}"))
    assert value is not None
    is_interval = parts.get("start") is not None or parts.get("end") is not None
    if is_interval and type_.form == "points":
        raise BadRow("form", f"{name} arrives as points: give time, not start and end")
    if not is_interval and type_.form == "intervals":
        raise BadRow("form", f"{name} arrives as intervals: give start and end, not time")
    start = reader.point("start" if is_interval else "time", _first_time(parts))
    arrival = _arrival(parts, start, reader)
    end = parts.get("end")
    until = None if end is None else reader.end(end, start)
    form: RowForm = "intervals" if is_interval else "points"
    return Item(op, name, "fluent", form, arrival, start, until, value, args, reader.file, line)


def _first_time(parts: Mapping[str, object]) -> object:
    time, start = parts.get("time"), parts.get("start")
    if time is not None and start is not None:
        raise BadRow("form", "give either time, or start and end, not both")
    if start is not None:
        return start
    return _needed(
        parts, "time" if "time" in parts or "start" not in parts else "start", "the time"
    )


def _arrival(parts: Mapping[str, object], start: int, reader: RowReader) -> int:
    """Who does not say when an item arrived means: at once."""
    given = parts.get("arrival")
    return start if given is None else reader.point("arrival", given)


def read_op(given: object) -> int:
    """+1 for an insertion (also when nothing is said), -1 for a retraction."""
    if given is None:
        return 1
    op = OPS.get(str(given).strip().lower())
    if op is None:
        raise BadRow("op", f"op is insert or retract, not {_shown(given)}{_advice(given)}")
    return op


def _advice(given: object) -> str:
    if str(given).strip().lower() not in REVISIONS:
        return ""
    return "; a revision is two rows: retract the old one, insert the new one"


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
