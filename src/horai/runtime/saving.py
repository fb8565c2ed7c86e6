"""Saved sessions as bytes: a line that says what it is, a checksum of all that follows, a line of
JSON, and what the engine says.

They are the same for all languages and engines. All of it is data only, whatever engine the bytes
name: nothing in them can run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from horai.errors import UsageError
from horai.io import DeadLetter

T = TypeVar("T")
_MARK = b"horai session 3\n"


class Saved(NamedTuple):
    """What a session needs to go on, in this process or in another.

    `sources` are the rules of each language, their names and texts. `predicates` are only names:
    functions have to be given again. `settings` are those of `Rules.session`, `query` is the last
    query time, `taken` the number of rows so far, and `counts` what metrics go on from. `offsets`
    say from where on topics are read.
    """

    sources: dict[str, list[tuple[str, str]]]
    predicates: list[str]
    settings: dict[str, Any]
    query: int | None
    taken: int
    dead_letters: list[DeadLetter]
    counts: dict[str, Any]
    offsets: dict[str, int]
    engine: bytes


def to_bytes(saved: Saved) -> bytes:
    plain = saved._asdict()
    del plain["engine"]
    rest = json.dumps(plain).encode() + b"\n" + saved.engine
    return _MARK + _checksum(rest) + b"\n" + rest


def from_bytes(data: object) -> Saved:
    """The session that was saved, or a kind error."""
    if not isinstance(data, bytes | bytearray | memoryview):
        hint = "give the bytes that session.save() returned"
        raise UsageError(f"this is no saved session, but of type {type(data).__name__}", hint)
    data = bytes(data)
    if not data.startswith(_MARK):
        hint = "give what session.save() returned, from the same version of Horai"
        raise UsageError("this is no saved session", hint)
    checksum, _, rest = data[len(_MARK) :].partition(b"\n")
    if checksum != _checksum(rest):
        raise _damaged()
    header, _, engine = rest.partition(b"\n")
    with whole():
        plain = json.loads(header)
        letters = [DeadLetter(*letter) for letter in plain.pop("dead_letters")]
        if type(plain["settings"]) is not dict or type(plain["sources"]) is not dict:
            raise TypeError("this is no header of a session")
        return Saved(**plain, dead_letters=letters, engine=engine)


def read_saved(path: Path, load: Callable[[bytes], T]) -> T:
    """The session in a file; what is wrong with it is told with the name of the file."""
    try:
        return load(path.read_bytes())
    except UsageError as error:
        raise UsageError(f"{path}: {error.problem}", error.hint) from error


@contextmanager
def whole() -> Iterator[None]:
    """Whoever takes up what was saved and stumbles has got something else."""
    try:
        yield
    except UsageError:
        raise
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
        raise _damaged() from error


def _checksum(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()


def _damaged() -> UsageError:
    hint = "give exactly what session.save() returned"
    return UsageError("this saved session is damaged", hint)
