"""The machine of the compiled engine, made so that it looks where it reads and writes.

Every place in an array is compared with its size, arrays move whenever they grow, the address
sanitizer sees what is read after that, and after each step all must fit together.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BESIDE = (
    "import tests.engine.checked_machine, numpy\n"
    "from horai.engine.core.machine import Machine\n"
    "Machine(None).describe(numpy.array([{line}]), numpy.zeros(1, int))\n"
)
SUITES = (
    "tests/engine/test_compiled.py",
    "tests/engine/test_saved.py",
    "tests/engine/test_memory.py",
    "tests/engine/test_threads.py",
    "tests/api/test_few_items.py",
)


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The surroundings of a process that runs on such a machine."""
    library = tmp_path_factory.mktemp("machine") / "machine.so"
    build = [sys.executable, "scripts/build_core.py", "--checked", str(library)]
    subprocess.run(build, cwd=ROOT, check=True)
    compiler = (os.environ.get("CC") or "cc").split()
    sanitizer = subprocess.check_output([*compiler, "-print-file-name=libasan.so"], text=True)
    return {
        **os.environ,
        "HORAI_CHECKED_MACHINE": str(library),
        "LD_PRELOAD": sanitizer.strip(),
        "ASAN_OPTIONS": "detect_leaks=0",  # Python keeps much until the end
    }


@pytest.mark.slow
def test_a_place_beside_an_array_is_noticed(checked: dict[str, str]) -> None:
    command = [sys.executable, "-c", BESIDE.format(line=5)]
    done = subprocess.run(command, cwd=ROOT, env=checked, capture_output=True, text=True)
    assert done.returncode and "place 5 of 0" in done.stderr


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("suite", SUITES)
def test_no_place_lies_beside_its_array(checked: dict[str, str], suite: str) -> None:
    pytest_ = [sys.executable, "-m", "pytest", "-p", "tests.engine.checked_machine", "-n", "0"]
    command = [*pytest_, "-q", "-m", "not slow", suite]
    done = subprocess.run(command, cwd=ROOT, env=checked, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
