"""A run fed step by step."""

from typing import Any

import numpy as np
import pytest

import horai

RULES = """
initiatedAt(on(X)=true, T) :- happensAt(up(X), T).
terminatedAt(on(X)=true, T) :- happensAt(down(X), T).
"""


def changes(answer: horai.Answer) -> list[tuple[str | None, int | None, int | None]]:
    return [(row.op, row.start, row.end) for row in answer.changes]


def test_a_late_item_changes_the_answer() -> None:
    session = horai.loads(RULES).session(window=20, start=0)
    assert changes(session.advance(10, ["up|3|3|a"])) == [("+", 4, None)]
    assert changes(session.advance(20, ["down|15|7|a"])) == [("-", 4, None), ("+", 4, 8)]
    answer = session.advance(30, [{"op": "retract", "type": "down", "time": 7, "arrival": 25,
                                   "args": ["a"]}])  # fmt: skip
    assert changes(answer) == []
    result = session.finish()
    assert [letter.code for letter in result.dead_letters] == ["too-late"]
    assert result.holds_for("on(a)=true") == [(4, 8)]


def test_a_retraction_in_time_takes_effect() -> None:
    session = horai.loads(RULES).session(window=20, start=0)
    session.advance(10, ["up|3|3|a", "down|7|7|a"])
    assert changes(session.advance(20, ["-down|12|7|a"])) == [("-", 4, 8), ("+", 4, None)]


def test_items_stamped_in_the_future_wait() -> None:
    session = horai.loads(RULES).session(start=0)
    assert session.advance(10, ["up|3|15|a"]).spans == []
    assert [row.start for row in session.advance(20).spans] == [16]


def test_query_times_must_grow() -> None:
    session = horai.loads(RULES).session(start=0)
    session.advance(10)
    with pytest.raises(horai.UsageError, match="query times must grow: 10 is not after 10"):
        session.advance(10)
    with pytest.raises(horai.UsageError, match="not after 5"):
        horai.loads(RULES).session(start=5).advance(3)


@pytest.mark.parametrize("until", ["x", 1.5, True, None, 10**30])
def test_a_query_time_is_a_time_point(until: Any) -> None:
    with pytest.raises(horai.UsageError, match="the query time must"):
        horai.loads("initiatedAt(on=true, T) :- happensAt(up, T).").session().advance(until)


@pytest.mark.parametrize("start", ["x", 1.5, True, 10**30])
def test_a_start_is_a_time_point(start: Any) -> None:
    with pytest.raises(horai.UsageError, match=r"start(:| must)"):
        horai.loads("initiatedAt(on=true, T) :- happensAt(up, T).").session(start=start)


def test_numbers_of_numpy_are_numbers() -> None:
    rules = horai.loads("initiatedAt(on=true, T) :- happensAt(up, T).")
    number: Any = np.int64(5)
    session = rules.session(start=number, window=number, tick=np.int64(1))
    session.advance(np.int64(9))  # type: ignore[arg-type]
    assert horai.load_session(session.save()).settings.window == 5


def test_what_never_counted_is_told_at_the_end() -> None:
    session = horai.loads(RULES).session(start=0)
    session.advance(10, ["up|3|15|a", "nonsense|1|1"])
    codes = [letter.code for letter in session.finish().dead_letters]
    assert codes == ["outside-run", "unknown-type"]


def test_an_answer_says_what_it_is() -> None:
    answer = horai.loads(RULES).session(start=0).advance(10, ["up|3|3|a"])
    assert repr(answer) == "<Answer at 10: 1 interval, 0 events>"


def test_what_an_engine_cannot_do_is_said_with_rule_and_query_time() -> None:
    def broken(x: str) -> bool:
        raise LookupError(f"no {x} here")

    text = "initiatedAt(on(X)=true, T) :- happensAt(up(X), T), broken(X)."
    session = horai.loads(text, predicates=[broken]).session(start=0)
    with pytest.raises(horai.RunError, match=r"<rules>:1: .*no a here.* \(at query time 10\)"):
        session.advance(10, ["up|3|3|a"])


@pytest.mark.parametrize("answers", ["changelog", "windows"])
def test_a_session_does_not_grow_with_its_age(answers: Any) -> None:
    session = horai.loads(RULES).session(window=20, start=0, answers=answers)
    for query in range(1, 4001):
        kind = "up" if query % 2 else "down"
        answer = session.advance(query, [f"{kind}|{query}|{query}|a"])
    assert 1000 <= len(session.answers) <= 2000
    assert session.answers[-1] is answer
    metrics = session.metrics
    assert len(metrics.windows) == len(session.answers)
    assert metrics.run.items == metrics.run.on_time == 4000
    if answers == "changelog":
        assert metrics.run.revised == 2000  # each `down` ends what was open


def test_answers_from_before_rows_were_forgotten_say_what_they_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("horai.engine.core.session.ROOM", 1000)
    session = horai.loads(RULES).session(window=20, start=0, answers="changelog")
    given = []
    for query in range(10, 2000, 10):
        rows = [f"{kind}|{query}|{query - at}|e{query + n}" for n in range(5)
                for kind, at in (("up", 5), ("down", 3))]  # fmt: skip
        given.append((query, session.advance(query, rows)))
    engine: Any = session.core
    assert engine._machine.sizes()[0] < 500  # of a thousand instances
    for query, answer in given[:-1]:
        found = {row.args for row in answer.changes if row.op == "+"}
        assert found == {(f"e{query + n}",) for n in range(5)}
        assert answer.rows("changelog") == answer.changes
