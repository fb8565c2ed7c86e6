"""The context of the checks: results of the other passes, each computed when first asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from horai.lang.core.diagnostics import Diagnostic, diagnostic
from horai.lang.core.printer import show
from horai.lang.core.source import SourceText
from horai.lang.core.terms import Span, Term, Var, subterms
from horai.lang.ec import syntax as ec
from horai.plan.ec.components import Strata, stratify
from horai.plan.ec.dependencies import DependencyGraph, dependency_graph
from horai.plan.ec.entities import Entities, find_entities
from horai.plan.ec.literals import body_literals
from horai.plan.ec.modes import ModeTable, PythonPredicate
from horai.plan.ec.predicates import Predicate, find_predicates, mode_table
from horai.plan.ec.rule_order import Orderer, RuleOrder, not_computed

_FRESH = re.compile(r"(?<=[A-Za-z])~\d+")


class CheckContext:
    """A description and all that is known of it."""

    def __init__(
        self, description: ec.EventDescription, python: Iterable[str | PythonPredicate] = ()
    ) -> None:
        self.description = description
        self.python = tuple(python)

    @cached_property
    def entities(self) -> Entities:
        """Events and fluents."""
        return find_entities(self.description)

    @cached_property
    def predicates(self) -> dict[tuple[str, int], Predicate]:
        """Background predicates."""
        return find_predicates(self.description, self.python)

    @cached_property
    def table(self) -> ModeTable:
        """The modes of callable predicates."""
        return mode_table(self.predicates, self.python)

    @cached_property
    def orders(self) -> list[RuleOrder]:
        """All rules in an order that can be evaluated."""
        return Orderer(self.description, self.table).orders

    @cached_property
    def not_computed(self) -> frozenset[int]:
        """Rules, by identity, that are defined on purpose without a grounding."""
        return not_computed(self.description, self.orders, self.entities)

    @cached_property
    def graph(self) -> DependencyGraph:
        """The dependency graph."""
        return dependency_graph(self.description)

    @cached_property
    def strata(self) -> Strata:
        """Components and levels."""
        return stratify(self.graph)

    @cached_property
    def called(self) -> dict[ec.Key, list[tuple[ec.Call, ec.Clause]]]:
        """The calls that rules make, also through the background predicates they use."""
        inner: dict[ec.Key, list[tuple[ec.Call, ec.Clause]]] = {}
        found: dict[ec.Key, list[tuple[ec.Call, ec.Clause]]] = {}
        queue: list[tuple[ec.Call, ec.Clause]] = []
        for rule in self.description.rules:
            calls = [(c, rule.clause) for c in body_literals(rule) if isinstance(c, ec.Call)]
            if isinstance(rule, ec.BackgroundRule):
                inner.setdefault(rule.key, []).extend(calls)
            else:
                queue.extend(calls)
        while queue:
            call, clause = queue.pop(0)
            if call.key not in found:
                queue.extend(inner.get(call.key, ()))
            found.setdefault(call.key, []).append((call, clause))
        return found


def finding(
    code: str,
    message: str,
    clause: ec.Clause,
    term: Term | None = None,
    hint: str | None = None,
    note: str | None = None,
) -> Diagnostic:
    """A finding about a term of a clause, or about the whole clause."""
    span: Span | None = term.span if term is not None else None
    where = span or clause.span
    return diagnostic(code, message, clause.source, where, hint, note)


def quoted(term: Term) -> str:
    """A term in a message, without the numbers that tell variables of our own apart."""
    return f"`{_FRESH.sub('', show(term))}`"


def find_variable(term: Term, name: str) -> Var | None:
    """Where a variable is written inside a term."""
    for part in subterms(term):
        if isinstance(part, Var) and part.name == name and part.span is not None:
            return part
    return None


def listed(words: Iterable[str], last: str = "and") -> str:
    """Words as people list them.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    every = list(words)
    if len(every) < 2:
        return "".join(every)
    return f"{', '.join(every[:-1])} {last} {every[-1]}"


def place_of(clause: ec.Clause, term: Term | None = None, home: SourceText | None = None) -> str:
    """Where a clause, or a term of it, stands; the file is named when it is another than `home`."""
    span = term.span if term is not None and term.span is not None else clause.span
    line = clause.source.position(span[0])[0]
    if home is None or clause.source is home:
        return f"line {line}"
    return f"{clause.source.name}:{line}"


def arguments(count: int) -> str:
    """A number of arguments in words.

    >>> arguments(1)
    '1 argument'
    """
    return {0: "no arguments", 1: "1 argument"}.get(count, f"{count} arguments")
