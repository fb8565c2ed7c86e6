"""People in front of a camera: see examples/activities/generate.py."""

from __future__ import annotations

from .projects import ProjectGenerator

_generator = ProjectGenerator("activities")
rules = _generator.rules
facts = _generator.facts
narrative = _generator.narrative
write = _generator.write
