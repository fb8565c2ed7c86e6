"""Whether the machine was compiled from the sources beside it: with others it may crash.

`scripts/build_core.py` leaves a stamp. Installed packages have none, and nothing to compare.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

CORE = Path(__file__).parent
PARTS = (CORE.parent / "machine", CORE.parent / "views")
"""Folders whose files are compiled as one module, which stands beside this file."""
SOURCES = (
    CORE.parent / "numbering.py",
    CORE.parents[1] / "signals" / "loops.py",
    CORE.parents[1] / "plan" / "ec" / "instructions.py",
    *(part for folder in PARTS for part in sorted(folder.glob("*.p*"))),
)
STAMP = CORE / "machine.built"


def digest() -> str:
    """Tells sources apart."""
    found = hashlib.sha256()
    for source in SOURCES:
        found.update(source.read_bytes())
    return found.hexdigest()


def is_outdated() -> bool:
    """Have the sources changed since then? They are read only if one of them is newer."""
    try:
        built = STAMP.stat().st_mtime_ns
        if all(source.stat().st_mtime_ns <= built for source in SOURCES):
            return False
        return STAMP.read_text(encoding="utf-8").split()[0] != digest()
    except OSError:
        return False


_is_outdated = cache(is_outdated)


class NotCompiled(Exception):
    """The machine has to be compiled before it can run."""


class Outdated(Exception):
    """The machine was compiled from other sources."""


def compiled(name: str) -> Any:
    """A compiled module of the engine."""
    if _is_outdated():
        raise Outdated("the compiled engine was compiled from other sources than these")
    try:
        return import_module(f"horai.engine.core.{name}")
    except ImportError as error:
        raise NotCompiled("the compiled engine has not been compiled") from error
