"""Wrong input and wrong use: the reason, the place, and the exit status."""

from pathlib import Path

import pytest

from .conftest import Run

DAY = ("run", "rules.ec", "--input", "day.csv")
GOOD = "win|13|13|chris\n"

# A bad row as line 2 of the narrative, the code it gets, and what the reason says.
ROWS = [
    ("win|13", "field-count", "2 fields given, expected win|Arrival|Time|Arg1 (4 fields)"),
    ("win|13|13|chris|zoe", "field-count", "5 fields given"),
    ("win", "field-count", "1 field given"),
    ("nothing at all", "field-count", "no '|' in this row"),
    ("win|soon|13|chris", "bad-time", "'soon' is not a time"),
    ("win|13|later|chris", "bad-time", "'later' is not a time"),
    ("win|13|1.5|chris", "bad-time", "'1.5' is not a time"),
    ("win|13||chris", "bad-time", "is not a time"),
    ("win|13|99999999999999999999|chris", "bad-time", "times lie between -2**61 and 2**61"),
    ("win|2024-01-01|2024-01-01|chris", "unit", "ISO time needs --unit"),
    ("wim|13|13|chris", "unknown-type", "did you mean win?"),
    ("rich|13|13|true|chris", "derived-type", "rich is derived by the rules"),
    ("party|13|13|chris", "derived-type", "party is derived by the rules"),
    ("near|13|20|15|true|chris", "end-before-start", "[20, 15) is empty"),
    ("near|13|20|20|true|chris", "end-before-start", "[20, 20) is empty"),
    ("near|13|20|soon|true|chris", "bad-time", "'soon' is not a time"),
    ('win|13|13|"chris', "quote", "does not close on this line"),
    ("win|13|13|chr\udcffis", "encoding", "is not UTF-8"),
    ("-win|13|13|zoe", "unknown-retraction", "nothing equal to it has arrived before"),
    ("win|40|2|chris", "too-late", "it lies at or before 30"),
    ("win|5|0|chris", "outside-run", "it lies at or before the start of the run"),
    ("win|5|60|chris", "outside-run", "after the end of the run"),
    ("win|60|5|chris", "outside-run", "after the end of the run"),
]


@pytest.mark.parametrize(("row", "code", "reason"), ROWS, ids=[f"{c}-{r}" for r, c, _ in ROWS])
def test_a_bad_row_is_set_aside_with_its_reason(
    horai: Run, row: str, code: str, reason: str
) -> None:
    with Path("rules.ec").open("a") as rules:
        rules.write("collectIntervals(near(X)=true).\n")
        rules.write("holdsFor(seen(X)=true, I) :- holdsFor(near(X)=true, I).\n")
    Path("day.csv").write_bytes((GOOD + row + "\n").encode("utf-8", "surrogateescape"))
    settings = ("--start", "0", "--end", "40", "--window", "10", "--step", "10")
    result = horai(*DAY, *settings)
    assert result.exit_code == 0
    assert f"(1 {code})" in result.stderr
    assert f"day.csv:2: {code}: " in result.stderr
    assert reason in result.stderr
    assert '"start":14' in result.stdout, "the good row still counts"


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("13,win", "is missing"),
        ("x,win,chris", "not a time"),
        ("13,,chris", "type"),
    ],
)
def test_bad_rows_of_a_csv_with_header(horai: Run, row: str, reason: str) -> None:
    Path("day.csv").write_text(f"time,type,who\n13,win,chris\n{row}\n")
    result = horai(*DAY)
    assert result.exit_code == 0
    assert "day.csv:3: " in result.stderr


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ('{"type":"win","args":["chris"]}', "the time is missing"),
        ('{"type":"win","time":13}', "win takes 1 argument, 0 given"),
        ('{"type":"win","time":13,"args":[[1]]}', "neither text nor a number"),
        ('{"type":"win","time":13,"args":["a"],"op":"maybe"}', "op is insert or retract"),
        ('{"type":"win"', ""),
        ("[]", ""),
    ],
)
def test_bad_rows_of_json_lines(horai: Run, row: str, reason: str) -> None:
    good = '{"type":"win","time":13,"args":["chris"]}'
    Path("day.jsonl").write_text(f"{good}\n{row}\n")
    result = horai("run", "rules.ec", "--input", "day.jsonl")
    assert result.exit_code == 0
    assert "day.jsonl:2: " in result.stderr and reason in result.stderr


USES = [
    (("run",), "no rules given"),
    (("run", "rules.ec"), "no input given"),
    (("run", "rules.ec", "--input", "nowhere.csv"), "nowhere.csv: there is no such file"),
    (("run", "rules.ec", "--input", "."), "error: .: "),
    (("run", "rules.ec", "--input", "rules.ec"), "the file name does not tell its format"),
    (("run", "nowhere.ec", "--input", "day.csv"), "nowhere.ec"),
    ((*DAY, "--background", "nowhere.ec"), "nowhere.ec"),
    ((*DAY, "--window", "0"), "window must be above 0, not 0"),
    ((*DAY, "--window", "-3"), "window must be above 0, not -3"),
    ((*DAY, "--window", "ten"), "window must be a whole number, not 'ten'"),
    ((*DAY, "--step", "0"), "step must be above 0, not 0"),
    ((*DAY, "--tick", "0"), "tick must be above 0, not 0"),
    ((*DAY, "--allen-memory", "-1"), "allen-memory must be at least 0"),
    ((*DAY, "--start", "20", "--end", "10"), "the end of the run, 10, is not after its start, 20"),
    ((*DAY, "--start", "99"), "the input ends at 19, not after the start of the run, 99"),
    ((*DAY, "--end", "5"), "the input begins after 12, not before the end of the run, 5"),
    ((*DAY, "--start", "soon"), "start: 'soon' is not a time"),
    ((*DAY, "--start", "2024-01-01"), "start: ISO time needs --unit"),
    ((*DAY, "--unit", "year"), "unit cannot be 'year'"),
    ((*DAY, "--engine", "warp"), "there is no engine 'warp'"),
    ((*DAY, "--answers", "all"), "answers cannot be 'all' = help: it is one of final, windows"),
    ((*DAY, "--format", "xml"), "is not one of"),
    ((*DAY, "-o", "answers.xyz"), "answers.xyz: the file name does not tell its format"),
    ((*DAY, "-o", "no/such/folder/out.csv"), "there is no folder no/such/folder"),
    ((*DAY, "--dead-letters", "no/such/folder/dead.csv"), "there is no folder no/such/folder"),
    ((*DAY, "--predicates", "nowhere.py"), "nowhere.py: no such file"),
    ((*DAY, "--predicates", "day.csv"), "day.csv: not a Python file"),
    ((*DAY, "--colour"), "there is no option --colour"),
    (("run", "rules.ec", "-i", "-", "--interactive"), "which is already the stream"),
    (("walk",), "there is no command walk"),
    (("check",), "no rules given"),
    (("check", "nowhere.ec"), "nowhere.ec"),
    (("query", "rules.ec", "holdsAt(F,16)"), "no input given"),
    (("query", "rules.ec", "-i", "day.csv", "holdsAt(F)"), "is not a query"),
    (("test",), "no cases given"),
    (("test", "nowhere.case"), "nowhere.case:1: there is no such file"),
    (("test", "."), "no case files found"),
    (("test", ".", "--engine", "warp"), "there is no engine 'warp'"),
    (("graph", "rules.ec", "-o", "graph.xyz"), "graphs are written as"),
    (("rule", "H999"), "there is no code H999"),
    (("new", "day.csv"), "day.csv is a file"),
    (("new", "."), "exists and is not empty"),
    (("new", "1st"), "is no name for a project"),
]


@pytest.mark.parametrize(("words", "reason"), USES, ids=[" ".join(words) for words, _ in USES])
def test_wrong_use_is_explained(horai: Run, words: tuple[str, ...], reason: str) -> None:
    result = horai(*words)
    assert result.exit_code == 2
    flat = " ".join(result.stderr.replace("│", " ").split())
    assert reason in flat
    assert result.stdout == "" or words[0] == "check"
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[project\n", "horai.toml: "),
        ("[projekt]\n", "unknown table [projekt]; did you mean project?"),
        ('[project]\nrule = ["a"]\n', "unknown setting rule in [project]; did you mean rules?"),
        ('[project]\nrules = "rules.ec"\n', "rules in [project] must be a list of file names"),
        ('[project]\nrules = ["rules.ec"]\n[run]\nwindow = "ten"\n', "must be a whole number"),
        ('[project]\nrules = ["rules.ec"]\n[run]\nstrict = 1\n', "must be true or false"),
        ('[project]\nrules = ["rules.ec"]\n[run]\nunit = 1\n', "unit must be a text, not 1"),
        ("[run]\nwindow = 3\n", "no rules"),
        ("project = 3\n", "project must be a table"),
        ('[project]\nrules = ["nowhere.ec"]\ninput = ["day.csv"]\n', "nowhere.ec"),
    ],
)
def test_wrong_settings_of_a_project_are_explained(horai: Run, text: str, reason: str) -> None:
    Path("horai.toml").write_text(text)
    result = horai("run")
    assert result.exit_code == 2
    assert reason in result.stderr


def test_all_errors_of_rules_come_at_once(horai: Run) -> None:
    Path("rules.ec").write_text(
        "intiatedAt(f=true, T) :- happensAt(a, T).\n"
        "initiatedAt(g, T) :- happensAt(b, T).\n"
        "terminatedAt(h=true, T) :- happensAt(c, T)\n"
    )
    result = horai(*DAY)
    assert (result.exit_code, result.stdout) == (2, "")
    for place in ("rules.ec:1:", "rules.ec:2:", "rules.ec:3:"):
        assert place in result.stderr
    assert "did you mean `initiatedAt`?" in result.stderr or "initiatedAt" in result.stderr
