"""The command line; thin."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType


def main() -> None:
    """Run the command line."""
    try:
        import gc
        import signal

        # Modules that are interrupted while they are read may say anything, or go on.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, leave)
        # Reading modules and rules makes many objects that stay; to look through them again and
        # again for some to throw away takes a tenth of a small run.
        gc.set_threshold(20_000)
        from horai.cli.app import app

        try:
            app()
        finally:
            if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                signal.signal(signal.SIGINT, leave)
    except KeyboardInterrupt:
        leave()


def leave(number: int = 0, frame: FrameType | None = None) -> None:
    """End at once, in words: nothing has begun yet, or all is done."""
    os.write(2, b"error: interrupted\n")
    os._exit(130)


def spare_pandas() -> None:
    """Keep Arrow from loading pandas, which no command needs and which takes a third of a second.

    Arrow looks for pandas once, at its first array. Predicates may still import it themselves.
    """
    if "pandas" in sys.modules:
        return
    from types import ModuleType
    from warnings import catch_warnings, simplefilter

    import pyarrow as pa

    too_old = ModuleType("pandas")
    vars(too_old)["__version__"] = "0.0.0"
    sys.modules["pandas"] = too_old
    try:
        with catch_warnings():
            simplefilter("ignore")
            pa.array([0])
    finally:
        del sys.modules["pandas"]


__all__ = ["leave", "main"]
