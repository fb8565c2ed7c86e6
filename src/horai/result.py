"""What a run found: intervals, events, changes, and what could not be used."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

from horai import io
from horai.engine.answer import events_of, spans_of
from horai.errors import UsageError, counted
from horai.lang.core.diagnostics import Diagnostic
from horai.runtime.answers import Answers, answer_table, answers_named
from horai.runtime.metrics import Metrics, RunMetrics
from horai.runtime.queries import Bindings, Queryable, ask, holds_at, intervals_of
from horai.session import Answer

if TYPE_CHECKING:
    import pandas as pd

    from horai.rules import Rules

_SHOWN = 20
K = TypeVar("K")
V = TypeVar("V")


class Result:
    """The outcome of a run.

    `answers` has one `Answer` per query time; `dead_letters` the rows that were not used;
    `warnings` tells of conditions that had no value, and of input that was of no use at all.
    """

    def __init__(
        self,
        rules: Rules,
        answers: list[Answer],
        dead_letters: list[io.DeadLetter],
        form: Answers = "final",
        unit: io.Unit | None = None,
        measure: Callable[[], Metrics] = lambda: Metrics(RunMetrics()),
        warnings: Iterable[Diagnostic] = (),
    ) -> None:
        self.rules = rules
        self.answers = answers
        self.dead_letters = dead_letters
        self.form: Answers = form
        self.unit = unit
        self._measure = measure
        self.warnings = list(warnings)

    def table(self, answers: str | None = None) -> io.AnswerTable:
        """The rows of output as columns: `final`, `windows` (per query time) or `changelog`."""
        form = self.form if answers is None else answers_named(answers)
        listed = self.answers[-1:] if form == "final" else self.answers
        if not listed:
            return io.AnswerTable()
        steps = [step for answer in listed for step in answer.steps(form)]
        return answer_table(steps, listed[0].raw.symbols, listed[0].wanted)

    def rows(self, answers: str | None = None) -> list[io.AnswerRow]:
        """The rows of output: `final`, `windows` (per query time) or `changelog`."""
        return self.table(answers).rows()

    @cached_property
    def metrics(self) -> Metrics:
        """How late items were and what became of them, at each query time and in all."""
        return self._measure()

    @property
    def changelog(self) -> list[io.AnswerRow]:
        """All changes in the order of query times."""
        return self.rows("changelog")

    @cached_property
    def spans(self) -> pa.Table:
        """All maximal intervals; `args` and `value` are source text, an open end is null."""
        table = io.answer_table(self._final.only("fluent"))
        return table.select(["name", "args", "value", "start", "end"])

    @cached_property
    def events(self) -> pa.Table:
        """All output events of the run."""
        return io.answer_table(self._final.only("event")).select(["name", "args", "time"])

    @cached_property
    def _final(self) -> io.AnswerTable:
        return self.table("final")

    def count(self, kind: io.Kind) -> int:
        """How many intervals (`fluent`) or events the run found."""
        return self._final.count(kind)

    def to_pandas(self, answers: str | None = None) -> pd.DataFrame:
        """The rows as a data frame: arguments are tuples, missing times are `<NA>`."""
        import pandas as pd

        columns = self.table(answers).lists()
        frame = pd.DataFrame(columns)
        for column in ("start", "end", "time", "query"):
            frame[column] = frame[column].astype("Int64")
        unused = [c for c in ("query", "op") if frame[c].isna().all()]
        return frame.drop(columns=unused)

    @cached_property
    def _known(self) -> Queryable:
        if not self.answers:
            return Queryable(self.rules.entities, {}, {})
        last = self.answers[-1]
        raw, parts = last.raw, [last.steps("final")[0].part]
        if raw.has("input"):
            parts.append(raw.part("input"))
        spans = [spans_of(part, raw.symbols) for part in parts]
        events = [events_of(part, raw.symbols) for part in parts]
        return Queryable(self.rules.entities, _merged(spans), _merged(events))

    def holds_at(self, pair: str, time: int) -> bool:
        """Does `F=V` hold at a time-point? With variables: does any instance of it?"""
        return holds_at(self._known, pair, time)

    def holds_for(self, pair: str) -> list[tuple[int, int | float]]:
        """The maximal intervals of `F=V`; an open one ends at `inf`."""
        return intervals_of(self._known, pair)

    def query(self, text: str) -> list[Bindings]:
        """All answers to `holdsAt(F,16)`, `holdsFor(F,I)` or `happensAt(E,T)`."""
        return ask(self._known, text)

    def __repr__(self) -> str:
        counts = [
            counted(len(self.answers), "query time"),
            counted(len(self.dead_letters), "dead letter"),
        ]
        with suppress(UsageError):  # of a session that did not keep all it found
            found = [
                counted(self.count("fluent"), "interval"),
                counted(self.count("event"), "event"),
            ]
            counts = [*found, *counts]
        return f"<Result: {', '.join(counts)}>"

    def _repr_html_(self) -> str:
        whole = self.to_pandas()
        frame, rows = whole.head(_SHOWN), len(whole)
        more = f"<p>... and {rows - _SHOWN} more</p>" if rows > _SHOWN else ""
        return f"<p>{repr(self)[1:-1]}</p>{frame.to_html(index=False, na_rep='')}{more}"


def _merged(parts: list[dict[K, list[V]]]) -> dict[K, list[V]]:
    """Rows of several parts. An event that rules derive may be an item, too."""
    found: dict[K, list[V]] = {}
    for part in parts:
        for key, rows in part.items():
            found.setdefault(key, []).extend(rows)
    return found
