"""Who may ask what listens here: this machine without a word, others with a token."""

from __future__ import annotations

import os
from pathlib import Path

from horai.errors import UsageError
from horai.io.secrets import FILE, is_loopback, secret


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
