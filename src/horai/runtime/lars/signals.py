"""Signals of LARS programs: any name with any number of arguments may come with a stream.

Signals of LARS programs line by line: rows of narratives, JSON objects, or plain atoms.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from pathlib import Path
from typing import NamedTuple

from horai import io
from horai.io.items.rows import RowReader
from horai.io.items.text import split_fields
from horai.io.letters import BadRow, DeadLetter, InputError
from horai.io.sources.kafka import SCHEME
from horai.io.sources.lines import LONGEST_LINE, InputLine
from horai.io.terms import Term, read_field
from horai.lang.core.reader import NotATerm, read_term
from horai.lang.core.terms import Compound, Constant, is_ground
from horai.lang.lars.syntax import Atom, Predicate
from horai.runtime.inputs import is_files, read_input, row_text
from horai.runtime.values import plain, to_term

MOST_ARGUMENTS = 64
HEADER = "Type"
MOST_ATOMS = 20_000


class Signal(NamedTuple):
    """An atom at a time; `order` is its place in the input, which orders signals of one time."""

    time: int
    order: int
    atom: Atom


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


@dataclass
class Arrivals:
    """The rows of an input by the time of their arrival, and what cannot be used of it.

    A retraction takes back the last signal that says the same. With a `lateness`, rows about a time
    that lies further back than that are too late once a query time has passed it.
    """

    start: int
    lateness: int | None = None
    dead_letters: list[io.DeadLetter] = field(default_factory=list)
    taken: int = 0
    """How many rows have come in; it is the order of signals."""
    waiting: list[tuple[int, int, io.Item]] = field(default_factory=list)
    """Arrival, order and row of what is not yet known: a heap."""
    _known: dict[int, dict[int, Signal]] = field(default_factory=dict)
    """What can be taken back, by its time and its order."""
    _alike: dict[int, dict[Atom, list[int]]] = field(default_factory=dict)
    """The same by what it says, at times of which something has been taken back."""
    predicates: set[Predicate] = field(default_factory=set)
    """Those of all signals so far."""
    _latest: int = 0  # arrival
    _atoms: dict[object, Atom] = field(default_factory=dict)
    """Atoms that have been made, for most come again and again."""

    def feed(self, rows: Iterable[io.Item]) -> None:
        """More rows, in their order."""
        for row in rows:
            heappush(self.waiting, (row.arrival, self.taken, row))
            self.taken += 1
            if row.arrival > self._latest:
                self._latest = row.arrival

    def know(self, signal: Signal) -> None:
        """A signal that can be taken back."""
        here = self._known.get(signal.time)
        if here is None:
            here = self._known[signal.time] = {}
        here[signal.order] = signal
        if signal.time in self._alike:
            self._alike[signal.time].setdefault(signal.atom, []).append(signal.order)

    def forget(self, signals: Iterable[Signal]) -> None:
        """Signals that nobody can take back any more."""
        for time, order, _ in signals:
            here = self._known.get(time)
            if here is not None and here.pop(order, None) is not None:
                self._alike.pop(time, None)  # it is made again if that is needed
                if not here:
                    del self._known[time]

    def _take_back(self, time: int, atom: Atom) -> Signal | None:
        """The last signal that says something, which is no longer there then."""
        here = self._known.get(time, {})
        if time not in self._alike:
            alike = self._alike[time] = {}
            for place, signal in here.items():
                alike.setdefault(signal.atom, []).append(place)
        same = self._alike[time].get(atom)
        gone = here.pop(same.pop()) if same else None
        if not here:
            self._known.pop(time, None)
            del self._alike[time]
        return gone

    def until(self, query: int, before: int | None = None) -> tuple[list[Signal], list[Signal]]:
        """What has come, and what has been taken back, since the query time before."""
        added: dict[int, Signal] = {}
        removed: list[Signal] = []
        for _, order, row in self._due(query):
            if row.start < self.start:
                self.refuse_early(row)
            elif self.lateness is not None and self._is_too_late(row.start, query, before):
                reason = f"answers before {query - (self.lateness or 0)} are final at {query}"
                self._refuse(row, "too-late", f"it lies at {row.start}, and {reason}")
            else:
                self._take(order, row, added, removed)
        return list(added.values()), removed

    def _due(self, query: int) -> Iterator[tuple[int, int, io.Item]]:
        """What has arrived by a time, in its order."""
        if self._latest <= query:  # all of it
            due, self.waiting = sorted(self.waiting), []
            yield from due
        while self.waiting and self.waiting[0][0] <= query:
            yield heappop(self.waiting)

    def _is_too_late(self, time: int, query: int, before: int | None) -> bool:
        if self.lateness is None or before is None or time > before:
            return False
        return time < query - self.lateness

    def _take(
        self, order: int, row: io.Item, added: dict[int, Signal], removed: list[Signal]
    ) -> None:
        atom = self._atom(row)
        if row.op > 0:
            added[order] = Signal(row.start, order, atom)
            self.know(added[order])
            return
        gone = self._take_back(row.start, atom)
        if gone is None:
            reason = "takes back a signal that was never there, or that nothing can see any more"
            self._refuse(row, "unknown-retraction", reason)
        elif added.pop(gone.order, None) is None:
            removed.append(gone)

    def _atom(self, row: io.Item) -> Atom:
        # 3, 3.0 and true are one key for Python.
        key = (row.name, row.args, tuple(map(type, row.args)))
        found = self._atoms.get(key)
        if found is None:
            if len(self._atoms) > MOST_ATOMS:
                self._atoms.clear()
            found = Atom(row.name, tuple(to_term(arg) for arg in row.args))
            self._atoms[key] = found
            self.predicates.add(found.predicate)
        return found

    def finish(self, end: int) -> list[io.DeadLetter]:
        """All letters, those of rows that come after the end of the run included."""
        for _, _, row in self.waiting:
            self.refuse_after(row, end)
        self.waiting = []
        return sorted(self.dead_letters, key=lambda letter: (letter.file, letter.line))

    def refuse_early(self, row: io.Item) -> None:
        """A row that no run like this one has room for."""
        self._refuse(row, "outside-run", f"lies before the start of the run, {self.start}")

    def refuse_after(self, row: io.Item, end: int) -> None:
        """A row that nobody waits for."""
        self._refuse(
            row, "outside-run", f"arrives after the last query time; the run ends at {end}"
        )

    def _refuse(self, row: io.Item, code: str, reason: str) -> None:
        self.dead_letters.append(io.DeadLetter(row.file, row.line, row_text(row), reason, code))


def in_order(narrative: io.Narrative, files: Sequence[str]) -> list[io.Item]:
    """The rows of an input as they stand there, file after file."""
    place = {name: number for number, name in enumerate(files)}
    rows = list(narrative.items())
    return sorted(rows, key=lambda row: (place.get(row.file, len(place)), row.file, row.line))


def files_of(given: object) -> list[str]:
    """The names of the files that are given, if there are any."""
    if not is_files(given):
        return []
    many = [given] if isinstance(given, str | os.PathLike) else list(given)  # type: ignore[call-overload]
    return ["<stdin>" if path == "-" else str(Path(path)) for path in many]


_EXAMPLE = "write name|arrival|time|arguments, or atoms such as b(x); -c(1)"


MEMORY = "<memory>"
"""What stands for the file of rows that are given as text."""
MOST_LINES = 500
"""So many rows are read faster together, as columns."""
MOST_KNOWN = 20_000
_SIMPLE = re.compile(
    r"([a-z]\w*)\|(0|[1-9][0-9]{0,14})\|(0|[1-9][0-9]{0,14})"
    r"(?:\|([^'\"\n\r\ud800-\udfff]*))?",
    re.ASCII,
)


def text_lines(given: object) -> list[str] | None:
    """Rows of text, if that is what is given, and if they are few."""
    if not isinstance(given, list | tuple) or not 0 < len(given) < MOST_LINES:
        return None
    if not all(type(row) is str for row in given):
        return None
    lines = [row.rstrip("\r\n") for row in given]
    text = "".join(lines)
    return lines if "|" in text and "\n" not in text else None


class LineReader:
    """Turns lines into rows; what cannot be read is a dead letter.

    With `now`, lines may also be atoms, separated by `;`, that hold now; a `-` before one takes it
    back. Rows then arrive now, whatever they say.
    """

    def __init__(self, schema: AnySignals, times: io.TimeScale, *, strict: bool = False) -> None:
        self.schema, self.times, self.strict = schema, times, strict
        self.dead_letters: list[DeadLetter] = []
        self._has_points = times.unit is None and times.time_in is None
        self._args: dict[str | None, tuple[Term, ...]] = {None: ()}

    def rows(self, line: InputLine, now: int | None = None) -> list[io.Item]:
        """The rows of a line."""
        simple = self._simple(line, now) if self._has_points else None
        if simple is not None:
            return [simple]
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

    def _simple(self, line: InputLine, now: int | None) -> io.Item | None:
        """A row with whole numbers for times, and nothing quoted; most are like that."""
        source, number, text, is_too_long = line
        found = None if is_too_long else _SIMPLE.fullmatch(text)
        if found is None:
            return None
        name, arrival, time, rest = found.groups()
        args = self._args.get(rest)
        if args is None:
            fields = split_fields(rest, "|")
            if len(fields) >= MOST_ARGUMENTS:
                return None
            try:
                args = tuple(map(read_field, fields))
            except BadRow:
                return None  # it is told by who reads all rows
            if len(self._args) > MOST_KNOWN:
                self._args = {None: ()}
            self._args[rest] = args
        known = int(arrival) if now is None else now
        return io.Item(
            1, name, "event", "points", known, int(time), None, None, args, source, number
        )

    def _read(self, line: InputLine, now: int | None) -> list[io.Item]:
        if line.is_too_long:
            raise BadRow("too-long", f"the line has more than {LONGEST_LINE} characters")
        if not line.text.strip():
            raise BadRow("null", "the message has no value")
        if line.text.lstrip().startswith("{"):
            return self._objects(line)
        if now is not None and "|" not in line.text:
            return [_item(part, now, line) for part in line.text.split(";") if part.strip()]
        raw = line.text.encode("utf-8", "surrogateescape")
        item = RowReader(self.schema, self.times, line.source).narrative(raw, line.number)
        return [] if item is None else [item]

    def _objects(self, line: InputLine) -> list[io.Item]:
        try:
            given = [json.loads(line.text)]
        except ValueError as error:
            raise BadRow("json", f"not JSON: {error}") from None
        narrative = read_input(given, self.schema, self.times)
        for letter in narrative.dead_letters:
            raise BadRow(letter.code, letter.reason)
        return [item._replace(file=line.source, line=line.number) for item in narrative.items()]


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
