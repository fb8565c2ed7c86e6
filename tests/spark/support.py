"""What a result says, to be compared."""

from __future__ import annotations

from typing import Any

from horai.result import Result


def told(result: Result | Exception) -> dict[str, Any]:
    """Everything that a result says, or what went wrong instead."""
    if isinstance(result, Exception):
        return {"problem": f"{type(result).__name__}: {result}"}
    return {
        "windows": result.rows("windows"),
        "changelog": result.rows("changelog"),
        "final": result.rows("final"),
        "letters": sorted(result.dead_letters),
        "metrics": result.metrics.to_dict(),
        "warnings": sorted(
            (one.code, one.position, one.message, one.note) for one in result.warnings
        ),
    }
