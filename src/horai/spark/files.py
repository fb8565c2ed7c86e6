"""Files that appear whole or not at all, whoever is stopped while writing them."""

from __future__ import annotations

import os
import uuid
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write a file beside its place, and put it there when all of it is on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.parent / f".{path.name}.{uuid.uuid4().hex}"
    try:
        with beside.open("wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def remove(paths: list[Path]) -> None:
    """Remove files, whether they are still there or not."""
    for path in paths:
        path.unlink(missing_ok=True)
