"""Files that appear whole or not at all, whoever is stopped while writing them."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

_BESIDE = re.compile(r"\..+\.[0-9a-f]{32}")


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """Write a file beside its place, and put it there when all of it is on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.parent / f".{path.name}.{uuid.uuid4().hex}"
    try:
        with beside.open("wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes) -> None:
    """The same with what is there already."""
    with writing(path) as out:
        out.write(content)


def clear(folder: Path) -> None:
    """Remove what was being written when somebody was killed; nobody else may write there now."""
    remove([path for path in folder.glob(".*") if _BESIDE.fullmatch(path.name)])


def remove(paths: list[Path]) -> None:
    """Remove files, whether they are still there or not."""
    for path in paths:
        path.unlink(missing_ok=True)
