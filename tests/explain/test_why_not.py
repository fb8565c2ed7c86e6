"""Why not names what rules lack, and each row that it names is tried; what if says what changes."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.conftest import Run, horai  # noqa: F401  the command line in a folder
from tests.engine.itemtables import row
from tests.explain.checking import questions
from tests.explain.test_why import DAY, RULES
from tests.strategies.runs import Run as RandomRun
from tests.strategies.runs import runs
from tests.strategies.wild_parts import PREDICATES
from tests.weights import examples

import horai as library
from horai import io
from horai.errors import RunError, UsageError
from horai.explain.proof import Proof, RowChange
from horai.io.items.rows import Item
from horai.runtime.inputs import read_input, row_text


@pytest.fixture(scope="module")
def result() -> library.Result:
    return library.loads(RULES).run(DAY, start=0, end=40)


def wishes(proof: Proof) -> list[str]:
    return sorted({f"{w.op} {w.row}" for node in proof.walk() for w in node.changes})


def test_what_has_ended_it_comes_first(result: library.Result) -> None:
    proof = result.why_not("rich(chris)=true", 24)
    ended, rule = proof.premises
    assert (ended.kind, ended.at, ended.changes) == (
        "terminated",
        19,
        (RowChange("-", "lose|19|19|chris"),),
    )
    assert (rule.kind, rule.met) == ("rule", False)
    assert [unmet.text for unmet in rule.premises] == ["happensAt(win(chris),23)"]
    assert wishes(proof) == ["+ win|23|23|chris", "- lose|19|19|chris"]


def test_lists_are_followed_to_the_fluents_that_are_missing(result: library.Result) -> None:
    proof = result.why_not("happy(chris)=true", 30)
    missing = [unmet.text for rule in proof.premises for unmet in rule.premises]
    assert sorted(missing) == ["holdsAt(location(chris)=pub,30)", "holdsAt(rich(chris)=true,30)"]
    assert "- go|21|21|chris|home" in wishes(proof)


def test_a_condition_that_is_violated_names_the_row_behind_it() -> None:
    rules = library.loads(
        "initiatedAt(on(X)=true, T) :- happensAt(up(X), T), \\+ holdsAt(locked(X)=true, T).\n"
        "initiatedAt(locked(X)=true, T) :- happensAt(lock(X), T).\n"
    )
    result = rules.run(["lock|2|2|a", "up|7|7|a", "lock|9|9|b"])
    (rule,) = result.why_not("on(a)=true", 9).premises
    (violated,) = rule.premises
    assert violated.text == "\\+ holdsAt(locked(a)=true,7)"
    assert [row.text for row in violated.rows] == ["lock|2|2|a"]
    assert rule.changes == (RowChange("-", "lock|2|2|a"),)


def test_rules_that_lack_less_are_nearer() -> None:
    rules = library.loads(
        "initiatedAt(on(X)=true, T) :- happensAt(a(X), T), happensAt(b(X), T).\n"
        "initiatedAt(on(X)=true, T) :- happensAt(c(X), T), fits(X), good(X).\n"
        "fits(y). good(z).\n"
    )
    result = rules.run(["a|4|4|x", "c|5|5|x", "b|6|6|y"])
    first, second = result.why_not("on(x)=true", 6).premises
    assert [unmet.text for unmet in first.premises] == ["happensAt(b(x),4)"]
    assert [unmet.text for unmet in second.premises] == ["fits(x)", "good(x)"]
    assert first.changes == (RowChange("+", "b|4|4|x"),)


def test_a_negation_about_a_value_that_is_missing_too() -> None:
    rules = library.loads(
        "initiatedAt(f(X)=true, T) :-\n"
        "    happensAt(a(X, Y), T), happensAt(c(X), T), \\+ (happensAt(b(X), T), Y \\= z).\n"
    )
    result = rules.run(["b|4|4|x", "c|4|4|x", "a|9|9|y|y"], end=9)
    (rule,) = result.why_not("f(x)=true", 5).premises
    assert rule.premises[0].text == "happensAt(a(x,Y),4)"
    assert len(rule.premises) == 2


def test_input_that_is_not_there(result: library.Result) -> None:
    assert wishes(result.why_not("win(chris)", 8)) == ["+ win|8|8|chris"]
    assert wishes(result.why_not("insured(chris)=true", 15)) == ["+ insured|15|15|16|true|chris"]


@pytest.mark.parametrize(
    ("what", "at", "problem"),
    [
        ("rich(chris)=true", 15, "rich(chris)=true holds at 15"),
        ("cheer(chris)", 13, "cheer(chris) happens at 13"),
        ("rich(X)=true", 30, "has variables"),
        ("rich(chris)=true", None, "say at what time"),
        ("rich(chris)=true", 77, "outside the run"),
    ],
)
def test_misuse(result: library.Result, what: str, at: int | None, problem: str) -> None:
    with pytest.raises(UsageError, match=r".*".join(problem.replace("(", ".").split(")"))):
        result.why_not(what, at)


# --- every row that is named gives what was asked, by the reference too ---------------------------


@examples("heavy")
@given(runs(retractions=False))
def test_random_runs(run: RandomRun) -> None:
    rules = library.loads(run.described.text, predicates=PREDICATES)
    rows = [row(item, number) for number, item in enumerate(run.items, 1)]
    try:
        result = rules.run(io.Narrative.from_items(rows), tick=run.described.tick, start=0, end=60)
    except RunError:
        return
    for what, at in list(absent(result))[:6]:
        for wish in {w for node in result.why_not(what, at).walk() for w in node.changes}:
            assert it_helps(result, wish, what, at), (wish, what, at)


def absent(result: library.Result) -> Iterator[tuple[str, int]]:
    """What holds at some time, at times at which it does not."""
    for what, at in questions(result):
        for time in (at - 7, at + 7):
            word = "holdsAt" if "=" in what else "happensAt"
            if 0 < time <= 60 and not result.query(f"{word}({what},{time})"):
                yield what, time


def it_helps(result: library.Result, wish: RowChange, what: str, at: int) -> bool:
    """A run of the reference with the row, or without it, gives what was asked."""
    items: list[Item] = [one for table in result.basis.items() for one in table.items()]
    if wish.op == "-":
        items = [one for one in items if row_text(one) != wish.row]
    else:
        scale = result.basis.settings.scale
        items += list(read_input([wish.row], result.rules.schema, scale).items())
    found = result.rules.run(
        io.Narrative.from_items(items),
        engine="reference",
        tick=result.basis.settings.tick,
        start=0,
        end=60,
    )
    word = "holdsAt" if "=" in what else "happensAt"
    return bool(found.query(f"{word}({what},{at})"))


# --- what if -------------------------------------------------------------------------------------


def test_rows_more_and_less(result: library.Result) -> None:
    def told(rows: list[io.AnswerRow]) -> list[tuple[object, ...]]:
        return [(r.op, r.name, r.start, r.end) for r in rows if r.name == "rich"]

    assert told(result.what_if(without=["<memory>:1"])) == [("-", "rich", 14, 20)]
    assert told(result.what_if(added=["lose|15|15|chris"])) == [
        ("-", "rich", 14, 20),
        ("+", "rich", 14, 16),
    ]
    assert result.what_if(without=["win|13|13|chris"], added=["win|13|13|chris"]) == []


def test_rows_are_tried_without_another_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine takes them in, one trial after the other, and each is of the run as it was."""
    rules = library.loads(RULES)
    given = ["win|13|13|chris", "lose|19|19|chris", "win|20|20|eve"]
    results = [rules.run(given, revisable=one) for one in (True, False)]
    windows = rules.run(given, window=30, step=10)
    run_again = windows.what_if(without=["lose|19|19|chris"])
    monkeypatch.setattr(library.Rules, "run", None)
    for result in results:
        for _ in range(2):
            found = result.what_if(without=["lose|19|19|chris"])
            assert [row._replace(op=None) for row in found] == [
                row._replace(op=None) for row in run_again
            ]
            assert result.what_if(without=["win|20|20|eve"])[0].args == ("eve",)
        proof = result.why_not("rich(chris)=true", 20)
        assert proof.premises[0].changes == (RowChange("-", "lose|19|19|chris"),)
    with pytest.raises(TypeError):  # of windows, a late row is not one that was there
        windows.what_if(without=["lose|19|19|chris"])


def test_other_rules(result: library.Result) -> None:
    other = library.loads(RULES.replace("union_all", "intersect_all"))
    assert [(r.op, r.start, r.end) for r in result.what_if(rules=other) if r.name == "happy"] == [
        ("-", 14, 22),
        ("+", 18, 20),
    ]


def test_what_cannot_be_tried(result: library.Result) -> None:
    with pytest.raises(UsageError, match="added must be a list of rows, not a text"):
        result.what_if(added="win|15|15|eve")
    with pytest.raises(UsageError, match="revisable must be true or false"):
        library.loads(RULES).run(DAY, revisable="yes")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="nothing would be different"):
        result.what_if()
    with pytest.raises(UsageError, match=r"no row of the input is day.csv:4"):
        result.what_if(without=["day.csv:4"])
    with pytest.raises(UsageError, match="unknown type 'win1'"):
        result.what_if(added=["win1|3|3|chris"])
    with pytest.raises(UsageError, match="would not be used: it lies at or before the start"):
        result.what_if(added=["win|-5|-5|chris"])


@examples("heavy")
@given(runs(retractions=False), st.randoms(use_true_random=False), st.sampled_from([None, 20]))
def test_random_changes(run: RandomRun, dice: Random, step: int | None) -> None:
    """What is told is what two runs of the reference differ in."""
    rules = library.loads(run.described.text, predicates=PREDICATES)
    rows = [
        row_text(row(item, number, "points" if item.entity.name == "i2" else "intervals"))  # type: ignore[union-attr]
        for number, item in enumerate(run.items, 1)
    ]
    if not rows:
        return
    settings: dict[str, Any] = {"tick": run.described.tick, "start": 0, "end": 60}
    if step is not None:
        settings |= {"step": step, "window": 40}
    given_ = rows[: len(rows) * 2 // 3]
    try:
        result = rules.run(given_, revisable=dice.random() < 0.5, **settings)
    except RunError:
        return
    if result.dead_letters or not given_:
        return
    for _ in range(3):  # each of the run as it was, not as it would have been
        added = dice.sample(rows, dice.randint(0, 2))
        without = [one for one in dice.sample(rows, 1) if one in given_ or not added]
        changed = [one for one in given_ if one not in without] + added
        try:
            before, after = (
                set(rules.run(some, engine="reference", **settings).rows("spans"))
                for some in (given_, changed)
            )
        except RunError:
            continue
        try:
            found = result.what_if(added, without)
        except UsageError as refused:
            known = ("would not be used", "no row of the input", "cannot be read: unknown type")
            assert any(one in refused.problem for one in known)
            continue
        assert {row._replace(op=None) for row in found if row.op == "-"} == before - after
        assert {row._replace(op=None) for row in found if row.op == "+"} == after - before
        assert len(found) == len(set(found))


def test_what_is_no_row_reads_no_file(result: library.Result) -> None:
    for text in ("/etc/hostname", "day.csv", ""):
        with pytest.raises(UsageError, match="is no row"):
            result.what_if(added=[text])
    with pytest.raises(UsageError, match="of the Event Calculus, and the others of LARS"):
        result.what_if(rules=library.loads("p(X) :- q(X).", language="lars"))


def test_a_row_outside_the_run_is_told_however_its_time_is_written() -> None:
    rules = library.loads("initiatedAt(on(X)=true, T) :- happensAt(up(X), T).")
    result = rules.run(["up|3|3|a"], unit="s", start=0, end=9)
    with pytest.raises(UsageError, match="would not be used"):
        result.what_if(added=["up|1970-01-01T00:01:00Z|1970-01-01T00:01:00Z|b"])


def test_what_nothing_says_has_a_reason_too(result: library.Result) -> None:
    (reason,) = result.why_not("rich(chris)=false", 15).premises
    assert reason.text == "no rule says it, and no row could"


# --- the command line ----------------------------------------------------------------------------


def test_the_commands(horai: Run) -> None:  # noqa: F811
    found = horai("why", "rules.ec", "rich(chris)=true", "--at", "17", "--not", "-i", "day.csv")
    assert "rich(chris)=true holds at 17" in found.output
    found = horai("why", "rules.ec", "rich(chris)=true", "--at", "19", "--not", "-i", "day.csv")
    assert found.exit_code == 2
    found = horai("why", "rules.ec", "rich(eve)=true", "--at", "17", "--not", "-i", "day.csv")
    assert "with the row win|16|16|eve it would hold" in found.output
    found = horai("whatif", "rules.ec", "--without", "day.csv:2", "-i", "day.csv")
    assert found.output == ("- rich(chris)=true from 14 until 20\n+ rich(chris)=true from 14 on\n")
    found = horai(
        *("whatif", "rules.ec", "--with", "win|15|15|eve", "--format", "jsonl", "-i", "day.csv")
    )
    assert [json.loads(line)["op"] for line in found.stdout.splitlines()] == ["+", "+"]


def test_other_rules_by_the_command(horai: Run) -> None:  # noqa: F811
    from pathlib import Path

    Path("other.ec").write_text(Path("rules.ec").read_text().replace("lose(X)", "win(X)"))
    found = horai("whatif", "rules.ec", "--instead", "other.ec", "-i", "day.csv")
    assert found.output == "- rich(chris)=true from 14 until 20\n"
    found = horai("whatif", "rules.ec", "--instead", "rules.ec", "-i", "day.csv")
    assert (found.stdout, found.stderr) == ("", "nothing would change\n")
