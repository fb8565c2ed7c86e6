"""Lines of text from where they come and to where they go: standard streams, files, TCP, Kafka.

`-` is standard input or output, `tcp:HOST:PORT` a server to connect to, and `socket:PORT` or
`socket:HOST:PORT` a place where others connect to us. `kafka://HOST:PORT/TOPIC` is a topic of
Kafka. All else is the name of a file.
"""

from __future__ import annotations

import os
import re
import socket
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from itertools import count, repeat
from pathlib import Path
from queue import Empty, SimpleQueue
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple, Protocol

from horai.io.letters import InputError
from horai.io.secrets import BEARER, FILE, SOCKET, is_bearer, is_loopback, secret
from horai.io.sources.kafka import SCHEME, Offsets, TopicReader, TopicSink, topic_of

LOCAL = "127.0.0.1"
PATIENCE = 10.0  # seconds that somebody may take to say the token
LONGEST = 4096  # what may be said for one
LONGEST_LINE = 1_000_000  # characters
SHOWN = 200  # of one that is longer
AT_ONCE = 1 << 16
"""So many bytes are read at once, if they are there."""
MOST_WAITING = 4
"""So many readings wait to be taken; whoever sends more has to wait, too."""
CLOSING = 0.01
"""Seconds between two looks whether those who read have ended."""
INTERRUPTIBLE = 0.5
"""Seconds that somebody waits at once; an interrupt that comes as he begins is not heard before."""
GROWING = 0.1
"""Seconds until somebody who was at the end of a file looks again."""
MOST_TOGETHER = 256
"""So many lines are handed over at once, if they are there."""
_ADDRESS = re.compile(r"(tcp|socket):(?:(.*):)?([0-9]+)")
Told = Callable[[str], None]


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


class Address(NamedTuple):
    """Where a socket is; `listens` if others connect to it."""

    listens: bool
    host: str
    port: int


def address_of(name: str) -> Address | None:
    """The address that a name says; None for other names.

    >>> address_of("socket:7001"), address_of("day.csv")
    (Address(listens=True, host='127.0.0.1', port=7001), None)
    """
    found = _ADDRESS.fullmatch(name)
    if found is None:
        return None
    if int(found[3]) > 65535:
        raise InputError(name, "a port is at most 65535")
    return Address(found[1] == "socket", found[2] or LOCAL, int(found[3]))


# --- in ---------------------------------------------------------------------------------------


class Readable(Protocol):
    """Gives what is there, and waits only if that is nothing."""

    def read1(self, size: int = ..., /) -> bytes: ...

    def close(self) -> None: ...


class StandardInput:
    """Standard input without the lock of its buffer, on which Python would abort at its end.

    Whoever waits for a line that never comes would hold that lock.
    """

    def __init__(self) -> None:
        buffer: Any = sys.stdin.buffer
        raw = getattr(buffer, "raw", None)  # what tests put in its place has none
        self._read: Callable[[int], bytes] = buffer.read1 if raw is None else raw.read

    def read1(self, size: int = -1, /) -> bytes:
        """What is there."""
        return self._read(size)

    def close(self) -> None:
        """Leave it open: it belongs to the process."""


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
        self._queue: SimpleQueue[list[InputLine] | InputError | None] = SimpleQueue()
        self._room = threading.Semaphore(MOST_WAITING)
        self._ready: deque[InputLine] = deque()
        self._offsets, self._growing = offsets, growing
        self._open = 0
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._followers: list[threading.Thread] = []
        opened = [self._opened(name, told) for name in names]
        self._open = len(opened)
        for run in opened:
            threading.Thread(target=run, daemon=True).start()

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

    def _next_found(self) -> list[InputLine] | InputError | None:
        while True:
            with suppress(Empty):
                return self._queue.get(timeout=INTERRUPTIBLE)

    def _opened(self, name: str, told: Told) -> Callable[[], None]:
        """The function that reads a source; one that cannot be opened is an error at once."""
        address = address_of(name)
        if name == "-":
            return lambda: self._read("<stdin>", StandardInput())
        if name.startswith(SCHEME):
            topic = TopicReader(topic_of(name), self._offsets)
            return lambda: self._follow(topic)
        if address is None:
            file = Path(name).open("rb")  # noqa: SIM115
            if self._growing and Path(name).is_file():
                cutter = self._passed(name, file)
                return lambda: self._watch(name, file, cutter)
            return lambda: self._read(name, file)
        if address.listens:
            server = _listening(name, address, told)
            return lambda: self._serve(name, server)
        lines = _lines_of(_connected(name, address))
        return lambda: self._read(name, lines)

    def _read(self, name: str, source: Readable, *, counts: bool = True) -> None:
        cutter = LineCutter(name)
        try:
            while data := source.read1(AT_ONCE):
                self._put(cutter.take(data))
        except OSError:
            pass  # the other side has gone, which ends what it says
        self._put(cutter.last())
        source.close()
        if counts:
            with self._lock:
                self._open -= 1
                if not self._open:
                    self._put(None)

    def _passed(self, name: str, file: BinaryIO) -> LineCutter:
        """What goes on with a file after the lines that were taken before."""
        taken = self._offsets.get(name, 0)
        lines = sum(1 for _ in zip(range(taken), file, strict=False))
        if lines < taken:
            file.close()
            hint = "name the file that was read before, or begin anew without the saved state"
            raise InputError(name, f"it has {lines} lines, and {taken} were read before", hint=hint)
        return LineCutter(name, taken)

    def _watch(self, name: str, file: BinaryIO, cutter: LineCutter) -> None:
        """Read a file, and what is added to it, until somebody closes."""
        self._followers.append(threading.current_thread())
        with file:
            while not self._closed.is_set():
                if data := file.read(AT_ONCE):
                    self._put(cutter.take(data))
                elif file.tell() > os.fstat(file.fileno()).st_size:
                    hint = "add lines to its end; begin anew to read another file"
                    self._put(InputError(name, "it became shorter while it was read", hint=hint))
                    return
                else:
                    self._closed.wait(GROWING)

    def _follow(self, topic: TopicReader) -> None:
        self._followers.append(threading.current_thread())
        try:
            for line in topic.lines(self._closed):
                self._put([InputLine(*line)])
        except InputError as error:
            self._put(error)

    def _put(self, found: list[InputLine] | InputError | None) -> None:
        """Hand on lines once there is room."""
        if found != []:
            self._room.acquire()
            self._queue.put(found)

    def close(self) -> None:
        """Let go of topics and growing files; what else is open goes with the process."""
        self._closed.set()
        for thread in self._followers:
            while thread.is_alive():
                self._room.release()  # who waits for room would wait for ever
                thread.join(CLOSING)

    def _serve(self, name: str, server: socket.socket) -> None:
        while True:
            connection, _ = server.accept()
            threading.Thread(target=self._hear, args=(name, connection), daemon=True).start()

    def _hear(self, name: str, connection: socket.socket) -> None:
        if _is_welcome(connection):
            self._read(name, _lines_of(connection), counts=False)


# --- out --------------------------------------------------------------------------------------


class LineSink(Protocol):
    """Takes lines."""

    def write(self, text: str) -> None:
        """Write a text and let it go at once."""


class Standard:
    """Standard output."""

    def write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


class Connected:
    """A server that takes lines."""

    def __init__(self, name: str, address: Address) -> None:
        self._name = name
        self._socket = _connected(name, address)

    def write(self, text: str) -> None:
        try:
            self._socket.sendall(text.encode())
        except OSError as error:
            raise InputError(self._name, f"the other side has gone: {error.strerror}") from error


class Serving:
    """All who have connected; who has gone misses what follows."""

    def __init__(self, name: str, address: Address, told: Told) -> None:
        self._server = _listening(name, address, told)
        self.clients: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            connection, _ = self._server.accept()
            threading.Thread(target=self._greet, args=(connection,), daemon=True).start()

    def _greet(self, connection: socket.socket) -> None:
        if _is_welcome(connection):
            self.clients.append(connection)

    def write(self, text: str) -> None:
        for client in list(self.clients):
            try:
                client.sendall(text.encode())
            except OSError:
                self.clients.remove(client)


def sink_of(name: str, told: Told) -> LineSink:
    """Where lines go that are sent to a name; it must be an endpoint, no file."""
    address = address_of(name)
    if name in ("-", "stdout"):
        return Standard()
    if name.startswith(SCHEME):
        return TopicSink(topic_of(name))
    if address is None:
        hint = "socket:PORT, tcp:HOST:PORT or kafka://HOST:PORT/TOPIC"
        raise InputError(name, "neither stdout nor a socket nor a topic", hint=hint)
    return Serving(name, address, told) if address.listens else Connected(name, address)


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
    return found if all(map(is_endpoint, found)) else None


def is_endpoint(name: str) -> bool:
    """Is it a standard stream, a socket or a topic, and no file?"""
    return name in ("-", "stdout") or name.startswith(SCHEME) or address_of(name) is not None


# --- sockets ----------------------------------------------------------------------------------


def _lines_of(connection: socket.socket) -> Readable:
    """What the other side says; the connection is closed with it."""
    lines = connection.makefile("rb")
    connection.close()
    return lines


def _listening(name: str, address: Address, told: Told) -> socket.socket:
    if not is_loopback(address.host) and secret(SOCKET) is None:
        hint = (
            f"set {SOCKET} or {SOCKET}{FILE}: who connects says `{BEARER}TOKEN` in the first line"
        )
        raise InputError(name, "others can connect there: a token is needed", hint=hint)
    try:
        server = socket.create_server((address.host, address.port))
    except OSError as error:
        hint = "choose another port, or end who uses it"
        raise InputError(name, f"cannot listen there: {error.strerror}", hint=hint) from error
    host, port = server.getsockname()[:2]
    told(f"listening on {host}:{port}")
    return server


def _is_welcome(connection: socket.socket) -> bool:
    """Where there is a token, who connects has to say it first; others are let go."""
    token = secret(SOCKET)
    if token is None:
        return True
    said = bytearray()
    with suppress(OSError):
        connection.settimeout(PATIENCE)
        while not said.endswith(b"\n") and len(said) < LONGEST:
            said += connection.recv(1) or b"\n"
        connection.settimeout(None)
    if is_bearer(said.decode("utf-8", "replace").strip(), token):
        return True
    connection.close()
    return False


def _connected(name: str, address: Address) -> socket.socket:
    try:
        return socket.create_connection((address.host, address.port))
    except OSError as error:
        hint = "is somebody listening there? To be the one who listens, use socket:PORT"
        raise InputError(name, f"cannot connect: {error.strerror}", hint=hint) from error
