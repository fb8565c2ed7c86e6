"""Everything here is to be the same whether kernels are compiled or not."""

import pytest


@pytest.fixture(autouse=True, scope="module")
def both_ways(way: str) -> str:
    """All tests run both ways."""
    return way
