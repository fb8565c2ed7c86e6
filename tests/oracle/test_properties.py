"""Random descriptions and streams obey the laws; the slow tests try thousands more."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.laws_of_rules import LAWS_OF_RULES
from tests.oracle.laws_of_streams import LAWS_OF_STREAMS
from tests.weights import examples

Law = Callable[[st.DataObject], None]
LAWS = (*LAWS_OF_STREAMS, *LAWS_OF_RULES)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@examples("heavy")
@given(data=st.data())
def test_law(law: Law, data: st.DataObject) -> None:
    law(data)
