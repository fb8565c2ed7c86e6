"""Generators of examples that name their rules in horai.toml and have no other background."""

from __future__ import annotations

import tomllib

from . import EXAMPLES, Generator


class ProjectGenerator(Generator):
    """As other generators; only where the rules come from differs."""

    def rules(self, entities: int) -> tuple[str, str]:
        """Text of the rules, and of the facts about so many entities."""
        folder = EXAMPLES / self.example
        project = tomllib.loads((folder / "horai.toml").read_text("utf-8"))["project"]
        texts = [(folder / name).read_text("utf-8") for name in project["rules"]]
        return "\n".join(texts), self.facts(entities)
