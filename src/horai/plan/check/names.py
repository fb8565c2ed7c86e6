"""Checks of events and fluents: names, and which of them are mistyped; arities and values."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from horai.lang.core.diagnostics import Diagnostic, did_you_mean
from horai.lang.core.printer import show
from horai.lang.core.spelling import distance
from horai.lang.core.terms import Term, is_ground
from horai.plan.check.context import CheckContext, arguments, finding, listed, quoted
from horai.plan.ec.entities import Entities, Entity, Kind, Mention, Sort
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
        yield finding(
            code,
            f"{entity.kind} `{entity.name}` occurs nowhere else",
            mention.clause,
            mention.term,
            hint=f"did you mean `{meant.name}`? If not, declare it: `{_declaration(entity)}`",
            note=f"`{meant.name}/{meant.arity}` occurs {others} times" if others > 1 else None,
        )


def suspects(entities: Entities) -> dict[int, tuple[Entity, Entity]]:
    """Entities that are probably mistyped, by identity, with what was meant."""
    found: dict[int, tuple[Entity, Entity]] = {}
    established: dict[tuple[Kind, int], list[Entity]] = {}
    for entity in entities:
        if _established(entity) and not entity.only_fills:
            established.setdefault((entity.kind, entity.arity), []).append(entity)
    for entity in entities:
        if not entity.is_input or entity.declared or entity.grounded or len(entity.used) != 1:
            continue
        alike = established.get((entity.kind, entity.arity), [])
        meant = next((e for e in alike if looks_mistyped(entity.name, e.name)), None)
        if meant is not None:
            found[id(entity)] = (entity, meant)
    return found


def _established(entity: Entity) -> bool:
    return bool(entity.defined or entity.declared or entity.grounded) or len(entity.used) > 1


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
        yield finding(
            "H202",
            f"nothing defines the fluent `{fluent.name}/{fluent.arity}`; it is treated as an "
            "input fluent",
            mention.clause,
            mention.term,
            hint=f"declare it: `{_declaration(fluent)}`"
            + (f" Or did you mean `{near}`?" if near else ""),
        )


def arity_mismatches(context: CheckContext) -> Iterator[Diagnostic]:
    """H204: one name with different numbers of arguments."""
    for entity, usual in odd_arities(context.entities).values():
        for mention in entity.mentions:
            yield finding(
                "H204",
                f"{entity.kind} `{entity.name}` has {arguments(entity.arity)} here and "
                f"{arguments(usual.arity)} elsewhere",
                mention.clause,
                mention.term,
                hint=f"write it as in {quoted(_example(usual).term)}",
            )


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
            usual = max(group, key=lambda e: (_is_known(e), len(e.used), -group.index(e)))
            for entity in group:
                meant = entity is usual or _is_known(entity) or _is_made_of(usual, entity)
                if not meant:
                    found[id(entity)] = (entity, usual)
    return found


def _is_made_of(defined: Entity, other: Entity) -> bool:
    """True for `holdsFor(near(A, B)=true, I) :- holdsFor(near(A, B, 25)=true, I).`"""
    rules = [mention.clause for mention in defined.defined if mention.how == "holdsFor"]
    return any(use.clause is clause for use in other.used for clause in rules)


def _is_known(entity: Entity) -> bool:
    return bool(entity.defined or entity.declared or entity.grounded)


def _example(entity: Entity) -> Mention:
    return next(entity.mentions)


def value_mismatches(context: CheckContext) -> Iterator[Diagnostic]:
    """H206: a value that the fluent never has."""
    for fluent in context.entities.fluents.values():
        for mention in fluent.used:
            value = mention.value
            if value is None or fluent.takes(value) or not fluent.values:
                continue
            if mention.how in ("fi", "ft", "p") or _declared_value(fluent, value):
                continue
            yield finding(
                "H206",
                f"`{fluent.name}/{fluent.arity}` never has the value {quoted(value)}",
                mention.clause,
                value if value.span is not None else mention.term,
                hint=_values_hint(fluent, value),
            )


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
        mention, other = _example(event), _example(fluent)
        yield finding(
            "H207",
            f"`{event.name}/{event.arity}` is used as an event here and as a fluent elsewhere",
            mention.clause,
            mention.term,
            hint=f"if the fluent is meant, write `start({event.name}(...)=...)`; if not, give one "
            "of them another name",
            note=f"as a fluent: {quoted(other.term)} in {other.how}",
        )


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
            yield finding(
                "H208",
                f"{quoted(later.term)} gets the value {quoted(value)} by {later.how} here and by "
                f"{first.how} elsewhere",
                later.clause,
                later.term,
                hint="define each value by rules of one sort",
                note="the intervals of both count, and an initiation ends the other values",
            )


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
            yield finding(
                "H506",
                f"`{fluent.name}/{fluent.arity}` is terminated here, but no rule initiates it",
                mention.clause,
                mention.term,
                hint=f"did you mean `{near}`?" if near else "write the rule that initiates it",
            )


def _values_never_initiated(fluent: Entity) -> Iterator[Diagnostic]:
    for mention in fluent.defined:
        value = mention.value
        if mention.how != "terminatedAt" or value is None or not fluent.values:
            continue
        if not fluent.takes(value) and not _declared_value(fluent, value):
            yield finding(
                "H506",
                f"the value {quoted(value)} of `{fluent.name}/{fluent.arity}` is terminated here, "
                "but no rule initiates it",
                mention.clause,
                value if value.span is not None else mention.term,
                hint=_values_hint(fluent, value),
            )
