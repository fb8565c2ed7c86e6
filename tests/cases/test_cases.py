"""Every case file of this folder and of the examples, on every engine, and by change."""

from pathlib import Path

import pytest

from horai.runtime.engines import ENGINES
from horai.testing import Case, find_cases, read_cases, run_case

ROOT = Path(__file__).parents[2]
FOLDERS = [ROOT / "tests" / "cases", ROOT / "examples"]
PATHS = find_cases([folder for folder in FOLDERS if folder.is_dir()])
CASES = [case for path in PATHS for case in read_cases(path)]


# Ways to run a case: an engine, and when it works by change.
WAYS = {name: (name, "auto") for name in ENGINES} | {"incremental": ("columnar", "always")}


@pytest.fixture(params=sorted(WAYS))
def way(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Every case runs each way."""
    return WAYS[request.param]


@pytest.mark.parametrize("case", CASES, ids=[f"{c.file.stem}: {c.title}" for c in CASES])
def test_case(case: Case, way: tuple[str, str]) -> None:
    engine, incremental = way
    found = run_case(case, engine, incremental=incremental)
    differences = [f"{d.place}: {d.sign} {d.text}" for d in found]
    assert differences == []
