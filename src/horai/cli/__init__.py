"""The command line; thin."""

from __future__ import annotations

import gc
import sys
from types import ModuleType
from warnings import catch_warnings, simplefilter


def main() -> None:
    """Run the command line."""
    # Reading modules and rules makes many objects that stay; to look through them again and again
    # for some to throw away takes a tenth of a small run.
    gc.set_threshold(20_000)
    spare_pandas()
    from horai.cli.app import app

    app()


def spare_pandas() -> None:
    """Keep Arrow from loading pandas, which no command needs and which takes a third of a second.

    Arrow looks for pandas once, at its first array. Predicates may still import it themselves.
    """
    if "pandas" in sys.modules:
        return
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


__all__ = ["main"]
