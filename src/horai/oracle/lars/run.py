"""Programs over streams: the answers at one time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from horai.lang.lars.syntax import Atom, Formula, Program
from horai.lang.lars.walk import atoms
from horai.oracle.lars.answers import Problem
from horai.oracle.lars.grounding import Instance, ProgramGrounding
from horai.oracle.lars.stream import Pair, Stream


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


def answers_on(program: Program, data: Stream, time: int) -> Iterator[OracleAnswerStream]:
    """All answer streams of a program for a data stream on a timeline with an end."""
    yield from answer_streams(ProgramGrounding(program, data, time), data)


def answer_streams(grounding: ProgramGrounding, data: Stream) -> Iterator[OracleAnswerStream]:
    """All answer streams of ground rules."""
    problem = Problem(grounding.instances, data, grounding.time, grounding.background)
    if not data.counts_derived:  # for then all windows depend on what is derived
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
