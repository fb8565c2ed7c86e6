"""The examples of pages that are in Python are run as they stand."""

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(("page", "least"), [("python.md", 20), ("why.md", 3)])
def test_the_examples_of_a_page(
    page: str, least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(str(DOCS / page), module_relative=False, report=True)
    assert (failed, tried > least) == (0, True)
