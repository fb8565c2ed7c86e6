"""The plan engine for LARS programs: all query times at once, or one after the other."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np

from horai.engine.columns import column_of, terms_of
from horai.engine.lars.evaluation import Answers, Evaluation, Plan, plan_of
from horai.engine.lars.live import Live, can_live, reach_of
from horai.engine.lars.signals import Key, Rows, Signals
from horai.engine.symbols import Symbols
from horai.errors import RunError, UsageError
from horai.lang.lars.arithmetic import TooLarge
from horai.lang.lars.predicates import background_facts
from horai.lang.lars.syntax import Atom, Program
from horai.plan.lars.fragments import EndlessValues, NotServed
from horai.plan.lars.intervals import with_fixed_ends
from horai.plan.lars.reach import reach_of as signal_reach
from horai.runtime.lars.admission import ENDLESS, Changes, Known, Signal, SignalMemory
from horai.runtime.lars.engines import ONE, AnswerMode, Model, Moved, endless, too_large
from horai.runtime.lars.log import Coming
from horai.temporal.spans import INF

MOST_POINTS = 64
"""Points between two queries that are passed tick by tick; to skip more of them costs less."""


class PlanEngine:
    """A run of the plan engine. There is one answer at most, so any that is wanted is that one."""

    def __init__(
        self, program: Program, *, start: int, wanted: AnswerMode = ONE, before: Model | None = None
    ) -> None:
        try:
            self.plan = planned(program, start)
        except NotServed as reason:
            hint = "leave the engine out, and one that can is taken"
            raise UsageError(f"the engine plan does not run this: {reason}", hint) from None
        self._program, self._start = program, start
        self._known = SignalMemory()  # of who gives signals and does not keep them
        self._keeps = signal_reach(program)
        self._can_live = can_live(self.plan)
        self._live: Live | None = None  # made when it is first needed
        self._has_answer = True
        self._found: list[Model] = []  # without the former
        self._next = start  # the query time at which it goes on
        self._reach = reach_of(self.plan)
        # Ticks take in no signals of what rules or facts say as well.
        self._defined = {key for stratum in self.plan.strata for key in stratum.keys}
        self._defined |= self.plan.facts.keys()
        self._quiet = 0  # points since something came that could not be taken in by a tick

    @property
    def works_by_change(self) -> bool:
        """Does a query time after another one cost what has changed in between?"""
        return self._can_live

    def advance(
        self, query: int, added: Sequence[Signal], removed: Sequence[Signal]
    ) -> list[Model]:
        """The model at a query time, if there is one: such programs never have two."""
        self._take(query, added, removed)
        if removed:
            self._begin_anew(query, self._known)
        else:
            self.move(query, added, self._known)
        # Any signal may be taken back; in windows that count, another one then takes its place.
        if not self._keeps.counts:
            self._known.forget(query, self._keeps)
        return self.models()

    def models(self) -> list[Model]:
        """The model at the last query time, if there is one."""
        if self._live is None:
            return self._found
        return [frozenset(self._live.atoms)] if self._has_answer else []

    def move(self, query: int, added: Sequence[Signal], known: SignalMemory) -> Moved | None:
        """What has changed since the query time before, where ticks tell.

        Nothing was taken back; `known` are all signals, those that were added among them.
        """
        before = self._live
        if not (self._can_live and self._goes_on(query, added)):
            self._begin_anew(query, known)  # ticks would lack what they have not seen
            return None
        try:
            live = self._living(added, known)
            if live is not None:
                self._has_answer = self._tick(live, query, added)
                news, live.news = live.news, {}
                if live is not before:
                    return None  # it knows nothing of what was said before
                came = [atom for atom, is_there in news.items() if is_there]
                gone = [atom for atom, is_there in news.items() if not is_there]
                return Moved(came, gone, self._has_answer)
            self._quiet += query - self._next + 1
        except (EndlessValues, TooLarge):
            # Rows that came and rows that went have met, which never hold together.
            self._live, self._quiet = None, 0
        self._work_out(query, known)
        return None

    def _begin_anew(self, query: int, known: SignalMemory) -> None:
        self._live, self._quiet = None, 0
        self._work_out(query, known)

    def _work_out(self, query: int, known: SignalMemory) -> None:
        self._next = query + 1
        (self._found,) = self._answers(range(query, query + 1), known)

    def _goes_on(self, query: int, added: Sequence[Signal]) -> bool:
        """Are there only signals of new points, and of nothing that rules or facts say?"""
        first, defined = self._next, self._defined
        return 0 <= query - first < MOST_POINTS and all(
            first <= time <= query and atom.predicate not in defined for time, _, atom in added
        )

    def _living(self, added: Sequence[Signal], known: SignalMemory) -> Live | None:
        """What has been kept up to date; it is made anew once enough points have been quiet.

        Then that costs no more than what has passed.
        """
        if self._next == self._start:
            self._live = Live(self.plan, self._start, Symbols())
        elif self._live is None and self._quiet >= (0 if self._reach is None else self._reach[0]):
            first, ticks = self._replay({signal.order for signal in added}, known)
            if first is not None and self._quiet >= self._next - first:
                self._live = Live(self.plan, self._start, Symbols())
                for time in range(first, self._next):
                    self._live.tick(time, self._rows(self._live, ticks.get(time, ())))
        return self._live

    def _replay(
        self, added: Collection[int], known: SignalMemory
    ) -> tuple[int | None, dict[int, list[Signal]]]:
        """The first point that still matters, and the signals of each point since then.

        None if something is known that ticks do not take in.
        """
        lasting = sorted(signal for signal, _, until in known.known if until == ENDLESS)
        lasting = [signal for signal in lasting if signal.order not in added]
        ticks: dict[int, list[Signal]] = {}
        for signal in lasting:
            if signal.time >= self._next or signal.atom.predicate in self._defined:
                return None, {}
            ticks.setdefault(signal.time, []).append(signal)
        if self._reach is None:
            return self._start, ticks
        points, signals = self._reach
        if len(lasting) < signals:
            return self._start, ticks
        counted = [signal.time for signal in lasting[-signals:]] if signals else []
        return max(self._start, min([self._next - points, *counted])), ticks

    def _rows(self, live: Live, signals: Iterable[Signal]) -> list[tuple[Key, tuple[int, ...]]]:
        code = live.codes.code
        return [(s.atom.predicate, tuple(map(code, s.atom.args))) for s in signals]

    def _tick(self, live: Live, query: int, added: Sequence[Signal]) -> bool:
        """Take all points up to a query time; False if there is no answer."""
        ticks: dict[int, list[Signal]] = {}
        for signal in sorted(added):
            ticks.setdefault(signal.time, []).append(signal)
        for time in range(self._next, query + 1):
            has_answer = live.tick(time, self._rows(live, ticks.get(time, ())))
        self._next = query + 1
        return has_answer

    def advance_all(self, changes: Iterable[Changes], queries: range) -> Iterator[list[Model]]:
        """The same at many query times, worked out together."""
        for query, added, removed in changes:
            self._take(query, added, removed)
        self._live, self._next, self._quiet = None, queries[-1] + 1, 0
        return self._answers(queries, self._known)

    def advance_columns(self, coming: Coming, queries: range) -> Iterator[list[Model]]:
        """The same for signals that are all there is, and that nobody takes back."""
        symbols = Symbols()
        rows = coming.rows(queries, self._start, symbols)
        return self._evaluated(rows, symbols, queries)

    def _take(self, query: int, added: Sequence[Signal], removed: Sequence[Signal]) -> None:
        for signal in added:
            self._known.add(signal, query)
        for signal in removed:
            self._known.end(signal, query)

    def _answers(self, queries: range, known: SignalMemory) -> Iterator[list[Model]]:
        symbols = Symbols()
        return self._evaluated(rows_of(known.known, symbols), symbols, queries)

    def _evaluated(
        self, rows: dict[Key, Rows], symbols: Symbols, queries: range
    ) -> Iterator[list[Model]]:
        signals = Signals(rows, symbols, self._start)
        first, last = queries.start, queries[-1]
        run = Evaluation(self.plan, signals, symbols, self._start, first, last)
        try:
            return _by_query(run.answers(), symbols, queries)
        except (EndlessValues, TooLarge) as error:
            raise self._stopped(error, last) from error

    def _stopped(self, error: EndlessValues | TooLarge, query: int) -> RunError:
        when = f"up to time {query}"
        if isinstance(error, TooLarge):
            return too_large(self._program, error.sign, error.numbers, when)
        return endless(self._program, error.args[0], when)


def planned(program: Program, start: int) -> Plan:
    """How a program is run on a timeline; raises `NotServed`."""
    program = with_fixed_ends(program, start)
    facts = background_facts(program)
    known = {fact.predicate for fact in facts}
    stated = (isinstance(r.head, Atom) and r.head.predicate in known for r in program.rules)
    rules = [rule for rule, is_fact in zip(program.rules, stated, strict=True) if not is_fact]
    return plan_of(rules, facts)


def rows_of(known: Iterable[Known], symbols: Symbols) -> dict[Key, Rows]:
    """Signals as columns, each with when it came to be known and until when."""
    listed: dict[Key, list[Known]] = {}
    for one in known:
        listed.setdefault(one[0].atom.predicate, []).append(one)
    found: dict[Key, Rows] = {}
    for key, some in listed.items():
        args = tuple(
            column_of([signal.atom.args[place] for signal, _, _ in some], symbols)
            for place in range(key[1])
        )
        numbers = np.array([(s.time, since, until, s.order) for s, since, until in some], np.int64)
        time, since, until, order = (numbers[:, place].copy() for place in range(4))
        found[key] = Rows(args, time, since, np.where(until == ENDLESS, INF, until), order)
    return found


def _by_query(answers: Answers, symbols: Symbols, queries: range) -> Iterator[list[Model]]:
    """What holds at each query time, atom by atom."""
    come: dict[int, list[Atom]] = {}
    gone: dict[int, list[Atom]] = {}
    for (name, _), fluent in answers.atoms.items():
        columns = [terms_of(column, symbols) for column in fluent.pairs.columns]
        rows = range(fluent.pairs.rows)
        atoms = [Atom(name, tuple(column[row] for column in columns)) for row in rows]
        for row, low, high in zip(*(part.tolist() for part in fluent.spans), strict=True):
            come.setdefault(low, []).append(atoms[row])
            gone.setdefault(high, []).append(atoms[row])
    broken = list(zip(answers.none.start.tolist(), answers.none.end.tolist(), strict=True))
    changes = sorted({*come, *gone})
    holding: set[Atom] = set()
    place = 0
    for query in queries:
        while place < len(changes) and changes[place] <= query:
            holding.difference_update(gone.get(changes[place], ()))
            holding.update(come.get(changes[place], ()))
            place += 1
        while broken and broken[0][1] <= query:
            broken.pop(0)
        if broken and broken[0][0] <= query:
            yield []
        else:
            yield [frozenset(holding)]
