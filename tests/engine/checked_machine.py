"""A plugin of pytest: all tests run on the machine that HORAI_CHECKED_MACHINE names.

`scripts/build_core.py --checked FILE` makes one that looks where it reads and writes.
"""

from __future__ import annotations

import importlib.util
import os
import sys

import horai.engine.core

NAME = "horai.engine.core.machine"
assert NAME not in sys.modules
_spec = importlib.util.spec_from_file_location(NAME, os.environ["HORAI_CHECKED_MACHINE"])
assert _spec is not None and _spec.loader is not None
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
sys.modules[NAME] = _module
vars(horai.engine.core)["machine"] = _module
