"""What a run of a LARS program found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from horai import io
from horai.errors import UsageError
from horai.lang.lars.anyone import is_made
from horai.lang.lars.syntax import Atom, Predicate
from horai.lang.terms import Compound, Term
from horai.values import plain, show
from horai.words import counted

if TYPE_CHECKING:
    import pandas as pd

    from horai.metrics import Metrics
    from horai.queries import Bindings

Row = dict[str, Any]
FORMS = ("windows", "final", "changelog")


@dataclass(frozen=True)
class Shown:
    """What is shown of a model: everything, what rules derive, or some names."""

    names: frozenset[str] | None
    derived: Set[Predicate]
    everything: bool = False

    @classmethod
    def parse(cls, given: str | Iterable[str], derived: Set[Predicate]) -> Shown:
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

    def of(self, atoms: Iterable[Atom]) -> frozenset[Atom]:
        """The atoms that are shown."""
        if self.everything:
            return frozenset(atom for atom in atoms if not is_made(atom.name))
        if self.names is not None:
            return frozenset(atom for atom in atoms if atom.name in self.names)
        return frozenset(atom for atom in atoms if atom.predicate in self.derived)


@dataclass(frozen=True)
class LarsAnswer:
    """The answers at a query time: the shown atoms of each model, in a fixed order."""

    query: int
    models: tuple[tuple[Atom, ...], ...]

    @classmethod
    def of(
        cls,
        query: int,
        models: Sequence[Set[Atom]],
        signals: Set[Atom],
        facts: Set[Atom],
        shown: Shown,
    ) -> LarsAnswer:
        """The answer with models that look the same shown once."""
        visible = {shown.of((*model, *signals, *facts)) for model in models}
        listed = (tuple(sorted(model, key=_order)) for model in visible)
        return cls(query, tuple(sorted(listed, key=lambda m: [_order(a) for a in m])))

    @classmethod
    def together(cls, query: int, answers: Sequence[LarsAnswer]) -> LarsAnswer:
        """One answer out of those of parts of a program, which have one model at most each."""
        if len(answers) == 1:
            return answers[0]
        if not all(answer.has_answer for answer in answers):
            return cls(query, ())
        atoms = {atom for answer in answers for atom in answer.atoms}
        return cls(query, (tuple(sorted(atoms, key=_order)),))

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """The atoms of the first model; nothing when there is no answer."""
        return self.models[0] if self.models else ()

    @property
    def has_answer(self) -> bool:
        """False when there is no answer stream."""
        return bool(self.models)

    def texts(self) -> list[str]:
        """The atoms of the first model as people write them."""
        return [written(atom) for atom in self.atoms]

    def rows(self, every: bool) -> Iterator[Row]:
        """One row per atom; `none` without an answer, `empty` for a model without atoms."""
        if not self.models:
            yield {"kind": "none", "query": self.query}
        for number, model in enumerate(self.models if every else self.models[:1], 1):
            which = {"model": number} if every else {}
            for atom in model:
                yield {"kind": "atom", "query": self.query, **which, **_named(atom)}
            if every and not model:
                yield {"kind": "empty", "query": self.query, **which}


def differences(before: LarsAnswer | None, answer: LarsAnswer) -> Iterator[Row]:
    """The atoms that come and go from one answer to the next."""
    then = () if before is None else before.atoms
    for op, here, there in (("-", answer.atoms, then), ("+", then, answer.atoms)):
        for atom in there:
            if atom not in here:
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
        from horai.lars_counting import metrics_of

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
        from horai.lars_query import ask

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


def _order(atom: Atom) -> tuple[str, list[tuple[int, Any, str]]]:
    return (atom.name, [_sort(arg) for arg in atom.args])


def _sort(term: Term) -> tuple[int, Any, str]:
    """Numbers come before text; 3 and 3.0, or a and "a", are not the same and have an order."""
    value = plain(term)
    return (isinstance(value, str), value, type(term).__name__)
