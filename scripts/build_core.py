"""Compile the engine's machine and loops in place, if their sources have changed since then.

The numbers of the machine's declarations come from `horai.plan.ec.instructions`, so that rules are
lowered to the same numbers that it knows.

`--checked FILE` compiles one for tests, elsewhere: every place in an array is compared with its
size, arrays are as large as they have to be and move when they grow, after each step the machine
looks whether all it knows fits together, and the address sanitizer sees the rest.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]
CORE = ROOT / "src" / "horai" / "engine" / "core"
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")


def _loaded(path: Path) -> ModuleType:
    """A module of Horai that needs no other, so that nothing has to be installed."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


BUILT = _loaded(CORE / "built.py")
NUMBERING, SIGNALS, NUMBERS = BUILT.SOURCES[:3]
MACHINE, VIEWS = BUILT.PARTS
STRUCTS = MACHINE / "structs.pxi"
COMPILED = (CORE / "machine.py", NUMBERING, SIGNALS, CORE / "views.py")
LIBRARIES = [path.with_name(f"{path.stem}{SUFFIX}") for path in COMPILED]
SINGLE = ["WIDTH", "FIELDS", "ANY", "GHOST", "INITIATED", "BARRED", "EVENT_SAID", "SPAN_SAID"]
SINGLE += ("BOUND_IN_KEY", "OPEN_NEVER", "OWN_LINE", "OTHER_LINE", "VALUE_IN_KEY", "NEEDED")
SINGLE += ("TO_LISTS", "TO_COVER", "TO_KNOWN", "TO_ROW", "FORM", "FORMS", "BEYOND")
SINGLE += ("TO_TELL", "HEARS", "NAMED")
SINGLE += ("FRESH", "RULES_AT", "PEND", "MET", "ALL_RULES", "REGISTERS")
LARGE = ["INF", "LARGEST", "ROUNDS", "DEEPEST", "CALLS", "BEGUN", "ENDED", "EFFECTS", "SAID"]
# No C compiler takes the large ones for an enum.
LARGE += ("EXACT", "SAID_BEGINS", "SAID_ENDS", "BEGINNING", "ENDING", "CHAINED")
FLAGS = ["-O2", "-fPIC", "-fwrapv", "-fno-strict-aliasing", "-w"]


CHECKED = ["-O1", "-g", "-fsanitize=address", "-fno-omit-frame-pointer", "-DHORAI_CHECKED"]
ARRAY = re.compile(r"(__pyx_v_S->(\w+))\[")


def build(force: bool = False) -> bool:
    """Compile if there is need to; False if there was none."""
    stamp = f"{BUILT.digest()}\n{_tools()}\n"
    are_there = BUILT.STAMP.is_file() and all(library.is_file() for library in LIBRARIES)
    if not force and are_there and BUILT.STAMP.read_text(encoding="utf-8") == stamp:
        BUILT.STAMP.touch()  # of sources that are newer it says the same
        return False
    for source, library in zip(COMPILED, LIBRARIES, strict=True):
        new = library.with_suffix(".new")
        _compile(source, source.with_suffix(".c"), new, FLAGS)
        new.replace(library)  # a process that has the old one mapped keeps it
    BUILT.STAMP.write_text(stamp, encoding="utf-8")
    return True


def build_checked(library: Path) -> None:
    """Compile a machine that looks where it reads and writes."""
    _compile(COMPILED[0], library.with_suffix(".c"), library, [*FLAGS, *CHECKED], with_bounds)


def with_bounds(code: str) -> str:
    """C code in which places in arrays of the state are compared with their sizes."""
    sized = set(re.findall(r"(\w+)_size\b", STRUCTS.read_text(encoding="utf-8")))
    found: list[str] = []
    ends: list[int] = []  # where places end that have begun
    sizes: list[str] = []
    last = 0
    for match in ARRAY.finditer(code):
        if match[2] not in sized:
            continue
        while ends and ends[-1] < match.start():
            found += [code[last : ends[-1]], f", __pyx_v_S->{sizes.pop()}_size)"]
            last = ends.pop()
        found += [code[last : match.end()], "HORAI_INSIDE("]
        last = match.end()
        ends.append(_closing(code, last))
        sizes.append(match[2])
    while ends:
        found += [code[last : ends[-1]], f", __pyx_v_S->{sizes.pop()}_size)"]
        last = ends.pop()
    return "".join([*found, code[last:]])


def _closing(code: str, place: int) -> int:
    """Where the bracket that is open closes."""
    depth = 1
    while depth:
        depth += (code[place] == "[") - (code[place] == "]")
        place += 1
    return place - 1


def _compile(
    source: Path,
    code: Path,
    library: Path,
    flags: list[str],
    changed: Callable[[str], str] | None = None,
) -> None:
    made = joined(source)
    try:
        cython = [sys.executable, "-m", "cython", "-3", str(source), "-o", str(code)]
        subprocess.run(cython, check=True)
    finally:
        for path in made:
            path.unlink()
    if changed is not None:
        code.write_text(changed(code.read_text(encoding="utf-8")), encoding="utf-8")
    compiler = (os.environ.get("CC") or "cc").split()
    include = sysconfig.get_paths()["include"]
    command = [*compiler, "-shared", *flags, f"-I{include}", str(code), "-o", str(library)]
    subprocess.run(command, check=True)
    code.unlink()


def joined(source: Path) -> list[Path]:
    """Write a module whose parts are files of a folder, with its declarations; what was written."""
    folder = next((one for one in BUILT.PARTS if one.name == source.stem), None)
    if folder is None:
        return []
    first = folder / source.name  # it says what all of them are, and what they need of C
    parts = [first, *sorted(set(folder.glob("*.py")) - {first})]
    source.write_text("\n\n".join(part.read_text(encoding="utf-8") for part in parts), "utf-8")
    declared = source.with_suffix(".pxd")
    if folder == MACHINE:
        declared.write_text(declarations(_loaded(NUMBERS)), encoding="utf-8")
    else:
        declared.write_text((folder / declared.name).read_text(encoding="utf-8"), encoding="utf-8")
    return [source, declared]


def declarations(numbers: ModuleType) -> str:
    """The text of `machine.pxd`: numbers, then structs."""
    lists = [numbers.CODES, numbers.FIELDS_OF_COLUMNS, numbers.KINDS, numbers.TABLES]
    lists += [numbers.SITES, numbers.LETTERS]
    lines = [f"    {name} = {value}" for names in lists for value, name in enumerate(names)]
    lines += [f"    {name} = {getattr(numbers, name)}" for name in SINGLE]
    lines += [f"    ALLEN_{name.upper()} = {n}" for n, name in enumerate(numbers.RELATIONS)]
    lines += [f"    TOTAL_{name.upper()} = {n}" for n, name in enumerate(numbers.TOTALS)]
    lines += [f"    MODE_{name.upper()} = {n}" for n, name in enumerate(numbers.MODES)]
    large = [
        "cdef extern from *:",
        '    """',
        *(f"    #define HORAI_{name} {getattr(numbers, name)}LL" for name in LARGE),
        '    """',
        *(f'    const long long {name} "HORAI_{name}"' for name in LARGE),
    ]
    head = "# Made by scripts/build_core.py from plan/ec/instructions.py and structs.pxi."
    return "\n".join([head, "cdef enum:", *lines, "", *large, "", STRUCTS.read_text()])


def _tools() -> str:
    """Tells apart with what sources are compiled."""
    found = hashlib.sha256(f"{sys.version} {FLAGS}".encode())
    found.update(Path(__file__).read_bytes())
    return found.hexdigest()


if __name__ == "__main__":
    if "--checked" in sys.argv:
        build_checked(Path(sys.argv[sys.argv.index("--checked") + 1]))
        sys.exit()
    print("compiled" if build("--force" in sys.argv) else "up to date")
