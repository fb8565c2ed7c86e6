"""How right recognitions are: precision, recall and F1 against intervals that people marked.

Counted are time-points, in which an interval that is a little short loses little, and intervals,
of which one is right or wrong: right if it shares enough with one that was marked.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from horai.errors import UsageError
from horai.io import InputError
from horai.io.letters import BadRow
from horai.io.times import TimeScale, is_open_end
from horai.lang.core.terms import Compound, Constant, Term, is_ground, make
from horai.result import Result
from horai.runtime.values import parse_term, show, to_term

Span = tuple[int, int]
Key = tuple[str, int]
Marked = dict[Key, dict[str, list[Span]]]
"""By name and arity of a fluent or atom, and then by instance, maximal intervals."""
FOREVER = 2**62


@dataclass(frozen=True, slots=True)
class Counts:
    """How many were found, how many were marked, and how many of them are the same."""

    right: int = 0
    found: int = 0
    marked: int = 0

    @property
    def precision(self) -> float | None:
        """The share of what was found that is right; None if nothing was found."""
        return self.right / self.found if self.found else None

    @property
    def recall(self) -> float | None:
        """The share of what was marked that was found; None if nothing was marked."""
        return self.right / self.marked if self.marked else None

    @property
    def f1(self) -> float | None:
        """The harmonic mean of both.

        >>> Counts(right=2, found=4, marked=2).f1
        0.6666666666666666
        """
        return 2 * self.right / (self.found + self.marked) if self.found + self.marked else None

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.right + other.right, self.found + other.found, self.marked + other.marked
        )

    def to_dict(self) -> dict[str, Any]:
        """All numbers by name."""
        names = ("right", "found", "marked", "precision", "recall", "f1")
        return {name: getattr(self, name) for name in names}


class Scores(NamedTuple):
    """The counts of a fluent in time-points and in intervals."""

    points: Counts
    intervals: Counts

    def to_dict(self) -> dict[str, Any]:
        """Both by name."""
        return {name: counts.to_dict() for name, counts in self._asdict().items()}


@dataclass(frozen=True, slots=True)
class Score:
    """The scores of each fluent that was marked, by `name/arity`, and of all together."""

    fluents: dict[str, Scores]

    @property
    def all(self) -> Scores:
        """The sums over fluents."""
        points, intervals = Counts(), Counts()
        for one in self.fluents.values():
            points, intervals = points + one.points, intervals + one.intervals
        return Scores(points, intervals)

    def to_dict(self) -> dict[str, Any]:
        """All scores as plain values."""
        fluents = {name: scores.to_dict() for name, scores in self.fluents.items()}
        return {"fluents": fluents, "all": self.all.to_dict()}


def score(
    result: Result, truth: Path | Marked, *, start: int | None = None, overlap: float = 0.5
) -> Score:
    """Compare what a run found with what people marked, fluent by fluent.

    What was marked before the `start` of the run or after its last query time is left aside, and
    so are fluents of which nothing was marked. An interval is right if the time it shares with one
    that was marked is at least `overlap` of the time that either of them covers; each counts once.
    """
    if not 0 < overlap <= 1:
        hint = "it is a share, such as 0.5"
        raise UsageError(f"overlap must be above 0 and at most 1, not {overlap}", hint)
    if isinstance(truth, Path):
        truth = read_marked(truth, TimeScale(result.unit))
    first = -FOREVER if start is None else start + 1
    covered = (first, result.extent[1] + 1)
    found = marked_by(result)
    return Score(
        {
            f"{name}/{arity}": _scores(
                _clipped(found.get((name, arity), {}), covered), _clipped(some, covered), overlap
            )
            for (name, arity), some in sorted(truth.items())
        }
    )


def marked_by(result: Result) -> Marked:
    """The intervals of a result, of fluents and atoms."""
    found: Marked = {}
    for row in result.rows("spans"):
        if row.start is not None and row.kind in ("fluent", "atom"):
            args = tuple(map(to_term, row.args))
            value = None if row.value is None else to_term(row.value)
            end = FOREVER if row.end is None else row.end
            _mark(found, make(row.name, *args), value, (row.start, end))
    return _maximal(found)


def _mark(found: Marked, entity: Term, value: Term | None, span: Span) -> None:
    assert isinstance(entity, Constant | Compound)
    arity = len(entity.args) if isinstance(entity, Compound) else 0
    instance = show(entity if value is None else Compound("=", (entity, value)))
    found.setdefault((entity.name, arity), {}).setdefault(instance, []).append(span)


def _maximal(marked: Marked) -> Marked:
    return {
        key: {name: list(_united(spans)) for name, spans in some.items()}
        for key, some in marked.items()
    }


def _united(spans: Iterable[Span]) -> Iterator[Span]:
    last: Span | None = None
    for start, end in sorted(spans):
        if last is not None and start <= last[1]:
            last = (last[0], max(last[1], end))
            continue
        if last is not None:
            yield last
        last = (start, end)
    if last is not None:
        yield last


def _clipped(some: dict[str, list[Span]], covered: Span) -> dict[str, list[Span]]:
    first, last = covered
    return {
        name: [(max(s, first), min(e, last)) for s, e in spans if s < last and e > first]
        for name, spans in some.items()
    }


def _scores(found: dict[str, list[Span]], marked: dict[str, list[Span]], overlap: float) -> Scores:
    points, intervals = Counts(), Counts()
    for name in sorted({*found, *marked}):
        have, want = found.get(name, []), marked.get(name, [])
        shared = list(_shared(have, want))
        points += Counts(sum(length for *_, length in shared), _length(have), _length(want))
        intervals += Counts(_matched(have, want, shared, overlap), len(have), len(want))
    return Scores(points, intervals)


def _length(spans: Iterable[Span]) -> int:
    return sum(end - start for start, end in spans)


def _shared(have: list[Span], want: list[Span]) -> Iterator[tuple[int, int, int]]:
    """Which intervals of two sorted lists meet, and how many time-points they share."""
    first = second = 0
    while first < len(have) and second < len(want):
        length = min(have[first][1], want[second][1]) - max(have[first][0], want[second][0])
        if length > 0:
            yield first, second, length
        if have[first][1] <= want[second][1]:
            first += 1
        else:
            second += 1


def _matched(
    have: list[Span], want: list[Span], shared: list[tuple[int, int, int]], overlap: float
) -> int:
    """How many pairs share enough; the best pairs come first, and each interval has one."""
    shares = []
    for one, other, length in shared:
        either = _length([have[one], want[other]]) - length
        if length >= overlap * either:
            shares.append((-length / either, one, other))
    taken: tuple[set[int], set[int]] = (set(), set())
    for _, one, other in sorted(shares):
        if one not in taken[0] and other not in taken[1]:
            taken[0].add(one)
            taken[1].add(other)
    return len(taken[0])


# --- what people marked ---------------------------------------------------------------------------

COLUMNS = ("fluent", "start", "end")
OF_ANSWERS = ("name", "args", "value", "start", "end")


def read_marked(path: Path, scale: TimeScale) -> Marked:
    """The intervals of a CSV file with the columns `fluent,start,end`, or with those of answers.

    `fluent` is `F=V`, or an atom. An interval has its start and not its end; without an end it
    stays open. Times are those of the input: with a unit also as ISO 8601 writes them.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, skipinitialspace=True)
            columns = reader.fieldnames or []
            if not ({*COLUMNS} <= {*columns} or {*OF_ANSWERS} <= {*columns}):
                hint = f"name its columns in the first line: {','.join(COLUMNS)}"
                reason = f"the columns {', '.join(COLUMNS)} are expected"
                raise InputError(str(path), reason, line=1, text=",".join(columns), hint=hint)
            found: Marked = {}
            for row in reader:
                _read_row(found, row, scale, (str(path), reader.line_num))
    except UnicodeDecodeError as error:
        raise InputError(str(path), f"it is no UTF-8: {error}") from error
    return _maximal(found)


def _read_row(found: Marked, row: dict[str, str], scale: TimeScale, place: tuple[str, int]) -> None:
    file, line = place
    text = ",".join(str(value) for value in row.values())
    if row.get("kind") not in (None, "", "fluent", "atom"):
        return  # events have no intervals
    try:
        entity, value = _instance(row)
        end = (row["end"] or "").strip()
        start = scale.point(row["start"] or "")
        last = FOREVER if not end or is_open_end(end) else scale.point(end)
    except (BadRow, UsageError, ValueError) as error:
        reason = error.reason if isinstance(error, BadRow) else str(error)
        raise InputError(file, reason, line=line, text=text) from None
    if last <= start:
        hint = "an interval has its start and not its end"
        raise InputError(file, f"{last} is not after {start}", line=line, text=text, hint=hint)
    _mark(found, entity, value, (start, last))


def _instance(row: dict[str, str]) -> tuple[Term, Term | None]:
    """The fluent and its value, or an atom."""
    if "fluent" in row:
        term = parse_term(row["fluent"] or "")
    else:
        args = (to_term(arg) for arg in json.loads(row["args"] or "[]"))
        term = make(row["name"] or "", *args)
        if row["value"]:
            term = Compound("=", (term, parse_term(row["value"])))
    value = None
    if isinstance(term, Compound) and term.name == "=" and len(term.args) == 2:
        term, value = term.args
    if not isinstance(term, Constant | Compound) or not is_ground(term):
        raise ValueError("write a fluent with its value, such as rich(chris)=true, or an atom")
    return term, value
