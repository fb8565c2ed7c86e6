"""Checks of what is legal and probably not meant."""

from __future__ import annotations

from collections.abc import Iterator

from horai.lang.core.arithmetic import COMPARISONS
from horai.lang.core.diagnostics import Diagnostic, diagnostic, did_you_mean
from horai.lang.core.printer import show
from horai.lang.core.terms import Compound, Constant, Float, Int, Term, is_ground, key_of, make
from horai.lang.ec import syntax as ec
from horai.plan.check.context import CheckContext, finding, place_of, quoted
from horai.plan.check.names import looks_mistyped
from horai.plan.ec.entities import Entity, Sort
from horai.plan.ec.literals import body_literals
from horai.plan.ec.unify import canonical, unify


def duplicate_rules(context: CheckContext) -> Iterator[Diagnostic]:
    """H500: clauses that are the same up to renaming."""
    first: dict[Term, ec.Clause] = {}
    for rule in context.description.rules:
        clause = rule.clause
        head = clause.head or Constant("")
        whole = canonical(head if clause.body is None else Compound(":-", (head, clause.body)))
        if whole in first:
            message = f"this says the same as {place_of(first[whole], home=clause.source)}"
            hint = "remove it, or correct what should differ"
            yield finding("H500", message, clause, clause.head, hint)
        else:
            first[whole] = clause


def duplicate_facts(context: CheckContext) -> Iterator[Diagnostic]:
    """H501: facts that occur more than once, said once per predicate."""
    for (name, arity), facts in context.description.facts.items():
        first_of: dict[tuple[Term, ...], int] = {}
        repeated = [n for n, row in enumerate(facts.rows) if first_of.setdefault(row, n) != n]
        if not repeated:
            continue
        first = repeated[0]
        source, offset = facts.places[first]
        text = show(make(name, *facts.rows[first]))
        message = f"the fact `{text}` is written twice"
        if (count := len(repeated)) > 1:
            message = f"{count} facts of `{name}/{arity}` repeat others, the first is `{text}`"
        yield diagnostic("H501", message, source, (offset, offset + len(name)), "remove it")


# --- rules that can never fire -----------------------------------------------------------------


def never_fires(context: CheckContext) -> Iterator[Diagnostic]:
    """H502: conditions that contradict each other."""
    for rule in context.description.rules:
        body = ec.body_of(rule)
        if body is None or isinstance(rule, ec.Grounding | ec.Declaration):
            continue
        if isinstance(rule, ec.BackgroundRule) and any(
            isinstance(x, ec.TruthValue) for x in body.items
        ):
            continue  # `empty(_) :- fail.` is how Prolog declares an empty predicate
        for scope in _scopes(body):
            found = _impossible(list(ec.conjuncts(scope)), context)
            if found is not None:
                literal, why = found
                what = "rule" if scope is body else "alternative"
                message = f"this {what} can never hold: {why}"
                yield finding("H502", message, rule.clause, literal.term)


def _scopes(body: ec.Conjunction) -> Iterator[ec.Literal]:
    """The body and the alternatives inside it, each a conjunction of its own."""
    yield body
    for literal in ec.conjuncts(body):
        if isinstance(literal, ec.Disjunction):
            for item in literal.items:
                if not isinstance(item, ec.TruthValue):
                    yield from _scopes(
                        item
                        if isinstance(item, ec.Conjunction)
                        else ec.Conjunction((item,), item.term)
                    )


def _impossible(items: list[ec.Literal], context: CheckContext) -> tuple[ec.Literal, str] | None:
    for literal in items:
        match literal:
            case ec.TruthValue(value=False):
                return literal, f"{quoted(literal.term)} is always false"
            case ec.Compare(op=op, left=left, right=right) if _is_false(op, left, right):
                return literal, f"{quoted(literal.term)} is always false"
    return _contradiction(items) or _two_values(items, context)


_NEVER_OF_ITSELF = frozenset({"<", ">", "=\\=", "\\=", "\\==", "@<", "@>"})


def _is_false(op: str, left: Term, right: Term) -> bool:
    if left == right and not isinstance(left, Compound):
        return op in _NEVER_OF_ITSELF
    if op == "=":
        return unify(left, right) is None
    if op == "==" and is_ground(left) and is_ground(right):
        return left != right
    if op in COMPARISONS and isinstance(left, Int | Float) and isinstance(right, Int | Float):
        return not COMPARISONS[op](left.value, right.value)
    return False


def _contradiction(items: list[ec.Literal]) -> tuple[ec.Literal, str] | None:
    said = {literal.term for literal in items if not isinstance(literal, ec.Negation)}
    for literal in items:
        if isinstance(literal, ec.Negation) and literal.item.term in said:
            return literal, f"{quoted(literal.item.term)} is required and denied"
    return None


def _two_values(items: list[ec.Literal], context: CheckContext) -> tuple[ec.Literal, str] | None:
    """One simple fluent with two different values at one time."""
    values: dict[tuple[Term, Term], Term] = {}
    for literal in items:
        if not isinstance(literal, ec.HoldsAt) or not is_ground(literal.fvp.value):
            continue
        fluent = context.entities.fluent(literal.fvp.fluent)
        if fluent is None or fluent.sorts != {Sort.SIMPLE}:
            continue
        value = values.setdefault((literal.fvp.fluent, literal.time), literal.fvp.value)
        if value != literal.fvp.value:
            both = f"{show(value)} and {show(literal.fvp.value)}"
            return literal, f"{quoted(literal.fvp.fluent)} cannot be {both} at once"
    return None


# --- groundings and domains --------------------------------------------------------------------


def groundings_of_nothing(context: CheckContext) -> Iterator[Diagnostic]:
    """H503: a grounding of something that no rule mentions, said once for all its values."""
    said: set[tuple[bool, ec.Key]] = set()
    for rule in context.description.of(ec.Grounding):
        key = name, arity = rule.key
        table = context.entities.events if rule.value is None else context.entities.fluents
        is_placeholder = any(isinstance(literal, ec.TruthValue) for literal in rule.body.items)
        is_used = key in table and not _is_slip(table[key], table)
        if is_placeholder or is_used or (rule.value is None, key) in said:
            continue
        said.add((rule.value is None, key))
        kind = "event" if rule.value is None else "fluent"
        near = did_you_mean(name, [other for other, _ in table if other != name])
        same = [others for other, others in table if other == name and others != arity]
        hint = f"did you mean `{near}`?" if near else None
        if same:
            hint = f"`{name}` has {same[0]} arguments elsewhere"
        message = f"no rule mentions the {kind} `{name}/{arity}`"
        yield finding("H503", message, rule.clause, rule.entity, hint)


def _is_slip(entity: Entity, table: dict[tuple[str, int], Entity]) -> bool:
    """True for an event that only fills a domain, and that looks like another one."""
    if not entity.only_fills:
        return False
    others = [other for other in table.values() if not other.only_fills]
    return any(
        other.name == entity.name
        or (other.arity == entity.arity and looks_mistyped(entity.name, other.name))
        for other in others
    )


def empty_domains(context: CheckContext) -> Iterator[Diagnostic]:
    """H504: a dynamic domain that no grounding of an input entity uses."""
    reached = _domains_of_inputs(context)
    for rule in context.description.of(ec.DynamicDomain):
        key = key_of(rule.domain)
        if key not in reached and key not in context.description.facts:
            message = f"nothing ever enters the domain `{key[0]}/{key[1]}`"
            hint = (
                f"use it in the grounding of an input entity: `grounding(event(X)) :- {key[0]}(X).`"
            )
            yield finding("H504", message, rule.clause, rule.domain, hint)


def _domains_of_inputs(context: CheckContext) -> set[tuple[str, int]]:
    entities = context.entities
    queue: list[ec.Key] = []
    for rule in context.description.of(ec.Grounding):
        known = (entities.event if rule.value is None else entities.fluent)(rule.entity)
        if known is None or known.is_input:
            queue += [c.key for c in body_literals(rule) if isinstance(c, ec.Call)]
    reached: set[ec.Key] = set()
    while queue:
        key = queue.pop()
        if key not in reached:
            reached.add(key)
            queue += context.graph.helpers.calls.get(key, ())
    return reached
