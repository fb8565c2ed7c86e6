"""Which predicates depend on which: recursion, and cycles through an odd number of negations."""

from __future__ import annotations

from horai.asp.plain import Choosing, Measure, Ordinary, PlainProgram, PlainRule, WindowAtom
from horai.lang.lars.syntax import Predicate
from horai.plan.graphs import Digraph

Signed = tuple[Predicate, bool]
"""A predicate, reached through an even (False) or odd (True) number of negations."""


class Dependencies:
    """The dependency graph of a program, from heads to bodies."""

    def __init__(self, program: PlainProgram) -> None:
        self.program = program
        graph = Digraph[Predicate](nodes=program.derived)
        for rule in program.rules:
            graph.add_edges((head, used) for head in _heads(rule) for used, _ in _used(rule))
        self.component: dict[Predicate, int] = {}
        for number, together in enumerate(graph.components()):
            self.component.update(dict.fromkeys(together, number))

    def is_recursive(self, rule: PlainRule) -> bool:
        """Whether what a rule derives may lead to more of it."""
        own = {self.component[head] for head in _heads(rule)}
        return any(self.component.get(used) in own for used, _ in _used(rule))

    def is_stratified(self) -> bool:
        """Whether nothing depends on its own negation: then there is one answer."""
        return not any(
            negated and self.component.get(used) == self.component[head]
            for rule in self.program.rules
            for head in _heads(rule)
            for used, negated in _used(rule)
        )

    def odd_loop(self) -> Predicate | None:
        """A predicate that depends on itself through an odd number of negations, if any does."""
        signed = Digraph[Signed]()
        for rule in self.program.rules:
            for head in _heads(rule):
                for used, negated in _used(rule):
                    if self.component[head] == self.component[used]:
                        signed.add_edge((head, False), (used, negated))
                        signed.add_edge((head, True), (used, not negated))
        for together in signed.components():
            for predicate, negated in sorted(together):
                if not negated and (predicate, True) in together:
                    return predicate
        return None


def _heads(rule: PlainRule) -> list[Predicate]:
    return [head.atom.predicate for head in rule.heads()]


def _used(rule: PlainRule) -> list[tuple[Predicate, bool]]:
    """The predicates of a body, with whether they are negated; in aggregates they may be both."""
    found = [
        (condition.element.atom.predicate, condition.negated)
        for condition in rule.conditions()
        if isinstance(condition.element, Ordinary | WindowAtom)
    ]
    if isinstance(rule.head, Choosing) or any(
        isinstance(condition.element, Measure) for condition in rule.body
    ):
        found.extend([(predicate, not negated) for predicate, negated in found])
    return found
