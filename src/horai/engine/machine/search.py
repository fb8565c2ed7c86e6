# mypy: ignore-errors
"""Places of times in sorted points and spans."""

import cython


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def first_ending_after(S: STATE, off: i64, n: i64, t: i64) -> i64:
    """The word of the first span with end > t."""
    i: i64 = n
    steps: i64 = 0
    while i > 0 and steps < 4:
        if S.pool[off + i - 2] <= t:
            return i
        i -= 3
        steps += 1
    if i == 0:
        return 0
    lo: i64 = 0
    hi: i64 = i // 3
    while lo < hi:
        mid: i64 = (lo + hi) >> 1
        if S.pool[off + mid * 3 + 1] > t:
            hi = mid
        else:
            lo = mid + 1
    return lo * 3


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def first_at(S: STATE, off: i64, n: i64, t: i64, stride: i64) -> i64:
    """The word of the first point with time >= t."""
    i: i64 = n
    steps: i64 = 0
    while i > 0 and steps < 4:
        if S.pool[off + i - stride] < t:
            return i
        i -= stride
        steps += 1
    if i == 0:
        return 0
    lo: i64 = 0
    hi: i64 = i // stride
    while lo < hi:
        mid: i64 = (lo + hi) >> 1
        if S.pool[off + mid * stride] >= t:
            hi = mid
        else:
            lo = mid + 1
    return lo * stride


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def span_at(S: STATE, L: i64, t: i64) -> i64:
    """The place of the span of a line around t; 0 if there is none."""
    n: i64 = S.lines[L].ns
    if n == 0:
        return 0
    off: i64 = S.lines[L].spans
    i: i64 = first_ending_after(S, off, n, t)
    if i < n and S.pool[off + i] <= t:
        return off + i
    return 0
