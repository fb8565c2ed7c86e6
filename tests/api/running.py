"""Random runs through the Python interface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from tests.engine.comparing import tables_of
from tests.strategies.runs import Run, runs
from tests.strategies.streams import END
from tests.strategies.wild_parts import PREDICATES
from tests.strategies.wild_streams import wild_runs

import horai
from horai import io
from horai.oracle.ec.session import OracleItem

TOO_LATE = 20
KINDS = ("tame", "wild")


def any_run(data: st.DataObject, kind: str) -> Run:
    """A run; of one in three some items are too late for their window."""
    lateness = data.draw(st.sampled_from([None, None, TOO_LATE]))
    strategy = runs(lateness=lateness) if kind == "tame" else wild_runs(lateness=lateness)
    found: Run = data.draw(strategy)
    return found


def narrative_of(items: Sequence[OracleItem]) -> io.Narrative:
    """The items as a narrative that has been read; their lines are counted from 1."""
    numbered = [replace(item, tag=line) for line, item in enumerate(items, 1)]
    return io.Narrative(tuple(tables_of(numbered)), [])


def rules_of(run: Run) -> horai.Rules:
    """The rules of a run; it may call the Python predicates of wild descriptions."""
    return horai.loads(run.described.text, predicates=PREDICATES)


def run_it(run: Run, rules: horai.Rules, **settings: Any) -> horai.Result | None:
    """What a run finds; None for one that the engine refuses because of what the rules say."""
    given: dict[str, Any] = {
        "start": 0,
        "end": END,
        "window": run.cut.window,
        "step": run.cut.step,
        "tick": run.described.tick,
    }
    try:
        return rules.run(narrative_of(run.items), **(given | settings))
    except horai.RunError:
        return None
