"""Lines over TCP: `tcp:HOST:PORT` is a server to connect to, `socket:PORT` or `socket:HOST:PORT` a
place where others connect to us. Lines come from there, and go there.
"""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from horai.io.letters import InputError
from horai.io.schema import Format
from horai.io.secrets import BEARER, FILE, SOCKET, is_bearer, is_loopback, secret
from horai.io.sources.protocol import (
    LineSink,
    Readable,
    Source,
    Taker,
    Told,
    lines_format,
    read_all,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LOCAL = "127.0.0.1"
PATIENCE = 10.0  # seconds that somebody may take to say the token
LONGEST = 4096  # what may be said for one
_ADDRESS = re.compile(r"(tcp|socket):(?:(.*):)?([0-9]+)")


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


class ServerSource(Source):
    """Lines from a server. With Spark it is for trying: what was sent before a failure is lost with
    it, and whether somebody listens shows when Spark asks.
    """

    form = "tcp:HOST:PORT"
    layout = "lines"
    name = "a server"  # nothing is kept of it, so that it does not matter which

    def __init__(self, url: str, format: Format | None = None, most: int | None = None) -> None:
        self.url, self.format = url, lines_format(url, format)
        address = address_of(url)
        if address is None:
            raise InputError(url, "this is no address of a server", hint=f"use {self.form}")
        self.address = address

    def follow(self, taker: Taker) -> Callable[[], None]:
        """Connect to it, and read until it ends."""
        lines = _lines_of(_connected(self.url, self.address))
        return lambda: read_all(self.url, lines, taker)

    def sink(self, told: Told) -> LineSink:
        """The server gets lines, too."""
        return Connected(self.url, self.address)

    def check(self) -> None:
        """Spark says itself whether it is there."""

    def open(self, spark: SparkSession) -> DataFrame:
        """The lines, as they come."""
        reader = spark.readStream.format("socket")
        return reader.option("host", self.address.host).option("port", self.address.port).load()


class ListeningSource(Source):
    """Lines of all who connect; each says the token first, where there is one."""

    form = "socket:PORT"

    def __init__(self, url: str, format: Format | None = None, most: int | None = None) -> None:
        self.url = url
        address = address_of(url)
        if address is None:
            raise InputError(url, "this names no port", hint=f"use {self.form}")
        self.address = address

    def follow(self, taker: Taker) -> Callable[[], None]:
        """Let others connect; it has no end."""
        server = _listening(self.url, self.address, taker.told)
        return lambda: _welcome_all(server, lambda one: read_all(self.url, _lines_of(one), taker))

    def sink(self, told: Told) -> LineSink:
        """All who connect get lines."""
        return Serving(self.url, self.address, told)


def _welcome_all(server: socket.socket, do: Callable[[socket.socket], None]) -> None:
    """Do something with each who connects and is welcome, side by side."""

    def greet(connection: socket.socket) -> None:
        if _is_welcome(connection):
            do(connection)

    while True:
        connection, _ = server.accept()
        threading.Thread(target=greet, args=(connection,), daemon=True).start()


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
        server = _listening(name, address, told)
        self.clients: list[socket.socket] = []
        threading.Thread(
            target=_welcome_all, args=(server, self.clients.append), daemon=True
        ).start()

    def write(self, text: str) -> None:
        for client in list(self.clients):
            try:
                client.sendall(text.encode())
            except OSError:
                self.clients.remove(client)


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
