"""The clockwork against its meaning, word by word."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from tests.temporal.clock_reference import Candidate, Case, Effect, Reference, Unsettled
from tests.weights import examples

from horai.temporal.clockwork import (
    NEVER,
    NONE,
    Attempts,
    Candidates,
    Effects,
    Guards,
    Settled,
    State,
    settle,
)
from horai.temporal.inertia import EVERY_VALUE
from horai.temporal.spans import INF, Ints

# Few fluents and much to say of them: most effects are to find something to act on.
FLUENTS, VALUES, SPAN = 2, 3, 24
pairs = st.tuples(st.integers(0, FLUENTS - 1), st.integers(0, VALUES - 1))
guards = st.lists(st.tuples(pairs, st.booleans()), max_size=2).map(tuple)


@st.composite
def candidates(draw: st.DrawFn, start: int, guarded: bool) -> list[Candidate]:
    found = []
    for _ in range(draw(st.sampled_from([8, 12, 4, 1, 20]))):
        kind = draw(st.sampled_from([0, 0, 0, 0, 1, 2]))
        fluent, value = draw(pairs)
        if kind == 1 and draw(st.integers(0, 3)) == 0:
            value = EVERY_VALUE
        time = start + draw(st.integers(0, SPAN))  # the start itself lies outside the run
        asked = draw(guards) if guarded else ()
        found.append(Candidate(time, (fluent, value), kind, asked))
    return sorted(found, key=lambda c: c.time)


@st.composite
def effects(draw: st.DrawFn) -> list[Effect]:
    postponable = draw(st.sets(pairs, max_size=VALUES * FLUENTS))
    found = []
    for _ in range(draw(st.sampled_from([3, 4, 2, 1, 0, 6]))):
        origin, target = draw(pairs), draw(pairs)
        kind = draw(st.sampled_from([0, 0, 0, 1, 2]))
        rule, delay = draw(st.integers(0, 3)), draw(st.integers(1, 8))
        found.append(Effect(origin, rule, delay, kind, target, origin in postponable))
    return sorted(found, key=lambda e: e.origin)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    start = draw(st.integers(-7, 7))
    tick = draw(st.sampled_from([1, 5]))
    query = start + draw(st.integers(10, SPAN) | st.integers(0, SPAN))
    points, delayed = draw(candidates(start, draw(st.booleans()))), draw(effects())
    case = Case(FLUENTS, tick, start, query, points, delayed, {})
    for fluent in draw(st.sets(st.integers(0, FLUENTS - 1))):
        value, ago = draw(st.integers(0, VALUES - 1)), draw(st.integers(0, 6))
        case.held[fluent] = (value, start - ago)
        made = [e for e, effect in enumerate(delayed) if effect.origin == (fluent, value)]
        case.attempts += [(e, start - ago) for e in made]
        case.acted |= {e: start - draw(st.integers(0, 6)) for e in made if draw(st.booleans())}
    return case


# --- to columns and back -------------------------------------------------------------------------


def ints(rows: Sequence[tuple[int, ...]], width: int) -> list[Ints]:
    return [np.array([row[k] for row in rows], np.int64) for k in range(width)]


def columns(case: Case) -> tuple[Candidates, Guards, Effects, State]:
    time, fluent, value, kind = ints([(c.time, *c.pair, c.kind) for c in case.candidates], 4)
    ends = np.cumsum([0, *(len(c.guards) for c in case.candidates)]).astype(np.int64)
    asked = [(*pair, yes) for c in case.candidates for pair, yes in c.guards]
    guard_fluent, guard_value, positive = ints(asked, 3)
    return (
        Candidates(time, fluent, value, kind, ends[:-1], ends[1:]),
        Guards(guard_fluent, guard_value, positive.astype(np.bool_)),
        effect_columns(case),
        state_columns(case),
    )


def effect_columns(case: Case) -> Effects:
    rows = [(e.rule, *e.origin, e.delay, e.kind, *e.target, e.postponable) for e in case.effects]
    rule, fluent, value, delay, kind, target_fluent, target_value, may_wait = ints(rows, 8)
    postponable = may_wait.astype(np.bool_)
    return Effects(rule, fluent, value, delay, kind, target_fluent, target_value, postponable)


def state_columns(case: Case) -> State:
    value, since = ints([case.held.get(f, (NONE, 0)) for f in range(case.fluents)], 2)
    made = [(e, since, since + case.effects[e].delay) for e, since in case.attempts]
    acted = [case.acted.get(e, NEVER) for e in range(len(case.effects))]
    return State(value, since, Attempts(*ints(made, 3)), np.array(acted, np.int64))


def run(case: Case, cut: int | None = None) -> Settled:
    return settle(*columns(case), case.start, case.query, case.tick, cut)


def spans(settled: Settled) -> list[tuple[int, int, int, int | None]]:
    rows = zip(*(column.tolist() for column in settled.spans), strict=True)
    return [(f, v, start, None if end == INF else end) for f, v, start, end in rows]


def points(settled: Settled) -> list[tuple[int, int]]:
    return list(zip(settled.effect.tolist(), settled.effect_time.tolist(), strict=True))


def plain(state: State) -> list[list[int]]:
    since = np.where(state.held_value == NONE, 0, state.held_since)
    return [c.tolist() for c in (state.held_value, since, *state.attempts, state.acted)]


# --- laws ----------------------------------------------------------------------------------------


@examples("light")
@given(cases())
def test_a_run_is_what_the_definitions_say(case: Case) -> None:
    settled = run(case)
    try:
        expected = Reference(case)
    except Unsettled as error:
        event("unsettled")
        assert settled.unsettled == error.args[0]
        return
    assert settled.unsettled is None
    assert spans(settled) == expected.spans
    assert set(np.flatnonzero(settled.met).tolist()) == expected.met
    assert points(settled) == sorted(expected.acts, key=lambda act: (act[1], act[0]))
    event(f"{min(len(expected.acts), 5)} effects")


@examples("light")
@given(cases(), st.integers(0, SPAN), st.integers(0, SPAN))
def test_a_run_goes_on_from_its_snapshot(case: Case, until: int, back: int) -> None:
    """A first run up to some time, then a second one from its snapshot, is one run."""
    once = run(case)
    if once.unsettled is not None:
        return
    first_query = min(case.start + until, case.query)
    cut = first_query - back
    cut -= (cut + 1) % case.tick  # the next point is on the grid
    cut = max(cut, case.start)
    first = Case(**{**vars(case), "query": first_query})
    taken = run(first, cut)
    later = [c for c in case.candidates if c.time > cut]
    rest = Case(**{**vars(case), "start": cut, "candidates": later})
    settled = settle(*columns(rest)[:3], taken.snapshot, cut, case.query, case.tick)
    event(f"{len(taken.snapshot.attempts.effect)} attempts taken over")
    assert spans(settled) == [s for s in spans(once) if s[3] is None or s[3] > cut + 1]
    assert points(settled) == [p for p in points(once) if p[1] > cut]
    assert settled.met.tolist() == once.met.tolist()[len(case.candidates) - len(later) :]
    assert plain(settled.snapshot) == plain(once.snapshot)
    assert plain(run(case, cut).snapshot) == plain(taken.snapshot)


# --- single cases --------------------------------------------------------------------------------


def story(tick: int = 1, query: int = 30) -> Case:
    return Case(2, tick, 0, query, [], [], {})


def test_a_cut_before_everything_is_the_state_at_the_beginning() -> None:
    case = story()
    case.held = {1: (2, -4)}
    case.effects = [Effect((1, 2), 0, 9, 0, (0, 1), False)]
    case.attempts = [(0, -4)]
    case.candidates = [Candidate(3, (1, 0), 0)]
    state = columns(case)[3]
    assert plain(run(case, cut=0).snapshot) == plain(state)
    assert plain(run(case, cut=99).snapshot) == [[NONE, 0], [0, 4], [], [], [], [NEVER]]


def test_the_first_attempt_wins_unless_the_clock_is_restarted() -> None:
    case = story()
    case.candidates = [Candidate(t, (0, 1), 0) for t in (2, 4, 20)]
    for postponable, acts in ((False, [(0, 7), (0, 25)]), (True, [(0, 9), (0, 25)])):
        case.effects = [Effect((0, 1), 0, 5, 0, (0, 0), postponable)]
        assert points(run(case)) == acts


def test_a_deadline_in_the_cell_that_sets_it() -> None:
    case = story(tick=5)
    case.candidates = [Candidate(11, (0, 1), 0)]
    case.effects = [Effect((0, 1), 0, 2, 0, (0, 2), False)]
    assert points(run(case)) == [(0, 13)]
    assert spans(run(case)) == [(0, 2, 15, None)]


def test_effects_that_feed_each_other_go_round() -> None:
    case = story(query=20)
    case.candidates = [Candidate(1, (0, 0), 0)]
    case.effects = [Effect((0, v), v, 3, 0, (0, (v + 1) % 3), False) for v in range(3)]
    assert [t for _, t in points(run(case))] == [4, 7, 10, 13, 16, 19]
    assert [v for _, v, _, _ in spans(run(case))] == [0, 1, 2, 0, 1, 2, 0]


def test_effects_may_outnumber_the_candidates() -> None:
    case = story(query=9_000)
    case.candidates = [Candidate(1, (0, 0), 0)]
    case.effects = [Effect((0, v), v, 3, 0, (0, 1 - v), False) for v in range(2)]
    settled = run(case)
    assert points(settled) == [(k % 2, 4 + 3 * k) for k in range(2999)]
    assert spans(settled)[-2:] == [(0, 0, 8996, 8999), (0, 1, 8999, None)]


def test_times_without_bound_come_to_an_end() -> None:
    case = story(query=INF, tick=5)
    case.candidates = [Candidate(1, (0, 0), 0)]
    case.effects = [Effect((0, 0), 0, INF, 0, (0, 1), False)]
    assert spans(run(case)) == [(0, 0, 5, None)]
    assert points(run(case)) == []


def test_an_effect_that_takes_its_own_cause_away_is_reported() -> None:
    case = story()
    case.candidates = [Candidate(1, (0, 0), 0)]
    case.effects = [Effect((0, 0), 0, 3, 0, (0, 0), True)]
    assert run(case).unsettled == 4


def test_effects_in_disorder_are_refused() -> None:
    case = story()
    case.effects = [Effect((1, 0), 0, 3, 0, (0, 0), True), Effect((0, 0), 0, 3, 0, (0, 0), True)]
    with pytest.raises(ValueError, match="sorted"):
        run(case)


def test_read_only_columns_and_columns_with_steps_will_do() -> None:
    case = story()
    case.candidates = [Candidate(1, (0, 0), 0)]
    given_points, guards, effects, state = columns(case)
    given_points.time.flags.writeable = False
    stepped = given_points._replace(fluent=np.zeros(4, np.int64)[::4])
    settled = settle(stepped, guards, effects, state, start=0, query=9)
    assert spans(settled) == [(0, 0, 2, None)]
