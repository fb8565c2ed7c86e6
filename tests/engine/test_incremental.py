"""Work by change gives the answers of work from scratch, at every query time.

Random descriptions over streams of which most items are late and many are taken back, with windows
and steps of all sizes. What is compared is everything an answer has: the whole run, the window,
what is new, what is gone, and the items that could not be used. The slow tests try thousands more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from tests.engine.comparing import Setting, differences
from tests.engine.ways import Restored, apart, served, session_of
from tests.strategies.changing_parts import LISTS_ABOVE_ALL
from tests.strategies.changing_streams import ChangingRun, changing_runs, changing_streams, cuts
from tests.strategies.machines import descriptions, protocol_runs
from tests.strategies.runs import Run, runs
from tests.strategies.wild_parts import PREDICATES
from tests.strategies.wild_streams import wild_runs
from tests.weights import examples

from horai.engine import session
from horai.engine.deltas import costs, store
from horai.engine.deltas.parts import Cycles, Lists

Law = Callable[[st.DataObject], None]
TOO_LATE = 20


def served_rules_do(data: st.DataObject) -> None:
    """Descriptions most of which is worked out by change."""
    run = data.draw(changing_runs())
    check(run, memory=data.draw(st.sampled_from([None, None, 5])))


def lists_do(data: st.DataObject) -> None:
    """Interval rules: set operations, durations and Allen relations on each other's results."""
    run = data.draw(changing_runs(kinds=LISTS_ABOVE_ALL))
    live = session_of(run.described.text, setting_of(run), "always").live
    lists = [part for part in live.parts if isinstance(part, Lists)]
    event("relations by change" if any(one.static.compares for one in lists) else "none")
    check(run, memory=data.draw(st.sampled_from([None, 5])))


def long_streams_do(data: st.DataObject) -> None:
    """One or two components, and items enough that segments and rows pile up."""
    run = data.draw(changing_runs(most=2))
    tick = run.described.tick
    more = data.draw(changing_streams(tick, 14, most=90))
    check(ChangingRun(run.described, run.cut, [*run.items, *more]))


def pairs_that_are_dropped_do(data: st.DataObject) -> None:
    """Whenever half of the pairs of a fluent hold no more, their rows move."""
    run = data.draw(changing_runs())
    with patch.object(store, "MANY", 0):
        check(run)


def restored_sessions_do(data: st.DataObject) -> None:
    """Saved and restored before some of the queries, to go on in the same way or another."""
    run = data.draw(changing_runs(most=3))
    ways: list[session.Incremental | None] = [None, None, None, "always", "always", "never"]
    way = st.sampled_from(ways)
    check(run, lambda query: data.draw(way, label=f"restored before {query}"))


def tame_rules_do(data: st.DataObject) -> None:
    """Descriptions with one entity per rule, all features."""
    run: Run = data.draw(runs(lateness=data.draw(st.sampled_from([None, TOO_LATE]))))
    check(_cut_anew(run, data), memory=data.draw(st.sampled_from([None, 5])))


def wild_rules_do(data: st.DataObject) -> None:
    """Descriptions that join entities, numbers, lists and times, with Python predicates."""
    run: Run = data.draw(wild_runs(lateness=data.draw(st.sampled_from([None, TOO_LATE]))))
    check(_cut_anew(run, data))


def protocols_do(data: st.DataObject) -> None:
    """Components with cycles and delays."""
    check(_cut_anew(data.draw(protocol_runs()), data))


def protocols_that_change_much_do(data: st.DataObject) -> None:
    """Cycles and delays over streams of which most is late and much is taken back."""
    described = data.draw(descriptions())
    lateness = data.draw(st.sampled_from([0, 5, 14]))
    items = data.draw(changing_streams(described.tick, lateness, told=False))
    run = ChangingRun(described, data.draw(cuts()), items)
    live = session_of(described.text, setting_of(run), "always").live
    cycles = sum(isinstance(part, Cycles) for part in live.parts)
    event("cycles by change" if cycles else "no cycle by change")
    check(run)


def _cut_anew(run: Run, data: st.DataObject) -> ChangingRun:
    """The run in other windows, in which more may be too late."""
    return ChangingRun(run.described, data.draw(cuts()), run.items)


def check(
    run: ChangingRun, restored: Restored = lambda query: None, memory: int | None = None
) -> None:
    """Compare the ways of a run."""
    setting = replace(setting_of(run), allen_memory=memory)
    text = run.described.text
    some, of = served(session_of(text, setting, "always"))
    event("all by change" if some == of else "some by change" if some else "nothing by change")
    found = apart(text, run.items, setting, restored=restored)
    assert found is None, found


def setting_of(run: ChangingRun) -> Setting:
    """What the sessions of a run are given."""
    cut = run.cut
    return Setting(cut.queries, cut.window, run.described.tick, cut.start, predicates=PREDICATES)


def the_reference_does(data: st.DataObject) -> None:
    """Answers by change are those of the reference too."""
    run = data.draw(changing_runs(told=False))
    with by_default("always"):
        found = differences(run.described.text, run.items, setting_of(run))
    assert found is None, found


def what_is_chosen_does_not_matter(data: st.DataObject) -> None:
    """Ways that change from query to query, since some steps pay and others do not."""
    run = data.draw(changing_runs())
    cost = data.draw(st.integers(-10, 20), label="cost of a step")
    kept = data.draw(st.booleans(), label="archive")
    with patch.object(costs, "COST_OF_COMPONENT", cost):
        found = apart(run.described.text, run.items, setting_of(run), "auto", archive=kept)
    assert found is None, found


def settings_do_not_matter(data: st.DataObject) -> None:
    """Without an archive or items in answers, watched, and answers looked at much later."""
    run = data.draw(changing_runs())
    names = ("archive", "hide_input", "patient", "watched")
    chosen: dict[str, Any] = {name: data.draw(st.booleans(), label=name) for name in names}
    cost = data.draw(st.sampled_from([-1000, 3, 10]), label="cost of a step")
    with patch.object(costs, "COST_OF_COMPONENT", cost):
        found = apart(run.described.text, run.items, setting_of(run), "auto", **chosen)
    assert found is None, found


@contextmanager
def by_default(way: session.Incremental) -> Iterator[None]:
    """Sessions that are not told how to work do it in one way."""
    defaults = session.Session.__init__.__kwdefaults__
    assert defaults is not None
    before = defaults["incremental"]
    defaults["incremental"] = way
    try:
        yield
    finally:
        defaults["incremental"] = before


LAWS: list[Law] = [
    served_rules_do,
    lists_do,
    long_streams_do,
    pairs_that_are_dropped_do,
    restored_sessions_do,
    tame_rules_do,
    wild_rules_do,
    protocols_do,
    protocols_that_change_much_do,
    the_reference_does,
    what_is_chosen_does_not_matter,
    settings_do_not_matter,
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@examples("heavy")
@given(data=st.data())
def test_law(law: Law, data: st.DataObject) -> None:
    law(data)
