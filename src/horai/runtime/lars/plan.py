"""The plan engine for LARS programs: all query times at once, or one after the other."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence, Set

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
from horai.runtime.lars.admission import Changes, Signal
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
        # From when until when. The first one of a dict is found by passing over all that are gone.
        self._known: OrderedDict[Signal, list[int]] = OrderedDict()
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
        self.move(query, added, removed)
        return self.models()

    def models(self) -> list[Model]:
        """The model at the last query time, if there is one."""
        if self._live is None:
            return self._found
        return [frozenset(self._live.atoms)] if self._has_answer else []

    def move(self, query: int, added: Sequence[Signal], removed: Sequence[Signal]) -> Moved | None:
        """What has changed since the query time before, where ticks tell."""
        before = self._live
        self._take(query, added, removed)
        if self._can_live and self._goes_on(query, added, removed):
            try:
                live = self._living(added)
                if live is not None:
                    self._has_answer = self._tick(live, query, added)
                    news, live.news = live.news, {}
                    if live is not before:
                        return None  # it knows nothing of what was said before
                    came = [atom for atom, is_new in news.items() if is_new]
                    gone = [atom for atom, is_new in news.items() if not is_new]
                    return Moved(came, gone, self._has_answer)
                self._quiet += query - self._next + 1
            except (EndlessValues, TooLarge):
                # Rows that came and rows that went have met, which never hold together.
                self._live, self._quiet = None, 0
        else:
            self._live, self._quiet = None, 0  # it would lack what it has not seen
        self._next = query + 1
        (self._found,) = self._answers(range(query, query + 1))
        return None

    def _goes_on(self, query: int, added: Sequence[Signal], removed: Sequence[Signal]) -> bool:
        """Are there only signals of new points, and of nothing that rules or facts say?"""
        return (
            0 <= query - self._next < MOST_POINTS
            and not removed
            and all(
                self._next <= s.time <= query and s.atom.predicate not in self._defined
                for s in added
            )
        )

    def _living(self, added: Sequence[Signal]) -> Live | None:
        """What has been kept up to date; it is made anew once enough points have been quiet.

        Then that costs no more than what has passed.
        """
        if self._next == self._start:
            self._live = Live(self.plan, self._start, Symbols())
        elif self._live is None and self._quiet >= (0 if self._reach is None else self._reach[0]):
            first, ticks = self._replay(set(added))
            if first is not None and self._quiet >= self._next - first:
                self._live = Live(self.plan, self._start, Symbols())
                for time in range(first, self._next):
                    self._live.tick(time, self._rows(self._live, ticks.get(time, ())))
        return self._live

    def _replay(self, added: Set[Signal]) -> tuple[int | None, dict[int, list[Signal]]]:
        """The first point that still matters, and the signals of each point since then.

        None if something is known that ticks do not take in.
        """
        lasting = sorted(s for s, (_, until) in self._known.items() if until == INF)
        lasting = [signal for signal in lasting if signal not in added]
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
        self._forget(query)
        return has_answer

    def _forget(self, query: int) -> None:
        """Drop signals that no window reaches any more."""
        if self._reach is None:
            return
        points, signals = self._reach
        while len(self._known) > signals:
            oldest = next(iter(self._known))
            if oldest.time >= query - points:
                return
            del self._known[oldest]

    def advance_all(self, changes: Iterable[Changes], queries: range) -> Iterator[list[Model]]:
        """The same at many query times, worked out together."""
        for query, added, removed in changes:
            self._take(query, added, removed)
        self._live, self._next, self._quiet = None, queries[-1] + 1, 0
        return self._answers(queries)

    def advance_columns(self, coming: Coming, queries: range) -> Iterator[list[Model]]:
        """The same for signals that are all there is, and that nobody takes back."""
        symbols = Symbols()
        rows = coming.rows(queries, self._start, symbols)
        return self._evaluated(rows, symbols, queries)

    def _take(self, query: int, added: Sequence[Signal], removed: Sequence[Signal]) -> None:
        for signal in added:
            self._known[signal] = [query, INF]
        for signal in removed:
            if signal in self._known:  # otherwise it was forgotten: no window reaches it any more
                self._known[signal][1] = query

    def _answers(self, queries: range) -> Iterator[list[Model]]:
        symbols = Symbols()
        return self._evaluated(rows_of(self._known, symbols), symbols, queries)

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


def rows_of(known: dict[Signal, list[int]], symbols: Symbols) -> dict[Key, Rows]:
    """Signals as columns, each with when it came to be known and until when."""
    listed: dict[Key, list[tuple[Signal, list[int]]]] = {}
    for signal, when in known.items():
        listed.setdefault(signal.atom.predicate, []).append((signal, when))
    found: dict[Key, Rows] = {}
    for key, signals in listed.items():
        args = tuple(
            column_of([signal.atom.args[place] for signal, _ in signals], symbols)
            for place in range(key[1])
        )
        numbers = np.array([(s.time, *when, s.order) for s, when in signals], np.int64)
        found[key] = Rows(args, *(numbers[:, place].copy() for place in range(4)))
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
