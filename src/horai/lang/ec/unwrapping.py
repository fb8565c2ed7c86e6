"""Entities about actions: `per(close(C,M))` and `per(open(C,M))` are different fluents.

Where every mention of an entity has a compound term at some argument, the name of that term belongs
to the name of the entity. Such entities are flattened before anything is planned, so that each is a
relation of its own with plain columns, and folded again in answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from horai.lang.core.source import rebuilt
from horai.lang.core.terms import Compound, Term, args_of, functor, key_of
from horai.lang.ec import syntax as ec

Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Fold:
    """How a flat entity is written: per argument the compound term around some of its columns."""

    name: str
    parts: tuple[Key | None, ...]


@dataclass(slots=True)
class Unwrapping:
    """A description with flat entities, and the way back."""

    description: ec.EventDescription
    positions: dict[Key, frozenset[int]] = field(default_factory=dict)
    folds: dict[Key, Fold] = field(default_factory=dict)

    def flat(self, entity: Term) -> Term:
        """per(close(C,M)) as `per(close)` with the arguments C and M."""
        positions = self.positions.get(key_of(entity))
        if not positions or not isinstance(entity, Compound):
            return entity
        args: list[Term] = []
        parts: list[Key | None] = []
        for position, arg in enumerate(entity.args):
            inner = arg if position in positions and isinstance(arg, Compound) else None
            parts.append(functor(inner) if inner is not None else None)
            args.extend(inner.args if inner is not None else (arg,))
        if not any(parts):
            return entity
        name = flat_name(entity.name, tuple(parts))
        self.folds[name, len(args)] = Fold(entity.name, tuple(parts))
        return Compound(name, tuple(args), entity.span)

    def written(self, entity: Term) -> Term:
        """A flat entity as it is written in rules and answers; others as they are."""
        fold = self.folds.get(key_of(entity))
        if fold is None or not isinstance(entity, Compound):
            return entity
        rest = iter(entity.args)
        args = [
            next(rest) if part is None else Compound(part[0], tuple(islice(rest, part[1])))
            for part in fold.parts
        ]
        return Compound(fold.name, tuple(args))

    def forms(self, key: Key) -> list[Key]:
        """The keys that items of an entity may have: its own and those of its flat ones."""
        flat = [f for f, fold in self.folds.items() if (fold.name, len(fold.parts)) == key]
        return [key, *flat]


def flat_name(name: str, parts: tuple[Key | None, ...]) -> str:
    """The name of a flat entity; it has brackets, which no name in a file can have."""
    return f"{name}({','.join(part[0] if part else '_' for part in parts)})"


def unwrap(description: ec.EventDescription) -> Unwrapping:
    """The description with all such entities flat."""
    positions = _wrapped_positions(description)
    unwrapping = Unwrapping(description, positions)
    if positions:
        rules = [_rewritten(rule, unwrapping.flat) for rule in description.rules]
        unwrapping.description = replace(description, rules=rules)
    return unwrapping


def _rewritten(node: Any, change: Callable[[Term], Term]) -> Any:
    """A rule, or a part of it, with every event and fluent changed."""
    match node:
        case ec.FVP(fluent=fluent):
            return replace(node, fluent=change(fluent))
        case ec.Happens(event=event):
            return replace(node, event=change(event))
        case ec.EventRule(event=event, body=body):
            return replace(node, event=change(event), body=_rewritten(body, change))
        case ec.Grounding(entity=entity):
            return replace(node, entity=change(entity))
    if isinstance(node, ec.Clause | Term):
        return node
    return rebuilt(node, lambda part: _rewritten(part, change))


def _wrapped_positions(description: ec.EventDescription) -> dict[Key, frozenset[int]]:
    """The positions at which every mention of an entity has a compound term."""
    found: dict[Key, frozenset[int]] = {}

    def note(entity: Term) -> Term:
        args = args_of(entity)
        here = frozenset(i for i, arg in enumerate(args) if isinstance(arg, Compound))
        found[key_of(entity)] = found.get(key_of(entity), here) & here
        return entity

    for rule in description.rules:
        if not isinstance(rule, ec.InputFluent):  # a hint, which may well say `per(_)`
            _rewritten(rule, note)
    return {key: positions for key, positions in found.items() if positions}
