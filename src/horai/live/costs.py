"""What rules cost so far: by rule where the engine tells, else of all of them together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from horai.plan.ec.outline import outline
from horai.report.plan import plan_json
from horai.runtime.engines import AUTO
from horai.settings import EC, RunSettings

if TYPE_CHECKING:
    from horai.engine.profile import Profile

PROFILED = ("columnar", "compiled", AUTO)


def can_be_profiled(settings: RunSettings) -> bool:
    """Does the engine tell what each rule costs?"""
    return settings.language == EC and settings.engine in PROFILED


def costs(profile: Profile | None, seconds: float) -> dict[str, Any]:
    """Seconds of each rule, and of what is done with all rules of a component together."""
    if profile is None or profile.program is None:
        return {"by": "run", "seconds": seconds, "rows": []}
    found = plan_json(outline(profile.program), profile)
    rows = []
    for component in found["components"]:
        name = ", ".join(component["entities"])
        rows += [_row(rule["head"], rule["place"], rule["actual"]) for rule in component["rules"]]
        beside = {"seconds": component["actual"]["seconds_settling"], "rows": None}
        rows.append(_row(f"{name}: what all its rules say, put together", "", beside))
    rows.sort(key=lambda row: -row["seconds"])
    actual = found["actual"]
    return {
        "by": "rule",
        "seconds": actual["seconds"],
        "elsewhere": actual["seconds_elsewhere"],
        "rows": [row for row in rows if row["seconds"] or row["rows"]],
    }


def _row(what: str, place: str, actual: dict[str, Any]) -> dict[str, Any]:
    return {"what": what, "place": place, "seconds": actual["seconds"], "rows": actual["rows"]}
