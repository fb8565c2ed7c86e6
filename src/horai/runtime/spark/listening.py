"""The listener of Spark for a stream: how many rows came in, and on what time is spent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Progress:
    """A micro-batch as Spark saw it; `seconds` are those of its phases.

    `triggerExecution` is all of it, `addBatch` what was done with the rows: the step itself.
    """

    batch: int
    rows: int
    seconds: dict[str, float] = field(default_factory=dict)


def listen(spark: SparkSession, query: str, tell: Callable[[Progress], None]) -> Callable[[], None]:
    """Be told of every micro-batch of a query; what comes back ends it."""
    from pyspark.sql.streaming.listener import StreamingQueryListener

    class Listener(StreamingQueryListener):
        """Takes in progress, and leaves the rest."""

        def onQueryStarted(self, event: Any) -> None:
            """Nothing has happened yet."""

        def onQueryProgress(self, event: Any) -> None:
            """A micro-batch is over."""
            progress = event.progress
            if str(progress.id) == query:
                seconds = {name: ms / 1000 for name, ms in progress.durationMs.items()}
                tell(Progress(progress.batchId, progress.numInputRows, seconds))

        def onQueryIdle(self, event: Any) -> None:
            """Nothing has come."""

        def onQueryTerminated(self, event: Any) -> None:
            """It is over."""

    listener = Listener()
    spark.streams.addListener(listener)
    return lambda: spark.streams.removeListener(listener)
