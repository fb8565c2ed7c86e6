"""A run in two languages in progress, and the answers it gives.

What a run in two languages knows at a query time.
What a run in two languages found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from horai import io
from horai.engine.lars.signals import Key
from horai.engine.origins import Dropped, Reason
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent, merged
from horai.errors import UsageError, counted
from horai.io.letters import OF_ENGINES
from horai.lang.core.diagnostics import Diagnostic
from horai.plan.combined.exchange import Passing
from horai.result import Result
from horai.runtime.answers import AnswerPart, Answers, answers_named, in_order, term_column
from horai.runtime.combined.stages import FROM_PROGRAM, AtomChange, DescriptionStage, ProgramStage
from horai.runtime.findings import unused
from horai.runtime.inputs import read_input
from horai.runtime.lars.engines import Reasoning
from horai.runtime.lars.log import RefusedRow, letter_of, numbered
from horai.runtime.metrics import Counting, Metrics
from horai.session import Answer, Session
from horai.settings import point
from horai.temporal.spans import INF
from horai.tools.codes import judged

if TYPE_CHECKING:
    import pandas as pd

    from horai.combined import CombinedRules


@dataclass(frozen=True)
class AtomSpans:
    """Atoms of one predicate with the spans in which they hold, as an answer shows them."""

    name: str
    fluent: Fluent
    added: bool | None = None


class CombinedAnswer:
    """What a run knows at a query time, in both languages."""

    def __init__(
        self,
        description: Answer,
        parts: dict[Answers, list[AtomSpans]],
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

    def steps(self, form: Answers) -> list[AnswerPart]:
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
) -> dict[Answers, list[AtomSpans]]:
    """What each form of answer shows of some atoms; `form` is the only one wanted, None for all."""
    parts: dict[Answers, list[AtomSpans]] = {"final": [AtomSpans(a.name, a.fluent) for a in atoms]}
    if form in (None, "windows"):
        parts["windows"] = [AtomSpans(a.name, _reaching(a.fluent, border)) for a in atoms]
    if form in (None, "changelog"):
        sides = [(a.name, a.gone, False) for a in atoms], [(a.name, a.new, True) for a in atoms]
        parts["changelog"] = [AtomSpans(*one) for side in sides for one in side]
    return parts


def _reaching(fluent: Fluent, border: int) -> Fluent:
    """Whole spans that reach into the window."""
    return Fluent(fluent.pairs, fluent.spans.where(fluent.spans.end - 1 > border))


def _block(one: AtomSpans, query: int | None, symbols: Symbols) -> io.AnswerBlock:
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


Reads = Iterable[tuple[int, Sequence[Passing]]]


class CombinedSession:
    """Feed it items as they come and ask at growing query times.

    `form` is the only form of answer that is kept, None for all.
    """

    def __init__(
        self,
        both: CombinedRules,
        *,
        start: int,
        window: int | None,
        engines: tuple[str, str],
        clock: io.TimeScale,
        strict: bool,
        include_input: bool,
        form: Answers | None,
        allen_memory: int | None,
        incremental: str,
        names: frozenset[str] | None,
        which: Reasoning = "cautious",
        single: bool = False,
        settings: dict[str, Any] | None = None,
    ) -> None:
        self.both = both
        self.settings = settings or {}
        """The parameters of `CombinedRules.session` that make such a session."""
        self.start, self.window = start, window
        self.clock, self.strict = clock, strict
        self.form, self.names = form, names
        self.single = single
        self.answers: list[CombinedAnswer] = []
        self.dead_letters: list[io.DeadLetter] = []
        self.waiting: list[tuple[int, io.DeadLetter]] = []
        """Rows of an earlier part of the run that lay ahead, and what is said if none looks."""
        self.counting = Counting()
        self.last, self.taken = start, 0
        self.runners: list[ProgramStage | DescriptionStage] = []
        for stage in both.stages:
            if stage.language == "program":
                program = both.points(stage)
                self.runners.append(ProgramStage(program, start, window, engines[1], which))
                continue
            rules = both.rules_of(stage)
            session = Session(
                rules,
                start=start,
                window=window,
                allen_memory=allen_memory,
                engine=engines[0],
                clock=clock,
                include_input=True,
                answers=form,
                archive=True,
                incremental=incremental,
            )
            self.runners.append(DescriptionStage(session))
        self._wanted = both.wanted(include_input)

    @property
    def description(self) -> DescriptionStage:
        """The stage with all rules of the description."""
        return next(s for s in reversed(self.runners) if isinstance(s, DescriptionStage))

    @property
    def program(self) -> ProgramStage:
        """The stage with all rules of the program."""
        return next(s for s in reversed(self.runners) if isinstance(s, ProgramStage))

    def advance(self, until: int, items: object = ()) -> CombinedAnswer:
        """The answer at query time `until`, with more items known than before."""
        until = point(until, "the query time")
        if until <= self.last:
            raise UsageError(
                f"query times must grow: {until} is not after {self.last}",
                "late items need no early query time; give them with a later one",
            )
        narrative = read_input(items, self.both.schema, self.clock, strict=self.strict)
        self.dead_letters.extend(narrative.dead_letters)
        return self.take(until, numbered(narrative.tables, self.taken))

    def take(self, until: int, tables: Sequence[io.ItemTable]) -> CombinedAnswer:
        """Like `advance`, with items that have been read and numbered."""
        self.taken += sum(map(len, tables))
        refused = len(self.program.log.refused)
        signals = [table for table in tables if table.kind == "event"]
        atoms: list[AtomChange] = []
        for stage, runner in zip(self.both.stages, self.runners, strict=True):
            if isinstance(runner, ProgramStage):
                atoms = runner.advance(until, signals, self._feeds(stage.reads, runner.symbols))
            else:
                known = self.both.keys_of(stage)
                mine = [table for table in tables if table.key in known]
                for place, passing in stage.reads:
                    source = self.runners[place]
                    assert isinstance(source, ProgramStage)
                    mine += source.items(passing, self.single)
                runner.advance(until, mine)
        raw = self.description.session.answers[-1].raw
        self._count(until, tables, raw.dropped, refused)
        self.last = until
        description = Answer(raw, self._wanted)
        answer = CombinedAnswer(description, self._shown(atoms, until), self.program.symbols)
        if self.answers and self.form is None:
            self.answers[-1].parts.pop("final")  # the last one has it
        self.answers.append(answer)
        return answer

    def _count(
        self, until: int, tables: Sequence[io.ItemTable], dropped: Sequence[Dropped], before: int
    ) -> None:
        """Count what becomes of rows: the description judges those it reads, the program others."""
        ours = self.both.own_signals
        lost = [one for one in dropped if one.file != FROM_PROGRAM]
        lost += [
            Dropped(one.table, one.row, Reason(one.code), until, one.reason)
            for one in self.program.log.refused[before:]
            if one.table.key in ours and not one.is_after
        ]
        self.counting.judge(tables, lost, until, None if self.last == self.start else self.last)

    def _feeds(self, reads: Reads, symbols: Symbols) -> dict[Key, Fluent]:
        found: dict[Key, Fluent] = {}
        for place, passing in reads:
            source = self.runners[place]
            assert isinstance(source, DescriptionStage)
            for key, fluent in source.feeds(passing, symbols).items():
                found[key] = merged([found[key], fluent], symbols) if key in found else fluent
        return found

    def _shown(self, atoms: list[AtomChange], until: int) -> dict[Answers, list[AtomSpans]]:
        border = self.start if self.window is None else until - self.window
        named = [one for one in atoms if self.names is None or one.name in self.names]
        return parts_of(named, border, self.form)

    def finish(self, ended: bool = True) -> CombinedResult:
        """Everything the run found; if it has ended, with the rows that never came to count."""

        stage = self.description.session
        told = len(stage.dead_letters)
        result = stage.finish() if ended else stage.result()
        letters = self.letters()
        if ended:
            ahead = [letter for _, letter in self.ahead()]
            after = sum(one.is_after for one in self._refused())
            mine = [one for one in stage.dead_letters[told:] if one.file != FROM_PROGRAM]
            self.counting.finish(len(ahead) + after + len(mine))
            letters += ahead
        result.answers[:] = [answer.description for answer in self.answers]
        result.dead_letters = sorted(letters, key=lambda letter: (letter.file, letter.line))
        metrics = self.counting.metrics(
            [answer.revised for answer in self.answers],
            sum(letter.code not in OF_ENGINES for letter in letters),
        )
        return CombinedResult(
            result, self.answers, self.form or "final", tuple(self.program.unanswered), metrics
        )

    def letters(self) -> list[io.DeadLetter]:
        """The rows that were not used so far."""
        of_program = map(letter_of, self._refused())
        return [*self.dead_letters, *self.description.session.dead_letters, *of_program]

    def _refused(self) -> list[RefusedRow]:
        ours = self.both.own_signals
        return [one for one in self.program.log.refused if one.table.key in ours]

    def ahead(self) -> list[tuple[int, io.DeadLetter]]:
        """Rows of the program that lie ahead, each with its time and what is said at the end."""
        ours = self.both.own_signals
        listed = [
            (t, letter_of(one)) for t, one in self.program.log.waiting if one.table.key in ours
        ]
        return [(time, letter) for time, letter in (*self.waiting, *listed) if time > self.last]

    def save(self) -> bytes:
        """The run so far, for `horai.load_combined`: rules and knowledge, but not old answers."""
        from horai.combined import save

        return save(self)


class CombinedResult:
    """The outcome of a run in two languages.

    `description` is what the event description found, with all that a `Result` can do; `answers`
    has one answer per query time. `unanswered` are the spans of points at which the program has no
    answer; nothing of it holds there. `metrics` tell how late rows were and what became of them.
    """

    def __init__(
        self,
        description: Result,
        answers: list[CombinedAnswer],
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
    def warnings(self) -> list[Diagnostic]:
        """Conditions of the description that had no value, and input that was of no use at all."""
        read, rules = self.metrics.run, self.description.rules
        lost = unused(read.items + read.unreadable, self.dead_letters)
        return [*self.description.warnings, *judged(lost, rules.severities)]

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
        return f"<CombinedResult: {', '.join(parts)}>"


def _joined(spans: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    """Spans in order, touching ones as one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found
