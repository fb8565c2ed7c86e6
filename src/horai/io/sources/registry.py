"""All kinds of sources by their names, lines of text as they come from them, and where lines go.

`-` is standard input or output; all that is no name of a kind is the name of a file.
"""

from __future__ import annotations

import re
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from queue import Empty, SimpleQueue
from types import MappingProxyType

from horai.io.letters import InputError
from horai.io.schema import Format
from horai.io.sources.files import FileSource, FolderSource
from horai.io.sources.kafka import SCHEME, KafkaSource
from horai.io.sources.protocol import InputLine, LineSink, Offsets, Source, Told
from horai.io.sources.sockets import ListeningSource, ServerSource

MOST_WAITING = 4
"""So many readings wait to be taken; whoever sends more has to wait, too."""
CLOSING = 0.01
"""Seconds between two looks whether those who read have ended."""
INTERRUPTIBLE = 0.5
"""Seconds that somebody waits at once; an interrupt that comes as he begins is not heard before."""
MOST_TOGETHER = 256
"""So many lines are handed over at once, if they are there."""

KINDS: dict[str, type[KafkaSource | ServerSource | ListeningSource]] = {
    kind.form.partition(":")[0]: kind for kind in (KafkaSource, ServerSource, ListeningSource)
}
"""The kinds of places beside files, by what their names begin with."""
FORMS = f"{FolderSource.form}, {KafkaSource.form} or {ServerSource.form}"
"""The names of sources of a stream of Spark."""
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


def source_named(name: str, format: Format | None = None, most: int | None = None) -> Source | None:
    """The place that a name says, None for that of a file. A scheme that nobody knows is an error.

    >>> source_named("tcp:host:80").name, source_named("day.csv")
    ('a server', None)
    """
    kind = KINDS.get(name.partition(":")[0])
    if kind is not None:
        return kind(name, format, most)
    if unknown := _URL.match(name):
        forms = ", ".join(kind.form for kind in KINDS.values())
        hint = f"name a file, or {forms}"
        raise InputError(name, f"there is no kind of place {unknown[1]}://", hint=hint)
    return None


@lru_cache(maxsize=1024)  # lines ask again and again
def has_messages(source: str) -> bool:
    """Are lines that come from there messages?"""
    kind = KINDS.get(source.partition(":")[0])
    return kind is not None and kind.are_messages


def offset_after(line: InputLine) -> int:
    """From where on to read what comes after a line."""
    return line.number + has_messages(line.source)


# --- in ---------------------------------------------------------------------------------------


class Incoming:
    """The lines of all sources as they come; topics are read from `offsets` on, if they say so.

    Files that are `growing` have no end, and offsets say from which of their lines on to read.
    """

    def __init__(
        self,
        names: Iterable[str],
        told: Told,
        offsets: Offsets = MappingProxyType({}),
        *,
        growing: bool = False,
    ) -> None:
        self.told, self.offsets, self.growing = told, offsets, growing
        self.closed = threading.Event()
        self._queue: SimpleQueue[Sequence[InputLine] | InputError | None] = SimpleQueue()
        self._room = threading.Semaphore(MOST_WAITING)
        self._ready: deque[InputLine] = deque()
        self._lock = threading.Lock()
        self._followers: list[threading.Thread] = []
        sources = [source_named(name) or FileSource(name) for name in names]
        opened = [source.follow(self) for source in sources]
        self._open = len(opened)
        for source, run in zip(sources, opened, strict=True):
            reader = threading.Thread(target=self._read, args=(run,), daemon=True)
            if source.are_messages or (growing and Path(source.url).is_file()):
                self._followers.append(reader)  # who heeds that it is closed
            reader.start()

    def next(self, seconds: float | None = None) -> InputLine | None:
        """The next line, None if there are no more; raises `Empty` if none comes in time."""
        if not self._ready and not self._wait(seconds):
            return None
        return self._ready.popleft()

    def some(self) -> list[InputLine] | None:
        """The next line and those that came with it, None if there are no more."""
        if not self._ready and not self._wait(None):
            return None
        ready = self._ready
        return [ready.popleft() for _ in range(min(len(ready), MOST_TOGETHER))]

    def _wait(self, seconds: float | None) -> bool:
        """Wait for lines; False if there are no more."""
        found = self._next_found() if seconds is None else self._queue.get(timeout=seconds)
        self._room.release()
        if isinstance(found, InputError):
            raise found
        self._ready.extend(found or ())
        return found is not None

    def _next_found(self) -> Sequence[InputLine] | InputError | None:
        while True:
            with suppress(Empty):
                return self._queue.get(timeout=INTERRUPTIBLE)

    def _read(self, run: Callable[[], None]) -> None:
        try:
            run()
        except InputError as error:
            self._hand(error)
            return
        with self._lock:
            self._open -= 1
            if not self._open and not self.closed.is_set():
                self._hand(None)

    def put(self, lines: Sequence[InputLine]) -> None:
        """Hand on lines once there is room."""
        if lines:
            self._hand(lines)

    def _hand(self, found: Sequence[InputLine] | InputError | None) -> None:
        self._room.acquire()
        self._queue.put(found)

    def close(self) -> None:
        """Let go of topics and growing files; what else is open goes with the process."""
        self.closed.set()
        for thread in self._followers:
            while thread.is_alive():
                self._room.release()  # who waits for room would wait for ever
                thread.join(CLOSING)


# --- out --------------------------------------------------------------------------------------


class Standard:
    """Standard output."""

    def write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


def sink_of(name: str, told: Told) -> LineSink:
    """Where lines go that are sent to a name; it must be an endpoint, no file."""
    if name in ("-", "stdout"):
        return Standard()
    place = source_named(name)
    if place is None:
        hint = "socket:PORT, tcp:HOST:PORT or kafka://HOST:PORT/TOPIC"
        raise InputError(name, "neither stdout nor a socket nor a topic", hint=hint)
    return place.sink(told)


def endpoints_of(name: str) -> list[str] | None:
    """The places that a text names, with commas between them; None if one of them is a file.

    >>> endpoints_of("stdout,kafka://a:1,b:2/answers,socket:7002")
    ['stdout', 'kafka://a:1,b:2/answers', 'socket:7002']
    """
    found: list[str] = []
    for part in name.split(","):
        if found and found[-1].startswith(SCHEME) and "/" not in found[-1].removeprefix(SCHEME):
            found[-1] += f",{part}"  # a topic may have several servers
        else:
            found.append(part)
    are_places = all(one in ("-", "stdout") or one.partition(":")[0] in KINDS for one in found)
    return found if are_places else None


def places_named(output: Path) -> str:
    """What was named as output: a path has one slash where the name of a topic has two."""
    return str(output).replace(SCHEME[:-1], SCHEME)
