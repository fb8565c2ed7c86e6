"""Inertia: initiations and terminations of multi-valued fluents to spans, for all keys at once.

A value is broken when it is terminated or another value of the same fluent is initiated. At one
and the same moment a break wins over an initiation, so two values initiated together end the old
one and start neither.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from horai.temporal.kernels import kernel
from horai.temporal.spans import INF, Ints, Mask, fitted, plain

EVERY_VALUE = -1


class Changes(NamedTuple):
    """Points of simple fluents, sorted by (key, time).

    Values are numbers from 0 on. `initiates` tells initiations from terminations; a termination of
    `EVERY_VALUE` ends any. The order of the changes of one key at one time does not matter.
    """

    key: Ints
    time: Ints
    value: Ints
    initiates: Mask


class ValueSpans(NamedTuple):
    """Spans of fluent-value pairs, sorted by (key, start)."""

    key: Ints
    value: Ints
    start: Ints
    end: Ints


def inertia(changes: Changes, tick: int = 1, held: ValueSpans | None = None) -> ValueSpans:
    """The maximal spans.

    `held` gives values that hold when the changes come, at most one per key, sorted by key; their
    ends do not count, since the changes decide on them.
    """
    if held is None:
        empty = np.empty(0, np.int64)
        held = ValueSpans(empty, empty, empty, empty)
    initiates = changes.initiates
    if not initiates.flags.carray:  # see `plain`
        initiates = np.array(initiates)
    points = (changes.key, changes.time, changes.value)
    found = _inertia(tick, initiates, *plain(*points, held.key, held.value, held.start))
    return ValueSpans(*fitted(found, len(changes.key) + len(held.key)))


@kernel
def _inertia(
    tick: int,
    initiates: Mask,
    key: Ints,
    time: Ints,
    value: Ints,
    held_key: Ints,
    held_value: Ints,
    held_start: Ints,
) -> tuple[Ints, Ints, Ints, Ints]:
    n = len(key)
    size = n + len(held_key)
    out_key = np.empty(size, np.int64)
    out_value = np.empty(size, np.int64)
    out_start = np.empty(size, np.int64)
    out_end = np.empty(size, np.int64)
    m = 0
    i = 0
    h = 0
    while i < n or h < len(held_key):
        if i >= n or (h < len(held_key) and held_key[h] < key[i]):
            out_key[m], out_value[m] = held_key[h], held_value[h]
            out_start[m], out_end[m] = held_start[h], INF
            m += 1
            h += 1
            continue
        fluent = key[i]
        first = m
        holding = h < len(held_key) and held_key[h] == fluent
        current = held_value[h] if holding else 0
        since = held_start[h] if holding else 0
        if holding:
            h += 1
        while i < n and key[i] == fluent:
            t = time[i]
            step = tick - t % tick
            following = t + step if t < INF - step else INF
            begins, several, new = False, False, 0
            ended = False  # is the value that holds, or the one that begins, terminated?
            begin = i
            while i < n and key[i] == fluent and time[i] == t:
                if initiates[i]:
                    if begins and value[i] != new:
                        several = True
                    begins, new = True, value[i]
                elif holding and (value[i] == current or value[i] == EVERY_VALUE):
                    ended = True
                i += 1
            if holding and (ended or several or (begins and new != current)):
                if following > since:
                    out_key[m], out_value[m] = fluent, current
                    out_start[m], out_end[m] = since, following
                    m += 1
                holding = False
            if begins and not several and not holding:
                stopped = False
                for k in range(begin, i):
                    if not initiates[k] and (value[k] == new or value[k] == EVERY_VALUE):
                        stopped = True
                if not stopped:
                    holding, current, since = True, new, following
                    if m > first and out_value[m - 1] == new and out_end[m - 1] == following:
                        m -= 1  # between two time-points it ended and began again
                        since = out_start[m]
        if holding and since < INF:  # what begins after the last time never holds
            out_key[m], out_value[m] = fluent, current
            out_start[m], out_end[m] = since, INF
            m += 1
    return out_key[:m], out_value[:m], out_start[:m], out_end[:m]
