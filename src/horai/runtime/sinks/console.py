"""Answers as lines on standard output, for trying."""

from __future__ import annotations

import sys
from typing import Any

from horai.runtime.sinks.protocol import Changes, Sink, as_dicts


class ConsoleSink(Sink):
    """A line for every change. A step that is done again is shown again."""

    form = "console"

    def __init__(self, place: str = "") -> None:
        """There is one standard output."""

    def write(self, changes: Changes) -> None:
        """Show the rows of a step."""
        for row in as_dicts(changes.table()) if changes.rows else ():
            sys.stdout.write(line(row) + "\n")
        sys.stdout.flush()


def line(row: dict[str, Any]) -> str:
    """A change in a line.

    >>> line({"op": "+", "query": 9, "kind": "fluent", "name": "on", "args": ["a"], "value": "true",
    ... "start": 4, "end": None})
    '9 + on(a)=true from 4 on'
    """
    args = f"({', '.join(row['args'])})" if row["args"] else ""
    head = f"{row['query']} {row['op']} {row['name']}{args}"
    if row["kind"] == "event":
        return f"{head} at {row['time']}"
    until = "on" if row["end"] is None else f"until {row['end']}"
    return f"{head}={row['value']} from {row['start']} {until}"
