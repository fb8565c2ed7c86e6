"""The examples of LARS: what they find, and the pages that show it."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.report.pages import data_of, spans_of

import horai
from horai.cli.app import app
from horai.runtime.lars.answers import written

EXAMPLES = Path(__file__).parents[1] / "examples"
TRAM, CACHING = EXAMPLES / "tram", EXAMPLES / "caching"


def command(*words: str) -> str:
    found = CliRunner().invoke(app, list(words), env={"COLUMNS": "100"})
    assert found.exit_code == 0, found.output
    return found.stdout


@pytest.mark.parametrize("engine", ["asp", "reference"])
def test_the_passenger_of_a_tram_has_two_choices_until_there_is_a_jam(engine: str) -> None:
    program = horai.load(TRAM / "rules.lars")
    names = ["change", "skip", "gc", "exp"]
    settings = {"clock": "1min", "start": 30, "models": "all", "filter": names, "engine": engine}
    result = program.run(TRAM / "narrative.csv", end=45, **settings)  # type: ignore[arg-type]
    found = {a.query: [set(map(written, model)) for model in a.models] for a in result.answers}
    good = {"gc(a1,a2,m)", "gc(a3,a1,m)", "gc(a3,a2,m)"}
    assert found[40] == [good]
    assert found[41] == [
        good | {"change(a3,a1,m)", "skip(a3,a2,m)"},
        good | {"change(a3,a2,m)", "skip(a3,a1,m)"},
    ]
    assert found[42] == [{"gc(a3,a2,m)", "change(a3,a2,m)"}]
    assert found[45] == [{"exp(a2,m)"}]


@pytest.mark.parametrize("engine", ["plan", "asp", "tms"])
def test_the_router_switches_when_a_level_has_lasted(engine: str) -> None:
    program = horai.load(CACHING / "strategy.lars")
    result = program.run(CACHING / "router.csv", start=0, end=119, engine=engine)
    told = [
        (row.query, row.op, row.name)
        for row in result.rows("changelog")
        if row.name in ("lfu", "lru", "fifo", "random")
    ]
    assert told == [
        *((0, "+", "lru"), (10, "-", "lru"), (10, "+", "random")),
        *((40, "-", "random"), (40, "+", "lfu"), (55, "-", "lfu"), (55, "+", "random")),
        *((115, "-", "random"), (115, "+", "fifo")),
    ]


def test_the_event_calculus_reads_the_advice() -> None:
    rules = horai.load(CACHING / "switching.ec")
    both = horai.combine(rules, horai.load(CACHING / "strategy.lars"))
    assert [f.code for f in both.check("1s")] == []
    for step in (None, 7):
        result = both.run(CACHING / "router.csv", clock="1s", start=-1, end=119, step=step)
        assert result.dead_letters == []
        assert result.holds_for("alone=true") == [(31, 40), (55, 71), (96, 111)]
        assert result.holds_for("strategy=lfu") == [(41, 116)]


def test_items_come_from_one_of_the_best_sources() -> None:
    program = horai.load(CACHING / "content.lars")
    result = program.run(CACHING / "content.csv", start=0, end=119, engine="asp")
    assert result.dead_letters == []
    asked = 0
    for answer in result.answers:
        atoms: dict[str, set[tuple[int, ...]]] = {}
        for text in answer.texts():
            name, _, args = text.rstrip(")").partition("(")
            atoms.setdefault(name, set()).add(tuple(map(int, args.split(","))))
        taken, sources = atoms.get("getFrom", set()), atoms.get("src", set())
        assert {row[:2] for row in taken} == {row[:2] for row in sources}
        assert len(taken) == len({row[:2] for row in taken})
        worse = atoms.get("worseThan", set())
        for item, node, source in taken:
            others = {m for i, n, m in sources if (i, n) == (item, node)}
            assert not any((source, other) in worse for other in others)
            asked += 1
    assert asked > 50


def test_the_files_are_what_the_script_writes() -> None:
    made = runpy.run_path(str(CACHING / "generate.py"))
    for name, text in made["files"]().items():
        assert (CACHING / name).read_text(encoding="utf-8") == text


# --- pages ---------------------------------------------------------------------------------------


def test_a_page_of_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(TRAM)
    command("report", "-o", str(tmp_path / "tram.html"))
    text = (tmp_path / "tram.html").read_text(encoding="utf-8")
    assert data_of(text)["title"] == "tram"
    found = spans_of(text)
    assert found["change(a3,a2,m)"] == [(42, 43)]
    assert found["gc(a3,a2,m)"] == [(40, 43)]
    assert "arrived" not in "".join(found)  # the project shows some predicates only
    assert not re.search(r'(src|href)="http', text)


def test_a_page_of_both_languages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CACHING)
    out = str(tmp_path / "both.html")
    words = ("-i", "router.csv", "--clock", "1s", "--start", "-1", "--end", "119", "-o", out)
    command("report", "strategy.lars", "switching.ec", *words, "--title", "A <router>")
    text = Path(out).read_text(encoding="utf-8")
    assert "<title>A &lt;router&gt;</title>" in text
    found = spans_of(text)
    assert found["alone=true"] == [(31, 40), (55, 71), (96, 111)]
    assert found["strategy=fifo"] == [(116, None)]
    assert len(data_of(text)["graphs"]) == 2


def test_the_page_of_a_run_has_what_the_run_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(TRAM)
    out = str(tmp_path / "tram.html")
    told = command("run", "--format", "text", "--models", "all", "--report", out)
    assert "change(a3,a2,m)" in told
    data = data_of(Path(out).read_text(encoding="utf-8"))
    assert data["streams"] == 2
    assert data["about"]["command"] == ""  # proofs are those of the Event Calculus


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("-o", "page.pdf"), "a page is HTML"),
        (("-o", "page.html", "--window", "5"), "--window has no meaning for LARS programs"),
        ((), "no input given"),
    ],
)
def test_wrong_use(
    words: tuple[str, ...], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.lars").write_text("h :- a.\n")
    Path("f.csv").write_text("a|1|1\n")
    given = ("-i", "f.csv") if words else ()
    found = CliRunner().invoke(app, ["report", "p.lars", *given, *words])
    assert found.exit_code == 2
    assert told in found.stderr
