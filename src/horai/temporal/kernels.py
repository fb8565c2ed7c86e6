"""Compiled loops that need not be compiled, or even loaded, for a handful of rows.

Numba takes as long to load as half a million rows take in plain Python, and one compiled function
as long as a few thousand. So loops run as they are written while they have met only few rows, and
until then numba is not even imported. Kernels call no other kernels, but functions that are
`inside` of them: who changes one in another file deletes the stored code of its callers, for numba
does not see the change.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])

FEW = 2_000  # rows, all that a kernel has met taken together
FEW_IN_ALL = 400_000  # the same for all kernels, before numba is loaded
MANY = 10_000  # rows of one call after which there are many more to come


class Loader:
    """Imports numba when that pays, and makes functions that are inside of kernels known to it."""

    def __init__(self) -> None:
        self.met = 0
        self._waiting: list[tuple[Callable[..., Any], dict[str, Any]]] = []

    def add(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        """A function that kernels call."""
        self._waiting.append((function, options))

    def compiled(self, function: Callable[P, R], options: dict[str, Any]) -> Callable[P, R]:
        """The function, which numba compiles, or loads, when it is called."""
        from numba import njit

        self.met = max(self.met, FEW_IN_ALL + 1)  # it is loaded now, for all kernels
        while self._waiting:
            inside, how = self._waiting.pop()
            dispatcher = njit(cache=True, **how)(inside)
            # By these numba knows what it may call and what it is to inline. The type does not keep
            # the dispatcher alive.
            vars(inside).update(
                compiled=dispatcher,
                _numba_type_=dispatcher._numba_type_,
                targetoptions=dispatcher.targetoptions,
                py_func=inside,
            )
        ready: Callable[P, R] = njit(cache=True, **options)(function)
        return ready


loader = Loader()


class Kernel(Generic[P, R]):
    """A loop over arrays. It is in plain Python until `few` rows have been met."""

    def __init__(self, function: Callable[P, R], few: int, options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self.function = function
        self.compiled: Callable[P, R] | None = None
        self._few = few
        self._met = 0
        self._options = options

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if self.compiled is None:
            if not self._pays(args):
                with np.errstate(over="ignore"):  # hashes overflow, compiled or not
                    return self.function(*args, **kwargs)
            self.compiled = loader.compiled(self.function, self._options)
        return self.compiled(*args, **kwargs)

    def _pays(self, args: tuple[object, ...]) -> bool:
        rows = _size(args) + 1
        self._met += rows
        loader.met += rows
        if _size(args[:1]) > MANY:  # other arguments may be tables that nobody goes through
            loader.met += FEW_IN_ALL
        return self._met > self._few and (loader.met > FEW_IN_ALL or self._few < 0)


def _size(args: tuple[object, ...]) -> int:
    """How many numbers the arrays hold."""
    found = 0
    for arg in args:
        if isinstance(arg, np.ndarray):
            found += arg.size
        elif isinstance(arg, tuple):
            found += _size(arg)
    return found


def kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Run a loop over arrays compiled, once that pays."""
    return Kernel(function, FEW, {})


def compiled(**options: Any) -> Callable[[Callable[P, R]], Kernel[P, R]]:
    """Run a loop compiled from its first call on, for callers that know that it pays."""
    return lambda function: Kernel(function, -1, options)


def inside(**options: Any) -> Callable[[F], F]:
    """A function that only kernels call; it is compiled with them."""

    def known(function: F) -> F:
        loader.add(function, options)
        return function

    return known


# Without arrays of its own a function need not count who holds those that it is given, which in
# tuples costs more than all the rest: what may have to grow is made outside of it.
lean = inside(_nrt=False)
