"""Cases as streams: the answers stay, and a session that loses something is found out."""

from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from horai.runtime.lars.session import ProgramEngine
from horai.session import Saved, Session
from horai.testing import Case, as_stream, find_cases, parse_cases, read_cases, run_case

ROOT = Path(__file__).parents[2]
CASES = [case for path in find_cases([ROOT / "tests" / "cases"]) for case in read_cases(path)]
LARGE = [case for path in find_cases([ROOT / "examples"]) for case in read_cases(path)]

DAY = """\
rules:
    initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
    terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).
narrative:
    win|3|3|ann
    lose|9|9|ann
    win|12|12|bob
    win|14|14|ann
    lose|20|20|bob
run: start 0, end 30, step 5
"""


SOME = CASES[::5]


@pytest.mark.parametrize("case", SOME, ids=[f"{c.file.stem}: {c.title}" for c in SOME])
def test_cases_pass_as_streams(case: Case) -> None:
    assert run_case(case, run=as_stream(1)) == []


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize("seed", range(2, 12))
def test_cases_of_examples_pass_as_other_streams(engine: str, seed: int) -> None:
    wrong = [
        f"{case.file}:{case.line}: {found.place}: {found.sign} {found.text}"
        for case in [*CASES, *LARGE]
        for found in run_case(case, engine, run=as_stream(seed))
    ]
    assert wrong == []


def differing(text: str, seeds: range) -> int:
    """How many seeds find that something differs."""
    (case,) = parse_cases(text, Path("day.case"))
    return sum(bool(run_case(case, run=as_stream(seed))) for seed in seeds)


FINAL = "expect:\n    rich(ann)=true: (4,10) (15,inf)\n    rich(bob)=true: (13,21)\n"
WINDOW = "expect:\n    at 10:\n        rich(ann)=true: (4,10)\n    at 15:\n" + (
    "        rich(ann)=true: (4,10) (15,inf)\n        rich(bob)=true: (13,inf)\n"
)


@pytest.mark.parametrize("expected", [FINAL, WINDOW])
def test_what_a_restart_forgets_is_found(expected: str) -> None:
    assert differing(DAY + expected, range(20)) == 0

    def forgetful(self: Session, saved: Saved) -> None:
        """Goes on after the last query time, and knows nothing of what was before."""
        self.last, self.taken = saved.query, saved.taken

    with patch.object(Session, "restore", forgetful):
        assert differing(DAY + expected, range(20)) > 0


def test_rows_come_late_where_only_the_end_counts() -> None:
    """A session that takes only what happened since the last query time is found out."""
    give = Session.give

    def punctual(self: Session, items: Any) -> None:
        after = self.last if self.last is not None else self.start
        give(self, [t for t in items if min(t.table.column("start").to_pylist()) > after])

    with patch.object(Session, "give", punctual):
        assert differing(DAY + FINAL, range(20)) > 0


def test_programs_run_as_streams(tmp_path: Path) -> None:
    (tmp_path / "p.lars").write_text("busy(X) :- job(X) [3].\nlast(X) :- job(X) [1 #].\n")
    text = """\
rules: p.lars
narrative:
    job|1|1|ada
    job|4|4|eve
    job|4|4|bob
run: start 0, end 6
expect some:
    happens busy(ada): 1 2 3 4
    happens last(ada): 1 2 3
    happens last(bob): 4 5 6
"""
    (case,) = parse_cases(text, tmp_path / "day.case")
    assert [run_case(case, run=as_stream(seed)) for seed in range(10)] == [[]] * 10
    feed = ProgramEngine.feed

    def reversing(self: ProgramEngine, items: Any) -> None:
        feed(self, items[::-1])

    with patch.object(ProgramEngine, "feed", reversing):
        assert any(run_case(case, run=as_stream(seed)) for seed in range(10))


def test_a_seed_always_makes_the_same_stream() -> None:
    take = Session.take

    def queries(seed: int) -> list[int]:
        seen: list[int] = []

        def noted(self: Session, until: int, items: Any) -> Any:
            seen.append(until)
            return take(self, until, items)

        with patch.object(Session, "take", noted):
            differing(DAY + FINAL, range(seed, seed + 1))
        return seen

    assert queries(5) == queries(5)
    assert len({tuple(queries(seed)) for seed in range(5)}) > 1
