"""Several machines for one program, each with the rows that belong to it, on several cores.

To a session they are one machine. A step is done in rounds: all machines settle the levels before
one, then read what the others have written, until nobody has anything to do. Where few items come,
one thread goes from machine to machine.

Python answers one machine at a time, and each question once for all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from threading import Lock
from typing import Any, TypeVar

import numpy as np

from horai.engine.core.division import home_words, merged, parts
from horai.engine.core.program import Program
from horai.engine.core.reach import Reach
from horai.engine.core.retention import Kept, Shape, kept
from horai.plan.ec.instructions import NAMED
from horai.temporal.spans import Ints

T = TypeVar("T")
MOST = 62
"""Machines: each is a bit of a word."""
MANY = 1 << 14
"""Items of a step for which it pays to hand work over to other threads."""


AT_ONCE = 1 << 18
"""So many items are given to the machines together: they need room."""


class Owner:
    """Who answers the questions of one of the machines: the session, while others wait."""

    def __init__(self, session: Any, place: int) -> None:
        self.session, self.place = session, place
        self.shards: Shards | None = None

    def _ask(self, question: Callable[..., T], *given: Any) -> T:
        assert self.shards is not None
        with self.shards.asking(self.place):
            return question(*given)

    def answered(self, number: int, given: list[int]) -> None:
        assert self.shards is not None
        with self.shards.asking(self.place):
            if not self.shards.has_answer(number, given):
                self.session.answered(number, given)

    def answered_at_once(self, words: Sequence[int]) -> None:
        assert self.shards is not None
        with self.shards.asking(self.place):
            asked: list[int] = []
            at = 0
            while at < len(words):
                end = at + 2 + words[at + 1]
                if not self.shards.has_answer(words[at], words[at + 2 : end]):
                    asked += words[at:end]
                at = end
            self.session.answered_at_once(asked)

    def __getattr__(self, name: str) -> Any:
        """Whatever else it may be asked."""
        return partial(self._ask, getattr(self.session, name))

    def failure(self, error: BaseException) -> None:
        self.session.failure(error)
        if self.shards is not None:
            self.shards.stop()


class Shards:
    """Several machines that look like one."""

    def __init__(
        self,
        machines: Sequence[Any],
        owners: Sequence[Owner],
        program: Program,
        shape: Shape,
        homes: Ints,
        start: int,
    ) -> None:
        self.machines, self.shape, self._homes = machines, shape, homes
        self._own, self._levels = program.own, len(program.cyclic)
        self._start, self._started = start, False
        for owner in owners:
            owner.shards = self
        self._lock = Lock()
        self._asking: int | None = None
        self._many = False  # are threads at work?
        self._was_large = False  # did the last step have many items?
        self._answers: dict[tuple[int, tuple[int, ...]], tuple[Any, ...]] = {}
        self._pool = ThreadPoolExecutor(len(machines) - 1, "horai")
        self._fed: list[tuple[Any, ...]] = []
        self._items = self._pending = 0  # that the machines have, and that wait for them
        self._numbers: list[tuple[Any, Any]] = []  # of symbols, those that some have not been told
        self._told = [0] * len(machines)
        self._failed = 0
        self._counts: dict[tuple[int, int], list[int]] = {}  # of a column, by machine

    # --- threads ---------------------------------------------------------------------------------

    def each(self, work: Callable[[int, Any], T], many: bool) -> list[T]:
        """Do some work with all machines, at the same time if there is much of it."""
        if not many:
            return [work(place, machine) for place, machine in enumerate(self.machines)]
        others = [
            self._pool.submit(copy_context().run, work, place, machine)
            for place, machine in enumerate(self.machines)
            if place
        ]
        try:
            first = work(0, self.machines[0])
            wait(others)
        except BaseException:
            self.stop()
            wait(others)
            raise
        return [first, *(other.result() for other in others)]

    def stop(self) -> None:
        """Something has failed: nobody need go on."""
        for machine in self.machines:
            machine.stop()

    @contextmanager
    def asking(self, place: int) -> Iterator[None]:
        """A machine asks; the others have to wait if they want to."""
        with self._lock:
            self._asking = place
            self._tell(place, self.machines[place])
            try:
                yield
            finally:
                self._asking = None

    def remember(self, number: int, given: Sequence[int], *answer: Any) -> None:
        """The answer to a question of the machine that asks; others may ask the same."""
        assert self._asking is not None
        self._answers[number, tuple(given)] = answer
        self.machines[self._asking].remember(number, given, *answer)

    def has_answer(self, number: int, given: Sequence[int]) -> bool:
        """Has another machine asked this before? Then who asks has the answer now."""
        assert self._asking is not None
        answer = self._answers.get((number, tuple(given)))
        if answer is not None:
            self.machines[self._asking].remember(number, given, *answer)
        return answer is not None

    def symbols(self, numeric: Any, reals: Any) -> None:
        """More terms: who asks hears of them at once, the others before they go on."""
        self._numbers.append((numeric, reals))
        for place, machine in enumerate(self.machines):
            if not self._many or place == self._asking:
                self._tell(place, machine)

    def _tell(self, place: int, machine: Any) -> None:
        for one in self._numbers[self._told[place] :]:
            machine.symbols(*one)
        self._told[place] = len(self._numbers)

    # --- a step ----------------------------------------------------------------------------------

    def begin_step(self, query: int) -> None:
        """Go on to a query time; items and initial values may follow."""
        self._started = True
        for machine in self.machines:
            machine.begin_step(query)

    def feed(self, table: int, place: int, sign: int, columns: list[Ints]) -> None:
        """Items of one column."""
        self._fed.append((table, place, sign, columns))
        self._pending += len(columns[0])
        if self._pending >= AT_ONCE:
            self.each(self._feed, True)
            self._fed_all()

    def _feed(self, place: int, machine: Any) -> None:
        for items in self._fed:
            machine.feed(*items)

    def _fed_all(self) -> None:
        self._fed, self._items, self._pending = [], self._items + self._pending, 0

    def give(self, rows: list[Any]) -> None:
        """Items one by one."""
        self.machines[0].give(rows, self.machines[1:])

    def end_step(self) -> int:
        """Bring everything up to date; the error, 0 if there is none."""
        self._many = self._was_large = self._items + self._pending >= MANY
        if self._many:
            self._rounds(self.each(self._accept, True))
            if not self._failed and not all(machine.is_sound() for machine in self.machines):
                self._failed = 4
        else:
            self.each(self._feed, False)
            self._failed = self.machines[0].together(self.machines[1:])
        self._fed_all()
        self._items, self._many = 0, False
        if self._numbers:
            for place, machine in enumerate(self.machines):
                self._tell(place, machine)
            self._numbers, self._told = [], [0] * len(self.machines)
        return self._failed

    def _accept(self, place: int, machine: Any) -> tuple[int, int]:
        self._tell(place, machine)
        self._feed(place, machine)
        machine.accept()
        return machine.settle(self._own)  # type: ignore[no-any-return]

    def _rounds(self, settled: list[tuple[int, int]]) -> None:
        """Machines hear of each other and go on, until there is nothing left to do."""

        while True:
            self._failed = next((error for error, _ in settled if error), 0)
            if self._failed:
                break
            wrote = any(letters for _, letters in settled)
            if wrote:
                self._read(True)
            level = min(machine.waiting() for machine in self.machines)
            if level == self._levels and not wrote:
                break
            level = min(max(self._own, level + 1), self._levels)
            settled = self.each(partial(self._settle, level), True)

    def _read(self, many: bool, quiet: bool = False) -> None:
        """All machines read what the others have written; if `quiet`, nothing follows from it."""

        def receive(place: int, machine: Any) -> None:
            self._tell(place, machine)
            for other in self.machines:
                if other is not machine:
                    machine.receive(other, quiet)

        self.each(receive, many)
        for machine in self.machines:
            machine.sent()

    def _settle(self, level: int, place: int, machine: Any) -> tuple[int, int]:
        self._tell(place, machine)
        return machine.settle(level)  # type: ignore[no-any-return]

    def called(self) -> int:
        """The number of the procedure that calls itself without end."""
        return self._which().called()  # type: ignore[no-any-return]

    def unsettled(self) -> tuple[int, int]:
        """The column of rules that contradict themselves, and the time."""
        return self._which().unsettled()  # type: ignore[no-any-return]

    def _which(self) -> Any:
        return next(machine for machine in self.machines if machine.error() == self._failed)

    def touch(self, table: int, place: int) -> None:
        """The line of an instance without a key is other than it was, at all times."""
        for machine in self.machines:
            machine.touch(table, place)

    def settled(self, time: int) -> None:
        """What answers show before a time is settled."""
        for machine in self.machines:
            machine.settled(time)

    def program(self, *program: Any) -> None:
        """Take a program."""
        for machine in self.machines:
            machine.program(*program)

    def facts(self, rows: Any, keys: int) -> int:
        """A relation with an index over its first columns; its place is the same everywhere."""
        places = [machine.facts(rows, keys) for machine in self.machines]
        return int(places[0])

    def go_on(self, query: int) -> None:
        """Go on from a query time."""
        self._started = query > self._start
        for machine in self.machines:
            machine.go_on(query)

    # --- what is found ---------------------------------------------------------------------------

    def changelog(self) -> bytes:
        """Rows (sign, line, value, start, end) of what came and went."""
        return b"".join(self.each(lambda _, machine: machine.changelog(), self._was_large))

    def events(self) -> bytes:
        """Rows (sign, line, time) of derived events that came and went."""
        return b"".join([machine.events() for machine in self.machines])

    def count(self, table: int, place: int, border: int) -> int:
        """How many spans or events of a column there are after a time."""
        found = self.each(
            lambda _, machine: int(machine.count(table, place, border)), self._was_large
        )
        self._counts[table, place] = found
        return sum(found)

    def show(self, table: int, place: int, border: int, at: int, keys: Ints, rows: Ints) -> None:
        """Put those that were counted last where there is room for them."""
        counts = self._counts[table, place]
        first = np.cumsum([at, *counts]).tolist()
        self.each(
            lambda n, machine: machine.show(table, place, border, first[n], keys, rows),
            sum(counts) >= MANY,
        )

    def describe(self, lines: Ints, columns: Ints) -> None:
        """The columns of some lines."""
        for machine, mine in self._split(lines):
            some = columns[mine]
            machine.describe(lines[mine], some)
            columns[mine] = some

    def keys(self, lines: Ints, keys: Ints) -> None:
        """The keys of some lines of one table."""
        for machine, mine in self._split(lines):
            some = keys[mine]
            machine.keys(lines[mine], some)
            keys[mine] = some

    def _split(self, lines: Ints) -> Iterator[tuple[Any, Ints]]:
        whose = lines >> NAMED
        for place, machine in enumerate(self.machines):
            mine = np.flatnonzero(whose == place)
            if len(mine):
                yield machine, mine

    def instance(self, line: int) -> tuple[int, list[int]]:
        """The column of a line, and the words of its key."""
        return self.machines[line >> NAMED].instance(line)  # type: ignore[no-any-return]

    # --- what is kept ----------------------------------------------------------------------------

    def sizes(self) -> tuple[int, ...]:
        """How many rows, lines, links and timers there are."""
        return tuple(map(sum, zip(*(machine.sizes() for machine in self.machines), strict=True)))

    def size(self) -> int:
        """How many words all of that takes, roughly."""
        return sum(machine.size() for machine in self.machines)

    def empty(self) -> int:
        """How many rows say nothing any more."""
        return sum(machine.empty() for machine in self.machines)

    def trim(self, points: Ints, spans: Ints, stride: Ints) -> None:
        """Let go of points and spans that are over, by column; rows stay."""
        for machine in self.machines:
            machine.trim(points, spans, stride)

    def clear(self) -> None:
        """Forget all rows and what Python answered."""
        self._answers.clear()
        for machine in self.machines:
            machine.clear()

    def kept(self, reach: Reach, cut: int, following: int) -> Kept:
        """All that may be looked at again, whatever machine has it."""
        found = [kept(machine, self.shape, reach, cut, following) for machine in self.machines]
        own = [self._owner(one) == place for place, one in enumerate(found)]
        return merged(found, own, self.shape)

    def take_up(self, *found: Any) -> int:
        """Make rows that were kept. Whoever calls has checked them."""
        *arrays, _ = found
        whole = Kept(*arrays)
        every = parts(whole, self._owner(whole), len(self.machines), self.shape)
        for place, (machine, one) in enumerate(zip(self.machines, every, strict=True)):
            self._tell(place, machine)
            error: int = machine.take_up(*one, np.empty(len(one.sizes), np.int64))
            if error:
                self._failed = error
                return error
        # They tell each other what they know already, unless nothing ever ran.
        while self._started:
            wrote = [machine.settle(0)[1] for machine in self.machines]
            if not any(wrote):
                break
            self._read(False, quiet=True)
        return 0

    def _owner(self, found: Kept) -> Ints:
        words, has = home_words(found, self.shape, self._homes)
        owner = np.empty(len(words), np.int64)
        self.machines[0].owners(words, owner)
        return np.where(has, owner, 0)

    def counts(self) -> dict[str, int]:
        """What the run has cost so far, in all machines together."""
        found: Counter[str] = Counter()
        for machine in self.machines:
            found.update(machine.counts())
        return dict(found)

    # --- what rules cost -------------------------------------------------------------------------

    def watch(self, number: int, owners: Any) -> None:
        """Count what so many rules cost."""
        for machine in self.machines:
            machine.watch(number, owners)

    def spent(self, found: Ints) -> None:
        """The runs, rows and nanoseconds of each rule, in all machines together."""
        for machine in self.machines:
            some = np.zeros_like(found)
            machine.spent(some)
            found += some
