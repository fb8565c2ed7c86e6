"""Running case files: what was expected, what was found, and how the two differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from horai.cases import Case, Given, read_cases
from horai.engines import DEFAULT
from horai.errors import RunError, UsageError
from horai.expectations import Expectation, differences, table_of
from horai.io import InputError
from horai.lang.diagnostics import RulesError
from horai.lang.ec.builder import read_files
from horai.lang.source import Source
from horai.lars_cases import AtomsFound, is_about_lars, run_program
from horai.loading import checked
from horai.predicates import Predicate
from horai.result import Result
from horai.rules import Rules

__all__ = ["Case", "Difference", "read_cases", "run_case"]


@dataclass(frozen=True, slots=True)
class Difference:
    """A line that is missing (`-`), that nobody expected (`+`), or a remark (`!`)."""

    place: str
    sign: str
    text: str
    line: int


def run_case(
    case: Case,
    engine: str = DEFAULT,
    rules: Rules | None = None,
    predicates: dict[str, Predicate] | None = None,
    incremental: str = "auto",
) -> list[Difference]:
    """How what a case finds differs from what it expects; nothing when it passes.

    `rules` are used by a case that has none of its own; `incremental` is that of `Rules.run`.
    """
    if is_about_lars(case):
        return _run_program(case, engine)
    try:
        own = case_rules(case, rules, predicates)
    except RulesError as error:
        return list(_compare_codes(case, error))
    if case.errors is not None:
        shown = ", ".join(case.errors)
        return [Difference("rules", "-", f"errors {shown}: the rules were accepted", case.line)]
    try:
        result = own.run(
            narrative_of(case),
            engine=engine,
            incremental=incremental,
            **case.settings,  # type: ignore[arg-type]
        )
    except (InputError, UsageError, RunError) as error:
        return [Difference("run", "!", str(error), case.line)]
    return compare(case, result)


def _run_program(case: Case, engine: str) -> list[Difference]:
    """The same for a LARS program."""
    try:
        found = run_program(case, narrative_of(case), engine)
    except RulesError as error:
        return list(_compare_codes(case, error))
    except (InputError, UsageError, RunError) as error:
        return [Difference("run", "!", str(error), case.line)]
    if case.errors is not None:
        shown = ", ".join(case.errors)
        return [Difference("rules", "-", f"errors {shown}: the rules were accepted", case.line)]
    return compare(case, found)


def compare(case: Case, result: Result | AtomsFound) -> list[Difference]:
    """How a result differs from what a case expects."""
    found = [d for expected in case.expectations for d in _compare(expected, result)]
    return [*found, *_compare_letters(case, result)]


def case_rules(
    case: Case, rules: Rules | None = None, predicates: dict[str, Predicate] | None = None
) -> Rules:
    """The rules of a case, or those given if it has none."""
    if case.rules is None:
        if rules is None:
            raise UsageError(
                f"{case.file}:{case.line}: the case `{case.title}` has no rules",
                "add `rules:`, or run it inside a project",
            )
        return rules
    texts: list[Path | Source] = []
    for given in (case.rules, case.background):
        texts.extend(given.files if given else ())
        if given is not None and given.text is not None:
            texts.append(_source(given, case))
    description, findings = read_files(texts)
    return checked(description, findings, predicates or {})


def _source(given: Given, case: Case) -> Source:
    """Text of a case file, so far down that lines are counted as in the file."""
    return Source(str(case.file), "\n" * (given.line - 1) + (given.text or ""))


def narrative_of(case: Case) -> object:
    """The input of a case."""
    given = case.narrative
    if given is None:
        return []
    if given.files:
        return list(given.files)
    lines = [line.strip() for line in (given.text or "").split("\n")]
    return "\n".join(lines) + "\n"


def _compare_codes(case: Case, error: RulesError) -> Iterator[Difference]:
    """The findings of refused rules against `errors:`; without it, each is a remark."""
    if case.errors is None:
        for finding in error.diagnostics:
            yield Difference("rules", "!", finding.render(), case.line)
        return
    found = [d.code for d in error.diagnostics if d.severity == "error"]
    for code in sorted({*case.errors, *found}):
        if code not in found:
            yield Difference("rules", "-", f"error {code}", case.line)
        elif code not in case.errors:
            yield Difference("rules", "+", f"error {code}", case.line)


def _compare(expected: Expectation, result: Result | AtomsFound) -> Iterator[Difference]:
    if expected.form == "final":
        rows = result.rows("final")
    else:
        answer = next((a for a in result.answers if a.query == expected.query), None)
        if answer is None:
            times = ", ".join(str(a.query) for a in result.answers) or "none"
            text = f"{expected.query} is no query time of this run; these are {times}"
            yield Difference(expected.place, "!", text, expected.line)
            return
        rows = answer.changes if expected.form == "changes" else answer.rows
    for sign, text in differences(expected, table_of(rows)):
        yield Difference(expected.place, sign, text, expected.line)


def _compare_letters(case: Case, result: Result | AtomsFound) -> Iterator[Difference]:
    """Dead letters against `dead letters:`. A case that does not speak of them expects none."""
    expected = Counter(case.letters or ())
    found = Counter((letter.line, letter.code) for letter in result.dead_letters)
    reasons = {(letter.line, letter.code): letter.reason for letter in result.dead_letters}
    for line, code in sorted(expected - found):
        yield Difference("dead letters", "-", f"{line} {code}", case.line)
    for line, code in sorted(found - expected):
        text = f"{line} {code} ({reasons[line, code]})"
        yield Difference("dead letters", "+", text, case.line)


def find_cases(paths: list[Path]) -> list[Path]:
    """The case files among paths; of a folder, all in it."""
    found: list[Path] = []
    for path in paths:
        found.extend(sorted(path.rglob("*.case")) if path.is_dir() else [path])
    return found
