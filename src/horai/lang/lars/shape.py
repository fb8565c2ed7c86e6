"""Rules that read well and yet mean nothing: `always` without an end, patterns with variables."""

from __future__ import annotations

from horai.lang.lars.formulas import Builder
from horai.lang.lars.syntax import (
    Always,
    FilterWindow,
    Formula,
    Head,
    IntervalWindow,
    Reset,
    Rule,
    TimeWindow,
    TupleWindow,
    Window,
    Within,
    is_range,
)
from horai.lang.lars.walk import children, own_terms, subformulas
from horai.lang.terms import Span, Var, is_anonymous, subterms

_NOWHERE = (0, 0)


def check_rule(rule: Rule, builder: Builder) -> None:
    """Say what makes no sense in a rule, whatever the rest of the program is."""
    parts: tuple[Head, ...] = rule.body if rule.head is None else (rule.head, *rule.body)
    for part in parts:
        _check_always(part, builder, has_end=False)
        for inner in subformulas(part):
            if isinstance(inner, Within) and isinstance(inner.window, FilterWindow):
                _check_patterns(inner.window, builder)
    _check_ranges(rule.body, builder)


def _check_always(part: Head, builder: Builder, has_end: bool, windows: bool = False) -> None:
    """`always` speaks about all points; time has no last one, so a window must set an end."""
    if isinstance(part, Always) and not has_end:
        hint = "add a window: `always a [5 s]`, or `always a [inf]` for everything so far"
        message = "`always` has no window"
        if windows:
            message = "`always` is about a window without a last point"
            hint = "[only p] and windows up to a signal to come have none; `[5 s]` and `[3 #]` do"
        builder.say("H609", message, part.span or _NOWHERE, hint)
        has_end = True
    if isinstance(part, Reset):
        has_end, windows = False, False
    elif isinstance(part, Within):
        has_end, windows = has_end or _has_end(part.window), True
    for inner in children(part):
        _check_always(inner, builder, has_end, windows)


def _has_end(window: Window) -> bool:
    match window:
        case TimeWindow(future=future):
            return future.amount is not None
        case TupleWindow(future=future) if future == 0:
            return True
        case IntervalWindow():
            return True
        case FilterWindow():
            return False
        case _:
            return window.future == 0


def _check_patterns(window: FilterWindow, builder: Builder) -> None:
    for pattern in window.patterns:
        for term in pattern.args or ():
            for part in subterms(term):
                if isinstance(part, Var) and not is_anonymous(part):
                    span: Span = part.span or window.span or _NOWHERE
                    hint = "write `_` for any value; to compare values, use the condition itself"
                    builder.say("H610", f"the variable {part.name} in a filter", span, hint)


def _check_ranges(body: tuple[Formula, ...], builder: Builder) -> None:
    for condition in body:
        for part in subformulas(condition):
            for term in own_terms(part):
                if any(is_range(inner) for inner in subterms(term)):
                    span = term.span or part.span or _NOWHERE
                    hint = "write a fact of its own, number(1..9)., and ask for number(X)"
                    builder.say("H607", "a range stands only in a fact", span, hint)
