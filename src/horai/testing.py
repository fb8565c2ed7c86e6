"""Case files: given rules and a narrative, these intervals, events and dead letters are expected.

Lines such as `rich(chris)=true: (14,20) (25,inf)` are read into tables, as are answers, and the two
are compared. In cases about LARS programs an atom `happens` at the query times at which it holds.
A case may also be run as a stream in random pieces, with restarts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from horai.errors import CaseError, RunError, UsageError
from horai.io import AnswerRow, InputError, Item, ItemTable
from horai.lang.core.diagnostics import RulesError, did_you_mean
from horai.lang.core.source import SourceText
from horai.lang.core.terms import Compound, Constant, is_ground, make
from horai.lang.ec.reader import read_files
from horai.predicates import Predicate
from horai.result import Answer, Result
from horai.rules import SUFFIX, Rules, checked, load, load_session
from horai.runtime.engines import AUTO
from horai.runtime.inputs import read_input
from horai.runtime.values import parse_term, show, to_term
from horai.session import Session, schedule_of
from horai.settings import RunSettings, Schedule

Form = Literal["final", "window", "changes"]
Problems = list[tuple[int, str]]
Table = dict[str, tuple[str, ...]]

_AT = re.compile(r"at\s+(-?[0-9]+)\s*:")
_INTERVALS = re.compile(r"(?:\(\s*-?[0-9]+\s*,\s*(?:-?[0-9]+|inf)\s*\)\s*)+|none")
_TIMES = re.compile(r"(?:-?[0-9]++\s*+)++|none")  # digits are never split in another way
_INTERVAL = re.compile(r"\([^)]*\)")
_LETTER = re.compile(r"(?:line\s+)?([0-9]+)\s*:?\s+([a-z-]+)")


class CaseLine(NamedTuple):
    """A line of a case file with its number."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Expectation:
    """What is expected of the whole run (`query` None) or at a query time.

    `table` maps `F=V` to intervals and `happens E` to times, in changes with the operation before.
    A complete expectation allows nothing else.
    """

    form: Form
    query: int | None
    complete: bool
    table: Table
    line: int

    @property
    def place(self) -> str:
        """Which part of the answer it is about."""
        if self.form == "final":
            return "at the end"
        return f"at {self.query}" if self.form == "window" else f"changes at {self.query}"


def read_expectations(
    lines: list[CaseLine], complete: bool, number: int, problems: Problems
) -> list[Expectation]:
    """The lines of `expect:`; what stands below `at Q:` is about the window of that query time.

    `nothing` says that there is no answer at all.
    """
    final, blocks = _blocks([line for line in lines if line.text.strip() != "nothing"])
    expected = [_expectation("window", q, complete, at, more, problems) for q, at, more in blocks]
    # Only query times given: nothing is said of the end, not that it be empty.
    if final or not blocks:
        expected.insert(0, _expectation("final", None, complete, number, final, problems))
    return expected


def read_changes(lines: list[CaseLine], problems: Problems) -> list[Expectation]:
    """The lines of `changes:`, each with `+` or `-` before it, below `at Q:`."""
    before, blocks = _blocks(lines)
    problems.extend((line.number, "changes stand below a line `at Q:`") for line in before)
    return [_expectation("changes", q, True, at, more, problems) for q, at, more in blocks]


def _blocks(lines: list[CaseLine]) -> tuple[list[CaseLine], list[tuple[int, int, list[CaseLine]]]]:
    before: list[CaseLine] = []
    blocks: list[tuple[int, int, list[CaseLine]]] = []
    for line in lines:
        found = _AT.fullmatch(line.text.strip())
        if found is not None:
            blocks.append((int(found[1]), line.number, []))
        else:
            (blocks[-1][2] if blocks else before).append(line)
    return before, blocks


def _expectation(
    form: Form,
    query: int | None,
    complete: bool,
    at: int,
    lines: list[CaseLine],
    problems: Problems,
) -> Expectation:
    table: Table = {}
    for line in lines:
        entry = _entry(line, form == "changes", problems)
        if entry is not None:
            if entry[0] in table:
                problems.append((line.number, f"{entry[0]} is given twice; put all on one line"))
            table[entry[0]] = entry[1]
    return Expectation(form, query, complete, table, at)


def _entry(line: CaseLine, change: bool, problems: Problems) -> tuple[str, tuple[str, ...]] | None:
    text, op = line.text.strip(), ""
    if change:
        if text[:1] not in ("+", "-"):
            problems.append((line.number, f"`{text}`: a change starts with + or -"))
            return None
        op, text = text[0] + " ", text[1:].strip()
    what, colon, when = text.rpartition(":")
    what, when = what.strip(), when.strip()
    if not colon:
        wrong = "write `rich(chris)=true: (14,20)` or `happens g(x): 9 12`"
        problems.append((line.number, f"`{text}`: {wrong}"))
        return None
    is_event = what.startswith("happens ")
    shape = _TIMES if is_event else _INTERVALS
    if shape.fullmatch(when) is None:
        like = "times such as `9 12`" if is_event else "intervals such as `(14,20) (25,inf)`"
        problems.append((line.number, f"`{when}`: {like} are expected, or `none`"))
        return None
    name = _entity(what.removeprefix("happens "), is_event, line, problems)
    if name is None:
        return None
    times = when.split() if is_event else _INTERVAL.findall("".join(when.split()))
    values = () if when == "none" else tuple(times)
    return op + ("happens " if is_event else "") + name, values


def _entity(text: str, is_event: bool, line: CaseLine, problems: Problems) -> str | None:
    """The event or fluent-value pair in its canonical spelling."""
    try:
        term = parse_term(text)
    except UsageError:
        problems.append((line.number, f"`{text}` cannot be read"))
        return None
    is_pair = isinstance(term, Compound) and term.name == "=" and len(term.args) == 2
    if is_event == is_pair or not isinstance(term, Constant | Compound):
        want = "an event after `happens`" if is_event else "a fluent-value pair F=V"
        problems.append((line.number, f"`{text}`: {want} is expected"))
        return None
    if not is_ground(term):
        problems.append((line.number, f"`{text}` has a variable: write each instance"))
        return None
    return show(term)


def read_letters(lines: list[CaseLine], problems: Problems) -> tuple[tuple[int, str], ...]:
    """The lines of `dead letters:`, such as `3 too-late`; `none` says that there are none."""
    letters: list[tuple[int, str]] = []
    for line in lines:
        found = _LETTER.fullmatch(line.text.strip())
        if found is not None:
            letters.append((int(found[1]), found[2]))
        elif line.text.strip() != "none":
            wrong = "write the line of the narrative and the code, such as `3 too-late`"
            problems.append((line.number, f"`{line.text.strip()}`: {wrong}"))
    return tuple(letters)


def read_codes(lines: list[CaseLine], problems: Problems) -> tuple[str, ...]:
    """The lines of `errors:`: codes of findings that the rules must give."""
    codes = [(line.number, code) for line in lines for code in line.text.replace(",", " ").split()]
    problems.extend(
        (number, f"`{code}` is no code such as H103")
        for number, code in codes
        if re.fullmatch(r"H[0-9]{3}", code) is None
    )
    return tuple(code for _, code in codes)


def table_of(rows: list[AnswerRow]) -> Table:
    """Rows of an answer in the form of an expectation."""
    table: dict[str, list[str]] = {}
    for row in rows:
        when = str(row.time)
        if row.kind == "fluent":
            when = f"({row.start},{'inf' if row.end is None else row.end})"
        table.setdefault(table_key(row), []).append(when)
    return {key: tuple(whens) for key, whens in table.items()}


def table_key(row: AnswerRow) -> str:
    """What a row is about, such as `rich(chris)=true` or `+ happens g(x)`."""
    op = f"{row.op} " if row.op else ""
    entity = make(row.name, *(to_term(arg) for arg in row.args))
    if row.value is None:
        return f"{op}happens {show(entity)}"
    return op + show(Compound("=", (entity, to_term(row.value))))


def differences(expected: Expectation, found: Table) -> Iterator[tuple[str, str]]:
    """Lines that are missing (`-`) and lines nobody expected (`+`)."""
    for key in sorted({*expected.table, *found}):
        if key not in expected.table and not expected.complete:
            continue
        want, have = expected.table.get(key, ()), found.get(key, ())
        if want != have:
            missing = [when for when in want if when not in have]
            extra = [when for when in have if when not in want]
            if missing:
                yield "-", f"{key}: {' '.join(missing)}"
            if extra:
                yield "+", f"{key}: {' '.join(extra)}"
            if not missing and not extra:
                yield "-", f"{key}: {' '.join(want)} in this order, each once"


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
    block: tuple[CaseLine, ...]


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
        if not case.expectations and case.letters is None and case.errors is None:
            text = f"the case `{case.title}` expects nothing: add `expect:`"
            problems.append((case.line, text))
    if problems:
        raise CaseError(str(path), problems)
    return cases


def _sections(text: str, problems: Problems) -> Iterator[_Section]:
    """Keyword lines with the indented lines below them. `#` at the start of a line is a comment."""
    header: tuple[str, int, str] | None = None
    block: list[CaseLine] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            block.append(CaseLine(number, ""))
        elif line[0] in " \t":
            if header is None:
                problems.append((number, "an indented line before any keyword such as `rules:`"))
            block.append(CaseLine(number, line.rstrip()))
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
    first = [CaseLine(section.line, section.rest)] if section.rest else []
    lines = [*first, *(line for line in section.block if line.text)]
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


def _settings(lines: list[CaseLine], problems: Problems) -> dict[str, int | str]:
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


_SETTINGS = ("step", "start", "end", "unit")


def is_about_lars(case: Case) -> bool:
    """Are the rules of a case files of LARS programs?"""
    files = () if case.rules is None else case.rules.files
    return bool(files) and all(file.suffix.lower() == SUFFIX for file in files)


def _program(case: Case) -> Rules:
    """The program of a case, from its files."""
    assert case.rules is not None
    for name in case.settings.keys() - set(_SETTINGS):
        hint = f"settings are {', '.join(_SETTINGS)}"
        raise UsageError(f"{name} has no meaning for LARS programs", hint)
    if case.background is not None and case.background.text is not None:
        raise UsageError("background of LARS programs stands in files", "name one")
    return load(case.rules.files, () if case.background is None else case.background.files)


@dataclass(frozen=True, slots=True)
class Difference:
    """A line that is missing (`-`), that nobody expected (`+`), or a remark (`!`)."""

    place: str
    sign: str
    text: str
    line: int


Runner = Callable[[Case, Rules, RunSettings], Result]
"""Runs the rules of a case over its narrative."""


def run_whole(case: Case, rules: Rules, settings: RunSettings) -> Result:
    """One run over the whole narrative."""
    return rules.run(narrative_of(case), **settings.to_dict())


def run_case(
    case: Case,
    engine: str = AUTO,
    rules: Rules | None = None,
    predicates: dict[str, Predicate] | None = None,
    run: Runner = run_whole,
) -> list[Difference]:
    """How what a case finds differs from what it expects; nothing when it passes.

    `rules` are used by a case that has none of its own.
    """
    try:
        own, settings = prepared(case, engine, rules, predicates)
    except RulesError as error:
        return list(_compare_codes(case, error))
    except UsageError as error:
        if not is_about_lars(case):
            raise
        return [Difference("run", "!", str(error), case.line)]
    if case.errors is not None:
        shown = ", ".join(case.errors)
        return [Difference("rules", "-", f"errors {shown}: the rules were accepted", case.line)]
    try:
        asked = RunSettings.of(own.language, "run", settings)
        return compare(case, run(case, own, asked))
    except (InputError, UsageError, RunError) as error:
        return [Difference("run", "!", str(error), case.line)]


def prepared(
    case: Case,
    engine: str = AUTO,
    rules: Rules | None = None,
    predicates: dict[str, Predicate] | None = None,
) -> tuple[Rules, dict[str, Any]]:
    """The rules of a case and the settings of its run; raises `RulesError`."""
    settings: dict[str, Any] = {"engine": engine, **case.settings}
    if is_about_lars(case):
        own = _program(case)
        own.in_points(unit=str(case.settings.get("unit") or "") or None)
        return own, settings
    return case_rules(case, rules, predicates), settings


def compare(case: Case, result: Result) -> list[Difference]:
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
    texts: list[Path | SourceText] = []
    for given in (case.rules, case.background):
        texts.extend(given.files if given else ())
        if given is not None and given.text is not None:
            # So far down that lines are counted as in the file of the case.
            text = "\n" * (given.line - 1) + given.text
            texts.append(SourceText(str(case.file), text))
    description, findings = read_files(texts)
    return checked(description, findings, predicates or {})


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


def _compare(expected: Expectation, result: Result) -> Iterator[Difference]:
    is_lars = result.rules.language == "lars"
    if expected.form == "final":
        rows = result.rows("windows" if is_lars else "final")
    else:
        answer = next((a for a in result.answers if a.query == expected.query), None)
        if answer is None:
            times = ", ".join(str(a.query) for a in result.answers) or "none"
            text = f"{expected.query} is no query time of this run; these are {times}"
            yield Difference(expected.place, "!", text, expected.line)
            return
        rows = answer.changes if expected.form == "changes" else answer.rows()
    for sign, text in differences(expected, table_of(_happened(rows) if is_lars else rows)):
        yield Difference(expected.place, sign, text, expected.line)


def _happened(rows: list[AnswerRow]) -> list[AnswerRow]:
    """Atoms at query times as events then, in the order of time."""
    atoms = [row._replace(kind="event", time=row.query) for row in rows if row.kind == "atom"]
    return sorted(atoms, key=lambda row: row.time or 0)


def _compare_letters(case: Case, result: Result) -> Iterator[Difference]:
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


# --- cases as streams ----------------------------------------------------------------------------

# None of this may change what a case expects: a session that is fed in pieces, saved and taken up
# again finds what one run over the whole narrative finds.
#
# What is random stays within what a case says. Where it has a window, or speaks of query times,
# rows come at the query time at which they have arrived, in pieces and in another order. Where only
# the end counts there are query times in between, and rows come later than they arrived. Rows of a
# narrative with retractions keep their order, and so do signals of LARS programs.

_PIECES = 4  # of a step, at most
_MORE_QUERIES = 3
_RESTART = 0.5
_LATE = 0.3

Part = ItemTable | list[Item]
"""What is cut into pieces: a table, or all signals of a program in their order."""


def as_stream(seed: int) -> Runner:
    """Runs the rules of a case as a stream; a seed always makes the same stream of a case."""

    def run(case: Case, rules: Rules, settings: RunSettings) -> Result:
        name = f"{case.file.name}:{case.line}".encode()
        return _run(case, rules, settings, np.random.default_rng([seed, *name]))

    return run


def _run(case: Case, rules: Rules, asked: RunSettings, random: np.random.Generator) -> Result:
    given = narrative_of(case)
    narrative = read_input(given, rules.schema, asked.scale)
    schedule = schedule_of(asked, narrative)
    if schedule is None:
        return rules.run(given, **asked.to_dict())
    parts: list[Part] = [*narrative.tables]
    if isinstance(schedule, range):
        queries, is_ordered, is_late = list(schedule), True, False
        parts = [sorted(narrative.items(), key=lambda item: item.line)]
    else:
        queries = [*schedule.queries]
        is_ordered = any(
            (part.table.column("op").to_numpy() < 0).any() for part in narrative.tables
        )
        at_the_end = all(one.form == "final" for one in case.expectations)
        if is_late := schedule.window is None and at_the_end:
            queries = _more(schedule, queries, random)
    steps: list[list[Part]] = [[] for _ in queries]
    for part in parts:
        for place, piece in _pieces(part, queries, random, is_ordered, is_late):
            steps[place].append(piece)
    session = Session(rules, replace(asked, start=schedule.start))
    session.dead_letters.extend(narrative.dead_letters)
    found: list[Answer] = []
    for query, step in zip(queries, steps, strict=True):
        for piece in step:
            session.give([piece] if isinstance(piece, ItemTable) else piece)
        found.append(session.take(query, ()))
        if query != queries[-1] and random.random() < _RESTART:
            session = load_session(session.save(), rules.predicates or None)
    result = session.finish(queries[-1]) if asked.is_lars else session.finish()
    result.steps = found
    return result


def _more(schedule: Schedule, queries: list[int], random: np.random.Generator) -> list[int]:
    """Query times in between, too."""
    between = range(schedule.next_point, schedule.end, schedule.tick)
    if not between:
        return queries
    more = (between[int(one)] for one in random.integers(len(between), size=_MORE_QUERIES))
    return sorted({*queries, *more})


def _pieces(
    part: Part, queries: list[int], random: np.random.Generator, is_ordered: bool, is_late: bool
) -> Iterator[tuple[int, Part]]:
    """Pieces of a part, each with the number of the query time before which it is fed."""
    if isinstance(part, ItemTable):
        arrival = part.table.column("arrival").to_numpy()
    else:
        arrival = [one.arrival for one in part]
    step = np.searchsorted(queries[:-1], arrival)
    if is_late and not is_ordered:
        held_back = random.random(len(part)) < _LATE
        step = np.where(held_back, random.integers(step, len(queries)), step)
    label = step * _PIECES + random.integers(_PIECES, size=len(part))
    rows = np.argsort(step, kind="stable") if is_ordered else random.permutation(len(part))
    label = np.sort(label) if is_ordered else label[rows]
    for one in np.unique(label):
        some = rows[label == one]
        yield (
            int(one) // _PIECES,
            replace(part, table=part.table.take(pa.array(some)))
            if isinstance(part, ItemTable)
            else [part[row] for row in some],
        )
