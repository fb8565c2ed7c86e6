"""Findings about texts of both languages, as the list of codes shows them."""

from __future__ import annotations

from horai.lang.diagnostics import Diagnostic
from horai.lang.ec.builder import read_text
from horai.lang.lars.reader import read_text as read_lars
from horai.plan.both.check import check
from horai.plan.both.exchange import exchange
from horai.plan.entity_finding import find_entities


def example_findings(events: str, windows: str) -> list[Diagnostic]:
    """What is wrong between a description and a program, without a clock."""
    description, _ = read_text(events, "rules.ec")
    program, _ = read_lars(windows, "program.lars")
    entities = find_entities(description)
    passing = exchange(entities, program)
    return check(description, entities, program, passing, has_clock=False)
