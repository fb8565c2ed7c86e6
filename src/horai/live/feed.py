"""Lines that come become items, and these are given to a session at the query times that follow.

The time is the latest arrival so far: a query time is over once a row has come that arrived later.
Somebody may pause between two query times; then no more lines are taken, and the source waits.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from threading import Condition, RLock
from typing import Any, Literal

from horai import io
from horai.engine.profile import Profile
from horai.errors import UsageError
from horai.io.items.read import text_format
from horai.io.items.rows import RowReader
from horai.io.items.tables import by_arrival, by_table, extent
from horai.io.sources.kafka import read_messages
from horai.io.sources.protocol import LONGEST_LINE, InputLine
from horai.io.sources.registry import INTERRUPTIBLE, Incoming, has_messages, offset_after
from horai.live.recent import Limits, Recent, can_be_profiled
from horai.rules import Rules, taken_up
from horai.runtime.checkpoint import write_whole
from horai.runtime.lars.signals import HEADER
from horai.session import Session
from horai.settings import MOST_QUERIES, MOST_TIME, RunSettings, before

State = Literal["waiting", "running", "paused", "ended"]
Wait = Callable[[Callable[[], Any]], Any]
RATES = 10.0  # seconds over which rates are told


class Gate:
    """Lets query times pass: all of them, none while paused, one at each step."""

    def __init__(self, paused: bool = False) -> None:
        self._changed = Condition()
        self.paused = paused
        self._steps = 0

    def pause(self) -> None:
        with self._changed:
            self.paused, self._steps = True, 0

    def go(self) -> None:
        with self._changed:
            self.paused = False
            self._changed.notify_all()

    def step(self) -> None:
        """Let one query time pass; who was not paused is from then on."""
        with self._changed:
            self.paused = True
            self._steps += 1
            self._changed.notify_all()

    def wait(self) -> None:
        """Wait until the next query time may pass."""
        with self._changed:
            while self.paused and not self._steps:
                self._changed.wait(INTERRUPTIBLE)
            self._steps = max(0, self._steps - 1)


class LiveFeed:
    """A run fed line by line; others may look at it while it goes on, with its `lock`.

    Events of types `beside` those of the rules are for who looks, and the session never sees them.
    """

    def __init__(
        self,
        rules: Rules,
        settings: RunSettings,
        *,
        limits: Limits | None = None,
        paused: bool = False,
        beside: Iterable[io.InputType] = (),
    ) -> None:
        self.rules, self.settings = rules, settings
        self.lock = RLock()
        self.changed = Condition(self.lock)
        self.gate = Gate(paused)
        self.recent = Recent(rules, limits or Limits())
        self.profile = Profile() if can_be_profiled(settings) else None
        self.session: Session | None = None
        self.offsets: dict[str, int] = {}
        self.version = 0
        self.queries = 0
        self.now: int | None = None
        """The latest arrival."""
        self.seconds = self.last_seconds = 0.0
        self.lines = 0
        self._held: list[io.ItemTable] = []
        self._headers: dict[str, bytes | None] = {}
        self._ended = False
        self._rates: deque[tuple[float, int]] = deque()
        self._beside = {(one.name, one.arity) for one in beside}
        schema = _with(rules.schema, beside)
        self._options = RowReader(schema, settings.scale, strict=settings.strict)
        self._restore()
        self.step = self._step()
        if self.session is None:
            self._beginning(settings.start or 0)  # what the engine refuses is told before rows come

    def _restore(self) -> None:
        state = self.settings.state
        if state is None or not state.exists():
            return
        given = {name for name in self._asked() if name != "answers"}
        session = taken_up(self.rules, state, self.settings, given)
        self.offsets = dict(session.offsets)
        self._take_up(session)

    def _asked(self) -> dict[str, Any]:
        """The settings of the session."""
        found = self.settings.of_session()
        return found if self.rules.language == "lars" else {**found, "answers": "changelog"}

    def _step(self) -> int:
        step = self.settings.step or self.settings.window
        if step is None:
            hint = "say how many time-points lie between two answers: --step 60"
            raise UsageError("there is no step between query times", hint)
        return step

    def _take_up(self, session: Session) -> None:
        end = self.settings.end
        if end is not None and session.last is not None and end <= session.last:
            hint = f"the last query time was {session.last}"
            raise UsageError(f"the end of the run, {end}, has passed", hint)
        if self.profile is not None:
            session.watch(self.profile)
        self.session = session

    # --- feeding ---------------------------------------------------------------------------------

    def run(self, incoming: Incoming, wait: Wait) -> None:
        """Take lines until there are no more, or the run is over."""
        while not self.is_over and (lines := wait(incoming.some)) is not None:
            self.take(lines)
            self.answer(wait)
        self.close()

    @property
    def is_over(self) -> bool:
        """Has time passed the end of the run?"""
        end = self.settings.end
        return end is not None and self.now is not None and self.now > end

    def take(self, lines: Sequence[InputLine]) -> None:
        """Read lines; what they say waits for its query times."""
        found, letters = self._read(lines)
        narrative = io.Narrative.of(found, letters)
        with self.lock:
            self.recent.come(found, letters)
            tables = [t for t in narrative.tables if (t.name, t.arity) not in self._beside]
            self._held += tables
            self.lines += len(lines)
            self._rates.append((time.monotonic(), len(lines)))
            while self._rates[0][0] < time.monotonic() - RATES:
                self._rates.popleft()
            for line in lines:
                self.offsets[line.source] = offset_after(line)
            arrivals = [int(t.table.column("arrival").to_numpy().max()) for t in narrative.tables]
            if arrivals:
                self.now = max(arrivals) if self.now is None else max(self.now, *arrivals)
                if self.session is None and tables:
                    self._begin(tables)
            self.changed.notify_all()

    def _begin(self, tables: Sequence[io.ItemTable]) -> None:
        start = self.settings.start
        if start is None:
            covered = extent(tables)
            assert covered is not None
            first = min(
                covered[0], *(int(t.table.column("arrival").to_numpy().min()) for t in tables)
            )
            start = first if self.rules.language == "lars" else before(first, self.settings.tick)
        self._take_up(self._beginning(start))

    def _beginning(self, start: int) -> Session:
        """A session that knows nothing yet."""
        asked = {**self._asked(), "start": start}
        return Session(self.rules, RunSettings.of(self.rules.language, "session", asked))

    def _read(self, lines: Sequence[InputLine]) -> tuple[list[io.ItemTable], list[io.DeadLetter]]:
        tables: list[io.ItemTable] = []
        letters: list[io.DeadLetter] = []
        for (source, _), group in groupby(lines, key=_kind):
            some = []
            for line in group:
                if line.is_too_long:
                    reason = f"the line has more than {LONGEST_LINE} characters"
                    place = (line.source, line.number)
                    letters.append(io.DeadLetter(*place, line.text, reason, "too-long"))
                elif has_messages(source) or self._says_something(line):
                    some.append(line)
            texts = [_encoded(line.text) for line in some]
            numbers, header = [line.number for line in some], self._headers.get(source)
            harvest = read_messages(source, numbers, texts, self._options, header)
            harvest.settle()
            tables += [*harvest.tables, *by_table(harvest.items)]
            letters += harvest.letters
        return tables, letters

    def _says_something(self, line: InputLine) -> bool:
        """Blank lines do not, nor does a header, which is kept where it makes the file CSV."""
        if not line.text.strip():
            return False
        if line.source not in self._headers:
            first = line.text if line.number == 1 else _first_line(line.source)
            head = _encoded(first)
            read = text_format(head, "narrative", line.source, None, self._options.schema)
            self._headers[line.source] = head if read == "csv" else None
        if line.number == 1 and self._headers[line.source] is not None:
            return False
        return not line.text.startswith(f"{HEADER}|")

    # --- query times -----------------------------------------------------------------------------

    @property
    def next(self) -> int:
        """The next query time."""
        session = self.session
        assert session is not None
        if self.rules.language == "lars":
            return session.next
        passed = (session.start if session.last is None else session.last) - session.start
        return session.start + (passed // self.step + 1) * self.step

    def answer(self, wait: Wait) -> None:
        """Answer at all query times that are over."""
        if self.session is None or self.now is None:
            return
        end = self.settings.end
        until = self.now - 1 if end is None else min(self.now - 1, end)
        first = self.next
        if (until - first) // self.step > MOST_QUERIES:
            hint = "choose a longer step, or a start near the first item"
            problem = f"from {first} to {until} there are more than {MOST_QUERIES:,} query times"
            raise UsageError(problem, hint)
        for query in range(first, until + 1, self.step):
            wait(self.gate.wait)
            self._ask(query)

    def _ask(self, query: int, is_last: bool = False) -> None:
        """Answer at a query time; the last one also gets what arrives later, as in other runs."""
        with self.lock:
            session = self.session
            assert session is not None
            arrived, later = map(list, by_arrival(self._held, [query, MOST_TIME]))
            if is_last or query == self.settings.end:
                arrived, later = [*arrived, *later], []
            self._held = later
            is_first = self.queries == 0 and session.last is not None
            began = time.perf_counter()
            session.feed(io.Narrative(tuple(arrived), []))
            is_program = self.rules.language == "lars"
            answer = session.ask([query]) if is_program else session.take(query, ())
            self.last_seconds = time.perf_counter() - began
            if is_first:
                self.recent.begin(answer)
            self.recent.answered(session, answer)
            self.seconds += self.last_seconds
            self.queries += 1
            self.version += 1
            self.changed.notify_all()

    def close(self) -> None:
        """The last point is over, too, or all up to the end of the run if there is one."""
        with self.lock:
            end = self.settings.end
            if self.session is not None and self.now is not None:
                until = self.now if end is None else min(self.now, end)
                last = self.session.start if self.session.last is None else self.session.last
                queries = list(range(self.next, until + 1, self.step))
                if self.rules.language != "lars" and until not in (last, *queries[-1:]):
                    queries += [until] if until > last else []
                for query in queries:
                    self._ask(query, query == queries[-1])
            self._ended = True
            self.changed.notify_all()

    def save(self, path: Path) -> bool:
        """Write what it takes to go on later; False if nothing has come yet."""
        if self.session is None:
            return False
        self.session.offsets = self.offsets
        write_whole(path, self.session.save())
        return True

    # --- who looks -------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        """What the run is doing."""
        if self._ended:
            return "ended"
        if self.gate.paused:
            return "paused"
        return "waiting" if self.session is None else "running"

    def status(self) -> dict[str, Any]:
        """How far the run is, in a few plain values."""
        with self.lock:
            session = self.session
            now = time.monotonic()
            recent = [number for moment, number in self._rates if moment >= now - RATES]
            return {
                "state": self.state,
                "version": self.version,
                "query": None if session is None or session.last is None else str(session.last),
                "arrived": None if self.now is None else str(self.now),
                "queries": self.queries,
                "lines": self.lines,
                "lines_per_second": round(sum(recent) / RATES, 1),
                "ahead": sum(map(len, self._held)),
                "letters": self.recent.letters,
                "seconds": round(self.seconds, 6),
                "last_seconds": round(self.last_seconds, 6),
            }


def _with(schema: io.InputSchema, types: Iterable[io.InputType]) -> io.InputSchema:
    known = dict(schema.types)
    for one in types:
        known[one.name] = [*known.get(one.name, ()), one]
    return replace(schema, types=known)


def _kind(line: InputLine) -> tuple[str, bool]:
    """Rows of one kind are read together."""
    return line.source, line.text.lstrip().startswith("{")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _first_line(source: str) -> str:
    """The first line of a file that is taken up further down."""
    if not Path(source).is_file():
        return ""
    with Path(source).open(encoding="utf-8", errors="surrogateescape") as file:
        return file.readline().rstrip("\r\n")
