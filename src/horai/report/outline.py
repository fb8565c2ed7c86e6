"""How a LARS program is worked out, for people and machines: fragment, engines, layers of rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from horai.errors import counted
from horai.plan.lars.check import place_of

if TYPE_CHECKING:
    from horai.plan.lars.fragments import Classification
    from horai.runtime.lars.engines import EngineChoice
    from horai.runtime.lars.outline import LarsOutline, LarsRuleOutline, PredicateLayer

_LIVE = {
    True: "from tick to tick: at the cost of what changes",
    False: "from tick to tick: each query from the signals that windows still reach",
}


def kind_lines(kind: Classification) -> Iterator[str]:
    """The fragment, what is used, and why it is not a smaller one."""
    uses = f" ({', '.join(sorted(kind.features))})" if kind.features else ""
    yield f"fragment: {kind.fragment}{uses}"
    for reason in kind.reasons[:3]:
        place = None if reason.rule is None else place_of(reason.rule)
        yield f"  because {reason.text}{f' ({place})' if place else ''}"


def engine_lines(together: EngineChoice, stepwise: EngineChoice) -> Iterator[str]:
    """Who runs the program over whole streams, and who one query time after the other, and why."""
    yield f"engine: {together.name}"
    yield from (f"  because {why}" for why in together.reasons)
    if stepwise != together:
        yield f"engine live, with --allowed-lateness and in sessions: {stepwise.name}"
        yield from (f"  because {why}" for why in stepwise.reasons)


def outline_lines(found: LarsOutline) -> Iterator[str]:
    """The whole outline, for people."""
    yield from kind_lines(found.kind)
    yield from engine_lines(found.engine, found.stepwise)
    if found.is_live is not None:
        yield f"  {_LIVE[found.is_live]}"
    for number, layer in enumerate(found.layers, 1):
        yield ""
        yield f"{number}. {_title(layer)}"
        for rule in layer.rules:
            yield from _rule_lines(rule)


def _title(layer: PredicateLayer) -> str:
    if not layer.predicates:
        return f"{counted(len(layer.rules), 'constraint')}: no answer where one is broken"
    how = ", in rounds until nothing is new" if layer.recursive else ""
    return f"{', '.join(layer.predicates)}{how}"


def _rule_lines(rule: LarsRuleOutline) -> Iterator[str]:
    place = f"  [{rule.place}]" if rule.place else ""
    yield f"   {rule.text}{place}"
    width = max((len(operator) for operator, _ in rule.steps), default=0)
    yield from (f"     {operator:{width}}  {text}" for operator, text in rule.steps)


def outline_json(found: LarsOutline) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "fragment": str(found.kind.fragment),
        "features": sorted(found.kind.features),
        "reasons": [reason.text for reason in found.kind.reasons],
        "engine": found.engine.name,
        "why": found.engine.reasons,
        "stepwise": {"engine": found.stepwise.name, "why": found.stepwise.reasons},
        "live": found.is_live,
        "layers": [asdict(layer) for layer in found.layers],
    }
