"""Answers do not depend on the way of a run: saved and restored, watched, without an archive.

Random descriptions over streams of which most items are late and many are taken back, with windows
and steps of all sizes. What is compared is everything an answer has: the whole run, the window,
what is new, what is gone, and the items that could not be used. The slow tests try thousands more.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.comparing import Setting, if_there_are_instructions
from tests.engine.ways import Restored, apart
from tests.strategies.changing_parts import LISTS_ABOVE_ALL
from tests.strategies.changing_streams import ChangingRun, changing_runs, cuts
from tests.strategies.machines import protocol_runs
from tests.strategies.runs import Run
from tests.strategies.wild_parts import PREDICATES
from tests.strategies.wild_streams import wild_runs
from tests.weights import examples

Law = Callable[[st.DataObject], None]


def restored_sessions_go_on(data: st.DataObject) -> None:
    """Saved and restored before some of the queries."""
    run = data.draw(changing_runs(most=3, told=False))
    check(data, run, lambda query: data.draw(st.booleans(), label=f"restored at {query}"))


def restored_lists_go_on(data: st.DataObject) -> None:
    """Interval rules: set operations, durations and Allen relations on each other's results."""
    run = data.draw(changing_runs(told=False, kinds=LISTS_ABOVE_ALL))
    archive = data.draw(st.booleans(), label="archive")
    check(data, run, lambda query: query % 3 == 0, archive=archive)


def restored_protocols_go_on(data: st.DataObject) -> None:
    """Components with cycles and delays."""
    check(data, _cut_anew(data.draw(protocol_runs()), data), lambda query: query % 2 == 0)


def wild_rules_go_on(data: st.DataObject) -> None:
    """Descriptions that join entities, numbers, lists and times, with Python predicates."""
    run = data.draw(wild_runs(lateness=data.draw(st.sampled_from([None, 20]))))
    check(data, _cut_anew(run, data), lambda query: query % 2 == 0)


def settings_do_not_matter(data: st.DataObject) -> None:
    """Without an archive or items in answers, watched, restored, and looked at much later."""
    run = data.draw(changing_runs(told=False))
    options = {
        name: data.draw(st.booleans(), label=name) for name in ("archive", "patient", "watched")
    }
    hidden = data.draw(st.booleans(), label="hide_input")
    restored = data.draw(st.booleans(), label="restored")
    check(data, run, lambda query: restored, hidden, **options)


def _cut_anew(run: Run, data: st.DataObject) -> ChangingRun:
    """The run in other windows, in which more may be too late."""
    return ChangingRun(run.described, data.draw(cuts()), run.items)


def check(
    data: st.DataObject,
    run: ChangingRun,
    restored: Restored,
    hide_input: bool = False,
    **options: bool,
) -> None:
    """Compare a way of a run with the plain one."""
    cut, memory = run.cut, data.draw(st.sampled_from([None, None, 5]), label="Allen memory")
    setting = Setting(cut.queries, cut.window, run.described.tick, cut.start, memory, PREDICATES)
    with if_there_are_instructions():
        found = apart(run.described.text, run.items, setting, restored, hide_input, **options)
        assert found is None, found


LAWS: list[Law] = [
    restored_sessions_go_on,
    restored_lists_go_on,
    restored_protocols_go_on,
    wild_rules_go_on,
    settings_do_not_matter,
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@examples("heavy")
@given(data=st.data())
def test_law(law: Law, data: st.DataObject) -> None:
    law(data)
