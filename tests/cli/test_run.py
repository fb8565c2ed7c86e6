"""`horai run`: formats, forms of answer, dead letters."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from .conftest import Run

DAY = ("run", "rules.ec", "--input", "day.csv")


def test_json_lines_are_exactly_these(horai: Run) -> None:
    assert horai(*DAY).stdout == (
        '{"kind":"event","name":"party","args":["chris"],"time":13}\n'
        '{"kind":"fluent","name":"rich","args":["chris"],"value":"true","start":14,"end":20}\n'
    )


def test_windows_name_the_query_time(horai: Run) -> None:
    result = horai(*DAY, "--start", "0", "--step", "15", "--answers", "windows")
    assert result.stdout.splitlines() == [
        '{"kind":"event","name":"party","args":["chris"],"time":13,"query":15}',
        '{"kind":"fluent","name":"rich","args":["chris"],"value":"true","start":14,"end":null,'
        '"query":15}',
        '{"kind":"event","name":"party","args":["chris"],"time":13,"query":19}',
        '{"kind":"fluent","name":"rich","args":["chris"],"value":"true","start":14,"end":20,'
        '"query":19}',
    ]


def test_a_changelog_says_what_comes_and_goes(horai: Run) -> None:
    result = horai(*DAY, "--start", "0", "--step", "15", "--answers", "changelog")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(r["query"], r["op"], r["kind"], r.get("end")) for r in rows] == [
        (15, "+", "event", None),
        (15, "+", "fluent", None),
        (19, "-", "fluent", None),
        (19, "+", "fluent", 20),
    ]


def test_atoms_numbers_and_terms_keep_their_kind(horai: Run) -> None:
    rules = "initiatedAt(f(X, pair(X,b))=3, T) :- happensAt(e(X), T).\n"
    Path("rules.ec").write_text(rules)
    Path("day.csv").write_text("e|1|1|New York\ne|1|1|7\ne|1|1|-2.5\ne|1|1|1e3\n")
    rows = [json.loads(line) for line in horai(*DAY).stdout.splitlines()]
    assert [(row["args"], row["value"]) for row in rows] == [
        ([-2.5, "pair(-2.5,b)"], 3),
        ([7, "pair(7,b)"], 3),
        (["1e3", "pair('1e3',b)"], 3),
        (["New York", "pair('New York',b)"], 3),
    ]


def test_text_for_people(horai: Run) -> None:
    result = horai(*DAY, "--format", "text")
    assert result.stdout == "party(chris)      at 13\nrich(chris)=true  (14,20)\n"


def test_text_shows_iso_times_when_there_is_a_unit(horai: Run) -> None:
    Path("day.csv").write_text("win|2024-01-01T08:00:00Z|2024-01-01T08:00:00Z|chris\n")
    result = horai(*DAY, "--unit", "s", "--format", "text", "--end", "2024-01-02")
    assert result.stdout.splitlines() == [
        "party(chris)      at 2024-01-01T08:00:00Z",
        "rich(chris)=true  (2024-01-01T08:00:01Z,inf)",
    ]


@pytest.mark.parametrize("name", ["out.jsonl", "out.csv", "out.txt", "out.parquet"])
def test_the_file_name_chooses_the_format(horai: Run, name: str) -> None:
    result = horai(*DAY, "-o", name)
    assert (result.exit_code, result.stdout) == (0, "")
    if name.endswith("parquet"):
        assert pq.read_table(name).num_rows == 2
    else:
        assert "rich" in Path(name).read_text()


def test_a_timeline_in_a_pipe_is_plain(horai: Run) -> None:
    result = horai(*DAY, "--format", "timeline")
    assert result.stdout.isascii()
    assert [line.split("  ")[0] for line in result.stdout.splitlines()[2:]] == [
        "party(chris)",
        "rich(chris)=true",
    ]
    horai(*DAY, "--format", "timeline", "-o", "picture.txt")
    assert "rich(chris)=true  " in Path("picture.txt").read_text()


def test_input_on_request(horai: Run) -> None:
    rows = [json.loads(line) for line in horai(*DAY, "--include-input").stdout.splitlines()]
    assert [row["name"] for row in rows] == ["lose", "party", "win", "rich"]


def test_several_inputs_and_standard_input(horai: Run) -> None:
    Path("more.csv").write_text("win|30|30|zoe\n")
    both = horai(*DAY, "--input", "more.csv").stdout
    assert horai("run", "rules.ec", "-i", "-", stdin=Path("day.csv").read_text()).exit_code == 0
    assert '"zoe"' in both and '"chris"' in both


def test_a_file_of_any_name_in_milliseconds(horai: Run) -> None:
    Path("stream.log").write_text("win|13000|13000|chris\n")
    words = ("--input-format", "narrative", "--unit", "s", "--time-in", "ms")
    result = horai("run", "rules.ec", "-i", "stream.log", *words)
    assert '"start":14,' in result.stdout


def test_no_input_rows_give_no_answers(horai: Run) -> None:
    Path("day.csv").write_text("")
    result = horai(*DAY)
    assert (result.exit_code, result.stdout) == (0, "")


def test_dead_letters_are_told(horai: Run) -> None:
    bad = "".join(f"win|x|{i}|chris\n" for i in range(7))
    Path("day.csv").write_text("win|13|13|chris\n" + bad)
    result = horai(*DAY)
    assert result.exit_code == 0
    lines = result.stderr.splitlines()
    assert lines[0] == "warning: 7 rows were not used, or only in part (7 bad-time)"
    assert lines[1].startswith("  day.csv:2: bad-time: ")
    assert lines[2] == "    win|x|0|chris"
    assert lines[-1] == "  ... and 2 more; --dead-letters FILE keeps all"
    assert len(horai(*DAY, "--quiet").stderr.splitlines()) == 1


def test_dead_letters_go_to_a_file(horai: Run) -> None:
    Path("day.csv").write_text("win|13|13|chris\nwon|14|14|chris\n")
    result = horai(*DAY, "--dead-letters", "dead.jsonl")
    assert result.stderr == (
        "warning: 1 row was not used, or only in part (1 unknown-type); see dead.jsonl\n"
    )
    (letter,) = [json.loads(line) for line in Path("dead.jsonl").read_text().splitlines()]
    assert (letter["file"], letter["line"], letter["code"]) == ("day.csv", 2, "unknown-type")
    horai(*DAY, "--dead-letters", "dead.csv")
    assert Path("dead.csv").read_text().startswith("file,line,text,reason,code\n")


def test_strict_stops_at_a_bad_row(horai: Run) -> None:
    Path("day.csv").write_text("win|13|13|chris\nwin|x|14|chris\n")
    result = horai(*DAY, "--strict")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "day.csv:2: " in result.stderr


def test_a_window_shorter_than_the_step_is_doubtful(horai: Run) -> None:
    result = horai(*DAY, "--window", "2", "--step", "10", "--start", "0")
    assert result.exit_code == 0
    assert "warning: the window (2) is shorter than the step (10)" in result.stderr
    assert "too-late" in result.stderr


def test_a_tick_longer_than_the_run_is_doubtful(horai: Run) -> None:
    result = horai("run", "rules.ec", "-i", "day.csv", "--tick", "1000000")
    assert result.exit_code == 0
    assert "there is no time-point between" in result.stderr.replace("\n", " ")
    assert "no time-point" not in horai("run", "rules.ec", "-i", "day.csv", "--tick", "2").stderr


def test_warnings_about_rules_are_shown(horai: Run) -> None:
    with Path("rules.ec").open("a") as rules:
        rules.write("initiatedAt(odd(X)=true, T) :- happensAt(win(X), T), happensAt(lose(Y), T).\n")
    assert "warning[H309]: `Y` occurs only once\n --> rules.ec:4:" in horai(*DAY).stderr
    assert horai(*DAY, "--quiet").stderr == ""


def test_python_predicates_from_a_file(horai: Run) -> None:
    Path("own.py").write_text(
        "import horai\n@horai.predicate\ndef vip(x):\n    return x == 'zoe'\n"
    )
    Path("rules.ec").write_text("initiatedAt(f(X)=true, T) :- happensAt(win(X), T), vip(X).\n")
    Path("day.csv").write_text("win|1|1|zoe\nwin|1|1|chris\n")
    result = horai(*DAY, "--predicates", "own.py")
    assert [json.loads(line)["args"] for line in result.stdout.splitlines()] == [["zoe"]]


def test_interactive(horai: Run) -> None:
    asked = "holdsFor(rich(chris)=true,I).\nnonsense\nholdsAt(F,15)\nquit\nholdsAt(F,16)\n"
    result = horai(*DAY, "--interactive", stdin=asked)
    assert result.exit_code == 0
    assert result.stdout == "I = [(14,20)]\nF = (rich(chris)=true)\n"
    assert "`nonsense` is not a query" in result.stderr


def process(*words: str, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "horai", *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, env=env)


def test_a_broken_pipe_is_quiet(horai: Run) -> None:
    Path("day.csv").write_text("".join(f"win|{i}|{i}|p{i}\n" for i in range(1, 3000)))
    running = process(*DAY)
    assert running.stdout is not None and running.stderr is not None
    running.stdout.readline()
    running.stdout.close()
    assert running.wait(60) == 0
    assert running.stderr.read() == b""
    running.stderr.close()


def test_no_colour_in_a_pipe_and_a_traceback_only_when_asked(horai: Run) -> None:
    Path("rules.ec").write_text("initiatedAt(f, T) :- happensAt(e, T).\n")
    _, plain = process(*DAY).communicate()
    assert b"\x1b" not in plain and b"Traceback" not in plain
    _, told = process(*DAY, env={**os.environ, "HORAI_DEBUG": "1"}).communicate()
    assert b"Traceback" in told
    _, told = process("--debug", *DAY).communicate()
    assert b"Traceback" in told
