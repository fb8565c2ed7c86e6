"""The import table of docs/architecture.md, enforced."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parent.parent / "src"
MODULES = sorted((SRC / "horai").rglob("*.py"))

# What each room may import besides itself. A room is a package, or a module, directly in `horai`.
BASE = {"errors", "io", "lang", "plan", "predicates", "settings"}
FACADE = {"frames", "result", "rules", "session"}
TABLE: dict[str, set[str]] = {
    "errors": set(),
    "lang": set(),
    "io": set(),
    "temporal": set(),
    "predicates": {"errors"},
    "settings": {"errors", "io", "lang", "signals"},
    "oracle": {"lang"},
    "plan": {"lang"},
    "engine": {"lang", "plan", "temporal"},
    "asp": {"lang", "plan"},
    "signals": {"io", "temporal"},
    # Runs that go on, and those on Spark, are made of sessions and end in results.
    "runtime": BASE | FACADE | {"asp", "engine", "oracle", "signals", "temporal", "tools"},
    # Proofs are the definitions asked backwards, of what an engine has answered.
    "explain": BASE | FACADE | {"engine", "oracle", "runtime", "temporal"},
    "report": {
        *("engine", "errors", "io", "plan", "result", "rules", "runtime", "signals", "temporal"),
    },
    # A page of a run that goes on.
    "live": BASE | FACADE | {"engine", "report", "runtime", "signals", "temporal"},
    "tools": BASE | FACADE | {"oracle", "runtime", "signals", "temporal", "testing"},
    "testing": BASE | FACADE | {"runtime"},
    **dict.fromkeys(FACADE, BASE | FACADE | {"engine", "explain", "report", "runtime", "tools"}),
}
# These may import everything: the command line, and the names of `horai` itself.
TOP = "horai"
FREE = {"cli", "__main__", TOP}


def module_name(path: Path) -> str:
    parts = path.relative_to(SRC).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room(module: str) -> str:
    """The package or module directly in `horai` that a dotted name belongs to."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in {*TABLE, *FREE} else TOP


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


def test_modules_import_only_what_their_packages_may() -> None:
    assert len(MODULES) > 100
    found = [
        line
        for path in MODULES
        for line in violations(
            path.read_text(encoding="utf-8"), module_name(path), path.name == "__init__.py"
        )
    ]
    assert found == []


def test_every_module_is_in_the_table() -> None:
    rooms = {name.split(".")[1] for name in map(module_name, MODULES) if "." in name}
    assert rooms == {*TABLE, *FREE} - {TOP}, "add the room to TABLE and docs/architecture.md"


def test_every_room_of_the_table_is_documented() -> None:
    page = (SRC.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert [name for name in [*TABLE, "cli"] if f"`{name}`" not in page] == []


def test_pyspark_is_imported_where_spark_is_spoken_of() -> None:
    """At run time; names of its types may be known elsewhere."""
    allowed = ("horai.runtime.spark", "horai.runtime.tasks", "horai.runtime.sinks.delta")
    found = [
        module_name(path)
        for path in MODULES
        for node in _run_time(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pyspark")
        if not module_name(path).startswith(allowed)
    ]
    assert found == []


def _run_time(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those that only type checkers see."""
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield node
            yield from _run_time(node)


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("horai.lang.ec.parser", "from horai.plan import strata"),
        ("horai.lang.ec.parser", "from ...plan import strata"),
        ("horai.lang.ec.parser", "from ... import plan"),
        ("horai.lang.core.terms", "import horai.io.csv as reader"),
        ("horai.lang.core.terms", "from horai import rules"),
        ("horai.plan.strata", "def f():\n    from ..oracle import run"),
        ("horai.engine.admission", "from horai.oracle.ec import run"),
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
        ("horai.runtime.rounds", "from horai.engine import stream\nfrom ..io import csv"),
        ("horai.cli.run", "from horai.oracle import run"),
        ("horai.rules", "from .runtime import engines"),
    ],
)
def test_an_allowed_import_passes(module: str, line: str) -> None:
    assert violations(line, module) == []


def test_imports_inside_a_package_init_are_relative_to_the_package() -> None:
    assert violations("from .terms import Term", "horai.lang", is_package=True) == []
    assert len(violations("from ..io import csv", "horai.lang", is_package=True)) == 1
