"""The folder of a stream: what it keeps, what it removes, and what is said when it is damaged."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner
from tests.spark.streaming import Driver

import horai
from horai.cli.app import app
from horai.errors import UsageError
from horai.runtime.checkpoint import KEPT, Manifest, Seen, Store
from horai.runtime.records import packed, unpacked
from horai.runtime.refusals import Refused
from horai.runtime.streams import StreamJob
from horai.settings import RunSettings

RULES = """
initiatedAt(slow(V)=true, T) :- happensAt(velocity(V, S), T), S < 5.
terminatedAt(slow(V)=true, T) :- happensAt(velocity(V, S), T), S >= 5.
fi(slow(V)=true, slow(V)=false, 30).
"""
SETTINGS: dict[str, Any] = {"start": 0, "window": 20, "step": 10}


def driver(folder: Path, **more: Any) -> Driver:
    return Driver(horai.loads(RULES), folder, SETTINGS | more, 2)


def state(*words: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["state", *words])
    return result.exit_code, result.stdout, result.stderr


# --- query times ----------------------------------------------------------------------------------


def timed(**settings: Any) -> StreamJob:
    return StreamJob.of(horai.loads(RULES), None, RunSettings(**settings))


def due(
    timing: StreamJob, known: Manifest, seen: Seen | None, finishing: bool = False
) -> list[int]:
    found = timing.due(known, seen, finishing)
    assert found is not None
    return [*found.schedule.queries]


def test_a_query_time_is_due_once_something_later_has_arrived() -> None:
    timing = timed(step=10, start=0)
    assert due(timing, Manifest(), Seen(1, 90, 10)) == []
    assert due(timing, Manifest(), Seen(1, 90, 11)) == [10]
    assert due(timing, Manifest(query=10), Seen(1, 90, 31)) == [20, 30]
    assert due(timing, Manifest(query=30), Seen(1, 90, 31)) == []


def test_delay_waits_longer() -> None:
    timing = timed(step=10, start=0, watermark_delay=5)
    assert due(timing, Manifest(), Seen(1, 90, 15)) == []
    assert due(timing, Manifest(), Seen(1, 90, 16)) == [10]


def test_the_end_is_asked_as_in_a_run() -> None:
    timing = timed(step=10, start=0)
    assert due(timing, Manifest(query=10), Seen(1, 34, 12), finishing=True) == [20, 30, 34]
    assert due(timing, Manifest(query=34), Seen(1, 50, 41)) == [40]
    ending = timed(step=10, start=0, end=25)
    assert due(ending, Manifest(), Seen(1, 90, 25)) == [10, 20]
    found = ending.due(Manifest(query=20), Seen(1, 90, 26), False)
    assert found is not None and found.ends and found.schedule.queries == [25]


def test_the_first_item_says_where_a_stream_begins() -> None:
    timing = timed(step=10, tick=5)
    assert timing.due(Manifest(), None, True) is None
    found = timing.due(Manifest(), Seen(107, 130, 130), False)
    assert found is not None
    assert (found.schedule.start, found.schedule.queries) == (105, [115, 125])


def test_dead_letters_count_before_a_stream_has_begun(tmp_path: Path) -> None:
    """Nobody knows yet when it begins, and rows that cannot be used say nothing about that."""
    stream = Driver(horai.loads(RULES), tmp_path / "c", SETTINGS | {"start": None}, 2)
    stream.take(0, ["oops", "nobody|1|1|ann"])
    assert stream.told.totals == {"dead_letters": 2, "changes": 0}
    stream.take(1, ["velocity|7|7|ann|2", "velocity|30|30|ann"])
    stream.finish()
    assert stream.told.totals["dead_letters"] == len(stream.told.letters) == 3
    assert stream.told.queries == [7]


def test_an_item_from_far_away_is_refused_rather_than_waited_for() -> None:
    timing = timed(step=1, start=0)
    with pytest.raises(UsageError, match="more than 10,000,000 query times"):
        timing.due(Manifest(), Seen(1, 2**61, 2**61), False)
    with pytest.raises(UsageError, match="begins after 30"):
        timed(step=1, end=20).due(Manifest(), Seen(31, 40, 40), False)


# --- files ----------------------------------------------------------------------------------------


def test_deadlines_are_met_in_buckets_without_items(tmp_path: Path) -> None:
    """What ann began ends by itself, while only others are heard of."""
    stream = driver(tmp_path / "c")
    stream.take(0, ["velocity|1|1|ann|2", "velocity|12|12|bob|9"])
    for batch in range(1, 6):
        stream.take(batch, [f"velocity|{10 * batch + 12}|{10 * batch + 12}|bob|9"])
        stream.restart()
    told = [(r.query, r.op, r.value, r.end) for r in stream.told.changes if r.args == ("ann",)]
    assert told == [
        *((10, "+", "true", None), (40, "+", "false", None)),
        *((40, "-", "true", None), (40, "+", "true", 32)),
    ]


def test_only_the_last_steps_are_kept(tmp_path: Path) -> None:
    stream = driver(tmp_path / "c")
    for batch in range(9):
        stream.take(batch, [f"velocity|{7 * batch + 1}|{7 * batch + 1}|ann|2"])
    commits = sorted(path.stem for path in (tmp_path / "c" / "commits").iterdir())
    assert [int(name) for name in commits] == [14, 16, 18] and len(commits) == KEPT
    kept = [json.loads((tmp_path / "c" / "commits" / f"{n}.json").read_bytes()) for n in commits]
    states = {int(p.stem.split("-")[2]) for p in (tmp_path / "c" / "state").iterdir()}
    assert states == {manifest["state"] for manifest in kept}
    items = {p.name for p in (tmp_path / "c" / "items").iterdir()}
    wanted = {f"{s}-{b}-{n:09}.arrow" for m in kept for s, b, n in m["items"]}
    assert items == wanted
    stream.restart()
    stream.take(9, ["velocity|99|99|ann|9"])
    assert stream.told.queries[-1] == 90


def test_what_is_kept_can_be_looked_at(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    stream = driver(folder)
    stream.take(0, ["velocity|1|1|ann|2"])
    code, out, _ = state(str(folder))
    assert code == 0
    assert "no query time has been asked yet" in out
    assert "1 file of items wait" in out
    stream.take(1, ["velocity|12|11|bob|3", "velocity|2|2|'New York'|9", "nobody|1|1"])
    found = json.loads(state(str(folder), "--json")[1])
    assert (found["query"], found["arrival"], found["step"]) == (10, 12, 4)
    assert found["totals"]["dead_letters"] == 1
    assert sum(row["open"] for row in found["state"]) == 1
    code, out, _ = state(str(folder), "--entity", "ann")
    assert code == 0
    assert out.splitlines() == [
        *("may still change:", "  slow(ann)=true from 2 on", "items in the window:"),
        "  velocity(ann, 2) at 1",
    ]
    assert "nothing about zoe" in state(str(folder), "--entity", "zoe")[1]


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda folder: (folder / "stream.json").unlink(), "is no checkpoint of a stream"),
        (lambda folder: (folder / "stream.json").write_text("{"), "cannot be read"),
        (
            lambda folder: (folder / "commits" / "000000002.json").write_text("[]"),
            "000000002.json cannot be read",
        ),
    ],
)
def test_a_folder_that_is_damaged(tmp_path: Path, damage: Any, said: str) -> None:
    folder = tmp_path / "c"
    driver(folder).take(0, ["velocity|1|1|ann|2", "velocity|12|11|bob|3"])
    damage(folder)
    code, _, shown = state(str(folder))
    assert code == 2
    assert said in shown.replace("\n", "")


def kept_file(folder: Path, what: str) -> Path:
    """The file of that kind with the latest of what a stream keeps."""
    later = ["velocity|12|11|bob|3"] if what == "state" else []  # else no query time is due
    driver(folder).take(0, ["velocity|1|1|ann|2", *later])
    found: Path = max((folder / what).iterdir(), key=lambda path: path.stat().st_size)
    return found


def test_state_that_is_damaged_is_refused_wherever(tmp_path: Path) -> None:
    """What a byte says may matter to nobody; what is read is what was written, or refused."""
    path = kept_file(tmp_path / "c", "state")
    whole = path.read_bytes()
    said = {state(str(tmp_path / "c"))[0]}
    for place in range(0, len(whole), max(1, len(whole) // 60)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        code, out, shown = state(str(tmp_path / "c"))
        said.add(code)
        assert code in (0, 2) and "fault of Horai" not in shown, place
        assert code == 0 or "damaged" in shown, (place, out, shown)
        path.write_bytes(whole[:place])
        code, _, shown = state(str(tmp_path / "c"))
        assert (code, "damaged" in shown) == (2, True), place
    assert said == {0, 2}


@pytest.mark.parametrize("what", ["state", "items"])
def test_offsets_that_point_out_of_a_file_are_refused(tmp_path: Path, what: str) -> None:
    path = kept_file(tmp_path / "c", what)
    number = int(path.stem.split("-")[2])
    part, bucket = (int(word) for word in path.stem.split("-")[:2])
    whole = path.read_bytes()
    store = Store(str(tmp_path / "c"))
    if what == "state":
        blob = store.read_state(part, bucket, number)[1]["session"]
        ends = struct.pack("<qq", 0, len(blob))
        forged = struct.pack("<qq", 0, 2**40)
    else:
        records = store.read_items(part, bucket, number)
        ends = struct.pack("<ii", 0, len(records[0].blob))
        forged = struct.pack("<ii", 0, 2**30)
    assert ends in whole
    path.write_bytes(whole.replace(ends, forged))
    with pytest.raises(Refused, match=f"{path.name} is damaged"):
        if what == "state":
            store.read_state(part, bucket, number)
        else:
            store.read_items(part, bucket, number)


def test_a_table_on_its_way_says_only_what_is_in_it() -> None:
    blob = packed(pa.table({"name": ["ann", "bob"]}), pressed=False)
    assert unpacked(blob).num_rows == 2
    ends, forged = struct.pack("<iii", 0, 3, 6), struct.pack("<iii", 0, 3, 2**30)
    assert blob.count(ends) == 1
    with pytest.raises(pa.ArrowInvalid):
        unpacked(blob.replace(ends, forged))


def test_savepoints_that_cannot_be(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    stream = driver(folder)
    stream.take(0, ["velocity|1|1|ann|2", "velocity|12|11|bob|3"])
    code, out, _ = state(str(folder), "--savepoint", str(tmp_path / "saved"))
    assert code == 0
    assert "after step 2" in out
    code, _, said = state(str(folder), "--savepoint", str(tmp_path / "saved"))
    assert code == 2
    assert "is there already" in said
    with pytest.raises(UsageError, match="is a checkpoint already"):
        stream.restart(tmp_path / "saved")
    with pytest.raises(UsageError, match="with step 10, not 5"):
        stream.settings = SETTINGS | {"step": 5}
        stream.restart(tmp_path / "saved")
    with pytest.raises(UsageError, match="is no savepoint"):
        stream.restart(tmp_path / "nowhere")
