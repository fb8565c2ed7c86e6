"""The cases of the folder `cases`, on every engine there is."""

from __future__ import annotations

import pytest
from tests.lars.casefiles import Case, cases

import horai
from horai.errors import UsageError
from horai.runtime.engines import AUTO
from horai.runtime.lars.answers import written
from horai.runtime.lars.engines import LARS_ENGINES

CASES = cases()


def answers(case: Case, engine: str) -> dict[int, list[list[str]]]:
    result = horai.loads(case.program, language="lars").run(
        case.rows, clock=case.clock, start=0, end=max(case.answers), engine=engine, models="all"
    )
    return {
        time: sorted(sorted(map(written, model)) for model in result.at(time).models)
        for time in case.answers
    }


@pytest.mark.parametrize("engine", [AUTO, *LARS_ENGINES])
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_case(case: Case, engine: str) -> None:
    if engine in case.refused_by:
        with pytest.raises(UsageError, match=f"the engine {engine} does not run this"):
            answers(case, engine)
    else:
        assert answers(case, engine) == case.answers


def test_names_of_cases_are_different() -> None:
    assert len({case.name for case in CASES}) == len(CASES) > 30
    assert all(case.answers for case in CASES)
    assert all(case.refused_by < {*LARS_ENGINES} for case in CASES)
