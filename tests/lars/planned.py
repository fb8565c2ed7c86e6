"""Programs run by the plan engine and by the reference, for tests that compare them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.lars.plain_programs import LAST, Sent, Story
from tests.lars.story import program, written

from horai.lang.core.reader import read_term
from horai.lang.lars.predicates import derived
from horai.lang.lars.syntax import Atom
from horai.oracle.lars import grounding
from horai.oracle.lars.answers import answers_at
from horai.plan.lars import strata
from horai.runtime.lars.admission import Changes, Signal
from horai.runtime.lars.compiled import PlanEngine
from horai.runtime.lars.engines import Model

Seen = dict[int, set[str] | None]  # by query time; None if there is no answer
FEW = 200
"""More rounds than random programs with an end take; those without one go on until the limit."""


@pytest.fixture(autouse=True, scope="module")
def few_rounds() -> Iterator[None]:
    """Programs without an end are given up soon: one of them would take longer than all others."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grounding, "MOST_ROUNDS", FEW)
        patch.setattr(strata, "MOST_ROUNDS", FEW)
        yield


def by_plan(story: Story, last: int = LAST) -> Seen:
    """What the plan engine says at every query time, worked out together and one by one."""
    queries = range(story.start, last + 1)
    changes = list(_changes(story, queries))
    together = PlanEngine(program(story.text), start=story.start)
    moves = together.moves(changes, queries)
    found = {query: _seen(together.models()) for query, _ in zip(queries, moves, strict=True)}
    alone = PlanEngine(program(story.text), start=story.start)
    for query, added, removed in changes:
        assert _seen(alone.advance(query, added, removed)) == found[query]
    return found


def _changes(story: Story, queries: range) -> Iterator[Changes]:
    numbered = [
        (one, Signal(one.time, number, Atom(one.name, tuple(map(read_term, one.args)))))
        for number, one in enumerate(story.signals)
        if one.time >= story.start
    ]
    before = -1
    for query in queries:
        come = [s for one, s in numbered if before < one.arrival <= query < _gone(one)]
        left = [s for one, s in numbered if one.arrival <= before < _gone(one) <= query]
        yield query, come, left
        before = query


def _gone(one: Sent) -> int:
    return LAST + 9 if one.gone is None else one.gone


def _seen(models: list[Model]) -> set[str] | None:
    return written(models[0]) if models else None


def by_reference(story: Story, last: int = LAST) -> Seen:
    """What the reference says, which has one answer at most for such programs."""
    rules = program(story.text)
    shown = derived(rules)
    found: Seen = {}
    for query in range(story.start, last + 1):
        known = [
            (one.time, Atom(one.name, tuple(map(read_term, one.args))))
            for one in story.signals
            if one.arrival <= query and (one.gone is None or one.gone > query)
        ]
        answers = list(answers_at(rules, known, query, story.start))
        assert len(answers) <= 1
        found[query] = None
        for answer in answers:
            here = (atom for atom in answer.at(query) if atom.predicate in shown)
            found[query] = written(here)
    return found
