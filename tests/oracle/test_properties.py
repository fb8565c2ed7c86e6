"""Random descriptions and streams obey the laws; the slow tests try thousands more."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.oracle.laws import LAWS

Law = Callable[[st.DataObject], None]
QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@settings(max_examples=200, deadline=None, suppress_health_check=QUIET)
@given(data=st.data())
def test_law(law: Law, data: st.DataObject) -> None:
    law(data)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@settings(max_examples=2000, deadline=None, suppress_health_check=QUIET)
@given(data=st.data())
def test_law_at_length(law: Law, data: st.DataObject) -> None:
    law(data)
