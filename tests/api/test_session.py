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
