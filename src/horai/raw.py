"""Raw positions as the input of runs: what people may give, checked."""

from __future__ import annotations

from horai.errors import UsageError
from horai.inputs import checked_clock
from horai.io import Format
from horai.signals import Feed, Layout, Pipeline, SettingsError
from horai.spark.front import check_parts
from horai.spark.refusals import Refused


def feed_of(given: object, unit: str | None, time_in: str | None) -> Feed | None:
    """The feed that was asked for, if one was; its time-points are those of the run."""
    if given is None:
        return None
    try:
        check_parts()
        feed = _feed(given, time_in)
    except SettingsError as error:
        raise UsageError(error.problem, error.hint or None) from None
    except Refused as error:
        raise UsageError(error.problem, error.hint) from None
    ours = feed.layout.clock
    for name, theirs, mine in (("unit", unit, ours.unit), ("time-in", time_in, ours.time_in)):
        if theirs is not None and theirs != mine:
            problem = f"positions have the {name} {mine}, the run has {theirs}"
            raise UsageError(problem, f"give both the same {name}, or only positions")
    return feed


def check_format(feed: Feed | None, format: Format | None) -> None:
    """Raise if positions are said to be written as they cannot be."""
    if feed is not None and format == "narrative":
        hint = "use csv, jsonl, parquet or arrow; columns and keys have names"
        raise UsageError("positions cannot be narrative rows", hint)


def _feed(given: object, time_in: str | None) -> Feed:
    if isinstance(given, Feed):
        return given
    if isinstance(given, Pipeline):
        return Feed(given, Layout(checked_clock(given.settings.unit, time_in)))
    hint = "give a horai.signals.Pipeline or a Feed, which also says how positions are written"
    raise UsageError(f"positions cannot be {type(given).__name__}", hint)
