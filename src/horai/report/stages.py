"""Stages and parts in words: what runs in buckets, by which argument, and what is exchanged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from horai.plan.ec.entities import Kind
from horai.plan.lars.check import listed, named
from horai.plan.lars.check import place_of as place_of_rule
from horai.plan.split.demands import EntityKey, Path
from horai.plan.split.lars import Parts
from horai.plan.split.stages import Stage

Json = dict[str, Any]


def stages_json(stages: Sequence[Stage]) -> list[Json]:
    """The stages of rules of the Event Calculus as plain values."""
    maker = {entity: stage.number + 1 for stage in reversed(stages) for entity in stage.makes}
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
            "given": {_name(entity): maker[entity] for entity in stage.given},
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
                {
                    "entities": [_name(e) for e in one.entities],
                    "reason": _placed(one.reason, None if one.clause is None else one.clause.place),
                }
                for one in stage.unsplit
            ],
        }
        for stage in stages
    ]


def stage_lines(stages: Sequence[Json]) -> Iterator[str]:
    """A paragraph for each stage of `stages_json`."""
    for stage in stages:
        yield f"stage {stage['stage']} of {len(stages)}, {_how(stage)}"
        yield _line("works out", _words(stage["makes"]))
        yield from _by_argument(stage["keys"])
        if stage["items"]:
            yield _line("items", _words(stage["items"]))
        for name, maker in stage["given"].items():
            yield _line("gets", f"{name} of stage {maker}{_where(name, stage)}")
        for name in stage["items"]:
            if where := _where(name, stage):
                yield _line("gets", f"{name} from the stream{where}")
        for one in stage["unsplit"]:
            yield _line("unsplit", f"{_words(one['entities'])}: {one['reason']}")
        yield ""


def parts_json(found: Parts) -> list[Json]:
    """The parts of a LARS program as plain values."""
    told: list[Json] = []
    for number, part in enumerate(found.parts, 1):
        one, keys = part.unsplit, {named(it): place + 1 for it, place in part.places.items()}
        place = None if one is None or one.rule is None else place_of_rule(one.rule)
        needs_all = one is not None and part.counts
        told.append(
            {
                "part": number,
                "split": one is None,
                "makes": listed(part.makes),
                "keys": {name: keys[name] for name in listed(part.places)},
                "signals": "all" if needs_all else listed(part.reads - part.makes),
                "unsplit": None if one is None else _placed(one.reason, place),
            }
        )
    return told


def part_lines(parts: Sequence[Json]) -> Iterator[str]:
    """A paragraph for each part of `parts_json`."""
    for part in parts:
        yield f"part {part['part']} of {len(parts)}, {_how(part)}"
        yield _line("works out", _words(part["makes"]))
        yield from sorted(_by_argument(part["keys"]))
        signals = part["signals"]
        yield _line("signals", signals if signals == "all" else _words(signals) or "none")
        if part["unsplit"] is not None:
            yield _line("unsplit", part["unsplit"])
        yield ""


def _how(one: Json) -> str:
    return "in buckets" if one["split"] else "in one bucket"


def _line(word: str, text: str) -> str:
    return f"  {word:10} {text}"


def _by_argument(keys: Mapping[str, object]) -> Iterator[str]:
    """The keys of what is made, and of the items and answers that come by key."""
    for argument in dict.fromkeys(keys.values()):
        names = [name for name, at in keys.items() if at == argument]
        yield _line("by", f"argument {argument} of {_words(names)}")


def _where(name: str, stage: Json) -> str:
    """Which rows come by joins: `where its argument 1 is argument 1 or 2 of close/2`."""
    meetings: dict[tuple[str, str], dict[str, None]] = {}
    for join in stage["joins"]:
        if join["entity"] == name:
            there = meetings.setdefault((join["argument"], join["with"]), {})
            there[join["its_argument"]] = None
    words = [
        f"its argument {place} is argument {' or '.join(there)} of {anchor}"
        for (place, anchor), there in meetings.items()
    ]
    return f", where {', or '.join(words)}" if words else ""


def _placed(reason: str, place: str | None) -> str:
    return f"{reason}  [{place}]" if place else reason


def _argument(place: Path) -> str:
    return ".".join(str(step + 1) for step in place)


def _name(entity: EntityKey) -> str:
    return f"{entity[1]}/{entity[2]}"


def _words(names: Iterable[str]) -> str:
    return ", ".join(names)
