"""Which positions are believed: no row twice, one place at a time, no jumps.

Rows are looked at in the order of time, whatever the order they came in, so that the same rows are
believed in every order and in all batches.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from horai.signals.positions import (
    VALUES,
    Flags,
    Floats,
    Ints,
    Small,
    letters_about,
    numbers,
    parted,
    texts,
)
from horai.signals.settings import MotionLimits
from horai.signals.sphere import KNOT, metres
from horai.temporal.kernels import compiled
from horai.temporal.sorting import order

GOOD, FRESH, DUPLICATE, CONFLICT, JUMP = range(5)
NEVER = -(2**63)  # the time of a position that is not there

# What is remembered of an entity: the last position that was believed, and of those after it that
# were not, how many in a row fit each other, and the last.
INTS = ("time", "doubts", "doubt_time")
FLOATS = ("lon", "lat", "doubt_lon", "doubt_lat")


class Cleaned(NamedTuple):
    """Rows in order of entity and time, a verdict on each, and for jumps the speed of the jump."""

    rows: pa.Table
    entity: Ints
    verdict: Small
    speed: Floats


def in_order(rows: pa.Table, entity: Ints) -> Ints:
    """Positions of rows by entity and time, and where these are the same by what they say."""
    time = numbers(rows, "time")
    found = order(entity, time)
    same = np.zeros(len(found), np.bool_)
    who, when = entity[found], time[found]
    same[1:] = (who[1:] == who[:-1]) & (when[1:] == when[:-1])
    same[:-1] |= same[1:]
    if not same.any():
        return found
    few = found[same]
    sub = rows.take(pa.array(few))
    codes, files = texts(sub, "file")
    rank = np.argsort(np.argsort(np.array(files, dtype=object), kind="stable"), kind="stable")
    values = [numbers(sub, name) for name in VALUES]
    keys = (numbers(sub, "line"), rank[codes], *reversed(values), time[few], entity[few])
    found[same] = few[np.lexsort(keys)]
    return found


def without_impossible_speeds(rows: pa.Table, settings: MotionLimits) -> tuple[pa.Table, pa.Table]:
    """Rows whose speed somebody can have, and letters about the others."""
    fast, good = parted(rows, numbers(rows, "speed") > settings.max_speed)  # NaN is not
    speeds = pc.round(fast.column("speed"), 1).cast(pa.string())
    why = f" knots; max_speed is {settings.max_speed:g}"
    reason = pc.binary_join_element_wise(speeds, why, "")
    return good, letters_about(fast, reason, "motion")


def clean(
    rows: pa.Table, entity: Ints, ints: Ints, floats: Floats, settings: MotionLimits
) -> Cleaned:
    """Judge rows; what is remembered of entities (`ints`, `floats`) is brought up to date."""
    by = in_order(rows, entity)
    rows, entity = rows.take(pa.array(by)), entity[by]
    verdict = np.zeros(len(by), np.int8)
    speed = np.zeros(len(by), np.float64)
    columns = tuple(numbers(rows, name) for name in VALUES)
    limits = (settings.max_speed * KNOT * settings.seconds, settings.trust_after)
    _judge(entity, numbers(rows, "time"), columns, ints, floats, limits, verdict, speed)
    return Cleaned(rows, entity, verdict, speed / (KNOT * settings.seconds))


def letters_of_cleaning(cleaned: Cleaned, settings: MotionLimits) -> list[pa.Table]:
    """Letters about the rows that are not believed."""
    reasons: dict[int, tuple[str, str]] = {
        DUPLICATE: ("duplicate", "the same position again"),
        CONFLICT: ("conflict", "another position of the same time is nearer to the one before"),
    }
    found = [
        letters_about(rows, reason, code)
        for verdict, (code, reason) in reasons.items()
        if (rows := _of(cleaned, verdict)).num_rows
    ]
    jumps = _of(cleaned, JUMP)
    if jumps.num_rows:
        fast = np.minimum(cleaned.speed[cleaned.verdict == JUMP], 1e9).round().astype(np.int64)
        why = f" knots would be needed to get there; max_speed is {settings.max_speed:g}"
        reason = pc.binary_join_element_wise(pa.array(fast).cast(pa.string()), why, "")
        found.append(letters_about(jumps, reason, "jump"))
    return found


def _of(cleaned: Cleaned, verdict: int) -> pa.Table:
    return cleaned.rows.filter(pa.array(cleaned.verdict == verdict))


def believed(cleaned: Cleaned) -> tuple[pa.Table, Ints, Flags]:
    """The rows that are believed, whose they are, and which begin somewhere else."""
    good = cleaned.verdict <= FRESH
    rows, _ = parted(cleaned.rows, good)
    return rows, cleaned.entity[good], cleaned.verdict[good] == FRESH


@compiled()
def _judge(
    entity: Ints,
    time: Ints,
    columns: tuple[Floats, ...],
    ints: Ints,
    floats: Floats,
    limits: tuple[float, int],
    verdict: Small,
    speed: Floats,
) -> None:
    lon, lat = columns[0], columns[1]
    fastest, trust = limits
    i, n = 0, len(entity)
    while i < n:
        who = entity[i]
        j = i + 1
        while j < n and entity[j] == who and time[j] == time[i]:
            j += 1
        known = ints[who, 0] != NEVER
        best, nearest = i, math.inf
        for k in range(i, j):
            if k > i:
                again = True
                for column in columns:
                    a, b = column[k], column[k - 1]
                    if a != b and not (math.isnan(a) and math.isnan(b)):
                        again = False
                if again:
                    verdict[k] = DUPLICATE
                    continue
            verdict[k] = CONFLICT
            far = metres(floats[who, 0], floats[who, 1], lon[k], lat[k]) if known else 0.0
            far = math.floor(far * 1000 + 0.5)  # millimetres: what is less is noise of computing
            if far < nearest:
                best, nearest = k, far
        verdict[best] = GOOD
        if known:
            far = metres(floats[who, 0], floats[who, 1], lon[best], lat[best])
            speed[best] = far / (float(time[i]) - float(ints[who, 0]))
            if speed[best] > fastest:
                fits = False
                if ints[who, 1] > 0:
                    aside = metres(floats[who, 2], floats[who, 3], lon[best], lat[best])
                    fits = aside / (float(time[i]) - float(ints[who, 2])) <= fastest
                ints[who, 1] = ints[who, 1] + 1 if fits else 1
                ints[who, 2] = time[i]
                floats[who, 2], floats[who, 3] = lon[best], lat[best]
                verdict[best] = FRESH if ints[who, 1] >= trust else JUMP
        if verdict[best] != JUMP:
            ints[who, 0], ints[who, 1] = time[i], 0
            floats[who, 0], floats[who, 1] = lon[best], lat[best]
        i = j
