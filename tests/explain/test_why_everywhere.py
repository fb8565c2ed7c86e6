"""What examples, cases and random runs find is proved, and each proof checked."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from tests.engine.itemtables import row
from tests.explain.checking import questions, wrong
from tests.strategies.delays import DelayRun, delay_runs
from tests.strategies.runs import Run, runs
from tests.strategies.wild_parts import PREDICATES
from tests.weights import exactly, examples

import horai
from horai import io
from horai.cli.workload import choose, run_rules
from horai.errors import RunError
from horai.lang.core.diagnostics import RulesError
from horai.rules import Rules
from horai.testing import Case, case_rules, find_cases, is_about_lars, narrative_of, read_cases

ROOT = Path(__file__).parents[2]
FOLDERS = [ROOT / "examples" / name for name in ("toy", "harbour")]
LARGE = ("feedback", "activities", "citytransport", "fleet", "maritime", "netbill", "voting")
CASES = [case for path in find_cases([ROOT / "tests" / "cases"]) for case in read_cases(path)]
DEEP = 1000


def mistakes(result: horai.Result, most: int) -> list[str]:
    """What is wrong with the proofs of what a run has found; not of all of it, if it is much."""
    asked = list(questions(result))
    some = asked[:: max(1, len(asked) // most)]
    return wrong(result, [result.why(what, at, depth=DEEP) for what, at in some])


# --- examples and cases --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "folder",
    [*FOLDERS, *(pytest.param(ROOT / "examples" / n, marks=pytest.mark.slow) for n in LARGE)],
    ids=lambda folder: folder.name,
)
def test_an_example(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    chosen = choose()
    rules = chosen.load()
    result = run_rules(rules, chosen, chosen.settings("run", {}), True)
    assert mistakes(result, 10) == []


def cases(every: int) -> Iterator[tuple[Case, Rules]]:
    """The cases that are accepted: all, or one out of so many."""
    for case in CASES[::every]:
        if case.errors is None and not is_about_lars(case):
            try:
                yield case, case_rules(case)
            except RulesError:
                continue


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_the_cases(every: int) -> None:
    """Each is proved; the proofs of another engine are the same."""
    found: dict[str, list[str]] = {}
    tried = 0
    for case, rules in cases(every):
        settings: dict[str, Any] = dict(case.settings)
        try:
            result = rules.run(narrative_of(case), **settings)
            other = rules.run(narrative_of(case), engine="reference", **settings)
        except (RunError, io.InputError):
            continue
        if not result.steps:
            continue
        tried += 1
        asked = list(questions(result))[:8]
        proofs = [result.why(what, at, depth=DEEP) for what, at in asked]
        if wrongs := wrong(result, proofs):
            found[f"{case.file.name}: {case.title}"] = wrongs
        assert proofs == [other.why(what, at, depth=DEEP) for what, at in asked]
    assert (found, tried > 200 // every) == ({}, True)


# --- random runs ---------------------------------------------------------------------------------


@examples("heavy")
@given(runs())
def test_random_runs(run: Run) -> None:
    check_random(run)


@pytest.mark.slow
@exactly(10_000)
@given(runs())
def test_ten_thousand_random_runs(run: Run) -> None:
    check_random(run)


@examples("heavy")
@given(delay_runs())
def test_random_delays(run: DelayRun) -> None:
    """Deadlines by value, of lengths that depend on the instance, with conditions of any kind."""
    try:
        rules = horai.loads(run.rules)
    except RulesError:
        return
    check_run(rules, run.narrative, tick=run.settings["tick"], end=60, start=0)


def check_random(run: Run) -> None:
    rules = horai.loads(run.described.text, predicates=PREDICATES)
    rows = [row(item, number) for number, item in enumerate(run.items, 1)]
    check_run(rules, io.Narrative.from_items(rows), tick=run.described.tick, end=60, start=0)


def check_run(rules: Rules, given: object, **settings: Any) -> None:
    """Prove some of what a run finds, by an engine of any kind."""
    try:
        result = rules.run(given, **settings)
    except RunError:
        return
    assert mistakes(result, 12) == []
