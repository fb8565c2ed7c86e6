"""Windows that do not fit: to the clock, or to what stands in them."""

from __future__ import annotations

from collections.abc import Iterator

from horai.lang.diagnostics import Diagnostic
from horai.lang.lars.clock import Clock, Incompatible
from horai.lang.lars.points import counted
from horai.lang.lars.predicates import background, derived
from horai.lang.lars.printer import show_window
from horai.lang.lars.syntax import (
    Head,
    PartitionWindow,
    Program,
    Rule,
    TimeWindow,
    TupleWindow,
    Within,
)
from horai.lang.lars.walk import atoms, subformulas
from horai.plan.lars.findings import finding, named


def clocked_windows(program: Program, clock: Clock) -> Iterator[Diagnostic]:
    """Every duration must be a whole number of time points."""
    for rule, within in _windows(program):
        if isinstance(within.window, TimeWindow):
            try:
                counted(within.window, clock)
            except Incompatible as wrong:
                message = f"a window that does not fit the clock: {wrong}"
                hint = f"use a multiple of {clock}, or a clock that divides all windows"
                yield finding("H703", message, rule, within.window.span, hint)


def long_hops(program: Program, clock: Clock) -> Iterator[Diagnostic]:
    """A hop is at most as long as its window, or points are left out."""
    for rule, within in _windows(program):
        window = within.window
        if not isinstance(window, TimeWindow) or window.hop is None:
            continue
        try:
            points = counted(window, clock)
        except Incompatible:
            continue  # which is said already
        sizes = [points.past.amount, points.future.amount]
        hop = None if points.hop is None else points.hop.amount
        if hop is not None and None not in sizes and hop > sum(size or 0 for size in sizes):
            message = f"the window {show_window(window)} hops by more than its length"
            hint = f"make it longer; `[{window.hop} tumbling]` is one window after the other"
            note = "time points between two such windows are in none of them"
            yield finding("H709", message, rule, window.span, hint, note)


def windows_over_background(program: Program) -> Iterator[Diagnostic]:
    """What holds at all times does so in every window."""
    known = background(program)
    for rule, within in _windows(program):
        for atom in atoms(within.formula):
            if atom.predicate in known:
                message = f"the background predicate {named(atom.predicate)} in a window"
                hint = "leave the window out; if it is a signal, leave its facts out"
                note = "facts hold at all times, so a window changes nothing"
                yield finding("H705", message, rule, atom.span, hint, note)


def derived_in_tuple_windows(program: Program) -> Iterator[Diagnostic]:
    """Tuple windows see signals only."""
    known = derived(program)
    for rule, within in _windows(program):
        if isinstance(within.window, TupleWindow | PartitionWindow):
            for atom in atoms(within.formula):
                if atom.predicate in known:
                    message = f"{named(atom.predicate)} is derived, and stands in a tuple window"
                    hint = "use a time window, or ask for the signals it is derived from"
                    note = "tuple windows count signals, and contain nothing else"
                    yield finding("H706", message, rule, atom.span, hint, note)


def _windows(program: Program) -> Iterator[tuple[Rule, Within]]:
    for rule in program.rules:
        parts: tuple[Head, ...] = rule.body if rule.head is None else (rule.head, *rule.body)
        for part in parts:
            for inner in subformulas(part):
                if isinstance(inner, Within):
                    yield rule, inner
