# mypy: ignore-errors
"""What no item can change any more goes, in place."""

import cython


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def trim_line(S: STATE, L: i64, points: i64, spans: i64, stride: i64) -> cython.void:
    """Let go of points until a time, of spans that are over then, and of room they leave."""
    g: i64 = S.lines[L].col * FIELDS
    n: i64 = S.lines[L].ns
    i: i64 = first_ending_after(S, S.lines[L].spans, n, spans) if n > 0 else 0
    first: i64 = 3 if S.cols[g + C_KNOWN] != 0 else 0  # who was known stays so
    if i > first:
        n -= i - first
        move(S, S.lines[L].spans + first, S.lines[L].spans + i, n - first)
        S.lines[L].ns = n
        k: i64 = S.lines[L].cs & ~BARRED
        S.lines[L].spans = smaller(S, S.lines[L].spans, n, cython.address(k))
        S.lines[L].cs = k | (S.lines[L].cs & BARRED)
    n = S.lines[L].np
    if S.cols[g + C_KIND] == COVER:
        stride = 2
    if n == 0 or stride <= 0:
        return
    off: i64 = S.lines[L].points
    if S.cols[g + C_KIND] == COVER:
        # What counts from then on was said before.
        i = first_at(S, off, n, spans + 1, 2) - 2
        if i < 0:
            i = 0
    elif S.cols[g + C_KIND] == INPUT:
        unite(S, L, points)
        i = 0
        n = S.lines[L].np
        off = S.lines[L].points
    else:
        i = first_at(S, off, n, points + 1, stride)
    if S.cols[g + C_KIND] == EVENT and S.cols[g + C_HEAD] == 3:
        j: i64 = 0
        while j < i:
            if S.pool[off + j + 2] != 0:
                drop_said(S, S.pool[off + j + 2])
            j += stride
    if i > 0:
        move(S, off, off + i, n - i)
        S.lines[L].np = n - i
    k = S.lines[L].cp
    S.lines[L].points = smaller(S, off, n - i, cython.address(k))
    S.lines[L].cp = k


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def unite(S: STATE, L: i64, final: i64) -> cython.void:
    """Instead of intervals of an input fluent that are over, their union until a time is said."""
    off: i64 = points_room(S, L, 2)
    so: i64 = S.lines[L].spans
    sn: i64 = S.lines[L].ns
    n: i64 = S.lines[L].np
    words_room(cython.address(S.tmp), cython.address(S.tmp_size), n + 4)
    m: i64 = 0
    i: i64 = 0
    j: i64 = 0
    while True:
        while i < n and S.pool[off + i + 1] <= final:
            i += 2
        if j < sn and S.pool[so + j] < final and (i >= n or S.pool[so + j] <= S.pool[off + i]):
            S.tmp[m] = S.pool[so + j]
            S.tmp[m + 1] = S.pool[so + j + 1]
            if S.tmp[m + 1] > final:
                S.tmp[m + 1] = final
            j += 3
        elif i < n:
            S.tmp[m] = S.pool[off + i]
            S.tmp[m + 1] = S.pool[off + i + 1]
            i += 2
        else:
            break
        m += 2
    memcpy(cython.address(S.pool[off]), cython.address(S.tmp[0]), m * 8)
    S.lines[L].np = m


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def smaller(S: STATE, off: i64, n: i64, size: WORDS) -> i64:
    """The place of n words that need less room than they have."""
    k: i64 = size[0]
    less: i64 = k
    while less > 0 and n <= PIECE(less - 1):
        less -= 1
    if less == k:
        return off
    new: i64 = alloc(S, less)
    memcpy(cython.address(S.pool[new]), cython.address(S.pool[off]), n * 8)
    dispose(S, off, k)
    size[0] = less
    return new
