"""What the project says about itself agrees with itself."""

import re
import tomllib
from pathlib import Path
from typing import Any

import horai

ROOT = Path(__file__).parent.parent


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def project() -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads(read("pyproject.toml"))["project"]
    return table


def dependencies(*extras: str) -> list[str]:
    """Names of the run-time dependencies and those of some extras."""
    optional = project()["optional-dependencies"]
    lines = [*project()["dependencies"], *(line for extra in extras for line in optional[extra])]
    return [re.split(r"[^A-Za-z0-9_.-]", line, maxsplit=1)[0] for line in lines]


def test_version_is_the_same_everywhere() -> None:
    assert project()["version"] == horai.__version__


def test_changelog_has_an_unreleased_section() -> None:
    assert re.search(r"^## \[Unreleased\]$", read("CHANGELOG.md"), re.MULTILINE)


def test_every_locked_requirement_has_a_hash() -> None:
    joined = read("requirements.lock").replace("\\\n", " ")
    requirements = [line for line in joined.splitlines() if line and not line.startswith("#")]
    assert requirements
    assert [r for r in requirements if "==" not in r or "--hash=sha256:" not in r] == []


def test_lock_names_no_place_to_download_from() -> None:
    lock = read("requirements.lock")
    assert "http" not in lock
    assert "--index-url" not in lock
    assert "--find-links" not in lock


def test_every_dependency_is_locked() -> None:
    locked = set(re.findall(r"^([A-Za-z0-9_.-]+)==", read("requirements.lock"), re.MULTILINE))
    assert set(dependencies("dev")) <= locked


def test_every_dependency_is_explained() -> None:
    page = read("docs/architecture.md")
    assert [
        name
        for name in dependencies(*project()["optional-dependencies"])
        if f"`{name}`" not in page
    ] == []
