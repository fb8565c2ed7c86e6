"""Signals of LARS programs line by line: rows of narratives, JSON objects, or plain atoms."""

from __future__ import annotations

import json

from horai import io
from horai.inputs import read_input
from horai.io.endpoints import Line
from horai.io.letters import BadRow, DeadLetter, InputError
from horai.io.rows import RowReader
from horai.io.topics import SCHEME
from horai.lang.terms import Atom, Compound, is_ground
from horai.lang.termtext import NotATerm, read_term
from horai.lars_signals import HEADER, AnySignals
from horai.values import plain

_EXAMPLE = "write name|arrival|time|arguments, or atoms such as b(x); -c(1)"


class LineReader:
    """Turns lines into rows; what cannot be read is a dead letter.

    With `now`, lines may also be atoms, separated by `;`, that hold now; a `-` before one takes it
    back. Rows then arrive now, whatever they say.
    """

    def __init__(self, schema: AnySignals, times: io.Clock, *, strict: bool = False) -> None:
        self.schema, self.times, self.strict = schema, times, strict
        self.dead_letters: list[DeadLetter] = []

    def rows(self, line: Line, now: int | None = None) -> list[io.Item]:
        """The rows of a line."""
        is_message = line.source.startswith(SCHEME)
        if line.text.startswith(f"{HEADER}|") or not (line.text.strip() or is_message):
            return []
        try:
            found = self._read(line, now)
        except BadRow as bad:
            letter = DeadLetter(line.source, line.number, line.text, bad.reason, bad.code)
            if self.strict:
                raise InputError.from_letter(letter) from None
            self.dead_letters.append(letter)
            return []
        return found if now is None else [item._replace(arrival=now) for item in found]

    def _read(self, line: Line, now: int | None) -> list[io.Item]:
        if not line.text.strip():
            raise BadRow("null", "the message has no value")
        if line.text.lstrip().startswith("{"):
            return self._objects(line)
        if now is not None and "|" not in line.text:
            return [_item(part, now, line) for part in line.text.split(";") if part.strip()]
        raw = line.text.encode("utf-8", "surrogateescape")
        item = RowReader(self.schema, self.times, line.source).narrative(raw, line.number)
        return [] if item is None else [item]

    def _objects(self, line: Line) -> list[io.Item]:
        try:
            given = [json.loads(line.text)]
        except ValueError as error:
            raise BadRow("json", f"not JSON: {error}") from None
        narrative = read_input(given, self.schema, self.times)
        for letter in narrative.dead_letters:
            raise BadRow(letter.code, letter.reason)
        return [item._replace(file=line.source, line=line.number) for item in narrative.items()]


def _item(text: str, now: int, line: Line) -> io.Item:
    """The row of an atom that holds now."""
    said = text.strip()
    op = -1 if said.startswith("-") else 1
    try:
        term = read_term(said.removeprefix("-").strip().removesuffix("."))
    except NotATerm as error:
        raise BadRow("bad-term", f"{error}: {_EXAMPLE}") from None
    if not isinstance(term, Atom | Compound) or not is_ground(term):
        raise BadRow("bad-term", f"{said!r} is no atom without variables: {_EXAMPLE}")
    args = tuple(plain(arg) for arg in term.args) if isinstance(term, Compound) else ()
    place = (line.source, line.number)
    return io.Item(op, term.name, "event", "points", now, now, None, None, args, *place)
