"""Committees that vote: see examples/voting/generate.py."""

from __future__ import annotations

from .projects import ProjectGenerator

_generator = ProjectGenerator("voting")
rules = _generator.rules
facts = _generator.facts
narrative = _generator.narrative
write = _generator.write
