"""Lines that come become answers, as in a run over all of them, and what is kept is bounded."""

from __future__ import annotations

import json
import random
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.live.serving import PROGRAM, RULES, directly, fed, feed_of, lines_of

import horai
from horai.errors import UsageError
from horai.io import InputError
from horai.io.sources.registry import Incoming
from horai.live.feed import Gate, LiveFeed
from horai.live.recent import Limits, costs
from horai.result import Result

COMBINED = horai.combine(
    horai.loads("initiatedAt(on(X)=true, T) :- happensAt(h(X), T)."),
    horai.loads(PROGRAM, language="lars"),
)
ROWS = [
    *("speed|1|1|v1|slow", "speed|3|3|v2|fast", "meet|12|12|v1|v2", "stop|15|15|v2"),
    *("speed|21|21|v1|fast", "speed|30|30|v2|slow", "stop|44|38|v1", "part|47|47|v1|v2"),
    *("speed|55|55|v3|slow", "stop|61|61|v3", "speed|62|9|v4|fast", "stop|64|64|v4"),
]


def result_of(feed: LiveFeed) -> Result:
    assert feed.session is not None and feed.session.last is not None
    narrative = feed.recent.narrative(feed.session.last)
    return feed.recent.copy().result(feed.session, narrative.tables)


def random_rows(seed: int, number: int) -> list[str]:
    dice = random.Random(seed)
    rows, now = [], 0
    for _ in range(number):
        now += dice.randrange(4)
        time = max(1, now - dice.choice([0, 0, 0, 30]))
        v, w = dice.sample(["v1", "v2", "v3", "v4"], 2)
        what = dice.choice([f"speed|{{}}|{v}|slow", f"speed|{{}}|{v}|fast", f"stop|{{}}|{v}"])
        what = dice.choice([what, what, f"meet|{{}}|{v}|{w}", f"part|{{}}|{v}|{w}"])
        rows.append(what.format(f"{now}|{time}"))
    return rows


@pytest.mark.parametrize("seed", range(8))
def test_a_run_line_by_line_finds_what_a_run_over_all_finds(seed: int) -> None:
    rows = random_rows(seed, 120)
    feed = fed(feed_of(window=100, engine=["compiled", "reference"][seed % 2]), rows, 1 + seed)
    whole = horai.loads(RULES).run(rows, start=0, window=100, step=10)
    found = result_of(feed)
    assert found.rows("final") == whole.rows("final")
    assert found.rows("changelog") == whole.rows("changelog")
    ours, theirs = found.metrics.to_dict(), whole.metrics.to_dict()
    assert ours["run"] == theirs["run"]
    assert ours["windows"] == theirs["windows"]


def test_a_program_line_by_line() -> None:
    rows = ["b|1|1|x", "b|3|3|y", "b|7|7|z", "b|8|8|x"]
    rules = horai.loads(PROGRAM, language="lars")
    found = result_of(fed(feed_of(rules), rows, 1))
    whole = rules.run(rows)
    assert found.rows("spans") == whole.rows("spans")
    proof = str(whole.why("h(x)", at=2)).replace("<memory>", "stream.csv")
    assert str(found.why("h(x)", at=2)) == proof


def test_rules_of_two_languages() -> None:
    rules, rows = COMBINED, ["b|1|1|x", "b|13|13|y", "b|27|27|z"]
    found = result_of(fed(feed_of(rules, clock="1s"), rows))
    whole = rules.run(rows, start=0, window=1000, step=10, clock="1s")
    assert found.rows("final") == whole.rows("final")
    proof = str(whole.why("on(x)=true", at=5)).replace("<memory>", "stream.csv")
    assert str(found.why("on(x)=true", at=5)) == proof


def test_lines_of_json_and_csv_with_a_header() -> None:
    rows = ["type,arrival,time,a0,a1", "speed,1,1,v1,slow", "", "stop,44,38,v1,"]
    texts = [
        *("", '{"type": "speed", "arrival": 1, "time": 1, "args": ["v1", "slow"]}'),
        '{"type": "stop", "arrival": 44, "time": 38, "args": ["v1"]}',
    ]
    mixed = [texts[1], "stop|44|38|v1"]
    expected = fed(feed_of(), ["speed|1|1|v1|slow", "stop|44|38|v1"])
    for one in (rows, texts, mixed):
        feed = fed(feed_of(), one)
        assert result_of(feed).rows("final") == result_of(expected).rows("final")
        assert feed.recent.letters == 0
    proof = result_of(fed(feed_of(), rows)).why("moving(v1)=slow", at=5)
    assert "stream.csv:2" in str(proof)


def test_rows_that_cannot_be_read_are_dead_letters() -> None:
    rows = ["speed|1|1|v1|slow", "speed|oops|1|v1|slow", "what|3|3|x", "x" * 30, "stop|20|20|v1"]
    feed = fed(feed_of(), rows)
    letters = result_of(feed).dead_letters
    assert [letter.line for letter in letters] == [2, 3, 4]
    assert feed.status()["letters"] == 3
    assert result_of(feed).metrics.run.unreadable == 3
    with pytest.raises(InputError, match=r"stream.csv:2"):
        fed(feed_of(strict=True), rows)


def test_coordinates_are_for_the_page_alone() -> None:
    rows = ["coord|1|1|v1|4.5|52.0", "speed|2|2|v1|slow", "coord|20|20|v1|4.6|52.1"]
    feed = fed(feed_of(), rows)
    assert feed.recent.letters == 0
    assert result_of(feed).metrics.run.items == 1
    assert {table.name for table in feed.recent.narrative(99).tables} == {"coord", "speed"}


# --- pause and step -------------------------------------------------------------------------------


def test_pausing_lets_nothing_pass_and_a_step_one_query_time() -> None:
    feed = feed_of()
    feed.gate.pause()
    feed.take(lines_of(ROWS))
    thread = threading.Thread(target=feed.answer, args=(directly,))
    thread.start()
    passed = []
    for _ in range(3):
        thread.join(0.05)
        passed.append(feed.queries)
        with feed.lock:
            feed.gate.step()
            feed.changed.wait_for(lambda: feed.queries > passed[-1], 60)
    assert passed == [0, 1, 2]
    assert feed.state == "paused"
    feed.gate.go()
    thread.join(60)
    feed.close()
    assert result_of(feed).rows("final") == result_of(fed(feed_of(), ROWS)).rows("final")


def test_a_gate_that_is_open_keeps_nobody() -> None:
    gate = Gate()
    gate.wait()
    gate.step()
    gate.wait()
    assert gate.paused


# --- what is kept ---------------------------------------------------------------------------------


def test_what_is_kept_is_bounded_and_what_holds_stays() -> None:
    rows = ["meet|1|1|a|b"]
    rows += [f"stop|{t}|{t}|v{(t + 3) % 7}" for t in range(2, 900)]
    rows += [f"speed|{t}|{t}|v{t % 7}|slow" for t in range(2, 900)]
    rows.sort(key=lambda row: int(row.split("|")[1]))
    limits = Limits(spans=50, changes=40, items=60, queries=20, letters=5)
    feed = fed(feed_of(limits=limits, window=100), [*rows, *["?"] * 9])
    found = result_of(feed)
    assert 50 <= found.count("fluent") < 70
    assert "near" in {row.name for row in found.rows("final") if row.end is None}
    gone = feed.recent.gone
    whole = horai.loads(RULES).run(rows, start=0, window=100, step=10)
    assert gone.spans == whole.count("fluent") - found.count("fluent")
    assert gone.spans_until is not None and 800 < gone.spans_until < 900
    assert sum(map(len, feed.recent.narrative(10_000).tables)) < 70
    assert gone.items + sum(map(len, feed.recent.narrative(10_000).tables)) == len(rows)
    assert (feed.recent.letters, gone.letters, len(found.dead_letters)) == (9, 4, 5)
    assert len(found.metrics.windows) <= 20
    assert feed.session is not None and len(feed.session.answers) == 1
    assert found.metrics.run.items == whole.metrics.run.items
    with pytest.raises(UsageError, match="do not show why"):
        found.why("near(a,b)=true", at=850)


def test_a_program_keeps_its_latest_query_times() -> None:
    rows = [f"b|{t}|{t}|x{t % 3}" for t in range(1, 200)]
    rules = horai.loads(PROGRAM, language="lars")
    feed = fed(feed_of(rules, limits=Limits(queries=30, items=500)), rows)
    found = result_of(feed)
    assert found.extent == (170, 199)
    assert (feed.recent.gone.queries, feed.recent.gone.spans_until) == (169, 169)


def test_the_latest_changes_come_first() -> None:
    feed = fed(feed_of(), ROWS)
    latest = list(feed.recent.latest(3))
    assert [query for query, _ in latest] == [64, 64, 64]
    assert all(row.op in ("+", "-") for _, row in latest)


# --- costs ----------------------------------------------------------------------------------------


def test_rules_tell_what_they_cost() -> None:
    feed = fed(feed_of(), ROWS)
    found = costs(feed.profile, feed.seconds)
    assert found["by"] == "rule"
    assert {row["what"] for row in found["rows"]} >= {"initiatedAt(near(V, W)=true, T)"}
    assert 0 <= sum(row["seconds"] for row in found["rows"]) <= feed.seconds
    reference = fed(feed_of(engine="reference"), ROWS)
    assert costs(reference.profile, 3.0) == {"by": "run", "seconds": 3.0, "rows": []}


# --- going on -------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", range(1, len(ROWS), 3))
def test_a_saved_run_goes_on(tmp_path: Path, cut: int) -> None:
    state = tmp_path / "s.bin"
    first = fed(feed_of(state=state), ROWS[:cut])
    assert first.save(state)
    again = feed_of(state=state)
    assert again.offsets == {"stream.csv": cut}
    again.take(lines_of(ROWS[cut:], first=cut + 1))
    again.answer(directly)
    again.close()
    whole = {str(row) for row in result_of(fed(feed_of(), ROWS)).rows("final")}
    assert {str(row) for row in result_of(again).rows("final")} == whole


@pytest.mark.parametrize("rules", [horai.loads(PROGRAM, language="lars"), COMBINED])
@pytest.mark.parametrize("cut", [1, 3, 4])
def test_a_saved_run_of_a_program_goes_on(tmp_path: Path, rules: horai.Rules, cut: int) -> None:
    rows = ["b|1|1|x", "b|13|13|y", "b|14|13|z", "b|27|27|z", "b|40|39|x"]
    state = tmp_path / "s.bin"
    assert fed(feed_of(rules, clock="1s", state=state), rows[:cut]).save(state)
    again = feed_of(rules, clock="1s", state=state)
    again.take(lines_of(rows[cut:], first=cut + 1))
    again.answer(directly)
    again.close()
    whole = fed(feed_of(rules, clock="1s"), rows)
    found, expected = (result_of(one) for one in (again, whole))
    if rules.language == "lars":
        assert found.steps[-1].texts() == expected.steps[-1].texts() != []
    else:
        assert found.rows("final") == expected.rows("final")


def test_nothing_came_and_nothing_is_saved(tmp_path: Path) -> None:
    feed = feed_of()
    feed.close()
    assert not feed.save(tmp_path / "s.bin")
    assert feed.state == "ended"


def test_a_run_has_an_end(tmp_path: Path) -> None:
    feed = fed(feed_of(end=25), ROWS)
    assert feed.is_over and feed.status()["query"] == "25"
    assert feed.save(tmp_path / "s.bin")


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"step": None, "window": None}, "there is no step between query times"),
        ({"models": "all"}, "models has no meaning"),
        ({"trigger": "1s"}, "trigger has no meaning"),
    ],
)
def test_wrong_settings(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        feed_of(**settings)


def test_a_row_far_ahead_is_refused() -> None:
    feed = feed_of()
    feed.take(lines_of(["stop|1|1|a", "stop|9000000000000|9000000000000|a"]))
    with pytest.raises(UsageError, match="more than 10,000,000 query times"):
        feed.answer(directly)


# --- files that grow ------------------------------------------------------------------------------


def test_a_growing_file_is_followed_from_where_it_was_left(tmp_path: Path) -> None:
    file = tmp_path / "f.csv"
    file.write_text("a|1|1\nb|2|2\nc|3|")
    incoming = Incoming([str(file)], print, {str(file): 1}, growing=True)
    found = [(line.number, line.text) for line in incoming.some() or ()]
    with file.open("a") as more:
        more.write("3\nd|4|4\n")
    found += [(line.number, line.text) for line in incoming.some() or ()]
    assert found == [(2, "b|2|2"), (3, "c|3|3"), (4, "d|4|4")]
    file.write_text("")
    with pytest.raises(InputError, match="became shorter"):
        incoming.some()
    incoming.close()


def test_who_waits_for_room_is_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("horai.io.sources.files.AT_ONCE", 8)
    file = tmp_path / "f.csv"
    file.write_text("a|1|1\n" * 100)
    incoming = Incoming([str(file)], print, growing=True)
    first = incoming.next()
    assert first is not None and first.number == 1
    incoming.close()
    assert not any(thread.is_alive() for thread in incoming._followers)


def test_a_file_that_is_shorter_than_what_was_read(tmp_path: Path) -> None:
    file = tmp_path / "f.csv"
    file.write_text("a|1|1\n")
    with pytest.raises(InputError, match="it has 1 lines, and 3 were read before"):
        Incoming([str(file)], print, {str(file): 3}, growing=True)


def test_status_is_plain() -> None:
    feed = fed(feed_of(), ROWS)
    assert json.loads(json.dumps(feed.status())) == feed.status()
    assert feed.status()["queries"] == 7
