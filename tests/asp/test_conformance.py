"""Shared conformance cases, where they are at hand."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.asp.comparing import atom, plain, program

from horai.asp.engine import AspSession
from horai.asp.tms import TmsSession
from horai.plan.lars.fragments import AnswerMode

FILE = Path(__file__).parents[3] / "shared" / "conformance" / "lars.json"
CASES: list[dict[str, Any]] = json.loads(FILE.read_text())["cases"] if FILE.is_file() else []


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
class TestConformance:
    __test__ = bool(CASES)  # without cases there is nothing to collect, and nothing to skip

    @pytest.mark.parametrize("grounding", ["fresh", "kept", "auto"])
    def test_all_answers_of_the_solver(self, case: dict[str, Any], grounding: str) -> None:
        session = AspSession(
            program(case["program"], case["clock"]),
            asked=AnswerMode(models=0),
            grounding=grounding,
        )
        expected = {check["time"]: check["answers"] for check in case["checks"]}
        for time in range(max(expected) + 1):
            new = [(time, atom(s["atom"])) for s in case["signals"] if s["time"] == time]
            found = session.advance(time, new)
            if time in expected:
                shown = [
                    sorted(plain(a) for a in model.at(time) if a.name in case["shown"])
                    for model in found.models
                ]
                assert sorted(shown) == sorted(sorted(answer) for answer in expected[time])

    def test_the_answer_of_truth_maintenance(self, case: dict[str, Any]) -> None:
        session = TmsSession(program(case["program"], case["clock"]))
        expected = {check["time"]: check["answers"] for check in case["checks"]}
        for time in range(max(expected) + 1):
            new = [(time, atom(s["atom"])) for s in case["signals"] if s["time"] == time]
            (model,) = session.advance(time, new).models
            if time in expected:
                shown = sorted(plain(a) for a in model.at(time) if a.name in case["shown"])
                assert shown in [sorted(answer) for answer in expected[time]]
