"""Where rules stand."""

from __future__ import annotations

from horai.lang.ec import syntax as ec


def place_of(clause: ec.Clause) -> str:
    """File and line of a clause."""
    line, _ = clause.source.position(clause.span[0])
    return f"{clause.source.name}:{line}"
