"""Checks of names: events, fluents, values, predicates, functions and declarations."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from horai.lang.core.arithmetic import BINARY, COMPARISONS, UNARY
from horai.lang.core.diagnostics import Diagnostic, did_you_mean, distance
from horai.lang.core.printer import show
from horai.lang.core.terms import (
    Compound,
    Term,
    Var,
    is_anonymous,
    is_ground,
    key_of,
    subterms,
    variables,
)
from horai.lang.ec import syntax as ec
from horai.lang.ec.builtins import ALLEN_RELATIONS, BUILTINS
from horai.plan.check.context import CheckContext, arguments, finding, listed, quoted
from horai.plan.ec.entities import Entities, Entity, Kind, Mention, Sort, split_value
from horai.plan.ec.literals import body_literals
from horai.plan.ec.predicates import collected_domains, python_table
from horai.plan.ec.unify import may_match

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
SHORTEST = 4
SHORT = 4  # `ping` and `pong` are two words; in short ones only swapped letters are a slip


def looks_mistyped(word: str, known: str) -> bool:
    """True when a word is most likely the known one, mistyped.

    >>> looks_mistyped("win_lotery", "win_lottery"), looks_mistyped("go_To", "goTo")
    (True, True)
    >>> looks_mistyped("stop_end", "stop_start"), looks_mistyped("walking", "talking")
    (False, False)
    """
    if word == known or _without_digits(word) == _without_digits(known):
        return False
    mine, theirs = _WORDS.findall(word), _WORDS.findall(known)
    if "".join(mine).lower() == "".join(theirs).lower():
        return True
    if len(mine) != len(theirs):
        return False
    differing = [(a, b) for a, b in zip(mine, theirs, strict=True) if a != b]
    return len(differing) <= 2 and all(_slip(a, b) for a, b in differing)


def _slip(word: str, known: str) -> bool:
    """One letter added, dropped, changed or swapped; not the first one, and no other ending."""
    if min(len(word), len(known)) < SHORTEST or word[0] != known[0]:
        return False
    shorter, longer = sorted((word, known), key=len)
    if longer in (shorter + "s", shorter + "d", shorter + "n"):
        return False
    if len(shorter) <= SHORT and sorted(word) != sorted(known):
        return False
    return distance(word, known) == 1


def _without_digits(word: str) -> str:
    return re.sub(r"\d+", "#", word)


def mistyped_entities(context: CheckContext) -> Iterator[Diagnostic]:
    """H200, H201: an event or fluent that occurs once and looks like another."""
    for entity, meant in suspects(context.entities).values():
        code = "H200" if entity.kind is Kind.EVENT else "H201"
        (mention,) = entity.used
        others = len(list(meant.mentions))
        message = f"{entity.kind} `{entity.name}` occurs nowhere else"
        hint = f"did you mean `{meant.name}`? If not, declare it: `{_declaration(entity)}`"
        note = f"`{meant.name}/{meant.arity}` occurs {others} times" if others > 1 else None
        yield finding(code, message, mention.clause, mention.term, hint, note)


def suspects(entities: Entities) -> dict[int, tuple[Entity, Entity]]:
    """Entities that are probably mistyped, by identity, with what was meant."""
    found: dict[int, tuple[Entity, Entity]] = {}
    established: dict[tuple[Kind, int], list[Entity]] = {}
    for entity in entities:
        if (entity.is_known or len(entity.used) > 1) and not entity.only_fills:
            established.setdefault((entity.kind, entity.arity), []).append(entity)
    for entity in entities:
        if not entity.is_input or entity.declared or entity.grounded or len(entity.used) != 1:
            continue
        alike = established.get((entity.kind, entity.arity), [])
        meant = next((e for e in alike if looks_mistyped(entity.name, e.name)), None)
        if meant is not None:
            found[id(entity)] = (entity, meant)
    return found


def _declaration(entity: Entity) -> str:
    args = f"({','.join('_' * entity.arity)})" if entity.arity else ""
    if entity.kind is Kind.EVENT:
        return f"inputEntity({entity.name}{args})."
    value = next((m.value for m in entity.used if m.value is not None), None)
    shown = show(value) if value is not None and is_ground(value) else "_"
    return f"collectIntervals({entity.name}{args}={shown})."


def undefined_fluents(context: CheckContext) -> Iterator[Diagnostic]:
    """H202: a fluent that is read and neither defined nor declared."""
    mistyped = suspects(context.entities)
    odd = odd_arities(context.entities)
    for fluent in context.entities.fluents.values():
        if not fluent.is_input or fluent.declared or id(fluent) in mistyped or id(fluent) in odd:
            continue
        known = [f.name for f in context.entities.fluents.values() if f.defined or f.declared]
        near = did_you_mean(fluent.name, known)
        mention = fluent.used[0]
        message = f"nothing defines the fluent `{fluent}`; it is treated as an input fluent"
        hint = f"declare it: `{_declaration(fluent)}`" + (
            f" Or did you mean `{near}`?" if near else ""
        )
        yield finding("H202", message, mention.clause, mention.term, hint)


def arity_mismatches(context: CheckContext) -> Iterator[Diagnostic]:
    """H204: one name with different numbers of arguments."""
    for entity, usual in odd_arities(context.entities).values():
        for mention in entity.mentions:
            message = (
                f"{entity.kind} `{entity.name}` has {arguments(entity.arity)} here and "
                f"{arguments(usual.arity)} elsewhere"
            )
            hint = f"write it as in {quoted(next(usual.mentions).term)}"
            yield finding("H204", message, mention.clause, mention.term, hint)


def odd_arities(entities: Entities) -> dict[int, tuple[Entity, Entity]]:
    """Entities whose number of arguments is probably wrong, with the usual ones."""
    found: dict[int, tuple[Entity, Entity]] = {}
    for table in (entities.events, entities.fluents):
        by_name: dict[str, list[Entity]] = {}
        for entity in table.values():
            if not entity.only_fills:
                by_name.setdefault(entity.name, []).append(entity)
        for group in by_name.values():
            # Ties go to the one met first.
            usual = max(group, key=lambda e: (e.is_known, len(e.used), -group.index(e)))
            for entity in group:
                meant = entity is usual or entity.is_known or _is_made_of(usual, entity)
                if not meant:
                    found[id(entity)] = (entity, usual)
    return found


def _is_made_of(defined: Entity, other: Entity) -> bool:
    """True for `holdsFor(near(A, B)=true, I) :- holdsFor(near(A, B, 25)=true, I).`"""
    rules = [mention.clause for mention in defined.defined if mention.how == "holdsFor"]
    return any(use.clause is clause for use in other.used for clause in rules)


def value_mismatches(context: CheckContext) -> Iterator[Diagnostic]:
    """H206: a value that the fluent never has."""
    for fluent in context.entities.fluents.values():
        for mention in fluent.used:
            value = mention.value
            if value is None or fluent.takes(value) or not fluent.values:
                continue
            if mention.how in ("fi", "ft", "p") or _declared_value(fluent, value):
                continue
            message = f"`{fluent}` never has the value {quoted(value)}"
            hint = _values_hint(fluent, value)
            where = value if value.span is not None else mention.term
            yield finding("H206", message, mention.clause, where, hint)


def _declared_value(fluent: Entity, value: Term) -> bool:
    inputs = ("collectIntervals", "points", "inputEntity")
    declared = any(
        m.how in inputs and (m.value is None or not is_ground(m.value) or m.value == value)
        for m in fluent.declared
    )
    return declared or any(m.value == value for m in fluent.grounded)


def _values_hint(fluent: Entity, value: Term) -> str:
    known = [show(v) for v in fluent.values]
    near = did_you_mean(show(value), known)
    ways = listed(f"`{v}`" for v in known)
    text = f"its values are {ways}" if len(known) > 1 else f"its only value is {ways}"
    return f"{text}; did you mean `{near}`?" if near else text


def events_that_are_fluents(context: CheckContext) -> Iterator[Diagnostic]:
    """H207: the same name and arity as an event and as a fluent."""
    for key, event in context.entities.events.items():
        fluent = context.entities.fluents.get(key)
        if fluent is None:
            continue
        mention, other = next(event.mentions), next(fluent.mentions)
        message = f"`{event}` is used as an event here and as a fluent elsewhere"
        hint = (
            f"if the fluent is meant, write `start({event.name}(...)=...)`; if not, give one "
            "of them another name"
        )
        note = f"as a fluent: {quoted(other.term)} in {other.how}"
        yield finding("H207", message, mention.clause, mention.term, hint, note)


def values_of_two_sorts(context: CheckContext) -> Iterator[Diagnostic]:
    """H208: one value with rules of both sorts."""
    both = {Sort.SIMPLE, Sort.DETERMINED}
    for fluent in context.entities.fluents.values():
        for value, sorts in fluent.values.items():
            if not both <= sorts:
                continue
            heads = [m for m in fluent.defined if m.value == value]
            pair = next(filter(_in_two_ways, itertools.combinations(heads, 2)), None)
            if pair is None:  # `per(vote(X))` and `per(close(X))` are different fluents
                continue
            first, later = pair
            message = (
                f"{quoted(later.term)} gets the value {quoted(value)} by {later.how} here and by "
                f"{first.how} elsewhere"
            )
            hint = "define each value by rules of one sort"
            note = "the intervals of both count, and an initiation ends the other values"
            yield finding("H208", message, later.clause, later.term, hint, note)


_STATIC = frozenset({"holdsFor", "holdsAt"})


def _in_two_ways(pair: tuple[Mention, Mention]) -> bool:
    first, later = pair
    return (first.how in _STATIC) != (later.how in _STATIC) and may_match(first.term, later.term)


def never_initiated(context: CheckContext) -> Iterator[Diagnostic]:
    """H506: a fluent, or a value of it, that is terminated and never initiated."""
    for fluent in context.entities.fluents.values():
        yield from _values_never_initiated(fluent)
        if fluent.terminated and not fluent.values and not fluent.computed:
            mention = fluent.defined[0]
            known = [f.name for f in context.entities.fluents.values() if f.values or f.computed]
            near = did_you_mean(fluent.name, known)
            message = f"`{fluent}` is terminated here, but no rule initiates it"
            hint = f"did you mean `{near}`?" if near else "write the rule that initiates it"
            yield finding("H506", message, mention.clause, mention.term, hint)


def _values_never_initiated(fluent: Entity) -> Iterator[Diagnostic]:
    for mention in fluent.defined:
        value = mention.value
        if mention.how != "terminatedAt" or value is None or not fluent.values:
            continue
        if not fluent.takes(value) and not _declared_value(fluent, value):
            message = (
                f"the value {quoted(value)} of `{fluent}` is terminated here, "
                "but no rule initiates it"
            )
            hint = _values_hint(fluent, value)
            where = value if value.span is not None else mention.term
            yield finding("H506", message, mention.clause, where, hint)


def unknown_predicates(context: CheckContext) -> Iterator[Diagnostic]:
    """H203, H205: calls of predicates that do not exist, or not with so many arguments."""
    known = set(context.predicates) | set(BUILTINS)
    python = python_table(context.python)
    names = {name for name, _ in known} | set(python)
    for key, calls in context.called.items():
        name, arity = key
        call, clause = calls[0]
        if name in python and not python[name].accepts(arity):
            message = f"the Python predicate `{name}` has {python[name].parameters} parameters"
            hint = "call it with as many arguments, or one more for what it returns"
            yield finding("H205", f"{message}, not {arity}", clause, call.term, hint=hint)
        if key in known or name in python:
            continue
        more = f"it is called in {len(calls)} places" if len(calls) > 1 else None
        arities = sorted(n for other, n in known if other == name)
        if arities:
            counts = listed([str(n) for n in arities], "or")
            message = f"`{name}` is called with {arguments(arity)}; it is defined with {counts}"
            yield finding("H205", message, clause, call.term, note=more)
            continue
        hint = _entity_hint(context, call) or _near_hint(call, names)
        message = f"unknown predicate `{name}/{arity}`"
        yield finding("H203", message, clause, call.term, hint=hint, note=more)


def _near_hint(call: ec.Call, names: set[str]) -> str:
    relation = did_you_mean(call.name, ALLEN_RELATIONS) or call.name
    if relation in ALLEN_RELATIONS and len(call.args) in (2, 3):
        source, target, *rest = (show(arg) for arg in call.args)
        found = f"{relation}({source}, {target}, source, {rest[0] if rest else 'I'})"
        return (
            f"it is a relation of interval lists, and needs a mode: write `{found}` for the "
            "intervals of the first list that are so related"
        )
    near = did_you_mean(call.name, names)
    return f"did you mean `{near}`?" if near else _how_to_define(*call.key)


def _entity_hint(context: CheckContext, call: ec.Call) -> str | None:
    """Events and fluents are no predicates: they need a literal with a time around them."""
    if call.key in context.entities.fluents:
        return f"`{call.name}` is a fluent: write `holdsAt({show(call.term)}=..., T)`"
    if call.key in context.entities.events:
        return f"`{call.name}` is an event: write `happensAt({show(call.term)}, T)`"
    return None


def _how_to_define(name: str, arity: int) -> str:
    args = f"({', '.join('...' for _ in range(arity))})" if arity else ""
    return f"add facts or rules `{name}{args}`, or register a Python predicate of this name"


FUNCTIONS = {1: frozenset(UNARY), 2: frozenset(BINARY)}
"""What arithmetic knows, by number of arguments."""


def unknown_functions(context: CheckContext) -> Iterator[Diagnostic]:
    """H209: arithmetic with a function that does not exist."""
    for rule in context.description.rules:
        for literal in body_literals(rule):
            for expression in _expressions(literal):
                wrong = next(_unknown(expression), None)
                if wrong is not None:
                    name = wrong.name
                    near = did_you_mean(name, FUNCTIONS[1] | FUNCTIONS[2])
                    message = f"arithmetic has no `{name}`"
                    hint = f"did you mean `{near}`?" if near else None
                    yield finding("H209", message, rule.clause, wrong, hint)


def _expressions(literal: ec.Literal) -> Iterator[Term]:
    match literal:
        case ec.Compare(op=op, left=left, right=right) if op in COMPARISONS:
            yield left
            yield right
        case ec.Is(expression=expression):
            yield expression
        case ec.DurationFilter(bound=bound):
            yield bound


def _unknown(expression: Term) -> Iterator[Compound]:
    for part in subterms(expression):
        if isinstance(part, Compound) and part.name not in FUNCTIONS.get(len(part.args), ()):
            yield part


_INPUT = frozenset({"inputEntity", "collectIntervals", "points"})
_OUTPUT = frozenset({"outputEntity", "internalEntity"})
_SORTS = {"simpleFluent": Sort.SIMPLE, "sDFluent": Sort.DETERMINED}


def _declarations(context: CheckContext) -> Iterator[tuple[Entity, Mention]]:
    return ((entity, mention) for entity in context.entities for mention in entity.declared)


def declared_inputs(context: CheckContext) -> Iterator[Diagnostic]:
    """H210: declared as input, defined by rules."""
    for entity, mention in _declarations(context):
        if mention.how in _INPUT and _is_defined(entity, mention):
            message = (
                f"{mention.how} says that `{entity}` comes with the stream, but rules define it"
            )
            yield finding("H210", message, mention.clause, mention.term, "remove the declaration")


def _is_defined(entity: Entity, mention: Mention) -> bool:
    if entity.kind is Kind.EVENT or mention.value is None:
        return not entity.is_input
    return mention.value in entity.values or (
        isinstance(mention.value, Var) and bool(entity.values)
    )


def declared_outputs(context: CheckContext) -> Iterator[Diagnostic]:
    """H212: declared as output, defined by no rule."""
    for entity, mention in _declarations(context):
        if mention.how in _OUTPUT and entity.is_input:
            hint = None
            if mention.how == "internalEntity":
                # Other engines compute it by a program of their own before rules are looked at.
                hint = "if a stage before computes it, send it with the stream as input"
            message = f"{mention.how} says that rules define `{entity}`, but there are none"
            yield finding("H212", message, mention.clause, mention.term, hint)


def declared_sorts(context: CheckContext) -> Iterator[Diagnostic]:
    """H211: declared as another sort than the rules make it."""
    for entity, mention in _declarations(context):
        declared = _SORTS.get(mention.how)
        if declared is None or entity.is_input or mention.value is None:
            continue
        actual = entity.sorts_of(mention.value)
        if actual and declared not in actual:
            is_now = " and ".join(sorted(str(sort) for sort in actual))
            message = (
                f"{quoted(mention.term)} is declared as {declared}, but its rules make it {is_now}"
            )
            hint = f"remove `{mention.how}`, it is not needed"
            yield finding("H211", message, mention.clause, mention.term, hint)


def indices(context: CheckContext) -> Iterator[Diagnostic]:
    """H213: an index that is not among the arguments."""
    for rule in context.description.of(ec.Declaration):
        if rule.name != "index" or len(rule.args) != 2:
            continue
        entity, _ = split_value(rule.args[0])
        index = rule.args[1]
        if not isinstance(index, Var) or is_anonymous(index) or index.name in variables(entity):
            continue
        message = f"`{index.name}` is no argument of {quoted(entity)}"
        yield finding("H213", message, rule.clause, index)


def caching_orders(context: CheckContext) -> Iterator[Diagnostic]:
    """H214: said once for all cachingOrder declarations of a file."""
    found: dict[str, list[ec.Clause]] = {}
    for rule in context.description.of(ec.Declaration):
        if rule.name in ("cachingOrder", "cachingOrder2"):
            found.setdefault(rule.clause.source.name, []).append(rule.clause)
    for clauses in found.values():
        count = len(clauses)
        message = "cachingOrder is ignored: the order of evaluation follows from the rules"
        note = f"this file has {count} such declarations" if count > 1 else None
        yield finding("H214", message, clauses[0], clauses[0].head, note=note)


def collected_grounds(context: CheckContext) -> Iterator[Diagnostic]:
    """H216: a domain that only dgrounded names; collectGrounds fills the domains it names."""
    known = set(context.description.facts)
    known |= {key_of(rule.domain) for rule in context.description.of(ec.DynamicDomain)}
    for rule in context.description.of(ec.Declaration):
        for key in collected_domains(rule):
            if key in known or context.predicates[key].rules:
                continue
            known.add(key)  # it is said once
            args = ",".join("_" * key[1])
            message = f"nothing fills the domain `{key[0]}/{key[1]}`: {rule.name} alone does not"
            hint = f"write `dynamicDomain({key[0]}({args})).` and groundings of input entities"
            yield finding("H216", message, rule.clause, rule.args[1], hint)


def input_forms(context: CheckContext) -> Iterator[Diagnostic]:
    """H215: an input fluent declared as intervals and as points."""
    for fluent in context.entities.fluents.values():
        forms = [m for m in fluent.declared if m.how in ("collectIntervals", "points")]
        if len({m.how for m in forms}) == 2:
            last = forms[-1]
            message = (
                f"`{fluent}` is declared to arrive as intervals and as points; {last.how} counts"
            )
            yield finding("H215", message, last.clause, last.term)
