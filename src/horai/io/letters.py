"""Input that cannot be used: dead letters (one bad row each) and InputError (a whole file)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from horai.io.shown import csv_line, json_text, printable, redacted, shortened
from horai.io.terms import text_cell

CODES: dict[str, str] = {
    "field-count": "the row has too few or too many fields for its type",
    "bad-time": "a time is not a whole number, or not between -2**61 and 2**61",
    "unit": "an ISO time, but nobody said how long a time-point is",
    "end-before-start": "the interval ends at or before its start, so it is empty",
    "unknown-type": "no input event or fluent has this name",
    "derived-type": "the rules derive this; it is not an input",
    "arity": "too few or too many arguments for this type",
    "form": "a point where an interval is expected, or the other way round",
    "value": "an event with a value; only fluents have values",
    "op": "the operation is neither insert nor retract",
    "missing-column": "a needed column or key is not there",
    "null": "a needed value is empty",
    "bad-number": "a number that is infinite or not a number",
    "bad-term": "a list, an object or something else that is no atom and no number",
    "quote": "a quoted field that does not end on its line",
    "encoding": "bytes that are not UTF-8",
    "json": "not a JSON object on one line",
    "unreadable": "a whole file of a stream that cannot be read",
    "too-long": "a line of more characters than anybody should send",
    "ahead": "names a time further ahead of the clock than the stream allows",
    "too-late": "arrived after its window had passed",
    "partly-too-late": "began before its window: only the part inside was used or taken back",
    "unknown-retraction": "takes back something that was never there",
    "outside-run": "lies before the start or after the end of the run",
}
"""Every code a dead letter can have. The last four are given by engines, not by readers."""

UNREADABLE = "unreadable"
"""The code of files that one who reads them at once would be stopped by."""

AHEAD = "ahead"
"""The code of rows that only streams look at the clock for."""

OF_ENGINES = frozenset(["too-late", "partly-too-late", "unknown-retraction", "outside-run"])
"""The codes of rows that could be read."""


class DeadLetter(NamedTuple):
    """A row that was not used, where it stood, and why."""

    file: str
    line: int
    text: str
    reason: str
    code: str


class InputError(Exception):
    """Input that cannot be read at all, or a bad row when reading strictly."""

    def __init__(
        self, file: str, reason: str, *, line: int | None = None, text: str = "", hint: str = ""
    ) -> None:
        file, reason = redacted(file), redacted(reason)
        self.file, self.line, self.reason, self.text, self.hint = file, line, reason, text, hint
        where = file if line is None else f"{file}:{line}"
        shown = f"\n  row:  {shortened(text)}" if text else ""
        advice = f"\n  hint: {hint}" if hint else ""
        super().__init__(f"{where}: {reason}{shown}{advice}")

    def at(self, line: int | None) -> InputError:
        """The same error, on another line."""
        return InputError(self.file, self.reason, line=line, text=self.text, hint=self.hint)

    @classmethod
    def from_letter(cls, letter: DeadLetter) -> InputError:
        return cls(
            letter.file,
            letter.reason,
            line=letter.line,
            text=letter.text,
            hint="correct the row, or read without strict to set bad rows aside as dead letters",
        )


class BadRow(Exception):
    """Why a row, or a time in it, cannot be used. Readers turn it into a dead letter."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code, self.reason = code, reason


def write_dead_letters(path: str | os.PathLike[str], letters: Iterable[DeadLetter]) -> None:
    """Write letters as CSV when the name ends in `.csv`, as JSON lines otherwise.

    JSON has the rows as they were. CSV is for people: what would steer a terminal is spelled out.
    """
    with Path(path).open("w", encoding="utf-8", newline="") as out:
        if Path(path).suffix.lower() == ".csv":
            out.write(csv_line(DeadLetter._fields) + "\n")
            for letter in letters:
                cells = (x if isinstance(x, int) else printable(text_cell(x)) for x in letter)
                out.write(csv_line(cells) + "\n")
        else:
            for letter in letters:
                out.write(json_text(letter._asdict()) + "\n")
