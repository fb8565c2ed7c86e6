"""Answer streams: the definition, and a search that tries no stream which cannot be one.

Bounds of the stream, what must and what may hold, decide most formulas before the search.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace

from horai.lang.lars.syntax import Aggregate, Atom, Formula, Program
from horai.lang.lars.walk import atoms
from horai.oracle.lars.entailment import Part, Semantics, Structure, aggregate_holds
from horai.oracle.lars.grounding import (
    Instance,
    ProgramGrounding,
    head_pairs,
    is_model,
    reduct,
    sure_pairs,
)
from horai.oracle.lars.stream import Pair, Stream

Verdict = tuple[bool, bool]
"""Surely true, possibly true."""
OPEN: Verdict = (False, True)


class StreamBounds(Semantics[Verdict]):
    """What is known of formulas where a stream lies between a smallest and a largest one."""

    def __init__(self, low: Stream, high: Stream, background: Set[Atom] = frozenset()) -> None:
        self.whole = (low, high)
        self.background = background

    def atom(self, atom: Atom, part: Part, time: int) -> Verdict:
        if atom in self.background:
            return (True, True)
        return (atom in part[0].at(time), atom in part[1].at(time))

    def aggregate(self, formula: Aggregate, part: Part, time: int) -> Verdict:
        rows = set()
        for element in formula.elements:
            verdict = self.both(self.holds(one, part, time) for one in element.condition)
            if verdict == OPEN:
                return OPEN
            if verdict[0]:
                rows.add(element.terms)
        return self.constant(aggregate_holds(formula, rows))

    def negation(self, value: Verdict) -> Verdict:
        return (not value[1], not value[0])

    def both(self, values: Iterable[Verdict]) -> Verdict:
        surely = possibly = True
        for sure, possible in values:
            surely, possibly = surely and sure, possibly and possible
            if not possibly:
                break
        return (surely, possibly)


Pairs = frozenset[Pair]


@dataclass(frozen=True)
class Problem:
    """Ground rules, the data stream, the background, and the time at which all is evaluated."""

    instances: Sequence[Instance]
    data: Stream
    time: int
    background: Set[Atom] = frozenset()

    def structure(self, derived: Iterable[Pair]) -> Structure:
        """The data with some atoms derived."""
        return Structure(self.data.plus(derived), self.background)

    def bounds(self, low: Pairs, high: Pairs) -> StreamBounds:
        """Bounds: all that lies between two sets of derived atoms."""
        return StreamBounds(self.data.plus(low), self.data.plus(high), self.background)

    # --- the definition ---

    def is_answer_stream(self, derived: Pairs) -> bool:
        """Is the data with these atoms a minimal model of its own reduct?"""
        structure = self.structure(derived)
        if not is_model(self.instances, structure, self.time):
            return False
        rules = reduct(self.instances, structure, self.time)
        return not self.has_smaller_model(rules, derived)

    def has_smaller_model(self, rules: Sequence[Instance], derived: Pairs) -> bool:
        """Is there a model of the rules with fewer atoms?

        What follows from the data surely, whatever else holds, is in every model. If that is all,
        there is no smaller one; otherwise every atom that does not follow is left out in turn.
        """
        low = self._closed(rules, frozenset(), derived)
        if low is None:
            return False
        for pair in sorted(derived - low, key=repr):
            if self._has_model(rules, low, derived - {pair}):
                return True
            low = low | {pair}
        return False

    def _has_model(self, rules: Sequence[Instance], low: Pairs, high: Pairs) -> bool:
        closed = self._closed(rules, low, high)
        if closed is None:
            return False
        if is_model(rules, self.structure(closed), self.time):
            return True
        unsettled = sorted(high - closed, key=repr)
        return bool(unsettled) and (
            self._has_model(rules, closed, high - {unsettled[0]})
            or self._has_model(rules, closed | {unsettled[0]}, high)
        )

    def _closed(self, rules: Sequence[Instance], low: Pairs, high: Pairs) -> Pairs | None:
        """`low` with what surely follows in all streams up to `high`; None if that is not in it."""
        grown = True
        while grown:
            bounds = self.bounds(low, high)
            found = {
                pair
                for rule in rules
                if bounds.together(rule.body, self.time)[0]
                for pair in sure_pairs(rule.head, self.time)
            } - self.data.pairs
            if not found <= high:
                return None
            grown = not found <= low
            low = low | found
        return low

    # --- the search ---

    def answer_streams(self) -> Iterator[Pairs]:
        """The derived atoms of every answer stream."""
        every = {
            pair
            for instance in self.instances
            for pair in head_pairs(instance.head, self.data, self.time)
        }
        yield from self._search(frozenset(), frozenset(every) - self.data.pairs)

    def _search(self, low: Pairs, high: Pairs) -> Iterator[Pairs]:
        narrowed = self._narrowed(low, high)
        if narrowed is None:
            return
        low, high = narrowed
        if low == high:
            if self.is_answer_stream(low):
                yield low
            return
        pair = min(high - low, key=repr)
        yield from self._search(low | {pair}, high)
        yield from self._search(low, high - {pair})

    def _narrowed(self, low: Pairs, high: Pairs) -> tuple[Pairs, Pairs] | None:
        """Bounds of all answer streams between `low` and `high`; None if there can be none."""
        while True:
            supported = self._supported(low, high)
            bounds = self.bounds(low, supported)
            if any(
                bounds.together(instance.body, self.time)[0]
                for instance in self.instances
                if instance.head is None
            ):
                return None
            closed = self._closed(self.instances, low, supported)
            if closed is None:
                return None
            if (closed, supported) == (low, high):
                return low, high
            low, high = closed, supported

    def _supported(self, low: Pairs, high: Pairs) -> Pairs:
        """The atoms that can be built up from `low`, step by step, by rules whose body may hold.

        An answer stream has nothing else: without it, the reduct would have a smaller model.
        """
        found, grown = low, True
        while grown:
            bounds = self.bounds(low, found)
            more = {
                pair
                for instance in self.instances
                if bounds.together(instance.body, self.time)[1]
                for pair in head_pairs(instance.head, self.data, self.time)
            } & high
            grown = not more <= found
            found = found | more
        return found


@dataclass(frozen=True)
class OracleAnswerStream:
    """An answer stream: what is derived, and the whole of it."""

    stream: Stream
    background: frozenset[Atom]

    def at(self, time: int) -> set[Atom]:
        """Everything that holds at a time, the background included."""
        return self.stream.at(time) | self.background


def answers_at(
    program: Program, signals: Iterable[Pair], time: int, start: int = 0
) -> Iterator[OracleAnswerStream]:
    """All answer streams of a program at a time, given the signals known by then.

    Windows are measured in time points (`in_points`). Signals stand in the order of their arrival;
    those before `start` do not count. Time has no end here: a head may speak of the future.
    """
    known = sorted((pair for pair in signals if pair[0] >= start), key=lambda pair: pair[0])
    last = max([time, *(moment for moment, _ in known)])
    data = Stream(start, last, tuple(known))
    grounding = ProgramGrounding(program, data, time, endless=True)
    data = replace(data, last=grounding.end())
    yield from answer_streams(grounding, data)


def answer_streams(grounding: ProgramGrounding, data: Stream) -> Iterator[OracleAnswerStream]:
    """All answer streams of ground rules."""
    problem = Problem(grounding.instances, data, grounding.time, grounding.background)
    problem = replace(problem, instances=list(_settled(problem, grounding)))
    for found in problem.answer_streams():
        yield OracleAnswerStream(data.plus(found), grounding.background)


def _settled(problem: Problem, grounding: ProgramGrounding) -> Iterator[Instance]:
    """The instances without conditions that depend on nothing derived, and so are settled."""
    structure = problem.structure(())
    derived = grounding.possible.derived

    def is_open(condition: Formula) -> bool:
        return any(atom.predicate in derived for atom in atoms(condition))

    for instance in problem.instances:
        closed = [condition for condition in instance.body if not is_open(condition)]
        if all(structure.entails(condition, problem.time) for condition in closed):
            yield replace(instance, body=tuple(c for c in instance.body if is_open(c)))
