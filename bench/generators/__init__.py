"""Streams to measure with: the generators of the examples, loaded from their folders.

    from generators import maritime                      # in a script of this folder
    rules = horai.loads(*maritime.rules(5_000))
    narrative = maritime.narrative(10_000_000, 5_000)

The examples own the code, because they have to run without this folder.
"""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType

from horai.io import Narrative

EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass(frozen=True)
class Generator:
    """The generator of an example, and its rules for any number of entities."""

    example: str

    @cached_property
    def _module(self) -> ModuleType:
        path = EXAMPLES / self.example / "generate.py"
        name = f"{self.example}_generate"
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise ImportError(f"cannot load {path}")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module

    def rules(self, entities: int) -> tuple[str, str]:
        """Text of the rules, and of the background with the facts about so many entities."""
        folder = EXAMPLES / self.example
        texts = [(folder / name).read_text("utf-8") for name in ("rules.ec", "background.ec")]
        return texts[0], texts[1] + self.facts(entities)

    def facts(self, entities: int) -> str:
        """What the rules have to know about each entity."""
        text: str = self._module.facts(entities)
        return text

    def narrative(
        self,
        events: int,
        entities: int,
        seed: int = 7,
        late: float = 0.0,
        retracted: float = 0.0,
        mean_delay: float = 900.0,
    ) -> Narrative:
        """So many items in memory; `late` and `retracted` are shares, retractions come on top."""
        lateness = self._module.Lateness(late, retracted, mean_delay)
        made: Narrative = self._module.narrative(events, entities, seed, lateness)
        return made

    def write(
        self,
        path: Path,
        events: int,
        entities: int,
        seed: int = 7,
        late: float = 0.0,
        retracted: float = 0.0,
        mean_delay: float = 900.0,
    ) -> None:
        """The same items as a narrative file."""
        lateness = self._module.Lateness(late, retracted, mean_delay)
        self._module.stream(events, entities, seed, lateness).write(path)
