"""Short ways to write streams and atoms in tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations

from horai.lang.lars.clock import Clock
from horai.lang.lars.printer import show
from horai.lang.lars.reader import read_text
from horai.lang.lars.syntax import Atom, Formula, Program
from horai.lang.lars.walk import in_points
from horai.oracle.lars.answers import OracleAnswerStream, Pairs, Problem, answer_streams, answers_at
from horai.oracle.lars.grounding import ProgramGrounding, is_model, reduct
from horai.oracle.lars.stream import Pair, Stream


def program(text: str, clock: str = "1s") -> Program:
    """A program with windows in time points."""
    found, findings = read_text(text)
    assert findings == [], findings[0].render()
    return in_points(found, Clock.parse(clock))


def formula(text: str) -> Formula:
    """One condition."""
    (rule,) = program(f"h :- {text}.").rules
    (condition,) = rule.body
    return condition


def atoms(text: str) -> list[Atom]:
    """`a, b(1)`."""
    if not text:
        return []
    (rule,) = program(f"h :- {text}.").rules
    return [condition for condition in rule.body if isinstance(condition, Atom)]


def stream(first: int, last: int, content: Mapping[int, str]) -> Stream:
    """Signals by time, in their order: `{3: "a, b(1)"}`."""
    times = [time for time in sorted(content) if first <= time <= last]
    return Stream(first, last, tuple((time, one) for time in times for one in atoms(content[time])))


def pairs(content: Mapping[int, str]) -> list[Pair]:
    """Signals by time, as a list."""
    return [(time, atom) for time, text in content.items() for atom in atoms(text)]


def written(found: Iterable[Atom]) -> set[str]:
    """Atoms as texts without blanks."""
    return {show(atom).replace(" ", "") for atom in found}


def content(found: Stream) -> dict[int, set[str]]:
    """What a stream holds, by time."""
    return {time: written(found.at(time)) for time in found.timeline if found.at(time)}


def new(answer: OracleAnswerStream) -> set[str]:
    """What an answer derives: `5:a(x)`."""
    return {f"{time}:{show(atom).replace(' ', '')}" for time, atom in answer.stream.derived}


def derived_on(text: str, data: Stream, time: int) -> list[set[str]]:
    """What each answer stream derives on a timeline with an end."""
    return [new(answer) for answer in answers_on(program(text), data, time)]


def derived_at(text: str, signals: Mapping[int, str], time: int, start: int = 0) -> list[set[str]]:
    """What each answer stream derives, given the signals up to a time."""
    known = [pair for pair in pairs(signals) if pair[0] <= time]
    return [new(answer) for answer in answers_at(program(text), known, time, start)]


def by_trying_all(problem: Problem, candidates: Iterable[Pair]) -> Iterator[Pairs]:
    """All answer streams, found by trying every set of candidates and every smaller one.

    Exponential twice over; it checks the search above on tiny problems.
    """
    pairs = sorted(set(candidates) - problem.data.pairs, key=repr)
    for chosen in _subsets(pairs):
        structure = problem.structure(chosen)
        if is_model(problem.instances, structure, problem.time):
            rules = reduct(problem.instances, structure, problem.time)
            smaller = (less for less in _subsets(chosen) if len(less) < len(chosen))
            if not any(is_model(rules, problem.structure(less), problem.time) for less in smaller):
                yield frozenset(chosen)


def _subsets(pairs: Sequence[Pair]) -> Iterator[tuple[Pair, ...]]:
    return chain.from_iterable(combinations(pairs, size) for size in range(len(pairs) + 1))


def answers_on(program: Program, data: Stream, time: int) -> Iterator[OracleAnswerStream]:
    """All answer streams of a program for a data stream on a timeline with an end."""
    yield from answer_streams(ProgramGrounding(program, data, time), data)
