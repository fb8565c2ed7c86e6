"""Atoms of programs: questions about them, and proofs in which both languages take part.

Of combined rules each language proves its own part, and asks the other one for the rest. An atom is
proved by the rules of its stage, over the rows and what the description says; an event or a fluent
that the description has from the program is proved by the atom behind it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from horai.errors import QueryError, UsageError
from horai.explain.absence import DEEPEST, Absences, Reasons, with_tried
from horai.explain.conditions import EvidenceSolver
from horai.explain.ec import CalculusProver, NotProvable, pair
from horai.explain.lars import (
    AtomAbsences,
    AtomProver,
    Signals,
    low_of,
    needed_for,
    signals_known,
    situation,
    violated,
    without_constraints,
)
from horai.explain.proof import Course, Proof, RowChange, Time, time_in
from horai.explain.trial import tried
from horai.lang.core.terms import Constant, Term, children, functor, is_ground, make
from horai.lang.lars.predicates import derived, with_rules_for_any
from horai.lang.lars.syntax import Atom, Program
from horai.lang.lars.walk import in_points
from horai.oracle.ec.session import room_to_recurse
from horai.oracle.lars.stream import Pair
from horai.plan.combined.stages import Passing
from horai.plan.ec.entities import Entities
from horai.runtime.inputs import clock_for
from horai.runtime.lars.answers import written
from horai.runtime.pipeline import looks_ahead
from horai.runtime.queries import atom_of, read_goal
from horai.runtime.values import show
from horai.settings import point_in
from horai.temporal.spans import INF as LAST

if TYPE_CHECKING:
    from horai.result import Result

TRUE = Constant("true")
About = tuple[Term, Term | None]


class CombinedProver(CalculusProver):
    """Proves what combined rules have found."""

    def __init__(self, solver: EvidenceSolver, time: Time, result: Result) -> None:
        super().__init__(solver, time)
        self.result, self.stages = result, result.rules.stages
        self._provers: dict[tuple[int, int], list[AtomProver]] = {}

    def told(self, entity: Term, value: Term | None, t: int) -> Proof | None:
        for source, passing in self.readings(self.last("description")):
            atom = atom_for(passing, entity, value)
            prover = None if atom is None else self._atom_prover(source, atom, t)
            if atom is not None and prover is not None:
                return prover.holds(atom, t)
        return None

    def atom(self, atom: Atom, t: int) -> Proof:
        """Why an atom of the program holds at a time-point."""
        prover = self._atom_prover(self.last("program"), atom, t)
        if prover is None:
            raise NotProvable(f"{written(atom)} at {self.time(t)}")
        return prover.holds(atom, t)

    def _tell(self, entity: Term, value: Term | None, t: int) -> Proof:
        """What the description says."""
        return self.happens(entity, t) if value is None else self.holds(entity, value, t)

    # --- atoms, by the rules of a stage -----------------------------------------------------------

    def _atom_prover(self, place: int, atom: Atom, t: int) -> AtomProver | None:
        """What proves an atom by the rules of a stage, in an answer stream that has it."""
        known = self._provers.setdefault((place, t), [])
        for prover in known:
            if atom in prover.found.answer.at(t):
                return prover
        made = self.in_situation(place, atom, t, (atom,))
        if made is not None:
            known.append(made)
        return made

    def in_situation(
        self, place: int, asked: Atom, t: int, wanted: Collection[Atom] | None = ()
    ) -> AtomProver | None:
        """What proves in an answer stream of a stage that has what is wanted, if there is one.

        If nothing is wanted, not even an answer, it is as if nothing were forbidden.
        """
        whole, first = self.programs[place], self._start + 1
        program = without_constraints(whole) if wanted is None else needed_for(whole, asked)
        last = self.world.query if looks_ahead(program) else t
        signals = self._signals(place, int(low_of(program, first, t)), last)
        found = situation(program, signals, first, t, wanted or ())
        return None if found is None else AtomProver(found, self.course, self.time, self._tell)

    def _signals(self, place: int, low: int, last: int) -> Signals:
        """The rows between two times, then what the description says of them, in a fixed order."""
        result = self.result
        rows = signals_known(result.basis.items(), result.dead_letters, low, last, True)
        there, told = set(rows.pairs), dict[Pair, About]()
        for _, passing in self.readings(place):
            for signal, about in self._signals_of(passing, low, last):
                if signal not in there:  # the stream itself has brought those
                    told[signal] = about
        ordered = sorted(told, key=lambda pair: (pair[0], pair[1].predicate, _texts(pair[1])))
        listed = sorted((*rows.pairs, *ordered), key=lambda pair: pair[0])
        return Signals(listed, rows.places, told)

    def _signals_of(self, passing: Passing, low: int, last: int) -> Iterator[tuple[Pair, About]]:
        key = passing.entity.key
        for terms, times in self.evidence.within(key, passing.is_fluent, low, last):
            value = terms.pop() if passing.is_fluent else None
            if passing.is_fluent and not passing.with_value and value != TRUE:
                continue
            args = (*terms, value) if passing.with_value and value is not None else tuple(terms)
            about = make(key[0], *terms), value
            for t in times:
                yield (t, Atom(key[0], args)), about

    @cached_property
    def programs(self) -> dict[int, Program]:
        """The programs of the stages, with windows in time points."""
        settings = self.result.basis.settings
        clock = clock_for(settings.clock, settings.unit)
        return {
            place: in_points(with_rules_for_any(stage.rules), clock)
            for place, stage in enumerate(self.stages)
            if isinstance(stage.rules, Program)
        }

    @property
    def _start(self) -> int:
        return self.result.basis.settings.start or 0

    def last(self, language: str) -> int:
        """The stage that has all rules of a language."""
        return max(n for n, stage in enumerate(self.stages) if stage.language == language)

    def readings(self, place: int) -> Iterator[tuple[int, Passing]]:
        """What a stage reads of others, and of which."""
        for source, passing in self.stages[place].reads:
            yield from ((source, one) for one in passing)


def atom_for(passing: Passing, entity: Term, value: Term | None) -> Atom | None:
    """The atom that stands for an event, or for a fluent with its value."""
    if functor(entity) != passing.entity.key or passing.is_fluent != (value is not None):
        return None
    name, args = passing.predicate[0], children(entity)
    if passing.with_value:
        assert value is not None
        return Atom(name, (*args, value))
    return Atom(name, args) if value in (None, TRUE) else None


def _texts(atom: Atom) -> tuple[str, ...]:
    return tuple(map(show, atom.args))


class CombinedAbsences(Absences):
    """Finds out why something is not so, where the description reads what a program says."""

    def __init__(self, prover: CalculusProver, entities: Entities) -> None:
        super().__init__(prover, entities)
        assert isinstance(prover, CombinedProver)
        self.both, self._deep = prover, 0

    def told(self, entity: Term, value: Term | None, t: int) -> Reasons:
        found = Reasons([], [])
        for source, passing in self.both.readings(self.both.last("description")):
            atom = atom_for(passing, entity, value)
            if atom is not None and all(map(is_ground, atom.args)):
                reasons = self.atom(source, atom, t)
                found.proofs.extend(reasons.proofs)
                found.wishes.extend(reasons.wishes)
        return found

    def atom(self, place: int, atom: Atom, t: int) -> Reasons:
        """Why an atom does not hold by the rules of a stage."""
        if self._deep >= DEEPEST or not self.world.in_run(t):
            return Reasons([], [])
        self._deep += 1
        try:
            prover = self.both.in_situation(place, atom, t)
            if prover is not None:
                return StageAbsences(prover, place, self).reasons(atom)
            prover = self.both.in_situation(place, atom, t, None)
            rules = self.both.programs[place].rules
            return Reasons([], []) if prover is None else violated(prover, rules)
        finally:
            self._deep -= 1


class StageAbsences(AtomAbsences):
    """Finds out why an atom does not hold where a program reads what the description says."""

    def __init__(self, prover: AtomProver, place: int, both: CombinedAbsences) -> None:
        super().__init__(prover, both.both.result.basis.items())
        self._place, self._both = place, both

    def elsewhere(self, atom: Atom, t: int) -> Reasons | None:
        for _, passing in self._both.both.readings(self._place):
            if passing.predicate == atom.predicate:
                args = atom.args[: passing.entity.arity]
                value = atom.args[-1] if passing.with_value else TRUE
                entity = make(atom.name, *args)
                return self._both.reasons(entity, value if passing.is_fluent else None, t)
        return None


# --- questions, read and checked against the run --------------------------------------------------

_SHOWN = 5


class AtomQuestion(NamedTuple):
    """An atom at a time, and when it holds, in words."""

    atom: Atom
    at: int
    is_so: bool
    when: str

    @property
    def text(self) -> str:
        """The atom as people write it."""
        return written(self.atom)


def is_about_atom(result: Result, what: str) -> bool:
    """Is a question one about an atom of a program? What the description derives is not."""
    rules = result.rules
    if rules.language != "combined":
        return rules.language == "lars"
    key = functor(read_goal(what, "alarm(hall)=on, an event, or an atom of the program"))
    if key in rules.entities.events and rules.is_output(*key, False):
        return False
    return key in rules.predicates_of_program


def read_atom_question(result: Result, what: str, at: int | str | None) -> AtomQuestion:
    """What is asked, if the program speaks of it and the run tells of the time."""
    settings, is_combined = result.basis.settings, result.rules.language == "combined"
    atom = atom_of(what)
    shown, told = written(atom), time_in(settings.unit)
    if not all(map(is_ground, atom.args)):
        raise QueryError(f"{shown} has variables", "say what they stand for")
    if is_combined and (other := _of_description(result, atom)) is not None:
        raise QueryError(f"{shown} is of the description", f"ask about {other}")
    spans = result.holds_for(shown)  # and an error for a predicate that nobody knows
    points: Iterable[int] = (answer.query for answer in result.answers)
    if is_combined:
        points = (t for start, end in spans for t in range(start, int(min(end, LAST))))
    held = (t for t in points if any(start <= t < end for start, end in spans))
    times = list(islice(held, _SHOWN + 1))
    listed = ", ".join(map(told, times[:_SHOWN])) + (", ..." if len(times) > _SHOWN else "")
    when = f"it holds at {listed}" if times else "it never holds"
    word = "time" if is_combined else "query time"
    if at is None:
        raise UsageError(f"say at what {word} {shown} is meant", when)
    time = point_in(at, settings.scale, "the time")
    if is_combined:
        start, last = (settings.start or 0) + 1, result.last.query
        if not start <= time <= last:
            problem = f"{told(time)} is outside the run, which goes from {told(start)} to"
            raise UsageError(f"{problem} {told(last)}", "ask about a time in it")
    elif all(answer.query != time for answer in result.answers):
        first, last = result.answers[0].query, result.answers[-1].query
        raise UsageError(
            f"{told(time)} is no query time of the run: they are {told(first)} to {told(last)}",
            when,
        )
    return AtomQuestion(atom, time, any(start <= time < end for start, end in spans), when)


def _of_description(result: Result, atom: Atom) -> str | None:
    """The event or the fluent that an atom stands for."""
    for passing in result.rules.passing.to_program:
        if passing.predicate == atom.predicate:
            entity = make(atom.name, *atom.args[: passing.entity.arity])
            value = atom.args[-1] if passing.with_value else TRUE
            return pair(entity, value) if passing.is_fluent else show(entity)
    return None


def why_atom(result: Result, what: str, at: int | str | None, about: str, depth: int) -> Proof:
    """Why an atom of a program holds at a time."""
    if about != "holds":
        shown = written(atom_of(what))
        raise UsageError(f"{shown} is an atom of a program: each query time has its own reasons")
    asked = read_atom_question(result, what, at)
    told = time_in(result.basis.settings.unit)
    if not asked.is_so:
        problem = f"{asked.text} does not hold at {told(asked.at)}: {asked.when}"
        raise UsageError(problem, "ask why not: --not")
    with room_to_recurse():
        if result.rules.language == "combined":
            assert isinstance(result.prover, CombinedProver)
            result.prover.begin(depth)
            try:
                return result.prover.atom(asked.atom, asked.at)
            except NotProvable as missing:
                hint = "a window may have let go of the items behind it: run with a longer one"
                raise UsageError(f"the run does not show why: {missing}", hint) from None
        model = next(one for one in result.at(asked.at).models if asked.atom in one)
        prover = _prover(result, asked, model, depth)
        if prover is None:
            problem = f"the signals of the run do not show why {asked.text} holds"
            raise UsageError(f"{problem} at {told(asked.at)}")
        return prover.holds(asked.atom, asked.at)


def _prover(
    result: Result, asked: AtomQuestion, model: Collection[Atom] | None, depth: int
) -> AtomProver | None:
    """What proves in the answer stream of the run; without one, as if nothing were forbidden."""
    settings, items, _ = result.basis
    whole, start, at = (
        result.rules.in_points(settings.clock, settings.unit),
        settings.start or 0,
        asked.at,
    )
    program = without_constraints(whole) if model is None else needed_for(whole, asked.atom)
    made = derived(program)
    wanted = [atom for atom in model or () if atom.predicate in made]
    low = low_of(program, start, at)
    course = Course()
    course.begin(depth)
    for late in (False, True):
        signals = signals_known(items(), result.dead_letters, low, at, late)
        found = situation(program, signals, start, at, wanted)
        if found is not None:
            return AtomProver(found, course, time_in(settings.unit))
    return None


def why_not_atom(result: Result, what: str, at: int | str | None) -> Proof:
    """Why an atom does not hold at a time: what each rule lacks, and the rows that would help."""
    asked = read_atom_question(result, what, at)
    time = time_in(result.basis.settings.unit)
    if asked.is_so:
        raise UsageError(f"{asked.text} holds at {time(asked.at)}", "ask why, without --not")

    def works(change: RowChange) -> bool:
        return tried(result, [change]).holds_at(asked.text, asked.at)

    node = Proof("fails", f"{asked.text} does not hold", at=asked.at, met=False, time=time)
    with room_to_recurse():
        return with_tried(node, _reasons(result, asked), works)


def _reasons(result: Result, asked: AtomQuestion) -> Reasons:
    if result.rules.language == "combined":
        prover = result.prover
        assert isinstance(prover, CombinedProver)
        prover.begin(DEEPEST)
        absences = CombinedAbsences(prover, result.rules.entities)
        return absences.atom(prover.last("program"), asked.atom, asked.at)
    models = result.at(asked.at).models
    if models:
        found = _prover(result, asked, models[0], DEEPEST)
        if found is None:
            return Reasons([], [])
        return AtomAbsences(found, result.basis.items()).reasons(asked.atom)
    found = _prover(result, asked, None, DEEPEST)
    settings = result.basis.settings
    rules = result.rules.in_points(settings.clock, settings.unit).rules
    return Reasons([], []) if found is None else violated(found, rules)
