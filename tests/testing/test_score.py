"""Scores: time-points and intervals, against a count of single points."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.conftest import Run

from horai import InputError, UsageError, loads
from horai.io.times import TimeScale
from horai.tools.score import Counts, Scores, read_marked, score

RULES = loads("""
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).
""")
DAY = ["win|3|3|ann", "lose|9|9|ann", "win|12|12|bob", "lose|15|15|bob", "win|20|20|eve"]
SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 6)), max_size=6)


def against(truth: str, tmp_path: Path, **more: float) -> Scores:
    path = tmp_path / "truth.csv"
    path.write_text("fluent,start,end\n" + truth)
    return score(RULES.run(DAY, start=0, end=25), path, **more).fluents["rich/1"]  # type: ignore[arg-type]


def test_what_is_marked_exactly_is_right(tmp_path: Path) -> None:
    truth = "rich(ann)=true,4,10\nrich(bob)=true,13,16\nrich(eve)=true,21,\n"
    found = against(truth, tmp_path)
    assert found.points == Counts(6 + 3 + 5, 14, 14)
    assert found.intervals == Counts(3, 3, 3)
    assert found.points.precision == found.intervals.recall == found.points.f1 == 1.0


def test_time_points_and_intervals_count_differently(tmp_path: Path) -> None:
    truth = "rich(ann)=true,4,12\nrich(bob)=true,15,23\nrich(zoe)=true,1,2\n"
    found = against(truth, tmp_path)
    assert found.points == Counts(6 + 1, 14, 8 + 8 + 1)
    assert found.intervals == Counts(1, 3, 3)  # bob's share one of ten points
    assert against(truth, tmp_path, overlap=0.1).intervals == Counts(2, 3, 3)
    assert against(truth, tmp_path, overlap=0.8).intervals == Counts(0, 3, 3)


def test_only_what_the_run_covers_counts(tmp_path: Path) -> None:
    result = RULES.run(DAY, start=5, end=14)
    truth = {("rich", 1): {"rich(ann)=true": [(0, 10)], "rich(bob)=true": [(13, 99)]}}
    found = score(result, truth, start=5).fluents["rich/1"]
    assert found.points == Counts(2, 2, 4 + 2)


@given(SPANS, SPANS)
def test_time_points_are_those_of_sets(
    have: list[tuple[int, int]], want: list[tuple[int, int]]
) -> None:
    rows = [f"on|{s}|{s}|{s + n}|true|a" for s, n in have]
    rules = loads(
        "collectIntervals(on(X)=true).\nholdsFor(f(X)=true, I) :- holdsFor(on(X)=true, I)."
    )
    result = rules.run(rows, start=-1, end=50)
    points = [{p for s, n in some for p in range(s, s + n)} for some in (have, want)]
    truth: list[tuple[int, int]] = []
    for p in sorted(points[1]):
        if truth and truth[-1][1] == p:
            truth[-1] = (truth[-1][0], p + 1)
        else:
            truth.append((p, p + 1))
    found = score(result, {("f", 1): {"f(a)=true": truth}}).fluents["f/1"]
    assert found.points == Counts(len(points[0] & points[1]), len(points[0]), len(points[1]))
    assert found.intervals.right <= min(found.intervals.found, found.intervals.marked)


def test_answers_can_be_labels(tmp_path: Path) -> None:
    result = RULES.run(DAY, start=0, end=25)
    from horai.io import write_answers

    write_answers(result.table(), tmp_path / "answers.csv")
    found = score(result, tmp_path / "answers.csv").all
    assert found.points == Counts(14, 14, 14) and found.intervals == Counts(3, 3, 3)


def test_times_of_labels_are_those_of_the_input(tmp_path: Path) -> None:
    path = tmp_path / "truth.csv"
    path.write_text("fluent,start,end\nrich(ann)=true,1970-01-01T00:00:04Z,inf\n")
    assert read_marked(path, TimeScale("s"))["rich", 1] == {"rich(ann)=true": [(4, 2**62)]}
    with pytest.raises(InputError, match="ISO time needs --unit"):
        read_marked(path, TimeScale())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("who,start\n", "the columns fluent, start, end are expected"),
        ("fluent,start,end\nrich(X)=true,1,2\n", "write a fluent with its value"),
        ("fluent,start,end\nrich(ann)=true,5,5\n", "5 is not after 5"),
        ("fluent,start,end\nrich(ann)=true,noon,5\n", "'noon' is not a time"),
        ("fluent,start,end\nrich((=true,1,2\n", "truth.csv:2"),
    ],
)
def test_what_is_wrong_with_labels_is_said_with_its_line(
    text: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "truth.csv").write_text(text)
    with pytest.raises(InputError) as wrong:
        read_marked(tmp_path / "truth.csv", TimeScale())
    assert said in str(wrong.value)


def test_a_share_lies_between_nothing_and_all() -> None:
    with pytest.raises(UsageError, match="overlap must be above 0"):
        score(RULES.run(DAY), {}, overlap=0)


def test_the_command_has_an_exit_status_for_what_is_too_little(horai: Run) -> None:
    Path("truth.csv").write_text("fluent,start,end\nrich(chris)=true,10,20\n")
    words = ("score", "rules.ec", "-i", "day.csv", "--truth", "truth.csv")
    assert horai(*words).exit_code == 0
    assert horai(*words, "--at-least", "0.9").exit_code == 1
    assert horai(*words, "--at-least", "9").exit_code == 2
    assert '"marked": 10' in horai(*words, "--format", "json").stdout
    Path("truth.csv").write_text("fluent,start,end\nritch(chris)=true,14,30\n")
    assert "no rule derives ritch/1; did you mean rich/1?" in horai(*words).stderr
    assert horai("score", "rules.ec", "-i", "day.csv").exit_code == 2
