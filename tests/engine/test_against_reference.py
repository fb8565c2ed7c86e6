"""The compiled engine gives the answers of the reference engine, at every query time.

Random descriptions over random streams with late items, items that are too late, and retractions.
What is compared is everything an answer has: the whole run, the window, what is new, what is gone,
and the items that could not be used. The slow tests try thousands more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from tests.engine.comparing import (
    Lines,
    Setting,
    agree,
    batches_of,
    if_there_are_instructions,
    read,
    seen,
    tables_of,
)
from tests.strategies.changing_parts import LISTS_ABOVE_ALL
from tests.strategies.changing_streams import ChangingRun, changing_runs, changing_streams, cuts
from tests.strategies.machines import descriptions
from tests.strategies.runs import Run, runs
from tests.strategies.streams import END, Windows, windows
from tests.strategies.wild_parts import PREDICATES
from tests.strategies.wild_streams import wild_runs
from tests.weights import examples

from horai.lang.ec.errors import EngineError
from horai.oracle.ec.session import OracleItem
from horai.runtime.compiled import CompiledEngine

Law = Callable[[st.DataObject], None]
TOO_LATE = 20


def tame_rules_give_the_same_answers(data: st.DataObject) -> None:
    """Descriptions with one entity per rule, all features."""
    lateness = data.draw(st.sampled_from([None, None, TOO_LATE]))
    run: Run = data.draw(runs(lateness=lateness))
    _agree(data, run)


def wild_rules_give_the_same_answers(data: st.DataObject) -> None:
    """Descriptions that join entities, numbers, lists and times, with Python predicates."""
    lateness = data.draw(st.sampled_from([None, None, TOO_LATE]))
    run: Run = data.draw(wild_runs(lateness=lateness))
    _agree(data, run)


def _agree(data: st.DataObject, run: Run) -> None:
    memory = data.draw(st.sampled_from([None, None, 5]))
    unbounded = data.draw(st.integers(0, 5)) == 5
    setting = Setting(
        run.cut.queries,
        window=None if unbounded else run.cut.window,
        tick=run.described.tick,
        allen_memory=memory,
        predicates=PREDICATES,
    )
    with if_there_are_instructions():
        agree(run.described.text, run.items, setting)


def streams_that_change_much(data: st.DataObject) -> None:
    """Most items are late, and many are taken back; one or two components get more of them."""
    run = data.draw(changing_runs(most=data.draw(st.sampled_from([2, 5])), told=False))
    if data.draw(st.booleans(), label="longer"):
        run.items.extend(data.draw(changing_streams(run.described.tick, 14, 90, told=False)))
    _agree_at(run, data.draw(st.sampled_from([None, None, 5])))


def lists_of_lists_give_the_same_answers(data: st.DataObject) -> None:
    """Set operations, durations and Allen relations on each other's results."""
    run = data.draw(changing_runs(told=False, kinds=LISTS_ABOVE_ALL))
    _agree_at(run, data.draw(st.sampled_from([None, 5])))


def protocols_give_the_same_answers(data: st.DataObject) -> None:
    """Cycles and delays over streams of which most is late and much is taken back."""
    described = data.draw(descriptions())
    lateness = data.draw(st.sampled_from([0, 5, 14]))
    items = data.draw(changing_streams(described.tick, lateness, told=False))
    _agree_at(ChangingRun(described, data.draw(cuts()), items))


def _agree_at(run: ChangingRun, memory: int | None = None) -> None:
    cut = run.cut
    setting = Setting(cut.queries, cut.window, run.described.tick, cut.start, memory, PREDICATES)
    with if_there_are_instructions():
        agree(run.described.text, run.items, setting)


# --- the same however it comes in ----------------------------------------------------------------


def windows_and_batches_do_not_matter(data: st.DataObject) -> None:
    """As long as nothing is too late, all that counts for the last answer is what happened."""
    run: Run = data.draw(st.one_of(runs(), wild_runs()))
    other: Windows = data.draw(windows())
    patient = Windows(other.window + run.cut.lateness, other.step, run.cut.lateness)
    mixed = data.draw(st.permutations(run.items))
    tables = data.draw(st.integers(1, 4))
    with if_there_are_instructions():
        straight = final(run, run.cut, run.items, 1)
        other_way = final(run, patient, mixed, tables)
        if straight is None or other_way is None:
            event("gave up")  # whether every cut meets the trouble is not promised
            return
        assert other_way == straight
        event(f"{min(len(straight), 5)} rows")


def final(run: Run, cut: Windows, items: Sequence[OracleItem], parts: int) -> Lines | None:
    """The last answer, with every batch split into tables; None for a run that is refused."""
    setting = Setting(cut.queries, cut.window, run.described.tick, predicates=PREDICATES)
    session = CompiledEngine(read(run.described.text), **setting.options())
    lines: Lines = []
    for query, batch in zip(setting.queries, batches_of(items, setting.queries), strict=True):
        tables = [table for i in range(parts) for table in tables_of(batch[i::parts])]
        try:
            answer = session.advance(query, tables)
        except EngineError:
            return None
        lines = seen(answer)["all"]
    assert setting.queries[-1] == END
    return lines


LAWS = (
    tame_rules_give_the_same_answers,
    wild_rules_give_the_same_answers,
    streams_that_change_much,
    lists_of_lists_give_the_same_answers,
    protocols_give_the_same_answers,
    windows_and_batches_do_not_matter,
)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@examples("heavy")
@given(data=st.data())
def test_law(law: Law, data: st.DataObject) -> None:
    law(data)
