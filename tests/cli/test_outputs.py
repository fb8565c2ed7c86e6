"""What cannot be written is told before a run, and nothing that is read is ever replaced."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from tests.cli.conftest import NARRATIVE, RULES, Run

from horai.cli.app import app

RUN = ("run", "rules.ec", "-i", "day.csv", "-o", "out.csv")


@pytest.mark.parametrize("option", ["--metrics", "--dead-letters"])
@pytest.mark.parametrize("place", ["nowhere/x.json", "."])
def test_a_bad_place_is_told_before_the_run(horai: Run, option: str, place: str) -> None:
    result = horai(*RUN, option, place)
    assert result.exit_code == 2
    assert option in result.stderr and place in result.stderr
    assert not Path("out.csv").exists()


@pytest.mark.parametrize("command", ["report", "graph"])
def test_every_command_looks_at_its_output_first(horai: Run, command: str) -> None:
    more = ("-i", "day.csv") if command == "report" else ()
    result = horai(command, "rules.ec", *more, "-o", "nowhere/x.html")
    assert (result.exit_code, "there is no folder nowhere" in result.stderr) == (2, True)


@pytest.mark.parametrize("output", ["day.csv", "./day.csv", "soft.csv", "hard.csv"])
def test_the_input_is_not_replaced(horai: Run, output: str) -> None:
    Path("soft.csv").symlink_to("day.csv")
    Path("hard.csv").hardlink_to("day.csv")
    result = horai("run", "rules.ec", "-i", "day.csv", "-o", output)
    assert (result.exit_code, "is read by the command" in result.stderr) == (2, True)
    assert Path("day.csv").read_text() == NARRATIVE


@pytest.mark.parametrize("given", ["out/spans/day.csv", "day.csv"])
def test_spark_replaces_no_folder_of_others(horai: Run, given: str) -> None:
    for name in ("spans", "atoms"):
        Path("out", name).mkdir(parents=True)
        Path("out", name, "day.csv").write_text(NARRATIVE)
    result = horai("run", "rules.ec", "-i", given, "--engine", "spark", "-o", "out")
    assert (result.exit_code, "--output out: out/spans" in result.stderr) == (2, True)
    assert Path("out/spans/day.csv").read_text() == NARRATIVE


@pytest.mark.parametrize("words", [("check", "a.ec"), ("run", "rules.ec", "-i", "a.ec")])
def test_links_in_a_circle_are_no_fault_of_horai(horai: Run, words: tuple[str, ...]) -> None:
    Path("a.ec").symlink_to("a.ec")
    result = horai(*words)
    assert (result.exit_code, "fault of Horai" in result.stderr) == (2, False)
    assert "a.ec" in result.stderr


def test_spark_replaces_no_file(horai: Run) -> None:
    Path("out").write_text(NARRATIVE)
    result = horai("run", "rules.ec", "-i", "day.csv", "--engine", "spark", "-o", "out")
    assert (result.exit_code, "this is a file" in result.stderr) == (2, True)


def test_the_rules_are_not_replaced(horai: Run) -> None:
    result = horai("run", "rules.ec", "-i", "day.csv", "--metrics", "rules.ec")
    assert result.exit_code == 2 and Path("rules.ec").read_text() == RULES


def test_standard_input_is_not_replaced(horai: Run) -> None:
    words = [sys.executable, "-m", "horai", "run", "rules.ec", "-i", "-", "-o", "day.csv"]
    with Path("day.csv").open() as given:
        run = subprocess.run(words, stdin=given, capture_output=True, text=True)
    assert (run.returncode, "is read by the command" in run.stderr) == (2, True)
    assert Path("day.csv").read_text() == NARRATIVE


@pytest.mark.parametrize("option", ["--metrics", "--dead-letters", "-o"])
def test_a_full_disk_is_told_with_the_file(horai: Run, option: str) -> None:
    Path("day.csv").write_text(NARRATIVE + "nobody\n")
    Path("full.jsonl").symlink_to("/dev/full")
    result = horai("run", "rules.ec", "-i", "day.csv", option, "full.jsonl")
    assert result.exit_code == 1
    assert "full.jsonl: No space left on device" in result.stderr


def test_too_little_memory_is_no_fault_of_horai(
    horai: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("horai.cli.run.run_rules", none_left)
    result = horai("run", "rules.ec", "-i", "day.csv")
    assert (result.exit_code, "not enough memory" in result.stderr) == (1, True)


def test_two_outputs_need_two_files(horai: Run) -> None:
    result = horai(*RUN, "--dead-letters", "out.csv")
    assert (result.exit_code, "--output goes to the same file" in result.stderr) == (2, True)


def test_a_new_project_replaces_nothing(horai: Run, tmp_path: Path) -> None:
    result = horai("new", "x y/..")
    assert (result.exit_code, "is not empty" in result.stderr) == (2, True)
    assert Path("rules.ec").read_text() == RULES


PROGRAM = "h(X) :- a(X) [3].\n"


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "other"])
def test_a_damaged_state_is_refused_by_name(horai: Run, damage: str) -> None:
    Path("p.lars").write_text(PROGRAM)
    Path("s.csv").write_text("a|1|1|x\n")
    words = ("run", "p.lars", "-i", "s.csv", "--state", "kept.state")
    assert horai(*words).exit_code == 0
    good = Path("kept.state").read_bytes()
    bad = {
        "cut": good[: len(good) // 2],
        "changed": good[:-3] + b"???",
        "empty": b"",
        "other": b"PAR1 and more",
    }[damage]
    Path("kept.state").write_bytes(bad)
    result = horai(*words)
    assert result.exit_code == 2
    assert "kept.state: " in result.stderr and "fault of Horai" not in result.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_live_run_keeps_its_state_when_it_is_ended(
    horai: Run, tmp_path: Path, number: signal.Signals
) -> None:
    Path("p.lars").write_text(PROGRAM)
    words = ("run", "p.lars", "-i", "-", "--live", "--state", "kept.state", "-o", "out.jsonl")
    process = subprocess.Popen(
        [sys.executable, "-m", "horai", *words], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdin is not None
    process.stdin.write(b"a|1|1|x\na|3|3|y\n")
    process.stdin.flush()
    while not Path("out.jsonl").exists() or not Path("out.jsonl").read_text():
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(number)
    process.wait(60)  # standard input stays open: somebody still waits there for a line
    told = process.communicate()[1]
    assert (process.returncode, told) == (0, b"")
    assert Path("kept.state").exists()


def test_an_interrupt_is_told(horai: Run, tmp_path: Path) -> None:
    os.mkfifo("slow.csv")  # a file that never comes to an end
    words = ("run", "rules.ec", "-i", "slow.csv", "--input-format", "narrative")
    process = subprocess.Popen([sys.executable, "-m", "horai", *words], stderr=subprocess.PIPE)
    with Path("slow.csv").open("w"):  # opens when the command has begun to read
        process.send_signal(signal.SIGINT)
        _, told = process.communicate()
    assert (process.returncode, told) == (130, b"error: interrupted\n")


# Options that name a file or folder which is read, or a folder of Horai's own.
READ = {"--background", "--predicates", "--areas", "--truth", "--instead", "--stdin-name"}
READ |= {"--metrics-token-file", "--token-file", "--checkpoint", "--savepoint"}
BASES = {
    "run": ("rules.ec", "-i", "day.csv"),
    "signals": ("-p", "positions.csv", "--areas", "areas.geojson"),
    "report": ("rules.ec", "-i", "day.csv"),
    "graph": ("rules.ec",),
    "stream": ("rules.ec", "--source", "in", "--sink", "console", "--checkpoint", "c"),
    "translate": ("a.ltl",),
}
ENDINGS = {"--report": ".html", ("report", "--output"): ".html"}
WRITING = [
    (name, max(param.opts, key=len))
    for name in sorted(app.list_commands(click.Context(app)))
    for param in app.get_command(click.Context(app), name).params  # type: ignore[union-attr]
    if isinstance(param, click.Option) and isinstance(param.type, click.Path)
    if max(param.opts, key=len) not in READ
]


@pytest.mark.parametrize(("command", "option"), WRITING)
def test_no_option_of_any_command_replaces_what_is_read(
    horai: Run, command: str, option: str
) -> None:
    Path("a.ltl").write_text("a := once[0,5] b.\n")
    Path("positions.csv").write_text("entity,time,lat,lon\na,1,1.0,1.0\n")
    Path("areas.geojson").write_text('{"type": "FeatureCollection", "features": []}')
    Path("in").mkdir()
    ending = ENDINGS.get((command, option), ENDINGS.get(option, ".csv"))
    base = BASES[command]
    own = next(word for word in base if Path(word).is_file())
    Path(f"linked{ending}").hardlink_to(own)
    before = Path(own).read_bytes()
    more = ("--step", "10") if command == "stream" else ()
    for place in (f"linked{ending}", f"nowhere/x{ending}", "."):
        result = horai(command, *base, *more, option, place)
        assert result.exit_code == 2, (place, result.output)
        assert "fault of Horai" not in result.stderr
        assert Path(own).read_bytes() == before
    assert horai(command, *base, *more, option, f"linked{ending}").stderr.startswith("error: --")


@pytest.mark.parametrize("place", ["one", "nowhere/x"])
@pytest.mark.parametrize("notion", ["data", "strong"])
def test_what_differs_replaces_no_program(horai: Run, place: str, notion: str) -> None:
    texts = {"one.lars": "h :- a.\n", "two.lars": "h :- a, not b.\n", "day.csv": NARRATIVE}
    for file, text in texts.items():
        Path(file).write_text(text)
    result = horai("equiv", "one.lars", "two.lars", "--notion", notion, "-o", place)
    assert (result.exit_code, result.stdout) == (2, "")
    assert {file: Path(file).read_text() for file in texts} == texts
