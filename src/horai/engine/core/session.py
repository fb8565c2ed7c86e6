"""A run on the compiled engine: items in, answers out, query time by query time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from typing import Any
from weakref import ref

import numpy as np
import numpy.typing as npt

from horai.engine.admission import Buffer, Dropped, Few, Given, ItemType, Stream
from horai.engine.answer import (
    Answer,
    Changes,
    EventTable,
    FluentTable,
    Instance,
    Part,
    Which,
)
from horai.engine.arrow_items import ItemKind, read_items
from horai.engine.arrow_items import Source as ItemSource
from horai.engine.columns import Column, concat, terms_of
from horai.engine.core.answer_lines import ChangeLog, Lines
from horai.engine.core.built import compiled
from horai.engine.core.division import divides, homes, looked_at
from horai.engine.core.facts import Rows, StaticFacts
from horai.engine.core.layout import RUN, NotLowered, Relation
from horai.engine.core.listterms import (
    Cuts,
    Pieces,
    Run,
    between_cuts,
    coalesced,
    intervals_of,
    list_term,
    operate,
    spans_of,
)
from horai.engine.core.lowered import (
    Lowered,
    Predicates,
    Wanted,
    lowered_before,
    planned,
    remember,
)
from horai.engine.core.program import Lowering, Program, lower
from horai.engine.core.reach import reach_of
from horai.engine.core.retention import Kept, Shape, after, kept
from horai.engine.core.rules import ARITHMETIC, MEMBERS, Question
from horai.engine.core.saved import restore, save
from horai.engine.core.shards import MOST, Owner, Shards
from horai.engine.core.words import Words, is_of_form
from horai.engine.inputs import Inputs, Tables, beyond, flattened, folded, part_of, tables_of
from horai.engine.profile import Owners, Profile
from horai.engine.symbols import Symbols
from horai.lang import endless
from horai.lang.core.arithmetic import COMPARISONS, NoValue, number_term, value_of
from horai.lang.core.terms import Compound, Term, parameter_count, substitute
from horai.lang.ec.errors import (
    Endless,
    EngineError,
    NotSettled,
    Undefined,
    asks,
    blaming,
    heard_by,
    inside_of,
    is_heard,
    note,
    retell,
)
from horai.lang.ec.syntax import EventDescription
from horai.plan.ec.instructions import ANY, CODE, FORMS, FUNCTIONS, INF, KIND
from horai.plan.ec.modes import PythonPredicate
from horai.plan.operators import AggregateOp, SpanOperation
from horai.temporal.spans import INF as OPEN
from horai.temporal.spans import Ints

Key = tuple[str, int]
COMPUTED = {CODE[name]: sign for sign, name in ARITHMETIC.items()}
_SIGNS = {"CLT": "<", "CLE": "=<", "CEQ": "=:=", "CNE": "=\\="}
COMPARED = {CODE[name]: COMPARISONS[sign] for name, sign in _SIGNS.items()}
MOST_FEW = 60  # arguments of an item that is given without a table
LEAST = 1 << 13
"""Items of a step that are worth a machine of their own."""
ROOM = 1 << 20  # words of the machine, before it looks for what it may forget
FAILURES = {
    3: "the counts of what rules say do not agree; this is a fault of the engine",
    4: "what is known of some instance does not fit together; this is a fault of the engine",
}


def _machine(owner: object) -> Any:
    return compiled("machine").Machine(owner)


class CompiledSession:
    """A session of the compiled engine. Raises `NotLowered` for rules without instructions."""

    def __init__(
        self,
        description: EventDescription,
        *,
        start: int = 0,
        window: int | None = None,
        tick: int = 1,
        allen_memory: int | None = None,
        predicates: Mapping[str, Callable[..., object]] | None = None,
        archive: bool = True,
    ) -> None:
        self.python = Predicates(predicates or {})
        given = tuple(
            PythonPredicate(name, parameter_count(function))
            for name, function in self.python.items()
        )
        wanted = Wanted(given, start, tick, allen_memory)
        lowered = lowered_before(description, wanted)
        self.plan = planned(description, given) if lowered is None else lowered.plan
        self.start, self.window, self.archive = start, window, archive
        self.threads = 1
        """Machines that share the rows, once there are many."""
        self.symbols = Symbols() if lowered is None else lowered.symbols.copy()
        self.words = Words(self.symbols)
        self._stream = Stream(self.symbols, tick, start, window)
        self._few = Few(self._stream, self.words.column)
        self.query = self.final = start
        self.shows_input = True
        self._failure: BaseException | None = None
        self._machine = _machine(self)
        self._words_of_values = compiled("machine").words_of
        self._indexes: list[tuple[Rows, int]] = []
        self._facts = StaticFacts(self.plan, self.words, self.python)
        self.tick = tick
        self.allen_memory = allen_memory
        self.profile: Profile | None = None
        self._owners: Owners | None = None
        self.told: tuple[int, Tables] | None = None
        """What other rules said of the time after a border; the next answer is compared with it."""
        if lowered is None:
            lowered = self._lowered(description, wanted)
        else:
            retell(lowered.undefined)
            for rows, keys in lowered.indexes:
                self._put_index(rows, keys)
        program = self.program = lowered.program
        self._load(program)
        self._running = False
        if program.first is not None:
            self._machine.make(program.first)
        self.shape = lowered.shape
        self.reach = reach_of(program, self.plan, tick, archive)
        self._last: ref[Answer] | None = None
        self._log: ref[ChangeLog] | None = None  # what the last answer says of its changes
        self._lines = Lines(self._machine, program.columns)
        self._room = ROOM
        self._empty = 0  # rows that say nothing, and yet are needed
        self.inputs = Inputs(self.plan.unwrapping, tick, start, window, archive)

    def _lowered(self, description: EventDescription, wanted: Wanted) -> Lowered:
        """The program of the rules, also for later sessions if no Python predicate had a say."""
        undefined = Undefined()
        indexes: list[tuple[Rows, int]] = []

        def put_index(rows: Rows, keys: int) -> int:
            indexes.append((rows, keys))
            return self._put_index(rows, keys)

        try:
            with heard_by(undefined):
                program = self._program(put_index)
        except NotLowered as error:
            if not self.python.was_asked:
                remember(description, wanted, NotLowered(error.reason, error.clause))
            raise
        finally:
            retell(undefined)
        symbols, shape = self.symbols.copy(), Shape(program)
        found = Lowered(self.plan, program, shape, symbols, indexes, undefined)
        if not self.python.was_asked:
            remember(description, wanted, found)
        return found

    def _program(self, put_index: Callable[[Rows, int], int]) -> Program:
        """The program of the rules, with marks if somebody watches."""
        return lower(
            lambda stated: Lowering(
                *(self.plan, self.words, self._facts, put_index),
                *(self.start, self.tick, self.allen_memory),
                *(self._owners, stated),
            )
        )

    def _load(self, program: Program) -> None:
        self._machine.program(*self._words_of(program))

    def _words_of(self, program: Program) -> tuple[Any, ...]:
        """A program as a machine takes it."""
        return (
            *map(_array, (program.code, program.args, program.tables)),
            *map(_array, (program.cols, program.sites, program.cyclic, program.constants)),
            program.own,
            self.start,
            self.tick,
        )

    def _divide(self, items: int) -> None:
        """Go on with several machines, if there are threads for them and so many items."""
        number = min(self.threads, items // LEAST, MOST)
        if number < 2 or isinstance(self._machine, Shards) or not self._divides:
            return
        self._lines.note()
        known = self.kept()
        owners = [Owner(self, place) for place in range(number)]
        machines = [_machine(owner) for owner in owners]
        where = _array(homes(self.program))
        for place, machine in enumerate(machines):
            machine.program(*self._words_of(self.program))
            for rows, keys in self._indexes:
                machine.facts(rows, keys)
            machine.divide(number, place, where, _array(looked_at(self.program)))
        self._machine = Shards(machines, owners, self.program, self.shape, where, self.start)
        self._machine.go_on(self.query)
        self.words.tell_again()
        self._replace(known)
        if self.query == self.start and self.program.first is not None:
            machines[0].make(self.program.first)
        if self._owners is not None:
            self._machine.watch(len(self._owners), self._owners.by_column(self.program.columns))

    @cached_property
    def _divides(self) -> bool:
        return divides(self.program)

    def watch(self, profile: Profile) -> None:
        """Note in a profile what rules cost from now on; the program has marks then."""
        self.profile, profile.program = profile, self.plan
        self._owners = Owners(self.plan)
        program = self._program(self._put_index)
        self._load(program)
        self._machine.watch(len(self._owners), self._owners.by_column(program.columns))
        if self.query > self.start:
            self._machine.go_on(self.query)

    # --- the session -----------------------------------------------------------------------------

    @property
    def stream(self) -> Stream:
        """All items that may still be taken back, and those that wait."""
        self._few.settle()
        return self._stream

    def advance(self, until: int, tables: Iterable[ItemSource] = ()) -> Answer:
        """The answer at query time `until`, with more items known than before."""
        if until <= self.query:
            raise ValueError(f"query times must grow: {until} is not after {self.query}")
        return self._step(until, tables)

    def revise(self, tables: Iterable[ItemSource]) -> Answer:
        """The answer at the last query time once more, with more items known."""
        return self._step(self.query, tables)

    def _step(self, until: int, tables: Iterable[ItemSource]) -> Answer:
        self._check(0)
        self._complete()
        self._forget()
        batches = [read_items(table, self.symbols, self.tick) for table in tables]
        self._divide(sum(map(len, batches)))
        self.query = until
        kept = {key: buffer.kept().size for key, buffer in self._buffers("fluent")}
        dropped = self.stream.admit(batches, until)
        self._begin_step(until)
        self._feed(kept)
        if not (self.shows_input or self.archive):
            self._forget_items()
        self._end_step()
        if self.profile is not None and self._owners is not None:
            spent = np.zeros(3 * len(self._owners) + 3, np.int64)
            self._machine.spent(spent)
            self._owners.tell(spent, self.profile)
        self.final = self.border(until)
        return self._answer(until, dropped)

    def border(self, query: int) -> int:
        """The last time-point of a whole cell that no item can change any more."""
        if self.window is None:
            return self.start
        border = query - self.window
        border -= (border + 1) % self.tick
        return max(self.start, border)

    def _begin_step(self, until: int) -> None:
        self._machine.begin_step(until)
        layout = self.program.layout
        if layout.clock is not None:
            self._machine.touch(layout.clock.table.number, layout.clock.place)
        if RUN in layout.events and not self._running:
            run = layout.events[RUN]
            self._machine.give([(run.table.number, run.place, self.start, ())])
        self._running = True

    def _end_step(self) -> None:
        if self.words.has_new:
            self._machine.symbols(*self.words.numbers())
        try:
            self._check(self._machine.end_step())
        except EngineError as error:
            self._failure = error
            raise

    # --- steps with few items --------------------------------------------------------------------

    def item_type(self, kind: ItemKind, key: Key) -> ItemType | None:
        """A type whose items `advance_few` takes, None for one whose items need columns."""
        if self.shows_input or key in self.plan.unwrapping.positions or key[1] > MOST_FEW:
            return None
        layout = self.program.layout
        if kind == "fluent":
            some = layout.fluents.get(key, [])
            if any(one.derived for one in some):
                return None
            valued = {
                self.words.word(one.value): (one.table.number, one.place)
                for one in some
                if one.value is not None
            }
            place = (some[0].table.number, some[0].place) if some and not valued else None
            return ItemType(kind, key, place, None, valued)
        relation = layout.events.get(key)
        if relation is None:
            return ItemType(kind, key, None, None, {})
        if relation.derived:
            return None
        order = (*relation.keys, *relation.rest)
        place = (relation.table.number, relation.place)
        return ItemType(kind, key, place, None if order == tuple(range(key[1])) else order, {})

    def words_of(self, values: tuple[object, ...]) -> tuple[int, ...] | None:
        """The words of atoms and numbers, None if one of the values is anything else."""
        found: tuple[int, ...] | None = self._words_of_values(
            values, self.symbols.by_name, self.symbols.atom
        )
        return found

    def advance_few(self, until: int, items: Given) -> Answer | None:
        """Like `advance`, for a few items; None if they need columns, and nothing is done."""
        if until <= self.query:
            raise ValueError(f"query times must grow: {until} is not after {self.query}")
        self._check(0)
        if not self._few.admit(items, until):
            return None
        self._complete()
        self._forget()
        self.query = until
        self._begin_step(until)
        self._machine.give(items.for_machine())
        self._end_step()
        self.final = self.border(until)
        return self._answer(until, ())

    def _changes(self, log: ChangeLog) -> list[Changes]:
        """What came and went at a query time, instance by instance."""
        spans, events = log.rows()
        lines = log.lines
        instances, last = lines.instances, -1
        found: list[Changes] = []
        rows: list[tuple[int, int, int, int]] = []
        words = iter(spans.ravel().tolist())
        for sign, line, value, start, end in zip(words, words, words, words, words, strict=True):
            if line != last:
                last, rows = line, []
                found.append(Changes(instances.get(line) or self._instance(line, lines), rows))
            rows.append((value, start, sign, end))
        for sign, line, time in events.tolist():
            instance = instances.get(line) or self._instance(line, lines)
            found.append(Changes(instance, [(0, time, sign, time)]))
        return found

    def _instance(self, line: int, lines: Lines) -> Instance:
        number, words = lines.instance(line)
        relation = self.program.columns[number]
        words = words[: relation.key[1]]
        name, args = relation.key[0], tuple(map(self.words.term, words))
        if relation.key in self.plan.unwrapping.folds:
            columns = tuple(self.words.column(np.array([word], np.int64)) for word in words)
            name, folds = folded(relation.key, columns, 1, self.plan.unwrapping, self.symbols)
            args = tuple(terms_of(column, self.symbols)[0] for column in folds)
        kind: ItemKind = "event" if relation.kind == "event" else "fluent"
        found = lines.instances[line] = Instance(kind, name, args)
        return found

    def hide_input(self) -> None:
        """Leave items out of answers."""
        self.shows_input = False

    def finish(self) -> Sequence[Dropped]:
        """Items that never came to count."""
        return self.stream.left_over(self.query)

    def save(self) -> bytes:
        """All that later answers depend on."""
        return save(self)

    def restore(self, data: bytes) -> None:
        """Take up the run that was saved, with the same rules and settings.

        Raises `NotRestored` for bytes of other rules or settings, and for bytes that are damaged.
        """
        restore(self, data)

    # --- what is kept ----------------------------------------------------------------------------

    def kept(self) -> Kept:
        """All of the machine that may be looked at again."""
        cut, following = (-INF, -INF) if self.window is None else (self.final, self.final + 1)
        if isinstance(self._machine, Shards):
            return self._machine.kept(self.reach, cut, following)
        return kept(self._machine, self.shape, self.reach, cut, following)

    def take_up(self, found: Kept, query: int, final: int, stream: Stream) -> None:
        """Go on where another session was, after a query time and what was final then."""
        self.query, self.final, self._stream = query, final, stream
        self._few = Few(stream, self.words.column)
        if query > self.start:
            self._running = True
        self._machine.go_on(query)
        self._replace(found)

    def _forget(self) -> None:
        """Let go of what nobody looks at any more, once there may be much of it."""
        if self.window is None or self._machine.size() < self._room:
            return
        cut, shape = self.final, self.shape
        points = after(self.reach.points, cut)
        points[shape.kind == KIND["INPUT"]] = cut + 1
        self._machine.trim(points, after(self.reach.spans, cut), shape.stride)
        empty = self._machine.empty()
        if 2 * (empty - self._empty) > self._machine.sizes()[0]:
            self._lines.note()
            self._replace(self.kept())  # without the rows that nobody needs
        else:
            self._room = max(ROOM, 2 * self._machine.size())

    def _replace(self, found: Kept) -> None:
        if self.words.has_new:
            self._machine.symbols(*self.words.numbers())
        self._machine.clear()
        self._lines = Lines(self._machine, self.program.columns)
        self._check(self._machine.take_up(*found, np.empty(len(found.sizes), np.int64)))
        self._room = max(ROOM, 2 * self._machine.size())
        self._empty = self._machine.empty()

    # --- what the machine asks -------------------------------------------------------------------

    def answered(self, number: int, given: list[int]) -> None:
        """Answer a question of an instruction, once for all."""
        if number == FORMS:
            fits = is_of_form(*map(self.words.term, given))
            self._machine.remember(number, given, 0, [[]] if fits else [])
            return
        self._answer_all(number, [tuple(given)])

    def answered_at_once(self, words: Sequence[int]) -> None:
        """Answer many questions: numbers, how many words each has, and these.

        Some may turn out not to be asked, so what is wrong with one is told when it is.
        """
        asked: dict[int, dict[tuple[int, ...], None]] = {}
        at = 0
        while at < len(words):
            end = at + 2 + words[at + 1]
            asked.setdefault(words[at], {})[tuple(words[at + 2 : end])] = None
            at = end
        for number, given in asked.items():
            with suppress(EngineError):
                self._answer_all(number, [*given])

    def _answer_all(self, number: int, asked: Sequence[tuple[int, ...]]) -> None:
        question = self.program.questions[number]
        step = question.step
        if isinstance(step, SpanOperation | Pieces | Cuts):
            self._about_lists(number, asked)
            return
        solver = self._facts.solver
        if MEMBERS in question.given:
            solver = self._facts.with_members(self._members())
        with _asked(question):
            found = solver.answers(step, question.given, question.found, asked)
        self._machine.symbols(*self.words.numbers())
        for given, some in found.items():
            self._machine.remember(number, given, len(question.found), some)

    def _about_lists(self, number: int, asked: Sequence[tuple[int, ...]]) -> None:
        """Answer questions about interval lists as terms."""
        question = self.program.questions[number]
        for given in asked:
            env = dict(zip(question.given, map(self.words.term, given), strict=True))
            with _asked(question):
                answers = self._of_lists(question.step, env)
            if self.words.has_new:
                self._machine.symbols(*self.words.numbers())
            self._machine.remember(number, given, len(question.found), answers)

    def _of_lists(self, step: object, env: Mapping[str, Term]) -> list[list[int]]:
        if isinstance(step, Pieces):
            term = substitute(step.term, env)
            spans = (intervals_of(term) if step.apart else spans_of(term)) or []
            inside = [(max(start, self.start), end) for start, end in spans if end > self.start]
            return [[2 * start + 1, ANY if end == INF else 2 * end + 1] for start, end in inside]
        assert isinstance(step, SpanOperation)
        try:
            found = operate(step.literal, env, self._run())
        except NoValue as error:
            note(error.expression or step.term, env)
            return []
        return [[self.words.word(found)]]

    def _run(self) -> Run:
        return Run(self.start, self.tick, self.query, self.allen_memory)

    def listed(self, times: Sequence[tuple[int, int]]) -> int:
        """The word of an interval list that the machine has."""
        return self._new_word(list_term(coalesced(times)))

    def _new_word(self, term: Term) -> int:
        found = self.words.word(term)
        if self.words.has_new:
            self._machine.symbols(*self.words.numbers())
        return found

    def _members(self) -> dict[Key, Rows]:
        """Who belongs to each dynamic domain now."""
        found: dict[Key, Rows] = {}
        for key in self.plan.dynamic:
            one = self.program.layout.members(key)
            rows = self._machine.having(one.table.number, one.place)
            found[key] = np.array(rows, np.int64).reshape(len(rows), key[1])
        return found

    def totalled(self, number: int, given: list[int], width: int) -> int | None:
        """What an aggregate makes of its different solutions, None if it has no value."""
        question = self.program.questions[number]
        step = question.step
        if isinstance(step, Cuts):
            return self._new_word(between_cuts(map(self.words.term, given[1::2]), self._run()))
        assert isinstance(step, AggregateOp)
        rows = list(dict.fromkeys(zip(*[iter(given)] * width, strict=True)))
        layout = ("", *question.given)  # the first says that there is a solution
        with _asked(question):
            word = self._facts.solver.totals(step, layout)(rows)
        self._machine.symbols(*self.words.numbers())
        return word

    def without_value(self, number: int, words: list[int]) -> bool:
        """Tell that conditions have no value for these words; does anybody want to hear more?"""
        places = iter(words)
        wanted = False
        for told in self.program.unvalued[number]:
            env = {name: self.words.term(next(places)) for name in told.names}
            with inside_of(told.clause), inside_of(told.helper or told.clause):
                asks(told.condition)
                note(told.expression, env)
                wanted |= is_heard()
        return wanted

    def computed(self, op: int, *words: int) -> int | None:
        """What the machine cannot compute or compare exactly; None if it has no value."""
        terms = [self.words.term(word) for word in words]
        if op in COMPARED:
            one, other = (value_of(term, {}) for term in terms)
            return None if one is None or other is None else int(COMPARED[op](one, other))
        if op < 0:
            value = value_of(Compound(FUNCTIONS[-1 - op], (terms[0],)), {})
        else:
            value = value_of(Compound(COMPUTED[op], tuple(terms)), {})
        if value is None:
            return None
        found = self.words.word(number_term(value))
        self._machine.symbols(*self.words.numbers())
        return found

    def interned(self, value: float) -> int:
        """The word of a decimal that has to be kept in the table of terms."""
        if value != value:
            raise EngineError("the result is not a number")
        found = self.words.word(number_term(value))
        self._machine.symbols(*self.words.numbers())
        return found

    def failure(self, error: BaseException) -> None:
        """Keep an error until the machine has stopped."""
        self._failure = error

    def _check(self, code: int) -> None:
        if self._failure is not None:  # the machine has stopped for good
            raise self._failure
        if code == 5:
            name = self.program.called[self._machine.called()]
            raise Endless(endless.too_many_calls(name))
        if code == 6:
            raise self._contradiction(*self._machine.unsettled())
        if code:
            raise EngineError(FAILURES.get(code, f"failure {code}"))

    def _contradiction(self, column: int, time: int) -> NotSettled:
        """An error that names the first rule of those that contradict themselves."""
        relation, levels = self.program.columns[column], self.program.layout.levels
        strata = zip(levels, self.plan.strata, strict=True)
        ruled = [s for level, s in strata if level == relation.level and (s.points or s.delays)]
        ruled.sort(key=lambda one: relation.key not in (*one.events, *one.fluents))
        error = NotSettled(f"at {time} these rules are true if, and only if, they are not")
        clauses = [plan.clause for one in ruled for plan in one.points]
        clauses += [plan.clause for one in ruled for plan in one.delays]
        error.clause = clauses[0] if clauses else None
        return error

    def _put_index(self, rows: Rows, keys: int) -> int:
        self._indexes.append((rows, keys))
        return int(self._machine.facts(rows, keys))

    # --- items -----------------------------------------------------------------------------------

    def _buffers(self, kind: ItemKind) -> list[tuple[Key, Buffer]]:
        return self.stream.buffers(kind)

    def _feed(self, kept: dict[Key, int]) -> None:
        """Give the machine what the last query admitted and took back."""
        for key, buffer in self._buffers("event"):
            for sign, parts in ((-1, buffer.left), (1, buffer.came)):
                for rows in parts:
                    self._events(key, rows.terms, rows["start"], sign)
        for key, buffer in self._buffers("fluent"):
            more = buffer.kept().part(slice(kept.get(key, 0), None))
            changes = [(-1, rows, rows["first"]) for rows in buffer.left]
            changes += [(1, rows, rows["first"]) for rows in buffer.came]
            if more.size:
                changes.append((1, more, more["start"]))
            for sign, rows, first in changes:
                self._fluents(key, rows.terms, first, rows["end"], sign)

    def _events(self, key: Key, args: tuple[Column, ...], time: Ints, sign: int) -> None:
        for flat, columns, rows in flattened(
            key, args, len(time), self.plan.unwrapping, self.symbols
        ):
            relation = self.program.layout.events.get(flat)
            if relation is None:
                continue  # no rule asks for it
            if relation.derived:
                raise EngineError(f"items of {flat[0]}/{flat[1]}, which rules derive")
            places = (*relation.keys, *relation.rest)
            words = [self.words.of_column(columns[place]) for place in places]
            self._give(relation, sign, time[rows], words)

    def _fluents(
        self, key: Key, terms: tuple[Column, ...], start: Ints, end: Ints, sign: int
    ) -> None:
        *args, value = terms
        for flat, columns, rows in flattened(
            key, tuple(args), len(start), self.plan.unwrapping, self.symbols
        ):
            some = self.program.layout.fluents.get(flat)
            if some is None:
                continue  # no rule asks for it
            if some[0].derived:
                raise EngineError(f"items of {flat[0]}/{flat[1]}, which rules define")
            every = [*map(self.words.of_column, columns), self.words.of_column(value.take(rows))]
            self._give_spans(some, sign, start[rows], every, np.minimum(end[rows], INF))

    def _give_spans(
        self, some: list[Relation], sign: int, start: Ints, words: list[Ints], end: Ints
    ) -> None:
        """Intervals of an input fluent, each to the column of its value, the last of its words."""
        for one in some:
            if one.value is None:
                self._give(one, sign, start, [*words, end])
                continue
            mine = np.flatnonzero(words[-1] == self.words.word(one.value))
            if len(mine) == len(end):
                self._give(one, sign, start, [*words[:-1], end])
            elif len(mine):
                args = [column[mine] for column in words[:-1]]
                self._give(one, sign, start[mine], [*args, end[mine]])

    def _give(self, relation: Relation, sign: int, time: Ints, words: list[Ints]) -> None:
        columns = [np.require(one, np.int64, ["C", "W"]) for one in (time, *words)]
        self._machine.feed(relation.table.number, relation.place, sign, columns)

    # --- answers ---------------------------------------------------------------------------------

    def _answer(self, query: int, dropped: Sequence[Dropped]) -> Answer:
        log = ChangeLog(self._lines, self._came_and_went)
        self._log = ref(log)
        border = query - self.window if self.window is not None else -INF
        parts: dict[Which, Callable[[], Part]] = {
            "window": lambda: self._now(border),
            "new": lambda: self._part(log, 1),
            "gone": lambda: self._part(log, -1),
        }
        if self.told is not None:
            border_then, then = self.told
            now = tables_of(self._now(border_then), self.symbols)
            new, gone = (
                part_of(beyond(*sides, self.symbols), self.symbols)
                for sides in ((now, then), (then, now))
            )
            parts |= {"new": lambda: new, "gone": lambda: gone}
            self.told = None
        if self.archive:
            parts["all"] = lambda: self._now(-INF)
        if self.shows_input:
            shown = self._input(query, border)
            parts = {which: partial(_both, part, shown[which]) for which, part in parts.items()}
        elif self.archive and self.window is None:
            parts["input"] = lambda: self._input(query, border)["all"]()
        elif self.archive:
            parts["input"] = self._input(query, border)["all"]
        answer = Answer(query, self.symbols, dropped, parts)
        if not self.shows_input:
            answer.changes = lambda: self._changes(log)
            answer.term = self.words.term
        self._last = ref(answer)
        return answer

    def _input(self, query: int, border: int) -> dict[Which, Callable[[], Part]]:
        """The same about the items themselves, from all of them."""
        fluents = self.inputs.fluents(self.stream)
        shown = self.inputs.shown(self.stream, fluents, border)
        final = self.border(query)
        if final > self.start:
            self.inputs.cut_at(final, fluents, partial(self._needed, final))
            self.inputs.close(final)
            self._forget_items_until(final)
        return shown

    def _needed(self, border: int, key: Key) -> int:
        """Up to when input fluents are forgotten at a border; the machine has what rules need."""
        return border

    def _forget_items(self) -> None:
        """Let go of items that answers do not show and that nobody can take back."""
        self.stream.forget({})

    def _forget_items_until(self, border: int) -> None:
        keys = (*self.stream.keys("event"), *self.stream.keys("fluent"))
        self.stream.forget(dict.fromkeys(keys, border))

    def _complete(self) -> None:
        """Let the last answer be complete, if somebody has it: the machine goes on."""
        if self._log is not None and (log := self._log()) is not None:
            log.rows()
        answer = self._last() if self._last is not None else None
        for which in ("window", "all", "input") if answer is not None else ():
            if answer is not None and answer.has(which):
                answer.part(which)

    def _came_and_went(self) -> tuple[Ints, Ints]:
        """The spans and the events that came and went at this query time."""
        spans = np.frombuffer(self._machine.changelog(), np.int64).reshape(-1, 5)
        events = np.frombuffer(self._machine.events(), np.int64).reshape(-1, 3)
        return self._shown(spans), _netted(events)

    def _now(self, border: int) -> Part:
        """What holds and happens after a border."""
        events: list[EventTable] = []
        fluents: list[FluentTable] = []
        for some in self._by_key.values():
            keys, rows = self._shown_now(some, border)
            if not rows.shape[1]:
                continue
            args = tuple(self.words.column(key, own=True) for key in keys)
            name, args = folded(
                some[0].key, args, rows.shape[1], self.plan.unwrapping, self.symbols
            )
            if some[0].kind == "event":
                events.append(EventTable(name, args, rows[0]))
            else:
                value = self.words.column(rows[2], own=True)
                fluents.append(FluentTable(name, args, value, rows[0], rows[1]))
        return Part(fluents, events)

    @cached_property
    def _by_key(self) -> dict[tuple[str, Key], list[Relation]]:
        """The columns that answers show, together those of an event or a fluent."""
        found: dict[tuple[str, Key], list[Relation]] = {}
        for one in self.program.columns:
            if one.shown and ANY not in one.masked:
                kind = "event" if one.kind == "event" else "fluent"
                found.setdefault((kind, one.key), []).append(one)
        return found

    def _shown_now(self, some: Sequence[Relation], border: int) -> tuple[Ints, Ints]:
        """The keys of their rows after a border, and start, end and value, or else the time."""
        counts = [self._machine.count(one.table.number, one.place, border) for one in some]
        keys = np.empty((some[0].key[1], sum(counts)), np.int64)
        rows = np.empty((1 if some[0].kind == "event" else 3, sum(counts)), np.int64)
        at = 0
        hidden: list[Ints] = []
        for one, count in zip(some, counts, strict=True):
            if count:
                self._machine.show(one.table.number, one.place, border, at, keys, rows)
            if one.masked:
                hidden.append(at + np.flatnonzero(np.isin(rows[2, at : at + count], [*one.masked])))
            at += count
        if any(map(len, hidden)):
            gone = np.concatenate(hidden)
            keys, rows = np.delete(keys, gone, 1), np.delete(rows, gone, 1)
        return keys, rows

    def _shown(self, rows: Ints) -> Ints:
        """Rows of spans without the values that lists show."""
        masked = [one for one in self.program.columns if one.masked]
        if not masked or not len(rows):
            return rows
        numbers = self._lines.columns(rows[:, 1].copy())
        hidden = np.zeros(len(rows), np.bool_)
        for one in masked:
            some = list(one.masked)
            hidden |= (numbers == one.number) & (ANY in some or np.isin(rows[:, 2], some))
        return rows[~hidden]

    def _part(self, log: ChangeLog, sign: int) -> Part:
        """What came, or what went, as tables."""
        spans, events = (rows[rows[:, 0] == sign] for rows in log.rows())
        lines = log.lines
        fluents = [
            FluentTable(name, args, self.words.column(rows[:, 2].copy()), rows[:, 3], _open(rows))
            for name, args, rows in self._tables(spans, lines)
        ]
        happened = [
            EventTable(name, args, rows[:, 2]) for name, args, rows in self._tables(events, lines)
        ]
        return Part(_joined(fluents, self.symbols), happened)

    def _tables(self, rows: Ints, known: Lines) -> Iterable[tuple[str, tuple[Column, ...], Ints]]:
        lines = rows[:, 1].copy()
        numbers = known.columns(lines)
        for number in np.unique(numbers).tolist():
            relation = self.program.columns[number]
            mine = np.flatnonzero(numbers == number)
            keys = known.keys(lines[mine], relation.key[1])
            columns = [self.words.column(np.ascontiguousarray(column)) for column in keys.T]
            name, args = folded(
                relation.key, tuple(columns), len(mine), self.plan.unwrapping, self.symbols
            )
            yield name, args, rows[mine]


@contextmanager
def _asked(question: Question) -> Iterator[None]:
    """What has no value inside, and what goes wrong, belongs to the condition that is asked."""
    with inside_of(question.clause), blaming(question.helper or question.clause):
        asks(question.step.term)
        yield


def _array(numbers: Sequence[int]) -> npt.NDArray[np.int64]:
    return np.array(numbers, np.int64)


def _open(rows: Ints) -> Ints:
    end: Ints = np.where(rows[:, 4] >= INF, OPEN, rows[:, 4])
    return end


def _netted(events: Ints) -> Ints:
    """Of what came and went several times, what is left of it."""
    if not len(events):
        return events
    pairs, places = np.unique(events[:, 1:], axis=0, return_inverse=True)
    net = np.zeros(len(pairs), np.int64)
    np.add.at(net, places.ravel(), events[:, 0])
    there = np.flatnonzero(net)
    return np.column_stack([net[there], pairs[there]])


def _both(one: Callable[[], Part], other: Callable[[], Part]) -> Part:
    """What two parts have together."""
    first, second = one(), other()
    return Part([*first.fluents, *second.fluents], [*first.events, *second.events])


def _joined(tables: list[FluentTable], symbols: Symbols) -> list[FluentTable]:
    """One table for each fluent, though its values may be in several columns."""
    found: dict[tuple[str, int], list[FluentTable]] = {}
    for table in tables:
        found.setdefault((table.name, len(table.args)), []).append(table)
    return [some[0] if len(some) == 1 else _one(some, symbols) for some in found.values()]


def _one(some: list[FluentTable], symbols: Symbols) -> FluentTable:
    args = tuple(concat(columns, symbols) for columns in zip(*(t.args for t in some), strict=True))
    return FluentTable(
        some[0].name,
        args,
        concat([t.value for t in some], symbols),
        np.concatenate([t.start for t in some]),
        np.concatenate([t.end for t in some]),
    )
