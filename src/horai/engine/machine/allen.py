# mypy: ignore-errors
"""Relations of intervals: all pairs that touch a region."""

import cython


# A pair of spans says something about the time of the two. A change in a region is about pairs of
# spans that touch it; these are about the time of the spans and of their partners. So there the
# list is made again, from all spans that touch this time.


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def touching(S: STATE, O: i64, a: i64) -> i64:
    """The first span of a line that ends no more than a time-point before a."""
    n: i64 = S.lines[O].ns
    if n == 0:
        return 0
    return first_ending_after(S, S.lines[O].spans, n, a - S.tick - 1)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def widen(S: STATE, O: i64, want: i64, a: i64, z: i64) -> cython.void:
    """The region from `low` to `high` grows by the spans that touch [a, z)."""
    off: i64 = S.lines[O].spans
    n: i64 = S.lines[O].ns
    i: i64 = touching(S, O, a)
    while i < n and (z >= INF or S.pool[off + i] <= z + S.tick):
        if S.pool[off + i + 2] == want:
            if S.pool[off + i] < S.low:
                S.low = S.pool[off + i]
            if S.pool[off + i + 1] > S.high:
                S.high = S.pool[off + i + 1]
        i += 3


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def last_point(S: STATE, e: i64) -> i64:
    return INF if e == INF else before(S, e)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def related(relation: i64, a: i64, b: i64, c: i64, d: i64) -> i64:
    """Does a relation hold of first and last points?"""
    if relation == ALLEN_MEETS:
        return b == c and a < c and c < d
    if relation == ALLEN_OVERLAPS:
        return a < c and c < b and b < d
    if relation == ALLEN_STARTS:
        return a == c and b < d
    if relation == ALLEN_FINISHES:
        return b == d and a > c
    if relation == ALLEN_DURING:
        return a > c and b < d
    if relation == ALLEN_EQUAL:
        return a == c and b == d
    return b < c


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def pair_up(S: STATE, mode: i64, n: i64, s: i64, t: i64) -> i64:
    """What a mode makes of two spans, in the region."""
    a: i64 = S.low
    z: i64 = S.high
    s0: i64 = S.pool[s]
    s1: i64 = S.pool[s + 1]
    t0: i64 = S.pool[t]
    t1: i64 = S.pool[t + 1]
    if mode in (MODE_SOURCE, MODE_UNION):
        n = piece(S, n, s0, s1, a, z)
    if mode in (MODE_TARGET, MODE_UNION):
        n = piece(S, n, t0, t1, a, z)
    elif mode == MODE_INTERSECTION:
        n = piece(S, n, s0 if s0 > t0 else t0, s1 if s1 < t1 else t1, a, z)
    elif mode == MODE_RELATIVE_COMPLEMENT:
        n = piece(S, n, s0, s1 if s1 < t0 else t0, a, z)
        n = piece(S, n, s0 if s0 > t1 else t1, s1, a, z)
    elif mode == MODE_RELATIVE_COMPLEMENT_INVERSE:
        n = piece(S, n, t0, t1 if t1 < s0 else s0, a, z)
        n = piece(S, n, t0 if t0 > s1 else s1, t1, a, z)
    return n


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def pairs_near(S: STATE, A: i64, va: i64, B: i64, vb: i64, relation: i64, mode: i64) -> i64:
    """The pieces of all pairs about the region; the spans of a pair touch."""
    m: i64 = 0
    low: i64 = S.low
    high: i64 = S.high
    widen(S, B, vb, low, high)
    i: i64 = touching(S, A, S.low)
    an: i64 = S.lines[A].ns
    bn: i64 = S.lines[B].ns
    ao: i64 = S.lines[A].spans
    bo: i64 = S.lines[B].spans
    last: i64 = S.high
    S.low = low
    S.high = high
    while i < an and (last >= INF or S.pool[ao + i] <= last + S.tick):
        if S.pool[ao + i + 2] == va:
            e: i64 = S.pool[ao + i + 1]
            j: i64 = touching(S, B, S.pool[ao + i])
            while j < bn and (e == INF or S.pool[bo + j] <= e + S.tick):
                if S.pool[bo + j + 2] == vb and related(
                    relation,
                    S.pool[ao + i],
                    last_point(S, e),
                    S.pool[bo + j],
                    last_point(S, S.pool[bo + j + 1]),
                ):
                    m = pair_up(S, mode, m, ao + i, bo + j)
                j += 3
        i += 3
    return m


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def nth_before(S: STATE, O: i64, want: i64, t: i64) -> i64:
    """Where the second span before t starts; the start of time if there is none."""
    off: i64 = S.lines[O].spans
    i: i64 = touching(S, O, t) - 3
    found: i64 = 0
    while i >= 0:
        if S.pool[off + i + 2] == want:
            found += 1
            if found == 2:
                return S.pool[off + i]
        i -= 3
    return -INF


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def nth_after(S: STATE, O: i64, want: i64, t: i64) -> i64:
    """Where the second span after t ends; the end of time if there is none."""
    off: i64 = S.lines[O].spans
    n: i64 = S.lines[O].ns
    i: i64 = touching(S, O, t)
    found: i64 = 0
    while i < n and t < INF:
        if S.pool[off + i + 2] == want and S.pool[off + i] > t + S.tick:
            found += 1
            if found == 2:
                return S.pool[off + i + 1]
        i += 3
    return INF


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def pairs_apart(S: STATE, A: i64, va: i64, B: i64, vb: i64, mode: i64, memory: i64) -> i64:
    """The pieces of pairs with the source before the target. Of several partners the nearest two
    say all there is to say, and those that start before a source has ended.
    """
    m: i64 = 0
    an: i64 = S.lines[A].ns
    bn: i64 = S.lines[B].ns
    ao: i64 = S.lines[A].spans
    bo: i64 = S.lines[B].spans
    i: i64 = touching(S, A, S.low)
    while i < an and (S.high >= INF or S.pool[ao + i] <= S.high):
        e: i64 = S.pool[ao + i + 1]
        if S.pool[ao + i + 2] == va and e < INF:
            b: i64 = before(S, e)
            found: i64 = 0
            j: i64 = touching(S, B, b)
            while j < bn and (found < 2 or S.pool[bo + j] < e):
                c: i64 = S.pool[bo + j]
                if c > b and c - b > memory:
                    break
                if S.pool[bo + j + 2] == vb and c > b:
                    m = pair_up(S, mode, m, ao + i, bo + j)
                    found += 1
                j += 3
        i += 3
    j = touching(S, B, S.low)
    while j < bn and (S.high >= INF or S.pool[bo + j] <= S.high):
        if S.pool[bo + j + 2] == vb:
            c = S.pool[bo + j]
            found = 0
            i = touching(S, A, c + S.tick)
            while i < an and S.pool[ao + i + 1] <= c + S.tick:
                i += 3  # those that have ended are before it
            i -= 3
            while i >= 0 and found < 2:
                b = before(S, S.pool[ao + i + 1])
                if b < c and c - b > memory:
                    break
                if S.pool[ao + i + 2] == va and b < c:
                    m = pair_up(S, mode, m, ao + i, bo + j)
                    found += 1
                i -= 3
        j += 3
    return m


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def resolve_allen(S: STATE, L: i64, a: i64, z: i64) -> cython.void:
    """What a mode makes of all pairs of spans in a relation, where it may be other.

    What there is to do: (source, target, value, relation, mode, memory).
    """
    desc: i64 = S.cols[S.lines[L].col * FIELDS + C_LIST]
    A: i64 = operand(S, L, desc)
    B: i64 = operand(S, L, desc + 3)
    va: i64 = wanted(S, L, desc)
    vb: i64 = wanted(S, L, desc + 3)
    value: i64 = S.args[desc + 6]
    relation: i64 = S.args[desc + 7]
    mode: i64 = S.args[desc + 8]
    memory: i64 = S.args[desc + 9]
    if A < 0 or B < 0:
        return
    S.low = a
    S.high = z
    widen(S, A, va, a, z)
    widen(S, B, vb, a, z)
    low: i64 = S.low
    high: i64 = S.high
    widen(S, A, va, low, high)
    widen(S, B, vb, low, high)
    m: i64 = 0
    if relation == ALLEN_BEFORE:
        # Partners are the nearest ones: those of others are beyond the second one.
        first: i64 = nth_before(S, B, vb, low)
        if first < S.low:
            S.low = first
        last: i64 = nth_after(S, A, va, high)
        if last > S.high:
            S.high = last
        low = S.low
        high = S.high
        widen(S, A, va, low, high)
        widen(S, B, vb, low, high)
        m = pairs_apart(S, A, va, B, vb, mode, memory)
    else:
        m = pairs_near(S, A, va, B, vb, relation, mode)
    put_pieces(S, L, S.low, S.high, m, value)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def resolve_input(S: STATE, L: i64, a: i64) -> cython.void:
    """The union of the intervals that items say, from the first span on that a touches."""
    po: i64 = S.lines[L].points
    pn: i64 = S.lines[L].np
    so: i64 = S.lines[L].spans
    sn: i64 = S.lines[L].ns
    row: i64 = S.lines[L].row
    value: i64 = S.cols[S.lines[L].col * FIELDS + C_INPUT]
    if value == ANY:
        value = S.keys[S.rows[row].key + S.tables[S.rows[row].table * 8 + T_KEYS] - 1]
    lo: i64 = 0
    if sn > 0:
        lo = first_ending_after(S, so, sn, a - 1)
        if lo < sn and S.pool[so + lo] < a:
            a = S.pool[so + lo]
    n: i64 = 0
    i: i64 = first_at(S, po, pn, a, 2) if pn > 0 else 0
    while i < pn:
        s: i64 = S.pool[po + i]
        e: i64 = S.pool[po + i + 1]
        if n > 0 and S.tmp[n - 2] >= s:
            if e > S.tmp[n - 2]:
                S.tmp[n - 2] = e
        else:
            n = put_span(S, n, s, e, value)
        i += 2
    replace(S, L, lo, sn, n)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def contradicts(S: STATE, L: i64, t: i64) -> cython.void:
    """The rules of a line are true at a time if, and only if, they are not."""
    S.error = 6
    S.called = S.lines[L].col
    S.unsettled = t


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def input_interval(S: STATE, op: i64, L: i64, s: i64, e: i64) -> cython.void:
    off: i64 = points_room(S, L, 2)
    n: i64 = S.lines[L].np
    i: i64 = 0
    if n > 0:
        i = first_at(S, off, n, s, 2)
    while i < n and S.pool[off + i] == s and S.pool[off + i + 1] < e:
        i += 2
    if op > 0:
        move(S, off + i + 2, off + i, n - i)
        S.pool[off + i] = s
        S.pool[off + i + 1] = e
        S.lines[L].np = n + 2
    elif i < n and S.pool[off + i] == s and S.pool[off + i + 1] == e:
        move(S, off + i, off + i + 2, n - i - 2)
        S.lines[L].np = n - 2
    else:
        S.unknown += 1
        return
    push(S, 2 * S.cols[S.lines[L].col * FIELDS + C_LEVEL] + 1, L, s, e)
