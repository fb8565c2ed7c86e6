"""Data frames in, data frames out: `horai.frame(df).recognise(rules)`.

The answer comes in the library that the items came in: pandas, Polars, Arrow, DuckDB or Spark.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any, Literal

import pyarrow as pa

from horai.errors import UsageError, counted
from horai.result import Result
from horai.rules import Rules, load

Library = Literal["pandas", "polars", "arrow", "duckdb", "spark"]
_PACKAGES: dict[str, Library] = {
    "pandas": "pandas",
    "polars": "polars",
    "pyarrow": "arrow",
    "duckdb": "duckdb",
    "_duckdb": "duckdb",
    "pyspark": "spark",
}


class Frame:
    """A data frame of items, ready for rules."""

    def __init__(self, data: Any, library: Library) -> None:
        self.data, self.library = data, library

    def run(self, rules: Rules | str | os.PathLike[str], **settings: Any) -> Result:
        """The whole result of a run, with everything that can be asked about it.

        Rules are loaded or the name of their file; settings are those of `Rules.run`.
        """
        loaded = rules if isinstance(rules, Rules) else load(rules)
        if self.library == "spark":
            settings = {**settings, "engine": "spark"}
        return loaded.run(self.data, **settings)

    def recognise(self, rules: Rules | str | os.PathLike[str], **settings: Any) -> Any:
        """The rows of the answer as a data frame of the same library.

        Columns are those of `Result.to_arrow`. A warning tells of rows that were not used. On Spark
        rows stay where they are, and have the columns kind, name, args, value, start, end and time.
        """
        if self.library != "spark":
            result = self.run(rules, **settings)
            if result.dead_letters:
                unused, first = len(result.dead_letters), result.dead_letters[0]
                told = f"{counted(unused, 'row')} of the frame not used; the first: {first.reason}"
                warnings.warn(f"{told}. `run` gives all as dead_letters", stacklevel=2)
            if self.library == "arrow":
                return result.to_arrow()
            return getattr(result, f"to_{self.library}")()
        loaded = rules if isinstance(rules, Rules) else load(rules)
        return loaded.spark(self.data, **settings).rows

    def __repr__(self) -> str:
        return f"<Frame of {self.library}>"


def frame(
    data: Any,
    *,
    event: str | None = None,
    time: str = "time",
    arguments: Sequence[str] | None = None,
) -> Frame:
    """A data frame of items: pandas, Polars, Arrow, DuckDB or Spark.

    Columns are those of a CSV file of items: `type`, `time` and the arguments. A frame whose rows
    are all of one event has no column for it: `event` is its name, `time` the column of times and
    `arguments` are the columns of the arguments, in order.

    >>> import pandas as pd, horai
    >>> rules = horai.loads("initiatedAt(fast(V)=true, T) :- happensAt(speed(V, S), T), S > 20.")
    >>> seen = pd.DataFrame({"when": [3, 5], "knots": [8, 25], "ship": ["a", "b"]})
    >>> found = horai.frame(seen, event="speed", time="when", arguments=["ship", "knots"])
    >>> found.recognise(rules)[["name", "args", "value", "start"]]
       name  args value  start
    0  fast  (b,)  true      6
    """
    library = _library_of(data)
    if event is None:
        if arguments is not None or time != "time":
            problem = "time and arguments name columns of a frame that is all of one event"
            raise UsageError(problem, "name the event, too: event=...; or rename the columns")
        return Frame(data, library)
    if arguments is None:
        raise UsageError(f"which columns are the arguments of {event}?", "name them: arguments=")
    wanted = [time, *arguments]
    known = list(data.columns if library != "arrow" else data.column_names)
    absent = [name for name in wanted if name not in known]
    if absent:
        hint = f"it has {', '.join(map(str, known))}"
        raise UsageError(f"the frame has no column {', '.join(absent)}", hint)
    names = ["time", *(f"a{place}" for place in range(len(arguments)))]
    return Frame(_renamed(data, library, wanted, names, event), library)


def _library_of(data: object) -> Library:
    package = type(data).__module__.partition(".")[0]
    found = _PACKAGES.get(package)
    if found is not None and (hasattr(data, "columns") or hasattr(data, "column_names")):
        return found
    hint = "give a data frame of pandas, Polars, Arrow, DuckDB or Spark; others go to Rules.run"
    raise UsageError(f"{type(data).__name__} is no data frame", hint)


def _renamed(data: Any, library: Library, old: list[str], new: list[str], event: str) -> Any:
    """The columns that are wanted under the names that readers know, with one for the type."""
    if library == "spark":
        from horai.runtime.spark.frames import all_of_one_event

        return all_of_one_event(data, dict(zip(old, new, strict=True)), event)
    if library == "pandas":
        chosen = data[old].set_axis(new, axis=1)
        chosen.insert(0, "type", event)
        return chosen
    table = data if library == "arrow" else pa.table(data)
    chosen = table.select(old).rename_columns(new)
    return chosen.add_column(0, "type", pa.repeat(pa.scalar(event), len(chosen)))
