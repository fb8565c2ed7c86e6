"""Stages and parts in words: what runs in buckets, by which argument, and what is exchanged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from horai.plan.ec.entities import Kind, place_of
from horai.plan.lars.check import listed, named
from horai.plan.lars.check import place_of as place_of_rule
from horai.plan.split.demands import EntityKey, Path
from horai.plan.split.lars import Parts, ProgramPart, UnsplitProgram
from horai.plan.split.stages import Stage, Unsplit


def stage_lines(stages: Sequence[Stage]) -> Iterator[str]:
    """A paragraph for each stage."""
    for stage in stages:
        how = "in buckets" if stage.is_split else "in one bucket"
        yield f"stage {stage.number + 1} of {len(stages)}, {how}"
        yield f"  works out  {_names(stage.makes)}"
        for words in _by_place(stage):
            yield f"  by         {words}"
        if stage.items:
            yield f"  items      {_names(stage.items)}"
        for entity in stage.given:
            maker = f"stage {_maker(entity, stages)}"
            yield f"  gets       {_name(entity)} of {maker}{_how(entity, stage)}"
        for entity in stage.items:
            if how := _how(entity, stage):
                yield f"  gets       {_name(entity)} from the stream{how}"
        for one in stage.unsplit:
            yield f"  unsplit    {_names(one.entities)}: {_reason(one)}"
        yield ""


def stages_json(stages: Sequence[Stage]) -> list[dict[str, Any]]:
    """The same as plain values."""
    return [
        {
            "stage": stage.number + 1,
            "split": stage.is_split,
            "makes": [_name(entity) for entity in stage.makes],
            "keys": {
                _name(e): _argument(place)
                for e, place in stage.places.items()
                if e[0] is not Kind.DOMAIN
            },
            "items": [_name(entity) for entity in stage.items],
            "given": {_name(entity): _maker(entity, stages) for entity in stage.given},
            "joins": [
                {
                    "entity": _name(join.entity),
                    "argument": _argument(join.place),
                    "with": _name(join.anchor),
                    "its_argument": _argument(join.meeting),
                }
                for join in stage.joins
            ],
            "unsplit": [
                {"entities": [_name(e) for e in one.entities], "reason": _reason(one)}
                for one in stage.unsplit
            ],
        }
        for stage in stages
    ]


def _by_place(stage: Stage) -> Iterator[str]:
    """The keys of what a stage makes, and of the items and answers it gets by key."""
    groups: dict[Path, list[EntityKey]] = {}
    for entity, place in stage.places.items():
        if entity[0] is not Kind.DOMAIN:
            groups.setdefault(place, []).append(entity)
    for place, entities in groups.items():
        yield f"argument {_argument(place)} of {_names(entities)}"


def _how(entity: EntityKey, stage: Stage) -> str:
    """Which rows come by joins: `where its argument 1 is argument 1 or 2 of close/2`."""
    meetings: dict[tuple[Path, EntityKey], list[str]] = {}
    for join in stage.joins:
        if join.entity == entity:
            there = meetings.setdefault((join.place, join.anchor), [])
            if (argument := _argument(join.meeting)) not in there:
                there.append(argument)
    words = [
        f"its argument {_argument(place)} is argument {' or '.join(there)} of {_name(anchor)}"
        for (place, anchor), there in meetings.items()
    ]
    return f", where {', or '.join(words)}" if words else ""


def _maker(entity: EntityKey, stages: Sequence[Stage]) -> int:
    return next(stage.number + 1 for stage in stages if entity in stage.makes)


def _reason(one: Unsplit) -> str:
    place = "" if one.clause is None else f"  [{place_of(one.clause)}]"
    return f"{one.reason}{place}"


def _argument(place: Path) -> str:
    return ".".join(str(step + 1) for step in place)


def _name(entity: EntityKey) -> str:
    return f"{entity[1]}/{entity[2]}"


def _names(entities: Sequence[EntityKey]) -> str:
    return ", ".join(map(_name, entities))


def part_lines(found: Parts) -> Iterator[str]:
    """A paragraph for each part."""
    for number, part in enumerate(found.parts, 1):
        how = "in buckets" if part.unsplit is None else "in one bucket"
        yield f"part {number} of {len(found.parts)}, {how}"
        yield f"  works out  {_lars_parts_names(part.makes)}"
        for place in sorted(set(part.places.values())):
            some = [one for one, at in part.places.items() if at == place]
            yield f"  by         argument {place + 1} of {_lars_parts_names(some)}"
        yield f"  signals    {_signals(part)}"
        if part.unsplit is not None:
            yield f"  unsplit    {_lars_parts_reason(part.unsplit)}"
        yield ""


def parts_json(found: Parts) -> list[dict[str, Any]]:
    """The same as plain values."""
    return [
        {
            "part": number,
            "split": part.unsplit is None,
            "makes": listed(part.makes),
            "keys": {named(one): place + 1 for one, place in sorted(part.places.items())},
            "signals": "all" if _needs_all(part) else listed(part.reads - part.makes),
            "unsplit": None if part.unsplit is None else _lars_parts_reason(part.unsplit),
        }
        for number, part in enumerate(found.parts, 1)
    ]


def _signals(part: ProgramPart) -> str:
    return "all" if _needs_all(part) else _lars_parts_names(part.reads - part.makes) or "none"


def _needs_all(part: ProgramPart) -> bool:
    return part.unsplit is not None and part.counts


def _lars_parts_reason(unsplit: UnsplitProgram) -> str:
    place = None if unsplit.rule is None else place_of_rule(unsplit.rule)
    return unsplit.reason + (f"  [{place}]" if place else "")


def _lars_parts_names(predicates: Iterable[tuple[str, int]]) -> str:
    return ", ".join(listed(predicates))
