"""Every case file of this folder and of the examples, on every engine."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.whole import WHOLE

from horai.testing import Case, case_rules, find_cases, is_about_lars, read_cases, run_case

ROOT = Path(__file__).parents[2]
FOLDERS = [ROOT / "tests" / "cases", ROOT / "examples"]
PATHS = find_cases([folder for folder in FOLDERS if folder.is_dir()])
CASES = [case for path in PATHS for case in read_cases(path)]


# The compiled engine still refuses some of the cases: tests/engine/test_compiled.py.


@pytest.mark.parametrize("case", CASES, ids=[f"{c.file.stem}: {c.title}" for c in CASES])
def test_case(case: Case) -> None:
    """Every case runs on each engine; its rules are read once."""
    rules = None
    if case.errors is None and not is_about_lars(case):
        case, rules = replace(case, rules=None, background=None), case_rules(case)
    differences = [
        f"{name}, {d.place}: {d.sign} {d.text}"
        for name in WHOLE
        for d in run_case(case, name, rules)
    ]
    assert differences == []
