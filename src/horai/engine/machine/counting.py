# mypy: ignore-errors
"""Spans that count in other lines, and how the spans of a line are replaced."""

import cython


# The points of a line that counts are (time, how many of the spans that feed it are there from then
# on). It holds where there are any. Where only matters that there are some, each of them counts for
# all of the time.


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def step_at(S: STATE, L: i64, t: i64) -> i64:
    """The word of the point at t, made if there is none."""
    off: i64 = points_room(S, L, 2)
    n: i64 = S.lines[L].np
    i: i64 = first_at(S, off, n, t, 2)
    if i < n and S.pool[off + i] == t:
        return i
    move(S, off + i + 2, off + i, n - i)
    S.pool[off + i] = t
    S.pool[off + i + 1] = S.pool[off + i - 1] if i > 0 else 0
    S.lines[L].np = n + 2
    return i


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def without_step(S: STATE, L: i64, t: i64) -> cython.void:
    """No point at t, if it says what the one before says."""
    off: i64 = S.lines[L].points
    i: i64 = first_at(S, off, S.lines[L].np, t, 2)
    if i >= S.lines[L].np or S.pool[off + i] != t:
        return
    if S.pool[off + i + 1] == (S.pool[off + i - 1] if i > 0 else 0):
        remove_point(S, L, i, 2)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def cover(S: STATE, L: i64, s: i64, e: i64, d: i64) -> cython.void:
    """One span more (d = 1) or less (-1) counts in [s, e)."""
    if is_foreign(S, L) != 0:
        at: i64 = letter(S, L, NEW_COUNT, 4)
        S.letters[at] = s
        S.letters[at + 1] = e
        S.letters[at + 2] = d
        S.letters[at + 3] = S.returning
        return
    i: i64 = step_at(S, L, s)
    if e < INF:
        step_at(S, L, e)
    off: i64 = S.lines[L].points
    n: i64 = S.lines[L].np
    a: i64 = INF
    z: i64 = e
    while i < n and S.pool[off + i] < e:
        c: i64 = S.pool[off + i + 1] + d
        if c < 0:
            S.error = 3
            return
        S.pool[off + i + 1] = c
        i += 2
        if c == 0 or (c == 1 and d > 0):
            if a == INF:
                a = S.pool[off + i - 2]
            z = S.pool[off + i] if i < n else INF
    if e < INF:
        without_step(S, L, e)
    without_step(S, L, s)
    if a < INF and S.returning == 0:
        dirty(S, L, a, z)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def feed_one(S: STATE, what: i64, target: i64, s: i64, e: i64, d: i64, whole: i64) -> cython.void:
    if what == TO_COVER:
        cover(S, target, s, e, d)
    elif whole != 0:
        cover(S, target, S.start, INF, d)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def feed(S: STATE, L: i64, v: i64, s: i64, e: i64, d: i64, whole: i64) -> cython.void:
    """A span of a line came or went; or, if it is not a whole one, a piece of it."""
    k: i64 = S.lines[L].links
    while k != 0:
        site: WORDS = cython.address(S.sites[S.links[k].site * 8])
        if site[S_LISTS] > TO_LISTS and (site[S_VALUE] == ANY or site[S_VALUE] == v):
            feed_one(S, site[S_LISTS], S.links[k].target, s, e, d, whole)
        k = S.links[k].next


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def begin_feeding(S: STATE, L: i64, target: i64, site: i64) -> cython.void:
    """From now on the spans of L count in another line."""
    what: i64 = S.sites[site * 8 + S_LISTS]
    if link(S, L, site, target) == 0 or (S.returning != 0 and what == TO_KNOWN):
        return  # whatever was ever known has been counted
    want: i64 = S.sites[site * 8 + S_VALUE]
    i: i64 = 0
    while i < S.lines[L].ns:
        off: i64 = S.lines[L].spans + i
        if want == ANY or S.pool[off + 2] == want:
            feed_one(S, what, target, S.pool[off], S.pool[off + 1], 1, 1)
        i += 3


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def snapshot(S: STATE, L: i64, lo: i64) -> cython.void:
    """Keep what a line said at the last query time from word lo on, before it is overwritten."""
    first: i64 = S.lines[L].first
    if S.lines[L].epoch != S.epoch:
        n: i64 = S.ntouched
        words_room(cython.address(S.touched), cython.address(S.touched_size), n + 1)
        S.touched[n] = L
        S.ntouched = n + 1
        first = S.lines[L].ns
        S.lines[L].saved = 0
        S.lines[L].epoch = S.epoch
    if lo < first:
        n = first - lo
        at: i64 = S.narena
        words_room(cython.address(S.arena), cython.address(S.arena_size), at + n + 2)
        S.narena = at + n + 2
        S.arena[at] = S.lines[L].saved
        S.arena[at + 1] = n
        memcpy(
            cython.address(S.arena[at + 2]),
            cython.address(S.pool[S.lines[L].spans + lo]),
            n * 8,
        )
        S.lines[L].saved = at
        first = lo
    S.lines[L].first = first


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def put_span(S: STATE, n: i64, s: i64, e: i64, v: i64) -> i64:
    """One more span in the buffer."""
    words_room(cython.address(S.tmp), cython.address(S.tmp_size), n + 3)
    S.tmp[n] = s
    S.tmp[n + 1] = e
    S.tmp[n + 2] = v
    return n + 3


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def replace(S: STATE, L: i64, lo: i64, hi: i64, n: i64) -> cython.void:
    """Spans [lo, hi) (words) become the n words in `tmp`; who reads them is told."""
    off: i64 = S.lines[L].spans
    m: i64 = 0
    while (
        lo < hi
        and m < n
        and S.pool[off + lo] == S.tmp[m]
        and S.pool[off + lo + 1] == S.tmp[m + 1]
        and S.pool[off + lo + 2] == S.tmp[m + 2]
    ):
        lo += 3
        m += 3
    while (
        lo < hi
        and m < n
        and S.pool[off + hi - 3] == S.tmp[n - 3]
        and S.pool[off + hi - 2] == S.tmp[n - 2]
        and S.pool[off + hi - 1] == S.tmp[n - 1]
    ):
        hi -= 3
        n -= 3
    if lo == hi and m == n:
        return
    snapshot(S, L, lo)
    # The old ones are kept aside: readers must see the new ones.
    old: i64 = hi - lo
    words_room(cython.address(S.gone), cython.address(S.gone_size), old + 1)
    if old != 0:
        memcpy(cython.address(S.gone[0]), cython.address(S.pool[off + lo]), old * 8)
    have: i64 = S.lines[L].ns
    grow: i64 = (n - m) - old
    if grow > 0:
        off = spans_room(S, L, grow)
    if grow != 0 and hi < have:
        move(S, off + hi + grow, off + hi, have - hi)
    if n > m:
        memcpy(cython.address(S.pool[off + lo]), cython.address(S.tmp[m]), (n - m) * 8)
    S.lines[L].ns = have + grow
    feeds: i64 = S.cols[S.lines[L].col * FIELDS + C_FEEDS]
    values: i64 = S.cols[S.lines[L].col * FIELDS + C_VALUES]
    i: i64 = S.cols[S.lines[L].col * FIELDS + C_KNOWN]
    if is_foreign(S, L) != 0:
        values = i = 0
    if i != 0 and (have == 0) != (have + grow == 0):
        emit_event(S, L + i, S.origin, cython.address(S.tmp[0]), 1 if have == 0 else -1)
    i = 0
    j: i64 = m
    while i < old or j < n:
        if i < old and j < n and S.gone[i] == S.tmp[j] and S.gone[i + 2] == S.tmp[j + 2]:
            oe: i64 = S.gone[i + 1]
            ne: i64 = S.tmp[j + 1]
            v: i64 = S.tmp[j + 2]
            if oe != ne:
                if feeds != 0 and oe < ne:
                    feed(S, L, v, oe, ne, 1, 0)
                elif feeds != 0:
                    feed(S, L, v, ne, oe, -1, 0)
                if ne != INF:
                    edge(S, L, 0, v, ne, 1)
                if oe != INF:
                    edge(S, L, 0, v, oe, -1)
                if oe < ne:
                    held(S, L, v, oe, ne, 1)
                    changed(S, L, v, oe, ne)
                else:
                    held(S, L, v, ne, oe, -1)
                    changed(S, L, v, ne, oe)
            i += 3
            j += 3
        elif j >= n or (i < old and S.gone[i] <= S.tmp[j]):
            v = S.gone[i + 2]
            if feeds != 0:
                feed(S, L, v, S.gone[i], S.gone[i + 1], -1, 1)
            edge(S, L, 1, v, S.gone[i], -1)
            if S.gone[i + 1] != INF:
                edge(S, L, 0, v, S.gone[i + 1], -1)
            held(S, L, v, S.gone[i], S.gone[i + 1], -1)
            changed(S, L, v, S.gone[i], S.gone[i + 1])
            i += 3
        else:
            v = S.tmp[j + 2]
            if feeds != 0:
                feed(S, L, v, S.tmp[j], S.tmp[j + 1], 1, 1)
            if values != 0:
                value_row(S, L, values, v)
            edge(S, L, 1, v, S.tmp[j], 1)
            if S.tmp[j + 1] != INF:
                edge(S, L, 0, v, S.tmp[j + 1], 1)
            held(S, L, v, S.tmp[j], S.tmp[j + 1], 1)
            changed(S, L, v, S.tmp[j], S.tmp[j + 1])
            j += 3
