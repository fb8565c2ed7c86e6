"""A run in two languages in progress, and the answers it gives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from horai import io
from horai.both_answer import Spans, TogetherAnswer, parts_of
from horai.both_log import Refused, letter_of, numbered
from horai.both_points import FROM_PROGRAM
from horai.both_stages import AtomChange, DescriptionStage, ProgramStage
from horai.counting import Counting
from horai.engine.lars.signals import Key
from horai.engine.origins import Dropped, Reason
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent, merged
from horai.errors import UsageError
from horai.inputs import read_input
from horai.io.letters import OF_ENGINES
from horai.lars_wanted import Which
from horai.parameters import point
from horai.plan.both import Passing
from horai.rows import Answers
from horai.session import Answer, Session

if TYPE_CHECKING:
    from horai.both import Together
    from horai.both_result import TogetherResult

Reads = Iterable[tuple[int, Sequence[Passing]]]


class TogetherSession:
    """Feed it items as they come and ask at growing query times.

    `form` is the only form of answer that is kept, None for all.
    """

    def __init__(
        self,
        both: Together,
        *,
        start: int,
        window: int | None,
        engines: tuple[str, str],
        clock: io.Clock,
        strict: bool,
        include_input: bool,
        form: Answers | None,
        allen_memory: int | None,
        incremental: str,
        names: frozenset[str] | None,
        which: Which = "cautious",
        single: bool = False,
        settings: dict[str, Any] | None = None,
    ) -> None:
        self.both = both
        self.settings = settings or {}
        """The parameters of `Together.session` that make such a session."""
        self.start, self.window = start, window
        self.clock, self.strict = clock, strict
        self.form, self.names = form, names
        self.single = single
        self.answers: list[TogetherAnswer] = []
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

    def advance(self, until: int, items: object = ()) -> TogetherAnswer:
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

    def take(self, until: int, tables: Sequence[io.ItemTable]) -> TogetherAnswer:
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
        answer = TogetherAnswer(description, self._shown(atoms, until), self.program.symbols)
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

    def _shown(self, atoms: list[AtomChange], until: int) -> dict[Answers, list[Spans]]:
        border = self.start if self.window is None else until - self.window
        named = [one for one in atoms if self.names is None or one.name in self.names]
        return parts_of(named, border, self.form)

    def finish(self, ended: bool = True) -> TogetherResult:
        """Everything the run found; if it has ended, with the rows that never came to count."""
        from horai.both_result import TogetherResult

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
        return TogetherResult(
            result, self.answers, self.form or "final", tuple(self.program.unanswered), metrics
        )

    def letters(self) -> list[io.DeadLetter]:
        """The rows that were not used so far."""
        of_program = map(letter_of, self._refused())
        return [*self.dead_letters, *self.description.session.dead_letters, *of_program]

    def _refused(self) -> list[Refused]:
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
        """The run so far, for `horai.load_together`: rules and knowledge, but not old answers."""
        from horai.both_saving import save

        return save(self)
