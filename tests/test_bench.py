"""The measurements run, with tiny sizes; how fast is not asked here."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[1] / "bench"
SIZES = {
    "bench_core.py": ["--quick", "--applications", "maritime,netbill"],
    "bench_facts.py": ["100"],
    "bench_lars.py": ["--quick"],
    "bench_lars_tables.py": ["--quick"],
    "bench_read.py": ["1000"],
    "bench_signals.py": ["--quick"],
    "bench_spark.py": ["--quick", "--runs", "1", "--master", "local[1]"],
    "bench_stream.py": ["--quick", "--buckets", "1", "--master", "local[1]"],
    "bench_why.py": ["--events", "2000", "--questions", "60"],
    "bench_write.py": ["1000"],
}
LONG = ("bench_lars.py", "bench_spark.py", "bench_stream.py")


def slow_if(name: str, long: tuple[str, ...]) -> object:
    """A parameter that only `make test-long` tries, if it is one of those that take long."""
    return pytest.param(name, marks=pytest.mark.slow if name in long else ())


def run(script: str, *arguments: str) -> str:
    command = [sys.executable, str(BENCH / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_script_is_run_here() -> None:
    elsewhere = {"bench_incremental.py"}
    assert {path.name for path in BENCH.glob("bench_*.py")} == {*SIZES, *elsewhere}


def test_every_script_finds_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that take long are read at least, with all that they import."""
    monkeypatch.syspath_prepend(str(BENCH))
    for path in sorted(BENCH.glob("*.py")):
        assert runpy.run_path(str(path), run_name=path.stem)["__doc__"], path


@pytest.mark.parametrize("script", [slow_if(script, LONG) for script in SIZES])
def test_scripts_print_figures(script: str) -> None:
    assert any(letter.isdigit() for letter in run(script, *SIZES[script]))


@pytest.mark.slow
@pytest.mark.parametrize("part", ["stream", "skew", "growth", "volume"])
def test_parts_of_spark(part: str) -> None:
    arguments = [*SIZES["bench_spark.py"], "--only", part]
    assert "vessel" in run("bench_spark.py", *arguments)
