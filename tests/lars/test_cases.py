"""The cases of the folder `cases`, on every engine there is."""

from __future__ import annotations

import pytest
from tests.lars.casefiles import Case, cases

from horai import lars
from horai.lars_engines import AUTO, LARS_ENGINES
from horai.lars_result import written

CASES = cases()


@pytest.mark.parametrize("engine", [AUTO, *LARS_ENGINES])
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_case(case: Case, engine: str) -> None:
    result = lars.loads(case.program).run(
        case.rows, clock=case.clock, start=0, end=max(case.answers), engine=engine, models="all"
    )
    found = {
        time: sorted(sorted(map(written, model)) for model in result.at(time).models)
        for time in case.answers
    }
    assert found == case.answers


def test_names_of_cases_are_different() -> None:
    assert len({case.name for case in CASES}) == len(CASES) > 30
    assert all(case.answers for case in CASES)
