"""The import table of docs/architecture.md, enforced."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parent.parent / "src"
MODULES = sorted((SRC / "horai").rglob("*.py"))
MAX_LINES = 300

# What each package may import besides itself.
TABLE: dict[str, set[str]] = {
    "lang": set(),
    "plan": {"lang"},
    "temporal": set(),
    "engine": {"lang", "plan", "temporal"},
    "asp": {"lang", "plan"},
    "relatives": {"lang"},
    "equivalence": {"lang", "oracle"},
    "oracle": {"lang"},
    "io": set(),
    "signals": {"io", "temporal"},
    "spark": {"engine", "io", "lang", "plan", "signals"},
    "explain": {"engine", "plan"},
    "report": {"engine", "plan"},
}
# These may import everything: the command line, and the modules directly in `horai`.
TOP = "(top level)"
FREE = {"cli", TOP}


def module_name(path: Path) -> str:
    parts = path.relative_to(SRC).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room(module: str) -> str:
    """The package below `horai` that a dotted name belongs to."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in {*TABLE, "cli"} else TOP


def imported(source: str, module: str, is_package: bool = False) -> Iterator[tuple[int, str]]:
    """Line and full dotted name of every import of something inside `horai`."""
    package = module if is_package else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")
                above = above[: len(above) - node.level + 1]
                base = ".".join([*above, base] if base else above)
            names = [f"{base}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from ((node.lineno, name) for name in names if name.split(".")[0] == "horai")


def violations(source: str, module: str, is_package: bool = False) -> list[str]:
    here = room(module)
    if here in FREE:
        return []
    return [
        f"{module}, line {line}: {here} may not import {name}"
        for line, name in imported(source, module, is_package)
        if room(name) != here and room(name) not in TABLE[here]
    ]


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_module_imports_only_what_its_package_may(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert violations(source, module_name(path), path.name == "__init__.py") == []


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_module_is_of_readable_length(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= MAX_LINES, f"{module_name(path)} has {lines} lines: split it"


def test_every_package_is_in_the_table() -> None:
    packages = {p.parent.name for p in (SRC / "horai").glob("*/__init__.py")}
    assert packages <= {*TABLE, "cli"}, "add the new package to TABLE and docs/architecture.md"


def test_every_package_of_the_table_is_documented() -> None:
    page = (SRC.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert [name for name in [*TABLE, "cli"] if f"`horai.{name}`" not in page] == []


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("horai.lang.ec.parser", "from horai.plan import strata"),
        ("horai.lang.ec.parser", "from ...plan import strata"),
        ("horai.lang.ec.parser", "from ... import plan"),
        ("horai.lang.terms", "import horai.io.csv as reader"),
        ("horai.lang.terms", "from horai import rules"),
        ("horai.plan.strata", "def f():\n    from ..oracle import run"),
        ("horai.engine.session", "from horai.oracle.ec import run"),
        ("horai.io.csv", "from horai.cli import main"),
        ("horai.oracle.ec", "from horai.plan import strata"),
    ],
)
def test_a_forbidden_import_is_found(module: str, line: str) -> None:
    assert len(violations(line, module)) == 1


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("horai.lang.ec.parser", "from ..terms import Term"),
        ("horai.lang.ec.parser", "from . import syntax"),
        ("horai.plan.strata", "from horai.lang.ec import syntax\nimport networkx"),
        ("horai.spark.batch", "from horai.engine import session\nfrom ..io import csv"),
        ("horai.cli.run", "from horai.oracle import run"),
        ("horai.rules", "from .oracle import run"),
    ],
)
def test_an_allowed_import_passes(module: str, line: str) -> None:
    assert violations(line, module) == []


def test_imports_inside_a_package_init_are_relative_to_the_package() -> None:
    assert violations("from .terms import Term", "horai.lang", is_package=True) == []
    assert len(violations("from ..io import csv", "horai.lang", is_package=True)) == 1
