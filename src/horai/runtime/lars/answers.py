"""What a LARS program says at query times: atoms of its answer streams, and how they change.

A step costs what has come and gone. The whole answer is made when somebody asks for it, at that
step or later.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from horai.engine.admission import Dropped
from horai.errors import UsageError
from horai.io import AnswerKind, AnswerRow
from horai.io import Term as IoTerm
from horai.lang.core.terms import Compound, Term
from horai.lang.lars.predicates import is_made
from horai.lang.lars.syntax import Atom, Predicate
from horai.runtime.answers import answers_named
from horai.runtime.inputs import DroppedRow
from horai.runtime.lars.admission import Judged
from horai.runtime.values import plain, show

Value = Callable[[Term], IoTerm]
"""How a row shows an argument."""
Key = tuple[str, list[tuple[int, Any, str]]]
FEW = 8
"""One atom in so many may come or go, and is faster put in its place than all are sorted."""


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
    """The atoms shown at the last step, in their order, which is kept as they come and go."""

    def __init__(self) -> None:
        self.known: dict[Atom, Key] = {}
        self._keys: list[Key] = []
        self._atoms: list[Atom] = []
        self.kept = StepAtoms(self)
        self._moves = 0  # since an answer was listed

    def become(self, atoms: Collection[Atom]) -> tuple[list[Atom], list[Atom]]:
        """Show these atoms and no others; what has come and what has gone, sorted."""
        now = atoms if isinstance(atoms, set | frozenset) else set(atoms)
        return self.change(now - self.known.keys(), self.known.keys() - now)

    def change(
        self, came: Collection[Atom], gone: Collection[Atom]
    ) -> tuple[list[Atom], list[Atom]]:
        """Show atoms that were not shown, and others no longer; both sorted."""
        if not came and not gone:
            return [], []
        fresh = {atom: order(atom) for atom in came}
        new, past = sorted(fresh, key=fresh.__getitem__), sorted(gone, key=self.known.__getitem__)
        later = StepAtoms(self)
        self.kept.leave(later, new, past)
        self.kept = later
        if (len(new) + len(past)) * FEW < len(self.known):
            self._pass(new, past, fresh)
        else:
            for atom in past:
                del self.known[atom]
            self.known |= fresh
            self._atoms = sorted(self.known, key=self.known.__getitem__)
            self._keys = [self.known[atom] for atom in self._atoms]
        # So no way from an answer to a later one that is listed is longer than an answer.
        self._moves += len(new) + len(past)
        if self._moves > len(self.known):
            self._moves = 0
            later.listed()
        return new, past

    def _pass(self, new: Iterable[Atom], past: Iterable[Atom], fresh: dict[Atom, Key]) -> None:
        """A few atoms come and go, each at its place among the others."""
        for atom in past:
            place = bisect_left(self._keys, self.known.pop(atom))
            del self._keys[place], self._atoms[place]
        for atom in new:
            key = self.known[atom] = fresh[atom]
            place = bisect_left(self._keys, key)
            self._keys.insert(place, key)
            self._atoms.insert(place, atom)

    def listed(self) -> tuple[Atom, ...]:
        """All of them, sorted."""
        return tuple(self._atoms)


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


class AtomGroup(NamedTuple):
    """Atoms that hold at a query time, or come or go then: rows that differ in nothing else.

    A `row` of kind `none` (there is no answer) or `empty` (an answer has no atoms) stands alone.
    """

    row: AnswerRow
    atoms: Sequence[Atom] = ()

    def but(self, **fields: Any) -> AtomGroup:
        """The same atoms, and something else said of all of them."""
        return AtomGroup(self.row._replace(**fields), self.atoms)

    def rows(self, value: Value = plain) -> Iterator[AnswerRow]:
        """A row for each atom."""
        if not self.atoms:
            yield self.row
        for atom in self.atoms:
            yield self.row._replace(name=atom.name, args=tuple(map(value, atom.args)))


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

    def groups(self, numbered: bool) -> Iterator[AtomGroup]:
        """The atoms of each model; `none` without an answer, `empty` for a model without atoms."""
        models = self.models
        if not models:
            yield AtomGroup(AnswerRow("none", query=self.query))
        for number, model in enumerate(models if numbered else models[:1], 1):
            if model or numbered:
                kind: AnswerKind = "atom" if model else "empty"
                which = number if numbered else None
                yield AtomGroup(AnswerRow(kind, query=self.query, model=which), model)


MOST_TEXTS = 100_000


class AtomTexts:
    """The texts of atoms, each made once: most are written at one query time after the other."""

    def __init__(self, text: Callable[[str, Sequence[IoTerm]], str]) -> None:
        self._text = text
        self._known: dict[int, str] = {}
        """By identity, for to hash an atom takes longer than to write its text."""
        self._kept: list[Atom] = []  # as long as it is there, no other one has its identity
        self._last: tuple[Sequence[Atom], list[str]] = ((), [])

    def of(self, atoms: Sequence[Atom]) -> list[str]:
        """The texts of atoms, which nobody changes; often they are those of the last time."""
        if atoms is not self._last[0]:
            if len(self._kept) + len(atoms) > MOST_TEXTS:
                self._known, self._kept = {}, []
            known = self._known
            self._last = (atoms, [known.get(id(atom)) or self._made(atom) for atom in atoms])
        return self._last[1]

    def _made(self, atom: Atom) -> str:
        self._kept.append(atom)
        found = self._known[id(atom)] = self._text(atom.name, tuple(map(plain, atom.args)))
        return found


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


@dataclass
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

    def only(self, one: GivenAnswer) -> PointAnswers:
        """One of the answers."""
        return PointAnswers([one], self.numbered, self.revisable)

    def rows(self, form: str) -> list[AnswerRow]:
        """The rows of a form of answer: of points, or maximal `spans`."""
        if form != "spans":
            return [row for group in self.groups(answers_named(form)) for row in group.rows()]
        if self.numbered:
            raise UsageError("spans are those of one answer at a time", "leave out models")
        return list(self.spans.rows())

    def groups(self, form: str) -> Iterator[AtomGroup]:
        """The rows of a form of answer that is one of points."""
        check_form(form, self.numbered, self.revisable)
        match form:
            case "changelog":
                for one in self.said:
                    yield from (
                        revisions(one, self.numbered) if self.revisable else differences(one)
                    )
            case "final" if not self.revisable:
                yield from self.last.groups(self.numbered) if self.said else ()
            case _:
                for answer in self.final if form == "final" else self.points:
                    yield from answer.groups(self.numbered)

    @cached_property
    def spans(self) -> ProgramSpans:
        """From when until when atoms hold."""
        return ProgramSpans.of(self.final)


def check_form(form: str | None, numbered: bool, revisable: bool) -> None:
    """Refuse changes from one query time to the next of answers with several models."""
    if form == "changelog" and numbered and not revisable:
        hint = "leave out models, or add an allowed lateness"
        raise UsageError("changes are those of one model", hint)


def differences(said: GivenAnswer) -> Iterator[AtomGroup]:
    """The atoms that come and go from one answer to the next."""
    before, answer, came, gone = said.before, said.answer, said.came, said.gone
    if came is None or gone is None:
        then = () if before is None else before.atoms
        was, now = set(then), set(answer.atoms)
        gone = [atom for atom in then if atom not in now]
        came = [atom for atom in answer.atoms if atom not in was]
    for op, atoms in (("-", gone), ("+", came)):
        if atoms:
            yield AtomGroup(AnswerRow("atom", query=answer.query, op=op), atoms)
    if not answer.has_answer and (before is None or before.has_answer):
        yield AtomGroup(AnswerRow("none", query=answer.query))


def revisions(said: GivenAnswer, numbered: bool) -> Iterator[AtomGroup]:
    """What is taken back of what was said about a query time, and what is new."""
    then = [] if said.before is None else list(said.before.groups(numbered))
    now = list(said.answer.groups(numbered))
    for op, here, there in (("-", now, then), ("+", then, now)):
        known = {group.row: set(group.atoms) for group in here}
        for group in there:
            same = known.get(group.row)
            atoms = [atom for atom in group.atoms if same is None or atom not in same]
            if atoms or same is None:
                yield AtomGroup(group.row._replace(op=op, arrived=said.arrived), atoms)


class ProgramSpans(NamedTuple):
    """From when until when (not included) atoms hold, and there is no answer; and of which run."""

    atoms: dict[Atom, list[Span]]
    none: list[Span]
    first: int
    last: int

    @classmethod
    def of(cls, answers: Sequence[PointAnswer]) -> ProgramSpans:
        """Those of the first model of each answer, which counts until the next query time."""
        queries = [answer.query for answer in answers]
        step = queries[-1] - queries[-2] if len(queries) > 1 else 1
        last = queries[-1] + step - 1 if queries else 0
        found = cls({}, [], queries[0] if queries else 0, last)
        for answer, after in zip(answers, [*queries[1:], last + 1], strict=True):
            span = (answer.query, after)
            if not answer.has_answer:
                _longer(found.none, span)
            for atom in answer.atoms:
                _longer(found.atoms.setdefault(atom, []), span)
        return found

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
