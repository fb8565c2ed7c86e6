"""Every case of the project, and the shared ones where they are at hand, in batch on Spark.

All cases run in the same few jobs, each with rules and query times of its own.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.spark.all_cases import Wrong, in_batch

from horai.runtime.grid import LocalGrid
from horai.runtime.spark.shuffle import FolderGrid, SparkGrid


def check(found: Wrong) -> None:
    number, wrong = found
    assert number > 250
    assert wrong == []


@pytest.mark.slow
def test_in_buckets_without_spark() -> None:
    check(in_batch(LocalGrid()))


@pytest.mark.slow
def test_as_on_a_cluster(grid: SparkGrid) -> None:
    """Records go from round to round by shuffles."""
    check(in_batch(grid))


def test_as_on_one_machine(grid: SparkGrid, tmp_path: Path) -> None:
    """Records go from round to round by files."""
    check(in_batch(FolderGrid(grid.spark, tmp_path)))
