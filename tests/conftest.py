"""Settings of all tests: how long an example takes is no test result; compiled code is tested.

And what tests of several packages need: a Kafka broker.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import settings
from tests.brokers import Broker, broker

from horai.temporal.kernels import FEW_IN_ALL, Kernel, loader

settings.register_profile("horai", deadline=None, print_blob=True)
settings.load_profile("horai")

loader.met = FEW_IN_ALL  # so that tests meet compiled code as soon as long runs do


SHARED = Path(__file__).parents[2] / "shared" / "conformance"


def pytest_report_header() -> str:
    """Tests over cases that several projects share exist where these are at hand: say so."""
    found = ", ".join(sorted(path.name for path in SHARED.glob("*.json")))
    return f"shared cases: {found or f'none, since there is no {SHARED}'}"


@pytest.fixture(scope="module", params=["compiled", "as written"])
def way(request: pytest.FixtureRequest) -> Iterator[str]:
    """Kernels that are compiled at once, and then such as never are."""

    def run(kernel: Kernel[..., Any], *args: Any, **kwargs: Any) -> Any:
        with np.errstate(over="ignore"):
            return kernel.function(*args, **kwargs)

    name, how = ("_pays", lambda kernel, args: True)
    if request.param == "as written":
        name, how = "__call__", run
    with patch.object(Kernel, name, how):
        yield request.param


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A real broker, started when the first test of a process asks for it."""
    with broker(tmp_path_factory.mktemp("kafka")) as started:
        yield started
