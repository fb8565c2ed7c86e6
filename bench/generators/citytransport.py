"""Buses and trams of a city: see examples/citytransport/generate.py."""

from __future__ import annotations

from . import Generator

_generator = Generator("citytransport")
rules = _generator.rules
facts = _generator.facts
narrative = _generator.narrative
write = _generator.write
