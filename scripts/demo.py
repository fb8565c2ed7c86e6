"""What `make demo` shows: three streams, the rules that watch them, and when things hold."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import time
import webbrowser
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.text import Text

import horai
from horai.cli import timeline
from horai.report.page import PageInput, write_page
from horai.tools.project import Project, read_project

ROOT = Path(__file__).resolve().parent.parent
# What a person at the harbour looks at; the other fluents are steps on the way there.
WATCHED = ("lost", "suspicious", "loitering", "rendezvous", "silent", "speeding", "trawling")

# What a coast guard looks at in a large stream.
SITUATIONS = (
    "underWay", "anchoredOrMoored", "drifting", "highSpeedNearCoast", "loitering", "pilotOps",
    "rendezVous", "searchAndRescue", "trawling", "tugging",
)  # fmt: skip
EVENTS, VESSELS = 200_000, 1_000
PAGE, MAP = ROOT / "build" / "demo.html", ROOT / "build" / "demo-map.html"

NEXT = (
    ("ask what was true at four o'clock", "examples/toy", "query 'holdsAt(F,16)'"),
    ("ask your own questions", "examples/toy", "run --interactive"),
    ("see how answers change as reports come in", "examples/harbour", "run --answers changelog"),
    ("see how rules are worked out", "examples/maritime", "plan --analyze"),
    ("see all that was found on a page", "examples/harbour", "report -o report.html"),
    ("see what depends on what", "examples/harbour", "graph -o graph.svg"),
    ("run the tests of the rules", "examples/harbour", "test"),
    ("start a project of your own", "", "new my-project"),
)


def main() -> None:
    """Show the examples."""
    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    console.print("Horai: rules over streams of events, answered as intervals.", style="bold")
    toy(console)
    harbour(console)
    fleet(console)
    what_next(console)


def toy(console: Console) -> None:
    """The story of one day, small enough to check by hand."""
    project = read_project(ROOT / "examples" / "toy" / "horai.toml")
    heading(console, "The day of Chris")
    console.print("What happened, by the hour (type | arrival | time | arguments):\n")
    quote(console, (project.input[0]).read_text().splitlines())
    console.print("\nOne of the rules: whoever is rich or in the pub is happy.\n")
    quote(console, excerpt(project.rules[0], "holdsFor(happy"))
    console.print("\nWhat holds, and when:\n")
    result = run(project)
    draw(console, result)
    intervals = result.holds_for("happy(chris)=true")
    shown = " ".join(f"({start},{end})" for start, end in intervals)
    console.print(f"\nChris is happy during {shown}: from 14 on, and at 22 no more.")


def harbour(console: Console) -> None:
    """A busier stream: late reports, delayed effects, durations, pairs of vessels."""
    project = read_project(ROOT / "examples" / "harbour" / "horai.toml")
    heading(console, "A morning at the harbour")
    reports = [line.split("|") for line in project.input[0].read_text().splitlines()]
    late = sum(arrival != time for kind, arrival, time, *_ in reports if kind != "close")
    result = run(project)
    lost = len(result.dead_letters) or "none"
    console.print(
        f"{len(reports)} reports of five vessels, {late} of them late; the stream is read in\n"
        f"windows of two hours, and {lost} of the reports came too late to count.\n"
        "A trawler goes to and fro as long as it turns every quarter of an hour:\n"
    )
    quote(console, [*excerpt(project.rules[0], "fi(turning"), "p(turning(_)=true)."])
    console.print("\nWhat the harbour authority sees (minutes since midnight):\n")
    draw(console, result, lambda row: row.name in WATCHED)
    console.print("\nThe mole went silent at sea, then met the waiting atlas: that is suspicious.")


def fleet(console: Console) -> None:
    """A large generated stream: what the compiled engine is for."""
    folder = ROOT / "examples" / "maritime"
    heading(console, "A fleet at sea")
    make = runpy.run_path(str(folder / "generate.py"))
    background = (folder / "background.ec").read_text("utf-8") + make["facts"](VESSELS)
    rules = horai.loads((folder / "rules.ec").read_text("utf-8"), background)
    stream = make["narrative"](EVENTS, VESSELS)
    began = time.perf_counter()
    result = rules.run(stream)
    seconds = time.perf_counter() - began
    console.print(
        f"{EVENTS:,} messages of {VESSELS:,} vessels, made up by examples/maritime/generate.py,\n"
        f"answered in {seconds:.1f} s on this machine. How often each situation was recognised:\n"
    )
    counts = Counter(result.spans.column("name").to_pylist())
    for name in SITUATIONS:
        console.print(f"    {name:<20} {counts[name]:>8,}")
    console.print("\nWhat one of the fishing boats was up to, in seconds since midnight:\n")
    boat = next(row.args[0] for row in result.rows() if row.name == "trawling")
    draw(console, result, lambda row: row.name in SITUATIONS and boat in row.args)
    report(console, result, stream)


def report(console: Console, result: horai.Result, stream: horai.io.Narrative) -> None:
    """A page with all of it, and one with a map; opened if there is someone to look at them."""
    PAGE.parent.mkdir(exist_ok=True)
    write_page(result, PAGE, "A fleet at sea", "s", PageInput(stream, rules=["rules.ec"]))
    intervals = f"{result.count('fluent'):,} intervals"
    console.print(f"\nAll {intervals} with what they come from: {PAGE.relative_to(ROOT)}")
    subprocess.run(
        [
            *(sys.executable, "-m", "horai", "report", "../maritime/rules.ec", "--quiet"),
            *("-b", "../maritime/background.ec", "-b", "vessels.ec", "-b", "areas.ec"),
            *("-p", "positions.csv", "-a", "areas.geojson", "--title", "Seven vessels", "-o", MAP),
        ],
        cwd=ROOT / "examples" / "positions",
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        stderr=subprocess.DEVNULL,  # which positions it does not believe
        check=True,
    )
    console.print(f"A day of seven vessels, on a map: {MAP.relative_to(ROOT)}")
    if console.is_terminal:
        for page in (MAP, PAGE):
            webbrowser.open(page.as_uri())


def run(project: Project) -> horai.Result:
    """The run that the project's settings describe."""
    rules = horai.load(project.rules, background=project.background)
    return rules.run(project.input, **project.run)


def draw(
    console: Console,
    result: horai.Result,
    wanted: Callable[[horai.AnswerRow], bool] = lambda row: True,
) -> None:
    """A timeline of the rows that are wanted."""
    rows = filter(wanted, result.rows("spans"))
    console.print(timeline.draw(rows, console, result, result.unit))


def heading(console: Console, text: str) -> None:
    """A title with a line under it."""
    console.print(f"\n{text}", style="bold cyan")
    line = "─" if console.is_terminal else "-"
    console.print(line * len(text) + "\n", style="cyan")


def quote(console: Console, lines: list[str]) -> None:
    """Lines of a file."""
    console.print(Text("\n".join(f"    {line}" for line in lines), style="green"))


def excerpt(path: Path, begin: str) -> list[str]:
    """The clause that begins so, up to its full stop."""
    lines = path.read_text(encoding="utf-8").splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith(begin))
    last = next(i for i in range(first, len(lines)) if lines[i].endswith("."))
    return lines[first : last + 1]


def what_next(console: Console) -> None:
    """Commands to go on with."""
    heading(console, "What to try next")
    for why, folder, words in NEXT:
        up = "../" * len(Path(folder).parts)
        place = f"cd {folder} && " if folder else ""
        console.print(f"# {why}", style="dim")
        console.print(f"{place}{up}.venv/bin/horai {words}\n")
    console.print("More is in docs/: language.md, cli.md, python.md.")


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        sys.stderr.close()
