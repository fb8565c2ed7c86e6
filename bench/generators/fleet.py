"""Commercial vehicles on the road: see examples/fleet/generate.py."""

from __future__ import annotations

from . import Generator

_generator = Generator("fleet")
rules = _generator.rules
facts = _generator.facts
narrative = _generator.narrative
write = _generator.write
