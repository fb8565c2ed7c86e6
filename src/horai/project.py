"""Projects: a folder with `horai.toml`, so that commands in it need no arguments."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from horai.errors import UsageError
from horai.lang.diagnostics import did_you_mean

FILE = "horai.toml"
_LISTS = ("rules", "background", "input")
_LARS = ("clock", "models", "filter")
_WORDS = ("engine", "incremental", "answers", "unit", "time_in", "input_format", "format", *_LARS)
_NUMBERS = ("window", "step", "tick", "allen_memory")
_TIMES = ("start", "end")
_FLAGS = ("strict", "include_input")
_KEYS = {
    "project": ("name", *_LISTS, "predicates"),
    "run": (*_NUMBERS, *_TIMES, *_WORDS, *_FLAGS),
    "test": ("cases",),
}


@dataclass(frozen=True, slots=True)
class Project:
    """The settings of a project; paths are ready to use from where we are."""

    folder: Path
    name: str
    rules: list[Path] = field(default_factory=list)
    background: list[Path] = field(default_factory=list)
    input: list[Path] = field(default_factory=list)
    predicates: Path | None = None
    run: dict[str, Any] = field(default_factory=dict)
    cases: list[Path] = field(default_factory=list)


def find_project(start: Path | None = None) -> Project | None:
    """The project we are in: the nearest `horai.toml`, here or further up."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / FILE).is_file():
            return read_project(folder / FILE)
    return None


def read_project(path: Path) -> Project:
    """The settings in a file, or `UsageError` with all that is wrong with them."""
    shown = _near(path)
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{shown}: {error}") from error
    problems = [*_unknown(given), *_wrong(given)]
    if problems:
        raise UsageError("\n".join(f"{shown}: {problem}" for problem in problems))
    about, folder = given.get("project", {}), path.parent
    lists = {key: [_near(folder / name) for name in about.get(key, [])] for key in _LISTS}
    predicates = about.get("predicates")
    cases = given.get("test", {}).get("cases", ["tests"])
    return Project(
        folder=_near(folder),
        name=about.get("name", folder.name),
        predicates=None if predicates is None else _near(folder / predicates),
        run=given.get("run", {}),
        cases=[_near(folder / name) for name in cases],
        **lists,
    )


def _near(path: Path) -> Path:
    """The path as people type it: relative when it is not far away."""
    relative = Path(os.path.relpath(path))
    return relative if relative.parts.count("..") < 3 else path


def _unknown(given: dict[str, Any]) -> list[str]:
    problems = []
    for table, content in given.items():
        if table not in _KEYS:
            problems.append(f"unknown table [{table}]{_meant(table, _KEYS)}")
        elif not isinstance(content, dict):
            problems.append(f"{table} must be a table: [{table}]")
        else:
            problems += [
                f"unknown setting {key} in [{table}]{_meant(key, _KEYS[table])}"
                for key in content
                if key not in _KEYS[table]
            ]
    return problems


def _meant(word: str, known: Any) -> str:
    near = did_you_mean(word, known)
    return f"; did you mean {near}?" if near else f"; there are {', '.join(known)}"


def _wrong(given: dict[str, Any]) -> list[str]:
    """Settings whose value is of the wrong kind."""
    problems = []
    for table, content in given.items():
        for key, value in content.items() if isinstance(content, dict) else ():
            if key in _LISTS or key == "cases":
                good = isinstance(value, list) and all(isinstance(name, str) for name in value)
                kind = 'a list of file names such as ["rules.ec"]'
            elif key in _NUMBERS:
                good, kind = type(value) is int, "a whole number"
            elif key in _TIMES:
                good, kind = type(value) is int or isinstance(value, str), "a whole number or text"
            elif key in _FLAGS:
                good, kind = isinstance(value, bool), "true or false"
            else:
                good, kind = isinstance(value, str), "a text in quotes"
            if not good:
                problems.append(f"{key} in [{table}] must be {kind}, not {value!r}")
    return problems
