"""Every case file of this folder and of the examples, on every engine."""

from pathlib import Path

import pytest

from horai.engines import ENGINES
from horai.testing import Case, find_cases, read_cases, run_case

ROOT = Path(__file__).parents[2]
FOLDERS = [ROOT / "tests" / "cases", ROOT / "examples"]
PATHS = find_cases([folder for folder in FOLDERS if folder.is_dir()])
CASES = [case for path in PATHS for case in read_cases(path)]


@pytest.fixture(params=sorted(ENGINES))
def engine(request: pytest.FixtureRequest) -> str:
    """The name of an engine; every case runs on each."""
    name: str = request.param
    return name


@pytest.mark.parametrize("case", CASES, ids=[f"{c.file.stem}: {c.title}" for c in CASES])
def test_case(case: Case, engine: str) -> None:
    differences = [f"{d.place}: {d.sign} {d.text}" for d in run_case(case, engine)]
    assert differences == []
