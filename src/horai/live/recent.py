"""What a run without an end still knows: its latest answers and items, as a result like any other.

All of it is bounded, whatever comes. What was let go is counted, so that a page can say so. What
rules cost so far is told by rule where the engine tells, else of all of them together.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from horai import io
from horai.engine.answer import Answer as EngineAnswer
from horai.engine.answer import AtomTable, EventTable, FluentTable, Part
from horai.engine.columns import column_of
from horai.engine.symbols import Symbols
from horai.io import AnswerRow
from horai.lang.core.diagnostics import Diagnostic
from horai.report.plan import plan_json
from horai.result import Answer, Result, RunBasis, everything
from horai.rules import Rules
from horai.runtime.answers import OutputFilter
from horai.runtime.engines import AUTO
from horai.runtime.lars.admission import numbered
from horai.runtime.lars.answers import PointAnswers
from horai.runtime.metrics import Metrics, RunMetrics, WindowMetrics
from horai.runtime.values import to_term
from horai.session import Session
from horai.settings import EC, RunSettings
from horai.temporal.spans import INF

if TYPE_CHECKING:
    from horai.engine.profile import Profile


Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is kept; what holds now is kept beyond all limits."""

    spans: int = 20_000  # intervals that are over, and events
    changes: int = 5_000
    items: int = 50_000
    atoms: int = 100_000  # of a program, at all query times together
    queries: int = 500
    letters: int = 1_000


@dataclass(slots=True)
class LetGo:
    """How much is not there any more, and until when something is missing."""

    spans: int = 0
    queries: int = 0  # of a program
    spans_until: int | None = None
    items: int = 0
    items_until: int | None = None
    letters: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain values; times as texts, for they may be larger than what a browser counts."""
        times = {"spans_until": self.spans_until, "items_until": self.items_until}
        return asdict(self) | {k: None if t is None else str(t) for k, t in times.items()}


@dataclass
class Recent:
    """The latest answers and items of a session."""

    rules: Rules
    limits: Limits = field(default_factory=Limits)
    gone: LetGo = field(default_factory=LetGo)

    def __post_init__(self) -> None:
        self._rows: dict[Key, AnswerRow] = {}
        self._over: deque[Key] = deque()  # those of the rows that do not hold any more
        self._said: deque[Answer] = deque()  # of a program
        self._atoms = 0
        self._changes: deque[tuple[int, list[AnswerRow]]] = deque()
        self._changed = 0
        self._tables: deque[io.ItemTable] = deque()
        self._items = 0
        self._letters: deque[io.DeadLetter] = deque(maxlen=self.limits.letters)
        self.letters = 0
        self._windows: deque[WindowMetrics] = deque(maxlen=self.limits.queries)
        self._run = RunMetrics()
        self._warnings: list[Diagnostic] = []
        self._unanswered: list[tuple[int, int]] = []
        self._wanted: OutputFilter = everything

    # --- what comes ------------------------------------------------------------------------------

    def come(self, tables: Iterable[io.ItemTable], letters: Sequence[io.DeadLetter]) -> None:
        """Items that have been read, and rows that could not be."""
        for table in tables:
            self._tables.append(table)
            self._items += len(table)
        while self._items > self.limits.items and len(self._tables) > 1:
            old = self._tables.popleft()
            self._items -= len(old)
            self.gone.items += len(old)
            last = int(np.max(old.table.column("start").to_numpy()))
            self.gone.items_until = _later(self.gone.items_until, last)
        self._hear(letters)

    def _hear(self, letters: Sequence[io.DeadLetter]) -> None:
        self.letters += len(letters)
        self._letters.extend(letters)
        self.gone.letters = self.letters - len(self._letters)

    def answered(self, session: Session, answer: Answer) -> None:
        """A query time has been; the session need not know of those before."""
        metrics = session.metrics
        self._windows.append(metrics.windows[-1])
        self._run = metrics.run
        self._hear(session.dead_letters)
        session.dead_letters.clear()
        self._warnings = session.warnings
        self._unanswered = list(getattr(session.core, "unanswered", ()))[-self.limits.queries :]
        session.let_go()
        if isinstance(answer.raw, PointAnswers):
            self._say(answer, answer.raw)
            return
        self._wanted = answer.wanted
        # Proofs of combined rules also rest on what is not shown.
        self._change(answer.query, Answer(answer.raw).rows("changelog"))

    def begin(self, answer: Answer) -> None:
        """The first answer of a run that goes on with one before: all in its window is known."""
        if not isinstance(answer.raw, PointAnswers):
            for row in Answer(answer.raw).rows("windows"):
                self._add(row)

    def _say(self, answer: Answer, raw: PointAnswers) -> None:
        self._said.append(answer)
        self._atoms += _atoms(raw)
        while len(self._said) > 2 and (
            self._atoms > self.limits.atoms or len(self._said) > self.limits.queries
        ):
            old = self._said.popleft().points
            self._atoms -= _atoms(old)
            self.gone.queries += 1
            self.gone.spans_until = old.query

    def _change(self, query: int, changes: list[AnswerRow]) -> None:
        for row in changes:
            if row.op == "-":
                self._rows.pop(_key(row), None)
            else:
                self._add(row)
        while len(self._over) > self.limits.spans:
            old = self._rows.get(key := self._over.popleft())
            if old is not None and _is_over(old):
                del self._rows[key]
                self.gone.spans += 1
                end = old.time if old.end is None else old.end
                self.gone.spans_until = _later(self.gone.spans_until, end or 0)
        kept = changes[: self.limits.changes]
        self._changes.append((query, kept))
        self._changed += len(kept)
        while len(self._changes) > 1 and (
            self._changed > self.limits.changes or len(self._changes) > self.limits.queries
        ):
            self._changed -= len(self._changes.popleft()[1])

    def _add(self, row: AnswerRow) -> None:
        key = _key(row)
        self._rows[key] = row
        if _is_over(row):
            self._over.append(key)

    # --- what is known ---------------------------------------------------------------------------

    def latest(self, most: int) -> Iterator[tuple[int, AnswerRow]]:
        """The last changes with their query times, the latest first."""
        if self._said:
            for answer in reversed(self._said):
                for row in reversed(() if answer.points.numbered else answer.changes):
                    if most <= 0:
                        return
                    most -= 1
                    yield answer.query, row
        for query, rows in reversed(self._changes):
            for row in reversed(rows):
                if most <= 0:
                    return
                if row.kind != "atom" and not self._wanted(
                    row.name, len(row.args), row.kind == "fluent"
                ):
                    continue
                most -= 1
                yield query, row

    def narrative(self, until: int) -> io.Narrative:
        """The items that had come by a query time, and the rows that could not be used."""
        found = io.Narrative.of(self._tables, self._letters)
        tables = [
            table.where(np.asarray(table.table.column("arrival")) <= until)
            for table in found.tables
        ]
        return replace(found, tables=tuple(table for table in tables if len(table)))

    def copy(self) -> Recent:
        """All that is known now, while the run goes on."""
        other = Recent(self.rules, self.limits, replace(self.gone))
        for name in ("_rows", "_said", "_changes", "_tables", "_letters", "_windows"):
            setattr(other, name, getattr(self, name).copy())
        for name in ("letters", "_run", "_warnings", "_unanswered", "_wanted"):
            setattr(other, name, getattr(self, name))
        return other

    def result(self, session: Session, items: Sequence[io.ItemTable]) -> Result:
        """The same as the result of a run."""
        if self.rules.language != "ec":
            items = numbered(items)
        run = replace(self._run, unreadable=self._run.unreadable + self.letters)
        metrics = Metrics(run, list(self._windows))
        steps = list(self._said) if self.rules.language == "lars" else self._steps()
        return Result(
            *(self.rules, steps, list(self._letters), "changelog", session.clock.unit),
            measure=lambda: metrics,
            warnings=self._warnings,
            engine=session.engine,
            reasons=session.reasons,
            unanswered=self._unanswered,
            basis=RunBasis(session.settings, lambda: items),
        )

    def _steps(self) -> list[Answer]:
        """Answers with the changes that are kept; the last one has all that is known."""
        symbols = Symbols()
        steps = []
        for query, rows in self._changes:
            parts = {
                "gone": part_of((row for row in rows if row.op == "-"), symbols),
                "new": part_of((row for row in rows if row.op == "+"), symbols),
            }
            if query == self._changes[-1][0]:
                parts["all"] = part_of(self._rows.values(), symbols)
            computed = {which: (lambda part=part: part) for which, part in parts.items()}
            raw = EngineAnswer(query, symbols, (), computed)  # type: ignore[arg-type]
            steps.append(Answer(raw, self._wanted))
        return steps


def part_of(rows: Iterable[AnswerRow], symbols: Symbols) -> Part:
    """Rows of answers as the columns of an engine."""
    groups: dict[tuple[str, str, int], list[AnswerRow]] = {}
    for row in rows:
        groups.setdefault((row.kind, row.name, len(row.args)), []).append(row)
    fluents: list[FluentTable] = []
    events: list[EventTable] = []
    atoms: list[AtomTable] = []
    for (kind, name, arity), some in groups.items():
        args = tuple(
            column_of([to_term(row.args[place]) for row in some], symbols) for place in range(arity)
        )
        if kind == "event":
            times = np.array([row.time for row in some], np.int64)
            events.append(EventTable(name, args, times))
            continue
        start = np.array([row.start for row in some], np.int64)
        end = np.array([INF if row.end is None else row.end for row in some], np.int64)
        if kind == "atom":
            atoms.append(AtomTable(name, args, start, end))
        else:
            values = column_of(
                [to_term(row.value) for row in some if row.value is not None], symbols
            )
            fluents.append(FluentTable(name, args, values, start, end))
    return Part(fluents, events, atoms)


def _key(row: AnswerRow) -> Key:
    """What tells one row from another; it may get another end."""
    start = row.time if row.start is None else row.start
    return (row.kind, row.name, *map(_term, row.args), _term(row.value), start)


def _term(term: object) -> object:
    """3 and 3.0 are different terms."""
    return (term,) if isinstance(term, float) else term


def _is_over(row: AnswerRow) -> bool:
    return row.kind == "event" or row.end is not None


def _atoms(raw: PointAnswers) -> int:
    return 1 + sum(len(model) for one in raw.said for model in one.answer.models)


def _later(one: int | None, other: int) -> int:
    return other if one is None else max(one, other)


PROFILED = ("compiled", AUTO)


def can_be_profiled(settings: RunSettings) -> bool:
    """Does the engine tell what each rule costs?"""
    return settings.language == EC and settings.engine in PROFILED


def costs(profile: Profile | None, seconds: float) -> dict[str, Any]:
    """Seconds of each rule, and of what is done with all rules of a component together."""
    if profile is None or profile.program is None:
        return {"by": "run", "seconds": seconds, "rows": []}
    found = plan_json(profile.program, profile)
    rows = []
    for component in found["components"]:
        name = ", ".join(component["entities"])
        rows += [_row(rule["head"], rule["place"], rule["actual"]) for rule in component["rules"]]
        beside = {"seconds": component["actual"]["seconds_settling"], "rows": None}
        rows.append(_row(f"{name}: what all its rules say, put together", "", beside))
    rows.sort(key=lambda row: -row["seconds"])
    actual = found["actual"]
    return {
        "by": "rule",
        "seconds": actual["seconds"],
        "elsewhere": actual["seconds_elsewhere"],
        "rows": [row for row in rows if row["seconds"] or row["rows"]],
    }


def _row(what: str, place: str, actual: dict[str, Any]) -> dict[str, Any]:
    return {"what": what, "place": place, "seconds": actual["seconds"], "rows": actual["rows"]}
