"""Fluents about actions: `per(close(C,M))` and `per(open(C,M))` are different fluents.

Where every mention of an entity gives a compound term as some argument, what that term is called
belongs to the name of the entity: rules for one of them say nothing of the other, and no cycle runs
through both. So such entities are unwrapped before evaluation, and wrapped again in answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from horai.lang.core.terms import Compound, Term
from horai.lang.ec.syntax import (
    FVP,
    Clause,
    EventDescription,
    EventRule,
    Grounding,
    Happens,
    InputFluent,
    Rule,
)
from horai.oracle.ec.world import Key, key_of

T = TypeVar("T")
Shape = tuple[Key | None, ...]  # per argument: what it was called and how many arguments it had


class Wrapping:
    """How the entities of a description are unwrapped."""

    def __init__(self, description: EventDescription) -> None:
        self._positions = _wrapped_positions(description)
        self._shapes: dict[Key, tuple[str, Shape]] = {}
        self.description = description
        if self._positions:
            rules: list[Rule] = [self._rewrite(rule) for rule in description.rules]
            self.description = replace(description, rules=rules)

    def unwrap(self, entity: Term) -> Term:
        """per(close(C,M)) as an entity of its own name with the arguments C and M."""
        positions = self._positions.get(key_of(entity))
        if not positions or not isinstance(entity, Compound):
            return entity
        args: list[Term] = []
        shape: list[Key | None] = []
        for position, arg in enumerate(entity.args):
            inside = position in positions and isinstance(arg, Compound)
            shape.append(
                (arg.name, len(arg.args)) if inside and isinstance(arg, Compound) else None
            )
            args.extend(arg.args if inside and isinstance(arg, Compound) else (arg,))
        if all(shape[position] is None for position in positions):
            return entity
        name = f"{entity.name}({','.join(part[0] if part else '_' for part in shape)})"
        flat = Compound(name, tuple(args), entity.span)
        self._shapes[key_of(flat)] = (entity.name, tuple(shape))
        return flat

    def wrap(self, entity: Term) -> Term:
        """The entity as it is written."""
        known = self._shapes.get(key_of(entity))
        if known is None or not isinstance(entity, Compound):
            return entity
        name, shape = known
        rest = iter(entity.args)
        args = [
            next(rest) if part is None else Compound(part[0], tuple(_take(rest, part[1])))
            for part in shape
        ]
        return Compound(name, tuple(args))

    def _rewrite(self, node: T) -> T:
        """A rule or condition with every entity in it unwrapped."""
        match node:
            case FVP(fluent=fluent):
                return replace(node, fluent=self.unwrap(fluent))
            case Happens(event=event):
                return replace(node, event=self.unwrap(event))
            case EventRule(event=event, body=body):
                return replace(node, event=self.unwrap(event), body=self._rewrite(body))
            case Grounding(entity=entity):
                return replace(node, entity=self.unwrap(entity))
            case tuple():
                return tuple(self._rewrite(item) for item in node)  # type: ignore[return-value]
        if not is_dataclass(node) or isinstance(node, Clause | Term):
            return node
        changes: dict[str, Any] = {
            f.name: self._rewrite(getattr(node, f.name)) for f in fields(node)
        }
        return replace(node, **changes)  # type: ignore[type-var]


def _take(source: Iterator[Term], count: int) -> Iterator[Term]:
    for _ in range(count):
        yield next(source)


def _wrapped_positions(description: EventDescription) -> dict[Key, frozenset[int]]:
    """Argument positions at which every mention of an entity has a compound term."""
    found: dict[Key, frozenset[int]] = {}
    for rule in description.rules:
        for entity in _entities(rule):
            args = entity.args if isinstance(entity, Compound) else ()
            here = frozenset(i for i, arg in enumerate(args) if isinstance(arg, Compound))
            key = key_of(entity)
            found[key] = found[key] & here if key in found else here
    return {key: positions for key, positions in found.items() if positions}


def _entities(node: object) -> Iterator[Term]:
    """Every event and fluent in a rule. Hints are left out: they may well say `per(_)`."""
    match node:
        case InputFluent():
            return
        case FVP(fluent=fluent):
            yield fluent
        case Happens(event=event):
            yield event
        case EventRule(event=event, body=body):
            yield event
            yield from _entities(body)
        case Grounding(entity=entity):
            yield entity
        case tuple():
            for item in node:
                yield from _entities(item)
        case _:
            if is_dataclass(node) and not isinstance(node, Clause | Term):
                for field in fields(node):
                    yield from _entities(getattr(node, field.name))
