"""What a run found: intervals, events, atoms, changes, and what could not be used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import pyarrow as pa

from horai import io
from horai.engine.answer import Answer as EngineAnswer
from horai.engine.answer import Changes, atoms_of, events_of, spans_of
from horai.errors import UsageError, counted
from horai.lang.core.diagnostics import Diagnostic
from horai.lang.lars.syntax import Atom
from horai.runtime.answers import (
    AnswerPart,
    Answers,
    OutputFilter,
    answer_table,
    answers_named,
)
from horai.runtime.lars.answers import PointAnswers, written
from horai.runtime.metrics import Metrics, RunMetrics
from horai.runtime.queries import (
    AtomIntervals,
    Bindings,
    Interval,
    PlainAnswer,
    Queryable,
    ask,
    ask_atoms,
    asks_events,
    atom_of,
    holds_at,
    in_points,
    intervals_of,
    plain_answers,
    times_asked,
)
from horai.settings import RunSettings, whole

if TYPE_CHECKING:
    import duckdb
    import pandas as pd
    import polars as pl

    from horai.engine.core.session import CompiledSession
    from horai.explain.ec import CalculusProver
    from horai.explain.proof import Proof
    from horai.explain.trial import Trials
    from horai.rules import Rules

_SHOWN = 20
_TIMES = ("value", "start", "end", "time")
K = TypeVar("K")
V = TypeVar("V")


def everything(name: str, arity: int, is_fluent: bool) -> bool:
    """Shows all."""
    return True


class Answer:
    """What a run knows at a query time. Rows are made when asked for.

    Of a LARS program it is what holds at the query times since the answer before: one row per atom
    and query time, or maximal spans.
    """

    def __init__(
        self,
        raw: EngineAnswer | PointAnswers,
        wanted: OutputFilter = everything,
        rows: Callable[[EngineAnswer, Sequence[Changes]], list[io.AnswerRow]] | None = None,
    ) -> None:
        self.raw = raw
        self.wanted = wanted
        self._rows_of = rows  # makes rows of a few changes

    def instead(self, raw: EngineAnswer) -> Answer:
        """What is said instead, shown alike."""
        return Answer(raw, self.wanted)

    @property
    def query(self) -> int:
        """The query time; of several the last one."""
        return self.raw.query

    def table(self, form: str = "windows") -> io.AnswerTable:
        """The rows of a form of answer as columns: `windows`, `final`, `changelog` or `spans`."""
        return table_of([self], form)

    def rows(self, form: str = "windows") -> list[io.AnswerRow]:
        """The rows of a form of answer."""
        return rows_of([self], form)

    @cached_property
    def _intervals(self) -> list[io.AnswerRow]:
        return self.rows("spans" if isinstance(self.raw, PointAnswers) else "windows")

    @property
    def spans(self) -> list[io.AnswerRow]:
        """The maximal intervals of fluents and atoms that reach into the window."""
        return [row for row in self._intervals if row.kind != "event"]

    @property
    def events(self) -> list[io.AnswerRow]:
        """The output events in the window."""
        return [row for row in self._intervals if row.kind == "event"]

    @property
    def atoms(self) -> list[io.AnswerRow]:
        """The atoms of a program: those that hold at the query time, or their intervals."""
        if isinstance(self.raw, PointAnswers):
            groups = self.raw.last.groups(numbered=False)
            return [row for group in groups if group.atoms for row in group.rows()]
        return [row for row in self._intervals if row.kind == "atom"]

    @property
    def everything(self) -> list[io.AnswerRow]:
        """All intervals and events of the run, as known now."""
        return self.rows("final")

    @cached_property
    def changes(self) -> list[io.AnswerRow]:
        """What is new (`op` is `+`) and what is taken back (`-`) since the answer before."""
        if self._rows_of is not None and isinstance(self.raw, EngineAnswer):
            listed = self.raw.listed()
            if listed is not None:
                return self._rows_of(self.raw, listed)
        return self.rows("changelog")

    def let_go(self) -> None:
        """Keep how much was taken back instead of rows that can be made anew."""
        if "changes" in vars(self) and self._rows_of is not None and self.revised >= 0:
            del self.changes

    @cached_property
    def revised(self) -> int:
        """How many intervals, events and atoms of answers before were taken back."""
        if isinstance(self.raw, PointAnswers):
            return sum(row.op == "-" for row in self.changes) if self.raw.revisable else 0
        if self._rows_of is not None and self.raw.listed() is not None:
            return sum(row.op == "-" for row in self.changes)
        gone = parts_of(self.raw, "changelog")[0].part
        fluents = [len(t.start) for t in gone.fluents if self.wanted(t.name, len(t.args), True)]
        events = [len(t.time) for t in gone.events if self.wanted(t.name, len(t.args), False)]
        return sum(fluents) + sum(events) + sum(len(table.start) for table in gone.atoms)

    # --- of LARS programs ------------------------------------------------------------------------

    @property
    def points(self) -> PointAnswers:
        """What a program says at the query times."""
        if isinstance(self.raw, PointAnswers):
            return self.raw
        raise UsageError("models are answers of a LARS program alone", "ask for rows or spans")

    @property
    def models(self) -> tuple[tuple[Atom, ...], ...]:
        """The atoms of each answer stream at the query time; none if there is none."""
        return self.points.last.models

    @property
    def has_answer(self) -> bool:
        """False when there is no answer stream."""
        return self.points.last.has_answer

    def texts(self) -> list[str]:
        """The atoms of the first answer stream as people write them."""
        return [written(atom) for atom in self.points.last.atoms]

    @property
    def answers(self) -> list[Answer]:
        """The answers at the new query times one by one."""
        return [Answer(self.points.only(one)) for one in self.points.said if one.is_new]

    @property
    def revisions(self) -> list[Answer]:
        """The answers at query times before that are different now."""
        return [Answer(self.points.only(one)) for one in self.points.said if not one.is_new]

    def at(self, time: int) -> Answer:
        """The answer at one of its query times."""
        return at(self.answers, time)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Answer):
            return NotImplemented
        if isinstance(self.raw, PointAnswers) and isinstance(other.raw, PointAnswers):
            return self.raw.last == other.raw.last
        return self.raw is other.raw

    def __hash__(self) -> int:
        return hash(self.query)

    def __repr__(self) -> str:
        if isinstance(self.raw, PointAnswers):
            said = ", ".join(self.texts()) if self.has_answer else "no answer"
            return f"<Answer at {self.query}: {said or 'nothing'}>"
        table = self.table("windows")
        kinds = [counted(table.count(kind), what) for kind, what in _WORDS.items()]
        return f"<Answer at {self.query}: {', '.join(kinds)}>"

    def _repr_html_(self) -> str:
        always = () if isinstance(self.raw, PointAnswers) else _TIMES
        return _html(repr(self), _frame(self.table("windows"), always))


_WORDS: dict[io.AnswerKind, str] = {"fluent": "interval", "event": "event"}


def at(answers: Iterable[Answer], time: int) -> Answer:
    """The answer at a query time."""
    for answer in answers:
        if answer.query == time:
            return answer
    raise UsageError(f"{time} is no query time of this run")


def parts_of(raw: EngineAnswer, form: Answers) -> list[AnswerPart]:
    """What an answer adds to a form of answer."""
    try:
        match form:
            case "final":
                return [AnswerPart(raw.part("all"))]
            case "windows":
                return [AnswerPart(raw.part("window"), raw.query)]
            case "changelog":
                gone = AnswerPart(raw.part("gone"), raw.query, False)
                return [gone, AnswerPart(raw.part("new"), raw.query, True)]
    except KeyError:
        hint = f"run with answers={form!r}"
        if form != "final":  # which only runs that keep it have at all
            hint = f"ask for it while it is the last one, or {hint}"
        problem = f"the run did not keep the {form} answer at {raw.query}"
        raise UsageError(problem, hint) from None


def table_of(answers: Sequence[Answer], form: str) -> io.AnswerTable:
    """The rows of a form of answer as columns."""
    if answers and isinstance(answers[0].raw, PointAnswers):
        return io.AnswerTable.of(rows_of(answers, form))
    named = answers_named("final" if form == "spans" else form)
    listed = answers[-1:] if named == "final" else answers
    raws = [answer.raw for answer in listed if isinstance(answer.raw, EngineAnswer)]
    if not raws:
        return io.AnswerTable()
    parts = [part for raw in raws for part in parts_of(raw, named)]
    return answer_table(parts, raws[0].symbols, listed[0].wanted)


def rows_of(answers: Sequence[Answer], form: str) -> list[io.AnswerRow]:
    """The rows of a form of answer."""
    points = points_of(answers)
    return table_of(answers, form).rows() if points is None else points.rows(form)


def points_of(answers: Iterable[Answer]) -> PointAnswers | None:
    """All that a LARS program said; None of other rules, and before the first answer."""
    said = [answer.raw for answer in answers if isinstance(answer.raw, PointAnswers)]
    return PointAnswers.together(said) if said else None


class RunBasis(NamedTuple):
    """What the answers of a run rest on: its settings, and the items that came.

    A revisable run keeps its engine, too.
    """

    settings: RunSettings
    items: Callable[[], Sequence[io.ItemTable]]
    core: CompiledSession | None = None


class Result:
    """The outcome of a run.

    `answers` has one `Answer` per query time; `dead_letters` the rows that were not used;
    `warnings` tells of conditions that had no value, and of input that was of no use at all.
    `engine` is the name of the engine that ran, and `reasons` are those against others.
    `unanswered` are the spans of time at which a program has no answer.
    """

    def __init__(
        self,
        rules: Rules,
        answers: list[Answer],
        dead_letters: list[io.DeadLetter],
        form: Answers = "final",
        unit: io.Unit | None = None,
        measure: Callable[[], Metrics] = lambda: Metrics(RunMetrics()),
        warnings: Iterable[Diagnostic] = (),
        engine: str = "",
        reasons: Sequence[str] = (),
        unanswered: Iterable[tuple[int, int]] = (),
        basis: RunBasis | None = None,
    ) -> None:
        self.rules = rules
        self.steps = answers
        self.dead_letters = dead_letters
        self.form: Answers = form
        self.unit = unit
        self._measure = measure
        self.warnings = list(warnings)
        self.engine, self.reasons = engine, list(reasons)
        self._unanswered = sorted(unanswered)
        self._basis = basis

    @cached_property
    def points(self) -> PointAnswers | None:
        """All that a LARS program said; None of other rules, and before the first answer."""
        return points_of(self.steps)

    @cached_property
    def answers(self) -> list[Answer]:
        """One answer per query time, as known at the end."""
        points = self.points
        if points is None:
            return self.steps
        last = {one.answer.query: one for one in points.said}
        return [Answer(points.only(last[query]._replace(is_new=True))) for query in sorted(last)]

    def table(self, answers: str | None = None) -> io.AnswerTable:
        """The rows of output as columns: `final`, `windows` (per query time) or `changelog`.

        Of a LARS program rows are atoms at query times, and `final` are those of the last one.
        Where answers are revised, `windows` has each of them as it first was, and `final` has those
        of all query times as known at the end. `spans` are maximal intervals in any language.
        """
        return table_of(self.steps, answers or self.form)

    def rows(self, answers: str | None = None) -> list[io.AnswerRow]:
        """The rows of output; `answers` is that of `table`."""
        return rows_of(self.steps, answers or self.form)

    @cached_property
    def metrics(self) -> Metrics:
        """How late items were and what became of them, at each query time and in all."""
        return self._measure()

    @property
    def changelog(self) -> list[io.AnswerRow]:
        """All changes in the order of query times."""
        return self.rows("changelog")

    @cached_property
    def spans(self) -> pa.Table:
        """All maximal intervals; `args` and `value` are source text, an open end is null."""
        table = io.answer_table(self._final.only("fluent", "atom"))
        return table.select(["name", "args", "value", "start", "end"])

    @cached_property
    def events(self) -> pa.Table:
        """All output events of the run."""
        return io.answer_table(self._final.only("event")).select(["name", "args", "time"])

    @property
    def atoms(self) -> list[io.AnswerRow]:
        """All atoms of a program with the maximal intervals in which they hold."""
        return self._final.only("atom").rows()

    @cached_property
    def unanswered(self) -> list[tuple[int, int]]:
        """The spans of time, end not included, at which a program has no answer."""
        spans = self._unanswered if self.points is None else self.points.spans.none
        found: list[tuple[int, int]] = []
        for start, end in spans:
            if found and start <= found[-1][1]:
                found[-1] = (found[-1][0], max(end, found[-1][1]))
            else:
                found.append((start, end))
        return found

    @property
    def extent(self) -> tuple[int, int]:
        """The time-points from the first to the last that answers tell of."""
        if self.points is not None:
            return self.points.spans.first, self.points.spans.last
        last = self.steps[-1].query if self.steps else 0
        return last, last

    @cached_property
    def _final(self) -> io.AnswerTable:
        return self.table("spans")

    def count(self, kind: io.AnswerKind) -> int:
        """How many intervals (`fluent`, `atom`) or events the run found."""
        return self._final.count(kind)

    def at(self, query: int) -> Answer:
        """The answer at a query time."""
        return at(self.answers, query)

    def to_pandas(self, answers: str | None = None) -> pd.DataFrame:
        """The rows as a data frame: arguments are tuples, missing times are `<NA>`."""
        return _frame(self.table(answers), () if self.points else _TIMES)

    def to_arrow(self, answers: str | None = None) -> pa.Table:
        """The rows as an Arrow table: arguments are lists of source text, missing times null."""
        table = io.answer_table(self.table(answers))
        always = {"kind", "name", "args", "value", "start", "end", "time"}
        return table.select(
            [n for n in table.column_names if n in always or table[n].null_count < len(table)]
        )

    def to_polars(self, answers: str | None = None) -> pl.DataFrame:
        """The rows as a data frame of Polars."""
        return cast("pl.DataFrame", _library("polars").from_arrow(self.to_arrow(answers)))

    def to_duckdb(
        self, connection: duckdb.DuckDBPyConnection | None = None, answers: str | None = None
    ) -> duckdb.DuckDBPyRelation:
        """The rows as a relation of DuckDB, in a connection of yours or the default one."""
        table = self.to_arrow(answers)
        relation = _library("duckdb").from_arrow(table, connection=connection)
        return cast("duckdb.DuckDBPyRelation", relation)

    # --- questions -------------------------------------------------------------------------------

    @cached_property
    def _known(self) -> Queryable:
        last = self.steps[-1].raw if self.steps else None
        if not isinstance(last, EngineAnswer):
            return Queryable(self.rules.entities, {}, {})
        parts = [parts_of(last, "final")[0].part]
        if last.has("input"):
            parts.append(last.part("input"))
        spans = [spans_of(part, last.symbols) for part in parts]
        events = [events_of(part, last.symbols) for part in parts]
        return Queryable(self.rules.entities, _merged(spans), _merged(events))

    @cached_property
    def _held(self) -> AtomIntervals:
        """The atoms of a program, when they hold, and the times at which that is known."""
        predicates = self.rules.predicates_of_program
        if self.points is not None:
            times = [answer.query for answer in self.points.final]
            found = self.points.spans.atoms
            return AtomIntervals(found, times, predicates | {atom.predicate for atom in found})
        last = self.steps[-1].raw if self.steps else None
        if not isinstance(last, EngineAnswer):
            return AtomIntervals({}, (), predicates)
        held = atoms_of(parts_of(last, "final")[0].part, last.symbols)
        first = min((span[0] for spans in held.values() for span in spans), default=last.query)
        if self._basis is not None:
            first = (self._basis.settings.start or 0) + 1
        return AtomIntervals(held, range(first, last.query + 1), predicates)

    def holds_at(self, what: str, time: int) -> bool:
        """Does `F=V`, or an atom, hold at a time-point? With variables: does any instance of it?"""
        if self._is_about_atoms(what):
            time = whole(time, "the time", "for all times ask holds_for(what)")
            return self._held.holds(atom_of(what), time)
        return holds_at(self._known, what, time)

    def holds_for(self, what: str) -> list[Interval]:
        """The maximal intervals of `F=V`, or of an atom; an open one ends at `inf`."""
        if self._is_about_atoms(what):
            return self._held.intervals(atom_of(what))
        return intervals_of(self._known, what)

    def _is_about_atoms(self, what: str) -> bool:
        return self.rules.language != "ec" and "=" not in what

    def query(self, text: str) -> list[dict[str, PlainAnswer]]:
        """What the variables of a question stand for, one answer after the other.

        An atom is a `str`, a number a number, a list of intervals a list of pairs; any other term
        is a `TermText`, its source. Of events and fluents ask `holdsAt(F,16)`, `holdsFor(F,I)` or
        `happensAt(E,T)`; of atoms `h(X)` (at the last query time), `@3 h(X)` or `@T h(X)`. Of a run
        with a unit, times may be in ISO 8601, as in `holdsAt(F,2024-05-01T10:00:00Z)`.
        """
        return plain_answers(self.bindings(text), times_asked(in_points(text, self.unit)))

    def bindings(self, text: str) -> list[Bindings]:
        """The answers to `query` as terms of the rules."""
        text = in_points(text, self.unit)
        if self.rules.language == "ec" or (self.rules.language == "combined" and asks_events(text)):
            return ask(self._known, text)
        return ask_atoms(self._held, text)

    # --- proofs ----------------------------------------------------------------------------------

    @property
    def basis(self) -> RunBasis:
        """What the answers rest on."""
        if self._basis is None:
            hint = "run the rules over the whole input in one process: rules.run(input)"
            raise UsageError("this run did not keep its items, so it cannot say why", hint)
        return self._basis

    @property
    def last(self) -> EngineAnswer:
        """The last answer of an engine, with all that it knows."""
        raw = self.steps[-1].raw if self.steps else None
        if not isinstance(raw, EngineAnswer):
            raise UsageError("the run has no answers to explain", "give it items, or an end")
        return raw

    @cached_property
    def prover(self) -> CalculusProver:
        """What proves the answers."""
        from horai.explain.why import prover_of

        return prover_of(self)

    @cached_property
    def trials(self) -> Trials | None:
        """The run as one that a few rows change, if that is the same as to run again."""
        from horai.explain.trial import trials_of

        return trials_of(self)

    def why(
        self, what: str, at: int | str | None = None, about: str = "holds", depth: int = 12
    ) -> Proof:
        """Why `F=V` holds at a time, or an event happens then: a proof, down to rows of the input.

        `about="start"` says why the interval that holds then has started, `about="end"` why it
        ends, and `about="revision"` which late or retracted row changed what query times before
        said. A proof is as deep as `depth`; where it goes on, it says so.
        """
        from horai.explain.why import why

        return why(self, what, at, about, depth)

    def why_not(self, what: str, at: int | str | None = None) -> Proof:
        """Why `F=V` does not hold at a time, or an event does not happen: what each rule lacks.

        Rows with which it would be so are named once a run with them has shown it.
        """
        from horai.explain.why import why_not

        return why_not(self, what, at)

    def what_if(
        self,
        added: Sequence[str] = (),
        without: Sequence[str] = (),
        rules: Rules | None = None,
    ) -> list[io.AnswerRow]:
        """What would come (`op` is `+`) and go (`-`) with other rows, or with other rules.

        `added` are rows of a narrative; `without` are rows as the input has them, or as FILE:LINE.
        """
        from horai.explain.trial import what_if

        return what_if(self, added, without, rules)

    def __repr__(self) -> str:
        counts = [
            counted(len(self.answers), "query time"),
            counted(len(self.dead_letters), "dead letter"),
        ]
        if self.points is not None:
            without = sum(not answer.has_answer for answer in self.answers)
            if without:
                counts.insert(1, f"{without} without an answer")
            return f"<Result: {', '.join(counts)}>"
        with suppress(UsageError):  # of a session that did not keep all it found
            found = [counted(self.count(kind), what) for kind, what in _WORDS.items()]
            counts = [*found, *counts]
        return f"<Result: {', '.join(counts)}>"

    def _repr_html_(self) -> str:
        return _html(repr(self), self.to_pandas())


def _frame(table: io.AnswerTable, always: Sequence[str]) -> pd.DataFrame:
    """Rows as a data frame, with the columns that have anything, or are `always` there."""
    import pandas as pd

    frame = pd.DataFrame(table.lists())
    for column in ("start", "end", "time", "query", "model", "arrived", "signals"):
        frame[column] = frame[column].astype("Int64")
    unused = [c for c in frame.columns if c not in always and frame[c].isna().all()]
    return frame.drop(columns=[c for c in unused if c not in ("kind", "name", "args")])


def _html(title: str, whole: pd.DataFrame) -> str:
    """The first rows, as a notebook shows them."""
    rows = len(whole)
    more = f"<p>... and {rows - _SHOWN} more</p>" if rows > _SHOWN else ""
    return f"<p>{escape(title[1:-1])}</p>{whole.head(_SHOWN).to_html(index=False, na_rep='')}{more}"


def _merged(parts: list[dict[K, list[V]]]) -> dict[K, list[V]]:
    """Rows of several parts. An event that rules derive may be an item, too."""
    found: dict[K, list[V]] = {}
    for part in parts:
        for key, rows in part.items():
            found.setdefault(key, []).extend(rows)
    return found


def _library(name: str) -> Any:
    """A library that answers are asked for in, or a kind error."""
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise UsageError(f"{name} is not installed", f"pip install {name}") from None
