"""Checks of LARS programs that need all rules together, and the fragment a program is in."""

from __future__ import annotations

from collections.abc import Iterator

from horai.lang.diagnostics import Diagnostic, sort_key
from horai.lang.lars.clock import Clock
from horai.lang.lars.syntax import Program
from horai.plan.lars.dependencies import odd_loops
from horai.plan.lars.findings import finding, named
from horai.plan.lars.fragments import Classification, Fragment, classify
from horai.plan.lars.names import misspelt_names, other_numbers_of_arguments
from horai.plan.lars.safety import unsafe_variables
from horai.plan.lars.windows import (
    clocked_windows,
    derived_in_tuple_windows,
    long_hops,
    windows_over_background,
)

__all__ = ["Classification", "Fragment", "check", "classify"]


def check(program: Program, clock: Clock) -> list[Diagnostic]:
    """All that is wrong or doubtful in a program that could be read.

    >>> from horai.lang.lars.reader import read_text
    >>> [f.code for f in check(read_text("h(X) :- not b(X) [3 s].")[0], Clock(2, "s"))]
    ['H700', 'H701', 'H703']
    """
    found = [
        *unsafe_variables(program),
        *clocked_windows(program, clock),
        *long_hops(program, clock),
        *_loops(program),
        *windows_over_background(program),
        *derived_in_tuple_windows(program),
        *other_numbers_of_arguments(program),
        *misspelt_names(program),
    ]
    return sorted(found, key=sort_key)


def _loops(program: Program) -> Iterator[Diagnostic]:
    for path, rule in odd_loops(program):
        way = " -> ".join(named(predicate) for predicate in path)
        message = f"{named(path[0])} depends on its own negation: {way}"
        hint = "if this is meant to exclude something, write a constraint: `:- body.`"
        note = "where the loop closes for the same arguments there is no answer"
        yield finding("H704", message, rule, rule.span, hint, note)
