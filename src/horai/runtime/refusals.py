"""Why something that was asked for cannot be had: places, parts, addresses; what to do instead."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from horai.errors import UsageError
from horai.io.secrets import FILE, is_loopback, secret
from horai.io.shown import redacted
from horai.settings import nearest


class Refused(UsageError):
    """A place that cannot be read or written, a part that is not there; it gives no secret away."""

    def __init__(self, problem: str, hint: str | None) -> None:
        super().__init__(redacted(problem), hint)


def unknown(what: str, name: str, known: Iterable[str], all_of_them: str) -> Refused:
    """Somebody names a kind of source or sink that is not there."""
    near = nearest(name.partition(":")[0], known)
    return Refused(f"there is no {what} {name!r}", f"{near + ' ' if near else ''}use {all_of_them}")


def token_of(variable: str, file: Path | None) -> str | None:
    """The token of a file, or else of the environment; None if there is none."""
    return secret(variable, {variable + FILE: str(file)} if file else os.environ)


def demand_token(what: str, address: str, token: str | None, variable: str, option: str) -> None:
    """Raise if others can reach an address and need no token."""
    if token is None and not is_loopback(address):
        hint = f"set {variable}, or name a file: {option}"
        raise UsageError(f"{what} at {address} can be read by others: a token is needed", hint)


def cannot_listen(address: str, port: int, error: Exception) -> UsageError:
    """Why nobody can listen there."""
    problem = f"port {port} of {address} cannot be listened at: {error}"
    return UsageError(problem, "choose another port")
