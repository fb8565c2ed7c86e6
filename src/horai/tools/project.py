"""Projects: a folder with `horai.toml`, so that commands in it need no arguments.

Python files of projects that may run: those that somebody has looked at, as they were then.
"""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from glob import glob, has_magic
from pathlib import Path
from typing import Any

from horai.errors import UsageError
from horai.predicates import source_of
from horai.settings import OPTIONS, nearest
from horai.tools.codes import checked_severities

FILE = "horai.toml"
_LISTS = ("rules", "background", "input")
_OF_RUN = [name for name, option in OPTIONS.items() if option.written and name != "columns"]
KEYS = {
    "project": ("name", *_LISTS, "predicates"),
    "run": (*_OF_RUN, "format"),
    "test": ("cases",),
    "severity": (),  # any code
    "columns": (),  # any type
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
    severity: dict[str, str] = field(default_factory=dict)


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
    if problems := list(_problems(given)):
        raise UsageError("\n".join(f"{shown}: {problem}" for problem in problems))
    about, folder = given.get("project", {}), path.parent
    try:
        lists = {key: _listed(folder, key, about.get(key, [])) for key in _LISTS}
        severity = checked_severities(given.get("severity"))
    except UsageError as error:
        raise UsageError(f"{shown}: {error.problem}", error.hint) from None
    predicates = about.get("predicates")
    cases, columns = given.get("test", {}).get("cases", ["tests"]), given.get("columns")
    return Project(
        folder=_near(folder),
        name=about.get("name", folder.name),
        predicates=None if predicates is None else _near(folder / predicates),
        run=given.get("run", {}) | ({"columns": columns} if columns else {}),
        cases=[_near(folder / name) for name in cases],
        severity=severity,
        **lists,
    )


def _listed(folder: Path, what: str, names: list[str]) -> list[Path]:
    """The files that names stand for; one with *, ? or [ may be several, in order of their names.

    A file that has such a name is that file.
    """
    found: list[Path] = []
    for name in names:
        if not has_magic(name) or (folder / name).exists():
            found.append(_near(folder / name))
            continue
        files = sorted(glob(name, root_dir=folder, recursive=True))  # noqa: PTH207 - may be absolute
        if not files:
            hint = f"the pattern is read in {_near(folder)}; ** goes into folders"
            raise UsageError(f"{what} in [project]: no file is called like {name}", hint)
        found += [_near(folder / file) for file in files]
    return list(dict.fromkeys(found))


def _near(path: Path) -> Path:
    """The path as people type it: relative when it is not far away."""
    relative = Path(os.path.relpath(path))
    return relative if relative.parts.count("..") < 3 else path


def _problems(given: dict[str, Any]) -> Iterator[str]:
    """Tables and settings that nobody knows, and values of the wrong kind."""
    for table, content in given.items():
        if table not in KEYS:
            yield f"unknown table [{table}]{_meant(table, KEYS)}"
        elif not isinstance(content, dict):
            yield f"{table} must be a table: [{table}]"
        else:
            for key, value in content.items():
                if KEYS[table] and key not in KEYS[table]:
                    yield f"unknown setting {key} in [{table}]{_meant(key, KEYS[table])}"
                elif problem := _wrong(table, key, value):
                    yield problem


def _meant(word: str, known: Iterable[str]) -> str:
    return f"; {nearest(word, known) or 'there are ' + ', '.join(known)}"


def _wrong(table: str, key: str, value: object) -> str | None:
    """What is wrong with a value, if it is of the wrong kind."""
    if table == "severity":
        return None  # who knows the codes looks at them
    if table == "run" and key in OPTIONS:
        try:
            OPTIONS[key].check(value, key)
        except UsageError as error:
            return f"{error.problem} ([{table}])"
        return None
    good, kind = isinstance(value, str), "a text in quotes"
    if key in (*_LISTS, "cases") or table == "columns":
        good = isinstance(value, list) and all(isinstance(name, str) for name in value)
        names = "columns" if table == "columns" else "file names"
        example = '["vessel", "knots"]' if table == "columns" else '["rules.ec"]'
        kind = f"a list of {names} such as {example}"
    return None if good else f"{key} in [{table}] must be {kind}, not {value!r}"


def trust(path: Path) -> None:
    """From now on a Python file may run, as long as it stays as it is."""
    mark = _mark(path, source_of(path))
    mark.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    mark.write_text(f"{path.resolve()}\n", encoding="utf-8", errors="surrogateescape")


def forget(path: Path) -> None:
    """Trust a Python file no longer, whatever it was when it was trusted."""
    name = f"{path.resolve()}\n"
    for mark in _folder().glob("*"):
        if mark.read_text(encoding="utf-8", errors="surrogateescape") == name:
            mark.unlink()


def trusted_text(path: Path, project: Path) -> bytes:
    """The text of a Python file that a project names; raises if it may not run."""
    text = source_of(path)
    if not _mark(path, text).is_file():
        raise UsageError(
            f"{project} wants to run the Python file {path}, which is not trusted as it is now",
            f"read it; then `horai trust {project.parent}` lets it run, now and until it changes, "
            f"and --predicates {path} lets it run once",
        )
    return text


def _mark(path: Path, text: bytes) -> Path:
    whole = os.fsencode(path.resolve()) + b"\0" + text
    return _folder() / hashlib.sha256(whole).hexdigest()


def _folder() -> Path:
    state = os.environ.get("XDG_STATE_HOME", "")
    base = Path(state) if Path(state).is_absolute() else Path.home() / ".local" / "state"
    return base / "horai" / "trusted"
