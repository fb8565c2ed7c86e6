# mypy: ignore-errors
"""Inertia: initiations and terminations to spans; deadlines that fire."""

import cython


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def begins(S: STATE, first: i64, last: i64, v: i64, w: i64) -> i64:
    """Is value v, or ANY, initiated at the points between two places? `w`: bits that count."""
    while first < last:
        if v in (ANY, S.pool[first + 1]) and (S.pool[first + 2] & w) != 0:
            return 1
        first += 3
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def breaks(S: STATE, first: i64, last: i64, source: i64, w: i64) -> i64:
    """Do the points between two places break a value?"""
    while first < last:
        v: i64 = S.pool[first + 1]
        bits: i64 = S.pool[first + 2] & w
        if v != source and (bits & BEGINNING) != 0:
            return 1
        if (bits & ENDING) != 0 and covers(S, v, source) != 0:
            return 1
        first += 3
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def ends_some(S: STATE, first: i64, last: i64, source: i64) -> i64:
    """Do rules end a value at the points between two places?"""
    while first < last:
        if (S.pool[first + 2] & SAID_ENDS) != 0 and covers(S, S.pool[first + 1], source) != 0:
            return 1
        first += 3
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def due_at(S: STATE, L: i64, d: i64, a: i64, p: i64) -> i64:
    """When a deadline is due, at a or later, by what happened before a; INF if it is not.

    Each initiation of the source is an attempt, and a break calls off those before it: with a clock
    that starts again the last counts, else the first. Effects of deadlines are points as others.
    """
    delay: i64 = S.args[d]
    source: i64 = S.args[d + 1]
    restart: i64 = S.args[d + 3]
    first: i64 = a - delay
    po: i64 = S.lines[L].points
    due: i64 = INF
    end: i64 = p
    while end > 0:
        t: i64 = S.pool[po + end - 3]
        if t < first:
            break
        begin: i64 = end
        while begin > 0 and S.pool[po + begin - 3] == t:
            begin -= 3
        if t <= S.start and end - begin > 3:
            break  # several initial values
        if begins(S, po + begin, po + end, source, BEGINNING) != 0:
            if t + delay > S.start:
                due = t + delay  # before the run nothing acts
            if restart != 0:
                break
        if source != ANY and breaks(S, po + begin, po + end, source, -1) != 0:
            break
        end = begin
    return due


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def effect(S: STATE, n: i64, t: i64, kind: i64, v: i64) -> i64:
    """One more effect of a deadline: 0 begins v, 1 ends it."""
    words_room(cython.address(S.fx), cython.address(S.fx_size), n + 3)
    S.fx[n] = t
    S.fx[n + 1] = kind
    S.fx[n + 2] = v
    return n + 3


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def begun_now(S: STATE, first: i64, last: i64, t: i64, v: i64) -> i64:
    """Is v among the values that deadlines begin at t?"""
    while first < last:
        if S.fx[first] == t and S.fx[first + 1] == 0 and v in (ANY, S.fx[first + 2]):
            return 1
        first += 3
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def ended_now(S: STATE, first: i64, last: i64, t: i64, v: i64) -> i64:
    """Is v among the values that deadlines end at t?"""
    while first < last:
        if S.fx[first] == t and S.fx[first + 1] == 1 and S.fx[first + 2] == v:
            return 1
        first += 3
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def put_effects(S: STATE, L: i64, a: i64, until: i64, n: i64) -> cython.void:
    """The effects of deadlines from a until a time are those in the buffer, and no others."""
    off: i64 = S.lines[L].points
    i: i64 = 0
    if S.lines[L].np > 0:
        i = first_at(S, off, S.lines[L].np, a, 3)
    while i < S.lines[L].np and S.pool[off + i] <= until:
        S.pool[off + i + 2] &= ~EFFECTS
        if S.pool[off + i + 2] == 0:
            remove_point(S, L, i, 3)
        else:
            i += 3
    k: i64 = 0
    while k < n:
        t: i64 = S.fx[k]
        v: i64 = S.fx[k + 2]
        off = points_room(S, L, 3)
        size: i64 = S.lines[L].np
        i = first_at(S, off, size, t, 3) if size > 0 else 0
        while i < size and S.pool[off + i] == t and S.pool[off + i + 1] != v:
            i += 3
        if i >= size or S.pool[off + i] != t:
            move(S, off + i + 3, off + i, size - i)
            S.pool[off + i] = t
            S.pool[off + i + 1] = v
            S.pool[off + i + 2] = 0
            S.lines[L].np = size + 3
        S.pool[off + i + 2] |= BEGUN if S.fx[k + 1] == 0 else ENDED
        k += 3


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def ends_cell(S: STATE, po: i64, pn: i64, p: i64, t: i64, soon: i64) -> i64:
    """Does nothing more happen in the cell of t?"""
    if S.tick == 1:
        return 1
    following: i64 = after(S, t)
    if p < pn and S.pool[po + p] < following:
        return 0
    return 1 if soon <= t or soon >= following else 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def resolve_simple(S: STATE, L: i64, a: i64, z: i64) -> cython.void:
    """Points in [a, z] have changed: go on from the value at a until all is as it was.

    All points of a moment are taken together. What deadlines did from a on is worked out anew; in
    the end it is written among the points, where a later change of the line finds it.
    """
    po: i64 = S.lines[L].points
    pn: i64 = S.lines[L].np
    so: i64 = S.lines[L].spans
    sn: i64 = S.lines[L].ns
    desc: i64 = S.cols[S.lines[L].col * FIELDS + C_DELAYS]
    m: i64 = S.args[desc] if desc != 0 else 0
    longest: i64 = 0
    q: i64 = S.q
    # What happened before in the same cell takes effect together with it.
    a = cell(S, a)
    lo: i64 = first_ending_after(S, so, sn, a) if sn > 0 else 0
    oi: i64 = lo
    cur: i64 = ANY
    since: i64 = 0
    if lo < sn and S.pool[so + lo] <= a:
        cur = S.pool[so + lo + 2]
        since = S.pool[so + lo]
    p: i64 = first_at(S, po, pn, a, 3) if pn > 0 else 0
    dues: i64[16]
    j: i64 = 0
    while j < m:
        dues[j] = due_at(S, L, desc + 1 + j * 4, a, p)
        if S.args[desc + 1 + j * 4] > longest:
            longest = S.args[desc + 1 + j * 4]
        j += 1
    if z >= INF - longest:
        z = INF - 1 - longest
    simple: i64 = 1 if m == 1 and S.args[desc + 4] != 0 else 0
    # In a cycle, deadlines of the last value known are looked at when time has come to them: what
    # happens until then may call them off, and others need not be told what they would have done.
    lazy: i64 = S.cyclic[S.cols[S.lines[L].col * FIELDS + C_LEVEL]]
    if lo + 3 < sn or (lo < sn and S.pool[so + lo] > after(S, a)):
        lazy = 0
    quiet: i64 = -INF  # until then deadlines may differ from those of before
    nfx: i64 = 0
    n: i64 = 0
    hi: i64 = sn
    settled: i64 = 0
    t: i64 = 0
    new: i64 = 0
    soon: i64 = INF
    while True:
        t = INF
        if p < pn:
            t = S.pool[po + p]
        j = 0
        soon = INF
        while j < m:
            if dues[j] < soon:
                soon = dues[j]
            j += 1
        if soon < t:
            t = soon
        if t > q:
            break
        if lazy != 0 and p >= pn and t >= after(S, a):
            dirty(S, L, t, t)
            soon = INF
            break
        values: i64 = 0
        begun: i64 = ANY
        broken: i64 = 0
        every: i64 = 0
        ends: i64 = 0
        some: i64 = 0
        first: i64 = p
        while p < pn and S.pool[po + p] == t:
            v: i64 = S.pool[po + p + 1]
            w: i64 = S.pool[po + p + 2]
            if (w & SAID_ENDS) != 0:
                if v == ANY:
                    every = 1
                elif covers(S, v, cur) != 0:
                    ends = 1
                if v != ANY:
                    some = 1
            if (w & SAID_BEGINS) != 0:
                values += 1
                begun = v
                broken = 1 if (w & SAID_ENDS) != 0 else 0
            if m != 0 and (w & EFFECTS) != 0:
                quiet = t + longest
            p += 3
        if m != 0:
            # Those whose clock may start again are asked last: others may begin their source.
            now: i64 = nfx
            turn: i64 = 0
            while turn < 2:
                j = 0
                while j < m:
                    d: i64 = desc + 1 + j * 4
                    source: i64 = S.args[d + 1]
                    if dues[j] == t and S.args[d + 3] == turn:
                        acts: i64 = 1
                        if turn == 1 and (
                            begins(S, po + first, po + p, source, SAID_BEGINS) != 0
                            or begun_now(S, now, nfx, t, source) != 0
                        ):
                            acts = 0
                        if acts != 0:
                            quiet = t + longest
                            if S.args[d + 2] == ANY:
                                nfx = effect(S, nfx, t, 1, source)
                            else:
                                if turn == 1 and S.args[d + 2] == source:
                                    contradicts(S, L, t)  # it acts if it does not
                                v = S.args[d + 2]
                                if begun_now(S, now, nfx, t, v) == 0:
                                    nfx = effect(S, nfx, t, 0, v)
                    j += 1
                turn += 1
            k: i64 = now
            while k < nfx:
                v = S.fx[k + 2]
                if S.fx[k + 1] == 0:
                    if begins(S, po + first, po + p, v, SAID_BEGINS) == 0:
                        values += 1
                        begun = v
                        broken = begins(S, po + first, po + p, v, SAID_ENDS)
                elif v in (ANY, cur):
                    ends = 1
                k += 3
            if values == 1 and ended_now(S, now, nfx, t, begun) != 0:
                broken = 1
            j = 0
            while j < m:
                d = desc + 1 + j * 4
                source = S.args[d + 1]
                if dues[j] == t:
                    dues[j] = INF
                # That of any value moves with each value, and ends whatever holds then.
                if dues[j] != INF and source != ANY:
                    if (
                        every != 0
                        or breaks(S, po + first, po + p, source, SAID) != 0
                        or ended_now(S, now, nfx, t, source) != 0
                    ):
                        dues[j] = INF
                    k = now
                    while k < nfx:
                        if S.fx[k + 1] == 0 and S.fx[k + 2] != source:
                            dues[j] = INF
                        k += 3
                # Several initial values cancel each other, and none of them begins anything.
                if (t > S.start or values == 1) and (
                    begins(S, po + first, po + p, source, SAID_BEGINS) != 0
                    or begun_now(S, now, nfx, t, source) != 0
                ):
                    if simple == 0:
                        quiet = t + longest
                    if S.args[d + 3] != 0 or dues[j] == INF:
                        dues[j] = t + S.args[d]
                        if dues[j] <= S.start:
                            dues[j] = INF  # before the run nothing acts
                j += 1
        if values == 1 and some != 0 and ends_some(S, po + first, po + p, begun) != 0:
            broken = 1
        new = cur
        if values == 0:
            if every != 0 or ends != 0:
                new = ANY
        elif values == 1 and every == 0 and broken == 0 and begun != GHOST:
            new = begun
        else:
            new = ANY
        if new != cur:
            turn_: i64 = after(S, t) if t != S.origin else S.start
            if cur != ANY and since < turn_:
                n = put_span(S, n, since, turn_, cur)
            cur = new
            since = turn_
            if n > 0 and S.tmp[n - 2] == since and S.tmp[n - 1] == cur:
                n -= 3  # ended and begun again between two time-points
                since = S.tmp[n]
        if t >= z + longest and (m == 0 or t > quiet) and ends_cell(S, po, pn, p, t, soon):
            following: i64 = after(S, t)
            while oi < sn and S.pool[so + oi + 1] <= following:
                oi += 3
            if oi < sn and S.pool[so + oi] <= following:
                if cur == S.pool[so + oi + 2] and since == S.pool[so + oi]:
                    settled = 1
            elif cur == ANY:
                settled = 1
            if settled != 0:
                hi = oi
                break
    if settled == 0:
        if cur != ANY:
            n = put_span(S, n, since, INF, cur)
        if p < pn and S.pool[po + p] < soon:
            soon = S.pool[po + p]
        if soon < INF:
            timer(S, L, soon)
        t = INF
    if m != 0:
        put_effects(S, L, a, t, nfx)
    replace(S, L, lo, hi, n)
