"""Hunts for tracebacks, hangs and memory without end: the project's own examples, with mistakes.

    python scripts/fuzz.py --minutes 30 [--seed N] [--keep FOLDER]

Every case is a command line, or a saved session that goes on, in a folder of its own and in a child
process with limits on time and memory. What it finds is kept in a folder, with the command that
shows it. The exit status is 1 if there was something.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 20  # of a processor; others may need the machine, too
PATIENCE = 200  # seconds by the clock
MEMORY = 2 * 2**30
SIGNS = (
    *("(", ")", "[", "]", "{", "}", ",", ".", ". ", ":-", "|", ";", "->", "\\+", "not ", "=", "<"),
    *("-", "+", "*", "/", "^", "**", "is", "mod", "'", '"', "`", "/*", "*/", "%", "\n", "\t", " "),
    *("0", "1", "-1", "1.5", "1e400", "9" * 30, "inf", "nan", "X", "_", "a", "\0", "é", "\ufeff"),
    *("union_all(", "findall(", "between(1,9,X)", "holdsAt(", "[3 s]", "always ", "@T ", "in"),
    *("null", "true", "[]", "{}", "2024-01-01T00:00:00Z", "-9223372036854775808", "|", "\r\n"),
    "9" * 5000,
)
OPTIONS = {
    **dict.fromkeys(("--window", "--step", "--start", "--end", "--tick"), ("0", "-1", "1", "7")),
    "--allen-memory": ("0", "-3", "5"),
    "--unit": ("s", "ms", "x", ""),
    "--time-in": ("ms", "y"),
    "--engine": ("compiled", "reference", "plan", "asp", "tms", "nothing"),
    "--answers": ("final", "windows", "changelog", "q"),
    "--format": ("jsonl", "csv", "text", "timeline", "parquet", "xml"),
    "--input-format": ("csv", "jsonl", "parquet", "arrow", "narrative", "w"),
    "--clock": ("1s", "0s", "x", "1ms"),
    "--models": ("0", "2", "-1"),
    "--filter": ("none", "inferences", "a,b", ","),
    "--allowed-lateness": ("0", "5", "-1"),
    "--output-every": ("time", "signal", "3 signals", "0"),
    "--state": ("kept.state",),
    "--dead-letters": ("letters.csv", "."),
    "--metrics": ("numbers.json", "no/where"),
    "--set": ("gap_after=3", "turn=x", "no=1", "gap_after=1e400", "="),
    "--column": ("entity=id", "time=time", "x", "entity="),
    "--speed-in": ("km/h", "c"),
    "--only": ("velocity", "stop,gap", ",", "x"),
    "--until": ("9", "-1", "2024-01-01T00:00:00Z", "x"),
    "--areas": ("areas.geojson", "horai.toml", "nowhere"),
    **dict.fromkeys(("--points", "--signals", "--constants", "--tries"), ("0", "1", "2", "-1")),
    "--notion": ("ordinary", "data", "uniform", "strong", "x"),
    "--title": ("<script>", "", "\n"),
    "--output": ("out.csv", "out.html", "out.parquet", ".", "no/where", "socket:1"),
    "--input": ("nowhere", "-", ".", "one.lars", "kafka://nobody:1/t", "tcp:nobody:1"),
    "--source": (".", "csv:.", "kafka://nobody:1/t", "tcp:nobody:1", "nowhere", "jsonl:", ""),
    "--sink": ("console", "table:out", "parquet:", "delta:out", "webhook:x", "x:y", ""),
    "--checkpoint": ("kept", ".", "horai.toml", ""),
    "--from-savepoint": (".", "nowhere"),
    "--trigger": ("1s", "available-now", "x", "-1s", "0"),
    "--until-idle": ("1s", "x", "-1s"),
    **dict.fromkeys(
        ("--watermark-delay", "--future-skew", "--files-per-step", "--position-lateness"),
        ("0", "-1", "3"),
    ),
    "--buckets": ("0", "2", "-1", "99999999"),
    "--metrics-port": ("0", "-1", "99999"),
    "--metrics-address": ("nobody", "0.0.0.0"),
    "--metrics-token-file": ("nowhere", "."),
    "--severity": ("H206=off", "H1=x", "="),
    "--entity": ("ann", "((", ""),
    "--savepoint": ("saved", "."),
    "--from": ("cql", "etalis", "ltl"),
    **dict.fromkeys(("--positions", "--json", "--live"), ("",)),
    **dict.fromkeys(("--strict", "--quiet", "--include-input", "--brave", "--least-change"), ("",)),
}
OWN = {  # options that a command has; others have those of `run`
    "signals": "--areas --output --unit --time-in --speed-in --column --set --only --until --strict"
    " --dead-letters",
    "report": "--output --title --window --step --start --end --unit --engine --clock --filter",
    "equiv": "--notion --points --signals --constants --tries --filter --input --end --output"
    " --format --clock",
    "translate": "--from --output",
    "state": "--entity --savepoint --json",
    "stream": "--source --sink --checkpoint --from-savepoint --trigger --until-idle"
    " --watermark-delay --future-skew --files-per-step --buckets --metrics-port --metrics-address"
    " --window --step --metrics-token-file --metrics --positions --areas --set --column --tick"
    " --unit --position-lateness",
}
FLAGS = {name for name, values in OPTIONS.items() if values == ("",)}
RULES = """
initiatedAt(slow(V)=true, T) :- happensAt(velocity(V, S), T), S < 5.
terminatedAt(slow(V)=true, T) :- happensAt(velocity(V, S), T), S >= 5.
fi(slow(V)=true, slow(V)=false, 30).
"""
PROGRAM = "h(X) :- always velocity(X, S) [3], not b(X). c(X) :- h(X) [2 #], not d(X).\n"
LINES = ["velocity|1|1|ann|2", "velocity|4|3|bob|9", "velocity|9|4|ann|2.5", "nobody|1|1"]
GOING_ON = """\
import sys
import horai
from pathlib import Path
load = dict.fromkeys(("ec", "lars", "both"), horai.load_session)
try:
    session = load[sys.argv[1]](Path("saved").read_bytes())
    session.advance(20, ["velocity|15|15|ann|7", "velocity|19|19|bob|1"])
    session.save()
    getattr(session, "finish", list)()
except (horai.UsageError, horai.RunError, horai.RulesError) as error:
    print(error)
"""


EVENT_ENGINES = ("compiled", "reference")


def saved_sessions() -> list[dict[str, bytes]]:
    """A saved session of every engine, with the language it is of."""
    import horai

    rules, program = horai.loads(RULES), horai.loads(PROGRAM, language="lars")
    both = horai.combine(rules, program)
    begun: list[tuple[str, Any]] = [
        ("ec", rules.session(start=0, window=30, engine=e)) for e in EVENT_ENGINES
    ]
    begun += [("lars", program.session(engine=e)) for e in ("plan", "asp", "tms")]
    begun += [("both", both.session(engine=e)) for e in ("auto", "asp", "reference")]
    for _, session in begun:
        session.advance(10, LINES)
    return [{"saved": session.save(), "language": name.encode()} for name, session in begun]


def checkpoints() -> list[dict[str, bytes]]:
    """Folders that streams of items keep."""
    sys.path.insert(0, str(ROOT))
    from tests.spark.streaming import Driver

    import horai

    found = []
    for number, buckets in enumerate((1, 2)):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "checkpoint"
            stream = Driver(
                horai.loads(RULES), folder, {"start": 0, "window": 20, "step": 10}, buckets
            )
            stream.take(0, [*LINES, "velocity|12|11|bob|3"])
            if number:
                stream.take(1, ["velocity|25|25|ann|7", "velocity|26|26|eve|1"])
            files = (path for path in sorted(folder.rglob("*")) if path.is_file())
            found.append({str(path.relative_to(place)): path.read_bytes() for path in files})
    return found


def settings(files: dict[str, bytes], chance: random.Random) -> bytes:
    """A horai.toml with any of the keys, most of them with a value of the right kind."""
    from horai.tools.project import KEYS

    by_kind = {
        "rules": [name for name in files if name.endswith((".ec", ".lars", ".prolog"))],
        "background": [name for name in files if name.endswith(".ec")],
        "input": [name for name in files if name.endswith((".csv", ".jsonl"))],
        "cases": [name for name in files if name.endswith(".case")],
    }
    odd = {"severity": ("H206", "H999", "x"), "columns": ("velocity", "speed", "time")}
    lines: list[str] = []
    for table, keys in KEYS.items():
        lines.append(f"[{table}]")
        for key in (*keys, *odd.get(table, ())):
            if chance.random() > (0.9 if key in ("rules", "input") else 0.15):
                continue
            options = OPTIONS.get("--" + key.replace("_", "-"), ("x",))
            some = by_kind.get(key, [])
            kinds: tuple[object, ...] = (
                chance.sample(some, len(some)),
                chance.choice(options),
                chance.choice((0, 1, 7, -1, 10**20, 1.5)),
                chance.choice((True, ["*.ec"], ["a", "b"], "off", "error", [], "", "../x")),
            )
            value = kinds[0] if some else chance.choice(kinds)
            lines.append(f"{key} = {json.dumps(value)}")
    return "\n".join(lines).encode()


def corpus() -> list[dict[str, bytes]]:
    """Folders of files that belong together, by name."""
    found: list[dict[str, bytes]] = []
    for project in sorted((ROOT / "examples").rglob("horai.toml")):
        near = [p for p in sorted(project.parent.rglob("*")) if p.is_file()]
        small = [p for p in near if p.stat().st_size < 50_000 and p.suffix != ".py"]
        found.append({str(p.relative_to(project.parent)): p.read_bytes() for p in small})
    for case in sorted((ROOT / "tests").rglob("*.case")):
        found.append({"one.case": case.read_bytes()})
    for ending in ("cql", "etalis", "ltl", "lars", "ec"):
        for path in sorted((ROOT / "examples").rglob(f"*.{ending}")):
            found.append({f"one.{ending}": path.read_bytes()})
    lars = [files for files in found if "one.lars" in files]
    found += [{**files, "two.lars": files["one.lars"]} for files in lars]
    found += [{"one.lars": PROGRAM.encode(), "two.lars": PROGRAM.encode()}] * 4
    texts = {
        "one.cql": b"CREATE STREAM s(a); SELECT a, COUNT(*) FROM s [RANGE 5] GROUP BY a;\n",
        "one.etalis": b"a(X) <- b(X) SEQ (c OR d(X)) WHERE X > 3.\n",
        "one.ltl": b"a := once[0,5] (b and not c since[1,3] d).\n",
        "one.lars": b"h(X) :- always a(X) [3 s], not b(X), count { Y : a(Y) [5 #] } > 1.\n",
    }
    found += ({name: text} for name, text in texts.items())
    # Few of these are as many cases as the many of others.
    return [*found, *saved_sessions() * 6, *checkpoints() * 12, *with_settings(found) * 2]


def with_settings(found: list[dict[str, bytes]]) -> list[dict[str, bytes]]:
    """Projects whose settings are made up."""
    return [{**files, ".settings": b""} for files in found if "horai.toml" in files]


def mutated(data: bytes, chance: random.Random) -> bytes:
    """A text with a few places cut out, doubled, overwritten or repeated."""
    for _ in range(chance.choice((0, 1, 1, 2, 4))):
        start = chance.randrange(len(data) + 1)
        end = min(len(data), start + chance.choice((0, 1, 3, 12, 80, 2000)))
        sign = chance.choice(SIGNS).encode()
        kinds = (
            data[:start] + data[end:],
            data[:end] + data[start:],
            data[:start] + sign + data[end:],
            data[:start] + sign * chance.choice((2, 30, 500)) + data[end:],
            data[:start] + bytes([chance.randrange(256)]) + data[start + 1 :],
        )
        data = chance.choice(kinds)
    return data


def signed(data: bytes) -> bytes:
    """A saved session with checksums that are right, so that somebody reads what is damaged."""
    inner = re.search(rb"(horai [a-z ]+ [0-9]+ )[0-9a-f]{64}\n", data)
    if inner and data.count(inner[1]) == 1:
        rest = data[inner.end() :]
        data = data[: inner.start()] + inner[1] + _checksum(rest) + b"\n" + rest
    mark, _, rest = data.partition(b"\n")
    _, _, rest = rest.partition(b"\n")
    return mark + b"\n" + _checksum(rest) + b"\n" + rest


def _checksum(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()


def command(files: dict[str, bytes], chance: random.Random) -> list[str]:
    """A command line over some files."""
    by_end: dict[str, list[str]] = {}
    for name in files:
        by_end.setdefault(Path(name).suffix, []).append(name)
    if "saved" in files:
        return ["-c", GOING_ON, files["language"].decode()]
    words = _words(files, by_end, chance)
    own = OWN.get(words[0], "").split() or sorted(OPTIONS)
    few = (1, 2, 3, 5) if words[0] == "stream" else (0, 0, 1, 2)
    for name in chance.sample(own, chance.choice(few)):
        value = chance.choice(OPTIONS[name])
        words += [name, value] if name not in FLAGS else [name]
    return ["-m", "horai", *words]


def _words(
    files: dict[str, bytes], by_end: dict[str, list[str]], chance: random.Random
) -> list[str]:
    """A command and what it is about."""
    if "checkpoint/stream.json" in files:
        return ["state", "checkpoint"]
    if names := [n for end in (".cql", ".etalis", ".ltl") for n in by_end.get(end, ())]:
        return ["translate", chance.choice(names)]
    if "two.lars" in files:
        return ["equiv", "one.lars", "two.lars", "--tries", "20"]
    if ".case" in by_end and "horai.toml" not in files and chance.random() < 0.7:
        more = chance.choice(([], ["--engine", "reference"], ["--engine", "compiled"]))
        return ["test", *by_end[".case"], *more]
    data = [n for end in (".csv", ".jsonl", ".parquet") for n in by_end.get(end, ())]
    if any("positions" in name for name in data) and chance.random() < 0.7:
        return ["signals", "--positions", chance.choice(data)]
    rules = [*by_end.get(".ec", ()), *by_end.get(".lars", ())]
    often = ("run", "run", "check", "plan", "graph", "query", "tune", "report", "stream", "test")
    words = [chance.choice(often)]
    if ("horai.toml" not in files or chance.random() < 0.2) and words[0] != "test":
        words += chance.sample(rules, min(len(rules), chance.choice((1, 2))))
        if data and words[0] not in ("check", "graph", "stream"):
            words += ["--input", chance.choice(data)]
    if words[0] == "query":
        asked = ("holdsFor(F=V,I)", "holdsAt(F,3)", "h(X)", "@T h(X)", "((", "")
        words.append(chance.choice(asked))
    return words


def limited() -> None:
    """Bound the time and the memory of a child."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))


def ticks_of(process: int) -> int:
    """How long a process has worked, in ticks of the system's clock."""
    numbers = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return int(numbers[11]) + int(numbers[12])


def problem_of(words: list[str], folder: Path) -> str | None:
    """What is wrong with a run of Python in a folder, if anything is."""
    # A new process and no copy of this one: threads of libraries do not survive a fork.
    process = subprocess.Popen(
        [sys.executable, *words],
        cwd=folder,
        env=os.environ | {"JAVA_HOME": "/nowhere"},  # Spark is not to start
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=limited,
    )
    worked = -1
    while True:
        try:
            said, _ = process.communicate(timeout=PATIENCE)
            break
        except subprocess.TimeoutExpired:
            if (now := ticks_of(process.pid)) > worked:  # the machine is busy with others
                worked = now
                continue
            process.kill()
            process.communicate()
            return f"it still waits after {PATIENCE} s"
    if process.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"it still runs after {SECONDS} s of a processor"
    if process.returncode < 0:
        return f"it is killed by signal {-process.returncode}"
    text = said.decode(errors="replace")
    for sign in ("Traceback", "fault of Horai", "MemoryError", "Unable to allocate"):
        if sign in text:
            return next(line for line in text.splitlines()[::-1] if line.strip())[:200]
    return None


def main() -> int:
    """Hunt for some minutes."""
    asked = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    asked.add_argument("--minutes", type=float, default=1.0)
    asked.add_argument("--seed", type=int, default=None)
    asked.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "horai-fuzz")
    given = asked.parse_args()
    seed = random.randrange(10**9) if given.seed is None else given.seed
    print(f"seed {seed}", flush=True)
    chance, folders = random.Random(seed), corpus()
    until, cases, problems = time.monotonic() + 60 * given.minutes, 0, 0
    while time.monotonic() < until:
        files = dict(chance.choice(folders))
        for name in chance.sample(sorted(files), min(len(files), chance.choice((0, 1, 1, 2)))):
            if name not in ("language", ".settings"):
                files[name] = mutated(files[name], chance)
        if "saved" in files and chance.random() < 0.8:
            files["saved"] = signed(files["saved"])
        if files.pop(".settings", None) is not None:
            files["horai.toml"] = settings(files, chance)
        words = command(files, chance)
        place = Path(tempfile.mkdtemp(prefix="fuzz"))
        for name, data in files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(data)
        problem = problem_of(words, place)
        state = place / "kept.state"
        if problem is None and state.exists():  # a saved session, damaged
            state.write_bytes(mutated(state.read_bytes(), chance))
            problem = problem_of(words, place)
        cases += 1
        if problem is not None:
            problems += 1
            kept = given.keep / f"{seed}-{cases}"
            shutil.copytree(place, kept, dirs_exist_ok=True)
            (kept / ".command").write_text(json.dumps(words) + "\n")
            shown = " ".join(word for word in words if word not in ("-m", "-c", GOING_ON))
            print(f"case {cases}: {shown}: {problem}\n  see {kept}", flush=True)
        shutil.rmtree(place)
    print(f"{cases} cases, {problems} with a finding (seed {seed})")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
