"""Columns of queries, and rules as a person would write them."""

from __future__ import annotations

from collections import Counter

from horai.lang.cql.syntax import Constant, Item, Reference, Select
from horai.lang.lars.syntax import Atom, Comparison, Formula, Rule
from horai.lang.lars.walk import bind, own_terms, subformulas
from horai.lang.terms import Bindings, Compound, Var, is_anonymous, subterms
from horai.relatives.cql_scope import Scope


def items_of(query: Select, scope: Scope) -> list[Item]:
    """The columns that a query selects, with `*` written out."""
    found: list[Item] = []
    for item in query.items or (Item(Reference(None, "*")),):
        if isinstance(item.expression, Reference) and item.expression.column == "*":
            found.extend(_all_of(item.expression, scope))
        else:
            found.append(item)
    return found


def _all_of(reference: Reference, scope: Scope) -> list[Item]:
    wanted = [r for r in scope.relations if reference.source in (None, r.alias)]
    if not wanted:
        scope.variable(reference)  # tells that there is no such source
    return [
        Item(Reference(relation.alias, column, reference.span))
        for relation in wanted
        for column in relation.columns
    ]


def columns_of(items: list[Item]) -> tuple[str, ...]:
    """The names of columns; those without one are numbered."""
    names: list[str] = []
    for number, item in enumerate(items, 1):
        own = item.name
        if own is None and isinstance(item.expression, Reference):
            own = item.expression.column
        names.append(own if own is not None and own not in names else f"column{number}")
    return tuple(names)


def is_computed(item: Item) -> bool:
    """Must the value of a column be worked out?"""
    return not isinstance(item.expression, Reference | Constant)


def finished(rule: Rule) -> Rule:
    """The rule with joins as equal variables, and `_` for what is not needed."""
    assert isinstance(rule.head, Atom)
    head, body = joined(rule.head, list(rule.body))
    terms = [t for part in (head, *body) for f in subformulas(part) for t in own_terms(f)]
    counts = Counter(var.name for t in terms for var in subterms(t) if isinstance(var, Var))
    single = [name for name, count in counts.items() if count == 1 and not is_anonymous(Var(name))]
    nobody: Bindings = {name: Var(f"_#{name}") for name in single}
    changed = bind(head, nobody)
    assert isinstance(changed, Atom)
    return Rule(changed, tuple(bind(part, nobody) for part in body))


def joined(head: Atom, body: list[Formula]) -> tuple[Atom, list[Formula]]:
    """The rule with equal columns made one variable, so that joins are joins."""
    body = [part for part in body if not _is_trivial(part)]
    found = next((pair for part in body if (pair := _equal(part)) is not None), None)
    if found is None:
        return head, body
    changed = bind(head, found)
    assert isinstance(changed, Atom)
    return joined(changed, [bind(part, found) for part in body])


def _is_trivial(part: Formula) -> bool:
    return isinstance(part, Comparison) and part.sign == "=" and part.left == part.right


def _equal(part: Formula) -> Bindings | None:
    """A variable and the other term that it must be, if a condition says so."""
    if not isinstance(part, Comparison) or part.sign != "=":
        return None
    for one, other in ((part.right, part.left), (part.left, part.right)):
        if isinstance(one, Var) and not isinstance(other, Compound):
            return {one.name: other}
    return None
