"""No pattern takes forever on a text that was made for it."""

import importlib
import pkgutil
import re

import pytest

import horai

PIECES = ["1", "a", " ", "'", '"', "\\", "(", "-1 ", "(1,2) ", "/*", "%", "''", "\\x1", "1.1", "a,"]
PIECES += ["h:1,", "\t ", "=", "_", "A1", "[", "1e", "-", "\n", "T1:", "*/", "a:", "/", ".", "0-"]
ENDS = ["", "x", "\x00", "'", "(", "!", "\n"]
TIMES = 60  # what doubles with each piece would take longer than anybody lives


def _patterns() -> dict[str, re.Pattern[str]]:
    """All that the sources have, by the name that they have there."""
    found = {}
    for module in pkgutil.walk_packages(horai.__path__, "horai."):
        if module.name.endswith("__main__") or ".template" in module.name:
            continue
        for name, thing in vars(importlib.import_module(module.name)).items():
            if isinstance(thing, re.Pattern) and isinstance(thing.pattern, str):
                found[thing.pattern] = (f"{module.name}.{name}", thing)
    return dict(found.values())


PATTERNS = _patterns()


@pytest.mark.parametrize("name", sorted(PATTERNS))
def test_patterns_end(name: str) -> None:
    pattern = PATTERNS[name]
    for text in (piece * TIMES + end for piece in PIECES for end in ENDS):
        pattern.fullmatch(text)
        pattern.match(text)
        pattern.search(text)
