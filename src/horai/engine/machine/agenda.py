# mypy: ignore-errors
"""What has to be done: regions of lines, points, timers, by level and time."""

import cython


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def push(S: STATE, queue: i64, L: i64, a: i64, z: i64) -> cython.void:
    """Queue 2 * level: points to evaluate (line, time, rules); 2 * level + 1: regions of lines."""
    n: i64 = S.nag
    words_room(cython.address(S.ag), cython.address(S.ag_size), n + 4)
    S.nag = n + 4
    S.ag[n] = 0
    S.ag[n + 1] = L
    S.ag[n + 2] = a
    S.ag[n + 3] = z
    last: i64 = S.queues[queue * 2 + 1]
    if last == 0:
        S.queues[queue * 2] = n
    else:
        S.ag[last] = n
    S.queues[queue * 2 + 1] = n


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def sooner(S: STATE, level: i64, when: i64, L: i64, x: i64) -> cython.void:
    """Put something on the agenda of a level that goes through time; `when` is 2 * time + layer.

    The level that is settled now has a heap; what others have to do is put in order when they are.
    """
    if level == S.level:
        to_heap(S, when, L, x)
    else:
        push(S, 2 * level, L, when, x)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def to_heap(S: STATE, when: i64, L: i64, x: i64) -> cython.void:
    i: i64 = S.nheap
    words_room(cython.address(S.heap), cython.address(S.heap_size), (i + 1) * 3)
    S.nheap = i + 1
    while i > 0:
        up: i64 = (i - 1) >> 1
        if S.heap[up * 3] <= when:
            break
        memcpy(cython.address(S.heap[i * 3]), cython.address(S.heap[up * 3]), 24)
        i = up
    S.heap[i * 3] = when
    S.heap[i * 3 + 1] = L
    S.heap[i * 3 + 2] = x


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def from_heap(S: STATE) -> cython.void:
    """Take the first off the heap; its words are in `S.got`."""
    memcpy(cython.address(S.got[0]), cython.address(S.heap[0]), 24)
    n: i64 = S.nheap - 1
    S.nheap = n
    i: i64 = 0
    when: i64 = S.heap[n * 3]
    while True:
        c: i64 = 2 * i + 1
        if c >= n:
            break
        if c + 1 < n and S.heap[c * 3 + 3] < S.heap[c * 3]:
            c += 1
        if S.heap[c * 3] >= when:
            break
        memcpy(cython.address(S.heap[i * 3]), cython.address(S.heap[c * 3]), 24)
        i = c
    if i != n:
        memcpy(cython.address(S.heap[i * 3]), cython.address(S.heap[n * 3]), 24)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def in_time(S: STATE, s: i64) -> cython.void:
    """What a level has to do so far, in order of time: (when, where it is in the agenda)."""
    n: i64 = 0
    least: i64 = INF
    most: i64 = -INF
    h: i64 = S.queues[4 * s]
    while h != 0:
        words_room(cython.address(S.run), cython.address(S.run_size), n + 2)
        when: i64 = S.ag[h + 2]
        S.run[n] = when
        S.run[n + 1] = h
        n += 2
        least = when if when < least else least
        most = when if when > most else most
        h = S.ag[h]
    S.queues[4 * s] = S.queues[4 * s + 1] = 0
    S.ran = 0
    S.nrun = n
    if n < MANY:
        S.nrun = 0
        while n > 0:
            n -= 2
            h = S.run[n + 1]
            to_heap(S, S.ag[h + 2], S.ag[h + 1], S.ag[h + 3])
        return
    other: WORDS = cython.NULL
    size: i64 = 0
    words_room(cython.address(other), cython.address(size), n)
    counts: i64[2049]
    shift: i64 = 0
    while shift < 62 and ((most - least) >> shift) > 0:
        memset(counts, 0, 2049 * 8)
        i: i64 = 0
        while i < n:
            counts[(((S.run[i] - least) >> shift) & 2047) + 1] += 2
            i += 2
        i = 0
        while i < 2048:
            counts[i + 1] += counts[i]
            i += 1
        i = 0
        while i < n:
            k: i64 = ((S.run[i] - least) >> shift) & 2047
            other[counts[k]] = S.run[i]
            other[counts[k] + 1] = S.run[i + 1]
            counts[k] += 2
            i += 2
        memcpy(S.run, other, n * 8)
        shift += 11
    free(other)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def soonest(S: STATE) -> cython.void:
    """Take the first of all that the level has to do; its words are in `S.got`."""
    i: i64 = S.ran
    if i >= S.nrun or (S.nheap > 0 and S.heap[0] < S.run[i]):
        from_heap(S)
        return
    # They are about instances anywhere: what comes soon is fetched.
    if i + 24 < S.nrun:
        SOON(cython.address(S.ag[S.run[i + 25]]))
        L: i64 = S.ag[S.run[i + 17] + 1]
        SOON(cython.address(S.lines[L]))
        L = S.ag[S.run[i + 9] + 1]
        SOON(cython.address(S.rows[S.lines[L].row]))
        SOON(cython.address(S.pool[S.lines[L].points]))
    memcpy(cython.address(S.got[0]), cython.address(S.run[i]), 8)
    memcpy(cython.address(S.got[1]), cython.address(S.ag[S.run[i + 1] + 1]), 8)
    memcpy(cython.address(S.got[2]), cython.address(S.ag[S.run[i + 1] + 3]), 8)
    S.ran = i + 2


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def to_evaluate(S: STATE, level: i64, L: i64, t: i64, mask: i64) -> cython.void:
    if t > S.q:
        timer(S, L, t)  # what a deadline is about comes when it is due
    elif S.cyclic[level] != 0:
        sooner(S, level, 2 * t, L, mask)
    else:
        push(S, 2 * level, L, t, mask)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def dirty(S: STATE, L: i64, a: i64, z: i64) -> cython.void:
    """Something about L is other in [a, z]. On-time regions of a line become one, and so do late
    ones that are close to each other and come soon after each other.
    """
    level: i64 = S.cols[S.lines[L].col * FIELDS + C_LEVEL]
    if is_foreign(S, L) != 0:
        return
    if a < S.settled and S.cols[S.lines[L].col * FIELDS + C_OUT] != 0:
        if z < S.settled:
            return
        a = S.settled
    if a < S.origin:
        a = S.origin
    if S.cyclic[level] != 0:
        a = after(S, a) - 1  # all points of a cell come before
        if S.lines[L].dirty != a - S.origin + 1:
            S.lines[L].dirty = a - S.origin + 1
            sooner(S, level, 2 * a + 1, L, z)
        return
    mark: i64 = a - S.origin + 1
    if a > S.qprev:
        w: i64 = S.lines[L].dirty
        if w == 0:
            S.lines[L].dirty = mark
            push(S, 2 * level + 1, L, -INF, INF)
        elif mark < w:
            S.lines[L].dirty = mark
    elif joined(S, L, a, z) == 0:
        push(S, 2 * level + 1, L, a, z)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def joined(S: STATE, L: i64, a: i64, z: i64) -> i64:
    """Is [a, z] part of a region of L that waits now? It is, if one of the last is near: to go
    through what lies between costs less than to begin again.
    """
    near: i64 = S.q - S.qprev
    h: i64 = S.nag - 4
    last: i64 = h - 4 * LOOK_BACK if h > 4 * LOOK_BACK else 4
    while h >= last:
        if S.ag[h + 1] == L and S.ag[h + 2] != -INF:
            if a - near > S.ag[h + 3] or z < S.ag[h + 2] - near:
                return 0
            if a < S.ag[h + 2]:
                S.ag[h + 2] = a
            if z > S.ag[h + 3]:
                S.ag[h + 3] = z
            return 1
        h -= 4
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def timer(S: STATE, L: i64, t: i64) -> cython.void:
    """The line must be looked at again at t."""
    known: i64 = S.lines[L].timer
    if known != 0 and known <= t - S.start:
        return
    S.lines[L].timer = t - S.start
    i: i64 = S.ntimers
    words_room(cython.address(S.timers), cython.address(S.timers_size), (i + 1) * 2)
    S.ntimers = i + 1
    while i > 0:
        up: i64 = (i - 1) >> 1
        if S.timers[up * 2] <= t:
            break
        S.timers[i * 2] = S.timers[up * 2]
        S.timers[i * 2 + 1] = S.timers[up * 2 + 1]
        i = up
    S.timers[i * 2] = t
    S.timers[i * 2 + 1] = L


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def pop_timer(S: STATE) -> i64:
    L: i64 = S.timers[1]
    n: i64 = S.ntimers - 1
    S.ntimers = n
    t: i64 = S.timers[n * 2]
    x: i64 = S.timers[n * 2 + 1]
    i: i64 = 0
    while True:
        c: i64 = 2 * i + 1
        if c >= n:
            break
        if c + 1 < n and S.timers[c * 2 + 2] < S.timers[c * 2]:
            c += 1
        if S.timers[c * 2] >= t:
            break
        S.timers[i * 2] = S.timers[c * 2]
        S.timers[i * 2 + 1] = S.timers[c * 2 + 1]
        i = c
    S.timers[i * 2] = t
    S.timers[i * 2 + 1] = x
    return L
