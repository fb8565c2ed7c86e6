"""The command line; thin."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    from horai.cli.app import app

    app()


__all__ = ["main"]
