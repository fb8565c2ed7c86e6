"""Programs run by the plan engine and by the reference, for tests that compare them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from tests.lars.plain_programs import LAST, Sent, Story
from tests.lars.story import program, written

from horai.engine.arrow_items import ORDER
from horai.engine.columns import column_of
from horai.engine.lars.run import Signal
from horai.engine.rows import Rows
from horai.engine.symbols import Symbols
from horai.lang.core.reader import read_term
from horai.lang.lars.predicates import derived
from horai.lang.lars.syntax import Atom, Predicate
from horai.oracle.lars import grounding
from horai.oracle.lars.answers import answers_at
from horai.plan.lars import strata
from horai.runtime.lars.admission import Changes
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
    together = PlanEngine(program(story.text), start=story.start)
    moves = together.moves(_rows(story, together.symbols), queries)
    found = {query: _seen(together.models()) for query, _ in zip(queries, moves, strict=True)}
    alone = PlanEngine(program(story.text), start=story.start)
    for query, added, removed in _changes(story, queries):
        assert _seen(alone.advance(query, added, removed)) == found[query]
    return found


def _numbered(story: Story) -> list[tuple[Sent, Signal]]:
    return [
        (one, Signal(one.time, number, Atom(one.name, tuple(map(read_term, one.args)))))
        for number, one in enumerate(story.signals)
        if one.time >= story.start
    ]


def _rows(story: Story, symbols: Symbols) -> dict[Predicate, Rows]:
    """All signals as columns, each from its arrival on until it is taken back."""
    groups: dict[Predicate, list[tuple[Sent, Signal]]] = {}
    for one, signal in _numbered(story):
        groups.setdefault(signal.atom.predicate, []).append((one, signal))
    found = {}
    for key, some in groups.items():
        args = zip(*(signal.atom.args for _, signal in some), strict=True)
        times = [(s.time, one.arrival, _gone(one), s.order) for one, s in some]
        numbers = dict(
            zip(("start", "since", "until", ORDER), np.array(times, np.int64).T, strict=True)
        )
        found[key] = Rows(numbers, tuple(column_of(list(c), symbols) for c in args))
    return found


def _changes(story: Story, queries: range) -> Iterator[Changes]:
    numbered = _numbered(story)
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
