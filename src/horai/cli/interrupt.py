"""What an interrupt does before a command has begun, and when all is done."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # the module of this name takes its time
if TYPE_CHECKING:
    from types import FrameType


def leave(number: int = 0, frame: FrameType | None = None) -> None:
    """End at once, in words."""
    os.write(2, b"error: interrupted\n")
    os._exit(130)
