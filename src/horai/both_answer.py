"""What a run in two languages knows at a query time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from horai import io
from horai.both_stages import AtomChange
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent
from horai.errors import UsageError
from horai.rows import Answers, Step, in_order, term_column
from horai.session import Answer
from horai.temporal.spans import INF


@dataclass(frozen=True)
class Spans:
    """Atoms of one predicate with the spans in which they hold, as an answer shows them."""

    name: str
    fluent: Fluent
    added: bool | None = None


class TogetherAnswer:
    """What a run knows at a query time, in both languages."""

    def __init__(
        self,
        description: Answer,
        parts: dict[Answers, list[Spans]],
        symbols: Symbols,
    ) -> None:
        self.description = description
        self.parts = parts
        self.symbols = symbols

    @property
    def query(self) -> int:
        """The query time."""
        return self.description.query

    def blocks(self, form: Answers) -> list[io.AnswerBlock]:
        """The atoms of a form of answer."""
        if form not in self.parts:
            hint = f"run with answers={form!r}"
            raise UsageError(f"the run did not keep the {form} answer at {self.query}", hint)
        query = None if form == "final" else self.query
        return [_block(one, query, self.symbols) for one in self.parts[form]]

    def steps(self, form: Answers) -> list[Step]:
        """The events and fluents of a form of answer."""
        return self.description.steps(form)

    @property
    def revised(self) -> int | None:
        """How much of the answer before was taken back; None if changes are not kept."""
        if "changelog" not in self.parts:
            return None
        gone = sum(len(one.fluent.spans) for one in self.parts["changelog"] if not one.added)
        return self.description.revised + gone

    def table(self, form: Answers) -> io.AnswerTable:
        """The rows of a form of answer as columns."""
        return in_order([*self.description.table(form).blocks, *self.blocks(form)])

    def rows(self, form: Answers = "windows") -> list[io.AnswerRow]:
        """The rows of a form of answer."""
        return self.table(form).rows()

    def __repr__(self) -> str:
        return f"<TogetherAnswer at {self.query}>"


def parts_of(
    atoms: Sequence[AtomChange], border: int, form: Answers | None
) -> dict[Answers, list[Spans]]:
    """What each form of answer shows of some atoms; `form` is the only one wanted, None for all."""
    parts: dict[Answers, list[Spans]] = {"final": [Spans(a.name, a.fluent) for a in atoms]}
    if form in (None, "windows"):
        parts["windows"] = [Spans(a.name, _reaching(a.fluent, border)) for a in atoms]
    if form in (None, "changelog"):
        sides = [(a.name, a.gone, False) for a in atoms], [(a.name, a.new, True) for a in atoms]
        parts["changelog"] = [Spans(*one) for side in sides for one in side]
    return parts


def _reaching(fluent: Fluent, border: int) -> Fluent:
    """Whole spans that reach into the window."""
    return Fluent(fluent.pairs, fluent.spans.where(fluent.spans.end - 1 > border))


def _block(one: Spans, query: int | None, symbols: Symbols) -> io.AnswerBlock:
    spans = one.fluent.spans
    rows = len(spans)
    columns = (column.take(spans.key) for column in one.fluent.pairs.columns)
    op = None
    if one.added is not None:
        op = pa.array(["+" if one.added else "-"] * rows, pa.string())
    return io.AnswerBlock(
        "atom",
        one.name,
        tuple(term_column(column, symbols) for column in columns),
        None,
        pa.array(spans.start, pa.int64()),
        pa.array(spans.end, pa.int64(), mask=spans.end == INF),
        None if query is None else pa.array(np.full(rows, query, np.int64)),
        op,
    )
