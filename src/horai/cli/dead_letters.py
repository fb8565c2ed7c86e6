"""Rows that were not used: to a file, or told on standard error. Nothing is dropped silently."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from horai.cli import console
from horai.io import DeadLetter

_SHOWN = 5


def tell_dead_letters(letters: list[DeadLetter], target: Path | None, quiet: bool) -> None:
    """Say how many letters there are, why, and where they went."""
    if not letters:
        return
    codes = Counter(letter.code for letter in letters)
    reasons = ", ".join(f"{number} {code}" for code, number in sorted(codes.items()))
    where = f"; see {target}" if target is not None else ""
    noun = "row was" if len(letters) == 1 else "rows were"
    console.warning(f"{len(letters)} {noun} not used, or only in part ({reasons}){where}")
    if target is not None or quiet:
        return
    for letter in letters[:_SHOWN]:
        console.say(f"  {letter.file}:{letter.line}: {letter.code}: {letter.reason}")
        console.say(f"    {_shortened(letter.text)}", "dim")
    if len(letters) > _SHOWN:
        console.say(f"  ... and {len(letters) - _SHOWN} more; --dead-letters FILE keeps all")


def _shortened(text: str, width: int = 100) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
