"""What a source is: a place beside plain files that rows come from, and lines that come from it.

Each kind is a class in a file of this folder that says everything about it: how people name one,
how it is read at once, followed line by line in this process, and opened as a stream of Spark.
`registry.py` finds it by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import count, repeat
from threading import Event
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, Protocol

from horai.io.items.rows import RowReader
from horai.io.items.tables import Harvest
from horai.io.letters import InputError
from horai.io.schema import Format

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LONGEST_LINE = 1_000_000  # characters
SHOWN = 200  # of one that is longer
AT_ONCE = 1 << 16
"""So many bytes are read at once, if they are there."""
Told = Callable[[str], None]
Layout = Literal["files", "lines", "messages", "columns"]
Offsets = Mapping[str, int]
"""By name of what lines come from, from which of them on to read."""


class InputLine(NamedTuple):
    """A line, where it came from, and its number there; of one that is too long, the beginning."""

    source: str
    number: int
    text: str
    is_too_long: bool = False


def numbered_lines(source: str, texts: Iterable[str], first: int = 1) -> list[InputLine]:
    """The lines of a source, none of which is too long."""
    cells = zip(repeat(source), count(first), texts, repeat(False))
    # A third of the time that the class itself takes, and there are many lines.
    return list(map(partial(tuple.__new__, InputLine), cells))


class LineCutter:
    """Cuts what is read of a source into lines, of which the last one may go on."""

    def __init__(self, name: str, taken: int = 0) -> None:
        self._name = name
        self._taken = taken
        self._rest = b""
        self._begun: str | None = None
        """The beginning of the last line, once that is too long; all else of it is let go."""

    def take(self, data: bytes) -> list[InputLine]:
        """The lines that are whole now."""
        data = self._rest + data
        # A carriage return that comes last may be half of an end.
        end = max(data.rfind(b"\n"), data.rfind(b"\r", 0, len(data) - 1)) + 1
        whole, self._rest = data[:end], data[end:]
        found = self._lines(whole) if whole else []
        if len(self._rest) > 4 * LONGEST_LINE:  # bytes, of which a character has four at most
            self._begun = self._begun or self._rest.decode("utf-8", "surrogateescape")[:SHOWN]
            self._rest = b""
        return found

    def last(self) -> list[InputLine]:
        """What was left without an end."""
        return self._lines(self._rest + b"\n") if self._rest or self._begun else []

    def _lines(self, data: bytes) -> list[InputLine]:
        text = data.decode("utf-8", "surrogateescape")
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        name, texts = self._name, text.split("\n")[:-1]
        found = numbered_lines(name, texts, self._taken + 1)
        self._taken += len(found)
        if len(text) > LONGEST_LINE:
            found = [
                line._replace(text=line.text[:SHOWN], is_too_long=True)
                if len(line.text) > LONGEST_LINE
                else line
                for line in found
            ]
        if self._begun is not None:
            found[0] = found[0]._replace(text=self._begun, is_too_long=True)
            self._begun = None
        return found


class Readable(Protocol):
    """Gives what is there, and waits only if that is nothing."""

    def read1(self, size: int = ..., /) -> bytes: ...

    def close(self) -> None: ...


class Taker(Protocol):
    """Takes lines from sources, until it is `closed`; `growing` files are followed till then."""

    told: Told
    offsets: Offsets
    growing: bool
    closed: Event

    def put(self, lines: Sequence[InputLine]) -> None:
        """Hand on lines once there is room."""


def read_all(name: str, source: Readable, taker: Taker) -> None:
    """Hand on all lines of a source until it ends, and close it."""
    cutter = LineCutter(name)
    try:
        while data := source.read1(AT_ONCE):
            taker.put(cutter.take(data))
    except OSError:
        pass  # the other side has gone, which ends what it says
    taker.put(cutter.last())
    source.close()


class LineSink(Protocol):
    """Takes lines."""

    def write(self, text: str) -> None:
        """Write a text and let it go at once."""


class Source:
    """A place that rows come from, under the `url` that people name. What its class
    says nothing of cannot be done with it.

    A stream of Spark also asks for the `layout` of rows in its data frame and the `format` of files
    or lines, None if they tell themselves; for its `name` in words, since a checkpoint knows how
    far this was read and nothing else; and for the `parts` that a session has to be started with.
    """

    form: ClassVar[str]
    """How people name one."""
    are_messages: ClassVar[bool] = False
    """Its lines are messages: numbered from 0, and one that says nothing is a bad row."""

    url: str
    layout: Layout
    format: Format | None = None
    name: str
    parts: tuple[Literal["kafka", "delta"], ...] = ()

    def read(self, options: RowReader) -> Harvest:
        """All rows that it has now."""
        hint = "read it line by line: horai run --live or horai serve"
        raise InputError(self.url, "it has no end", hint=hint)

    def follow(self, taker: Taker) -> Callable[[], None]:
        """Open it; what comes back hands on its lines until it ends."""
        raise InputError(self.url, "it cannot be read line by line", hint="use horai stream")

    def sink(self, told: Told) -> LineSink:
        """Where lines go that are sent there."""
        raise InputError(self.url, "nothing can be sent there", hint="name a file")

    def check(self) -> None:
        """Raise if it cannot be opened, as far as can be said without Spark."""
        hint = "`horai run --live` follows it in one process; Spark connects to tcp:HOST:PORT"
        raise InputError(self.url, f"Spark does not read from {self.url}", hint=hint)

    def open(self, spark: SparkSession) -> DataFrame:
        """The streaming data frame."""
        raise NotImplementedError


def lines_format(url: str, format: Format | None) -> Format | None:
    """Lines without a file around them are narrative rows or JSON."""
    if format in (None, "narrative", "jsonl"):
        return format
    raise InputError(url, f"lines cannot be {format}", hint="use the format narrative or jsonl")
