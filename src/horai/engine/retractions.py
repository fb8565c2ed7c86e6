"""Which item each retraction takes back.

A retraction takes an equal item that arrived no later: of admitted items the one admitted last, of
waiting ones the one that came first. Each item can be taken once, so the order of retractions
matters; items are compared only if a retraction names their very start.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from horai.engine.hashing import dense
from horai.engine.stream_rows import Rows, join
from horai.engine.symbols import Symbols
from horai.temporal.among import among
from horai.temporal.kernels import kernel
from horai.temporal.spans import Ints, Mask


class TakenBack(NamedTuple):
    """Positions: of retractions that found nothing, and of what the others found."""

    unknown: Ints  # retractions among the due rows
    due: Ints  # items that are due themselves
    admitted: Ints
    by: Ints  # for every position in `admitted`, the retraction among the due rows
    waiting: Ints


def take_back(
    due: Rows, live: Mask, admitted: Rows, waiting: Rows, query: int, symbols: Symbols
) -> TakenBack:
    """Match the live retractions among the due rows with live, admitted and waiting items."""
    retract = due["op"] < 0
    asking = np.flatnonzero(live & retract)
    starts = due["start"][asking]
    own = np.flatnonzero(live & ~retract & among(due["start"], starts))
    old = np.flatnonzero(among(admitted["start"], starts))
    idle = np.flatnonzero((waiting["op"] > 0) & among(waiting["start"], starts))
    parts = [due.take(asking), due.take(own), _numbered(admitted.take(old)), waiting.take(idle)]
    found = _partners(join(map(_comparable, parts), symbols), query)[: len(asking)]
    bounds = np.cumsum([len(asking), len(own), len(old), len(idle)])

    def inside(part: int) -> Mask:
        mask: Mask = (found >= bounds[part - 1]) & (found < bounds[part])
        return mask

    return TakenBack(
        unknown=asking[found < 0],
        due=own[found[inside(1)] - bounds[0]],
        admitted=old[found[inside(2)] - bounds[1]],
        by=asking[inside(2)],
        waiting=idle[found[inside(3)] - bounds[2]],
    )


def _numbered(admitted: Rows) -> Rows:
    """Admitted rows have lost op and number; equal ones of one arrival are all the same."""
    ones = np.ones(admitted.size, np.int64)
    return admitted.having(op=ones, number=-ones)


def _comparable(rows: Rows) -> Rows:
    names = ("start", "end", "arrival", "op", "generation", "number")
    return rows.only(*(name for name in names if name in rows.numbers))


def _partners(rows: Rows, query: int) -> Ints:
    """For every retraction the row it takes back; -1 for other rows and where there is none."""
    group, firsts = dense(rows.identity(), rows.size)
    retract = rows["op"] < 0
    asked = np.zeros(len(firsts), np.bool_)
    asked[group[retract]] = True
    some = np.flatnonzero(asked[group])  # few of those that start when a retraction says
    number, arrival, generation = (rows[name][some] for name in ("number", "arrival", "generation"))
    admission = np.lexsort((number, arrival, generation))
    place = np.empty(len(some), np.int64)
    place[admission] = np.arange(len(some))
    # Equal rows have equal starts, so they all wait or none does.
    rank = np.where(rows["start"][some] > query, place, -place)
    steps = np.lexsort((number, retract[some], arrival, group[some]))
    partner = _match(steps, group[some], retract[some], rank, admission)
    found = np.full(rows.size, -1)
    found[some] = np.where(partner < 0, -1, some[partner])
    return found


@kernel
def _match(steps: Ints, group: Ints, retract: Mask, rank: Ints, admission: Ints) -> Ints:
    """Every retraction takes the smallest rank of its group that is there when it comes."""
    partner = np.full(len(steps), -1, np.int64)
    there = [np.int64(0)]
    current = np.int64(-1)
    for row in steps:
        if group[row] != current:
            current = group[row]
            there.clear()
        if not retract[row]:
            heappush(there, rank[row])
        elif len(there) > 0:
            partner[row] = admission[abs(heappop(there))]
    return partner
