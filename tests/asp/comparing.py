"""Answers of engines in a form that can be compared, and those of the reference."""

from __future__ import annotations

from collections.abc import Iterable

from horai.asp.engine import AspSession
from horai.asp.solving import AnswerSets
from horai.lang.lars.clock import Clock
from horai.lang.lars.predicates import derived
from horai.lang.lars.printer import show
from horai.lang.lars.reader import read_text
from horai.lang.lars.syntax import Atom, Program
from horai.lang.lars.walk import in_points
from horai.oracle.lars.answers import answers_at
from horai.plan.lars.fragments import AnswerMode

Signals = list[tuple[int, Atom]]
Content = frozenset[tuple[int, str]]


def program(text: str, clock: str = "1s") -> Program:
    """The program of a text that has no mistakes, with windows in time points."""
    found, findings = read_text(text)
    assert findings == [], findings[0].render()
    return in_points(found, Clock.parse(clock))


def atom(text: str) -> Atom:
    """One ground atom."""
    (rule,) = program(f"{text}.").rules
    assert isinstance(rule.head, Atom)
    return rule.head


def signals(text: str) -> Signals:
    """`3: a b(1); 5: a`."""
    found: Signals = []
    for part in filter(None, (piece.strip() for piece in text.split(";"))):
        time, atoms = part.split(":")
        found.extend((int(time), atom(one)) for one in atoms.split())
    return found


def plain(given: Atom) -> str:
    """An atom as text without blanks."""
    return show(given).replace(" ", "")


def contents(answers: AnswerSets, given: Signals) -> set[Content]:
    """What each answer derives."""
    return {_own(model.derived, given, answers.time) for model in answers.models}


def _own(pairs: Iterable[tuple[int, Atom]], given: Signals, now: int) -> Content:
    """Atoms at times as text, without earlier signals: engines need not repeat them."""
    old = {pair for pair in given if pair[0] != now}
    return frozenset((t, plain(a)) for t, a in pairs if (t, a) not in old)


def reference(of: Program, given: Signals, time: int, start: int = 0) -> set[Content]:
    """What each answer stream holds of derived predicates, by the definitions."""
    known = [pair for pair in given if pair[0] <= time]
    predicates = derived(of)
    return {
        _own([p for p in found.stream.pairs if p[1].predicate in predicates], given, time)
        for found in answers_at(of, known, time, start)
    }


def by_asp(
    of: Program, given: Signals, times: Iterable[int], grounding: str = "auto", start: int = 0
) -> dict[int, set[Content]]:
    """All answers of the solver, asked at one time after the other."""
    session = AspSession(of, start=start, asked=AnswerMode(models=0), grounding=grounding)
    found: dict[int, set[Content]] = {}
    waiting = list(given)
    for time in times:
        ready = [pair for pair in waiting if pair[0] <= time]
        waiting = [pair for pair in waiting if pair[0] > time]
        found[time] = contents(session.advance(time, ready), given)
    return found


def now(found: set[Content], time: int) -> list[list[str]]:
    """What holds at a time in each answer, sorted."""
    return sorted(sorted(a for t, a in content if t == time) for content in found)
