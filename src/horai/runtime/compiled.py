"""The compiled engine behind the seam of engines: what it cannot run is told as a wrong use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from horai.engine.core.built import NotCompiled, Outdated
from horai.engine.core.layout import NotLowered
from horai.engine.core.session import CompiledSession
from horai.errors import UsageError
from horai.lang.ec.syntax import EventDescription

OTHERS = "use the engine reference"


@contextmanager
def told_as_wrong_use() -> Iterator[None]:
    """What cannot be run, in words."""
    try:
        yield
    except NotLowered as error:
        place = "" if error.place is None else f"{error.place}: "
        message = f"{place}the compiled engine has no instructions for {error.reason}"
        raise UsageError(message, OTHERS) from error
    except NotCompiled as error:
        raise UsageError(str(error), f"run `make install`, or {OTHERS}") from error
    except Outdated as error:  # who chose no engine is to hear of it, too
        raise UsageError(str(error), "run `make install`") from error


class CompiledEngine(CompiledSession):
    """A run of the compiled engine."""

    def __init__(self, description: EventDescription, **options: Any) -> None:
        with told_as_wrong_use():
            super().__init__(description, **options)
