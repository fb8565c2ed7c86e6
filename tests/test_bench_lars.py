"""The programs that LARS engines are measured on say the same as answer set programs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from clingo import Control

import horai
from horai.runtime.lars.answers import written

BENCH = Path(__file__).parents[1] / "bench"
POINTS = 12


@pytest.fixture
def made() -> Iterator[tuple[Any, Any]]:
    """The experiments and what clingo is asked, from a folder that is on no path."""
    before = list(sys.path)
    sys.path.insert(0, str(BENCH))
    experiments = import_module("lars_experiments")
    question = import_module("generators.lars_static").question

    yield experiments, question
    sys.path[:] = before


def by_clingo(text: str) -> set[str]:
    control = Control(["--models=1", "--warn=none"])
    control.add("base", [], text)
    control.ground([("base", [])])
    with control.solve(yield_=True) as handle:
        return {str(symbol) for model in handle for symbol in model.symbols(shown=True)}


@pytest.mark.parametrize("form", ["t@", "t some", "t always", "# @", "# some", "# always"])
@pytest.mark.parametrize("which", ["of_basic", "of_reach"])
def test_each_form_of_window(made: tuple[Any, Any], which: str, form: str) -> None:
    experiments, question = made
    agree(getattr(experiments, which)(form, "", 3, 2, 0.6), question)


@pytest.mark.parametrize(("n", "k"), [(3, 0), (9, 2), (4, 1)])
def test_strategy(made: tuple[Any, Any], n: int, k: int) -> None:
    agree(made[0].of_strategy("", n, k, 0.5), made[1])


def agree(configuration: Any, question: Any) -> None:
    story = configuration.story(POINTS)
    rows = [
        {"name": atom.name, "arrival": time, "time": time, "args": [arg.value for arg in atom.args]}
        for time, atoms in enumerate(story.ticks)
        for atom in atoms
    ]
    lines = ["|".join(map(str, (r["name"], r["time"], r["time"], *r["args"]))) for r in rows]
    names = ["a", "reach", "lfu", "random"]
    result = horai.loads(story.text, language="lars").run(
        lines, start=0, end=POINTS - 1, filter=names
    )
    static = configuration.static()
    seen = 0
    for answer in result.answers:
        found = by_clingo(question(static, story.ticks, answer.query))
        assert found == set(map(written, answer.models[0])), answer.query
        seen += len(found)
    assert seen


def test_content_takes_one_of_the_best(made: tuple[Any, Any]) -> None:
    experiments, question = made
    configuration = experiments.of_content("", 3, 2, 4)
    story = configuration.story(POINTS)
    lines = [
        "|".join(map(str, (atom.name, time, time, *(arg.value for arg in atom.args))))
        for time, atoms in enumerate(story.ticks)
        for atom in atoms
    ]
    program = horai.loads(story.text, language="lars")
    result = program.run(lines, start=0, end=POINTS - 1, filter="getFrom", models="all")
    for answer in result.answers:
        found = by_clingo(question(configuration.static(), story.ticks, answer.query))
        assert found in [set(map(written, model)) for model in answer.models]
