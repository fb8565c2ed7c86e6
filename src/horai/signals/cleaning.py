"""Which positions are believed: no row twice, one place at a time, no jumps.

Rows are looked at in the order of time, whatever the order they came in, so that the same rows are
believed in every order and in all batches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from horai.signals.loops import judge
from horai.signals.positions import (
    KNOT,
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
from horai.temporal.spans import order

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
    values = np.stack([numbers(rows, name) for name in VALUES])
    knot = KNOT * settings.seconds
    fastest, trust = settings.max_speed * knot, settings.trust_after
    judge(entity, numbers(rows, "time"), values, ints, floats, fastest, trust, verdict, speed)
    return Cleaned(rows, entity, verdict, speed / knot)


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
