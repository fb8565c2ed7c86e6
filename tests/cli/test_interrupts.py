"""Interrupts end a run where it waits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from horai.cli.live import Interrupts, patient


def test_an_interrupt_waits_until_work_is_done() -> None:
    interrupts = Interrupts()
    interrupts.hear(signal.SIGINT, None)
    with pytest.raises(KeyboardInterrupt):
        interrupts.while_waiting(lambda: pytest.fail("nobody waits any more"))


def test_who_waits_is_interrupted_at_once() -> None:
    interrupts = Interrupts()
    with pytest.raises(KeyboardInterrupt):
        interrupts.while_waiting(lambda: interrupts.hear(signal.SIGINT, None))
    assert interrupts.while_waiting(lambda: 3) == 3


def test_the_second_interrupt_does_not_wait() -> None:
    interrupts = Interrupts()
    interrupts.hear(signal.SIGINT, None)
    with pytest.raises(KeyboardInterrupt):
        interrupts.hear(signal.SIGINT, None)


def test_interrupts_of_others_are_left_alone() -> None:
    before = signal.getsignal(signal.SIGINT)

    def theirs(*_: object) -> None: ...

    try:
        signal.signal(signal.SIGINT, theirs)
        with patient():
            assert signal.getsignal(signal.SIGINT) is theirs
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with patient():
            assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


# --- in the first moments -----------------------------------------------------------------------

TOY = Path(__file__).parents[2] / "examples" / "toy"
AT = """
import importlib.abc, os, runpy, signal, sys

MODULE, sys.argv[1] = sys.argv[1], "run"
signal.signal(signal.SIGINT, signal.default_int_handler)  # tests in the background ignore it

class Interrupting(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == MODULE:
            os.kill(os.getpid(), signal.SIGINT)
        return None

sys.meta_path.insert(0, Interrupting())
runpy.run_module("horai", run_name="__main__")
"""


# Each takes a process: the first module of all, one that C code loads, one of ours and the last.
QUICK = ["numpy", "pyarrow.lib", "horai.cli.app", "horai.engine.core.session"]
SLOW = ["pyarrow", "click", "horai.cli.run", "horai.cli.command", "horai.lang.core.terms"]
SLOW += ["horai.rules", "lark"]


def _slow(*given: object) -> list[Any]:
    return [pytest.param(one, marks=pytest.mark.slow) for one in given]


@pytest.mark.parametrize("module", [*QUICK, *_slow(*SLOW)])
def test_an_interrupt_while_modules_are_read_is_no_traceback(module: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", AT, module], cwd=TOY, capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stderr) == (130, "error: interrupted\n")


@pytest.mark.parametrize("delay", [0.03, 0.4, *_slow(0.1, 0.2, 0.6)])
def test_an_interrupt_at_any_moment_is_no_traceback_of_ours(delay: float, tmp_path: Path) -> None:
    """Python itself may be interrupted before it gets to us, and a run may have ended by then."""
    words = [sys.executable, "-m", "horai", "run", "-o", str(tmp_path / "out.jsonl")]
    with subprocess.Popen(words, cwd=TOY, stderr=subprocess.PIPE, text=True) as run:
        time.sleep(delay)
        run.send_signal(signal.SIGINT)
        _, said = run.communicate()
    ours = f"{os.sep}horai{os.sep}"
    assert "Traceback" not in said or ours not in said.partition("Traceback")[2]
    assert run.returncode in (0, 130) or ours not in said
