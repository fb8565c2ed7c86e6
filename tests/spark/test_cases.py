"""Cases of the project, and the shared ones where they are at hand, in batch on Spark."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.spark.all_cases import all_cases, in_batch, on_compiled, some_cases

from horai.runtime.records import LocalGrid
from horai.runtime.spark.shuffle import FolderGrid, SparkGrid


def test_in_buckets_without_spark() -> None:
    assert in_batch(LocalGrid(), all_cases()) == (len(all_cases()), [])


LOWERED = 356
"""So many of all cases have instructions in the compiled engine."""


@pytest.mark.slow
def test_in_buckets_of_the_compiled_engine() -> None:
    ran, wrong = on_compiled(LocalGrid(), all_cases())
    assert (ran >= LOWERED, wrong) == (True, [])


def test_some_in_buckets_of_the_compiled_engine() -> None:
    ran, wrong = on_compiled(LocalGrid(), some_cases()[::4])
    assert (ran > 20, wrong) == (True, [])


@pytest.mark.slow
def test_as_on_a_cluster(grid: SparkGrid) -> None:
    """Records go from round to round by shuffles."""
    assert in_batch(grid, all_cases()) == (len(all_cases()), [])


@pytest.mark.slow
def test_all_as_on_one_machine(grid: SparkGrid, tmp_path: Path) -> None:
    """Records go from round to round by files."""
    assert in_batch(FolderGrid(grid.spark, tmp_path), all_cases()) == (len(all_cases()), [])


def test_as_on_one_machine(grid: SparkGrid, tmp_path: Path) -> None:
    """Some cases, since there are more than three hundred; all of them run without Spark."""
    some = some_cases()[::4]
    assert len(all_cases()) > 250 and len({given.case.file for given in some if given.case}) > 10
    assert in_batch(FolderGrid(grid.spark, tmp_path), some) == (len(some), [])
