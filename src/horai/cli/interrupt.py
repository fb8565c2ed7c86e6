"""How a command ends that is interrupted before it has begun, or when all is done."""

from __future__ import annotations

import os

# Nothing more is imported here: before `main` has begun, nobody takes an interrupt.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType


def leave(number: int = 0, frame: FrameType | None = None) -> None:
    """End at once, in words."""
    os.write(2, b"error: interrupted\n")
    os._exit(130)
