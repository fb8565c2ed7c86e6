"""When sessions and runs work by change: as asked for, with the same answers."""

from collections.abc import Callable
from typing import Any

import pytest

import horai

WAYS = ("auto", "always", "never")
RULES = """
initiatedAt(on(X)=true, T) :- happensAt(up(X), T).
terminatedAt(on(X)=true, T) :- happensAt(down(X), T).
happensAt(seen(X), T) :- happensAt(look(X), T), holdsAt(on(X)=true, T).
holdsFor(lit(X)=true, I) :- holdsFor(on(X)=true, I1), union_all([I1], I).
"""
STEPS = {
    10: ["up|3|3|a", "look|8|8|a"],
    20: ["down|15|5|a", "up|12|12|b"],
    30: ["-up|22|12|b", "look|25|18|a", "up|25|16|a"],
    40: ["down|31|31|a"],
}


@pytest.fixture
def by_change(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The query times that the columnar engine answers by change, filled in while it runs."""
    from horai.engine.by_change import advance_by_change
    from horai.engine.session import Session

    plain, found = advance_by_change, list[int]()

    def noting(session: Session, *args: Any) -> Any:
        found.append(session.query)
        return plain(session, *args)

    monkeypatch.setattr("horai.engine.by_change.advance_by_change", noting)
    return found


def run(**settings: Any) -> list[object]:
    session = horai.loads(RULES).session(start=0, window=25, **settings)
    return [
        (answer.rows(), answer.changes)
        for answer in (session.advance(query, lines) for query, lines in STEPS.items())
    ]


def test_all_ways_say_the_same() -> None:
    expected = run(engine="reference")
    for way in WAYS:
        assert run(incremental=way) == expected, way


def test_always_and_never_mean_what_they_say(by_change: list[int]) -> None:
    run(incremental="never")
    assert by_change == []
    run(incremental="always")
    assert by_change == list(STEPS)


def test_small_windows_are_worked_out_from_scratch_unless_asked(by_change: list[int]) -> None:
    run()
    assert by_change == []


def test_large_windows_with_few_changes_are_worked_out_by_change(
    by_change: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("horai.engine.deltas.costs.COST_OF_COMPONENT", 10)
    many = [f"up|{t}|{t}|x{t}" for t in range(1, 40)]
    few, half = ["up|45|45|a", "down|46|3|b"], [f"down|{t}|{t}|x{t - 50}" for t in range(51, 70)]
    session = horai.loads(RULES).session(start=0, window=50, engine="columnar")
    for query, lines in {40: many, 47: few, 70: half, 200: few}.items():
        session.advance(query, lines)
    # The first has nothing before it, in the third too much is new, the last does not overlap.
    assert by_change == [47]


def test_runs_take_it_too(by_change: list[int]) -> None:
    lines = [line for lines in STEPS.values() for line in lines]
    settings: dict[str, Any] = {"start": 0, "end": 40, "window": 25, "step": 10}
    plain, asked = (
        horai.loads(RULES).run(lines, incremental=way, **settings) for way in ("never", "always")
    )
    assert by_change == [10, 20, 30, 40]
    assert asked.rows("changelog") == plain.rows("changelog")
    assert asked.rows("windows") == plain.rows("windows")


@pytest.mark.parametrize("incremental", WAYS)
def test_a_loaded_session_keeps_it(incremental: str, by_change: list[int]) -> None:
    session = horai.loads(RULES).session(start=0, window=25, incremental=incremental)
    whole = horai.loads(RULES).session(start=0, window=25, incremental="never")
    for query, lines in STEPS.items():
        session = horai.load_session(session.save())
        assert session.settings.incremental == incremental
        assert session.advance(query, lines).changes == whole.advance(query, lines).changes
    assert by_change == (list(STEPS) if incremental == "always" else [])


def sessions(**settings: Any) -> None:
    horai.loads(RULES).session(**settings)


def runs(**settings: Any) -> None:
    horai.loads(RULES).run(["up|3|3|a"], **settings)


@pytest.mark.parametrize("make", [sessions, runs])
@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"incremental": "allways"}, "incremental cannot be 'allways'\n.*did you mean always?"),
        ({"incremental": "quickly"}, "'quickly'\n.*it is one of auto, always, never"),
        ({"incremental": True}, "incremental must be a text, not True"),
        (
            {"incremental": "always", "engine": "reference"},
            "the engine 'reference' always works from scratch\n.*leave incremental at auto",
        ),
    ],
)
def test_wrong_settings_are_explained(
    make: Callable[..., None], settings: dict[str, Any], problem: str
) -> None:
    with pytest.raises(horai.UsageError, match=problem):
        make(**settings)


@pytest.mark.parametrize("incremental", ["auto", "never"])
def test_the_reference_engine_works_from_scratch_anyway(incremental: str) -> None:
    assert run(engine="reference", incremental=incremental) == run(incremental="never")
