"""Every case of the project, and the shared ones where they are at hand, in batch on Spark.

All cases run in the same few jobs, each with rules and query times of its own.
"""

from __future__ import annotations

from pathlib import Path

from tests.spark.all_cases import Wrong, in_batch

from horai.spark.cluster import SparkGrid
from horai.spark.grid import LocalGrid
from horai.spark.moving import FolderGrid


def check(found: Wrong) -> None:
    number, wrong = found
    assert number > 250
    assert wrong == []


def test_in_buckets_without_spark() -> None:
    check(in_batch(LocalGrid()))


def test_as_on_a_cluster(grid: SparkGrid) -> None:
    """Records go from round to round by shuffles."""
    check(in_batch(grid))


def test_as_on_one_machine(grid: SparkGrid, tmp_path: Path) -> None:
    """Records go from round to round by files."""
    check(in_batch(FolderGrid(grid.spark, tmp_path)))
