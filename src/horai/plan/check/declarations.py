"""Checks of declarations against what the rules say. Rules always win, so these are warnings."""

from __future__ import annotations

from collections.abc import Iterator

from horai.lang.core.diagnostics import Diagnostic
from horai.lang.core.terms import Var, is_anonymous, variables
from horai.lang.ec.syntax import Clause, Declaration, DynamicDomain
from horai.plan.check.context import CheckContext, finding, quoted
from horai.plan.ec.entities import Entity, Kind, Mention, Sort, split_value
from horai.plan.ec.predicates import collected_domains

_INPUT = frozenset({"inputEntity", "collectIntervals", "points"})
_OUTPUT = frozenset({"outputEntity", "internalEntity"})
_SORTS = {"simpleFluent": Sort.SIMPLE, "sDFluent": Sort.DETERMINED}


def declared_inputs(context: CheckContext) -> Iterator[Diagnostic]:
    """H210: declared as input, defined by rules."""
    for entity in context.entities:
        for mention in entity.declared:
            if mention.how in _INPUT and _is_defined(entity, mention):
                yield finding(
                    "H210",
                    f"{mention.how} says that `{entity}` comes with the stream, but rules define "
                    "it",
                    mention.clause,
                    mention.term,
                    hint="remove the declaration",
                )


def _is_defined(entity: Entity, mention: Mention) -> bool:
    if entity.kind is Kind.EVENT or mention.value is None:
        return not entity.is_input
    return mention.value in entity.values or (
        isinstance(mention.value, Var) and bool(entity.values)
    )


def declared_outputs(context: CheckContext) -> Iterator[Diagnostic]:
    """H212: declared as output, defined by no rule."""
    for entity in context.entities:
        for mention in entity.declared:
            if mention.how in _OUTPUT and entity.is_input:
                hint = None
                if mention.how == "internalEntity":
                    # Other engines compute it by a program of their own before rules are looked at.
                    hint = "if a stage before computes it, send it with the stream as input"
                yield finding(
                    "H212",
                    f"{mention.how} says that rules define `{entity}`, but there are none",
                    mention.clause,
                    mention.term,
                    hint=hint,
                )


def declared_sorts(context: CheckContext) -> Iterator[Diagnostic]:
    """H211: declared as another sort than the rules make it."""
    for entity in context.entities:
        for mention in entity.declared:
            declared = _SORTS.get(mention.how)
            if declared is None or entity.is_input or mention.value is None:
                continue
            actual = entity.sorts_of(mention.value)
            if actual and declared not in actual:
                is_now = " and ".join(sorted(str(sort) for sort in actual))
                yield finding(
                    "H211",
                    f"{quoted(mention.term)} is declared as {declared}, but its rules make it "
                    f"{is_now}",
                    mention.clause,
                    mention.term,
                    hint=f"remove `{mention.how}`, it is not needed",
                )


def indices(context: CheckContext) -> Iterator[Diagnostic]:
    """H213: an index that is not among the arguments."""
    for rule in context.description.rules:
        if not isinstance(rule, Declaration) or rule.name != "index" or len(rule.args) != 2:
            continue
        entity, _ = split_value(rule.args[0])
        index = rule.args[1]
        if not isinstance(index, Var) or is_anonymous(index) or index.name in variables(entity):
            continue
        message = f"`{index.name}` is no argument of {quoted(entity)}"
        yield finding("H213", message, rule.clause, index)


def caching_orders(context: CheckContext) -> Iterator[Diagnostic]:
    """H214: said once for all cachingOrder declarations of a file."""
    found: dict[str, list[Clause]] = {}
    for rule in context.description.rules:
        if isinstance(rule, Declaration) and rule.name in ("cachingOrder", "cachingOrder2"):
            found.setdefault(rule.clause.source.name, []).append(rule.clause)
    for clauses in found.values():
        count = len(clauses)
        yield finding(
            "H214",
            "cachingOrder is ignored: the order of evaluation follows from the rules",
            clauses[0],
            clauses[0].head,
            note=f"this file has {count} such declarations" if count > 1 else None,
        )


def collected_grounds(context: CheckContext) -> Iterator[Diagnostic]:
    """H216: a domain that only dgrounded names; collectGrounds fills the domains it names."""
    declared = {
        (rule.domain.name, len(rule.domain.args))
        for rule in context.description.rules
        if isinstance(rule, DynamicDomain)
    }
    known = set(context.description.facts) | declared
    said: set[tuple[str, int]] = set()
    declarations = [r for r in context.description.rules if isinstance(r, Declaration)]
    for rule in declarations:
        for key in collected_domains(rule):
            predicate = context.predicates[key]
            if key in known | said or predicate.rules:
                continue
            said.add(key)
            args = ",".join("_" * key[1])
            yield finding(
                "H216",
                f"nothing fills the domain `{key[0]}/{key[1]}`: {rule.name} alone does not",
                rule.clause,
                rule.args[1],
                hint=f"write `dynamicDomain({key[0]}({args})).` and groundings of input entities",
            )


def input_forms(context: CheckContext) -> Iterator[Diagnostic]:
    """H215: an input fluent declared as intervals and as points."""
    for fluent in context.entities.fluents.values():
        forms = [m for m in fluent.declared if m.how in ("collectIntervals", "points")]
        if len({m.how for m in forms}) == 2:
            last = forms[-1]
            yield finding(
                "H215",
                f"`{fluent}` is declared to arrive as intervals and as points; {last.how} counts",
                last.clause,
                last.term,
            )
