"""What a LARS program says at query times: atoms of its answer streams, and how they change.

A step costs what has come and gone. The whole answer is made when somebody asks for it, at that
step or later.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, NamedTuple

from horai.engine.origins import Dropped
from horai.errors import UsageError
from horai.io import AnswerRow
from horai.io import Term as IoTerm
from horai.lang.core.terms import Compound, Term
from horai.lang.lars.predicates import is_made
from horai.lang.lars.syntax import Atom, Predicate
from horai.runtime.inputs import DroppedRow
from horai.runtime.lars.admission import Judged
from horai.runtime.values import plain, show

Value = Callable[[Term], IoTerm]
"""How a row shows an argument."""
Key = tuple[str, list[tuple[int, Any, str]]]


def order(atom: Atom) -> Key:
    return (atom.name, [_sort(arg) for arg in atom.args])


def _sort(term: Term) -> tuple[int, Any, str]:
    """Numbers come before text; 3 and 3.0, or a and "a", are not the same and have an order."""
    value = plain(term)
    return (isinstance(value, str), value, type(term).__name__)


class StepAtoms:
    """The atoms shown at a step. While nobody has asked, it knows how the next step differs."""

    __slots__ = ("_came", "_gone", "_later", "_listed", "_showing")

    def __init__(self, showing: CurrentAtoms) -> None:
        self._showing: CurrentAtoms | None = showing
        self._listed: tuple[Atom, ...] | None = None
        self._later: StepAtoms | None = None
        self._came: Collection[Atom] = ()
        self._gone: Collection[Atom] = ()

    def leave(self, later: StepAtoms, came: Collection[Atom], gone: Collection[Atom]) -> None:
        """There is a later step. It is held on to by earlier ones, and never the other way."""
        self._showing = None
        if self._listed is None:
            self._later, self._came, self._gone = later, came, gone

    def listed(self) -> tuple[Atom, ...]:
        """The atoms in their order."""
        if self._listed is None:
            if self._showing is not None:
                self._listed = self._showing.listed()
            else:
                self._listed = tuple(sorted(self._undone(), key=order))
                self._later, self._came, self._gone = None, (), ()
        return self._listed

    def _undone(self) -> set[Atom]:
        """The atoms of the next step that is known, without what happened up to there."""
        passed: list[StepAtoms] = []
        node = self
        while node._listed is None and node._later is not None:
            passed.append(node)
            node = node._later
        found = set(node.listed())
        for one in reversed(passed):
            found.difference_update(one._came)
            found.update(one._gone)
        return found


class CurrentAtoms:
    """The atoms shown at the last step, each with what it is sorted by."""

    def __init__(self) -> None:
        self.known: dict[Atom, Key] = {}
        self.kept = StepAtoms(self)
        self._moves = 0  # since an answer was listed

    def become(self, atoms: Collection[Atom]) -> tuple[list[Atom], list[Atom]]:
        """Show these atoms and no others; what has come and what has gone, sorted."""
        now = atoms if isinstance(atoms, set | frozenset) else set(atoms)
        return self.change(now - self.known.keys(), self.known.keys() - now)

    def change(self, came: Iterable[Atom], gone: Iterable[Atom]) -> tuple[list[Atom], list[Atom]]:
        """Show atoms that were not shown, and others no longer; both sorted."""
        fresh = {atom: order(atom) for atom in came}
        new, past = sorted(fresh, key=fresh.__getitem__), sorted(gone, key=self.known.__getitem__)
        if new or past:
            later = StepAtoms(self)
            self.kept.leave(later, new, past)
            self.kept = later
            for atom in past:
                del self.known[atom]
            self.known |= fresh
            # So no way from an answer to a later one that is listed is longer than an answer.
            self._moves += len(new) + len(past)
            if self._moves > len(self.known):
                self._moves = 0
                later.listed()
        return new, past

    def listed(self) -> tuple[Atom, ...]:
        """All of them, sorted."""
        return tuple(sorted(self.known, key=self.known.__getitem__))


@dataclass(frozen=True)
class AtomFilter:
    """What is shown of a model: everything, what rules derive, or some names."""

    names: frozenset[str] | None
    derived: Set[Predicate]
    everything: bool = False

    @classmethod
    def of_filter(cls, given: str, derived: Set[Predicate]) -> AtomFilter:
        """From `inferences`, `none`, or names with commas between them."""
        if given in ("inferences", "none"):
            return cls(None, derived, everything=given == "none")
        return cls(frozenset(given.split(",")), derived)

    def may_show(self, predicate: Predicate) -> bool:
        """Are atoms of a predicate shown?"""
        if self.names is not None:
            return predicate[0] in self.names
        return self.everything or predicate in self.derived

    def shows(self, atom: Atom) -> bool:
        if self.everything:
            return not is_made(atom.name)
        if self.names is not None:
            return atom.name in self.names
        return atom.predicate in self.derived

    def only(self, atoms: Iterable[Atom]) -> frozenset[Atom]:
        return frozenset(filter(self.shows, atoms))


class PointAnswer:
    """The answers at a query time: the shown atoms of each model, in a fixed order.

    `models` may be what makes the only one when somebody asks for it.
    """

    __slots__ = ("_models", "query")

    def __init__(self, query: int, models: tuple[tuple[Atom, ...], ...] | StepAtoms) -> None:
        self.query = query
        self._models = models

    @property
    def models(self) -> tuple[tuple[Atom, ...], ...]:
        """The atoms of each model; none if there is no answer stream."""
        found = self._models
        return (found.listed(),) if isinstance(found, StepAtoms) else found

    def says_the_same(self, other: PointAnswer) -> bool:
        """Are the models of two query times the same?"""
        return self._models is other._models or self.models == other.models

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PointAnswer):
            return NotImplemented
        return self.query == other.query and self.says_the_same(other)

    def __hash__(self) -> int:
        return hash((self.query, self.models))

    def __reduce__(self) -> tuple[type[PointAnswer], tuple[object, ...]]:
        return PointAnswer, (self.query, self.models)

    @classmethod
    def of(
        cls,
        query: int,
        models: Sequence[Set[Atom]],
        signals: Set[Atom],
        facts: Set[Atom],
        shown: AtomFilter,
    ) -> PointAnswer:
        """The answer with models that look the same shown once."""
        visible = {shown.only((*model, *signals, *facts)) for model in models}
        listed = [tuple(sorted(model, key=order)) for model in visible]
        if len(listed) > 1:
            listed.sort(key=lambda m: [order(a) for a in m])
        return cls(query, tuple(listed))

    @classmethod
    def together(cls, query: int, answers: Sequence[PointAnswer]) -> PointAnswer:
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
        if isinstance(found, StepAtoms):
            return found.listed()
        return found[0] if found else ()

    @property
    def has_answer(self) -> bool:
        """False when there is no answer stream."""
        return isinstance(self._models, StepAtoms) or bool(self._models)

    def rows(self, numbered: bool, value: Value = plain) -> Iterator[AnswerRow]:
        """One row per atom; `none` without an answer, `empty` for a model without atoms."""
        models = self.models
        if not models:
            yield AnswerRow("none", query=self.query)
        for number, model in enumerate(models if numbered else models[:1], 1):
            which = number if numbered else None
            for atom in model:
                yield row_of(atom, value, self.query, which)
            if numbered and not model:
                yield AnswerRow("empty", query=self.query, model=which)


def row_of(
    atom: Atom, value: Value, query: int, model: int | None = None, op: str | None = None
) -> AnswerRow:
    """An atom at a query time, with its arguments as values."""
    args = tuple(map(value, atom.args))
    return AnswerRow("atom", atom.name, args, query=query, op=op, model=model)


def written(atom: Atom) -> str:
    """An atom as people write it."""
    return show(Compound(atom.name, atom.args)) if atom.args else atom.name


class GivenAnswer(NamedTuple):
    """An answer, when it was given, and what was said of its query time before.

    Without an allowed lateness nothing is said twice: `before` is the answer at the query time
    before, and `came` and `gone` are how they differ, if that is known.
    """

    arrived: int
    answer: PointAnswer
    before: PointAnswer | None = None
    came: Sequence[Atom] | None = None
    gone: Sequence[Atom] | None = None
    is_new: bool = True  # the first answer at its query time


Span = tuple[int, int]


@dataclass(slots=True)
class PointAnswers:
    """What a program says from one moment to the next: answers at new query times, in their order,
    and revised ones of query times before.

    `numbered` if there may be several models, `revisable` if late signals change answers. `dropped`
    are rows that were not used, `judged` all rows by the query time that judged them, with the one
    before.
    """

    said: list[GivenAnswer]
    numbered: bool = False
    revisable: bool = False
    dropped: Sequence[Dropped | DroppedRow] = ()
    judged: Sequence[tuple[int, int | None, Mapping[Judged, int]]] = ()

    @classmethod
    def together(cls, steps: Sequence[PointAnswers]) -> PointAnswers:
        """All that was said in several steps."""
        said = [one for step in steps for one in step.said]
        dropped = [one for step in steps for one in step.dropped]
        judged = [one for step in steps for one in step.judged]
        return cls(said, steps[0].numbered, steps[0].revisable, dropped, judged)

    @property
    def query(self) -> int:
        """The last query time."""
        return self.said[-1].answer.query

    @property
    def points(self) -> list[PointAnswer]:
        """The answers at new query times, as they were first."""
        return [one.answer for one in self.said if one.is_new]

    @property
    def final(self) -> list[PointAnswer]:
        """The answers at all query times, as known at the end."""
        if not self.revisable:
            return self.points
        last = {one.answer.query: one.answer for one in self.said}
        return [last[query] for query in sorted(last)]

    @property
    def last(self) -> PointAnswer:
        """The answer at the last query time."""
        return self.said[-1].answer

    def rows(self, form: str, value: Value = plain) -> Iterator[AnswerRow]:
        """The rows of a form of answer: of points, or maximal `spans`."""
        match form:
            case "changelog":
                for one in self.said:
                    yield from self._changes(one, value)
            case "spans":
                if self.numbered:
                    hint = "leave out models"
                    raise UsageError("spans are those of one answer at a time", hint)
                yield from self.spans().rows()
            case "final" if not self.revisable:
                yield from self.last.rows(self.numbered, value) if self.said else ()
            case _:
                for answer in self.final if form == "final" else self.points:
                    yield from answer.rows(self.numbered, value)

    def _changes(self, said: GivenAnswer, value: Value) -> Iterator[AnswerRow]:
        if self.revisable:
            return revisions(said, self.numbered, value)
        if self.numbered:
            hint = "leave out models, or add an allowed lateness"
            raise UsageError("changes are those of one model", hint)
        return differences(said, value)

    def spans(self) -> ProgramSpans:
        """From when until when atoms hold in the first model of each answer.

        What holds at a query time counts until the next one.
        """
        answers = self.final
        queries = [answer.query for answer in answers]
        step = queries[-1] - queries[-2] if len(queries) > 1 else 1
        last = queries[-1] + step - 1 if queries else 0
        found = ProgramSpans({}, [], queries[0] if queries else 0, last)
        for answer, after in zip(answers, [*queries[1:], last + 1], strict=True):
            span = (answer.query, after)
            if not answer.has_answer:
                _longer(found.none, span)
            for atom in answer.atoms:
                _longer(found.atoms.setdefault(atom, []), span)
        return found


def differences(said: GivenAnswer, value: Value = plain) -> Iterator[AnswerRow]:
    """The atoms that come and go from one answer to the next."""
    before, answer, came, gone = said.before, said.answer, said.came, said.gone
    if came is None or gone is None:
        then = () if before is None else before.atoms
        was, now = set(then), set(answer.atoms)
        gone = [atom for atom in then if atom not in now]
        came = [atom for atom in answer.atoms if atom not in was]
    for op, atoms in (("-", gone), ("+", came)):
        for atom in atoms:
            yield row_of(atom, value, answer.query, op=op)
    if not answer.has_answer and (before is None or before.has_answer):
        yield AnswerRow("none", query=answer.query)


def revisions(said: GivenAnswer, numbered: bool, value: Value = plain) -> Iterator[AnswerRow]:
    """The rows that are taken back of what was said about a query time, and the new ones."""
    rows = [] if said.before is None else said.before.rows(numbered, value)
    # 3, 3.0 and true are one value for Python, and look different.
    then = {repr(row): row for row in rows}
    now = {repr(row): row for row in said.answer.rows(numbered, value)}
    for op, here, there in (("-", now, then), ("+", then, now)):
        for text, row in there.items():
            if text not in here:
                yield row._replace(op=op, arrived=said.arrived)


class ProgramSpans(NamedTuple):
    """From when until when (not included) atoms hold, and there is no answer; and of which run."""

    atoms: dict[Atom, list[Span]]
    none: list[Span]
    first: int
    last: int

    def rows(self) -> Iterator[AnswerRow]:
        """One row per span, sorted by what holds."""
        for atom in sorted(self.atoms, key=lambda atom: (atom.name, written(atom))):
            for start, end in self.atoms[atom]:
                yield AnswerRow("atom", atom.name, tuple(map(plain, atom.args)), None, start, end)


def _longer(spans: list[Span], span: Span) -> None:
    """Add a span, or make the last one longer."""
    if spans and spans[-1][1] == span[0]:
        spans[-1] = (spans[-1][0], span[1])
    else:
        spans.append(span)
