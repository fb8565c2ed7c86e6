"""The engines that run all of the language and save what they know."""

from __future__ import annotations

from horai.runtime.engines import ENGINES

WHOLE = sorted(set(ENGINES) - {"compiled"})  # which says what it has no instructions for
