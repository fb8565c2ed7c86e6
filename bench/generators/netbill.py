"""A market for digital goods: see examples/netbill/generate.py."""

from __future__ import annotations

from .projects import ProjectGenerator

_generator = ProjectGenerator("netbill")
rules = _generator.rules
facts = _generator.facts
narrative = _generator.narrative
write = _generator.write
