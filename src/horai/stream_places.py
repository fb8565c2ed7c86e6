"""Sources, sinks, folders and times of streams, as people name them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from horai.errors import UsageError
from horai.inputs import checked_format
from horai.parameters import text
from horai.spark.sinks import FORMS, Sink, sink_of
from horai.spark.sources import FrameSource, Source, source_of

NOW = "available-now"
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def seconds_of(given: object) -> float:
    """A time that people name.

    >>> seconds_of("5s"), seconds_of("500ms"), seconds_of("2m")
    (5.0, 0.5, 120.0)
    """
    found = _SPAN.fullmatch(text(given, "a time", "for example 5s").strip())
    if found is None:
        raise UsageError(f"{given!r} is no length of time", f"use 500ms, 5s, 2m or {NOW}")
    return float(found[1]) * _SECONDS[found[2]]


def sinks_of(given: object) -> list[Sink]:
    """The sinks that were asked for, one or several."""
    listed: list[Any] = list(given) if isinstance(given, list | tuple) else [given]
    if not listed:
        raise UsageError("no sink given", f"name where answers go: {FORMS}")
    for place in listed:
        if not isinstance(place, str) and not hasattr(place, "write"):
            problem = f"{type(place).__name__} is no sink of a stream"
            raise UsageError(problem, f"use {FORMS}, or an object like horai.spark.sinks.Sink")
    return [sink_of(place) if isinstance(place, str) else place for place in listed]


def source_from(given: object, format: Any, most: int | None) -> Source:
    """The source that was asked for: a name, a streaming data frame, or one of somebody else."""
    if getattr(given, "isStreaming", True) is False:  # Spark raises when asked for writeStream
        hint = "make it with spark.readStream, or run rules over it with rules.spark"
        raise UsageError("this data frame is no stream: all its rows are there", hint)
    if hasattr(given, "writeStream"):
        return FrameSource(given)  # type: ignore[arg-type]
    if isinstance(given, str):
        return source_of(given, checked_format(format), most)
    if hasattr(given, "open") and hasattr(given, "layout"):
        return given  # type: ignore[return-value]
    problem = f"{type(given).__name__} is no source of a stream"
    raise UsageError(problem, "give a folder, the name of a source or a streaming data frame")


def check_apart(source: Source, sinks: list[Sink], checkpoint: Path) -> None:
    """Nobody may write where another reads or writes: each takes what is there for its own."""
    own = [("the source", _place(source)), ("the checkpoint", str(checkpoint.resolve()))]
    seen: dict[str, str] = {}
    for what, place in [*own, *(("a sink", _place(sink)) for sink in sinks)]:
        if place in seen:
            problem = f"{place} is named twice: as {seen[place]} and as {what}"
            raise UsageError(problem, "choose a place of its own for each")
        if place is not None:
            seen[place] = what


def _place(given: object) -> str | None:
    """Where a source reads or a sink writes, if it can be told."""
    topic, folder = (getattr(given, name, None) for name in ("topic", "folder"))
    if topic is not None:
        return str(topic.url)
    return None if folder is None else str(Path(folder).resolve())


def folder_of(given: object) -> Path:
    """The folder of a checkpoint."""
    if not isinstance(given, str | os.PathLike) or not os.fspath(given):
        raise UsageError("a stream needs a checkpoint", "name a folder where it keeps its state")
    place = str(given).removeprefix("file://")
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", place):
        hint = "state is kept in plain files: name a folder that all workers see, such as an NFS"
        raise UsageError(f"the checkpoint {given} is no folder", hint)
    return Path(place)
