"""Combined rules as a pipeline of engines: stages of one language each.

At each query time every stage is given the rows that it reads and what the stages before it have
found. What passes from the program to the description are items that come and are taken back; what
passes the other way are spans, each of their points a signal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from horai import io
from horai.engine.admission import Dropped, Stream
from horai.engine.answer import Answer, AtomTable, Part, Which
from horai.engine.arrow_items import ORDER, read_items
from horai.engine.columns import Column, bits, codes, column_of, constant, terms_of
from horai.engine.lars.run import Signal
from horai.engine.numbering import dense
from horai.engine.packing import Packer, Unpacker, readable
from horai.engine.rows import (
    Rows,
    clipped,
    join,
    merged,
    minus,
    no_spans,
    spans,
    without,
    without_times,
)
from horai.engine.symbols import Symbols
from horai.errors import UsageError
from horai.io.schema import TableKey
from horai.lang.core.terms import Constant
from horai.lang.lars.clock import Clock
from horai.lang.lars.predicates import derived, with_rules_for_any
from horai.lang.lars.syntax import At, Atom, Formula, Program, Reset, Within
from horai.lang.lars.walk import children, formulas, in_points, windows
from horai.plan.combined.stages import CombinedStage, Passing
from horai.plan.ec.entities import find_entities
from horai.plan.lars.fragments import ONE, AnswerMode, Reasoning, classify
from horai.plan.lars.reach import reach_of
from horai.plan.lars.strata import Key
from horai.predicates import Predicate
from horai.runtime.answers import item_table
from horai.runtime.engines import (
    AUTO,
    ENGINES,
    SPARK,
    EngineSession,
    engine_session,
)
from horai.runtime.inputs import input_schema
from horai.runtime.lars.answers import AtomFilter
from horai.runtime.lars.compiled import PlanEngine
from horai.runtime.lars.engines import LARS_ENGINES, LarsSession, choose_engine
from horai.runtime.lars.undefined import ProgramFindings
from horai.runtime.records import table_key
from horai.runtime.values import show
from horai.settings import RunSettings, nearest
from horai.temporal.spans import INF, Ints

TRUE = Constant("true")
FROM_PROGRAM = "<program>"
FROM_DESCRIPTION = "said by the description"
NAME, _STAGE = "horai pipeline 2", "horai program stage 5"


def points_of(held: Rows) -> tuple[tuple[Column, ...], Ints]:
    """Every point of every span, which all have an end: arguments and times."""
    count = held["end"] - held["start"]
    row = np.repeat(np.arange(held.size), count)
    begin = np.cumsum(count) - count
    time = np.arange(int(count.sum())) + np.repeat(held["start"] - begin, count)
    return tuple(column.take(row) for column in held.terms), time


def moved(column: Column, old: Symbols, new: Symbols) -> Column:
    """A column with the codes of another table of symbols."""
    if column.kind != "term":
        return column
    numbers, firsts = dense([column.data], len(column))
    terms = [old.term(code) for code in column.data[firsts].tolist()]
    return codes(new.codes(terms)[numbers])


def said_items(
    key: TableKey,
    columns: tuple[Column, ...],
    start: Ints,
    end: Ints | None,
    sign: Ints,
    arrival: int,
    symbols: Symbols,
) -> io.ItemTable:
    """What a program says, as items of an event or a fluent.

    A fluent has its value in the last column, or is `true` without one.
    """
    args, rest = columns[: key.arity], columns[key.arity :]
    value = None
    if key.kind == "fluent":
        value = rest[0] if rest else constant(TRUE, len(start), symbols)
    times = (sign, np.full(len(start), arrival), start, end)
    return item_table(key, FROM_PROGRAM, times, args, value, symbols)


@dataclass(slots=True)
class DerivedAtoms:
    """What holds at each point: atoms by predicate, and the points without an answer."""

    atoms: dict[Key, Rows] = field(default_factory=dict)
    unanswered: list[tuple[int, int]] = field(default_factory=list)


class Evaluator:
    """Works out points of time, given all signals: together if the engine can, or one by one.

    `reach` is how far windows look back, None if that may be to the start; `looks_ahead` says that
    later signals may change what holds at a point. Of several answers counts what holds in all of
    them, or in some, as `reasoning` says.
    """

    def __init__(self, program: Program, start: int, engine: str, reasoning: Reasoning) -> None:
        self.start = start
        self.derived = derived(program)
        is_one = classify(program).strata is not None
        wanted = ONE if is_one else AnswerMode(reasoning=reasoning)
        self._made: Callable[[], LarsSession] = lambda: choose_engine(
            program, engine, start, wanted
        )[1]
        self.session = self._made()
        self.symbols = Symbols()
        self.reach: int | None = None
        if isinstance(self.session, PlanEngine):
            self.symbols = self.session.symbols
            # Answers hold what is derived at their own time only: it is not looked for before.
            self.reach = reach_of(program).points_back(self.derived)
        self.looks_ahead = looks_ahead(program)

    def evaluate(self, rows: dict[Key, Rows], first: int, last: int, goes_on: bool) -> DerivedAtoms:
        """What holds from `first` to `last`; `goes_on` if nothing before them has changed."""
        if isinstance(self.session, PlanEngine):
            return self._together(self.session, rows, first, last)
        return self._one_by_one(rows, first, last, goes_on)

    def _together(
        self, session: PlanEngine, rows: dict[Key, Rows], first: int, last: int
    ) -> DerivedAtoms:
        if self.reach is not None:
            low = first - self.reach
            rows = {key: one.take(one["start"] >= low) for key, one in rows.items()}
        session.again()
        news = session.steps(rows, range(first, last + 1))
        lost = news.unanswered(last + 1)
        none = np.array(lost, np.int64).reshape(-1, 2)
        found = DerivedAtoms(unanswered=lost)
        for key in session.run.tables.outputs:
            words, held = news.spans(key, last + 1)
            columns = map(session.run.words.column, words.T)
            every = merged([spans(held.start, held.end, columns)], self.symbols)
            found.atoms[key] = without_times(every, none)
        return found

    def _one_by_one(
        self, rows: dict[Key, Rows], first: int, last: int, goes_on: bool
    ) -> DerivedAtoms:
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
        found = DerivedAtoms()
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
        found.atoms = spans_of(held, self.symbols)
        return found

    def _signals(self, rows: dict[Key, Rows], low: int) -> list[Signal]:
        listed: list[Signal] = []
        for (name, _), all_rows in rows.items():
            some = all_rows.take(all_rows["start"] >= low)
            columns = [terms_of(column, self.symbols) for column in some.terms]
            args = zip(*columns, strict=True) if columns else iter([()] * some.size)
            numbers = zip(some["start"].tolist(), some[ORDER].tolist(), strict=True)
            listed += [
                Signal(time, order, Atom(name, tuple(row)))
                for (time, order), row in zip(numbers, args, strict=True)
            ]
        return sorted(listed, key=lambda signal: (signal.time, signal.order))


def spans_of(held: dict[Atom, list[int]], symbols: Symbols) -> dict[Key, Rows]:
    """Atoms with the points at which they hold, as spans by predicate."""
    by_key: dict[Key, list[tuple[Atom, int]]] = {}
    for atom, times in held.items():
        by_key.setdefault(atom.predicate, []).extend((atom, time) for time in times)
    found = {}
    for key, listed in by_key.items():
        columns = [
            column_of([atom.args[place] for atom, _ in listed], symbols) for place in range(key[1])
        ]
        time = np.array([time for _, time in listed], np.int64)
        found[key] = merged([spans(time, time + 1, columns)], symbols)
    return found


def looks_ahead(program: Program) -> bool:
    """May what holds at a point depend on signals of later points?"""
    every = [part for rule in program.rules for part in formulas(rule)]
    if any(isinstance(one, Reset) for one in every):
        return True
    if any(one.window.looks_ahead for one in every if isinstance(one, Within)):
        return True
    return any(_names_times(part) for rule in program.rules for part in rule.body)


def _names_times(formula: Formula) -> bool:
    """Does it say at which time something holds, wherever that is?"""
    if isinstance(formula, At | Within):
        return isinstance(formula, At)
    return any(map(_names_times, children(formula)))


_AFTER_ROWS = 1 << 40  # what a description says comes after all rows of its time point


@dataclass(slots=True)
class AtomChange:
    """How the answer of a program has changed at a query time: spans of one predicate."""

    key: Key
    now: Rows  # all of it, as known now
    gone: Rows  # whole spans that are no longer there
    new: Rows  # those that were not there before

    def times(self, symbols: Symbols) -> tuple[Rows, Rows]:
        """The time in which atoms held and no longer do, and the other way round."""
        return minus(self.gone, self.new, symbols), minus(self.new, self.gone, symbols)


def changed(key: Key, before: Rows, now: Rows, symbols: Symbols) -> AtomChange:
    """How what holds differs from what held before."""
    gone, new = without(before, now, symbols), without(now, before, symbols)
    return AtomChange(key, now, gone, new)


class ProgramStage:
    """A LARS program at growing query times.

    At each of them, every point of the window is judged by all that is known. Only points that may
    have changed are worked out.
    """

    def __init__(
        self, program: Program, start: int, window: int | None, engine: str, reasoning: Reasoning
    ) -> None:
        self.program = program
        self.first = self.last = start
        self.first += 1
        self.evaluator = Evaluator(program, self.first, engine, reasoning)
        self.symbols = self.evaluator.symbols
        self.stream = Stream(self.symbols, 1, start, window, ordered=True)
        self.counts = any(one.window.counts for rule in program.rules for one in windows(rule))
        self.feeds: dict[Key, Rows] = {}
        self.derived = {key: no_spans(key[1]) for key in sorted(derived(program))}
        self.unanswered: list[tuple[int, int]] = []
        self.announced: dict[Key, Rows] = {}  # signals ahead, if the program looks there
        self.refused: list[Dropped] = []  # at the last query time
        self.changes: list[AtomChange] = []  # at the last query time
        self.is_restored = False  # then its engine knows nothing yet

    def advance(
        self, query: int, tables: Iterable[io.ItemTable], feeds: dict[Key, Rows]
    ) -> list[AtomChange]:
        """Take in rows of events and what a description says, and tell what has changed."""
        border = self.stream.border(query)
        batches = [read_items(table, self.symbols, tick=1) for table in tables]
        self.refused = self.stream.admit(batches, query)
        change = min(self.stream.changed_from(), self._fed(feeds, query))
        low = min(change, self.last + 1)
        if self.evaluator.looks_ahead:
            before, self.announced = self.announced, self.stream.announced()
            if before or self.announced or change < INF:
                low = self.first
        low = max(low, border + 1)
        goes_on = low > self.last and not self.is_restored
        found = self.evaluator.evaluate(self._rows(low), low, query, goes_on)
        self.is_restored = False
        self.last = query
        self.unanswered = [
            *((start, min(end, low)) for start, end in self.unanswered if start < low),
            *found.unanswered,
        ]
        reach = self.evaluator.reach
        if reach is not None:
            self.stream.forget(dict.fromkeys(self.stream.keys("event"), border - reach))
        self.changes = [
            self._changed(key, found.atoms.get(key, no_spans(key[1])), low) for key in self.derived
        ]
        return self.changes

    def save(self) -> bytes:
        """What it knows between two query times."""
        state = {
            "last": self.last,
            "stream": self.stream.to_state(),
            "feeds": self.feeds,
            "said": self.derived,
            "unanswered": list(self.unanswered),
        }
        return Packer(self.symbols).bytes(_STAGE, state)

    def restore(self, data: bytes) -> None:
        """Go on with what another one knew."""
        state = Unpacker(_STAGE, data, self.symbols).whole()
        self.last = state["last"]
        self.stream = Stream.from_state(state["stream"], self.symbols, ordered=True)
        self.announced = self.stream.announced()
        self.feeds = dict(state["feeds"])
        self.derived = {key: state["said"][key] for key in self.derived}
        self.unanswered = [(start, end) for start, end in state["unanswered"]]
        self.is_restored = True

    def _fed(self, feeds: dict[Key, Rows], query: int) -> int:
        """Take over what a description says; gives the first point that has changed."""
        change = INF
        for key, given in feeds.items():
            before, now = self.feeds.get(key), clipped(given, self.first, query + 1)
            self.feeds[key] = now
            before = no_spans(key[1]) if before is None else before
            for times in changed(key, before, now, self.symbols).times(self.symbols):
                change = min(change, int(times["start"].min(initial=INF)))
        return change

    def _rows(self, low: int) -> dict[Key, Rows]:
        """Rows of the stream and points of what the description says, as far as windows reach."""
        known = [*self.stream.occurrences().items(), *self.announced.items()]
        reach = self.evaluator.reach
        for key, feed in self.feeds.items():
            seen = clipped(feed, self.first if reach is None else low - reach, INF)
            args, time = points_of(seen)
            known.append((key, Rows({"start": time, ORDER: self._order(key, seen)}, args)))
        parts: dict[Key, list[Rows]] = {}
        for key, some in known:
            parts.setdefault(key, []).append(some)
        return {key: join(listed, self.symbols) for key, listed in parts.items()}

    def _order(self, key: Key, held: Rows) -> Ints:
        """The order of what holds at one point, which only windows that count ask for."""
        count = held["end"] - held["start"]
        if not self.counts:
            return np.full(int(count.sum()), _AFTER_ROWS)
        columns = [terms_of(column, self.symbols) for column in held.terms]
        rows = list(zip(*columns, strict=True)) if columns else [()] * held.size
        texts = [tuple(map(show, row)) for row in rows]
        places = {text: place for place, text in enumerate(sorted(set(texts)))}
        ranks = np.array([places[text] for text in texts], np.int64)
        names = sorted(self.feeds).index(key)
        return np.repeat(_AFTER_ROWS + (names << 30) + ranks, count)

    def _changed(self, key: Key, found: Rows, low: int) -> AtomChange:
        before = self.derived[key]
        now = merged([clipped(before, self.first, low), found], self.symbols)
        self.derived[key] = now
        return changed(key, before, now, self.symbols)

    def items(self, passing: Iterable[Passing], single: bool) -> list[io.ItemTable]:
        """What has changed, as items of a description; in a single query, whole spans."""
        changes = {one.key: one.times(self.symbols) for one in self.changes}
        tables = []
        for one in passing:
            name, arity = one.entity.key
            kind: io.Kind = "fluent" if one.is_fluent else "event"
            is_whole = single and one.is_fluent  # there was nothing before
            form = TableKey(name, arity, kind, "intervals" if is_whole else "points")
            for sign, times in zip((-1, 1), changes[one.predicate], strict=True):
                if is_whole:
                    columns, start, end = times.terms, times["start"], times["end"]
                else:
                    (columns, start), end = points_of(times), None
                if len(start):
                    said = (columns, start, end, np.full(len(start), sign))
                    tables.append(said_items(form, *said, self.last, self.symbols))
        return tables


class DescriptionStage:
    """An event description at growing query times, with the rows that it reads."""

    def __init__(self, engine: EngineSession, reads: set[TableKey]) -> None:
        self.engine = engine
        self.reads = reads
        self.answer: Answer | None = None

    def advance(self, query: int, tables: Sequence[io.ItemTable]) -> Answer:
        """The answer with more items known than before."""
        self.answer = self.engine.advance(query, tables)
        return self.answer

    def feeds(self, passing: Iterable[Passing], symbols: Symbols) -> dict[Key, Rows]:
        """What it says, as spans of points in the symbols of a program."""
        assert self.answer is not None
        part, own = self.answer.part("all"), self.answer.symbols
        found: dict[Key, list[Rows]] = {}
        for one in passing:
            taken = _of_fluents if one.is_fluent else _of_events
            found.setdefault(one.predicate, []).append(taken(part, one, own, symbols))
        return {key: merged(parts, symbols) for key, parts in found.items()}


def _of_events(part: Part, one: Passing, old: Symbols, new: Symbols) -> Rows:
    parts = [no_spans(one.entity.arity)]
    for table in part.events:
        if (table.name, len(table.args)) == one.entity.key:
            columns = (moved(column, old, new) for column in table.args)
            parts.append(spans(table.time, table.time + 1, columns))
    return merged(parts, new)


def _of_fluents(part: Part, one: Passing, old: Symbols, new: Symbols) -> Rows:
    parts = [no_spans(one.entity.arity + one.with_value)]
    for table in part.fluents:
        if (table.name, len(table.args)) != one.entity.key:
            continue
        value = moved(table.value, old, new)
        columns = tuple(moved(column, old, new) for column in table.args)
        there = np.ones(len(table.start), np.bool_)
        if one.with_value:
            columns = (*columns, value)
        else:
            true = constant(TRUE, 1, new)
            there = (bits(value) == true.data[0]) & (value.kind == true.kind)
        parts.append(spans(table.start, table.end, columns).take(there))
    return merged(parts, new)


def engines_named(name: str) -> tuple[str, str]:
    """The engines of description and program, by one name.

    >>> engines_named("auto"), engines_named("reference"), engines_named("asp")
    (('auto', 'auto'), ('reference', 'reference'), ('auto', 'asp'))
    """
    if name == SPARK:
        hint = "leave the engine out; each language by itself has its own engines"
        raise UsageError("rules of two languages run in one process, not on Spark", hint)
    known = [*ENGINES, *(engine for engine in LARS_ENGINES if engine not in ENGINES)]
    if name not in known:
        hint = nearest(name, known) or f"the engines are: {', '.join(known)}"
        raise UsageError(f"there is no engine {name!r} for rules of two languages", hint)
    return name if name in ENGINES else AUTO, name if name in LARS_ENGINES else AUTO


class PipelineEngine:
    """A run of combined rules; the last stage of each language has all rules of it.

    In a `single` run there is one query time only.
    """

    def __init__(
        self,
        stages: Sequence[CombinedStage],
        clock: Clock,
        predicates: Mapping[str, Predicate],
        settings: RunSettings,
        start: int,
        single: bool = False,
    ) -> None:
        self.stages, self.start, self.last, self.single = stages, start, start, single
        engines = engines_named(settings.engine)
        if settings.reasoning == "models":
            hint = "it is cautious (what holds in all answers) or brave (in some); answers "
            hint += "themselves are those of a run of the program alone"
            raise UsageError("reasoning cannot be 'models' for rules of two languages", hint)
        self.runners: list[ProgramStage | DescriptionStage] = []
        for stage in stages:
            if isinstance(stage.rules, Program):
                program = in_points(with_rules_for_any(stage.rules), clock)
                reasoning = settings.reasoning
                self.runners.append(
                    ProgramStage(program, start, settings.window, engines[1], reasoning)
                )
                continue
            engine = engine_session(engines[0], stage.rules, settings, start, predicates)
            schema = input_schema(stage.rules, find_entities(stage.rules))
            self.runners.append(DescriptionStage(engine, set(schema.every_key)))
        programs = [stage.rules for stage in stages if isinstance(stage.rules, Program)]
        self.undefined = ProgramFindings(programs[-1], start + 1)
        """Conditions of the program without a value."""
        self.shown = AtomFilter.of_filter(settings.filter, self.program.derived.keys())
        self._answer: Answer | None = None

    @property
    def description(self) -> DescriptionStage:
        """The stage with all rules of the description."""
        return next(s for s in reversed(self.runners) if isinstance(s, DescriptionStage))

    @property
    def program(self) -> ProgramStage:
        """The stage with all rules of the program."""
        return next(s for s in reversed(self.runners) if isinstance(s, ProgramStage))

    @property
    def unanswered(self) -> list[tuple[int, int]]:
        """The spans of points at which the program has no answer."""
        return self.program.unanswered

    def advance(self, until: int, tables: Sequence[io.ItemTable]) -> Answer:
        """The answer at query time `until`, with more items known than before."""
        signals = [table for table in tables if len(table) and table.kind == "event"]
        self.undefined.look(signals)
        atoms: list[AtomChange] = []
        for stage, runner in zip(self.stages, self.runners, strict=True):
            if isinstance(runner, ProgramStage):
                feeds = self._feeds(stage, runner.symbols)
                self._look(runner, feeds, until)
                atoms = runner.advance(until, signals, feeds)
            else:
                mine = [table for table in tables if table.key in runner.reads]
                for place, passing in stage.reads:
                    source = self.runners[place]
                    assert isinstance(source, ProgramStage)
                    mine += source.items(passing, self.single)
                runner.advance(until, mine)
        self.last = until
        if self._answer is not None:
            self._answer.let_go("all")  # the last one has it
        self._answer = self._combined(atoms)
        return self._answer

    def _look(self, runner: ProgramStage, feeds: Mapping[Key, Rows], until: int) -> None:
        """Look at what a description says as at the signals that come."""
        for key in feeds.keys() & self.undefined.asked:
            seen = clipped(feeds[key], runner.first, until + 1)
            times = (np.ones(seen.size, np.int64), np.full(seen.size, until), seen["start"])
            form = TableKey(*key, "event", "points")
            said = item_table(
                form, FROM_DESCRIPTION, (*times, None), seen.terms, None, runner.symbols
            )
            self.undefined.look([said])

    def _feeds(self, stage: CombinedStage, symbols: Symbols) -> dict[Key, Rows]:
        found: dict[Key, Rows] = {}
        for place, passing in stage.reads:
            source = self.runners[place]
            assert isinstance(source, DescriptionStage)
            for key, given in source.feeds(passing, symbols).items():
                found[key] = merged([found[key], given], symbols) if key in found else given
        return found

    def _combined(self, atoms: Sequence[AtomChange]) -> Answer:
        """What both languages say."""
        said = self.description.answer
        assert said is not None
        shown = [one for one in atoms if self.shown.may_show(one.key)]
        mine, border = self.program, self.program.stream.border(self.last)
        forms: dict[Which, Callable[[AtomChange], Rows]] = {
            "all": lambda one: one.now,
            "window": lambda one: one.now.take(one.now["end"] - 1 > border),
            "gone": lambda one: one.gone,
            "new": lambda one: one.new,
        }

        def part(which: Which) -> Callable[[], Part]:
            def compute() -> Part:
                found = said.part(which)
                spans = [(one.key[0], forms[which](one)) for one in shown]
                listed = [_atoms(*one, mine.symbols, said.symbols) for one in spans]
                return Part(found.fluents, found.events, listed)

            return compute

        dropped = [one for one in said.dropped if one.file != FROM_PROGRAM]
        dropped += self._refused(mine.refused)
        return Answer(self.last, said.symbols, dropped, {which: part(which) for which in forms})

    def _refused(self, dropped: Iterable[Dropped]) -> list[Dropped]:
        """Rows that the program alone reads: the description judges all others."""
        return [one for one in dropped if table_key(one.origin) not in self.description.reads]

    def finish(self) -> Sequence[Dropped]:
        """Items that never came to count."""
        left = [one for one in self.description.engine.finish() if one.file != FROM_PROGRAM]
        return [*left, *self._refused(self.program.stream.left_over(self.last))]

    def save(self) -> bytes:
        """What all stages know."""
        state = {
            "last": self.last,
            "stages": [
                runner.save() if isinstance(runner, ProgramStage) else runner.engine.save()
                for runner in self.runners
            ],
        }
        return Packer(Symbols()).bytes(NAME, state)

    def restore(self, saved: bytes) -> None:
        """Take up the run that was saved."""
        with readable():
            state = Unpacker(NAME, saved, Symbols()).whole()
            self.last = state["last"]
            for runner, data in zip(self.runners, state["stages"], strict=True):
                if isinstance(runner, ProgramStage):
                    runner.restore(data)
                else:
                    runner.engine.restore(data)


def _atoms(name: str, held: Rows, old: Symbols, new: Symbols) -> AtomTable:
    columns = tuple(moved(column, old, new) for column in held.terms)
    return AtomTable(name, columns, held["start"], held["end"])
