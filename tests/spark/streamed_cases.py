"""Cases of the project as streams: cut in two, in a folder, until all is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.spark.test_streaming import FINAL, ROOT, drop, rows_of, run, wanted

import horai
from horai.spark.sink_table import read_current
from horai.testing import Case, case_rules, find_cases, narrative_of, read_cases


def cases() -> list[Case]:
    """All that can be a stream: with a window, a start, and rules that are not refused."""
    return [
        case
        for path in find_cases([ROOT / "tests" / "cases", ROOT / "examples"])
        for case in read_cases(path)
        if case.settings.get("window")
        and case.settings.get("start") is not None
        and isinstance(narrative_of(case), str)
        and _is_right(case)
    ]


def _is_right(case: Case) -> bool:
    try:
        case_rules(case)
    except horai.RulesError:
        return False
    return True


def differs(case: Case, folder: Path) -> bool:
    """Does the stream say something else than one process? Rows come as they arrive."""
    folder.mkdir()
    rules, lines = case_rules(case), _in_order(str(narrative_of(case)).splitlines())
    settings: dict[str, Any] = {n: x for n, x in case.settings.items() if n != "answers"}
    drop(folder / "drop", lines, 2)
    run(rules, folder, sink=[f"table:{folder}/table"], **settings)
    files = [str(path) for path in sorted((folder / "drop").glob("*.txt"))]
    both = rows_of(read_current(folder / "table"), FINAL), wanted(rules, files, "final", **settings)
    found, alone = ([str(row).replace(", ", ",") for row in rows] for rows in both)  # as terms may
    return sorted(found) != sorted(alone)


def _in_order(lines: list[str]) -> list[str]:
    """Lines by arrival, those that have none first."""

    def arrival(line: str) -> int:
        fields = line.split("|")
        return int(fields[1]) if len(fields) > 1 and fields[1].lstrip("-").isdigit() else -1

    return sorted(lines, key=arrival)
