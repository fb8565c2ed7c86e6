"""Checks of what is legal and probably not meant."""

from __future__ import annotations

from collections.abc import Iterator

from horai.lang.core.arithmetic import COMPARISONS
from horai.lang.core.diagnostics import Diagnostic, Severity, did_you_mean
from horai.lang.core.printer import show
from horai.lang.core.terms import Compound, Constant, Float, Int, Term, functor, is_ground, make
from horai.lang.ec import syntax as ec
from horai.plan.check.context import CheckContext, finding, place_of, quoted
from horai.plan.check.names import looks_mistyped
from horai.plan.ec.entities import Entity, Sort
from horai.plan.ec.literals import body_literals
from horai.plan.ec.types import Slot
from horai.plan.ec.unify import canonical, unify


def duplicate_rules(context: CheckContext) -> Iterator[Diagnostic]:
    """H500: clauses that are the same up to renaming."""
    first: dict[Term, ec.Clause] = {}
    for rule in context.description.rules:
        clause = rule.clause
        head = clause.head or Constant("")
        whole = canonical(head if clause.body is None else Compound(":-", (head, clause.body)))
        if whole in first:
            yield finding(
                "H500",
                f"this says the same as {place_of(first[whole], home=clause.source)}",
                clause,
                clause.head,
                hint="remove it, or correct what should differ",
            )
        else:
            first[whole] = clause


def duplicate_facts(context: CheckContext) -> Iterator[Diagnostic]:
    """H501: facts that occur more than once, said once per predicate."""
    for (name, arity), facts in context.description.facts.items():
        if len(facts.rows) < 2:
            continue
        seen: set[tuple[Term, ...]] = set()
        repeated: list[int] = []
        for number, row in enumerate(facts.rows):
            if row in seen:
                repeated.append(number)
            seen.add(row)
        if not repeated:
            continue
        first = repeated[0]
        source, offset = facts.places[first]
        text = show(make(name, *facts.rows[first]))
        count = len(repeated)
        message = f"the fact `{text}` is written twice"
        if count > 1:
            message = f"{count} facts of `{name}/{arity}` repeat others, the first is `{text}`"
        yield Diagnostic(
            "H501", Severity.WARNING, message, source, (offset, offset + len(name)), "remove it"
        )


# --- rules that can never fire -----------------------------------------------------------------


def never_fires(context: CheckContext) -> Iterator[Diagnostic]:
    """H502: conditions that contradict each other."""
    for rule in context.description.rules:
        body = getattr(rule, "body", None)
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
        why = _false_alone(literal)
        if why is not None:
            return literal, why
    return _contradiction(items) or _two_values(items, context)


def _false_alone(literal: ec.Literal) -> str | None:
    match literal:
        case ec.TruthValue(value=False):
            return f"{quoted(literal.term)} is always false"
        case ec.Compare(op=op, left=left, right=right) if _is_false(op, left, right):
            return f"{quoted(literal.term)} is always false"
        case _:
            return None


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


# --- groundings, domains, types ----------------------------------------------------------------


def groundings_of_nothing(context: CheckContext) -> Iterator[Diagnostic]:
    """H503: a grounding of something that no rule mentions, said once for all its values."""
    said: set[tuple[bool, tuple[str, int]]] = set()
    for rule in context.description.rules:
        key = functor(rule.entity) if isinstance(rule, ec.Grounding) else None
        if key is None or not isinstance(rule, ec.Grounding) or (rule.value is None, key) in said:
            continue
        entities = context.entities
        table = entities.events if rule.value is None else entities.fluents
        if _is_placeholder(rule) or (key in table and not _is_slip(table[key], table)):
            continue
        kind = "event" if rule.value is None else "fluent"
        near = did_you_mean(key[0], [name for name, _ in table if name != key[0]])
        same = [arity for name, arity in table if name == key[0] and arity != key[1]]
        hint = f"did you mean `{near}`?" if near else None
        if same:
            hint = f"`{key[0]}` has {same[0]} arguments elsewhere"
        message = f"no rule mentions the {kind} `{key[0]}/{key[1]}`"
        said.add((rule.value is None, key))
        yield finding("H503", message, rule.clause, rule.entity, hint=hint)


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


def _is_placeholder(rule: ec.Grounding) -> bool:
    return any(isinstance(literal, ec.TruthValue) for literal in rule.body.items)


def empty_domains(context: CheckContext) -> Iterator[Diagnostic]:
    """H504: a dynamic domain that no grounding of an input entity uses."""
    reached = _domains_of_inputs(context)
    for rule in context.description.rules:
        if isinstance(rule, ec.DynamicDomain):
            key = (rule.domain.name, len(rule.domain.args))
            if key not in reached and key not in context.description.facts:
                yield finding(
                    "H504",
                    f"nothing ever enters the domain `{key[0]}/{key[1]}`",
                    rule.clause,
                    rule.domain,
                    hint=f"use it in the grounding of an input entity: "
                    f"`grounding(event(X)) :- {key[0]}(X).`",
                )


def _domains_of_inputs(context: CheckContext) -> set[tuple[str, int]]:
    entities = context.entities
    queue: list[tuple[str, int]] = []
    for rule in context.description.rules:
        if isinstance(rule, ec.Grounding):
            known = entities.event(rule.entity) if rule.value is None else None
            known = known or (entities.fluent(rule.entity) if rule.value is not None else None)
            if known is None or known.is_input:
                queue += [c.key for c in body_literals(rule) if isinstance(c, ec.Call)]
    inner = _background_calls(context.description)
    reached: set[tuple[str, int]] = set()
    while queue:
        key = queue.pop()
        if key not in reached:
            reached.add(key)
            queue += inner.get(key, [])
    return reached


def _background_calls(
    description: ec.EventDescription,
) -> dict[tuple[str, int], list[tuple[str, int]]]:
    inner: dict[tuple[str, int], list[tuple[str, int]]] = {}
    for rule in description.rules:
        key = functor(rule.head) if isinstance(rule, ec.BackgroundRule) else None
        if key is not None and isinstance(rule, ec.BackgroundRule):
            calls = [literal.key for literal in ec.walk(rule.body) if isinstance(literal, ec.Call)]
            inner.setdefault(key, []).extend(calls)
    return inner


def type_conflicts(context: CheckContext) -> Iterator[Diagnostic]:
    """H505: numbers needed where names arrive."""
    for conflict in context.types.conflicts:
        yield finding(
            "H505",
            f"a number is needed here, but {quoted(conflict.term)} is of type {conflict.found}",
            conflict.clause,
            conflict.term,
            hint="compare names with `==` and `\\==`",
            note=f"its values come from {_place(conflict.because)}" if conflict.because else None,
        )


def _place(slot: Slot) -> str:
    where = "the value" if slot.position < 0 else f"argument {slot.position + 1}"
    return f"{where} of `{slot.name}/{slot.arity}`"
