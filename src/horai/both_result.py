"""What a run in two languages found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from horai import io
from horai.metrics import Metrics
from horai.result import Result
from horai.rows import Answers, answers_named, in_order
from horai.words import counted

if TYPE_CHECKING:
    import pandas as pd

    from horai.both_answer import TogetherAnswer


class TogetherResult:
    """The outcome of a run in two languages.

    `description` is what the event description found, with all that a `Result` can do; `answers`
    has one answer per query time. `unanswered` are the spans of points at which the program has no
    answer; nothing of it holds there. `metrics` tell how late rows were and what became of them.
    """

    def __init__(
        self,
        description: Result,
        answers: list[TogetherAnswer],
        form: Answers,
        unanswered: tuple[tuple[int, int], ...],
        metrics: Metrics,
    ) -> None:
        self.description = description
        self.answers = answers
        self.form: Answers = form
        self.unanswered = _joined(unanswered)
        self.metrics = metrics

    @property
    def dead_letters(self) -> list[io.DeadLetter]:
        """The rows that were not used."""
        return self.description.dead_letters

    @property
    def unit(self) -> io.Unit | None:
        """How long a time point is, if times are dates."""
        return self.description.unit

    def table(self, answers: str | None = None) -> io.AnswerTable:
        """The rows of output as columns: `final`, `windows` (per query time) or `changelog`."""
        form = self.form if answers is None else answers_named(answers)
        listed = self.answers[-1:] if form == "final" else self.answers
        atoms = [block for answer in listed for block in answer.blocks(form)]
        return in_order([*self.description.table(form).blocks, *atoms])

    def rows(self, answers: str | None = None) -> list[io.AnswerRow]:
        """The rows of output: atoms, events and fluents."""
        return self.table(answers).rows()

    @property
    def atoms(self) -> list[io.AnswerRow]:
        """All atoms of the program with the maximal intervals in which they hold."""
        return [row for row in self.rows("final") if row.kind == "atom"]

    def to_pandas(self, answers: str | None = None) -> pd.DataFrame:
        """The rows as a data frame."""
        import pandas as pd

        return pd.DataFrame(self.table(answers).lists())

    def __repr__(self) -> str:
        parts = [counted(len(self.answers), "query time")]
        if self.dead_letters:
            parts.append(counted(len(self.dead_letters), "dead letter"))
        return f"<TogetherResult: {', '.join(parts)}>"


def _joined(spans: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    """Spans in order, touching ones as one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found
