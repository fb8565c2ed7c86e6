"""The list of codes, the code that uses them and the page that explains them stay in step."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
from tests.plan.support import codes, findings

from horai.lang.core.diagnostics import all_codes

ROOT = Path(__file__).parents[2]
CHECKING = {
    code: info
    for code, info in all_codes().items()
    if "H2" <= code < "H6" and not "H55" <= code < "H56"  # those are findings of a run
}


def page_script() -> ModuleType:
    path = ROOT / "scripts" / "make_diagnostics_page.py"
    spec = importlib.util.spec_from_file_location("make_diagnostics_page", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("code", CHECKING)
def test_the_example_triggers_the_code(code: str) -> None:
    assert code in codes(CHECKING[code].example)


@pytest.mark.parametrize("code", CHECKING)
def test_the_severity_is_the_registered_one(code: str) -> None:
    found = [f for f in findings(CHECKING[code].example) if f.code == code]
    assert {f.severity for f in found} == {CHECKING[code].severity}


@pytest.mark.parametrize("code", CHECKING)
def test_an_example_shows_little_else(code: str) -> None:
    others = set(codes(CHECKING[code].example)) - {code}
    assert others <= {"H309", "H310"}


def test_every_code_in_the_source_is_registered_and_every_registered_one_is_used() -> None:
    used: set[str] = set()
    for path in (ROOT / "src" / "horai").rglob("*.py"):
        used.update(re.findall(r"\"(H\d{3})\"", path.read_text(encoding="utf-8")))
    assert used - set(all_codes()) == set()
    assert set(all_codes()) - used == set()


def test_codes_are_listed_in_their_order() -> None:
    assert list(all_codes()) == sorted(all_codes())


def test_the_page_is_up_to_date() -> None:
    script = page_script()
    page = (ROOT / "docs" / "diagnostics.md").read_text(encoding="utf-8")
    assert page == script.page(), "run: python scripts/make_diagnostics_page.py"


def test_the_page_has_an_entry_for_every_code() -> None:
    page = (ROOT / "docs" / "diagnostics.md").read_text(encoding="utf-8")
    entries = re.findall(r"^### (H\d{3}) ", page, re.MULTILINE)
    assert entries == sorted(all_codes())
