"""Which of many numbers are among some others."""

from __future__ import annotations

import numpy as np

from horai.temporal.spans import Ints, Mask

SPREAD = 8  # a table of all that is possible pays while it is not much larger than the numbers
SMALL = 1 << 16


def among(column: Ints, wanted: Ints) -> Mask:
    """Which rows are one of some numbers?

    >>> among(np.array([4, 7, 9]), np.array([9, 4])).tolist()
    [True, False, True]
    """
    if not len(wanted) or not len(column):
        return np.zeros(len(column), np.bool_)
    low, high = int(wanted.min()), int(wanted.max())
    if high - low >= SPREAD * (len(column) + len(wanted)) + SMALL:
        return np.isin(column, wanted)
    flags = np.zeros(high - low + 1, np.bool_)
    flags[wanted - low] = True
    place = column - low
    found: Mask = (place >= 0) & (place < len(flags))
    found[found] = flags[place[found]]
    return found
