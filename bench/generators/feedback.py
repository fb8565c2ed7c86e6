"""Feedback loops of hosts and bacteria: see examples/feedback/generate.py."""

from __future__ import annotations

from .projects import ProjectGenerator

_generator = ProjectGenerator("feedback")
rules = _generator.rules
facts = _generator.facts
narrative = _generator.narrative
write = _generator.write
