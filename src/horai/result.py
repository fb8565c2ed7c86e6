"""What a run found: intervals, events, changes, and what could not be used."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from horai import io
from horai.queries import Bindings, Known, ask, holds_at, intervals_of
from horai.rows import Answers, answers_named
from horai.session import Answer
from horai.words import counted

if TYPE_CHECKING:
    import pandas as pd

    from horai.rules import Rules

_SHOWN = 20


class Result:
    """The outcome of a run.

    `answers` has one `Answer` per query time; `dead_letters` the rows that were not used.
    """

    def __init__(
        self,
        rules: Rules,
        answers: list[Answer],
        dead_letters: list[io.DeadLetter],
        form: Answers = "final",
        unit: io.Unit | None = None,
    ) -> None:
        self.rules = rules
        self.answers = answers
        self.dead_letters = dead_letters
        self.form: Answers = form
        self.unit = unit

    def rows(self, answers: str | None = None) -> list[io.AnswerRow]:
        """The rows of output: `final`, `windows` (per query time) or `changelog`."""
        form = self.form if answers is None else answers_named(answers)
        if form == "final":
            return self.answers[-1].everything if self.answers else []
        if form == "windows":
            return [row for answer in self.answers for row in answer.rows]
        return self.changelog

    @property
    def changelog(self) -> list[io.AnswerRow]:
        """All changes in the order of query times."""
        return [row for answer in self.answers for row in answer.changes]

    @cached_property
    def spans(self) -> pa.Table:
        """All maximal intervals; `args` and `value` are source text, an open end is null."""
        rows = [row for row in self.rows("final") if row.kind == "fluent"]
        return io.answer_table(rows).select(["name", "args", "value", "start", "end"])

    @cached_property
    def events(self) -> pa.Table:
        """All output events of the run."""
        rows = [row for row in self.rows("final") if row.kind == "event"]
        return io.answer_table(rows).select(["name", "args", "time"])

    def to_pandas(self, answers: str | None = None) -> pd.DataFrame:
        """The rows as a data frame: arguments are tuples, missing times are `<NA>`."""
        import pandas as pd

        rows = self.rows(answers)
        frame = pd.DataFrame([row._asdict() for row in rows], columns=list(io.AnswerRow._fields))
        for column in ("start", "end", "time", "query"):
            frame[column] = frame[column].astype("Int64")
        unused = [c for c in ("query", "op") if frame[c].isna().all()]
        return frame.drop(columns=unused)

    @cached_property
    def _known(self) -> Known:
        if not self.answers:
            return Known(self.rules.entities, {}, {})
        raw = self.answers[-1].raw
        return Known(self.rules.entities, raw.all_spans, raw.all_events)

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
        final = self.rows("final")
        spans = sum(row.kind == "fluent" for row in final)
        counts = [
            counted(spans, "interval"),
            counted(len(final) - spans, "event"),
            counted(len(self.answers), "query time"),
            counted(len(self.dead_letters), "dead letter"),
        ]
        return f"<Result: {', '.join(counts)}>"

    def _repr_html_(self) -> str:
        rows = self.rows("final")
        frame = self.to_pandas("final").head(_SHOWN)
        more = f"<p>... and {len(rows) - _SHOWN} more</p>" if len(rows) > _SHOWN else ""
        return f"<p>{repr(self)[1:-1]}</p>{frame.to_html(index=False, na_rep='')}{more}"
