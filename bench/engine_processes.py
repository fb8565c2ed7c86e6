"""Measurements that need a process of their own: peak memory, and `horai run` from file to file.

python bench/engine_processes.py memory FOLDER       (what the measurements start)
python bench/engine_processes.py stages FOLDER
"""

from __future__ import annotations

import json
import os
import pickle
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
from engine_measure import Options, Table, Workload, workload
from engine_runs import entities

import horai
from horai.io import ItemTable, Narrative, read, write_answers
from horai.io.schema import TableKey

HERE = Path(__file__)
MARITIME = HERE.parents[1] / "examples" / "maritime"
PAGE = os.sysconf("SC_PAGE_SIZE")


# --- peak memory -----------------------------------------------------------------------------


def memory(options: Options) -> None:
    """Bytes per event beyond the input, in a process that does nothing else."""
    table = Table(
        f"(c) peak memory beyond the input, {options.events:,} events in one window",
        ("application", "input", "by the system", "by polling", "target"),
    )
    for name in [n for n in ("maritime", "citytransport") if n in options.applications]:
        with tempfile.TemporaryDirectory() as folder:
            stream = workload(name, options.events, entities(options.events))
            save(stream.narrative, name, entities(options.events), Path(folder))
            del stream
            found = child("memory", folder)
        each = [f"{found[key] / options.events:,.0f}" for key in ("input", "peak", "polled")]
        table.add(f"{name}, bytes/event", *each, "200")


def save(narrative: Narrative, name: str, many: int, folder: Path) -> None:
    """The tables as Arrow files, so that the other process never holds more than them."""
    keys = [table.key for table in narrative.tables]
    (folder / "keys").write_bytes(pickle.dumps((name, many, keys)))
    for number, table in enumerate(narrative.tables):
        path = str(folder / f"{number}.arrow")
        with pa.OSFile(path, "wb") as out, pa.ipc.new_stream(out, table.table.schema) as writer:
            writer.write_table(table.table)


def measure_memory(folder: Path) -> dict[str, float]:
    """Load the input, run once on a smaller stream to load compiled code, then measure."""
    keys: list[TableKey]
    name, many, keys = pickle.loads((folder / "keys").read_bytes())
    rules = workload(name, 200, many).rules
    workload(name, 100_000, 500).run()  # few events would not load the compiled code
    before = resident()
    tables = []
    for number, key in enumerate(keys):
        with pa.OSFile(str(folder / f"{number}.arrow"), "rb") as file:
            columns = pa.ipc.open_stream(file).read_all()
        tables.append(ItemTable(key.name, key.arity, key.kind, key.form, columns))
    stream = Workload(rules, Narrative(tuple(tables), []))
    _ = stream.span
    held = forget_peak()
    polled = polling(stream.run)
    peak = most_resident()
    return {"input": held - before, "peak": peak - held, "polled": polled - held}


def resident() -> int:
    """Bytes of memory in use now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def most_resident() -> int:
    """The most that was in use; `ru_maxrss` would tell of the process this one was started by."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def forget_peak() -> int:
    """Let the peak begin anew, where the system can; the bytes in use now."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        print("the peak before the run cannot be forgotten", file=sys.stderr)
    return resident()


def polling(job: Callable[[], object]) -> int:
    """The most memory seen by looking every two milliseconds while a job runs."""
    most, done = resident(), threading.Event()

    def look() -> None:
        nonlocal most
        while not done.wait(0.002):
            most = max(most, resident())

    thread = threading.Thread(target=look)
    thread.start()
    try:
        job()
    finally:
        done.set()
        thread.join()
    return most


# --- from file to file -----------------------------------------------------------------------


def end_to_end(options: Options) -> None:
    """`horai run` from a narrative to JSON lines, a large file and a small one; then its stages."""
    table = Table(
        "(f) maritime, `horai run` from a narrative to JSON lines (best of "
        f"{options.runs}, after a first run)",
        ("rows", "wall s", "CPU s", "target, wall s"),
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for rows, target in ((options.events, "5"), (100, "2")):
            write_project(folder, rows)
            times = [horai_run(folder) for _ in range(options.runs + 1)][1:]
            wall, used = min(w for w, _ in times), min(c for _, c in times)
            table.add(f"{rows:,}", f"{wall:.2f}", f"{used:.2f}", target)
        write_project(folder, options.events)
        stages = child("stages", name)
    parts = Table(f"    its stages with {options.events:,} rows", ("stage", "wall s", "CPU s"))
    for stage in ("import", "rules", "reading", "recognition", "writing"):
        wall, used = stages[stage]
        parts.add(stage, f"{wall:.2f}", f"{used:.2f}")


def write_project(folder: Path, rows: int) -> None:
    """A narrative, and the facts about its vessels."""
    from generators import maritime

    maritime.write(folder / "stream.csv", rows, entities(rows))
    (folder / "fleet.ec").write_text(maritime.facts(entities(rows)), "utf-8")


def horai_run(folder: Path) -> tuple[float, float]:
    """Wall and CPU seconds of the command."""
    command = [sys.executable, "-m", "horai", "run", str(MARITIME / "rules.ec")]
    for facts in (MARITIME / "background.ec", folder / "fleet.ec"):
        command += ["-b", str(facts)]
    command += ["-i", str(folder / "stream.csv"), "-o", str(folder / "answers.jsonl")]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, used


def measure_stages(folder: Path) -> dict[str, tuple[float, float]]:
    """What the command does, step by step, from the start of the process."""
    found = {"import": (time.time() - float(os.environ["BEGAN"]), time.process_time())}

    def timed(name: str, job: Callable[[], Any]) -> Any:
        wall, used = time.perf_counter(), time.process_time()
        made = job()
        found[name] = (time.perf_counter() - wall, time.process_time() - used)
        return made

    facts = [MARITIME / "background.ec", folder / "fleet.ec"]
    rules = timed("rules", lambda: horai.load(MARITIME / "rules.ec", facts))
    narrative = timed("reading", lambda: read(folder / "stream.csv", rules.schema))
    stream = Workload(rules, narrative)
    session = rules.session(start=stream.span[0] - 1, answers="final")
    timed("recognition", lambda: session.take(stream.span[1], narrative.tables).raw.part("all"))
    result = session.finish()
    output = folder / "answers.jsonl"
    timed("writing", lambda: write_answers(result.table(), output, format="jsonl"))
    return found


def child(what: str, folder: str) -> dict[str, Any]:
    """What a process of its own has measured."""
    environment = os.environ | {"BEGAN": str(time.time())}
    command = [sys.executable, str(HERE), what, folder]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment).stdout
    found: dict[str, Any] = json.loads(text)
    return found


if __name__ == "__main__":
    jobs: dict[str, Callable[[Path], object]] = {"memory": measure_memory, "stages": measure_stages}
    print(json.dumps(jobs[sys.argv[1]](Path(sys.argv[2]))))
