"""LARS programs in buckets: signals go to the parts that read them, and each bucket is asked apart.

The parts of a program need nothing of each other, so one round is enough. In a part that is split,
a bucket may derive atoms about entities of other buckets, out of background facts alone. So each
bucket tells of its own, and each predicate is told of by one part.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import TypeVar

import pyarrow as pa

from horai.errors import RunError, UsageError
from horai.io.items.tables import ItemTable, Narrative
from horai.io.letters import DeadLetter
from horai.io.schema import TableKey
from horai.lang.core.diagnostics import Diagnostic
from horai.lang.core.terms import Term
from horai.lang.lars.predicates import background, derived, head_predicates, inputs
from horai.lang.lars.syntax import Atom, Predicate, Program
from horai.plan.lars.check import written_at
from horai.plan.lars.fragments import ONE
from horai.plan.split.lars import Parts, ProgramPart, UnsplitProgram, parts_of
from horai.result import Answer, Result
from horai.runtime.engines import AUTO, SPARK
from horai.runtime.findings import empty, unread
from horai.runtime.hashing import combined, hash_terms
from horai.runtime.inputs import files_of, letters_of
from horai.runtime.jobs import Job, Load
from horai.runtime.lars.admission import numbered
from horai.runtime.lars.answers import (
    AtomFilter,
    AtomGroup,
    GivenAnswer,
    PointAnswer,
    PointAnswers,
    check_form,
)
from horai.runtime.lars.engines import answer_mode
from horai.runtime.lars.session import ProgramEngine, program_queries
from horai.runtime.lars.undefined import ProgramFindings
from horai.runtime.metrics import Metrics
from horai.runtime.records import (
    ANSWERS,
    BlobLabel,
    Exchanger,
    Record,
    joined,
    message,
    over_buckets,
    packed,
    unpacked,
)
from horai.runtime.rounds import Extent, Outcome, Rounds, told_of
from horai.runtime.routes import Entity, Route, Routes, engine_round
from horai.runtime.values import parse_term, show
from horai.settings import RunSettings
from horai.tools.codes import judged

H = TypeVar("H")
ROUND = engine_round(0)


@dataclass(frozen=True, slots=True)
class PartTask:
    """A part as buckets run it: its rules, which signals it gets, and what it tells of.

    Without `reads` it gets all signals but those in `others`, and tells of all but them.
    """

    number: int
    program: Program
    routes: Routes
    is_split: bool
    reads: frozenset[Predicate] | None = None
    tells: frozenset[Predicate] | None = None
    others: frozenset[Predicate] = frozenset()

    def gets(self, key: TableKey) -> bool:
        """Are signals of a kind for this part?"""
        predicate = (key.name, key.arity)
        return predicate not in self.others if self.reads is None else predicate in self.reads

    def owns(self, bucket: int, atom: Atom) -> bool:
        """Does a bucket tell of an atom?"""
        told = self.tells
        if atom.predicate in self.others if told is None else atom.predicate not in told:
            return False
        if not self.is_split:
            return True
        (route,) = self.routes.routes.get(_entity(atom.predicate), [self.routes.rest])
        places = range(len(atom.args)) if route.place is None else route.place
        numbers = [hash_terms([atom.args[place]]) for place in places]
        hashes = combined(numbers, 1) if route.place is None else numbers[0]
        return int(self.routes.bucket(hashes)[0]) == bucket


def tasks_of(program: Program, parts: Parts, buckets: int) -> list[PartTask]:
    """The parts of a program in some number of buckets, and one for what no rule reads."""
    if not parts.are_split:
        return [PartTask(0, program, Routes(buckets, rest=Route(ROUND, None)), False)]
    known = background(program)
    homes: dict[Predicate, int] = dict.fromkeys(known, len(parts.parts))
    for number, part in enumerate(parts.parts):
        homes.update(dict.fromkeys(part.makes, number))
    for number, part in enumerate(parts.parts):
        for predicate in part.reads:
            homes.setdefault(predicate, number)
    found = [
        PartTask(
            number,
            part.program(program),
            _routes(part, known, buckets),
            part.unsplit is None,
            None if part.counts else part.reads,
            frozenset(one for one, home in homes.items() if home == number),
        )
        for number, part in enumerate(parts.parts)
    ]
    facts = [rule for rule in program.rules if head_predicates(rule) & known]
    rest = Routes(buckets, rest=Route(ROUND, None, whole=True))
    others = frozenset(one for one, home in homes.items() if home < len(parts.parts))
    left = Program(tuple(facts), program.sources)
    return [*found, PartTask(len(found), left, rest, True, others=others)]


def _routes(part: ProgramPart, known: set[Predicate], buckets: int) -> Routes:
    """Signals go to the bucket of their key; those about background may matter in all of them."""
    found = Routes(buckets, rest=Route(ROUND, None))
    if part.unsplit is None:
        for predicate in part.reads:
            place = part.places.get(predicate)
            route = Route(ROUND, None if place is None else (place,), everywhere=predicate in known)
            found.routes[_entity(predicate)] = [route]
    return found


def _entity(predicate: Predicate) -> Entity:
    return ("event", *predicate)


def sent(tasks: Sequence[PartTask], seq: int, narrative: Narrative) -> Iterator[Record]:
    """Signals on their way to the parts and buckets that read them."""
    for table in narrative.tables:
        for task in tasks:
            if task.gets(table.key):
                yield from task.routes.send(task.number, seq, table.key, table.table, "items", -1)
    yield message(seq, "rounds", [ROUND])
    yield message(seq, "came", [(t.name, t.arity, len(t)) for t in narrative.tables])
    yield from told_of(seq, narrative)


@dataclass(frozen=True)
class ProgramTask:
    """A run of a program as workers need it; `form` is that of its answers, None for all."""

    settings: RunSettings
    shown: AtomFilter
    files: Sequence[str]
    form: str | None
    program: Program  # as it was written

    def answers(
        self, part: PartTask, bucket: int, tables: Sequence[ItemTable], queries: range
    ) -> tuple[pa.Table, Sequence[DeadLetter]]:
        """The answers of a part in a bucket, and rows that were not used."""
        whole, lateness = part.tells is None and not part.is_split, self.settings.allowed_lateness
        engine = ProgramEngine(
            part.program,
            start=queries.start,
            step=queries.step,
            engine=AUTO,
            wanted=answer_mode(self.settings) if whole else ONE,
            shown=self.shown,
            lateness=lateness,
        )
        found = engine.over(numbered(tables, self.files), queries)
        letters = letters_of([*found.dropped, *engine.left(queries.stop - 1)])
        if not whole:
            found.said = _own(found.said, part, bucket)
        if self.form is None:
            return said_in(found), letters
        return table_of(found.groups(self.form)), letters

    def run(
        self, part: PartTask, queries: range, bucket: int, records: Sequence[Record]
    ) -> Iterator[Record]:
        """What a bucket has to say of a part."""
        tables = _tables(records)
        if (bucket and not part.is_split) or not (tables or part.program.rules):
            return
        began = time.perf_counter()
        findings = ProgramFindings(self.program, queries.start)
        findings.look(tables)
        if told := findings.told():
            yield message(bucket, "without value", told)
        try:
            answers, letters = self.answers(part, bucket, tables, queries)
        except RunError as error:
            yield message(bucket, "error", {"query": queries[-1], "text": str(error)})
            return
        if answers.num_rows:
            label, blob = BlobLabel("lars").dump(), packed(answers)
            yield Record(ANSWERS, bucket, part.number, bucket, bucket, label, blob)
            yield message(bucket, "rounds", [ANSWERS])
        if letters:
            yield message(bucket, "letters", letters)
        yield message(bucket, "took", time.perf_counter() - began)


def _tables(records: Sequence[Record]) -> list[ItemTable]:
    """The signals of records; their order is that of files and lines."""
    groups: dict[TableKey, list[Record]] = {}
    for record in sorted(records, key=lambda record: record.seq):
        groups.setdefault(BlobLabel.load(record.label).key, []).append(record)
    return [joined(key, [unpacked(r.blob) for r in some]) for key, some in groups.items()]


def _own(said: Iterable[GivenAnswer], part: PartTask, bucket: int) -> list[GivenAnswer]:
    """What a bucket tells of: its own atoms."""
    owned: dict[Atom, bool] = {}

    def own(atom: Atom) -> bool:
        if atom not in owned:
            owned[atom] = part.owns(bucket, atom)
        return owned[atom]

    def mine(answer: PointAnswer) -> PointAnswer:
        return PointAnswer(answer.query, tuple(tuple(filter(own, m)) for m in answer.models))

    return [
        one._replace(
            answer=mine(one.answer), before=one.before and mine(one.before), came=None, gone=None
        )
        for one in said
    ]


@dataclass
class ProgramJob(Job):
    """A run of a program; `form` is as of its task."""

    form: str | None = None

    def __post_init__(self) -> None:
        check_form(self.form, self.numbered, self.revisable)

    @property
    def numbered(self) -> bool:
        """May there be several answers at a time?"""
        return answer_mode(self.settings).is_numbered

    @property
    def revisable(self) -> bool:
        """May late signals change answers?"""
        return self.settings.allowed_lateness is not None

    @cached_property
    def points(self) -> Program:
        """The program with its windows in time points."""
        return self.rules.in_points(self.settings.clock, self.settings.unit)

    @cached_property
    def parts(self) -> Parts:
        return parts_of(self.points)

    def queries(self, extent: Extent | None) -> range:
        """The query times, once it is known what the input covers."""
        return program_queries(self.settings, extent)

    def run(self, grid: Exchanger[H], buckets: int, load: Load[H]) -> Rounds[H]:
        """Run over what is loaded: all parts share the only round."""
        shown = AtomFilter.of_filter(self.settings.filter, derived(self.rules.program))
        files = files_of(self.input)
        task = ProgramTask(self.settings, shown, files, self.form, self.rules.program)
        parts = tasks_of(self.points, self.parts, buckets)
        found = Rounds(grid, buckets if any(part.is_split for part in parts) else 1)
        load(found, partial(sent, parts))
        if found.outcome.unreadable is None:
            queries = self.queries(found.outcome.extent)
            runs = [(part.number, buckets, partial(task.run, part, queries)) for part in parts]
            found.work({ROUND}, over_buckets(runs, found.slots), "stage 0: run the engine")
        return found

    def result(self, outcome: Outcome, found: Iterable[Record]) -> Result:
        """The result of a run whose answers are here."""
        said = _merged(found, self.queries(outcome.extent), self.revisable)
        raw = PointAnswers(list(said), self.numbered, self.revisable)
        unsplit = [part.unsplit for part in self.parts.parts if part.unsplit is not None]
        return Result(
            self.rules,
            [Answer(raw)],
            letters_in(outcome),
            self.settings.answers or "windows",
            self.settings.unit,
            engine=SPARK,
            reasons=[told_why(one) for one in unsplit],
            measure=not_counted,
            warnings=self.warnings(outcome),
        )

    def warnings(self, outcome: Outcome) -> list[Diagnostic]:
        """What is to be said of the input."""
        queries = self.queries(outcome.extent)
        findings = ProgramFindings(self.rules.program, queries.start)
        findings.hear(outcome.without_value, files_of(self.input))
        found = list(findings.findings(queries[-1], letters_in(outcome)))
        came, asked = outcome.came, inputs(self.rules.program)
        if came and asked and not came.keys() & asked:
            found += unread(sum(came.values()), came, asked)
        return judged([*found, *empty(outcome.empty)], self.rules.severities)


def letters_in(outcome: Outcome) -> list[DeadLetter]:
    """Rows that were not used, in their order; several buckets may say the same of one."""
    return sorted(set(outcome.letters), key=lambda letter: (letter.file, letter.line))


def not_counted() -> Metrics:
    """Signals may be read by several buckets, none of which counts for all."""
    hint = "leave out the engine spark"
    raise UsageError("signals are counted by runs in one process only", hint)


def told_why(unsplit: UnsplitProgram) -> str:
    """Why something is not split, in a line."""
    place = None if unsplit.rule is None else written_at(unsplit.rule)
    return f"{unsplit.reason}{f' ({place})' if place else ''}, so one bucket works it out"


def _merged(found: Iterable[Record], queries: range, revisable: bool) -> Iterator[GivenAnswer]:
    """What all buckets together said: revised answers, then the new one, query by query."""
    news: dict[int, dict[int, dict[tuple[int, int], PointAnswer]]] = {}
    for record in found:
        source = (record.run, record.bucket)
        for arrived, answer, *_ in said_by(unpacked(record.blob)):
            news.setdefault(arrived, {}).setdefault(answer.query, {})[source] = answer
    parts: dict[int, dict[tuple[int, int], PointAnswer]] = {}
    known: dict[int, PointAnswer] = {}
    last: PointAnswer | None = None
    for arrived in queries:
        for query in sorted({*news.get(arrived, {}), arrived}):
            mine = parts.setdefault(query, {})
            mine.update(news.get(arrived, {}).get(query, {}))
            answer = PointAnswer.together(query, list(mine.values()))
            if query == arrived or answer != known[query]:
                before = known.get(query) if revisable else last
                yield GivenAnswer(arrived, answer, before, is_new=query == arrived)
            known[query] = answer
            last = answer


# --- answers as tables, which travel between processes -------------------------------------------

SCHEMA = pa.schema(
    [
        pa.field("kind", pa.string()),
        pa.field("query", pa.int64()),
        pa.field("model", pa.int32()),
        pa.field("name", pa.string()),
        pa.field("args", pa.list_(pa.string())),
        pa.field("op", pa.string()),
        pa.field("arrived", pa.int64()),
    ]
)


def table_of(groups: Iterable[AtomGroup]) -> pa.Table:
    """Rows at query times as a table; their arguments are source text."""
    listed = [row for group in groups for row in group.rows(source_text)]
    columns = {name: [getattr(row, name) for row in listed] for name in SCHEMA.names}
    return pa.table(columns, schema=SCHEMA)


def said_in(found: PointAnswers) -> pa.Table:
    """All that was said, and when; what says nothing at all is left out if it revises nothing."""
    return table_of(
        group.but(arrived=one.arrived)
        for one in found.said
        if found.revisable or one.answer.models != ((),)
        for group in one.answer.groups(True)
    )


def said_by(table: pa.Table) -> Iterator[GivenAnswer]:
    """What `said_in` wrote down."""
    models: dict[tuple[int, int], dict[int, list[Atom]]] = {}
    atoms: dict[tuple[str, tuple[str, ...]], Atom] = {}
    columns = (table.column(name).to_pylist() for name in SCHEMA.names)
    for kind, query, model, name, args, _, arrived in zip(*columns, strict=True):
        here = models.setdefault((arrived, query), {})
        if kind != "none":
            atom_list = here.setdefault(model, [])
            if kind == "atom":
                key = (name, tuple(args))
                if key not in atoms:
                    atoms[key] = Atom(name, tuple(map(parse_term, args)))
                atom_list.append(atoms[key])
    for (arrived, query), here in models.items():
        yield GivenAnswer(
            arrived, PointAnswer(query, tuple(tuple(here[one]) for one in sorted(here)))
        )


@lru_cache(maxsize=1 << 16)  # the same entities come again and again
def source_text(term: Term) -> str:
    return show(term)
