"""What a case expects: lines such as `rich(chris)=true: (14,20) (25,inf)`, read into tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from horai.errors import UsageError
from horai.io import AnswerRow
from horai.lang.terms import Atom, Compound, is_ground, make
from horai.values import parse_term, show, to_term

Form = Literal["final", "window", "changes"]
Problems = list[tuple[int, str]]
Table = dict[str, tuple[str, ...]]

_AT = re.compile(r"at\s+(-?[0-9]+)\s*:")
_INTERVALS = re.compile(r"(?:\(\s*-?[0-9]+\s*,\s*(?:-?[0-9]+|inf)\s*\)\s*)+|none")
_TIMES = re.compile(r"(?:-?[0-9]+\s*)+|none")
_INTERVAL = re.compile(r"\([^)]*\)")
_LETTER = re.compile(r"(?:line\s+)?([0-9]+)\s*:?\s+([a-z-]+)")


class Line(NamedTuple):
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
    lines: list[Line], complete: bool, number: int, problems: Problems
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


def read_changes(lines: list[Line], problems: Problems) -> list[Expectation]:
    """The lines of `changes:`, each with `+` or `-` before it, below `at Q:`."""
    before, blocks = _blocks(lines)
    problems.extend((line.number, "changes stand below a line `at Q:`") for line in before)
    return [_expectation("changes", q, True, at, more, problems) for q, at, more in blocks]


def _blocks(lines: list[Line]) -> tuple[list[Line], list[tuple[int, int, list[Line]]]]:
    before: list[Line] = []
    blocks: list[tuple[int, int, list[Line]]] = []
    for line in lines:
        found = _AT.fullmatch(line.text.strip())
        if found is not None:
            blocks.append((int(found[1]), line.number, []))
        else:
            (blocks[-1][2] if blocks else before).append(line)
    return before, blocks


def _expectation(
    form: Form, query: int | None, complete: bool, at: int, lines: list[Line], problems: Problems
) -> Expectation:
    table: Table = {}
    for line in lines:
        entry = _entry(line, form == "changes", problems)
        if entry is not None:
            if entry[0] in table:
                problems.append((line.number, f"{entry[0]} is given twice; put all on one line"))
            table[entry[0]] = entry[1]
    return Expectation(form, query, complete, table, at)


def _entry(line: Line, change: bool, problems: Problems) -> tuple[str, tuple[str, ...]] | None:
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


def _entity(text: str, is_event: bool, line: Line, problems: Problems) -> str | None:
    """The event or fluent-value pair in its canonical spelling."""
    try:
        term = parse_term(text)
    except UsageError:
        problems.append((line.number, f"`{text}` cannot be read"))
        return None
    is_pair = isinstance(term, Compound) and term.name == "=" and len(term.args) == 2
    if is_event == is_pair or not isinstance(term, Atom | Compound):
        want = "an event after `happens`" if is_event else "a fluent-value pair F=V"
        problems.append((line.number, f"`{text}`: {want} is expected"))
        return None
    if not is_ground(term):
        problems.append((line.number, f"`{text}` has a variable: write each instance"))
        return None
    return show(term)


def read_letters(lines: list[Line], problems: Problems) -> tuple[tuple[int, str], ...]:
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


def read_codes(lines: list[Line], problems: Problems) -> tuple[str, ...]:
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
