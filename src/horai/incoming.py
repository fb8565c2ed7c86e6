"""What came in a micro-batch of a stream, on its way to buckets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from horai.ahead import positions_within, sending
from horai.io import InputError
from horai.io.pieces import PIECE_BYTES, Piece, pieces_of
from horai.spark import framing, rawframes
from horai.spark.batch import patient_reader, sender
from horai.spark.moving import FolderGrid, Moved
from horai.spark.rawframes import Take
from horai.spark.source_kafka import KafkaSource
from horai.spark.sources import Source
from horai.spark.steps import Steps
from horai.spark.tracks import TrackTask
from horai.spark_jobs import Job

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

LEAST_BYTES = 1 << 22  # of a file, that one worker reads


def incoming(
    grid: FolderGrid,
    frame: DataFrame,
    source: Source,
    job: Job,
    steps: Steps[Moved],
    limit: int | None = None,
) -> Moved:
    """The rows of a micro-batch: items, or positions if that is what the stream reads.

    Rows that name a time after the limit are not used.
    """
    if steps.front is not None:
        within = None if limit is None else positions_within(limit)
        return _positions(grid, frame, source, steps.front.task, Take(job.strict, within))
    send, options, format = sender(steps.task), job.options, source.format
    send = send if limit is None else sending(send, limit)
    if source.layout == "columns":
        return grid.frame(*framing.columns(frame, send, options))
    if source.layout == "lines":
        return grid.frame(*framing.lines(frame, send, options, format))
    if isinstance(source, KafkaSource):
        return grid.frame(*framing.messages(frame, send, options, format, source.topic))
    files = _files(frame)
    size = _piece_bytes(files, grid.parallel)
    pieces = [piece for file in files for piece in _pieces(file, format, size)]
    return grid.read(len(pieces), patient_reader(send, pieces, options, format))


def _positions(
    grid: FolderGrid, frame: DataFrame, source: Source, task: TrackTask, take: Take
) -> Moved:
    if source.layout == "columns":
        return grid.frame(*rawframes.columns(frame, task, take))
    if source.layout == "lines":
        return grid.frame(*rawframes.lines(frame, task, take))
    if isinstance(source, KafkaSource):
        return grid.frame(*rawframes.messages(frame, task, take, source.topic))
    files = _files(frame)
    return grid.read(len(files), rawframes.files(files, task, take, source.format))


def _files(frame: DataFrame) -> list[str]:
    return sorted(_path(row["path"]) for row in frame.collect())


def _path(uri: str) -> str:
    """The path of a file as Spark names it: with a scheme, and nothing in it is quoted."""
    return re.sub(r"^file:/+", "/", uri)


def _piece_bytes(files: Sequence[str], parallel: int) -> int:
    """How large pieces are so that all who read get about the same."""
    paths = [Path(file) for file in files]
    share = sum(path.stat().st_size for path in paths if path.is_file()) // parallel
    return max(LEAST_BYTES, min(PIECE_BYTES, share))


def _pieces(file: str, format: Any, size: int) -> list[Piece]:
    try:
        return pieces_of(file, format, size)
    except (InputError, OSError):
        return [Piece(file, None)]  # who reads it will say what is wrong
