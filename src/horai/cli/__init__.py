"""The command line: one file for each command, and what they share. Thin."""

from __future__ import annotations

# Nothing more is imported here: before `main` has begun, nobody takes an interrupt.
from horai.cli.interrupt import leave


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


__all__ = ["main"]
