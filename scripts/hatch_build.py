"""Wheels bring the engine's machine compiled; one that is installed in place compiles it itself."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledMachine(BuildHookInterface):  # type: ignore[type-arg]
    """Compiles before a wheel is packed."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Let the wheel be one for this platform, with the library in it."""
        if version != "standard":
            return
        sys.path.insert(0, str(Path(__file__).parent))
        import build_core

        build_core.build()
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        for path in build_core.LIBRARIES:
            library = path.relative_to(build_core.ROOT)
            build_data["force_include"][str(library)] = str(library.relative_to("src"))
