"""What a run of a LARS program found.

Answers at query times as spans: each atom with the times from which until which it holds.
What became of the signals of a run over a whole stream, query time by query time.
Questions about the answers of a LARS program, in its own words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow.compute as pc

from horai import io, settings
from horai.errors import QueryError, UsageError, counted
from horai.io import AnswerRow, DeadLetter, ItemTable, Narrative
from horai.lang.core.diagnostics import did_you_mean, has_errors
from horai.lang.core.terms import Compound, Int, Term, Var
from horai.lang.lars.predicates import is_made
from horai.lang.lars.reader import read_text
from horai.lang.lars.syntax import At, Atom, Predicate
from horai.plan.lars.check import named
from horai.runtime.lars.showing import Kept, order
from horai.runtime.metrics import (
    Arrived,
    Metrics,
    RunMetrics,
    WindowMetrics,
    bins,
    columns_of,
    into_bins,
)
from horai.runtime.queries import Bindings, match
from horai.runtime.values import plain, show
from horai.temporal.spans import Ints, Mask

if TYPE_CHECKING:
    import pandas as pd

    from horai.runtime.metrics import Metrics
    from horai.runtime.queries import Bindings


Row = dict[str, Any]
FORMS = ("windows", "final", "changelog")


@dataclass(frozen=True)
class ShownAtoms:
    """What is shown of a model: everything, what rules derive, or some names."""

    names: frozenset[str] | None
    derived: Set[Predicate]
    everything: bool = False

    @classmethod
    def parse(cls, given: str | Iterable[str], derived: Set[Predicate]) -> ShownAtoms:
        """From `inferences`, `none`, or names with commas between them."""
        if given == "inferences":
            return cls(None, derived)
        if given == "none":
            return cls(None, derived, everything=True)
        listed = given.split(",") if isinstance(given, str) else list(given)
        names = frozenset(name.strip() for name in listed if name.strip())
        if not names:
            hint = "write inferences, none, or names of predicates: --filter a,b"
            raise UsageError("the filter names no predicate", hint)
        return cls(names, derived)

    @property
    def text(self) -> str:
        """What `parse` reads."""
        if self.everything:
            return "none"
        return "inferences" if self.names is None else ",".join(sorted(self.names))

    def may_show(self, predicate: Predicate) -> bool:
        """Are atoms of a predicate shown?"""
        if self.names is not None:
            return predicate[0] in self.names
        return self.everything or predicate in self.derived

    def shows(self, atom: Atom) -> bool:
        """Is an atom shown?"""
        if self.everything:
            return not is_made(atom.name)
        if self.names is not None:
            return atom.name in self.names
        return atom.predicate in self.derived

    def of(self, atoms: Iterable[Atom]) -> frozenset[Atom]:
        """The atoms that are shown."""
        return frozenset(filter(self.shows, atoms))


class LarsAnswer:
    """The answers at a query time: the shown atoms of each model, in a fixed order.

    `models` may be what makes the only one when somebody asks for it.
    """

    __slots__ = ("_models", "query")

    def __init__(self, query: int, models: tuple[tuple[Atom, ...], ...] | Kept) -> None:
        self.query = query
        self._models = models

    @property
    def models(self) -> tuple[tuple[Atom, ...], ...]:
        """The atoms of each model; none if there is no answer stream."""
        found = self._models
        return (found.listed(),) if isinstance(found, Kept) else found

    def says_the_same(self, other: LarsAnswer) -> bool:
        """Are the models of two query times the same?"""
        return self._models is other._models or self.models == other.models

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LarsAnswer):
            return NotImplemented
        return self.query == other.query and self.says_the_same(other)

    def __hash__(self) -> int:
        return hash((self.query, self.models))

    def __repr__(self) -> str:
        return f"LarsAnswer(query={self.query!r}, models={self.models!r})"

    def __reduce__(self) -> tuple[type[LarsAnswer], tuple[object, ...]]:
        return LarsAnswer, (self.query, self.models)

    @classmethod
    def of(
        cls,
        query: int,
        models: Sequence[Set[Atom]],
        signals: Set[Atom],
        facts: Set[Atom],
        shown: ShownAtoms,
    ) -> LarsAnswer:
        """The answer with models that look the same shown once."""
        visible = {shown.of((*model, *signals, *facts)) for model in models}
        listed = [tuple(sorted(model, key=order)) for model in visible]
        if len(listed) > 1:
            listed.sort(key=lambda m: [order(a) for a in m])
        return cls(query, tuple(listed))

    @classmethod
    def together(cls, query: int, answers: Sequence[LarsAnswer]) -> LarsAnswer:
        """One answer out of those of parts of a program, which have one model at most each."""
        if len(answers) == 1:
            return answers[0]
        if not all(answer.has_answer for answer in answers):
            return cls(query, ())
        atoms = {atom for answer in answers for atom in answer.atoms}
        return cls(query, (tuple(sorted(atoms, key=order)),))

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """The atoms of the first model; nothing when there is no answer."""
        found = self._models
        if isinstance(found, Kept):
            return found.listed()
        return found[0] if found else ()

    @property
    def has_answer(self) -> bool:
        """False when there is no answer stream."""
        return isinstance(self._models, Kept) or bool(self._models)

    def texts(self) -> list[str]:
        """The atoms of the first model as people write them."""
        return [written(atom) for atom in self.atoms]

    def rows(self, every: bool) -> Iterator[Row]:
        """One row per atom; `none` without an answer, `empty` for a model without atoms."""
        models = self.models
        if not models:
            yield {"kind": "none", "query": self.query}
        for number, model in enumerate(models if every else models[:1], 1):
            which = {"model": number} if every else {}
            for atom in model:
                yield {"kind": "atom", "query": self.query, **which, **_named(atom)}
            if every and not model:
                yield {"kind": "empty", "query": self.query, **which}


def differences(before: LarsAnswer | None, answer: LarsAnswer) -> Iterator[Row]:
    """The atoms that come and go from one answer to the next."""
    then = () if before is None else before.atoms
    was, now = set(then), set(answer.atoms)
    gone = [atom for atom in then if atom not in now]
    came = [atom for atom in answer.atoms if atom not in was]
    yield from changes(before, answer, came, gone)


def changes(
    before: LarsAnswer | None, answer: LarsAnswer, came: Iterable[Atom], gone: Iterable[Atom]
) -> Iterator[Row]:
    """The rows of atoms that come and go."""
    for op, atoms in (("-", gone), ("+", came)):
        for atom in atoms:
            yield {"kind": "atom", "query": answer.query, **_named(atom), "op": op}
    if not answer.has_answer and (before is None or before.has_answer):
        yield {"kind": "none", "query": answer.query}


def revisions(
    before: LarsAnswer | None, answer: LarsAnswer, arrived: int, every: bool
) -> Iterator[Row]:
    """The rows that are taken back of what was said about a query time, and the new ones."""
    then = {} if before is None else {repr(row): row for row in before.rows(every)}
    now = {repr(row): row for row in answer.rows(every)}
    for op, here, there in (("-", now, then), ("+", then, now)):
        for said, row in there.items():
            if said not in here:
                yield {**row, "op": op, "arrived": arrived}


@dataclass(frozen=True)
class Revised:
    """What a run said in the course of time: answers as they first were, and all changes."""

    first: list[LarsAnswer]
    changes: list[Row]


def in_course(
    said: Iterable[tuple[int, LarsAnswer]], every: bool
) -> tuple[list[LarsAnswer], Revised]:
    """Answers as known at the end, out of all that was said and when; and how they changed."""
    final: dict[int, LarsAnswer] = {}
    revised = Revised([], [])
    for arrived, answer in said:
        before = final.get(answer.query)
        revised.changes.extend(revisions(before, answer, arrived, every))
        if before is None:
            revised.first.append(answer)
        final[answer.query] = answer
    return [final[query] for query in sorted(final)], revised


class LarsResult:
    """The outcome of a run: one answer per query time, and the rows that were not used.

    Where answers are revised, they are as known at the end. `engine` is the name of the engine that
    ran, and `reasons` are those against the ones before it.
    """

    def __init__(
        self,
        answers: list[LarsAnswer],
        dead_letters: list[io.DeadLetter],
        every: bool = False,
        revised: Revised | None = None,
        engine: str = "",
        reasons: Sequence[str] = (),
    ) -> None:
        self.answers = answers
        self.dead_letters = dead_letters
        self.every = every
        self.revised = revised
        self.engine = engine
        self.reasons = list(reasons)
        self.over: tuple[io.Narrative, range] | None = None
        """What was read, and the query times, where the run was one in this process."""

    @property
    def metrics(self) -> Metrics:
        """How late signals were, and what became of them."""

        if self.over is None:
            hint = "leave out the engine spark"
            raise UsageError("signals are counted by runs in one process only", hint)
        return metrics_of(*self.over, self)

    def rows(self, answers: str = "windows") -> list[Row]:
        """Rows of output: `windows` (every query time), `final` (the last), or `changelog`.

        Where answers are revised, `windows` has each of them as it first was, and `final` has those
        of all query times as known at the end.
        """
        if answers not in FORMS:
            raise UsageError(f"answers cannot be {answers!r}", f"it is one of {', '.join(FORMS)}")
        if answers == "changelog":
            return self._changes()
        listed = self.answers
        if self.revised is None:
            listed = self.answers[-1:] if answers == "final" else self.answers
        elif answers == "windows":
            listed = self.revised.first
        return [row for answer in listed for row in answer.rows(self.every)]

    def _changes(self) -> list[Row]:
        if self.revised is not None:
            return self.revised.changes
        if self.every:
            raise UsageError("changes are those of one model", "leave out models=all")
        pairs = zip([None, *self.answers], self.answers, strict=False)
        return [row for before, answer in pairs for row in differences(before, answer)]

    def at(self, query: int) -> LarsAnswer:
        """The answer at a query time."""
        for answer in self.answers:
            if answer.query == query:
                return answer
        raise UsageError(f"{query} is no query time of this run")

    def query(self, text: str) -> list[Bindings]:
        """What the variables of a question stand for: `h(X)`, `@3 h(X)` or `@T h(X)`."""

        return ask(self.answers, text)

    def to_pandas(self, answers: str = "windows") -> pd.DataFrame:
        """The rows as a data frame."""
        import pandas as pd

        return pd.DataFrame(self.rows(answers))

    def __repr__(self) -> str:
        without = sum(not answer.has_answer for answer in self.answers)
        parts = [counted(len(self.answers), "query time")]
        if without:
            parts.append(f"{without} without an answer")
        if self.dead_letters:
            parts.append(counted(len(self.dead_letters), "dead letter"))
        return f"<LarsResult: {', '.join(parts)}>"


def _named(atom: Atom) -> Row:
    return {"name": atom.name, "args": [plain(arg) for arg in atom.args]}


def written(atom: Atom) -> str:
    """An atom as people write it."""
    return show(Compound(atom.name, atom.args)) if atom.args else atom.name


Span = tuple[int, int]


class ProgramSpans(NamedTuple):
    """From when until when (not included) atoms hold, and there is no answer; and of which run."""

    atoms: dict[Atom, list[Span]]
    none: list[Span]
    first: int
    last: int

    def rows(self) -> list[AnswerRow]:
        """One row per span, sorted by what holds."""
        listed = sorted(self.atoms, key=lambda atom: (atom.name, written(atom)))
        return [
            AnswerRow("atom", atom.name, [plain(arg) for arg in atom.args], start=start, end=end)
            for atom in listed
            for start, end in self.atoms[atom]
        ]


def spans_of(result: LarsResult) -> ProgramSpans:
    """What holds at a query time counts until the next one."""
    if result.every:
        raise UsageError("a picture shows one answer at a time", "leave out --models")
    queries = [answer.query for answer in result.answers]
    step = queries[-1] - queries[-2] if len(queries) > 1 else 1
    last = queries[-1] + step - 1 if queries else 0
    after = dict(zip(queries, [*queries[1:], last + 1], strict=True))
    found = ProgramSpans({}, [], queries[0] if queries else 0, last)
    for answer in result.answers:
        span = (answer.query, after[answer.query])
        if not answer.has_answer:
            _longer(found.none, span)
        for atom in answer.atoms:
            _longer(found.atoms.setdefault(atom, []), span)
    return found


def _longer(spans: list[Span], span: Span) -> None:
    """Add a span, or make the last one longer."""
    if spans and spans[-1][1] == span[0]:
        spans[-1] = (spans[-1][0], span[1])
    else:
        spans.append(span)


_CODES = {
    "too-late": "too_late",
    "unknown-retraction": "unknown_retractions",
    "outside-run": "outside_run",
}


def metrics_of(narrative: Narrative, queries: range, result: LarsResult) -> Metrics:
    """Signals by what became of them: a signal is judged at the first query time that knows it."""
    tables = [table for table in narrative.tables if len(table)]
    counts = {name: np.zeros(len(queries) + 1, np.int64) for name in _FIELDS}
    found = np.zeros(len(into_bins(_NOTHING)), np.int64)
    for table in tables:
        items = columns_of(table)
        _count(items, _refused(table, result.dead_letters), np.array(queries), counts)
        found += into_bins(items)
    revised = _revised(result, queries)
    windows = [
        WindowMetrics(
            query=query,
            revised=revised[place],
            **{name: int(numbers[place]) for name, numbers in counts.items()},
        )
        for place, query in enumerate(queries)
    ]
    run = RunMetrics(
        items=sum(map(len, tables)),
        unreadable=len(narrative.dead_letters),
        lateness=bins(found),
        revised=sum(revised),
        **{name: int(numbers.sum()) for name, numbers in counts.items()},
    )
    return Metrics(run, windows)


_FIELDS = ("on_time", "late", "retracted", *_CODES.values())
_NOTHING = Arrived(*(np.empty(0, np.int64) for _ in Arrived._fields))


def _count(
    items: Arrived, refused: dict[str, Mask], queries: Ints, counts: dict[str, Ints]
) -> None:
    place = np.searchsorted(queries, items.arrival)  # what comes after the last is counted there
    left = np.ones(len(items.op), np.bool_)
    for name, mask in refused.items():
        _add(counts[name], place[mask & left])
        left &= ~mask
    before = np.where(place > 0, queries[np.maximum(place, 1) - 1], items.start - 1)
    late = items.start <= before
    _add(counts["retracted"], place[left & (items.op < 0)])
    _add(counts["late"], place[left & (items.op > 0) & late])
    _add(counts["on_time"], place[left & (items.op > 0) & ~late])


def _add(numbers: Ints, places: Ints) -> None:
    numbers += np.bincount(places, minlength=len(numbers))


def _refused(table: ItemTable, letters: Iterable[DeadLetter]) -> dict[str, Mask]:
    """The rows that were not used, by the reason."""
    lines: dict[tuple[str, str], list[int]] = {}
    for letter in letters:
        if letter.code in _CODES:
            lines.setdefault((_CODES[letter.code], letter.file), []).append(letter.line)
    line = table.table.column("line").to_numpy()
    found = {name: np.zeros(len(line), np.bool_) for name in _CODES.values()}
    for (name, file), some in lines.items():
        here = pc.equal(table.table.column("file").cast("string"), file).to_numpy()
        found[name] |= here & np.isin(line, some)
    return found


def _revised(result: LarsResult, queries: Sequence[int]) -> list[int]:
    """How many rows of answers were taken back at each query time."""
    gone: dict[int, int] = {}
    for row in [] if result.revised is None else result.revised.changes:
        if row["op"] == "-":
            gone[row["arrived"]] = gone.get(row["arrived"], 0) + 1
    return [gone.get(query, 0) for query in queries]


QUERY_FORMS = "h(X) (at the last query time), @3 h(X) (at 3) or @T h(X) (at which query times)"


def ask(
    answers: Iterable[LarsAnswer], text: str, known: Iterable[Predicate] | None = None
) -> list[Bindings]:
    """All answers to a question, each as what its variables stand for.

    A question about none of the `known` predicates is an error, if they are given.
    """
    atom, time = _parse(text)
    if known is not None:
        _check(atom, list(known))
    listed = list(answers)
    if time is None:
        return [found for answer in listed[-1:] for found in _matches(atom, answer, {})]
    queries = [answer.query for answer in listed]
    if isinstance(time, Int) and time.value not in queries:
        some = f"they are {queries[0]} to {queries[-1]}" if queries else "there are none"
        raise QueryError(f"{time.value} is no query time of this run", some)
    found: list[Bindings] = []
    for answer in listed:
        bound = match(time, Int(answer.query), {})
        found += [] if bound is None else _matches(atom, answer, bound)
    return found


def _matches(atom: Atom, answer: LarsAnswer, bound: Bindings) -> list[Bindings]:
    wanted = Compound(atom.name, atom.args)
    rows = (Compound(one.name, one.args) for one in answer.atoms)
    return [found for one in rows if (found := match(wanted, one, bound)) is not None]


def _parse(text: str) -> tuple[Atom, Term | None]:
    line = settings.text(text, "a query", f"ask {QUERY_FORMS}").strip().removesuffix(".")
    program, findings = read_text(f"horai :- {line}.", relations=False)
    if has_errors(findings):
        wrong = "; ".join(finding.message for finding in findings)
        raise QueryError(f"`{line}` cannot be read: {wrong}", f"ask {QUERY_FORMS}")
    match [rule.body for rule in program.rules]:
        case [(Atom() as atom,)]:
            return atom, None
        case [(At(time=Int() | Var() as time, formula=Atom() as atom),)]:
            return atom, time
        case _:
            raise QueryError(f"`{line}` is not a query", f"ask {QUERY_FORMS}")


def _check(atom: Atom, known: list[Predicate]) -> None:
    """What no rule and no signal says can have no answer: better say so than answer nothing."""
    if atom.predicate in known:
        return
    names = {named(one): one[0] for one in sorted(known)}
    same = next((full for full, name in names.items() if name == atom.name), None)
    near = same or did_you_mean(named(atom.predicate), names)
    listed = ", ".join(names) or "none"
    hint = f"did you mean {near}?" if near else f"the predicates of the program are: {listed}"
    raise QueryError(f"no predicate {named(atom.predicate)} in the program", hint)
