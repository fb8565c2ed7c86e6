"""How far before the border of the window something may still change, and how far back rules look.

An item that may still come lies after the border. What it changes may lie before: a rule may ask
about a later time, and an interval may turn out long enough. And whoever is evaluated again looks
back. What lies before all of that is never looked at again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from horai.engine.core.layout import Relation
from horai.engine.core.program import Program
from horai.plan.ec.instructions import BOUND_IN_KEY, INF, KIND
from horai.plan.program import Plan
from horai.temporal.spans import Ints

ENDLESS = INF >> 1
"""Further than any time: nothing is ever forgotten."""


@dataclass(frozen=True)
class Reach:
    """Column by column how far before the border points and spans are looked at.

    `late` says where changes lie, and `looks` where the points whose rules may be evaluated again
    do, site by site.
    """

    points: Ints
    spans: Ints
    looks: Ints
    late: Ints


def reach_of(program: Program, plan: Plan, tick: int, archive: bool) -> Reach:
    """What has to be kept. With an archive, all that answers show."""
    late, driving = _late(program, plan, tick)
    known = {one: ENDLESS * one.moving for one in program.columns}
    for site in program.layout.sites:
        # Who becomes known only now has a past that others made.
        if site.driver is not None and site.lists:
            back = late[site.column] + _longer(site.driver, tick)
            known[site.driver] = max(known[site.driver], min(back, ENDLESS))
    points = {one: max(late[one], driving[one]) for one in program.columns}
    spans = dict(late)
    for site in program.layout.sites:
        if site.driver is None:
            points[site.column] = spans[site.column] = ENDLESS
        elif site.lists:
            # Pairs of intervals go as far back as the longer of the two.
            pairs = site.driver.fields.get("C_KIND") == KIND["ALLEN"]
            back = late[site.driver] if site.apart or pairs else known[site.driver]
            spans[site.column] = max(spans[site.column], back)
        else:
            back = _sum(driving[site.driver], max(site.high, 0))
            kept = points if site.column.kind == "event" else spans
            kept[site.column] = max(kept[site.column], back)
    for one in program.columns:
        place = one.fields.get("C_DELAYS", 0)
        if place:
            delays = program.args[place + 1 : place + 1 + 4 * program.args[place] : 4]
            points[one] = _sum(points[one], max(delays))
        if archive and one.shown:
            points[one] = spans[one] = ENDLESS
    looks = [
        ENDLESS if site.driver is None else driving[site.driver] for site in program.layout.sites
    ]
    return Reach(
        _array((points[one] for one in program.columns), tick),
        _array((spans[one] for one in program.columns), tick),
        _array(looks, tick),
        _array((late[one] for one in program.columns), tick),
    )


def _late(
    program: Program, plan: Plan, tick: int
) -> tuple[dict[Relation, int], dict[Relation, int]]:
    """How far before the border columns may change, and rules they drive be evaluated again."""
    late = {one: _first(one, tick) for one in program.columns}
    told = {head for _, head, _ in program.layout.said}
    ruled = {("event", one.key) for s in plan.strata for one in s.points if one.kind == "event"}
    ruled |= {("simple", one.key) for s in plan.strata for one in s.points if one.kind != "event"}
    for one in program.columns:
        if (one.kind, one.key) in ruled and one not in told:
            late[one] = ENDLESS  # nobody says where it comes from
    if program.layout.clock is not None:
        late[program.layout.clock] = ENDLESS
    for turn in range(2 * len(program.columns) + 2):
        before = dict(late)
        driving = dict(late)
        for site in program.layout.sites:
            if site.driver is not None and not site.lists:
                found = _sum(late[site.column], -site.low)
                driving[site.driver] = max(driving[site.driver], found)
        for driver, head, later in program.layout.said:
            edge = (0 if driver.kind == "event" else tick) if later else ENDLESS
            late[head] = max(late[head], _sum(driving[driver], edge))
        for one in program.columns:
            for what, part in one.parts.items():
                more = tick * (one.kind != "simple")
                if what == "known":
                    more = ENDLESS  # at the start of the run, whenever it becomes known
                late[part] = max(late[part], _sum(late[one], more))
        for site in program.layout.sites:
            if site.driver is not None and site.lists:
                more = _sum(late[site.column], _longer(site.driver, tick))
                late[site.driver] = max(late[site.driver], more)
        if late == before:
            break
        if turn >= len(program.columns):  # rules that look further ahead with each other
            late = {one: ENDLESS if late[one] > before[one] else late[one] for one in late}
    return late, driving


def _first(relation: Relation, tick: int) -> int:
    """How far before the border what comes from outside changes a column."""
    if relation.moving or _is_known(relation) or relation.fields.get("C_KIND") == KIND["ALLEN"]:
        return ENDLESS
    return tick if relation.fields.get("C_KIND") == KIND["INPUT"] else 0


def _is_known(relation: Relation) -> bool:
    """Does it say who is known?"""
    return relation.fields.get("C_KIND") == KIND["KNOWN"]


def _longer(relation: Relation, tick: int) -> int:
    """How much earlier than what it looks at a list may change."""
    if "C_COMPARE" not in relation.fields:
        return 0
    if relation.fields["C_COMPARE"] & BOUND_IN_KEY:
        return ENDLESS
    return max(relation.fields["C_LEAST"], 0) + 2 * tick


def _sum(one: int, other: int) -> int:
    return ENDLESS if max(one, other) >= ENDLESS else one + other


def _array(numbers: Iterable[int], tick: int) -> Ints:
    """With a cell of time to spare on each side."""
    return np.array([min(number + 2 * tick, ENDLESS) for number in numbers], np.int64)
