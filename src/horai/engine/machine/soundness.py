# mypy: ignore-errors
"""Whether all that a machine knows fits together; checked builds ask after each step."""

import cython


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def is_sound(S: STATE) -> i64:
    """Does all that is known between two steps fit together?"""
    if waiting(S) != S.nlevels:
        return 0
    L: i64 = 0
    while S.nlines > L:
        if is_sound_line(S, L) == 0:
            return 0
        L += 1
    r: i64 = 0
    while r < S.nrows:
        T: i64 = S.rows[r].table * 8
        k: i64 = S.rows[r].key
        L = S.rows[r].line
        if k + S.tables[T + T_KEYS] > S.nkeys or L + S.tables[T + T_COLUMNS] > S.nlines:
            return 0
        if S.lines[L].row != r or S.lines[L].col != S.tables[T + T_FIRST]:
            return 0
        if find_row(S, S.rows[r].table, cython.address(S.keys[k])) != r:
            return 0
        r += 1
    k = 8
    while k < S.nlinks:
        if S.links[k].line >= S.nlines or S.links[k].target >= S.nlines or S.links[k].next >= k:
            return 0
        k += 1
    return 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def is_sound_line(S: STATE, L: i64) -> i64:
    """Are points and spans of a line where they may be, and in order?"""
    g: i64 = S.lines[L].col * FIELDS
    kind: i64 = S.cols[g + C_KIND]
    stride: i64 = 1
    if kind == EVENT:
        stride = S.cols[g + C_STRIDE]
    elif kind == SIMPLE:
        stride = 3
    elif kind in (INPUT, COVER, KNOWN, STATED):
        stride = 2
    off: i64 = S.lines[L].points
    n: i64 = S.lines[L].np
    if S.lines[L].dirty != 0 or n % stride != 0 or n < 0:
        return 0
    if n > 0 and (off < 8 or n > PIECE(S.lines[L].cp) or off + n > S.top):
        return 0
    i: i64 = stride
    while i < n:
        if kind != NONE and S.pool[off + i - stride] > S.pool[off + i]:
            return 0
        i += stride
    off = S.lines[L].spans
    n = S.lines[L].ns
    if (S.lines[L].cs & BARRED) != 0:
        return 1 if n == 0 else 0
    if n % 3 != 0 or n < 0:
        return 0
    if n > 0 and (off < 8 or n > PIECE(S.lines[L].cs) or off + n > S.top):
        return 0
    i = 0
    while i < n:
        if S.pool[off + i] >= S.pool[off + i + 1]:
            return 0
        if i > 0 and S.pool[off + i - 2] > S.pool[off + i]:
            return 0
        i += 3
    return 1
