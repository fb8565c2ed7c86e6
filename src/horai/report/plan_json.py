"""A plan for machines. Keys are stable: new ones may come, none goes or changes its meaning."""

from __future__ import annotations

from typing import Any

from horai.engine.profile import Windows
from horai.plan.outline import (
    ComponentOutline,
    GroundingOutline,
    OperatorOutline,
    PartOutline,
    PlanOutline,
    RuleOutline,
)
from horai.report.plan_numbers import PlanNumbers
from horai.report.plan_text import Updates

Json = dict[str, Any]


def plan_json(
    plan: PlanOutline, numbers: PlanNumbers | None = None, updates: Updates | None = None
) -> Json:
    """The plan as plain values; with the numbers of a run, `actual` is there everywhere."""
    found: Json = {
        "estimates": "for the given input" if plan.counted else "for 1000 items of each type",
        "inputs": [
            {"kind": one.kind, "name": one.name, "arity": one.arity, "rows": one.rows}
            for one in plan.inputs
        ],
        "components": [_component(one, numbers, updates or {}) for one in plan.components],
        "groundings": [_grounding(one) for one in plan.groundings],
    }
    if numbers is not None:
        profile = numbers.profile
        found["actual"] = {
            "queries": profile.queries,
            "seconds": _seconds(profile.seconds),
            "seconds_elsewhere": _seconds(numbers.elsewhere),
        }
    return found


def _component(one: ComponentOutline, numbers: PlanNumbers | None, updates: Updates) -> Json:
    found: Json = {
        "id": str(one.number),
        "level": one.level,
        "entities": list(one.names),
        "members": list(one.members),
        "cyclic": one.cyclic,
        "settled": {"way": one.settling.way, "reason": one.settling.reason},
        "partition": {"key": one.key, "reason": one.no_key},
        "rules": [
            _rule(rule, f"{one.number}.{place}", numbers) for place, rule in enumerate(one.rules, 1)
        ],
    }
    if one.id in updates:
        update = updates[one.id]
        found["by_change"] = {"kind": update.kind, "reason": update.reason}
    if numbers is not None:
        stats = numbers.component(one)
        found["actual"] = {
            "way": numbers.profile.ways.get(one.id),
            "seconds": _seconds(stats.seconds),
            "seconds_settling": _seconds(numbers.settling(one)),
            "share": round(numbers.share(stats.seconds), 4),
            "windows": _windows(numbers.windows(one)),
        }
    return found


def _windows(found: Windows) -> Json:
    return {
        "by_change": found.by_change,
        "from_scratch": found.from_scratch,
        "rows": found.rows,
        "asked_again": found.asked_again,
        "seconds_by_change": _seconds(found.seconds),
        "seconds_last_from_scratch": _seconds(found.last),
    }


def _rule(one: RuleOutline, name: str, numbers: PlanNumbers | None) -> Json:
    looks = one.looks
    found: Json = {
        "id": name,
        "defines": one.defines,
        "kind": one.kind,
        "head": one.head,
        "place": one.place,
        "effect": one.effect,
        "from_grounding": list(one.grounded),
        "looks": {"back": looks.back, "ahead": looks.ahead, "final": looks.final},
        "rows": _rows(one.estimate),
        "parts": _parts(one.parts, name, numbers),
    }
    if numbers is not None:
        stats = numbers.rule(one)
        found["actual"] = {
            "calls": stats.calls,
            "rows": stats.rows_out,
            "seconds": _seconds(stats.seconds),
        }
    return found


def _parts(parts: tuple[PartOutline, ...], name: str, numbers: PlanNumbers | None) -> list[Json]:
    found, count = [], 0
    for part in parts:
        operators = []
        for one in part.operators:
            count += 1
            operators.append(_operator(one, f"{name}.{count}", numbers))
        found.append({"label": part.label, "operators": operators})
    return found


def _operator(one: OperatorOutline, name: str, numbers: PlanNumbers | None) -> Json:
    found: Json = {
        "id": name,
        "operator": one.operator,
        "text": one.text,
        "note": one.note,
        "binds": list(one.binds),
        "rows": _rows(one.estimate),
        "inside": _parts(one.inside, name, numbers),
    }
    if numbers is not None:
        stats = numbers.operator(one)
        found["actual"] = stats and {
            "calls": stats.calls,
            "rows_in": stats.rows_in,
            "rows_out": stats.rows_out,
            "seconds": _seconds(stats.seconds),
        }
    return found


def _grounding(one: GroundingOutline) -> Json:
    part = PartOutline("", one.operators)
    return {
        "entity": one.entity,
        "place": one.place,
        "rows": _rows(one.estimate),
        "parts": _parts((part,), one.entity, None),
    }


def _rows(estimate: float) -> float:
    return round(estimate, 1)


def _seconds(seconds: float) -> float:
    return round(seconds, 6)
