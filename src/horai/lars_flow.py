"""A session of a LARS program driven by rows and by time: when it is asked, and what is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from horai import io
from horai.errors import UsageError
from horai.lars_result import FORMS, LarsAnswer, Row
from horai.lars_session import Session
from horai.lars_steps import LarsStep
from horai.lars_timing import Timing

Say = Callable[[Sequence[Row]], None]


class Flow:
    """Feed it rows as they come; it says answers when it is time.

    The time is the latest arrival so far, or what `pass_to` says. A point is over once time has
    passed it.
    """

    def __init__(
        self, session: Session, timing: Timing, answers: str, say: Say, end: int | None = None
    ) -> None:
        if answers not in FORMS:
            raise UsageError(f"answers cannot be {answers!r}", f"it is one of {', '.join(FORMS)}")
        if answers == "changelog" and session.lateness is None and session.wanted.is_numbered:
            raise UsageError("changes are those of one model", "leave out models, or add lateness")
        self.session, self.timing, self.answers = session, timing, answers
        self.end = end
        self.now = session.next
        self.signals = 0
        self._say = say
        self._shown: LarsAnswer | None = None

    @property
    def is_over(self) -> bool:
        """Has time passed the end of the run?"""
        return self.end is not None and self.now > self.end

    def rows(self, rows: Iterable[io.Item]) -> None:
        """Rows in the order of their arrival."""
        for row in rows:
            self.pass_to(row.arrival)
            self.session.arrivals.feed([row])
            if self.timing.by == "signals" and not self.is_over:
                self.signals += 1
                if self.signals % self.timing.number == 0:
                    self._tell(self.session.take([self.now]))

    def pass_to(self, time: int) -> None:
        """All points before a time are over."""
        if time <= self.now:
            return
        last = time - 1 if self.end is None else min(time - 1, self.end)
        self.now = time
        if self.timing.by == "time":
            session = self.session
            for query in range(session.next, last + 1, session.step):
                self._tell(session.take([query]))

    def close(self) -> None:
        """The current point is over, too, or all points up to the end if there is one."""
        self.pass_to(self.now + 1 if self.end is None else max(self.now, self.end + 1))
        if self.answers == "final" and self._shown is not None:
            self._say(list(self._shown.rows(self.session.wanted.is_numbered)))

    def _tell(self, step: LarsStep) -> None:
        """Say what is asked for of what is new."""
        if self.answers == "changelog":
            self._say(step.changes)
            return
        again = [] if self.session.answer is None else [self.session.answer]
        for answer in step.answers or again:
            is_new = self._shown is None or answer.models != self._shown.models
            self._shown = answer
            if self.answers == "windows" and (is_new or not self.timing.changes):
                self._say(self._numbered(answer))

    def _numbered(self, answer: LarsAnswer) -> list[Row]:
        rows = list(answer.rows(self.session.wanted.is_numbered))
        if self.timing.by == "signals":
            return [{**row, "signals": self.signals} for row in rows]
        if self.timing.changes and not rows:  # that nothing holds any more is a change, too
            return [{"kind": "empty", "query": answer.query}]
        return rows
