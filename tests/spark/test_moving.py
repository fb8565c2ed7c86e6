"""Records in files, without Spark: each reader gets what is meant for it, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.weights import examples

from horai.runtime.records import DRIVER, Record
from horai.runtime.spark.shuffle import read_records, shuffled, written

some_records = st.lists(
    st.builds(
        Record,
        round=st.integers(-2, 3),
        slot=st.integers(0, 5),
        run=st.just(0),
        bucket=st.integers(0, 5),
        seq=st.integers(0, 9),
        label=st.sampled_from(("a", "b")),
        blob=st.binary(max_size=4),
    ),
    max_size=12,
)


@examples("heavy")
@given(some_records, st.sets(st.integers(0, 3)), st.integers(1, 4))
def test_all_that_is_written_is_read_once(
    tmp_path_factory: pytest.TempPathFactory, records: list[Record], rounds: set[int], slots: int
) -> None:
    folder = str(tmp_path_factory.mktemp("way"))
    found = shuffled([written(folder, records)])
    assert found.messages == [record for record in records if record.round == DRIVER]
    wanted = [record for record in records if record.round in rounds]

    def mine(slot: int) -> Callable[[int, int], bool]:
        return lambda round, other: round in rounds and other % slots == slot

    read = [r for k in range(slots) for file in found.files for r in read_records(file, mine(k))]
    assert sorted(read) == sorted(wanted)


def test_nothing_is_written_where_there_is_nothing_to_send(tmp_path: Path) -> None:
    said = Record(DRIVER, 0, 0, 0, 0, "a", b"b")
    found = shuffled([written(str(tmp_path), [said]), written(str(tmp_path), [])])
    assert (found.files, found.messages, list(tmp_path.iterdir())) == ([], [said], [])


def test_who_writes_twice_writes_two_files(tmp_path: Path) -> None:
    sent = Record(3, 1, 0, 1, 0, "a", b"b")
    first, second = (written(str(tmp_path), [sent])[0] for _ in range(2))
    assert first != second
    assert list(read_records(second, lambda *_: True)) == [sent]


def test_the_collector_passes_over_what_a_worker_keeps() -> None:
    """In a process of its own: what is frozen here would stay so for other tests."""
    code = """
import gc
from horai.runtime.spark.shuffle import spare_collector
gc.collect()
before = gc.get_freeze_count()
counts, kept = [], []
for _ in range(5):
    spare_collector()
    counts.append(gc.get_freeze_count())
    kept.append([[] for _ in range(1000)])
assert before < 1000 < counts[0], (before, counts)
assert counts[0] < counts[1] == counts[2] < counts[3] == counts[4], counts
"""
    subprocess.run([sys.executable, "-c", code], check=True)
