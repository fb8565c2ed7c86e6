"""Reading signals of LARS programs: any name with any number of arguments may come with a stream.

Line by line they are rows of narratives, JSON objects, or plain atoms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from operator import attrgetter

from horai import io
from horai.io.items.json import read_object_line
from horai.io.items.rows import NotPlain, PlainLines, RowReader
from horai.io.letters import BadRow, DeadLetter, InputError
from horai.io.sources.protocol import LONGEST_LINE, InputLine, numbered_lines
from horai.io.sources.registry import has_messages
from horai.lang.core.reader import NotATerm, read_term
from horai.lang.core.terms import Compound, Constant, is_ground
from horai.lang.lars.syntax import Predicate
from horai.runtime.values import plain

MOST_ARGUMENTS = 64
HEADER = "Type"


class AnySignals(io.InputSchema):
    """Lets every name in. Names the program knows are read faster."""

    @classmethod
    def known(cls, predicates: Iterable[Predicate]) -> AnySignals:
        """A schema that expects these predicates, and takes others too."""
        types: dict[str, list[io.InputType]] = {}
        for name, arity in sorted(predicates):
            types.setdefault(name, []).append(io.InputType(name, "event", arity))
        return cls(types)

    def lookup(self, name: str) -> Sequence[io.InputType]:
        if name == HEADER:
            return ()
        return [io.InputType(name, "event", arity) for arity in range(MOST_ARGUMENTS)]


_EXAMPLE = "write name|arrival|time|arguments, or atoms such as b(x); -c(1)"


MEMORY = "<memory>"
"""What stands for the file of rows that are given as text."""
MOST_LINES = 500
"""So many rows are read faster together, as columns."""
_made = partial(tuple.__new__, io.Item)  # in less than half the time of the class itself


def text_lines(given: object) -> list[str] | None:
    """Rows of text, if that is what is given, and if they are few."""
    if not isinstance(given, list | tuple) or len(given) >= MOST_LINES:
        return None
    if not all(type(row) is str for row in given):
        return None
    lines = [row.rstrip("\r\n") for row in given]
    text = "".join(lines)
    return lines if not lines or ("|" in text and "\n" not in text) else None


class LineReader:
    """Turns lines into rows; what cannot be read is a dead letter.

    With `now`, lines may also be atoms, separated by `;`, that hold now; a `-` before one takes it
    back. Rows then arrive now, whatever they say.
    """

    def __init__(self, schema: AnySignals, times: io.TimeScale, *, strict: bool = False) -> None:
        self.schema, self.times, self.strict = schema, times, strict
        self.dead_letters: list[DeadLetter] = []
        self._plain = PlainLines(schema, times, attrgetter("name"), lambda term: term).row

    def of_texts(self, texts: Iterable[str]) -> list[io.Item]:
        """The rows of texts that are in memory."""
        return list(self.rows(numbered_lines(MEMORY, texts)))

    def rows(self, lines: Iterable[InputLine], now: int | None = None) -> Iterator[io.Item]:
        """The rows of lines; each line is read when its first row is asked for."""
        for line in lines:
            source, number, text, is_too_long = line
            try:
                if is_too_long:
                    raise NotPlain
                known, time, _, name, args = self._plain(text)
            except NotPlain:
                yield from self._rows(line, now)
                continue
            known = known if now is None else now
            yield _made((1, name, "event", "points", known, time, None, None, args, source, number))

    def _rows(self, line: InputLine, now: int | None) -> list[io.Item]:
        is_message = has_messages(line.source)
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

    def _read(self, line: InputLine, now: int | None) -> list[io.Item]:
        if line.is_too_long:
            raise BadRow("too-long", f"the line has more than {LONGEST_LINE} characters")
        if not line.text.strip():
            raise BadRow("null", "the message has no value")
        is_object = line.text.lstrip().startswith("{")
        if now is not None and not is_object and "|" not in line.text:
            return [_item(part, now, line) for part in line.text.split(";") if part.strip()]
        raw = line.text.encode("utf-8", "surrogateescape")
        reader = RowReader(self.schema, self.times, line.source)
        if is_object:
            return [read_object_line(raw, line.number, reader)]
        item = reader.narrative(raw, line.number)
        return [] if item is None else [item]


def _item(text: str, now: int, line: InputLine) -> io.Item:
    """The row of an atom that holds now."""
    said = text.strip()
    op = -1 if said.startswith("-") else 1
    try:
        term = read_term(said.removeprefix("-").strip().removesuffix("."))
    except NotATerm as error:
        raise BadRow("bad-term", f"{error}: {_EXAMPLE}") from None
    if not isinstance(term, Constant | Compound) or not is_ground(term):
        raise BadRow("bad-term", f"{said!r} is no atom without variables: {_EXAMPLE}")
    args = tuple(plain(arg) for arg in term.args) if isinstance(term, Compound) else ()
    place = (line.source, line.number)
    return io.Item(op, term.name, "event", "points", now, now, None, None, args, *place)
