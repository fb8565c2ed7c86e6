"""`horai lsp`: the language server, on standard input and output."""

from __future__ import annotations

from horai.cli.command import takes
from horai.errors import UsageError


@takes()
def command() -> None:
    try:
        from horai.tools.language_server import SERVER
    except ModuleNotFoundError as missing:
        if missing.name not in ("pygls", "lsprotocol"):
            raise
        raise UsageError("editors need pygls", 'pip install "horai[editor]"') from None
    SERVER.start_io()
