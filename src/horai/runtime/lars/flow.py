"""A session of a LARS program driven by rows and by time: when it is asked, and what is shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal as OneOf

from horai import io
from horai.errors import UsageError
from horai.lang.lars.clock import Clock, Duration, Incompatible, unit_named
from horai.result import Answer
from horai.runtime.answers import answers_named
from horai.runtime.lars.answers import AtomGroup, PointAnswer, check_form
from horai.runtime.lars.session import ProgramEngine
from horai.session import Session

_NUMBERED = re.compile(r"([0-9]+)\s*([a-z]+)")
_HINT = "it is time, change, signal, a number of signals (5signals) or a time (10s)"


@dataclass(frozen=True, slots=True)
class AnswerTiming:
    """`by` time points or signals, every so many of them; with `changes` only what is new."""

    by: OneOf["time", "signals"] = "time"
    number: int = 1
    changes: bool = False

    @classmethod
    def parse(cls, text: str, clock: Clock) -> AnswerTiming:
        """From what people say; a time must be a whole number of time points.

        >>> AnswerTiming.parse("10s", Clock.parse("2s")).number
        5
        >>> AnswerTiming.parse("3signals", Clock(1, "s"))
        AnswerTiming(by='signals', number=3, changes=False)
        """
        match text:
            case "time":
                return cls()
            case "change":
                return cls(changes=True)
            case "signal":
                return cls("signals")
        found = _NUMBERED.fullmatch(text)
        number, word = (int(found[1]), found[2]) if found else (0, "")
        if number > 0 and word in ("signal", "signals"):
            return cls("signals", number)
        unit = unit_named(word)
        if number < 1 or unit is None:
            raise UsageError(f"answers cannot be given every {text!r}", _HINT)
        try:
            return cls(number=clock.points(Duration(number, unit)) or 1)
        except Incompatible as wrong:
            hint = f"choose a multiple of the clock, {clock}"
            raise UsageError(f"answers cannot be given every {text}: {wrong}", hint) from None


Say = Callable[[Iterable[AtomGroup]], None]


class Flow:
    """Feed it rows as they come; it says answers when it is time.

    The time is the latest arrival so far, or what `pass_to` says. A point is over once time has
    passed it. Of more query times than it should `keep`, totals remain.
    """

    def __init__(
        self,
        session: Session,
        timing: AnswerTiming,
        answers: str,
        say: Say,
        end: int | None = None,
        keep: int | None = None,
    ) -> None:
        self.answers = answers_named(answers)
        core = session.core
        assert isinstance(core, ProgramEngine)
        self.numbered = core.wanted.is_numbered
        check_form(answers, self.numbered, core.lateness is not None)
        self.session, self.timing, self.step = session, timing, core.step
        self.end, self.keep = end, keep
        self.now = session.next
        self.signals = 0
        self.asked = 0
        """How many query times there have been."""
        self._say = say
        self._shown: PointAnswer | None = None
        self._given: list[io.Item] = []
        """Rows that the session has not been given: it takes those of a point together."""

    @property
    def is_over(self) -> bool:
        """Has time passed the end of the run?"""
        return self.end is not None and self.now > self.end

    def rows(self, rows: Iterable[io.Item]) -> None:
        """Rows in the order of their arrival."""
        counts = self.timing.by == "signals"
        for row in rows:
            if row.arrival > self.now:
                self.pass_to(row.arrival)
            self._given.append(row)
            if counts and not self.is_over:
                self.signals += 1
                if self.signals % self.timing.number == 0:
                    self._ask(self.now)

    def pass_to(self, time: int) -> None:
        """All points before a time are over."""
        if time <= self.now:
            return
        last = time - 1 if self.end is None else min(time - 1, self.end)
        self.now = time
        if self.timing.by == "time":
            for query in range(self.session.next, last + 1, self.step):
                self._ask(query)

    def close(self) -> None:
        """The current point is over, too, or all points up to the end if there is one."""
        self.pass_to(self.now + 1 if self.end is None else max(self.now, self.end + 1))
        self._give()
        if self.answers == "final" and self._shown is not None:
            self._say(self._shown.groups(self.numbered))

    def _give(self) -> None:
        given, self._given = self._given, []
        if given:
            self.session.give(given)

    def _ask(self, query: int) -> None:
        self.asked += 1
        self._give()
        self._tell(self.session.ask([query]))
        if self.keep is not None:
            self.session.let_go(self.keep)

    def _tell(self, step: Answer) -> None:
        """Say what is asked for of what is new."""
        raw = step.points
        if self.answers == "changelog":
            self._say(raw.groups("changelog"))
            return
        for answer in raw.points or [raw.last]:
            before, self._shown = self._shown, answer
            if self.answers == "windows" and not (
                self.timing.changes and before is not None and answer.says_the_same(before)
            ):
                self._say(self._numbered(answer))

    def _numbered(self, answer: PointAnswer) -> list[AtomGroup]:
        groups = list(answer.groups(self.numbered))
        if self.timing.by == "signals":
            return [group.but(signals=self.signals) for group in groups]
        if self.timing.changes and not groups:  # that nothing holds any more is a change, too
            return [AtomGroup(io.AnswerRow("empty", query=answer.query))]
        return groups
