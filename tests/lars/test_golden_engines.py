"""Worked examples with long streams, on every engine; and an index of all worked examples."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from tests.lars.casefiles import cases
from tests.lars.test_ticker import CONTENT, STRATEGY

import horai
from horai.runtime.lars.engines import LARS_ENGINES

TESTS = Path(__file__).parent.parent
ENGINES = tuple(LARS_ENGINES)


def shown(text: str, rows: list[str], time: int, engine: str, names: str) -> list[str]:
    result = horai.loads(text, language="lars").run(
        rows, start=0, end=time, engine=engine, filter=names
    )
    return result.at(time).texts()


@pytest.mark.parametrize("engine", ENGINES)
def test_g25_a_caching_strategy(engine: str) -> None:
    text = "@T high :- @T alpha(V) [30], V >= 18. lfu :- always high [30]."
    rows = [f"alpha|{t}|{t}|{12 if t < 10 else 19}" for t in range(41)]
    assert shown(text, rows[:40], 39, engine, "lfu") == []
    assert shown(text, rows, 40, engine, "lfu") == ["lfu"]


@pytest.mark.parametrize("engine", ENGINES)
def test_t35_strategies(engine: str) -> None:
    rows = [f"alpha|{t}|{t}|{v}" for t, v in enumerate((8, 9, 7, 6, 5, 4, 3))]
    result = horai.loads(STRATEGY, language="lars").run(
        rows, start=0, end=6, engine=engine, filter="lfu,lru,fifo,random"
    )
    expected = ["lfu", "lfu", "lfu", "random", "random", "lru", "random"]
    assert [answer.texts() for answer in result.answers] == [[name] for name in expected]


@pytest.mark.parametrize("engine", ["asp", "tms", "reference"])
@pytest.mark.parametrize(
    ("qualities", "expected"),
    [
        ([(2, 3), (3, 5)], "getFrom(1,1,3)"),
        ([(2, 3), (2, 5), (3, 4), (3, 2)], "getFrom(1,1,2)"),
    ],
)
def test_t36_content(qualities: list[tuple[int, int]], expected: str, engine: str) -> None:
    rows = ["req|0|0|1|1", "cache|0|0|1|2", "cache|0|0|1|3"]
    rows += [f"qual|0|0|{node}|{level}" for node, level in qualities]
    assert shown(CONTENT, rows, 0, engine, "getFrom") == [expected]


def test_every_worked_example_has_a_test() -> None:
    """G01 to G45 and T01 to T44 stand in the names of tests, or of cases."""
    names = [case.name for case in cases()]
    for path in TESTS.rglob("test_*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names += [n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    found = {mark.upper() for name in names for mark in re.findall(r"(?i)(?<![a-z])[gt]\d\d", name)}
    wanted = {f"G{n:02}" for n in range(1, 46)} | {f"T{n:02}" for n in range(1, 45)}
    assert wanted - found == set()
