"""A run in progress, and the answers it gives."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from horai import io
from horai.engines import EngineAnswer, engine_named
from horai.errors import UsageError
from horai.inputs import letter_of, read_input
from horai.lang.terms import Term
from horai.rows import Answers, Wanted, change_rows, final_rows, window_rows
from horai.words import counted

if TYPE_CHECKING:
    from horai.result import Result
    from horai.rules import Rules


class Answer:
    """What a run knows at a query time. Rows are made when asked for."""

    def __init__(self, raw: EngineAnswer, wanted: Wanted) -> None:
        self.raw = raw
        self.wanted = wanted

    @property
    def query(self) -> int:
        """The query time."""
        return self.raw.query

    @cached_property
    def rows(self) -> list[io.AnswerRow]:
        """Intervals and events of the window."""
        return window_rows(self.raw, self.wanted)

    @property
    def spans(self) -> list[io.AnswerRow]:
        """The maximal intervals that reach into the window."""
        return [row for row in self.rows if row.kind == "fluent"]

    @property
    def events(self) -> list[io.AnswerRow]:
        """The output events in the window."""
        return [row for row in self.rows if row.kind == "event"]

    @cached_property
    def changes(self) -> list[io.AnswerRow]:
        """What is new (`op` is `+`) and what is taken back (`-`) since the query time before."""
        return change_rows(self.raw, self.wanted)

    @cached_property
    def everything(self) -> list[io.AnswerRow]:
        """All intervals and events of the run, as known now."""
        return final_rows(self.raw, self.wanted)

    def __repr__(self) -> str:
        spans, events = counted(len(self.spans), "interval"), counted(len(self.events), "event")
        return f"<Answer at {self.query}: {spans}, {events}>"


class Session:
    """Feed it items as they come and ask at growing query times."""

    def __init__(
        self,
        rules: Rules,
        *,
        start: int = 0,
        window: int | None = None,
        tick: int = 1,
        allen_memory: int | None = None,
        engine: str = "reference",
        clock: io.Clock | None = None,
        strict: bool = False,
        include_input: bool = False,
        answers: Answers = "final",
    ) -> None:
        self.rules = rules
        self.start, self.window, self.tick = start, window, tick
        self.clock, self.strict = clock or io.Clock(), strict
        self.include_input = include_input
        self.form: Answers = answers
        self.answers: list[Answer] = []
        self.dead_letters: list[io.DeadLetter] = []
        self._engine = engine_named(engine)(
            rules.description,
            start=start,
            window=window,
            tick=tick,
            allen_memory=allen_memory,
            predicates=rules.predicates,
        )

    def advance(self, until: int, items: object = ()) -> Answer:
        """The answer at query time `until`, with more items known than before."""
        last = self.answers[-1].query if self.answers else self.start
        if until <= last:
            raise UsageError(
                f"query times must grow: {until} is not after {last}",
                "late items need no early query time; give them with a later one",
            )
        batch = read_input(
            items,
            self.rules.schema,
            tick=self.tick,
            unit=self.clock.unit,
            time_in=self.clock.time_in,
            strict=self.strict,
        )
        self.dead_letters.extend(batch.dead_letters)
        raw = self._engine.advance(until, batch.items)
        self.dead_letters.extend(letter_of(dropped) for dropped in raw.dropped)
        answer = Answer(raw, self._wanted)
        self.answers.append(answer)
        return answer

    def finish(self) -> Result:
        """End the run: everything it found, with the items that never came to count."""
        from horai.result import Result

        self.dead_letters.extend(letter_of(dropped) for dropped in self._engine.finish())
        letters = sorted(self.dead_letters, key=lambda letter: (letter.file, letter.line))
        return Result(self.rules, self.answers, letters, self.form, self.clock.unit)

    def _wanted(self, entity: Term, is_fluent: bool) -> bool:
        return self.include_input or self.rules.is_output(entity, is_fluent)
