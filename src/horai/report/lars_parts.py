"""Parts of a LARS program in words: what runs in buckets, by which argument, and what does not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from horai.plan.lars.findings import listed, named, place_of
from horai.plan.lars.keys import Unsplit
from horai.plan.lars.parts import Part, Parts


def part_lines(found: Parts) -> Iterator[str]:
    """A paragraph for each part."""
    for number, part in enumerate(found.parts, 1):
        how = "in buckets" if part.unsplit is None else "in one bucket"
        yield f"part {number} of {len(found.parts)}, {how}"
        yield f"  works out  {_names(part.makes)}"
        for place in sorted(set(part.places.values())):
            some = [one for one, at in part.places.items() if at == place]
            yield f"  by         argument {place + 1} of {_names(some)}"
        yield f"  signals    {_signals(part)}"
        if part.unsplit is not None:
            yield f"  unsplit    {_reason(part.unsplit)}"
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
            "unsplit": None if part.unsplit is None else _reason(part.unsplit),
        }
        for number, part in enumerate(found.parts, 1)
    ]


def _signals(part: Part) -> str:
    return "all" if _needs_all(part) else _names(part.reads - part.makes) or "none"


def _needs_all(part: Part) -> bool:
    return part.unsplit is not None and part.counts


def _reason(unsplit: Unsplit) -> str:
    place = None if unsplit.rule is None else place_of(unsplit.rule)
    return unsplit.reason + (f"  [{place}]" if place else "")


def _names(predicates: Iterable[tuple[str, int]]) -> str:
    return ", ".join(listed(predicates))
