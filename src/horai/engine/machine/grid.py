# mypy: ignore-errors
"""Time-points of the run: which cell a time is in, and what comes after it."""

import cython


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def cell(S: STATE, t: i64) -> i64:
    """The time-point at or before t."""
    r: i64 = t % S.tick
    if r < 0:
        r += S.tick
    return t - r


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def after(S: STATE, t: i64) -> i64:
    """The time-point after t, from which on what happens at t has an effect."""
    if S.tick == 1:
        return t + 1
    return cell(S, t) + S.tick


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def first_after(S: STATE, t: i64) -> i64:
    """The first time-point at t or later that is in the run."""
    if t <= S.start:
        return S.first
    return t if S.tick == 1 or cell(S, t) == t else after(S, t)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def before(S: STATE, t: i64) -> i64:
    """The time-point before t."""
    if S.tick == 1:
        return t - 1
    return cell(S, t - 1)
