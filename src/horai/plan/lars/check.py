"""Checks of LARS programs that need all rules together, and the fragment a program is in.

They look at names and numbers of arguments, variables that nothing gives a value, and windows that
fit neither the clock nor what stands in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from horai.lang.core.diagnostics import Diagnostic, diagnostic, did_you_mean, sort_key
from horai.lang.core.terms import Span, Var, is_anonymous, variables
from horai.lang.lars import syntax as lars
from horai.lang.lars.clock import Clock, Incompatible
from horai.lang.lars.predicates import (
    asks_for_any,
    background,
    body_atoms,
    compared,
    derived,
    doubtful,
    head_predicates,
    inputs,
    is_computed,
    is_made,
)
from horai.lang.lars.printer import show, show_window
from horai.lang.lars.walk import atoms, children, formula_variables, own_terms, windows
from horai.lang.lars.windows import ByTime
from horai.plan.lars.dependencies import odd_loops


def finding(
    code: str,
    message: str,
    rule: lars.Rule,
    span: Span | None,
    hint: str | None = None,
    note: str | None = None,
) -> Diagnostic:
    """A finding at a place of a rule."""
    return diagnostic(code, message, rule.source, span or rule.span, hint, note)


def named(predicate: lars.Predicate) -> str:
    """A predicate as people write it: `tram/2`."""
    return f"{predicate[0]}/{predicate[1]}"


def all_named(predicates: Iterable[lars.Predicate]) -> list[str]:
    """Predicates as people write them, without those that nobody wrote."""
    return [named(one) for one in sorted(predicates) if not is_made(one[0])]


def written_at(rule: lars.Rule) -> str | None:
    """File and line of a rule, if it was written somewhere."""
    if rule.source is None or rule.span is None:
        return None
    line, _ = rule.source.position(rule.span[0])
    return f"{rule.source.name}:{line}"


_SHORTEST = 5
"""Shorter names are often alike on purpose."""


def other_numbers_of_arguments(program: lars.Program) -> Iterator[Diagnostic]:
    """A name that rules define, or know as a signal, with another number of arguments."""
    defined = {p for rule in program.rules for p in head_predicates(rule)}
    seen: dict[str, lars.Predicate] = {}
    for rule, atom in _asked(program, inputs(program)):
        others = sorted(p for p in defined if p[0] == atom.name)
        first = seen.setdefault(atom.name, atom.predicate)
        if others:
            message = f"{named(atom.predicate)} is asked for, and rules define {named(others[0])}"
            hint = "give it the same number of arguments, or another name if it is a signal"
            yield finding("H707", message, rule, atom.span, hint)
        elif first != atom.predicate:
            message = f"the signal {named(atom.predicate)} is asked for, and {named(first)} too"
            hint = "give both the same number of arguments; `_` stands for any value"
            yield finding("H707", message, rule, atom.span, hint)


def misspelt_names(program: lars.Program) -> Iterator[Diagnostic]:
    """A name that no rule defines, and that is close to one that is defined."""
    defined = {p for rule in program.rules for p in head_predicates(rule)}
    for rule, atom in _asked(program, inputs(program)):
        alike = {p[0] for p in defined if p[1] == len(atom.args)}
        if len(atom.name) < _SHORTEST or atom.name in {p[0] for p in defined}:
            continue
        near = did_you_mean(atom.name, alike)
        if near is not None and _has_same_ends(atom.name, near):
            message = f"no rule defines {named(atom.predicate)}, so it is taken for a signal"
            yield finding("H708", message, rule, atom.span, f"did you mean `{near}`?")


def signals_like_relations(program: lars.Program) -> Iterator[Diagnostic]:
    """`leq(X, Y)` beside `leq(X, Y) [3]`: the one in a window can only be a signal."""
    for rule, atom in doubtful(program):
        message = f"{named(atom.predicate)} is a signal here, for it is asked for in a window, too"
        meant = ", ".join(show(one) for one in compared(atom))
        hint = f"if numbers are to be compared, write `{meant}`"
        yield finding("H710", message, rule, atom.span, hint)


def _has_same_ends(one: str, other: str) -> bool:
    """Numbers and suffixes tell names apart on purpose: `sensor1`, `sensor2`."""
    return one[-1] == other[-1] and not any(c.isdigit() for c in one + other)


def _asked(
    program: lars.Program, wanted: set[lars.Predicate]
) -> Iterator[tuple[lars.Rule, lars.Atom]]:
    seen: set[lars.Predicate] = set()
    for rule in program.rules:
        for atom in body_atoms(rule):
            if atom.predicate in wanted and atom.predicate not in seen:
                seen.add(atom.predicate)
                yield rule, atom


_HINT = "add a condition, not under `not`, that mentions {}: an atom, or `{} = ...`"


def unsafe_variables(program: lars.Program) -> Iterator[Diagnostic]:
    """Every variable of a rule must get its values from a positive condition."""
    for rule in program.rules:
        known = bound_by(rule.body)
        if rule.head is not None:
            yield from _head(rule, rule.head, known)
        for condition in rule.body:
            if not _asks_for_any(condition):
                yield from _condition(rule, condition, known)
                continue
            # What is left of it when `_` stands for anything must get its values elsewhere.
            named = [v for v in formula_variables(condition).values() if not is_anonymous(v)]
            yield from _missing(rule, "H701", "this condition", named, known)


def _asks_for_any(condition: lars.Formula) -> bool:
    """True for `not b(_)` where what is negated finds values for all of its variables."""
    return (
        isinstance(condition, lars.Not)
        and asks_for_any(condition)
        and formula_variables(condition).keys() <= bound_by([condition.formula])
    )


def _head(rule: lars.Rule, head: lars.Head, known: set[str]) -> Iterator[Diagnostic]:
    if not isinstance(head, lars.Choice):
        yield from _missing(rule, "H700", "the head", formula_variables(head).values(), known)
        return
    for term in (head.least, head.most):
        if term is not None:
            yield from _missing(rule, "H700", "the head", variables(term).values(), known)
    for option in head.options:
        inner = known | bound_by(option.condition)
        yield from _missing(
            rule, "H700", "the head", formula_variables(option.head).values(), inner
        )
        for condition in option.condition:
            yield from _condition(rule, condition, inner)


def _condition(rule: lars.Rule, condition: lars.Formula, known: set[str]) -> Iterator[Diagnostic]:
    if isinstance(condition, lars.Aggregate):
        yield from _missing(rule, "H701", "the bound", variables(condition.bound).values(), known)
        for element in condition.elements:
            inner = known | bound_by(element.condition)
            for term in element.terms:
                yield from _missing(rule, "H702", "an aggregate", variables(term).values(), inner)
            for part in element.condition:
                yield from _condition(rule, part, inner)
        return
    for own in own_terms(condition):
        yield from _missing(rule, "H701", "this condition", variables(own).values(), known)
    for part in children(condition):
        yield from _condition(rule, part, known)


def _missing(
    rule: lars.Rule, code: str, where: str, used: Iterable[Var], known: set[str]
) -> Iterator[Diagnostic]:
    for var in used:
        if var.name in known:
            continue
        name = "`_`" if is_anonymous(var) else var.name
        hint = _HINT.format(name, name)
        if is_anonymous(var):
            hint = "name the variable and give it a value, or write a rule that leaves it out"
        message = f"nothing gives a value to {name} of {where}"
        yield finding(code, message, rule, var.span or rule.span, hint)


def bound_by(conditions: Iterable[lars.Formula]) -> set[str]:
    """The variables to which some conditions give values, together."""
    waiting = list(conditions)
    known: set[str] = set()
    grown = True
    while grown:
        able = (one for one in waiting if not _rests_on(one, waiting, known))
        found = set().union(*(_binds(condition, known) for condition in able))
        grown = not found <= known
        known |= found
    return known


def _rests_on(condition: lars.Formula, others: list[lars.Formula], known: set[str]) -> bool:
    """Does what an aggregate counts depend on a variable that has no value yet?

    A variable of its elements is its own unless it occurs elsewhere, outside of aggregates.
    """
    if not isinstance(condition, lars.Aggregate):
        return False
    inner = {n for e in condition.elements for part in e.condition for n in formula_variables(part)}
    elsewhere = set(variables(condition.bound))
    for other in others:
        if other is not condition:
            own = variables(other.bound) if isinstance(other, lars.Aggregate) else None
            elsewhere |= (formula_variables(other) if own is None else own).keys()
    return not inner & elsewhere <= known


def _binds(condition: lars.Formula, known: set[str]) -> set[str]:
    """The variables that a condition gives values to, when some have theirs."""
    match condition:
        case lars.Atom(args=args):
            return {name for arg in args if not is_computed(arg) for name in variables(arg)}
        case lars.At(time=time, formula=inner):
            own = {time.name} if isinstance(time, Var) else set()
            return own | _binds(inner, known)
        case lars.Within(window=lars.IntervalWindow(first=first, last=last), formula=inner):
            ends = variables(first).keys() | variables(last).keys()
            return _binds(inner, known) if ends <= known else set()
        case lars.Some() | lars.Always() | lars.Within() | lars.Reset():
            return _binds(condition.formula, known)
        case lars.And(parts=parts):
            return bound_by(parts)
        case lars.Or(parts=parts):
            return set.intersection(*(_binds(part, known) for part in parts))
        case lars.Comparison(sign="=", left=left, right=right):
            found = set()
            if isinstance(left, Var) and variables(right).keys() <= known:
                found.add(left.name)
            if isinstance(right, Var) and variables(left).keys() <= known:
                found.add(right.name)
            return found
        case lars.Aggregate(sign="=", bound=Var(name=name)):
            return {name}
        case _:
            return set()


def clocked_windows(program: lars.Program, clock: Clock) -> Iterator[Diagnostic]:
    """H703, H709: durations are whole numbers of time points, and no hop leaves points out."""
    for rule, within in [(r, one) for r in program.rules for one in windows(r)]:
        window = within.window
        try:
            points = window.in_points(clock).selection()
        except Incompatible as wrong:
            message = f"a window that does not fit the clock: {wrong}"
            hint = f"use a multiple of {clock}, or a clock that divides all windows"
            yield finding("H703", message, rule, window.span, hint)
            continue
        if not (isinstance(window, lars.TimeWindow) and isinstance(points, ByTime)):
            continue
        if window.hop is not None and points.past + points.future < points.low_hop:
            message = f"the window {show_window(window)} hops by more than its length"
            hint = f"make it longer; `[{window.hop} tumbling]` is one window after the other"
            note = "time points between two such windows are in none of them"
            yield finding("H709", message, rule, window.span, hint, note)


def misplaced_in_windows(program: lars.Program) -> Iterator[Diagnostic]:
    """H705: background, which holds at all times; H706: tuple windows see signals only."""
    timeless, made = background(program), derived(program)
    for rule, within in [(r, one) for r in program.rules for one in windows(r)]:
        counts = within.window.counts
        for atom in atoms(within.formula):
            if atom.predicate in timeless:
                message = f"the background predicate {named(atom.predicate)} in a window"
                hint = "leave the window out; if it is a signal, leave its facts out"
                note = "facts hold at all times, so a window changes nothing"
                yield finding("H705", message, rule, atom.span, hint, note)
            elif counts and atom.predicate in made:
                message = f"{named(atom.predicate)} is derived, and stands in a tuple window"
                hint = "use a time window, or ask for the signals it is derived from"
                note = "tuple windows count signals, and contain nothing else"
                yield finding("H706", message, rule, atom.span, hint, note)


def check(program: lars.Program, clock: Clock) -> list[Diagnostic]:
    """All that is wrong or doubtful in a program that could be read.

    >>> from horai.lang.lars.reader import read_text
    >>> [f.code for f in check(read_text("h(X) :- not b(X) [3 s].")[0], Clock(2, "s"))]
    ['H700', 'H701', 'H703']
    """
    found = [
        *unsafe_variables(program),
        *clocked_windows(program, clock),
        *_loops(program),
        *misplaced_in_windows(program),
        *other_numbers_of_arguments(program),
        *misspelt_names(program),
        *signals_like_relations(program),
    ]
    return sorted(found, key=sort_key)


def _loops(program: lars.Program) -> Iterator[Diagnostic]:
    for path, rule in odd_loops(program):
        way = " -> ".join(named(predicate) for predicate in path)
        message = f"{named(path[0])} depends on its own negation: {way}"
        hint = "if this is meant to exclude something, write a constraint: `:- body.`"
        note = "where the loop closes for the same arguments there is no answer"
        yield finding("H704", message, rule, rule.span, hint, note)
