"""Every case of the project, and the shared ones where they are at hand, on Spark.

All cases run in the same few jobs, each with rules and query times of its own.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.spark.support import told

import horai
from horai.lang.diagnostics import RulesError
from horai.result import Result
from horai.spark.cluster import SparkGrid
from horai.sparking import Job, job_of, run_jobs
from horai.testing import Case, case_rules, compare, find_cases, narrative_of, read_cases

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "conformance" / "event-calculus.json"
BUCKETS = 3


def jobs_of_cases() -> list[tuple[Case, Job]]:
    """The cases whose rules can be run."""
    found: list[tuple[Case, Job]] = []
    for path in find_cases([ROOT / "tests" / "cases", ROOT / "examples"]):
        for case in read_cases(path):
            try:
                rules = case_rules(case)
            except RulesError:
                continue  # cases about refused rules never run
            settings: dict[str, Any] = dict(case.settings)
            found.append((case, job_of(rules, narrative_of(case), **settings)))
    return found


def in_one_process(job: Job, settings: dict[str, Any]) -> Result | Exception:
    try:
        return job.rules.run(job.input, **settings)
    except Exception as error:
        return error


def test_every_case_of_the_project(grid: SparkGrid) -> None:
    cases = jobs_of_cases()
    assert len(cases) > 150
    wrong: list[str] = []
    for (case, job), found in zip(
        cases, run_jobs(grid, [job for _, job in cases], BUCKETS), strict=True
    ):
        name = f"{case.file.name}:{case.line} {case.title}"
        if isinstance(found, Result):
            wrong += [f"{name}: {d.place}: {d.sign} {d.text}" for d in compare(case, found)]
        if told(found) != told(in_one_process(job, dict(case.settings))):
            wrong.append(f"{name}: not the answer of one process")
    assert wrong == []


class TestShared:
    __test__ = SHARED.is_file()  # without cases there is nothing to collect, and nothing to skip

    def test_every_shared_case(self, grid: SparkGrid) -> None:
        cases = json.loads(SHARED.read_text(encoding="utf-8"))["cases"]
        names = ("window", "step", "start", "end", "tick")
        settings = [{name: case[name] for name in names} for case in cases]
        jobs = [
            job_of(horai.loads(case["rules"], case["background"]), case["narrative"], **some)
            for case, some in zip(cases, settings, strict=True)
        ]
        found = run_jobs(grid, jobs, BUCKETS)
        wrong = [
            case["id"]
            for case, job, some, result in zip(cases, jobs, settings, found, strict=True)
            if told(result) != told(in_one_process(job, some))
        ]
        assert wrong == []
