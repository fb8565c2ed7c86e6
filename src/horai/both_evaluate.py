"""A LARS program over a range of time points, of which all that is known is known at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from horai.both_log import only
from horai.both_points import clipped
from horai.engine.columns import column_of, terms_of
from horai.engine.lars.evaluation import Endless, Evaluation
from horai.engine.lars.literals import NotPlain
from horai.engine.lars.live import reach_of
from horai.engine.lars.signals import Key, Rows, Signals
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent, fluent_of
from horai.errors import RunError, UsageError
from horai.lang.lars.predicates import derived
from horai.lang.lars.syntax import (
    At,
    Atom,
    FilterWindow,
    Formula,
    IntervalWindow,
    PartitionWindow,
    Program,
    Reset,
    TimeWindow,
    TupleWindow,
    Within,
)
from horai.lang.lars.walk import children
from horai.lars_engines import AUTO, ONE, LarsSession, lars_engine
from horai.lars_plan import planned
from horai.lars_signals import Signal
from horai.lars_wanted import Wanted, Which
from horai.plan.lars import classify
from horai.temporal.algebra import difference
from horai.temporal.spans import Spans


@dataclass(slots=True)
class Found:
    """What holds at each point: atoms by predicate, and the points without an answer."""

    atoms: dict[Key, Fluent] = field(default_factory=dict)
    unanswered: list[tuple[int, int]] = field(default_factory=list)


class Evaluator(Protocol):
    """Works out points of time, given all signals."""

    reach: int | None  # how far windows look back; None if they may look back to the start
    looks_ahead: bool  # may later signals change what holds at a point?

    def evaluate(self, rows: dict[Key, Rows], first: int, last: int, goes_on: bool) -> Found:
        """What holds from `first` to `last`; `goes_on` where nothing before them has changed."""


def evaluator(
    program: Program, start: int, symbols: Symbols, engine: str, which: Which
) -> Evaluator:
    """The evaluator of an engine; `auto` takes the best one for a program.

    `which` says what counts where there are several answers: what holds in all of them, or in some.
    """
    if engine in (AUTO, "plan"):
        try:
            return Together(program, start, symbols)
        except NotPlain as reason:
            if engine != AUTO:
                hint = "leave the engine out, and one that can is taken"
                raise UsageError(f"the engine plan does not run this: {reason}", hint) from None
    return OneByOne(program, start, symbols, engine, which)


class Together:
    """The plan engine: all points at once."""

    def __init__(self, program: Program, start: int, symbols: Symbols) -> None:
        self.plan = planned(program, start)
        self.start = start
        self.symbols = symbols
        reach = reach_of(self.plan)
        self.reach = reach[0] if reach is not None and not reach[1] else None
        self.looks_ahead = looks_ahead(program)

    def evaluate(self, rows: dict[Key, Rows], first: int, last: int, goes_on: bool) -> Found:
        """What holds from `first` to `last`."""
        if self.reach is not None:
            low = first - self.reach
            rows = {key: only(one, one.time >= low) for key, one in rows.items()}
        signals = Signals(rows, self.symbols, self.start)
        run = Evaluation(self.plan, signals, self.symbols, self.start, first, last)
        try:
            answers = run.answers()
        except Endless as error:
            raise RunError(f"{error} (up to time {last})") from error
        none = answers.none
        lost = list(zip(none.start.tolist(), none.end.tolist(), strict=True))
        atoms = {key: clipped(one, first, last + 1) for key, one in answers.atoms.items()}
        return Found({key: _without(one, none) for key, one in atoms.items()}, lost)


def _without(fluent: Fluent, none: Spans) -> Fluent:
    """What is left when nothing holds at some points."""
    if not len(none):
        return fluent
    keys = np.repeat(np.arange(fluent.pairs.rows), len(none))
    every = (np.tile(side, fluent.pairs.rows) for side in (none.start, none.end))
    return Fluent(fluent.pairs, difference(fluent.spans, Spans(keys, *every)))


class OneByOne:
    """Other engines: point by point. Of several answers, what holds in all or some of them."""

    def __init__(
        self, program: Program, start: int, symbols: Symbols, engine: str, which: Which
    ) -> None:
        self.program = program
        self.start = start
        self.symbols = symbols
        self.engine = engine
        self.derived = derived(program)
        self.wanted = ONE if classify(program).strata is not None else Wanted(which=which)
        self.reach: int | None = None
        self.looks_ahead = looks_ahead(program)
        self.session = self._made()

    def _made(self) -> LarsSession:
        return lars_engine(self.engine)(self.program, start=self.start, wanted=self.wanted)

    def evaluate(self, rows: dict[Key, Rows], first: int, last: int, goes_on: bool) -> Found:
        """What holds from `first` to `last`."""
        if goes_on and not self.looks_ahead:
            signals = self._signals(rows, first)
        else:
            self.session = self._made()
            signals = self._signals(rows, self.start)
        own: dict[int, set[Atom]] = {}
        for signal in signals:
            if signal.atom.predicate in self.derived:
                own.setdefault(signal.time, set()).add(signal.atom)
        held: dict[Atom, list[int]] = {}
        found = Found()
        given = 0
        for now in range(first, last + 1):
            until = given
            while until < len(signals) and (self.looks_ahead or signals[until].time <= now):
                until += 1
            models = self.session.advance(now, signals[given:until], ())
            given = until
            if not models:
                found.unanswered.append((now, now + 1))
                continue
            for atom in frozenset.intersection(*models) | own.get(now, set()):
                held.setdefault(atom, []).append(now)
        found.atoms = fluents_of(held, self.symbols)
        return found

    def _signals(self, rows: dict[Key, Rows], low: int) -> list[Signal]:
        listed: list[Signal] = []
        for (name, _), all_rows in rows.items():
            some = only(all_rows, all_rows.time >= low)
            columns = [terms_of(column, self.symbols) for column in some.args]
            args = zip(*columns, strict=True) if columns else iter([()] * len(some))
            numbers = zip(some.time.tolist(), some.number.tolist(), strict=True)
            listed += [
                Signal(time, order, Atom(name, tuple(row)))
                for (time, order), row in zip(numbers, args, strict=True)
            ]
        return sorted(listed, key=lambda signal: (signal.time, signal.order))


def fluents_of(held: dict[Atom, list[int]], symbols: Symbols) -> dict[Key, Fluent]:
    """Atoms with the points at which they hold, as spans by predicate."""
    by_key: dict[Key, list[tuple[Atom, int]]] = {}
    for atom, times in held.items():
        by_key.setdefault(atom.predicate, []).extend((atom, time) for time in times)
    found = {}
    for key, listed in by_key.items():
        columns = tuple(
            column_of([atom.args[place] for atom, _ in listed], symbols) for place in range(key[1])
        )
        time = np.array([time for _, time in listed], np.int64)
        found[key] = fluent_of(columns, time, time + 1, len(time), symbols)
    return found


def looks_ahead(program: Program) -> bool:
    """May what holds at a point depend on signals of later points?"""
    return any(_ahead(part, False) for rule in program.rules for part in rule.body)


def _ahead(formula: Formula, windowed: bool) -> bool:
    match formula:
        case At() if not windowed:
            return True
        case Reset() | Within(window=FilterWindow() | IntervalWindow()):
            return True
        case Within(window=TimeWindow(future=future)) if future.amount != 0:
            return True
        case Within(window=TupleWindow(future=ahead) | PartitionWindow(future=ahead)) if ahead != 0:
            return True
    inside = windowed or isinstance(formula, Within)
    return any(_ahead(part, inside) for part in children(formula))
