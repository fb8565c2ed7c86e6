"""The semantic checks: one function each, run in this order, all findings at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from horai.lang.core.diagnostics import Diagnostic, Severity, sort_key
from horai.lang.core.terms import Span
from horai.lang.ec.syntax import EventDescription
from horai.plan.check import cycles, delays, doubts, names, safety, types
from horai.plan.check.context import CheckContext
from horai.plan.ec.modes import PythonPredicate

Check = Callable[[CheckContext], Iterator[Diagnostic]]

CHECKS: tuple[Check, ...] = (
    names.mistyped_entities,
    names.undefined_fluents,
    names.arity_mismatches,
    names.value_mismatches,
    names.events_that_are_fluents,
    names.values_of_two_sorts,
    names.never_initiated,
    names.unknown_predicates,
    names.unknown_functions,
    names.declared_inputs,
    names.declared_outputs,
    names.declared_sorts,
    names.indices,
    names.caching_orders,
    names.input_forms,
    names.collected_grounds,
    safety.unbound_variables,
    safety.fluents_left_out,
    safety.unusable_predicates,
    safety.slow_times,
    safety.singletons,
    safety.separate_negations,
    safety.holds_at_heads,
    cycles.static_cycles,
    cycles.looking_ahead,
    cycles.same_time_cycles,
    cycles.negative_cycles,
    doubts.duplicate_facts,
    delays.late_effects,
    delays.cancelling_effects,
    delays.effects_of_nothing,
    delays.effects_on_itself,
    delays.nothing_to_postpone,
    delays.several_times,
    delays.lengths_known_too_late,
    delays.lengths_that_are_none,
    doubts.duplicate_rules,
    doubts.never_fires,
    doubts.groundings_of_nothing,
    doubts.empty_domains,
    types.type_conflicts,
)


def check(
    description: EventDescription,
    python_predicates: Iterable[str | PythonPredicate] = (),
    found: Iterable[Diagnostic] = (),
) -> list[Diagnostic]:
    """Everything wrong or doubtful about a description, in the order of the text.

    `found` is what reading found: what is reported there is not reported again.

    >>> from horai.lang.ec.reader import read_text
    >>> description, _ = read_text("initiatedAt(on(X)=true, T) :- happensAt(up, T).")
    >>> [finding.code for finding in check(description)]
    ['H300']
    """
    context = CheckContext(description, python_predicates)
    known = {_start(diagnostic) for diagnostic in found}
    findings = [finding for one in CHECKS for finding in one(context)]
    # A variable without a value is often also one that occurs once: the error says enough.
    errors = {_place(f) for f in findings if f.severity is Severity.ERROR}
    kept = [
        f
        for f in findings
        if _start(f) not in known and not (f.code == "H309" and _place(f) in errors)
    ]
    return sorted(kept, key=sort_key)


def _place(diagnostic: Diagnostic) -> tuple[str, Span | None]:
    return (diagnostic.source.name if diagnostic.source else "", diagnostic.span)


def _start(diagnostic: Diagnostic) -> tuple[str, int | None]:
    """Reading underlines a name, a check the whole term: they start at the same place."""
    file, span = _place(diagnostic)
    return (file, span[0] if span else None)
