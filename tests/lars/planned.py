"""Programs run by the plan engine and by the reference, for tests that compare them."""

from __future__ import annotations

from collections.abc import Iterator

from tests.lars.plain_programs import LAST, Sent, Story
from tests.lars.story import program, written

from horai.lang.lars.predicates import derived
from horai.lang.lars.syntax import Atom
from horai.lang.termtext import read_term
from horai.lars_engines import Changes, Model
from horai.lars_plan import Session
from horai.lars_signals import Signal
from horai.oracle.lars.run import answers_at

Seen = dict[int, set[str] | None]  # by query time; None if there is no answer


def by_plan(story: Story, last: int = LAST) -> Seen:
    """What the plan engine says at every query time, worked out together and one by one."""
    queries = range(story.start, last + 1)
    changes = list(_changes(story, queries))
    together = Session(program(story.text), start=story.start).advance_all(changes, queries)
    found = dict(zip(queries, map(_seen, together), strict=True))
    alone = Session(program(story.text), start=story.start)
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
