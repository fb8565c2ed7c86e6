"""Questions about atoms of programs: read, checked against the run, and answered."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from horai.errors import QueryError, UsageError
from horai.explain.absence import DEEPEST, Reasons, with_tried
from horai.explain.combined import TRUE, CombinedAbsences, CombinedProver
from horai.explain.ec import NotProvable, pair
from horai.explain.lars import (
    AtomAbsences,
    AtomProver,
    low_of,
    needed_for,
    signals_known,
    situation,
    violated,
    without_constraints,
)
from horai.explain.proof import Course, Proof, RowChange, time_in
from horai.explain.trial import tried
from horai.lang.core.terms import functor, is_ground, make
from horai.lang.lars.predicates import derived
from horai.lang.lars.syntax import Atom
from horai.oracle.ec.session import room_to_recurse
from horai.runtime.lars.answers import written
from horai.runtime.queries import atom_of, read_goal
from horai.runtime.values import show
from horai.settings import point_in
from horai.temporal.spans import INF as LAST

if TYPE_CHECKING:
    from horai.result import Result

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
