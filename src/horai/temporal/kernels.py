"""Compiled loops that need not be compiled, or even loaded, for a handful of rows.

Loading one compiled function takes as long as a hundred rows in plain Python. So a kernel runs as
it is written while it has met only few rows, and compiled from then on. Kernels call no other
kernels: numba would not see that one of those has changed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np
from numba import njit

P = ParamSpec("P")
R = TypeVar("R")

FEW = 300  # rows, all that a kernel has met taken together


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Run a loop over arrays compiled, once that pays."""
    compiled: Callable[P, R] = njit(cache=True)(function)
    met = 0

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        nonlocal met
        if met <= FEW:
            met += sum(arg.size for arg in args if isinstance(arg, np.ndarray)) + 1
        return (compiled if met > FEW else function)(*args, **kwargs)

    vars(run)["compiled"] = compiled
    return run
