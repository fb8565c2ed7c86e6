"""Case files: given rules and a narrative, expect these intervals and events.

A file holds one or more cases. Keywords stand at the start of a line, what belongs to them is
indented below or follows on the same line:

    case: a wallet is lost
    rules:
        initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
        terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).
    narrative:
        win|13|13|chris
        lose|19|19|chris
    run: start 0, end 30, window 10, step 10
    expect:
        rich(chris)=true: (14,20)
        at 20:
            rich(chris)=true: (14,20)

What stands before the first `case:` holds for all cases of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from horai.errors import CaseError
from horai.expectations import (
    Expectation,
    Line,
    Problems,
    read_changes,
    read_codes,
    read_expectations,
    read_letters,
)
from horai.lang.diagnostics import did_you_mean

_HEADER = re.compile(r"([a-z][a-z ]*?)\s*:(.*)")
KEYWORDS = (
    "case",
    "rules",
    "background",
    "narrative",
    "run",
    "expect",
    "expect some",
    "changes",
    "dead letters",
    "errors",
)
LENGTHS = ("window", "step", "tick", "allen memory")
SETTINGS = (*LENGTHS, "start", "end", "unit")


@dataclass(frozen=True, slots=True)
class Given:
    """Rules, background or a narrative: names of files, or text with the line it starts at."""

    files: tuple[Path, ...] = ()
    text: str | None = None
    line: int = 1


@dataclass(frozen=True, slots=True)
class Case:
    """One case. `settings` are the parameters of the run."""

    title: str
    file: Path
    line: int
    rules: Given | None = None
    background: Given | None = None
    narrative: Given | None = None
    settings: dict[str, int | str] = field(default_factory=dict)
    expectations: tuple[Expectation, ...] = ()
    letters: tuple[tuple[int, str], ...] | None = None
    errors: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class _Section:
    keyword: str
    line: int
    rest: str
    block: tuple[Line, ...]


def read_cases(path: Path) -> list[Case]:
    """The cases of a file, or `CaseError` with everything that is wrong with it."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise CaseError(str(path), [(1, "there is no such file")]) from error
    except (OSError, UnicodeDecodeError) as error:
        raise CaseError(str(path), [(1, f"it cannot be read: {error}")]) from error
    return parse_cases(text, path)


def parse_cases(text: str, path: Path) -> list[Case]:
    """The cases of a text; `path` is where relative file names start from."""
    problems: Problems = []
    shared = Case(path.stem, path, 1)
    current: Case | None = None
    cases: list[Case] = []
    for section in _sections(text, problems):
        if section.keyword == "case":
            if current is not None:
                cases.append(current)
            title = section.rest or f"case at line {section.line}"
            current = replace(shared, title=title, line=section.line)
        elif current is None:
            shared = _with(shared, section, problems)
        else:
            current = _with(current, section, problems)
    cases.append(current or shared)
    for case in cases:
        problems.extend(_missing(case))
    if problems:
        raise CaseError(str(path), problems)
    return cases


def _sections(text: str, problems: Problems) -> Iterator[_Section]:
    """Keyword lines with the indented lines below them. `#` at the start of a line is a comment."""
    header: tuple[str, int, str] | None = None
    block: list[Line] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            block.append(Line(number, ""))
        elif line[0] in " \t":
            if header is None:
                problems.append((number, "an indented line before any keyword such as `rules:`"))
            block.append(Line(number, line.rstrip()))
        else:
            if header is not None:
                yield _Section(*header, tuple(block))
            header, block = _header(line, number, problems), []
    if header is not None:
        yield _Section(*header, tuple(block))


def _header(line: str, number: int, problems: Problems) -> tuple[str, int, str] | None:
    found = _HEADER.fullmatch(line)
    if found is None:
        problems.append((number, f"`{line.strip()}`: a keyword with a colon is expected here"))
        return None
    if found[1] not in KEYWORDS:
        near = did_you_mean(found[1], KEYWORDS)
        advice = f"did you mean `{near}:`?" if near else f"keywords are {', '.join(KEYWORDS)}"
        problems.append((number, f"unknown keyword `{found[1]}`: {advice}"))
        return None
    return found[1], number, found[2].strip()


def _with(case: Case, section: _Section, problems: Problems) -> Case:
    lines = _lines(section)
    match section.keyword:
        case "rules":
            return replace(case, rules=_given(section, case.file.parent, problems))
        case "background":
            return replace(case, background=_given(section, case.file.parent, problems))
        case "narrative":
            return replace(case, narrative=_given(section, case.file.parent, problems))
        case "run":
            return replace(case, settings=case.settings | _settings(lines, problems))
        case "dead letters":
            return replace(case, letters=read_letters(lines, problems))
        case "errors":
            return replace(case, errors=read_codes(lines, problems))
        case "changes":
            more = read_changes(lines, problems)
        case _:
            more = read_expectations(lines, section.keyword == "expect", section.line, problems)
    return replace(case, expectations=(*case.expectations, *more))


def _lines(section: _Section) -> list[Line]:
    first = [Line(section.line, section.rest)] if section.rest else []
    return [*first, *(line for line in section.block if line.text)]


def _given(section: _Section, folder: Path, problems: Problems) -> Given:
    """Text that keeps its lines and columns, or files named on the line of the keyword."""
    has_block = any(line.text for line in section.block)
    if section.rest and has_block:
        text = f"`{section.keyword}:` has a file name and a text; give one of them"
        problems.append((section.line, text))
    if section.rest:
        files = tuple(folder / name.strip() for name in section.rest.split(","))
        for file in files:
            if not file.is_file():
                problems.append((section.line, f"there is no file {file}"))
        return Given(files=files)
    text = "\n".join(line.text for line in section.block)
    return Given(text=text, line=section.line + 1)


def _settings(lines: list[Line], problems: Problems) -> dict[str, int | str]:
    settings: dict[str, int | str] = {}
    for line in lines:
        for part in line.text.split(","):
            name, _, value = part.strip().rpartition(" ")
            name = name.strip()
            if name not in SETTINGS:
                wrong = f"`{part.strip()}`: write a setting and its value, such as `window 10`"
                problems.append((line.number, f"{wrong}; settings are {', '.join(SETTINGS)}"))
            elif re.fullmatch(r"-?[0-9]+", value):
                settings[name.replace(" ", "_")] = int(value)
            elif name in LENGTHS:
                problems.append((line.number, f"{name} is a whole number, not `{value}`"))
            else:
                settings[name] = value
    return settings


def _missing(case: Case) -> Iterator[tuple[int, str]]:
    if not case.expectations and case.letters is None and case.errors is None:
        yield case.line, f"the case `{case.title}` expects nothing: add `expect:`"
