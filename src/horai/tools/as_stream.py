"""Cases as live streams: the rows of a case in random pieces, some of them late, with restarts.

None of this may change what a case expects: a session that is fed in pieces, saved and taken up
again finds what one run over the whole narrative finds.

What is random stays within what a case says. Where it has a window, or speaks of query times, rows
come at the query time at which they have arrived, in pieces and in another order. Where only the
end counts there are query times in between, and rows come later than they arrived. Rows of a
narrative with retractions keep their order, and so do signals of LARS programs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from horai.io import Item, ItemTable
from horai.result import Answer, Result
from horai.rules import Rules, load_session
from horai.runtime.inputs import read_input
from horai.session import Session, schedule_of
from horai.settings import RunSettings, Schedule
from horai.testing import Case, Runner, narrative_of

_PIECES = 4  # of a step, at most
_MORE_QUERIES = 3
_RESTART = 0.5
_LATE = 0.3

Part = ItemTable | list[Item]
"""What is cut into pieces: a table, or all signals of a program in their order."""


def as_stream(seed: int) -> Runner:
    """Runs the rules of a case as a stream; a seed always makes the same stream of a case."""

    def run(case: Case, rules: Rules, settings: RunSettings) -> Result:
        name = f"{case.file.name}:{case.line}".encode()
        return _run(case, rules, settings, np.random.default_rng([seed, *name]))

    return run


def _run(case: Case, rules: Rules, asked: RunSettings, random: np.random.Generator) -> Result:
    given = narrative_of(case)
    narrative = read_input(given, rules.schema, asked.scale)
    schedule = schedule_of(asked, narrative)
    if schedule is None:
        return rules.run(given, **asked.to_dict())
    parts: list[Part] = [*narrative.tables]
    if isinstance(schedule, range):
        queries, is_ordered, is_late = list(schedule), True, False
        parts = [sorted(narrative.items(), key=lambda item: item.line)]
    else:
        queries = [*schedule.queries]
        is_ordered = any(
            (part.table.column("op").to_numpy() < 0).any() for part in narrative.tables
        )
        at_the_end = all(one.form == "final" for one in case.expectations)
        if is_late := schedule.window is None and at_the_end:
            queries = _more(schedule, queries, random)
    steps: list[list[Part]] = [[] for _ in queries]
    for part in parts:
        for place, piece in _pieces(part, queries, random, is_ordered, is_late):
            steps[place].append(piece)
    session = Session(rules, replace(asked, start=schedule.start))
    session.dead_letters.extend(narrative.dead_letters)
    found: list[Answer] = []
    for query, step in zip(queries, steps, strict=True):
        for piece in step:
            session.give([piece] if isinstance(piece, ItemTable) else piece)
        found.append(session.take(query, ()))
        if query != queries[-1] and random.random() < _RESTART:
            session = load_session(session.save(), rules.predicates or None)
    result = session.finish(queries[-1]) if asked.is_lars else session.finish()
    result.steps = found
    return result


def _more(schedule: Schedule, queries: list[int], random: np.random.Generator) -> list[int]:
    """Query times in between, too."""
    between = range(schedule.next_point, schedule.end, schedule.tick)
    if not between:
        return queries
    more = (between[int(one)] for one in random.integers(len(between), size=_MORE_QUERIES))
    return sorted({*queries, *more})


def _pieces(
    part: Part, queries: list[int], random: np.random.Generator, is_ordered: bool, is_late: bool
) -> Iterator[tuple[int, Part]]:
    """Pieces of a part, each with the number of the query time before which it is fed."""
    if isinstance(part, ItemTable):
        arrival = part.table.column("arrival").to_numpy()
    else:
        arrival = [one.arrival for one in part]
    step = np.searchsorted(queries[:-1], arrival)
    if is_late and not is_ordered:
        held_back = random.random(len(part)) < _LATE
        step = np.where(held_back, random.integers(step, len(queries)), step)
    label = step * _PIECES + random.integers(_PIECES, size=len(part))
    rows = np.argsort(step, kind="stable") if is_ordered else random.permutation(len(part))
    label = np.sort(label) if is_ordered else label[rows]
    for one in np.unique(label):
        some = rows[label == one]
        yield (
            int(one) // _PIECES,
            replace(part, table=part.table.take(pa.array(some)))
            if isinstance(part, ItemTable)
            else [part[row] for row in some],
        )
