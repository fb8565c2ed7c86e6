"""The compiled engine answers as the reference does, whatever rules say."""

import signal
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.comparing import Setting, differences
from tests.engine.test_delayed_values import told
from tests.strategies.changing_streams import changing_runs
from tests.strategies.delays import DelayRun, delay_runs
from tests.strategies.machines import protocol_runs
from tests.strategies.open_heads import open_run
from tests.strategies.runs import Run, runs
from tests.strategies.wild_parts import PREDICATES
from tests.strategies.wild_streams import list_runs, wild_runs
from tests.strategies.wild_terms import whole_runs
from tests.weights import examples

import horai
from horai.engine.answer import Answer
from horai.engine.arrow_items import Source
from horai.engine.core.layout import NotLowered
from horai.engine.core.program import Lowering
from horai.engine.profile import Profile
from horai.errors import UsageError
from horai.lang.ec.syntax import EventDescription
from horai.plan.ec.instructions import CODE, WIDTH
from horai.runtime.compiled import CompiledEngine
from horai.testing import Case, case_rules, find_cases, is_about_lars, read_cases, run_case

ROOT = Path(__file__).parents[2]
PATHS = find_cases([ROOT / "tests" / "cases", ROOT / "examples"])
CASES = [
    case
    for path in PATHS
    for case in read_cases(path)
    if case.errors is None and not is_about_lars(case)
]
NO_INSTRUCTIONS = "the compiled engine has no instructions for "
NEVER_COME = "which rules de"
"""Items of what rules derive or define are dead letters before they reach an engine."""


@pytest.mark.parametrize("case", CASES, ids=[f"{c.file.stem}: {c.title}" for c in CASES])
def test_case(case: Case) -> None:
    """A case is answered as it says."""
    rules = case_rules(case)
    found = run_case(replace(case, rules=None, background=None), "compiled", rules)
    assert [f"{d.place}: {d.sign} {d.text}" for d in found] == []


# --- random descriptions over random streams -----------------------------------------------------

RUNS: dict[str, Callable[[], st.SearchStrategy[Any]]] = {
    "rules about one entity": runs,
    "items that are too late": lambda: runs(lateness=20),
    "rules that join": wild_runs,
    "interval lists": list_runs,
    "streams that change much": changing_runs,
    "cycles": protocol_runs,
    "interval lists as terms": whole_runs,
}


def compare(run: Run, setting: Setting, engine: Callable[..., CompiledEngine]) -> None:
    """Does an engine answer as the reference does?"""
    found = differences(run.described.text, run.items, setting, engine)
    assert found is None or NEVER_COME in found, found


def random_run_agrees(kind: str, data: st.DataObject) -> None:
    """A run of a kind, at every query time, with late items and retractions."""
    run = data.draw(RUNS[kind]())
    setting = Setting(
        run.cut.queries,
        window=data.draw(st.sampled_from([run.cut.window, None])),
        tick=run.described.tick,
        allen_memory=data.draw(st.sampled_from([None, None, 3])),
        predicates=PREDICATES,
    )
    compare(run, setting, CompiledEngine)


@pytest.mark.parametrize("kind", RUNS)
@examples("heavy")
@given(st.data())
def test_random_runs(kind: str, data: st.DataObject) -> None:
    random_run_agrees(kind, data)


class Forgetful(CompiledEngine):
    """Forgets before every query time, not only when there is much to forget."""

    def advance(self, until: int, tables: Iterable[Source] = ()) -> Answer:
        self._room = 0
        return super().advance(until, tables)


@pytest.mark.parametrize("kind", RUNS)
@examples("heavy")
@given(st.data())
def test_what_is_forgotten_is_not_missed(kind: str, data: st.DataObject) -> None:
    run = data.draw(RUNS[kind]())
    setting = Setting(
        run.cut.queries, run.cut.window, tick=run.described.tick, predicates=PREDICATES
    )
    engine = partial(Forgetful, archive=data.draw(st.booleans(), label="archive"))
    compare(run, setting, engine)


class Watched(CompiledEngine):
    """Tells a profile what rules cost."""

    def __init__(self, description: EventDescription, **options: Any) -> None:
        super().__init__(description, **options)
        self.watch(Profile())


@pytest.mark.parametrize("kind", RUNS)
@examples("heavy")
@given(st.data())
def test_a_profile_changes_no_answer(kind: str, data: st.DataObject) -> None:
    run = data.draw(RUNS[kind]())
    setting = Setting(
        run.cut.queries, run.cut.window, tick=run.described.tick, predicates=PREDICATES
    )
    compare(run, setting, Watched)


@examples("heavy")
@given(delay_runs())
def test_random_deadlines(run: DelayRun) -> None:
    """All that a delayed effect can say."""
    rules = horai.loads(run.rules)
    wanted = told(lambda: rules.run(run.narrative, engine="reference", **run.settings))
    assert told(lambda: rules.run(run.narrative, engine="compiled", **run.settings)) == wanted


def random_heads_agree(seed: int) -> None:
    """A run whose heads leave variables to groundings, unless its rules are not legal."""
    run = open_run(Random(seed))
    try:
        horai.loads(run.described.text)
    except horai.RulesError:
        return
    setting = Setting(run.cut.queries, run.cut.window, run.described.tick, run.cut.start)
    found = differences(run.described.text, run.items, setting, CompiledEngine)
    assert found is None, found


@examples("heavy")
@given(st.integers(0, 1 << 30))
def test_random_heads_that_leave_variables_to_groundings(seed: int) -> None:
    random_heads_agree(seed)


# --- what rules have in common -------------------------------------------------------------------

SHARED = """
initiatedAt(slow(V)=true, T) :-
    happensAt(moves(V, S), T), type(V, Kind), speed(Kind, Least, _), S < Least.
initiatedAt(usual(V)=true, T) :-
    happensAt(moves(V, Speed), T), type(V, K), speed(K, From, To), Speed >= From, Speed =< To.
initiatedAt(fast(V)=true, T) :-
    happensAt(moves(V, Speed), T), type(V, tug), speed(tug, _, Most), Speed > Most.
terminatedAt(fast(V)=true, T) :-
    happensAt(moves(V, Speed), T), type(V, K), speed(K, _, Most), Speed =< Most,
    holdsAt(on(V)=true, T).
initiatedAt(on(V)=true, T) :- happensAt(moves(V, _), T).
type(a, tug). type(b, cargo). speed(tug, 3, 7.5). speed(cargo, 4, 9).
"""


def test_what_rules_ask_alike_is_asked_once() -> None:
    rules = horai.loads(SHARED)
    session = CompiledEngine(rules.description)
    relation = session.program.layout.events["moves", 2]
    words, place = session.program.code, relation.fields["C_ENTRY"]
    codes = []
    while words[place] != CODE["END"]:
        codes.append(words[place])
        place += WIDTH
    assert codes.count(CODE["FACT"]) == 2  # the type of the vessel, and the speeds of the type
    items = [
        f"moves|{t}|{t}|{v}|{s}"
        for t, v, s in [
            (1, "a", 8),
            (2, "b", 4),
            (3, "a", 7.5),
            (4, "c", 2),
            (5, "b", 3),
            (6, "b", 8.5),
        ]
    ]
    runs = [rules.run(items, end=7, engine=engine) for engine in ("compiled", "reference")]
    assert runs[0].rows() == runs[1].rows() and runs[0].rows()


# --- refusals ------------------------------------------------------------------------------------


def test_a_refusal_names_the_rule_and_the_reason() -> None:
    rules = horai.loads("initiatedAt(p=true,T) :- holdsAt(q=true,T).\n")
    refused = NotLowered("what is asked here", rules.description.rules[0].clause)
    with (
        patch.object(Lowering, "program", side_effect=refused),
        pytest.raises(UsageError) as caught,
    ):
        rules.session(engine="compiled")
    assert str(caught.value) == (
        "<rules>:1:1: the compiled engine has no instructions for what is asked here\n"
        "  hint: use the engine reference"
    )


# An effect that begins its own value anew, when that starts its clock again, acts if it does not.
CONTRADICTION = """
initiatedAt(n(X)=1, T) :- happensAt(e(X), T).
initiatedAt(f(X)=a, T) :- happensAt(g(X), T).
fi(n(X)=N, n(X)=1, 3) :- holdsAt(f(X)=_, T).
p(n(_)=_).
"""


@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize("condition", [" :- holdsAt(f(X)=_, T)", ""])
def test_a_cycle_that_contradicts_itself_is_told(engine: str, condition: str) -> None:
    text = CONTRADICTION.replace(" :- holdsAt(f(X)=_, T)", condition)
    told = "<rules>:2: at 7 these rules are true if, and only if, they are not"
    with pytest.raises(horai.RunError, match=told):
        horai.loads(text).run(["g|2|2|x", "e|4|4|x"], end=20, engine=engine)


# Rules that nothing drives but what holds, the run, or another time; terminations of many values.
RARE = """
initiatedAt(lit(X)=true, T) :- holdsAt(on(X)=true, T), \\+ holdsAt(dim(X)=true, T).
terminatedAt(lit(X)=true, T) :- holdsAt(dim(X)=true, T).
initiatedAt(on(X)=true, T) :- happensAt(up(X), T).
terminatedAt(on(X)=true, T) :- happensAt(down(X), T).
initiatedAt(dim(X)=true, T1, T, T2) :- happensAt(dusk(X, T1, T2), _), happensAt(tick, T).
happensAt(late(X), T) :- happensAt(up(X), T0), T is T0 + 7.
initiatedAt(level(X)=at(N, M), T) :- happensAt(set(X, N, M), T).
terminatedAt(level(X)=at(1, _), T) :- happensAt(down(X), T).
happensAt(lost(X, V), T) :- terminatedAt(level(X)=V, T).
happensAt(recent(X), T) :- happensAt(up(X), T), queryTime(Q), Q - T < 6.
initiatedAt(early(X)=true, _, T, 7) :-
    happensAt(up(X), T), (T > 4 -> holdsAt(on(X)=true, T) ; \\+ holdsAt(dim(X)=true, T)).
happensAt(first(X), T) :- happensAt(startI(on(X)=true), T).
happensAt(over(X), T) :- happensAt(endI(on(X)=true), T).
"""
RARE_ROWS = [
    *("up|2|2|a", "up|9|3|b", "dusk|4|4|a|5|8", "tick|6|6", "tick|9|9", "down|11|11|a"),
    *("set|3|3|a|1|5", "set|12|9|a|2|5", "set|13|13|b|1|1", "down|14|10|b", "up|15|15|a"),
    *("-up|16|3|b", "tick|17|7", "-tick|18|6", "down|18|16|b"),
]


@pytest.mark.parametrize(("step", "window"), [(3, 8), (3, 20), (3, None), (30, None)])
def test_rules_without_points_answer_as_the_reference_does(step: int, window: int | None) -> None:
    rules = horai.loads(RARE)
    settings: dict[str, Any] = {"start": 0, "end": 30, "step": step, "window": window}
    wanted = told(lambda: rules.run(RARE_ROWS, engine="reference", **settings))
    assert told(lambda: rules.run(RARE_ROWS, engine="compiled", **settings)) == wanted
    said = str(wanted["answers"])
    assert all(f"'{name}'" in said for name in ("lit", "dim", "late", "lost", "first", "over"))


def test_an_event_between_two_time_points_drives_the_alternatives_that_name_it() -> None:
    rules = horai.loads("""
    collectIntervals(on(_)=true).
    initiatedAt(hot(X)=true, T) :-
        (happensAt(heat(X), T) ; happensAt(fire, T)), holdsAt(on(X)=true, T).
    """)
    rows = ["on|8|3|10|true|oven", "heat|3|3|oven"]
    runs = [rules.run(rows, end=20, tick=5, engine=engine) for engine in ("compiled", "reference")]
    assert runs[0].rows() == runs[1].rows() and runs[0].rows()


def test_a_key_has_very_many_words() -> None:
    names = ", ".join(f"X{n}" for n in range(70))
    rules = horai.loads(f"""
    initiatedAt(seen({names})=S, T) :- happensAt(e({names}), T), sum_list([{names}], S).
    holdsFor(again({names})=true, I) :-
        holdsFor(seen({names})=_, J), thing(X0), intDurGreater(J, 2, I).
    terminatedAt(seen({names})=_, T) :- happensAt(over({names}), T).
    thing(0).
    """)
    words = "|".join(map(str, range(70)))
    rows = [f"e|2|2|{words}", f"over|9|9|{words}", f"e|10|10|1|{words[2:]}"]
    runs = [rules.run(rows, end=20, engine=engine) for engine in ("compiled", "reference")]
    assert runs[0].rows() == runs[1].rows() and runs[0].rows()
    session = rules.session(answers="changelog", engine="compiled")
    assert session.advance(5, rows[:1]).rows()


def test_an_event_drives_rules_of_very_many_levels() -> None:
    clauses = ["initiatedAt(f0(X)=true, T) :- happensAt(up(X), T)."]
    for n in range(1, 24):
        clauses += [
            f"initiatedAt(f{n}(X)=true, T) :- happensAt(up(X), T), holdsAt(f{n - 1}(X)=true, T).",
            f"terminatedAt(f{n}(X)=true,T) :- happensAt(down(X), T), holdsAt(f{n - 1}(X)=true, T).",
        ]
    rules = horai.loads("\n".join(clauses))
    rows = [f"{'down' if t == 40 else 'up'}|{t + t % 3}|{t}|a" for t in range(1, 60)]
    settings: dict[str, Any] = {"start": 0, "end": 66, "step": 6, "window": 12}
    wanted = told(lambda: rules.run(rows, engine="reference", **settings))
    assert told(lambda: rules.run(rows, engine="compiled", **settings)) == wanted
    assert "f23" in str(wanted["answers"])


def test_a_fluent_has_very_many_deadlines() -> None:
    clauses = ["initiatedAt(n(X)=V, T) :- happensAt(set(X, V), T)."]
    clauses += [f"fi(n(X)={n}, n(X)={n + 1}, {n % 4 + 1})." for n in range(20)]
    rules = horai.loads("\n".join(clauses))
    rows = ["set|2|2|a|0", "set|20|3|b|7", "set|9|9|a|19", "set|30|30|a|3", "-set|33|30|a|3"]
    settings: dict[str, Any] = {"start": 0, "end": 40, "step": 5, "window": None}
    wanted = told(lambda: rules.run(rows, engine="reference", **settings))
    assert told(lambda: rules.run(rows, engine="compiled", **settings)) == wanted
    assert wanted["answers"]


# --- long steps ----------------------------------------------------------------------------------


class Enough(Exception):
    """Somebody has waited long enough."""


def test_a_long_step_can_be_interrupted() -> None:
    rules = horai.loads("""
    initiatedAt(later(X)=true, T) :-
        happensAt(tick(X), T), happensAt(tick(X), T2), T2 * T < 0.
    """)
    rows = [f"tick|{time}|{time}|a" for time in range(1, 100_000)]

    def ring(signal_number: int, frame: object) -> None:
        raise Enough

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 2)
        with pytest.raises(Enough):
            rules.run(rows, engine="compiled")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# --- what Python answers -------------------------------------------------------------------------

CHECKED = """
initiatedAt(odd(X)=true, T) :-
    happensAt(e(X, V), T), \\+ known(V), is_odd(V), small(V, W), is_odd(W).
terminatedAt(odd(X)=true, T) :- happensAt(e(X, V), T), V > 500, holdsAt(on(X)=true, T).
initiatedAt(last(X)=pair(V, X), T) :- happensAt(e(X, V), T), holdsAt(on(X)=true, T).
initiatedAt(on(X)=true, T) :- happensAt(e(X, _), T).
known(7). known(8).
small(V, W) :- W is V mod 5.
"""


def test_points_ask_python_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []
    single: list[int] = []

    @horai.predicate
    def is_odd(number: int) -> bool:
        asked.append(number)
        return number % 2 == 1

    answered = CompiledEngine.answered

    def counted(session: CompiledEngine, number: int, given: list[int]) -> None:
        single.append(number)
        answered(session, number, given)

    monkeypatch.setattr(CompiledEngine, "answered", counted)
    rules = horai.loads(CHECKED, predicates=[is_odd])
    rows = [f"e|{time}|{time}|x{time % 3}|{time % 1000}" for time in range(1, 2000)]
    found = rules.run(rows, engine="compiled")
    assert max(Counter(asked).values()) <= 2  # there are two conditions
    assert single == []
    assert found.rows() == rules.run(rows, engine="reference").rows()


NUMBERS = st.lists(
    st.tuples(st.integers(1, 12), st.sampled_from(["1", "2", "-3", "2.5", "word", str(2**60)])),
    max_size=8,
)


@examples("light")
@given(NUMBERS)
def test_solutions_are_counted_and_added_up(given: list[tuple[int, str]]) -> None:
    rules = horai.loads("""
    happensAt(found(K, N), T) :-
        happensAt(ask, T), kind(K), aggregate_all(count, seen(K, T, _), N).
    happensAt(count(N), T) :-
        happensAt(ask, T), aggregate_all(count, (happensAt(has(V), S), S =< T), N).
    happensAt(sum(N), T) :- happensAt(ask, T), aggregate_all(sum(V), said(V, T), N).
    happensAt(most(N), T) :- happensAt(ask, T), aggregate_all(max(V), said(V, T), N).
    happensAt(least(N), T) :- happensAt(ask, T), aggregate_all(min(V), said(V, T), N).
    said(V, T) :- happensAt(has(V), S), S =< T.
    seen(a, T, S) :- happensAt(has(_), S), S < T.
    kind(a).
    """)
    rows = [f"has|{time}|{time}|{value}" for time, value in given]
    rows += [f"ask|{time}|{time}" for time in (3, 9, 13)]
    wanted = told(lambda: rules.run(rows, engine="reference", start=0))
    assert told(lambda: rules.run(rows, engine="compiled", start=0)) == wanted


def test_a_formula_of_many_alternatives_is_a_column_of_columns() -> None:
    kinds = [f"{one}{other}" for one in "abc" for other in "xyz"]
    parts = (" ; ".join(f"holdsAt({one}{other}(V)=true, T)" for other in "xyz") for one in "abc")
    lines = [f"holdsAt(all(V)=true, T) :- {', '.join(f'({part})' for part in parts)}."]
    for kind in kinds:
        lines.append(f"initiatedAt({kind}(V)=true, T) :- happensAt(start(V, {kind}), T).")
        lines.append(f"terminatedAt({kind}(V)=true, T) :- happensAt(end(V, {kind}), T).")
    rules = horai.loads("\n".join(lines))
    rows = [
        f"{'start' if time % 3 else 'end'}|{time}|{time}|v{time % 2}|{kinds[time * 7 % 9]}"
        for time in range(1, 90)
    ]
    found = rules.run(rows, engine="compiled").rows()
    assert found == rules.run(rows, engine="reference").rows()
    assert any(row.name == "all" for row in found)
