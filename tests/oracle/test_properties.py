"""Random descriptions and streams obey the laws; the slow tests try thousands more."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.oracle.laws_of_rules import LAWS_OF_RULES
from tests.oracle.laws_of_streams import LAWS_OF_STREAMS

Law = Callable[[st.DataObject], None]
LAWS = (*LAWS_OF_STREAMS, *LAWS_OF_RULES)
QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@settings(max_examples=200, deadline=None, suppress_health_check=QUIET)
@given(data=st.data())
def test_law(law: Law, data: st.DataObject) -> None:
    law(data)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@settings(max_examples=1000, deadline=None, suppress_health_check=QUIET)
@given(data=st.data())
def test_law_at_length(law: Law, data: st.DataObject) -> None:
    law(data)
