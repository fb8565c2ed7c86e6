"""Proofs of combined rules: each language proves its own part, and asks the other one for the rest.

An atom is proved by the rules of its stage, over the rows and what the description says; an event
or a fluent that the description has from the program is proved by the atom behind it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from horai.explain.absence import DEEPEST, Absences, Reasons
from horai.explain.conditions import EvidenceSolver
from horai.explain.ec import CalculusProver, NotProvable
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
from horai.explain.proof import Proof, Time
from horai.lang.core.printer import show
from horai.lang.core.terms import Constant, Term, children, functor, is_ground, make
from horai.lang.lars.predicates import with_rules_for_any
from horai.lang.lars.syntax import Atom, Program
from horai.lang.lars.walk import in_points
from horai.oracle.lars.stream import Pair
from horai.plan.combined.stages import Passing
from horai.plan.ec.entities import Entities
from horai.runtime.inputs import clock_for
from horai.runtime.lars.answers import written
from horai.runtime.pipeline import looks_ahead

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
            for pair, about in self._signals_of(passing, low, last):
                if pair not in there:  # the stream itself has brought those
                    told[pair] = about
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
