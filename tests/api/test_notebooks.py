"""Notebooks show what they give when somebody runs them, and objects draw themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from scripts.run_notebooks import FOLDER, executed

import horai
from horai.errors import UsageError

NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
RULES = horai.loads("initiatedAt(on(X)=true, T) :- happensAt(up(X), T).")


def shown(notebook: Any) -> list[list[str]]:
    """What each cell shows as text; it fails if a cell failed."""
    found = []
    for cell in notebook.cells:
        outputs = cell.get("outputs", [])
        assert [one for one in outputs if one.output_type == "error"] == []
        found.append([one["data"].get("text/plain", "") for one in outputs if "data" in one])
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_a_notebook_shows_what_it_gives(path: Path) -> None:
    kept = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    assert sum(map(bool, shown(kept))) > 5
    assert shown(executed(path)) == shown(kept), "run scripts/run_notebooks.py"


def test_answers_show_their_rows() -> None:
    result = RULES.run([f"up|{t}|{t}|'<b>{t}'" for t in range(30)], step=10)
    for shown_, rows in ((result, 30), (result.answers[-1], 30), (result.answers[0], 10)):
        html = shown_._repr_html_()
        assert html.startswith(f"<p>{repr(shown_)[1:-1]}</p>")
        assert "<b>" not in html
        assert html.count("<tr") == 1 + min(rows, 20)
        assert ("<p>... and 10 more</p>" in html) == (rows == 30)


def test_an_answer_of_a_program_shows_its_atoms() -> None:
    program = horai.loads("late(X) :- seen(X) [3].", language="lars")
    answer = program.run(["seen|1|1|a"], end=3).answers[0]
    assert "<td>late</td>" in answer._repr_html_()


def test_plans_and_graphs_draw_themselves() -> None:
    svg = RULES.graph(inputs=True)._repr_svg_()
    assert svg is not None
    assert svg.startswith("<svg")
    assert repr(RULES.graph()).startswith("flowchart")
    assert "<pre>" in RULES.plan()._repr_html_()
    assert RULES.plan().to_dict()["components"][0]["level"] == 1
    program = horai.loads("h :- a [2 s], not b.", language="lars")
    assert "stretch" in repr(program.plan())
    assert "flowchart" in repr(program.graph(inputs=True))


def test_a_graph_without_graphviz_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert RULES.graph()._repr_svg_() is None


def test_combined_rules_are_looked_at_apart() -> None:
    both = horai.combine(RULES, horai.loads("h(X) :- on(X).", language="lars"))
    for look in (both.plan, both.graph):
        with pytest.raises(UsageError, match="rules of two languages"):
            look()
