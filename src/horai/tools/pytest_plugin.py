"""The plugin of pytest: cases in files that end in `.case` are tests, beside those in Python.

A case without rules tests those of the nearest project above its file. `--horai-engine` names the
engine, and `--horai-as-stream` feeds each case in random pieces, late, with restarts.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from os import PathLike
from pathlib import Path
from random import SystemRandom
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from horai.rules import Rules
    from horai.testing import Case, Difference

NEW = -1
"""A seed that nobody has chosen."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """What there is to say about cases."""
    group = parser.getgroup("horai", "cases of rules (Horai)")
    group.addoption("--horai-engine", metavar="NAME", help="the engine that cases run on")
    group.addoption(
        "--horai-as-stream",
        metavar="SEED",
        type=int,
        nargs="?",
        const=NEW,
        help="feed cases in random pieces, late, with restarts",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Choose the seed of all streams of the run."""
    if config.getoption("horai_as_stream") == NEW:
        config.option.horai_as_stream = SystemRandom().randrange(10**6)


def pytest_report_header(config: pytest.Config) -> str | None:
    """How to have the same streams once more."""
    seed = config.getoption("horai_as_stream")
    return None if seed is None else f"horai: cases as streams, --horai-as-stream {seed}"


def pytest_collect_file(parent: pytest.Collector, file_path: Path) -> CaseFile | None:
    """The cases of a file."""
    if file_path.suffix != ".case":
        return None
    found: CaseFile = CaseFile.from_parent(parent, path=file_path)
    return found


class CaseFile(pytest.File):
    """A file of cases."""

    def collect(self) -> Iterator[CaseItem]:
        """Its cases; a file that cannot be read is an error with all that is wrong."""
        from horai.errors import CaseError
        from horai.testing import read_cases

        try:
            cases = read_cases(self.path)
        except CaseError as error:
            raise self.CollectError(str(error)) from None
        for case in cases:
            yield CaseItem.from_parent(self, name=case.title, case=case)


class CaseItem(pytest.Item):
    """One case."""

    def __init__(self, *, case: Case, **more: Any) -> None:
        super().__init__(**more)
        self.case = case

    def runtest(self) -> None:
        """Run the case; it fails with all that differs."""
        from horai.runtime.engines import AUTO
        from horai.testing import as_stream, run_case, run_whole

        seed = self.config.getoption("horai_as_stream")
        rules = None if self.case.rules is not None else _rules_near(self.path.parent)
        differences = run_case(
            self.case,
            self.config.getoption("horai_engine") or AUTO,
            rules,
            run=run_whole if seed is None else as_stream(seed),
        )
        if differences:
            raise Differs(differences)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *_: Any) -> Any:
        """What differs, line by line; mistakes of the user in words."""
        from horai.errors import UsageError
        from horai.lang.core.diagnostics import RulesError

        match excinfo.value:
            case Differs(differences=differences):
                lines = [
                    f"{self.path.name}:{one.line}: {one.place}: {one.sign} {one.text}"
                    for one in differences
                ]
                return "\n".join(lines)
            case UsageError() | RulesError() as problem:
                return str(problem)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[PathLike[str], int, str]:
        """Where the case stands."""
        return self.path, self.case.line - 1, self.case.title


class Differs(Exception):
    """A case finds something else than it expects."""

    def __init__(self, differences: list[Difference]) -> None:
        super().__init__(differences)
        self.differences = differences


@cache
def _rules_near(folder: Path) -> Rules | None:
    """The rules of the nearest project."""
    from horai.predicates import from_file
    from horai.rules import load
    from horai.tools.project import FILE, find_project, trusted_text

    project = find_project(folder)
    if project is None:
        return None
    functions, path = {}, project.predicates
    if path is not None:
        functions = from_file(path, trusted_text(path, project.folder / FILE))
    return load(project.rules, project.background, functions, project.severity)
