"""Runs fed step by step: late and retracted signals revise answers, and nothing else matters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lars.plain_programs import ENTITIES, LAST, SIGNALS, programs
from tests.lars.planned import few_rounds
from tests.lars.story import program, written
from tests.weights import examples

import horai
from horai.engine.lars.run import Signal
from horai.errors import UsageError
from horai.io import AnswerRow
from horai.lang.core.reader import read_term
from horai.lang.lars.predicates import derived
from horai.lang.lars.syntax import Atom
from horai.oracle.lars.answers import answers_at
from horai.plan.lars.reach import SignalReach
from horai.result import Answer
from horai.runtime.lars import admission as lars_memory
from horai.runtime.lars.admission import SignalMemory
from horai.session import Session

__all__ = ["few_rounds"]

Sent = tuple[str, str, int, int]  # name with sign, argument, arrival, time


@dataclass
class Told:
    """Answers by query time, as rows of changes make them."""

    rows: dict[int, set[str]] = field(default_factory=dict)

    def apply(self, changes: list[AnswerRow]) -> None:
        for row in changes:
            said = self.rows.setdefault(row.query or 0, set())
            text = _text(row)
            if row.op == "-":
                assert text in said, "what is taken back was there"
                said.remove(text)
            else:
                assert text not in said, "what is new was not there"
                said.add(text)

    def at(self, query: int) -> set[str]:
        return self.rows.get(query, set())


def _text(row: AnswerRow) -> str:
    if row.kind == "none":
        return "none"
    return f"{row.name}({','.join(map(str, row.args))})"


def _seen(answer: Answer) -> set[str]:
    return written(answer.models[0]) if answer.has_answer else {"none"}


@st.composite
def streams(draw: st.DrawFn) -> list[Sent]:
    """Rows in the order of their arrival; some take back what was there, or something unknown."""
    found: list[Sent] = []
    for _ in range(draw(st.integers(0, 10))):
        time = draw(st.integers(0, LAST))
        arrival = max(0, time + draw(st.sampled_from([0, 0, 0, 1, 3, 6, -2])))
        name, arg = draw(st.sampled_from(SIGNALS)), draw(st.sampled_from(ENTITIES))
        found.append((name, arg, arrival, time))
        if draw(st.integers(0, 3)) == 0:
            later = arrival + draw(st.integers(0, 6))
            found.append((f"-{name}", arg, later, time))
    return sorted(found, key=lambda one: one[2])


def known(rows: list[Sent], query: int, lateness: int | None, end: int) -> list[tuple[int, Atom]]:
    """What counts at a query time once all that came until the end is known, by the definitions."""
    found: list[tuple[Sent, list[int]]] = []
    for row in rows:
        name, arg, arrival, time = row
        if arrival > end:
            continue
        late = arrival > 0 and time < arrival
        if lateness is not None and late and time < arrival - lateness:
            continue
        since = arrival if lateness is None else min(arrival, time)
        if not name.startswith("-"):
            found.append((row, [since, LAST * 9]))
            continue
        same = [one for one in found if one[0][0] == name[1:] and one[0][1] == arg]
        same = [one for one in same if one[0][3] == time and one[1][1] > LAST * 8]
        if same:
            same[-1][1][1] = since
    found.sort(key=lambda one: one[0][3])
    return [
        (row[3], Atom(row[0], (read_term(row[1]),)))
        for row, (since, until) in found
        if since <= query < until
    ]


def reference(text: str, signals: list[tuple[int, Atom]], query: int) -> set[str]:
    rules = program(text)
    shown = derived(rules)
    for answer in answers_at(rules, signals, query, 0):
        return written(atom for atom in answer.at(query) if atom.predicate in shown)
    return {"none"}


def lines(rows: list[Sent]) -> list[str]:
    return [f"{name}|{arrival}|{time}|{arg}" for name, arg, arrival, time in rows]


def sessions(text: str, lateness: int | None) -> Iterator[Session]:
    for engine in ("plan", "asp", "tms"):
        try:
            yield horai.loads(text, language="lars").session(
                engine=engine, allowed_lateness=lateness
            )
        except UsageError:
            continue


def check(text: str, rows: list[Sent], lateness: int, breaks: set[int]) -> None:
    """At every time, the changes so far sum up to the answers over all that is known so far."""
    for session in sessions(text, lateness):
        told = Told()
        for query in range(LAST + 1):
            if query in breaks:
                session = horai.load_session(session.save())
            new = [row for row in rows if row[2] == query]
            step = session.advance(query, lines(new))
            told.apply(step.changes)
            assert _seen(step) == told.at(query)
            for answer in step.revisions:
                assert _seen(answer) == told.at(answer.query)
            for earlier in range(max(0, query - lateness), query + 1):
                signals = known(rows, earlier, lateness, query)
                expected = reference(text, signals, earlier)
                assert told.at(earlier) == expected, (session.engine, query, earlier)
        for query in range(LAST + 1):
            expected = reference(text, known(rows, query, lateness, LAST), query)
            assert told.at(query) == expected, (session.engine, query)


@pytest.fixture(autouse=True)
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lars_memory, "FEW", 0)


@examples("heavy")
@given(programs(), streams(), st.integers(0, 6), st.sets(st.integers(0, LAST), max_size=2))
def test_answers_are_revised(text: str, rows: list[Sent], lateness: int, breaks: set[int]) -> None:
    check(text, rows, lateness, breaks)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@examples("normal")
@given(programs(), streams(), st.integers(0, 6), st.sets(st.integers(0, LAST), max_size=3))
def test_answers_are_revised_at_length(
    text: str, rows: list[Sent], lateness: int, breaks: set[int]
) -> None:
    check(text, rows, lateness, breaks)


def check_arrivals(text: str, rows: list[Sent], step: int, breaks: set[int]) -> None:
    """Without a lateness a signal counts from its arrival on, however often a run is saved."""
    whole = horai.loads(text, language="lars").run(
        lines(rows), start=0, end=LAST, step=step, engine="reference"
    )
    for session in sessions(text, None):
        restarted = session.engine
        session = horai.loads(text, language="lars").session(engine=restarted, step=step)
        before: set[str] = set()
        for answer in whole.answers:
            if answer.query in breaks:
                session = horai.load_session(session.save())
            new = [row for row in rows if answer.query - step < row[2] <= answer.query]
            found = session.advance(answer.query, lines(new))
            assert _seen(found) == _seen(answer), (restarted, answer.query)
            for row in found.changes:
                if row.kind == "atom":
                    (before.remove if row.op == "-" else before.add)(_text(row))
            assert before == _seen(answer) - {"none"}


@examples("heavy")
@given(programs(), streams(), st.integers(1, 3), st.sets(st.integers(0, LAST), max_size=2))
def test_signals_count_from_their_arrival_on(
    text: str, rows: list[Sent], step: int, breaks: set[int]
) -> None:
    check_arrivals(text, rows, step, breaks)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@examples("normal")
@given(programs(), streams(), st.integers(1, 3), st.sets(st.integers(0, LAST), max_size=3))
def test_signals_count_from_their_arrival_on_at_length(
    text: str, rows: list[Sent], step: int, breaks: set[int]
) -> None:
    check_arrivals(text, rows, step, breaks)


def test_signals_are_forgotten_once_they_are_too_old_for_their_windows() -> None:
    memory, reach = SignalMemory(), SignalReach(points={("a", 0): 5, ("b", 0): 50})
    names = ("a", "b", "never_asked_for")
    for time in range(600):
        for place, name in enumerate(names):
            memory.add(Signal(time, 3 * time + place, Atom(name)), time)
    memory.forget(600, reach)
    kept = {name: [s.time for s, _, _ in memory.known if s.atom.name == name] for name in names}
    assert kept == {"a": [*range(594, 600)], "b": [*range(549, 600)], names[2]: [*range(594, 600)]}
    assert memory.take_back(549, Atom("a"), 600) is None
    assert memory.take_back(549, Atom("b"), 600) == Signal(549, 3 * 549 + 1, Atom("b"))


@pytest.mark.parametrize("coming", [("b",), ("b", "never_asked_for")])
def test_memory_that_knows_what_comes_forgets_the_same(coming: tuple[str, ...]) -> None:
    memory, reach = SignalMemory(), SignalReach(points={("a", 0): 5, ("b", 0): 50})
    for time in range(600):
        added = [Signal(time, 2 * time + place, Atom(name)) for place, name in enumerate(coming)]
        memory.add_all(time, {signal.order: signal for signal in added}, time)
    memory.forget(600, reach, {(name, 0) for name in coming})
    kept = {name: [s.time for s, _, _ in memory.known if s.atom.name == name] for name in coming}
    assert kept == dict(zip(coming, ([*range(549, 600)], [*range(599, 600)]), strict=False))
    assert memory.take_back(549, Atom("b"), 600) == Signal(549, 2 * 549, Atom("b"))


def test_rows_wait_in_the_order_of_their_arrival() -> None:
    times = [3, 9, 3, 1, 9, 5, 2, 9, 4]
    text = "h(X) :- s(X) [4]."
    session = horai.loads(text, language="lars").session(start=0)
    session.feed([f"s|{time}|{time}|{place}" for place, time in enumerate(times)])
    said = [session.advance(query).rows("windows") for query in (2, 3, 4)]
    again = horai.load_session(session.save())
    said += [again.advance(query).rows("windows") for query in range(5, 10)]
    whole = horai.loads(text, language="lars").run(
        [f"s|{time}|{time}|{place}" for place, time in enumerate(times)], start=0, end=9
    )
    rows = [(row.query, row.args) for one in said for row in one]
    assert rows == [(row.query, row.args) for row in whole.table("windows").rows()]
