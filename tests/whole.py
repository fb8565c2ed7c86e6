"""The engines that run all of the language and save what they know."""

from __future__ import annotations

from horai.runtime.engines import AUTO, ENGINES

WHOLE = sorted(set(ENGINES) - {AUTO})  # which is one of the others
