"""Large arrays that reuse memory instead of asking the system for new pages each time."""

from __future__ import annotations

import ctypes
import sys

TRIM_THRESHOLD, MMAP_MAX = -1, -4  # as in malloc.h
MOST = 2**31 - 1


def keep_memory() -> bool:
    """Let this process keep the memory of arrays it has done with; False where nobody can say so.

    The C library maps every large array anew and gives it back at once, and the system clears each
    page again: a third of the time of ten million events. It is a setting of the whole process, so
    programs choose it, never the library on its own.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return bool(mallopt and mallopt(MMAP_MAX, 0) and mallopt(TRIM_THRESHOLD, MOST))
