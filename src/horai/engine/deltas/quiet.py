"""When no attempt of a delayed effect was open: from then on an entity can be settled again."""

from __future__ import annotations

import numpy as np

from horai.plan.ec.unify import may_match
from horai.plan.program import Stratum
from horai.temporal.kernels import kernel
from horai.temporal.sorting import offsets_of, order
from horai.temporal.spans import FIRST, Ints, plain


def chained(stratum: Stratum) -> bool:
    """Can an effect begin another attempt?"""
    return any(
        one.initiates
        and one.target_key == other.origin_key
        and may_match(one.target[-1], other.origin[-1])
        for one in stratum.delays
        for other in stratum.delays
    )


def restarts(asked: Ints, time: Ints, low: Ints, high: Ints, longest: int) -> Ints:
    """For every entity the last time before `high` at which none of its attempts was open.

    Attempts are made at the times of `asked`, of which all are known from `low` on. It is the least
    number if there is no such time.
    """
    sorting = order(asked, time)
    offsets = offsets_of(asked, len(low))
    found: Ints = _restarts(longest, *plain(offsets, time[sorting], low, high))
    return found


@kernel
def _restarts(longest: int, offsets: Ints, time: Ints, low: Ints, high: Ints) -> Ints:
    found = np.full(len(low), FIRST)
    for e in range(len(low)):
        at, k = high[e] - 1, offsets[e + 1] - 1
        while k >= offsets[e] and at - time[k] < longest:  # its attempt may still be open
            at = time[k] - 1
            k -= 1
        if at - longest >= low[e] - 1:  # nor is one that was made before
            found[e] = at
    return found
