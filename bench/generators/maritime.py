"""A fleet at sea: see examples/maritime/generate.py."""

from __future__ import annotations

from . import Generator

_generator = Generator("maritime")
rules = _generator.rules
facts = _generator.facts
narrative = _generator.narrative
write = _generator.write
