"""A checkpoint is held by one stream at a time: two would remove each other's files.

The lock is one of the operating system, so that it is gone with who held it, however that ended.
"""

from __future__ import annotations

import fcntl
import os
import socket
from pathlib import Path

from horai.spark.refusals import Refused

LOCK = "lock"


class Held:
    """A folder that is ours until it is released."""

    def __init__(self, folder: Path) -> None:
        path = folder / LOCK
        self._file = path.open("a+", encoding="utf-8")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.seek(0)
            holder = self._file.read().strip()
            self._file.close()
            hint = "stop that stream first, or begin a new one in another folder"
            problem = f"{folder} is the checkpoint of a stream that runs"
            raise Refused(f"{problem}: {holder}" if holder else problem, hint) from None
        except OSError:
            return  # a file system without locks: whoever uses it has to take care
        self._file.truncate(0)
        self._file.write(f"process {os.getpid()} on {socket.gethostname()}")
        self._file.flush()

    def release(self) -> None:
        """Others may have it."""
        self._file.close()
