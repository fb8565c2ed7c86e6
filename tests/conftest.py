"""Settings of all tests: how long an example takes is no test result; compiled code is tested."""

from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import settings

from horai.temporal.kernels import FEW_IN_ALL, Kernel, loader

settings.register_profile("horai", deadline=None, print_blob=True)
settings.load_profile("horai")

loader.met = FEW_IN_ALL  # so that tests meet compiled code as soon as long runs do


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
