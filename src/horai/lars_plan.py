"""The plan engine for LARS programs: all query times at once, or one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from horai.engine.columns import column_of, terms_of
from horai.engine.lars.evaluation import Answers, Endless, Evaluation, Plan, plan_of
from horai.engine.lars.literals import NotPlain
from horai.engine.lars.live import Live, can_live, reach_of
from horai.engine.lars.signals import Key, Rows, Signals
from horai.engine.symbols import Symbols
from horai.errors import RunError, UsageError
from horai.lang.lars.predicates import background_facts
from horai.lang.lars.syntax import Atom, Program, Rule
from horai.lars_engines import Changes, Model
from horai.lars_signals import Signal
from horai.temporal.spans import INF


class Session:
    """A run of the plan engine."""

    def __init__(self, program: Program, *, start: int) -> None:
        try:
            self.plan = planned(program)
        except NotPlain as reason:
            hint = "leave the engine out, and one that can is taken"
            raise UsageError(f"the engine plan does not run this: {reason}", hint) from None
        self._start = start
        self._known: dict[Signal, list[int]] = {}  # from when until when
        self._live = Live(self.plan, start, Symbols()) if can_live(self.plan) else None
        self._next = start  # the query time at which it goes on
        self._reach = reach_of(self.plan)

    def advance(
        self, query: int, added: Sequence[Signal], removed: Sequence[Signal], *, every: bool
    ) -> list[Model]:
        """The model at a query time, if there is one: such programs never have two."""
        self._take(query, added, removed)
        if self._live is not None and self._goes_on(query, added, removed):
            return self._tick(self._live, query, added)
        self._live = None  # from now on it would lack what it has not seen
        (models,) = self._answers(range(query, query + 1))
        return models

    def _goes_on(self, query: int, added: Sequence[Signal], removed: Sequence[Signal]) -> bool:
        """Is it the next point, with signals of that point and of nothing that rules derive?"""
        derived = {key for stratum in self.plan.strata for key in stratum.keys}
        return (
            query == self._next
            and not removed
            and all(s.time == query and s.atom.predicate not in derived for s in added)
        )

    def _tick(self, live: Live, query: int, added: Sequence[Signal]) -> list[Model]:
        self._next = query + 1
        ordered = sorted(added, key=lambda signal: signal.order)
        code = live.codes.code
        signals = [(s.atom.predicate, tuple(map(code, s.atom.args))) for s in ordered]
        has_answer = live.tick(query, signals)
        self._forget(query)
        return [frozenset(live.atoms)] if has_answer else []

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
        return self._answers(queries)

    def _take(self, query: int, added: Sequence[Signal], removed: Sequence[Signal]) -> None:
        for signal in added:
            self._known[signal] = [query, INF]
        for signal in removed:
            self._known[signal][1] = query

    def _answers(self, queries: range) -> Iterator[list[Model]]:
        symbols = Symbols()
        signals = Signals(rows_of(self._known, symbols), symbols, self._start)
        first, last = queries.start, queries[-1]
        run = Evaluation(self.plan, signals, symbols, self._start, first, last)
        try:
            return _by_query(run.answers(), symbols, queries)
        except Endless as error:
            raise RunError(f"{error} (up to time {last})") from error


def planned(program: Program) -> Plan:
    """How a program is run; raises `NotPlain`."""
    facts = background_facts(program)
    known = {fact.predicate for fact in facts}
    return plan_of([rule for rule in program.rules if not _states(rule, known)], facts)


def _states(rule: Rule, known: set[Key]) -> bool:
    return isinstance(rule.head, Atom) and rule.head.predicate in known


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
