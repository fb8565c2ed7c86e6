# mypy: ignore-errors
"""What is other than at the last query time, and what holds."""

import cython


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def say(S: STATE, at: i64, sign: i64, L: i64, s: i64, e: i64, v: i64) -> i64:
    words_room(cython.address(S.out), cython.address(S.out_size), at + 5)
    S.out[at] = sign
    S.out[at + 1] = L + S.named
    S.out[at + 2] = v
    S.out[at + 3] = s
    S.out[at + 4] = e
    return at + 5


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def changelog(S: STATE) -> i64:
    """For each line that was touched: what it said at the last query time, against now."""
    at: i64 = 0
    i: i64 = 0
    while i < S.ntouched:
        L: i64 = S.touched[i]
        i += 1
        if S.cols[S.lines[L].col * FIELDS + C_OUT] == 0 or is_foreign(S, L) != 0:
            continue
        j: i64 = S.lines[L].first
        so: i64 = S.lines[L].spans
        sn: i64 = S.lines[L].ns
        chunk: i64 = S.lines[L].saved
        o: i64 = 0
        left: i64 = 0
        while True:
            while left == 0 and chunk != 0:
                o = chunk + 2
                left = S.arena[chunk + 1]
                chunk = S.arena[chunk]
            if left == 0 and j >= sn:
                break
            if (
                left != 0
                and j < sn
                and S.arena[o] == S.pool[so + j]
                and S.arena[o + 1] == S.pool[so + j + 1]
                and S.arena[o + 2] == S.pool[so + j + 2]
            ):
                o += 3
                left -= 3
                j += 3
            elif j >= sn or (left != 0 and S.arena[o] <= S.pool[so + j]):
                at = say(S, at, -1, L, S.arena[o], S.arena[o + 1], S.arena[o + 2])
                o += 3
                left -= 3
            else:
                at = say(S, at, 1, L, S.pool[so + j], S.pool[so + j + 1], S.pool[so + j + 2])
                j += 3
    return at


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def shown(S: STATE, L: i64, border: i64, starts: WORDS, ends: WORDS, values: WORDS, at: i64) -> i64:
    """How many spans with a point after a time a line has; they are put where `starts` is given."""
    found: i64 = 0
    n: i64 = S.lines[L].ns
    so: i64 = S.lines[L].spans
    i: i64 = first_ending_after(S, so, n, border) if n > 0 else 0
    while i < n:
        s: i64 = S.pool[so + i]
        e: i64 = S.pool[so + i + 1]
        # Its last point is after the border.
        if e == INF or s > border or before(S, e) > border:
            if starts != cython.NULL:
                starts[at + found] = s
                ends[at + found] = POSITIVE if e == INF else e
                values[at + found] = S.pool[so + i + 2]
            found += 1
        i += 3
    return found


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def happened(S: STATE, L: i64, border: i64, times: WORDS, at: i64) -> i64:
    """The same for the points of an event."""
    found: i64 = 0
    n: i64 = S.lines[L].np
    off: i64 = S.lines[L].points
    stride: i64 = S.cols[S.lines[L].col * FIELDS + C_STRIDE]
    i: i64 = first_at(S, off, n, border + 1, stride) if n > 0 else 0
    while i < n:
        if (S.pool[off + i + 1] & 0xFFFF) != 0 and S.pool[off + i] <= S.q:
            if times != cython.NULL:
                times[at + found] = S.pool[off + i]
            found += 1
        i += stride
    return found
