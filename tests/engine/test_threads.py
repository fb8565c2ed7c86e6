"""The answers do not change with the number of threads, whatever comes late, goes or is saved.

Rows are divided among machines once a step has very many items. Here any step has enough.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import cycle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.comparing import Setting
from tests.engine.test_compiled import CASES, NO_INSTRUCTIONS, RUNS, compare
from tests.strategies.wild_parts import PREDICATES
from tests.weights import examples

import horai
from horai.engine.answer import Answer
from horai.engine.arrow_items import Source
from horai.engine.core import session as sessions
from horai.engine.core import shards
from horai.engine.core.shards import Shards
from horai.engine.profile import Profile
from horai.errors import UsageError
from horai.runtime import engines
from horai.runtime.compiled import CompiledEngine
from horai.testing import Case, case_rules, run_case

NUMBERS = (2, 3, 7)


@pytest.fixture(autouse=True, scope="module")
def _any_step_is_enough() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sessions, "LEAST", 1)
        patch.setattr(shards, "MANY", 1)
        patch.setattr(shards, "AT_ONCE", 3)
        yield


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda n: f"{CASES[n].title}")
def test_case(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All cases, with one number of threads or another."""
    case: Case = CASES[number]
    monkeypatch.setattr(engines, "_cores", lambda: NUMBERS[number % len(NUMBERS)])
    rules = case_rules(case)
    found = run_case(replace(case, rules=None, background=None), "compiled", rules)
    if not any(NO_INSTRUCTIONS in difference.text for difference in found):
        assert [f"{d.place}: {d.sign} {d.text}" for d in found] == []


class Threaded(CompiledEngine):
    """Runs in three threads, tells a profile what rules cost, and forgets before each query."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.threads = 3
        self.watch(Profile())

    def advance(self, until: int, tables: Iterable[Source] = ()) -> Answer:
        self._room = 0
        return super().advance(until, tables)


class Restored:
    """Is saved before each query time, and goes on with another number of threads."""

    def __init__(self, *given: Any, **options: Any) -> None:
        self._make = partial(CompiledEngine, *given, **options)
        self._numbers = cycle((2, 3, 1, 7))
        self._session: CompiledEngine | None = None

    def advance(self, until: int, tables: Iterable[Source] = ()) -> Answer:
        before, self._session = self._session, self._make()
        self._session.threads = next(self._numbers)
        if before is not None:
            self._session.restore(before.save())
        return self._session.advance(until, tables)


@pytest.mark.parametrize("engine", [Threaded, Restored])
@pytest.mark.parametrize("kind", RUNS)
@examples("heavy")
@given(st.data())
def test_random_runs(kind: str, engine: Any, data: st.DataObject) -> None:
    """At every query time, with late items and retractions."""
    run = data.draw(RUNS[kind]())
    setting = Setting(
        run.cut.queries,
        window=data.draw(st.sampled_from([run.cut.window, None])),
        tick=run.described.tick,
        allen_memory=data.draw(st.sampled_from([None, None, 3])),
        predicates=PREDICATES,
    )
    compare(run, setting, engine)


# --- what machines tell each other ---------------------------------------------------------------

PAIRS = """
initiatedAt(slow(V)=Speed, T) :- happensAt(moves(V, Speed), T), Speed < 5.
terminatedAt(slow(V)=_, T) :- happensAt(moves(V, Speed), T), Speed >= 5.
initiatedAt(paired(V, W)=true, T) :- happensAt(meets(V, W), T).
terminatedAt(paired(V, W)=true, T) :- happensAt(parts(V, W), T).
holdsFor(together(V, W)=true, I) :-
    holdsFor(paired(V, W)=true, P), holdsFor(calm(V)=true, A), holdsFor(calm(W)=true, B),
    intersect_all([P, A, B], I).
holdsFor(calm(V)=true, I) :-
    holdsFor(slow(V)=1, A), holdsFor(slow(V)=2, B), union_all([A, B], I).
happensAt(warned(W), T) :- happensAt(moves(V, 9), T), after(V, W), \\+ holdsAt(slow(W)=4, T).
initiatedAt(alarmed(W)=true, T) :- happensAt(warned(W), T), holdsAt(paired(W, V)=true, T).
terminatedAt(alarmed(W)=true, T) :- happensAt(start(slow(W)=4), T).
after(v0, v1). after(v1, v2). after(v2, v3). after(v3, v4). after(v4, v0).
"""


def pairs_of_vessels(rows: int) -> Iterator[str]:
    """Some items that come late, and some that are taken back."""
    for n in range(1, rows):
        time, one, other = n - n % 7 * 3, f"v{n * 7 % 5}", f"v{n * 11 % 5}"
        if time > 0:
            yield f"moves|{n}|{time}|{one}|{n * 13 % 10}"
            yield f"{'meets' if n % 3 else 'parts'}|{n}|{time}|{one}|{other}"
        if n % 9 == 0 and time > 0:
            yield f"-moves|{n + 2}|{time}|{one}|{n * 13 % 10}"


def told(rules: horai.Rules, rows: list[str], **settings: Any) -> list[Any]:
    """All rows of a run, and what changed at each query time."""
    return rules.run(rows, start=0, **settings).rows()


@pytest.mark.parametrize("form", ["final", "windows", "changelog"])
def test_pairs_hear_of_each_other(form: str) -> None:
    """Also where each pair is in another machine than one of its vessels."""
    rules = horai.loads(PAIRS)
    rows = list(pairs_of_vessels(400))
    settings: dict[str, Any] = {"answers": form, "step": 40, "window": 120}
    wanted = told(rules, rows, engine="reference", **settings)
    assert {"together", "alarmed"} <= {row.name for row in wanted}
    for number in (1, *NUMBERS):
        assert told(rules, rows, engine="compiled", threads=number, **settings) == wanted


def test_a_session_goes_on_with_few_items_and_with_many() -> None:
    rules = horai.loads(PAIRS)
    rows = list(pairs_of_vessels(300))
    every = []
    for number in (1, 3):
        session = rules.session(start=0, window=60, answers="changelog", threads=number)
        changes = []
        for until in range(10, 330, 10):
            mine = [row for row in rows if until - 10 < int(row.split("|")[1]) <= until]
            changes.append(session.advance(until, mine).rows())
            if until == 100:
                many = isinstance(session.core._machine, Shards)  # type: ignore[union-attr]
                assert many == (number > 1)
        every.append(changes)
    assert every[0] == every[1]


def test_python_answers_a_question_once_for_all_machines() -> None:
    asked: list[int] = []

    @horai.predicate
    def is_odd(number: int) -> bool:
        asked.append(number)
        return number % 2 == 1

    rules = horai.loads(
        "initiatedAt(odd(X)=true, T) :- happensAt(e(X, V), T), is_odd(V).", predicates=[is_odd]
    )
    rows = [f"e|{time}|{time}|x{time % 30}|{time % 100}" for time in range(1, 1000)]
    found = told(rules, rows, engine="compiled", threads=3)
    assert Counter(asked).most_common(1)[0][1] == 1
    assert found == told(rules, rows, engine="reference")


def test_what_fails_in_a_thread_is_told() -> None:
    @horai.predicate
    def is_odd(number: int) -> bool:
        raise ValueError(f"no idea about {number}")

    rules = horai.loads(
        "initiatedAt(odd(X)=true, T) :- happensAt(e(X, V), T), is_odd(V).", predicates=[is_odd]
    )
    rows = [f"e|{time}|{time}|x{time}|{time % 100}" for time in range(1, 100)]
    with pytest.raises(horai.RunError, match="no idea about"):
        rules.run(rows, threads=3)


# --- wrong use -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"threads": 0}, "threads must be above 0, not 0"),
        ({"threads": -1}, "threads must be above 0, not -1"),
        ({"threads": "many"}, "threads must be a whole number, not 'many'"),
        ({"threads": 2, "engine": "reference"}, "a run of the engine 'reference' has one thread"),
        ({"threads": 2, "engine": "spark"}, "threads is about runs in one process"),
    ],
)
def test_wrong_threads_are_told(given: dict[str, Any], reason: str) -> None:
    rules = horai.loads(PAIRS)
    with pytest.raises(UsageError) as caught:
        rules.run(["moves|1|1|v0|3"], **given)
    assert reason in str(caught.value)
