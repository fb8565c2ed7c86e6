"""The dependencies of a LARS program, predicate by predicate."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from horai.lang.lars import syntax as lars
from horai.lang.lars.predicates import background, derived, head_predicates, inputs, is_made
from horai.lang.lars.walk import children
from horai.plan.graphs import Digraph


@dataclass(frozen=True, slots=True)
class PredicateDependency:
    """A head that needs a predicate, and whether it must be settled before.

    `negative` is a predicate under `not`; aggregates must be settled before too, but deny nothing.
    """

    head: lars.Predicate
    needs: lars.Predicate
    negative: bool
    strict: bool
    rule: lars.Rule


def dependencies(
    program: lars.Program, wanted: Collection[lars.Predicate] | None = None
) -> list[PredicateDependency]:
    """All dependencies on predicates that rules derive, or on those that are wanted."""
    defined = derived(program) if wanted is None else wanted
    return [
        PredicateDependency(head, needs, negative, strict, rule)
        for rule in program.rules
        for head in sorted(head_predicates(rule))
        for needs, negative, strict in _needs(rule)
        if needs in defined
    ]


def _needs(rule: lars.Rule) -> Iterator[tuple[lars.Predicate, bool, bool]]:
    for condition in rule.conditions:
        yield from _asked(condition, negative=False, strict=False)


def _asked(
    formula: lars.Formula, negative: bool, strict: bool
) -> Iterator[tuple[lars.Predicate, bool, bool]]:
    match formula:
        case lars.Atom():
            yield (formula.predicate, negative, negative or strict)
        case lars.Not(formula=inner):
            yield from _asked(inner, True, strict)
        case lars.Implies(left=left, right=right):
            yield from _asked(left, True, strict)
            yield from _asked(right, negative, strict)
        case _:
            strict = strict or isinstance(formula, lars.Aggregate)
            for part in children(formula):
                yield from _asked(part, negative, strict)


def graph(program: lars.Program) -> Digraph[lars.Predicate]:
    """An edge from every head to what it needs."""
    nodes = sorted(derived(program))
    return Digraph([(d.head, d.needs) for d in dependencies(program)], nodes)


def strata(program: lars.Program) -> list[frozenset[lars.Predicate]] | None:
    """Derived predicates in an order in which they can be settled; None if there is none.

    Predicates that need each other stand together. There is no order when a predicate needs itself
    through `not` or an aggregate, or when rules leave a choice.
    """
    if any(isinstance(rule.head, lars.Choice | lars.Or) for rule in program.rules):
        return None
    needs = graph(program)
    place = needs.component_of()
    if any(d.strict and place[d.head] == place[d.needs] for d in dependencies(program)):
        return None
    return needs.components()[::-1]  # the graph leads from heads to what they need


def odd_loops(program: lars.Program) -> Iterator[tuple[list[lars.Predicate], lars.Rule]]:
    """Loops through an odd number of negations, each with a rule that closes it with one.

    Names only are looked at, so that such a loop need not be one for the same arguments.
    """
    found = dependencies(program)
    marked: Digraph[tuple[lars.Predicate, bool]] = Digraph()
    for d in found:
        for parity in (False, True):
            marked.add_edge((d.head, parity), (d.needs, parity != d.negative))
    seen: set[frozenset[lars.Predicate]] = set()
    for d in found:
        if not d.negative:
            continue
        path = marked.path((d.needs, False), (d.head, False))
        if path is not None and (members := frozenset(node for node, _ in path)) not in seen:
            seen.add(members)
            yield [d.head, *(node for node, _ in path)], d.rule


@dataclass(frozen=True, slots=True)
class Readings:
    """The derived predicates and their readings: what is read for what, whether under `not`."""

    derived: frozenset[lars.Predicate]
    edges: dict[tuple[lars.Predicate, lars.Predicate], bool]


def readings_of(program: lars.Program, with_inputs: bool = False) -> Readings:
    """Among what rules derive; `with_inputs` also of signals and background."""
    made = {one for one in derived(program) if not is_made(one[0])}
    outside = inputs(program) | background(program) if with_inputs else set[lars.Predicate]()
    found = sorted(dependencies(program, made | outside), key=lambda one: one.negative)
    return Readings(frozenset(made), {(one.needs, one.head): one.negative for one in found})
