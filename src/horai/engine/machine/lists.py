# mypy: ignore-errors
"""Interval lists as truth tables over their operands, durations, covers."""

import cython


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def operand(S: STATE, L: i64, p: i64) -> i64:
    """The line that a list looks at; an operand is (how it is found, where, value)."""
    if S.args[p] & OWN_LINE:
        return L + S.args[p + 1]
    return S.keys[S.rows[S.lines[L].row].key + S.args[p + 1]]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def wanted(S: STATE, L: i64, p: i64) -> i64:
    """The value that counts of an operand."""
    if S.args[p] & VALUE_IN_KEY:
        return S.keys[S.rows[S.lines[L].row].key + S.args[p + 2]]
    return S.args[p + 2]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def reaches(S: STATE, L: i64, a: i64, z: i64) -> i64:
    """Has a line spans that touch [a, z)?"""
    n: i64 = S.lines[L].ns
    if n == 0:
        return 0
    off: i64 = S.lines[L].spans
    i: i64 = first_ending_after(S, off, n, a)
    return 1 if i < n and S.pool[off + i] < z else 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def stays_empty(S: STATE, L: i64, a: i64, z: i64) -> i64:
    """Does a list say nothing in [a, z), now as before, because a line beside it that it needs says
    nothing there? Most pairs whose members change are not near each other at that time.
    """
    g: i64 = S.lines[L].col * FIELDS
    if S.cols[g + C_KIND] != LIST:
        return 0
    p: i64 = S.cols[g + C_LIST]
    k: i64 = S.args[p]
    p += 4
    while k > 0:
        if (S.args[p] & NEEDED) != 0 and reaches(S, L + S.args[p + 1], a, z) == 0:
            return 1 if reaches(S, L, a, z) == 0 else 0
        p += 3
        k -= 1
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def resolve_list(S: STATE, L: i64, a: i64, z: i64) -> cython.void:
    """A truth table over lists, some of which are other in [a, z): one sweep over that region.

    Before the first time-point after the start there is another table: what is absent is not known.
    """
    desc: i64 = S.cols[S.lines[L].col * FIELDS + C_LIST]
    k: i64 = S.args[desc]
    table: i64 = S.args[desc + 1]
    value: i64 = S.args[desc + 2]
    soon: i64 = INF
    if a < S.first:
        a = S.start
        table = S.args[desc + 3]
        soon = S.first
    state: i64 = 0
    j: i64 = 0
    while j < k:
        O: i64 = operand(S, L, desc + 4 + j * 3)
        want: i64 = wanted(S, L, desc + 4 + j * 3)
        off: i64 = 0
        n: i64 = 0
        i: i64 = 0
        following: i64 = INF
        if O >= 0:  # others may not be there yet
            off = S.lines[O].spans
            n = S.lines[O].ns
        if n > 0:
            i = first_ending_after(S, off, n, a)
            while i < n and S.pool[off + i + 2] != want:
                i += 3
        if i < n:
            if S.pool[off + i] <= a:
                state |= cython.cast(i64, 1) << j
                following = S.pool[off + i + 1]
            else:
                following = S.pool[off + i]
        S.sweep[j * 4] = off + i
        S.sweep[j * 4 + 1] = off + n
        S.sweep[j * 4 + 2] = following
        S.sweep[j * 4 + 3] = want
        if following < soon:
            soon = following
        j += 1
    so: i64 = S.lines[L].spans
    sn: i64 = S.lines[L].ns
    lo: i64 = 0
    left: i64 = -INF
    if sn > 0:
        lo = first_ending_after(S, so, sn, a - 1)
        if lo < sn and S.pool[so + lo] < a:
            left = S.pool[so + lo]
    n = 0
    t: i64 = a
    run: i64 = -INF
    if ((table >> state) & 1) != 0:
        run = a
        if left != -INF:
            run = left
    elif left != -INF:
        n = put_span(S, n, left, a, value)
    while soon < z:
        t = soon
        soon = INF
        if t < S.first:
            soon = S.first
        else:
            table = S.args[desc + 1]
        j = 0
        while j < k:
            following = S.sweep[j * 4 + 2]
            if following == t:
                i = S.sweep[j * 4]
                if (state >> j) & 1:
                    state ^= cython.cast(i64, 1) << j
                    i += 3
                    end: i64 = S.sweep[j * 4 + 1]
                    want = S.sweep[j * 4 + 3]
                    while i < end and S.pool[i + 2] != want:
                        i += 3
                    S.sweep[j * 4] = i
                    following = INF
                    if i < end:
                        following = S.pool[i]
                        if following == t:
                            state ^= cython.cast(i64, 1) << j
                            following = S.pool[i + 1]
                else:
                    state ^= cython.cast(i64, 1) << j
                    following = S.pool[i + 1]
                S.sweep[j * 4 + 2] = following
            if following < soon:
                soon = following
            j += 1
        if ((table >> state) & 1) != 0:
            if run == -INF:
                run = t
        elif run != -INF:
            n = put_span(S, n, run, t, value)
            run = -INF
    hi: i64 = sn
    if z >= INF:
        if run != -INF:
            n = put_span(S, n, run, INF, value)
    else:
        hi = lo
        while hi < sn and S.pool[so + hi] <= z:
            hi += 3
        if hi > lo and S.pool[so + hi - 2] > z:
            if run == -INF:
                run = z
            n = put_span(S, n, run, S.pool[so + hi - 2], value)
        elif run != -INF:
            n = put_span(S, n, run, z, value)
    replace(S, L, lo, hi, n)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def whole_bound(S: STATE, w: i64, compare: i64) -> i64:
    """The whole number with which whole numbers compare as with a number of the key."""
    if w & 1:
        return w >> 1
    S.failed = 0
    u: cython.double = real_of(S, w)
    # `>` and `=<` change above a whole number, `>=` and `<` at one.
    u = floor(u) if compare == 0 or compare == 3 else ceil(u)
    if u >= 4e18:
        return INF
    if u <= -4e18:
        return -INF
    return cython.cast(i64, u)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def resolve_filter(S: STATE, L: i64, a: i64, z: i64) -> cython.void:
    """The spans of another line that last long enough, or not too long.

    A span counts as a whole, so those that touch the region are looked at again. What is open
    counts up to the query time.
    """
    c: i64 = S.lines[L].col * FIELDS
    desc: i64 = S.cols[c + C_LIST]
    bound: i64 = S.cols[c + C_LEAST]
    flags: i64 = S.cols[c + C_COMPARE]
    compare: i64 = flags & 3
    if flags & BOUND_IN_KEY:
        bound = whole_bound(S, S.keys[S.rows[S.lines[L].row].key + bound], compare)
    O: i64 = operand(S, L, desc)
    value: i64 = S.args[desc + 3]
    want: i64 = wanted(S, L, desc)
    so: i64 = S.lines[O].spans
    sn: i64 = S.lines[O].ns
    fo: i64 = S.lines[L].spans
    fn: i64 = S.lines[L].ns
    i: i64 = first_ending_after(S, so, sn, a - 1) if sn > 0 else 0
    n: i64 = 0
    lo: i64 = first_ending_after(S, fo, fn, a - 1) if fn > 0 else 0
    while i < sn and S.pool[so + i] <= z:
        s: i64 = S.pool[so + i]
        e: i64 = S.pool[so + i + 1]
        if S.pool[so + i + 2] == want:
            lasts: i64 = (S.q if e == INF else e) - s
            yes: i64 = 0
            if compare == 0:
                yes = lasts > bound
            elif compare == 1:
                yes = lasts >= bound
            elif compare == 2:
                yes = lasts < bound
            else:
                yes = lasts <= bound
            if e == INF and (flags & OPEN_NEVER):
                yes = 0
            if yes != 0:
                n = put_span(S, n, s, e, value)
            if e == INF and bound < INF - S.q and bound > -INF and (flags & OPEN_NEVER) == 0:
                # It will be longer at a later query time.
                turn: i64 = s + bound + (1 if compare == 0 or compare == 3 else 0)
                if turn > S.q:
                    timer(S, L, turn)
        i += 3
    hi: i64 = lo
    while hi < fn and S.pool[fo + hi] <= z:
        hi += 3
    replace(S, L, lo, hi, n)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def piece(S: STATE, n: i64, s: i64, e: i64, a: i64, z: i64) -> i64:
    """One more piece of a list, as far as it is in [a, z)."""
    if s < a:
        s = a
    if e > z:
        e = z
    if s >= e:
        return n
    words_room(cython.address(S.fx), cython.address(S.fx_size), n + 2)
    S.fx[n] = s
    S.fx[n + 1] = e
    return n + 2


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def sort_pieces(S: STATE, n: i64) -> cython.void:
    """The pieces by where they start, by merging longer and longer runs."""
    i: i64 = 2
    while i < n and S.fx[i] >= S.fx[i - 2]:
        i += 2
    if i >= n:
        return
    words_room(cython.address(S.em), cython.address(S.em_size), n)
    run: i64 = 2
    while run < n:
        a: i64 = 0
        while a < n:
            i = a
            mid: i64 = a + run if a + run < n else n
            j: i64 = mid
            end: i64 = a + 2 * run if a + 2 * run < n else n
            k: i64 = a
            while i < mid or j < end:
                if j >= end or (i < mid and S.fx[i] <= S.fx[j]):
                    S.em[k] = S.fx[i]
                    S.em[k + 1] = S.fx[i + 1]
                    i += 2
                else:
                    S.em[k] = S.fx[j]
                    S.em[k + 1] = S.fx[j + 1]
                    j += 2
                k += 2
            a = end
        memcpy(cython.address(S.fx[0]), cython.address(S.em[0]), n * 8)
        run *= 2


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def put_pieces(S: STATE, L: i64, a: i64, z: i64, m: i64, value: i64) -> cython.void:
    """In [a, z) a list is what the pieces say; elsewhere it stays as it is."""
    so: i64 = S.lines[L].spans
    sn: i64 = S.lines[L].ns
    lo: i64 = first_ending_after(S, so, sn, a - 1) if sn > 0 else 0
    hi: i64 = lo
    while hi < sn and S.pool[so + hi] <= z:
        s: i64 = S.pool[so + hi]
        e: i64 = S.pool[so + hi + 1]
        m = piece(S, m, s, e, s, a)
        if z < INF:
            m = piece(S, m, s, e, z, e)
        hi += 3
    sort_pieces(S, m)
    n: i64 = 0
    i: i64 = 0
    while i < m:
        if n > 0 and S.tmp[n - 2] >= S.fx[i]:
            if S.tmp[n - 2] < S.fx[i + 1]:
                S.tmp[n - 2] = S.fx[i + 1]
        else:
            n = put_span(S, n, S.fx[i], S.fx[i + 1], value)
        i += 2
    replace(S, L, lo, hi, n)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def resolve_cover(S: STATE, L: i64, a: i64, z: i64) -> cython.void:
    """Where any spans count."""
    value: i64 = S.args[S.cols[S.lines[L].col * FIELDS + C_LIST]]
    if value == ANY:
        row: i64 = S.lines[L].row
        value = S.keys[S.rows[row].key + S.tables[S.rows[row].table * 8 + T_KEYS] - 1]
    if a < S.start:
        a = S.start
    off: i64 = S.lines[L].points
    n: i64 = S.lines[L].np
    m: i64 = 0
    i: i64 = first_at(S, off, n, a + 1, 2) if n > 0 else 0
    if i > 0:
        i -= 2
    while i < n and S.pool[off + i] < z:
        if S.pool[off + i + 1] > 0:
            m = piece(S, m, S.pool[off + i], S.pool[off + i + 2] if i + 2 < n else INF, a, z)
        i += 2
    put_pieces(S, L, a, z, m, value)
