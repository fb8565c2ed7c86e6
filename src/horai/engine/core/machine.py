# mypy: ignore-errors
# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, infer_types=True
"""The machine: lines of instances, rules as instructions, inertia, interval lists, agenda.

Compiled ahead of time by Cython; `machine.pxd` declares its numbers and structs. Everything is a
64-bit integer: words of terms (`words.py`), times, lines, rows. Memory grows by `realloc`, so
nothing is held by address but `S`, the state, itself.

A *line* is all that is known of one instance in one column: points and spans. Points of events are
(state, see below, after their time); points of fluents (time, value, counts of initiations and of
terminations); points of input fluents (start, end). Spans are (start, end, value). A *row* is an
instance, with a line for each column of its table; it is found by the words of its key.
"""

import cython
from cython.cimports.cpython.exc import PyErr_CheckSignals
from cython.cimports.libc.stdlib import abort, calloc, free, realloc
from cython.cimports.libc.math import ceil, fabs, floor, sqrt, trunc
from cython.cimports.libc.string import memcmp, memcpy, memmove, memset

# The state of a point of an event: how often it was said; a bit for each rule that fired, for each
# that waits and for each whose conditions on facts are met; and whether no rule has looked at it
# yet. Then the place of what its rules said, where some have to remember it, and its arguments.


# --- memory -------------------------------------------------------------------------------------


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def room(p: VOIDS, size: WORDS, need: i64, width: i64) -> i64:
    """Room for `need` elements."""
    if need <= size[0]:
        return 0
    more = need + SPARE(need)
    p[0] = realloc(p[0], more * width)
    if p[0] == cython.NULL:
        out_of_memory()
    size[0] = more
    return 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def words_room(p: WORDSS, size: WORDS, need: i64) -> i64:
    return room(cython.cast(VOIDS, p), size, need, 8)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def alloc(S: STATE, k: i64) -> i64:
    """A piece of the pool of a size: 8, 12, 16, 24... words."""
    h: i64 = S.free[k]
    if h != 0:
        S.free[k] = S.pool[h]
        S.spare -= PIECE(k)
        return h
    h = S.top
    words_room(cython.address(S.pool), cython.address(S.pool_size), h + PIECE(k))
    S.top = h + PIECE(k)
    return h


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def dispose(S: STATE, h: i64, k: i64) -> cython.void:
    S.pool[h] = S.free[k]
    S.free[k] = h
    S.spare += PIECE(k)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def points_room(S: STATE, L: i64, need: i64) -> i64:
    """Room for `need` more words in the points of a line; where they are."""
    off: i64 = S.lines[L].points
    n: i64 = S.lines[L].np
    k: i64 = S.lines[L].cp
    if off != 0 and n + need <= PIECE(k):
        return off
    nk: i64 = k if off != 0 else 0
    while n + need > PIECE(nk):
        nk += 1
    new: i64 = alloc(S, nk)
    if off != 0:
        memcpy(cython.address(S.pool[new]), cython.address(S.pool[off]), n * 8)
        dispose(S, off, k)
    S.lines[L].points = new
    S.lines[L].cp = nk
    return new


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def spans_room(S: STATE, L: i64, need: i64) -> i64:
    """The same for spans."""
    off: i64 = S.lines[L].spans
    n: i64 = S.lines[L].ns
    k: i64 = S.lines[L].cs & ~BARRED
    if off != 0 and n + need <= PIECE(k):
        return off
    nk: i64 = k if off != 0 else 0
    while n + need > PIECE(nk):
        nk += 1
    new: i64 = alloc(S, nk)
    if off != 0:
        memcpy(cython.address(S.pool[new]), cython.address(S.pool[off]), n * 8)
        dispose(S, off, k)
    S.lines[L].spans = new
    S.lines[L].cs = nk | (S.lines[L].cs & BARRED)
    return new


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def move(S: STATE, dst: i64, src: i64, n: i64) -> cython.void:
    memmove(cython.address(S.pool[dst]), cython.address(S.pool[src]), n * 8)


# --- searching ----------------------------------------------------------------------------------


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


# --- the grid of time ---------------------------------------------------------------------------


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


# --- instances ----------------------------------------------------------------------------------


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def hashed(words: WORDS, n: i64, seed: i64) -> i64:
    h: i64 = seed * HASH_A + 0x51ED270B
    i: i64 = 0
    while i < n:
        h = (h ^ words[i]) * HASH_B
        h ^= (h >> 29) & MAX32
        i += 1
    return h & POSITIVE


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def find_row(S: STATE, table: i64, key: WORDS) -> i64:
    """The row of an instance; -1 if there is none."""
    nk: i64 = S.tables[table * 8 + T_KEYS]
    h: i64 = hashed(key, nk, table)
    at: i64 = h & S.mask
    while S.slots[at] != 0:
        r: i64 = S.slots[at] - 1
        if S.rows[r].table == table:
            k: i64 = S.rows[r].key
            i: i64 = 0
            while i < nk and S.keys[k + i] == key[i]:
                i += 1
            if i == nk:
                return r
        at = (at + 1) & S.mask
    return -1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def rehash(S: STATE) -> cython.void:
    size: i64 = (S.mask + 1) * 2
    free(S.slots)
    S.slots = cython.cast(INTS, calloc(size, 4))
    if S.slots == cython.NULL:
        out_of_memory()
    S.mask = size - 1
    r: i64 = 0
    while r < S.nrows:
        table: i64 = S.rows[r].table
        h: i64 = hashed(cython.address(S.keys[S.rows[r].key]), S.tables[table * 8 + T_KEYS], table)
        at: i64 = h & S.mask
        while S.slots[at] != 0:
            at = (at + 1) & S.mask
        S.slots[at] = r + 1
        r += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def shard_of(S: STATE, table: i64, key: WORDS) -> i64:
    """The machine that a row with this key belongs to, where there are several."""
    if S.shards == 0 or S.where[table] < 0:
        return 0
    return (hashed(cython.address(key[S.where[table]]), 1, 1) >> 20) % S.shards


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def is_foreign(S: STATE, L: i64) -> i64:
    """Does a line belong to another machine?"""
    return 1 if S.shards != 0 and S.rows[S.lines[L].row].home < 0 else 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def settle_home(S: STATE, r: i64) -> cython.void:
    """Give a row for items the home of those with the same word in their key, at a place of the
    table's: what happens to them belongs together. The slots of `homes` are the first row of each.
    """
    S.rows[r].home = 0
    if S.shards != 0:
        whose: i64 = shard_of(S, S.rows[r].table, cython.address(S.keys[S.rows[r].key]))
        if whose != S.shard:
            S.rows[r].home = -1 - whose
            return
    place: i64 = S.tables[S.rows[r].table * 8 + T_HOME]
    if place < 0:
        return
    word: i64 = S.keys[S.rows[r].key + place]
    at: i64 = hashed(cython.address(word), 1, 0) & S.homemask
    while S.homes[at] != 0:
        other: i64 = S.homes[at] - 1
        place = S.tables[S.rows[other].table * 8 + T_HOME]
        if S.keys[S.rows[other].key + place] == word:
            S.rows[r].home = S.rows[other].home
            return
        at = (at + 1) & S.homemask
    S.homes[at] = r + 1
    S.nhomes += 1
    S.rows[r].home = S.nhomes
    if S.nhomes * 2 > S.homemask:
        free(S.homes)
        S.homemask = 2 * S.homemask + 1
        S.homes = cython.cast(INTS, calloc(S.homemask + 1, 4))
        if S.homes == cython.NULL:
            out_of_memory()
        S.nhomes = 0
        r = 0
        while r < S.nrows:
            settle_home(S, r)
            r += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def make_row(S: STATE, table: i64, key: WORDS) -> i64:
    """The row of an instance, made if there is none. `key` must not lie in `S.keys`."""
    r: i64 = find_row(S, table, key)
    if r >= 0:
        return r
    T: i64 = table * 8
    nk: i64 = S.tables[T + T_KEYS]
    nc: i64 = S.tables[T + T_COLUMNS]
    indexes: i64 = S.tables[T + T_INDEXES]
    ni: i64 = S.args[indexes] if indexes != 0 else 0
    nw: i64 = nk + ni + S.tables[T + T_REFS]
    r = S.nrows
    room(
        cython.cast(VOIDS, cython.address(S.rows)),
        cython.address(S.rows_size),
        r + 1,
        cython.sizeof(Row),
    )
    words_room(cython.address(S.keys), cython.address(S.keys_size), S.nkeys + nw)
    room(
        cython.cast(VOIDS, cython.address(S.lines)),
        cython.address(S.lines_size),
        S.nlines + nc,
        cython.sizeof(Line),
    )
    S.nrows = r + 1
    S.rows[r].table = table
    S.rows[r].line = S.nlines
    S.rows[r].key = S.nkeys
    memcpy(cython.address(S.keys[S.nkeys]), key, nk * 8)
    i: i64 = nk
    while i < nw:
        S.keys[S.nkeys + i] = -1
        i += 1
    S.nkeys += nw
    memset(cython.address(S.lines[S.nlines]), 0, nc * cython.sizeof(Line))
    i = 0
    while i < nc:
        S.lines[S.nlines + i].row = r
        S.lines[S.nlines + i].col = S.tables[T + T_FIRST] + i
        i += 1
    S.nlines += nc
    settle_home(S, r)
    if S.shards != 0:
        begin_hearing(S, r, nc)
    if S.nrows * 2 > S.mask:
        rehash(S)
    else:
        h: i64 = hashed(key, nk, table)
        at: i64 = h & S.mask
        while S.slots[at] != 0:
            at = (at + 1) & S.mask
        S.slots[at] = r + 1
    # It is a member of a bucket of every index of its table.
    i = 0
    while i < ni:
        bucket: i64 = bucket_of_row(S, r, S.args[indexes + 1 + i])
        S.keys[S.rows[r].key + nw - ni + i] = bucket
        off: i64 = points_room(S, bucket, 1)
        S.pool[off + S.lines[bucket].np] = r
        S.lines[bucket].np += 1
        i += 1
    return r


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def bucket_of_row(S: STATE, r: i64, index: i64) -> i64:
    """The line of the bucket of a row; an index is (table of buckets, places of its keys...)."""
    key: WORDS = S.key
    table: i64 = S.args[index]
    n: i64 = S.tables[table * 8 + T_KEYS]
    i: i64 = 0
    while i < n:
        key[i] = S.keys[S.rows[r].key + S.args[index + 1 + i]]
        i += 1
    made: i64 = make_row(S, table, key)
    return S.rows[made].line


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def row_of_registers(S: STATE, table: i64, p: i64, make: i64) -> i64:
    """The row whose key is in the registers that a list of arguments names."""
    key: WORDS = S.key
    n: i64 = S.tables[table * 8 + T_KEYS]
    i: i64 = 0
    while i < n:
        key[i] = S.reg[S.args[p + 1 + i]]
        i += 1
    if make != 0:
        return make_row(S, table, key)
    return find_row(S, table, key)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def link(S: STATE, L: i64, site: i64, target: i64) -> i64:
    """Whoever drives `target` looks at line L, in the way of a site. Is that new?"""
    h: i64 = L * HASH_A + site * HASH_B + target * HASH_C
    h ^= (h >> 31) & MAX32
    at: i64 = h & S.linkmask
    while S.linkslots[at] != 0:
        k: i64 = S.linkslots[at]
        if S.links[k].line == L and S.links[k].site == site and S.links[k].target == target:
            if S.links[k].when < S.reg[0] >> 1:
                S.links[k].when = S.reg[0] >> 1
            return 0
        at = (at + 1) & S.linkmask
    n: i64 = S.nlinks
    room(
        cython.cast(VOIDS, cython.address(S.links)),
        cython.address(S.links_size),
        n + 1,
        cython.sizeof(Link),
    )
    S.nlinks = n + 1
    S.links[n].line = L
    S.links[n].site = site
    S.links[n].target = target
    S.links[n].when = S.reg[0] >> 1
    S.links[n].next = S.lines[L].links
    S.lines[L].links = n
    S.linkslots[at] = n
    if is_foreign(S, L) != 0:
        tell_owner(S, S.lines[L].row, HEARS)
    if S.nlinks * 2 > S.linkmask:
        relink(S)
    return 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def relink(S: STATE) -> cython.void:
    size: i64 = (S.linkmask + 1) * 2
    free(S.linkslots)
    S.linkslots = cython.cast(INTS, calloc(size, 4))
    if S.linkslots == cython.NULL:
        out_of_memory()
    S.linkmask = size - 1
    k: i64 = 1
    while k < S.nlinks:
        L: i64 = S.links[k].line
        site: i64 = S.links[k].site
        target: i64 = S.links[k].target
        h: i64 = L * HASH_A + site * HASH_B + target * HASH_C
        h ^= (h >> 31) & MAX32
        at: i64 = h & S.linkmask
        while S.linkslots[at] != 0:
            at = (at + 1) & S.linkmask
        S.linkslots[at] = k
        k += 1


# --- agenda -------------------------------------------------------------------------------------


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
    """Something about L is other in [a, z]. On-time regions of a line become one."""
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
    else:
        push(S, 2 * level + 1, L, a, z)


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


# --- numbers ------------------------------------------------------------------------------------


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def real_of(S: STATE, w: i64) -> cython.double:
    """The number that a word stands for; `S.failed` is set if it is none, or a very large one."""
    if w & 1:
        return cython.cast(cython.double, w >> 1)
    if w & 2:
        return flonum(w)
    place: i64 = w >> 2
    if 0 <= place < S.nsymbols and S.numeric[place] == 1:
        return S.reals[place]
    S.failed = 1
    if 0 <= place < S.nsymbols and S.numeric[place] == 2:
        S.failed = BEYOND
        return S.reals[place]
    return 0.0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def computed(S: STATE, op: i64, x: i64, y: i64) -> i64:
    """Python computes and compares where doubles and words are too short; -1 - op is a function.

    `S.failed` is set where there is no value.
    """
    found: i64 = 0
    S.failed = 1
    with cython.gil:
        try:
            word = cython.cast(object, S.owner).computed(op, x, y)
            if word is not None:
                found = word
                S.failed = 0
        except BaseException as error:
            cython.cast(object, S.owner).failure(error)
            S.error = 2
    return found


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def is_exact(d: cython.double) -> i64:
    """Is a whole number the only one that comes to this double?"""
    return -EXACT < d < EXACT


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def flonum(w: i64) -> cython.double:
    """A decimal of the words that hold one, as Ruby has them: all bits but two of the exponent."""
    u: U64 = cython.cast(U64, w)
    if u == ZERO:
        return 0.0
    top: U64 = u >> 63
    bits: U64 = (2 - top) | (u & REST)
    bits = (bits >> 3) | (bits << 61)
    return cython.cast(cython.pointer(cython.double), cython.address(bits))[0]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def word_of_real(S: STATE, d: cython.double) -> i64:
    if d == 0.0:
        return cython.cast(i64, ZERO)
    u: U64 = cython.cast(cython.pointer(U64), cython.address(d))[0]
    top: U64 = (u >> 60) & 7
    if u != SMALL and (top == 3 or top == 4):
        return cython.cast(i64, (((u << 3) | (u >> 61)) & REST) | 2)
    return word_of_odd_real(S, d)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def listen(S: STATE) -> cython.void:
    """Let Python hear of Ctrl-C and other signals: a step may take long."""
    with cython.gil:
        try:
            PyErr_CheckSignals()
        except BaseException as error:
            cython.cast(object, S.owner).failure(error)
            S.error = 2


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def worked(S: STATE) -> cython.void:
    """Something has been looked at; now and then there is somebody to listen to."""
    S.work += 1
    if S.work & OFTEN == 0:
        listen(S)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def word_of_odd_real(S: STATE, d: cython.double) -> i64:
    """Very large, very small, infinite: these have a place in the table of terms."""
    found: i64 = 1
    with cython.gil:
        try:
            found = cython.cast(object, S.owner).interned(d)
        except BaseException as error:
            cython.cast(object, S.owner).failure(error)
            S.error = 2
    return found


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def compared(S: STATE, op: i64, x: i64, y: i64) -> i64:
    """Is it true of two numbers? Words of two whole numbers are in order, and so are those of two
    decimals that are not negative.
    """
    if ((x & 1) and (y & 1)) or ((x & 7) == 2 and (y & 7) == 2):
        if op == CLT:
            return x < y
        if op == CLE:
            return x <= y
        if op == CEQ:
            return x == y
        return x != y
    return compared_reals(S, op, x, y)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def compared_reals(S: STATE, op: i64, x: i64, y: i64) -> i64:
    S.failed = 0
    u: cython.double = real_of(S, x)
    v: cython.double = real_of(S, y)
    if S.failed == BEYOND or (u == v and is_exact(u) == 0):
        return computed(S, op, x, y)
    if S.failed != 0:
        return 0
    if op == CLT:
        return u < v
    if op == CLE:
        return u <= v
    if op == CEQ:
        return u == v
    return u != v


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def compute(S: STATE, op: i64, x: i64, y: i64) -> i64:
    """Arithmetic on words; `S.failed` is set where there is no value."""
    if (x & 1) and (y & 1):
        a: i64 = x >> 1
        b: i64 = y >> 1
        r: i64 = 0
        if op == ADD:
            r = a + b
        elif op == SUB:
            r = a - b
        elif op == MIN:
            r = a if a < b else b
        elif op == MAX:
            r = a if a > b else b
        elif op == MUL:
            d: cython.double = cython.cast(cython.double, a) * cython.cast(cython.double, b)
            if d > 1e18 or d < -1e18:
                return computed(S, op, x, y)
            r = a * b
        else:
            if op == DIV:
                if b != 0 and a % b == 0:
                    return 2 * (a // b) + 1
                S.failed = 1 if b == 0 else 0
                if b == 0:
                    return 1
                one: cython.double = cython.cast(cython.double, a)
                other: cython.double = cython.cast(cython.double, b)
                if is_exact(one) == 0 or is_exact(other) == 0:
                    return computed(S, op, x, y)
                return word_of_real(S, one / other)
            if b == 0:
                S.failed = 1
                return 1
            if op == IDIV:
                r = a // b
            else:
                r = a % b
                if r != 0 and ((r < 0) != (b < 0)):
                    r += b
        if r >= LARGEST or r <= -LARGEST:
            return computed(S, op, x, y)
        return 2 * r + 1
    u: cython.double = real_of(S, x)
    v: cython.double = real_of(S, y)
    if S.failed == BEYOND or (op in (MIN, MAX) and u == v and is_exact(u) == 0):
        return computed(S, op, x, y)
    if S.failed != 0:
        return 1
    r_: cython.double = 0.0
    if op == ADD:
        r_ = u + v
    elif op == SUB:
        r_ = u - v
    elif op == MUL:
        r_ = u * v
    elif op == MIN:
        # Of equal ones the decimal, as for the largest the whole number, whatever the order.
        return x if u < v or (u == v and (x & 1) == 0) else y
    elif op == MAX:
        return x if u > v or (u == v and (x & 1) != 0) else y
    elif op == DIV and v != 0.0:
        r_ = u / v
    else:
        S.failed = 1
        return 1
    if r_ == r_:
        return word_of_real(S, r_)
    S.failed = 1
    return 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def function(S: STATE, number: i64, x: i64) -> i64:
    """A function of one number, in the order of `FUNCTIONS`."""
    if (x & 1) and number < 5:
        return x
    u: cython.double = real_of(S, x)
    if S.failed == BEYOND:
        return computed(S, -1 - number, x, x)
    if S.failed != 0:
        return 1
    if number == 6:
        return word_of_real(S, u)
    if number == 5:
        if u < 0:
            S.failed = 1
            return 1
        return word_of_real(S, sqrt(u))
    if number == 0:
        u = floor(u)
    elif number == 1:
        u = ceil(u)
    elif number == 2:
        u = trunc(u)
    else:
        # To the nearest whole number, halves away from zero.
        v: cython.double = floor(fabs(u))
        if fabs(u) - v >= 0.5:
            v += 1
        u = v if u >= 0 else -v
    if not (-1e18 < u < 1e18):
        return computed(S, -1 - number, x, x)
    return 2 * cython.cast(i64, u) + 1


# --- what rules say -----------------------------------------------------------------------------


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def add_point(S: STATE, L: i64, t: i64, v: i64, sh: i64, d: i64) -> cython.void:
    """One derivation more (d = 1) or less (-1) of an initiation or termination of value v."""
    g: i64 = S.lines[L].col * FIELDS
    if is_foreign(S, L) != 0:
        at: i64 = letter(S, L, NEW_POINT, 4)
        S.letters[at] = t
        S.letters[at + 1] = v
        S.letters[at + 2] = sh
        S.letters[at + 3] = d
        return
    off: i64 = points_room(S, L, 3)
    n: i64 = S.lines[L].np
    i: i64 = n
    if n > 0 and S.pool[off + n - 3] >= t:
        i = first_at(S, off, n, t, 3)
        while i < n and S.pool[off + i] == t and S.pool[off + i + 1] != v:
            i += 3
    if i < n and S.pool[off + i] == t:
        w: i64 = S.pool[off + i + 2]
        before: i64 = (w >> sh) & 0x3FFFFFFF
        w += d << sh
        S.pool[off + i + 2] = w
        after: i64 = (w >> sh) & 0x3FFFFFFF
        if w == 0:
            move(S, off + i, off + i + 3, n - i - 3)
            S.lines[L].np = n - 3
        if before != 0 and after != 0:
            return  # said twice: nothing has changed
    elif d < 0:
        S.error = 3
        return
    else:
        if i < n:
            move(S, off + i + 3, off + i, n - i)
        S.pool[off + i] = t
        S.pool[off + i + 1] = v
        S.pool[off + i + 2] = cython.cast(i64, 1) << sh
        S.lines[L].np = n + 3
    seen: i64 = S.cols[g + C_INITS] if sh == INITIATED else S.cols[g + C_TERMS]
    if seen != 0:
        emit_event(S, L + seen, t, cython.address(v), d)
    if t > S.q:
        timer(S, L, t)
    else:
        dirty(S, L, t, t)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def emit_event(S: STATE, L: i64, t: i64, args: WORDS, d: i64) -> cython.void:
    """A derived event at t is said once more, or once less; its rules follow later."""
    g: i64 = S.lines[L].col * FIELDS
    stride: i64 = S.cols[g + C_STRIDE]
    head: i64 = S.cols[g + C_HEAD]
    level: i64 = S.cols[g + C_LEVEL]
    if is_foreign(S, L) != 0:
        at: i64 = letter(S, L, NEW_EVENT, 2 + stride - head)
        S.letters[at] = t
        S.letters[at + 1] = d
        memcpy(cython.address(S.letters[at + 2]), args, (stride - head) * 8)
        return
    i: i64 = find_event(S, L, t, args, stride, head)
    off: i64 = S.lines[L].points
    if i >= 0:
        w: i64 = S.pool[off + i + 1]
        count: i64 = w & 0xFFFF
        if count + d < 0 or count + d > 0xFFFF:
            S.error = 3
            return
        S.pool[off + i + 1] = w + d
        if count != 0 and count + d != 0:
            return
        if (w & FRESH) == 0:
            S.pool[off + i + 1] |= FRESH
            to_evaluate(S, level, L, t, -1)
    elif d < 0:
        S.error = 3
        return
    else:
        put_event(S, L, t, args, stride, head, 1 | FRESH)
        to_evaluate(S, level, L, t, -1)
    if t > S.q:
        return  # nobody sees it before its time
    if S.cols[g + C_OUT] != 0:
        log_event(S, L, t, d)
    changed(S, L, ANY, t, t + 1)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def log_event(S: STATE, L: i64, t: i64, d: i64) -> cython.void:
    n: i64 = S.nlog
    words_room(cython.address(S.log), cython.address(S.log_size), n + 3)
    S.log[n] = d
    S.log[n + 1] = L + S.named
    S.log[n + 2] = t
    S.nlog = n + 3


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def find_event(S: STATE, L: i64, t: i64, args: WORDS, stride: i64, head: i64) -> i64:
    off: i64 = S.lines[L].points
    n: i64 = S.lines[L].np
    if n == 0 or S.pool[off + n - stride] < t:
        return -1
    i: i64 = first_at(S, off, n, t, stride)
    while i < n and S.pool[off + i] == t:
        k: i64 = head
        while k < stride and S.pool[off + i + k] == args[k - head]:
            k += 1
        if k == stride:
            return i
        i += stride
    return -1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def put_event(S: STATE, L: i64, t: i64, args: WORDS, stride: i64, head: i64, state: i64) -> i64:
    off: i64 = points_room(S, L, stride)
    n: i64 = S.lines[L].np
    i: i64 = n
    if n > 0 and S.pool[off + n - stride] > t:
        i = first_at(S, off, n, t + 1, stride)
        move(S, off + i + stride, off + i, n - i)
    S.pool[off + i] = t
    S.pool[off + i + 1] = state
    if head == 3:
        S.pool[off + i + 2] = 0
    k: i64 = head
    while k < stride:
        S.pool[off + i + k] = args[k - head]
        k += 1
    S.lines[L].np = n + stride
    return i


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def apply_said(S: STATE, at: i64, n: i64, d: i64) -> cython.void:
    """Say what the buffer holds (bit, kind, line, time, value), or take it back."""
    i: i64 = 0
    while i < n:
        if S.em[at + i + 1] == EVENT_SAID:
            emit_event(S, S.em[at + i + 2], S.em[at + i + 3], cython.address(S.em[at + i + 4]), d)
        elif S.em[at + i + 1] == SPAN_SAID:
            end: i64 = S.em[at + i + 4]
            end = INF if end == ANY else end >> 1
            input_interval(S, d, S.em[at + i + 2], S.em[at + i + 3], end)
        else:
            add_point(S, S.em[at + i + 2], S.em[at + i + 3], S.em[at + i + 4], S.em[at + i + 1], d)
        i += 5


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def drop_said(S: STATE, h: i64) -> cython.void:
    """Let go of a remembered list: (class, words, what was said...)."""
    dispose(S, h, S.pool[h])


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def say_again(S: STATE, L: i64, i: i64, mask: i64) -> cython.void:
    """The rules of `mask` that remember now say what is in the buffer, instead of before."""
    h: i64 = S.pool[S.lines[L].points + i + 2]
    new: i64 = S.nem
    n: i64 = new
    if h != 0:
        # After the new, the old: first that of other rules, then that of these.
        size: i64 = S.pool[h + 1]
        words_room(cython.address(S.em), cython.address(S.em_size), new + size + 8)
        j: i64 = 0
        while j < size:
            if ((mask >> S.pool[h + 2 + j]) & 1) == 0:
                memcpy(cython.address(S.em[n]), cython.address(S.pool[h + 2 + j]), 40)
                n += 5
            j += 5
        both: i64 = n
        j = 0
        while j < size:
            if ((mask >> S.pool[h + 2 + j]) & 1) != 0:
                memcpy(cython.address(S.em[n]), cython.address(S.pool[h + 2 + j]), 40)
                n += 5
            j += 5
        old: i64 = n - both
        same: i64 = 1 if old == new else 0
        j = 0
        while same != 0 and j < new:
            if S.em[j] != S.em[both + j]:
                same = 0
            j += 1
        if same != 0:
            return
        keep_said(S, L, i, both)
        apply_said(S, 0, new, 1)
        apply_said(S, both, old, -1)
    elif new != 0:
        keep_said(S, L, i, new)
        apply_said(S, 0, new, 1)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def keep_said(S: STATE, L: i64, i: i64, n: i64) -> cython.void:
    """Remember the first n words of the buffer."""
    h: i64 = S.pool[S.lines[L].points + i + 2]
    if h != 0 and (n == 0 or n + 2 > PIECE(S.pool[h])):
        drop_said(S, h)
        h = 0
    if n != 0:
        if h == 0:
            k: i64 = 0
            while n + 2 > PIECE(k):
                k += 1
            h = alloc(S, k)
            S.pool[h] = k
        S.pool[h + 1] = n
        memcpy(cython.address(S.pool[h + 2]), cython.address(S.em[0]), n * 8)
    S.pool[S.lines[L].points + i + 2] = h


# --- instructions -------------------------------------------------------------------------------


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def find_fact(S: STATE, index: i64, p: i64) -> i64:
    """The slot of the rows with the keys in some registers; -1 if there are none.

    An index is (mask, keys, columns, slots, rows); a slot is (first row + 1, how many).
    """
    F: i64 = index
    nk: i64 = S.facts[F + 1]
    nc: i64 = S.facts[F + 2]
    rows: i64 = S.facts[F + 4]
    key: WORDS = S.key
    i: i64 = 0
    while i < nk:
        key[i] = S.reg[S.args[p + 1 + i]]
        i += 1
    at: i64 = hashed(key, nk, 0) & S.facts[F]
    while True:
        slot: i64 = S.facts[F + 3] + at * 2
        r: i64 = S.facts[slot]
        if r == 0:
            return -1
        base: i64 = rows + (r - 1) * nc
        i = 0
        while i < nk and S.facts[base + i] == key[i]:
            i += 1
        if i == nk:
            return slot
        at = (at + 1) & S.facts[F]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def load_fact(S: STATE, index: i64, p: i64, row: i64) -> cython.void:
    """Columns of a row into registers; after its keys, a list has (column, register)..."""
    at: i64 = p + 1 + S.args[p]
    n: i64 = S.args[at]
    base: i64 = S.facts[index + 4] + row * S.facts[index + 2]
    i: i64 = 0
    while i < n:
        S.reg[S.args[at + 2 + 2 * i]] = S.facts[base + S.args[at + 1 + 2 * i]]
        i += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def ask(S: STATE, number: i64, p: i64) -> i64:
    """The place of the answer of Python to a question: (solutions, width, words...)."""
    n: i64 = S.args[p]
    key: WORDS = S.key
    i: i64 = 0
    while i < n:
        key[i] = S.reg[S.args[p + 1 + i]]
        i += 1
    return answer_of(S, number, key, n)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def answer_of(S: STATE, number: i64, key: WORDS, n: i64) -> i64:
    """The same for given words."""
    i: i64 = 0
    at: i64 = hashed(key, n, number) & S.memomask
    while S.memoslots[at] != 0:
        h: i64 = S.memoslots[at]
        if S.memo[h] == number:
            i = 0
            while i < n and S.memo[h + 2 + i] == key[i]:
                i += 1
            if i == n:
                return h + 2 + n
        at = (at + 1) & S.memomask
    if S.dry != 0:
        at = S.nwishes
        words_room(cython.address(S.wishes), cython.address(S.wishes_size), at + n + 2)
        S.wishes[at] = number
        S.wishes[at + 1] = n
        memcpy(cython.address(S.wishes[at + 2]), cython.address(key[0]), n * 8)
        S.nwishes = at + n + 2
        return 0
    with cython.gil:
        try:
            given = [key[i] for i in range(n)]
            cython.cast(object, S.owner).answered(number, given)
        except BaseException as error:
            cython.cast(object, S.owner).failure(error)
            S.error = 2
    if S.error != 0:
        return 0
    # The answer is at the end of the memo; the table may have grown.
    return S.memolast


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def is_form(S: STATE, v: i64) -> i64:
    """Does a word stand for all values of a form?"""
    if (v & 3) != 0 or v < 0 or (v >> 2) >= S.nsymbols:
        return 0
    return 1 if S.numeric[v >> 2] == FORM else 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def covers(S: STATE, v: i64, w: i64) -> i64:
    """Is value w among those that v stands for: itself, all of them, or those of a form?"""
    if v in (ANY, w):
        return 1
    if is_form(S, v) == 0 or w in (ANY, GHOST):
        return 0
    key: i64[2]
    key[0] = v
    key[1] = w
    k: i64 = answer_of(S, FORMS, cython.address(key[0]), 2)
    return 1 if k != 0 and S.memo[k] != 0 else 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def without_value(S: STATE, p: i64) -> cython.void:
    """An expression has no value; the list at p says of what to tell, unless that is known."""
    S.failed = 0
    if p == 0 or S.args[p] == 0 or S.error != 0:
        return
    with cython.gil:
        try:
            words = [S.reg[S.args[p + 3 + i]] for i in range(S.args[p + 2])]
            S.args[p] = cython.cast(object, S.owner).without_value(S.args[p + 1], words)
        except BaseException as error:
            cython.cast(object, S.owner).failure(error)
            S.error = 2


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def different(S: STATE, first: i64, width: i64) -> cython.void:
    """Leave each of the solutions from `first` on once."""
    n: i64 = (S.nbag - first) // width
    size: i64 = 16
    while size < 2 * n:
        size *= 2
    words_room(cython.address(S.seen), cython.address(S.seen_size), size)
    memset(S.seen, 0, size * 8)
    kept: i64 = 0
    i: i64 = 0
    while i < n:
        row: WORDS = cython.address(S.bag[first + i * width])
        at: i64 = hashed(row, width, 0) & (size - 1)
        while S.seen[at] != 0:
            same: i64 = first + (S.seen[at] - 1) * width
            if memcmp(row, cython.address(S.bag[same]), width * 8) == 0:
                break
            at = (at + 1) & (size - 1)
        if S.seen[at] == 0:
            if kept != i:
                memcpy(cython.address(S.bag[first + kept * width]), row, width * 8)
            kept += 1
            S.seen[at] = kept
        i += 1
    S.nbag = first + kept * width


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def counted(S: STATE, first: i64, width: i64, kind: i64, column: i64) -> i64:
    """How many solutions there are, or what whole numbers are together; 0 if Python has to say."""
    if kind == TOTAL_COUNT:
        S.answer = 2 * ((S.nbag - first) // width) + 1
        return 1
    if S.nbag == first:
        S.answer = 1
        return kind == TOTAL_SUM
    i: i64 = first + column
    best: i64 = S.bag[i]
    sum: i64 = 0
    while i < S.nbag:
        word: i64 = S.bag[i]
        if (word & 1) == 0:
            return 0
        if (kind == TOTAL_MAX and word > best) or (kind == TOTAL_MIN and word < best):
            best = word
        sum += word >> 1
        if sum >= LARGEST or sum <= -LARGEST:
            return 0
        i += width
    S.answer = 2 * sum + 1 if kind == TOTAL_SUM else best
    return 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def total(S: STATE, number: i64, first: i64, p: i64) -> i64:
    """What the solutions that were gathered are together: a word, or none."""
    width: i64 = S.args[p]
    found: i64 = 0
    different(S, first, width)
    if S.args[p + 1] != TOTAL_OTHER and counted(S, first, width, S.args[p + 1], S.args[p + 2]) != 0:
        return 1
    with cython.gil:
        try:
            given = [S.bag[i] for i in range(first, S.nbag)]
            word = cython.cast(object, S.owner).totalled(number, given, width)
            if word is not None:
                S.answer = word
                found = 1
        except BaseException as error:
            cython.cast(object, S.owner).failure(error)
            S.error = 2
    return found


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def list_term(S: STATE, p: i64, v: i64) -> i64:
    """The intervals with a value, or with any, of the lines in some registers, as a term."""
    n: i64 = 0
    k: i64 = S.args[p]
    while k > 0:
        L: i64 = S.reg[S.args[p + k]]
        off: i64 = S.lines[L].spans
        i: i64 = 0
        while i < S.lines[L].ns:
            if v in (ANY, S.pool[off + i + 2]):
                n = put_span(S, n, S.pool[off + i], S.pool[off + i + 1], v)
            i += 3
        k -= 1
    with cython.gil:
        try:
            times = [(S.tmp[k], S.tmp[k + 1]) for k in range(0, n, 3)]
            return cython.cast(object, S.owner).listed(times)
        except BaseException as error:
            cython.cast(object, S.owner).failure(error)
            S.error = 2
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def mark(S: STATE, owner: i64, runs: i64) -> cython.void:
    """The time up to now was that of whoever is marked; from here on it is another's."""
    now: i64 = horai_clock()
    S.spent[3 * S.marked + 2] += now - S.since
    S.since = now
    S.marked = owner
    S.spent[3 * owner] += runs


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def run_rules(S: STATE, pc: i64, L: i64, mask: i64, fired: i64, force: i64, d: i64) -> i64:
    """Evaluate the rules of `mask`; what drives them is in the registers.

    Returns which of them say something now, shifted by PEND which wait, and by MET whose conditions
    on facts are met. With `force` conditions on what changes count as true, and nothing is
    remembered. If `d` is 0, rules say nothing: what they would ask of Python is noted.
    """
    got: i64 = 0
    bit: i64 = 1
    number: i64 = 0
    listed: i64 = 0
    skip: i64 = 0
    first: i64 = S.rows[S.lines[L].row].line
    was: i64 = S.marked
    while True:
        I: WORDS = cython.address(S.code[pc])
        op: i64 = I[0]
        x: i64 = I[1]
        y: i64 = I[2]
        z: i64 = I[3]
        w: i64 = I[4]
        f: i64 = I[5]
        pc += WIDTH
        if (
            d == 0
            and (op == WAIT or op > FNEXT)
            and op not in (OWN, HAS, NOW, INT, AFTER, CALL, CNEXT)
        ):
            # Nothing is said or linked. What cannot be told ends the rule.
            if op == LINE:
                k = row_of_registers(S, z >> 12, y, 0)
                S.reg[x] = S.rows[k].line + (z & 4095) if k >= 0 else 0
                continue
            if op in (SAY, TELL, INTERVAL, WAIT):
                continue
            if op not in (HOLDS, VALUE) or (x >= 0 and S.reg[x] == 0):
                pc = skip
                continue
        if op == RULE:
            number = x
            skip = f
            if (mask >> x) == 0:
                break  # rules are in the order of their bits
            bit = cython.cast(i64, 1) << x
            listed = y if force == 0 else 0
            if (mask & bit) == 0:
                pc = f
        elif op == MARK:
            if z == 0:
                mark(S, x, y if d > 0 else 0)
            elif d > 0 and (listed != 0 or (fired & bit) == 0):
                S.spent[3 * x + 1] += 1
        elif op in (CLT, CLE, CEQ, CNE):
            if compared(S, op, S.reg[x], S.reg[y]) == 0:
                if S.failed != 0:
                    without_value(S, w)
                pc = f
        elif op == FACT:
            k = find_fact(S, y, x)
            if k < 0:
                pc = f
            else:
                load_fact(S, y, x, S.facts[k] - 1)
        elif op == SAY:
            x = S.reg[x] if x >= 0 else first + ~x
            k = S.reg[z] >> 1
            v_: i64 = ANY if y < 0 else S.reg[y]
            if listed != 0:
                got |= bit
                words_room(cython.address(S.em), cython.address(S.em_size), S.nem + 5)
                S.em[S.nem] = number
                S.em[S.nem + 1] = w
                S.em[S.nem + 2] = x
                S.em[S.nem + 3] = k
                S.em[S.nem + 4] = v_
                S.nem += 5
            else:
                got |= bit
                if force != 0 or (fired & bit) == 0:
                    add_point(S, x, k, v_, w, d)
        elif op == TELL:
            x = S.reg[x] if x >= 0 else first + ~x
            k = S.reg[y] >> 1
            if listed != 0:
                got |= bit
                words_room(cython.address(S.em), cython.address(S.em_size), S.nem + 5)
                S.em[S.nem] = number
                S.em[S.nem + 1] = EVENT_SAID
                S.em[S.nem + 2] = x
                S.em[S.nem + 3] = k
                S.em[S.nem + 4] = S.reg[z]
                S.nem += 5
            else:
                got |= bit
                if force != 0 or (fired & bit) == 0:
                    emit_event(S, x, k, cython.address(S.reg[z]), d)
        elif op == INTERVAL:
            # Rules that state intervals remember what they said.
            got |= bit
            words_room(cython.address(S.em), cython.address(S.em_size), S.nem + 5)
            S.em[S.nem] = number
            S.em[S.nem + 1] = SPAN_SAID
            S.em[S.nem + 2] = S.reg[x]
            S.em[S.nem + 3] = S.reg[y] >> 1
            S.em[S.nem + 4] = S.reg[z]
            S.nem += 5
        elif op == LISTOF:
            S.reg[x] = list_term(S, y, S.reg[z])
        elif op == OWN:
            S.reg[x] = first + y
        elif op == WAIT:
            if force == 0:
                # Points wait once for a level, where all rules that wait there are evaluated.
                if (fired & (z << PEND)) == 0:
                    to_evaluate(S, y, L, S.reg[0] >> 1, z)
                fired |= z << PEND
                bit = cython.cast(i64, 1) << x
                got |= (bit << PEND) | (bit << MET)
                bit = 1
        elif op == TRUE:
            if force != 0:
                pc = f
        elif op == LDC:
            S.reg[x] = y
        elif op == MOV:
            S.reg[x] = S.reg[y]
        elif op == EQ:
            if S.reg[x] != S.reg[y]:
                pc = f
        elif op == EQC:
            if S.reg[x] != y:
                pc = f
        elif op == NE:
            if S.reg[x] == S.reg[y]:
                pc = f
        elif op == NEC:
            if S.reg[x] == y:
                pc = f
        elif op == HOLDS:
            k = span_at(S, S.reg[x] if x >= 0 else first + ~x, S.reg[z] >> 1)
            if k == 0 or S.pool[k + 2] != S.reg[y]:
                pc = f
        elif op == VALUE:
            k = span_at(S, S.reg[x] if x >= 0 else first + ~x, S.reg[z] >> 1)
            if k == 0:
                pc = f
            else:
                S.reg[y] = S.pool[k + 2]
        elif op == LINE:
            # Rows may move while one is made.
            k = row_of_registers(S, z >> 12, y, 1)
            k = S.rows[k].line + (z & 4095)
            S.reg[x] = k
            if w >= 0:
                link(S, k, w, L)
        elif op == SHIFT:
            S.reg[x] = S.reg[y] + z
        elif op == AFTER:
            k = S.reg[x]
            if (k & 1) == 0 or k <= S.reg[y] or (k >> 1) <= S.start:
                pc = f
        elif op in (ADD, SUB, MUL, DIV, IDIV, MOD, MIN, MAX):
            S.failed = 0
            k = compute(S, op, S.reg[y], S.reg[z])
            if S.failed != 0:
                without_value(S, w)
                pc = f
            else:
                S.reg[x] = k
        elif op in (NEG, ABS):
            S.failed = 0
            k = S.reg[y]
            if op == NEG or compared(S, CLT, k, 1) != 0:
                k = compute(S, SUB, 1, k)
            if S.failed != 0:
                without_value(S, w)
                pc = f
            else:
                S.reg[x] = k
        elif op == FUN:
            S.failed = 0
            k = function(S, z, S.reg[y])
            if S.failed != 0:
                without_value(S, w)
                pc = f
            else:
                S.reg[x] = k
        elif op == FOPEN:
            k = find_fact(S, z, y)
            if k < 0:
                S.reg[x + 1] = 0
            else:
                S.reg[x] = S.facts[k] - 1
                S.reg[x + 1] = S.facts[k + 1]
        elif op == FNEXT:
            worked(S)
            if S.reg[x + 1] == 0:
                pc = f
            else:
                load_fact(S, z, y, S.reg[x])
                S.reg[x] += 1
                S.reg[x + 1] -= 1
        elif op == JMP:
            pc = f
        elif op == JMPR:
            pc = S.reg[x]
        elif op == HAS:
            if row_of_registers(S, y, x, 0) < 0:
                pc = f
        elif op == MOPEN:
            k = row_of_registers(S, z, y, 1)
            k = S.rows[k].line
            S.reg[x] = k
            S.reg[x + 1] = 0
            if w >= 0:
                link(S, k, w, L)
        elif op == MNEXT:
            worked(S)
            k = S.reg[x]
            if S.reg[x + 1] >= S.lines[k].np:
                pc = f
            else:
                r: i64 = S.pool[S.lines[k].points + S.reg[x + 1]]
                S.reg[x + 1] += 1
                S.reg[x + 2] = S.rows[r].line
                n: i64 = S.args[y]
                while n > 0:
                    n -= 1
                    S.reg[S.args[y + 2 + 2 * n]] = S.keys[S.rows[r].key + S.args[y + 1 + 2 * n]]
        elif op == POPEN:
            y = S.reg[y]
            g: i64 = S.lines[y].col * FIELDS
            S.reg[x] = y
            S.reg[x + 1] = 0
            if S.lines[y].np != 0:
                k = S.reg[S.args[z]] >> 1
                S.reg[x + 1] = first_at(
                    S,
                    S.lines[y].points,
                    S.lines[y].np,
                    k if k > S.start else S.start + 1,
                    S.cols[g + C_STRIDE],
                )
            S.reg[x + 2] = S.reg[S.args[z + 1]] >> 1
        elif op == PNEXT:
            k = S.reg[x]
            g = S.lines[k].col * FIELDS
            r = S.reg[x + 1]
            off: i64 = S.lines[k].points
            n = S.lines[k].np
            stride: i64 = S.cols[g + C_STRIDE]
            while r < n and (S.pool[off + r + 1] & 0xFFFF) == 0:
                r += stride
            worked(S)
            if r >= n or S.pool[off + r] > S.reg[x + 2] or S.pool[off + r] > S.q:
                pc = f
            else:
                S.reg[x + 1] = r + stride
                S.reg[S.args[y]] = 2 * S.pool[off + r] + 1
                n = S.args[y + 1]
                while n > 0:
                    n -= 1
                    S.reg[S.args[y + 3 + 2 * n]] = S.pool[
                        off + r + S.cols[g + C_HEAD] + S.args[y + 2 + 2 * n]
                    ]
        elif op == COVERS:
            if covers(S, S.reg[x], S.reg[y]) == 0:
                pc = f
        elif op == VOPEN:
            k = S.reg[z]
            S.reg[x] = S.reg[y]
            S.reg[x + 1] = 0 if k == ANY or is_form(S, k) != 0 else -1  # one value is itself
        elif op == VNEXT:
            k = S.reg[x]
            r = S.reg[x + 1]
            if r == -1:
                S.reg[z] = S.reg[y]
                S.reg[x + 1] = S.lines[k].ns
            else:
                off = S.lines[k].spans
                n = S.lines[k].ns
                while r < n:
                    i: i64 = 0
                    while i < r and S.pool[off + i + 2] != S.pool[off + r + 2]:
                        i += 3
                    if i == r and covers(S, S.reg[y], S.pool[off + r + 2]) != 0:
                        break
                    r += 3
                if r >= n:
                    pc = f
                else:
                    S.reg[z] = S.pool[off + r + 2]
                    S.reg[x + 1] = r + 3
        elif op == WOPEN:
            S.reg[x] = S.reg[y]
            S.reg[x + 1] = S.first
        elif op == WNEXT:
            k = S.reg[x]
            r = S.reg[x + 1]
            off = S.lines[k].spans
            n = S.lines[k].ns
            i = first_ending_after(S, off, n, r) if n > 0 else 0
            while i < n and r <= S.q:
                if S.pool[off + i] > r:
                    r = first_after(S, S.pool[off + i])
                if r < S.pool[off + i + 1]:
                    break
                i += 3
            if i >= n or r > S.q:
                pc = f
            else:
                S.reg[x + 1] = r + S.tick
                S.reg[y] = 2 * r + 1
                S.reg[z] = S.pool[off + i + 2]
        elif op == NOW:
            S.reg[x] = 2 * S.q + 1
        elif op == MEMBERS:
            S.reg[x] = 2 * S.members + 1
        elif op == INT:
            if (S.reg[x] & 1) == 0:
                pc = f
        elif op == MAKE:
            row_of_registers(S, y, x, 1)
        elif op == REF:
            k = S.rows[S.lines[L].row].key
            S.keys[k + x] = S.reg[y]
        elif op == BAR:
            if (S.lines[first + x].cs & BARRED) == 0:
                S.lines[first + x].cs |= BARRED
                if S.returning == 0:
                    dirty(S, first + x, S.origin, INF)
        elif op == ALLOW:
            if (S.lines[first + x].cs & BARRED) != 0:
                S.lines[first + x].cs &= ~BARRED
                dirty(S, first + x, S.origin, INF)
        elif op == WAKE:
            if S.returning == 0:
                push(
                    S,
                    2 * S.cols[S.lines[first + x].col * FIELDS + C_LEVEL] + 1,
                    first + x,
                    S.start,
                    INF,
                )
        elif op == FEED:
            begin_feeding(S, first + x, S.reg[y], z)
        elif op == GROUP:
            S.reg[x] = S.nbag
        elif op == ADDTO:
            # One more solution, if it is not there yet.
            n = S.args[y]
            words_room(cython.address(S.bag), cython.address(S.bag_size), S.nbag + n + 1)
            k = 0
            while k < n:
                S.bag[S.nbag + k] = S.reg[S.args[y + 1 + k]]
                k += 1
            S.nbag += n
            pc = f
        elif op == TOTAL:
            k = total(S, z, S.reg[x], y)
            S.nbag = S.reg[x]
            if k == 0 or S.error != 0:
                pc = f
            else:
                S.reg[w] = S.answer
        elif op == PCALL:
            call_procedure(S, x, y, z, L)
        elif op == GIVE:
            n = S.args[x]
            words_room(cython.address(S.given), cython.address(S.given_size), S.ngiven + n)
            k = 0
            while k < n:
                S.given[S.ngiven + k] = S.reg[S.args[x + 1 + k]]
                k += 1
            S.ngiven += n
            pc = f
        elif op == ANSWER:
            if S.reg[x + 1] == 0:
                S.nanswered = S.reg[x + 2]
                pc = f
            else:
                n = S.args[y]
                k = 0
                while k < n:
                    S.reg[S.args[y + 1 + k]] = S.answered[S.reg[x] + k]
                    k += 1
                S.reg[x] += n
                S.reg[x + 1] -= 1
        elif op == CALL:
            k = ask(S, z, y)
            if k == 0:
                pc = f if d != 0 else skip
                S.reg[x + 1] = 0
            else:
                S.reg[x] = k + 2
                S.reg[x + 1] = S.memo[k]
                S.reg[x + 2] = S.memo[k + 1]
        elif op == CNEXT:
            if S.reg[x + 1] == 0:
                pc = f
            else:
                n = S.reg[x + 2]
                k = y + 1 + S.args[y]
                while n > 0:
                    n -= 1
                    S.reg[S.args[k + 1 + n]] = S.memo[S.reg[x] + n]
                S.reg[x] += S.reg[x + 2]
                S.reg[x + 1] -= 1
        else:
            break
        if S.error != 0:
            break
    if S.watched != 0:
        mark(S, was, 0)
    return got


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def call_procedure(S: STATE, x: i64, pc: i64, p: i64, L: i64) -> cython.void:
    """Run a procedure for arguments in registers; its answers can be iterated from x on.

    The list at p: where it is described, and registers of arguments. It is described by its number,
    the range of registers it uses, which other calls of it must keep, how many words an answer has,
    and the registers of its parameters.
    """
    what: i64 = S.args[p]
    low: i64 = S.args[what + 1]
    size: i64 = S.args[what + 2] - low
    width: i64 = S.args[what + 3]
    n: i64 = S.args[what + 4]
    if S.depth == 0:
        S.calls = 0
    S.calls += 1
    if S.depth >= DEEPEST or S.calls > CALLS:
        S.error = 5
        S.called = S.args[what]
        return
    base: i64 = S.nstack
    words_room(cython.address(S.stack), cython.address(S.stack_size), base + size + n)
    i: i64 = 0
    while i < n:
        S.stack[base + size + i] = S.reg[S.args[p + 1 + i]]
        i += 1
    memcpy(cython.address(S.stack[base]), cython.address(S.reg[low]), size * 8)
    i = 0
    while i < n:
        S.reg[S.args[what + 5 + i]] = S.stack[base + size + i]
        i += 1
    S.nstack = base + size
    S.depth += 1
    first: i64 = S.ngiven
    start: i64 = S.nanswered
    run_rules(S, pc, L, ALL_RULES, 0, 0, 1)
    S.depth -= 1
    S.nstack = base
    memcpy(cython.address(S.reg[low]), cython.address(S.stack[base]), size * 8)
    n = S.ngiven - first
    words_room(cython.address(S.answered), cython.address(S.answered_size), start + n + 1)
    memcpy(cython.address(S.answered[start]), cython.address(S.given[first]), n * 8)
    S.ngiven = first
    S.nanswered = start + n
    S.reg[x] = start
    S.reg[x + 1] = n // width
    S.reg[x + 2] = start


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def load_driver(S: STATE, L: i64, i: i64) -> cython.void:
    """Time, key and arguments of a point into the registers from 0 on."""
    g: i64 = S.lines[L].col * FIELDS
    off: i64 = S.lines[L].points + i
    S.reg[0] = 2 * S.pool[off] + 1
    S.nanswered = 0
    n: i64 = load_key(S, L)
    k: i64 = S.cols[g + C_HEAD]
    stride: i64 = S.cols[g + C_STRIDE]
    while k < stride:
        S.reg[n] = S.pool[off + k]
        n += 1
        k += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def load_key(S: STATE, L: i64) -> i64:
    row: i64 = S.lines[L].row
    nk: i64 = S.tables[S.rows[row].table * 8 + T_KEYS]
    key: i64 = S.rows[row].key
    i: i64 = 0
    while i < nk:
        S.reg[1 + i] = S.keys[key + i]
        i += 1
    return nk + 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def meet(S: STATE, L: i64, i: i64) -> cython.void:
    """A point has come: say what follows from it and facts alone, and see which rules may wait."""
    g: i64 = S.lines[L].col * FIELDS
    load_driver(S, L, i)
    fired: i64 = (S.pool[S.lines[L].points + i + 1] >> RULES_AT) & ALL_RULES
    got: i64 = run_rules(S, S.cols[g + C_ENTRY], L, ALL_RULES, fired, 0, 1)
    state: i64 = S.pool[S.lines[L].points + i + 1]
    S.pool[S.lines[L].points + i + 1] = (state & 0x1FFFF) | ((fired | got) << RULES_AT)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def evaluate(S: STATE, L: i64, i: i64, mask: i64, level: i64) -> cython.void:
    """Rules of a level that the point at word i drives: what they say now, against before."""
    g: i64 = S.lines[L].col * FIELDS
    load_driver(S, L, i)
    state: i64 = S.pool[S.lines[L].points + i + 1]
    every: i64 = ALL_RULES
    fired: i64 = (state >> RULES_AT) & ~(every << PEND)
    S.pool[S.lines[L].points + i + 1] = state & ~(mask << (PEND + RULES_AT))
    S.nem = 0
    pc: i64 = S.args[S.cols[g + C_RULES] + 2 * level + 1]
    got: i64 = run_rules(S, pc, L, mask, fired, 0, 1)
    listed: i64 = S.cols[g + C_LISTED]
    lost: i64 = fired & mask & ~got & ~listed
    if lost != 0:
        run_rules(S, pc, L, lost, 0, 1, -1)
    # What it said may have woken it again.
    state = S.pool[S.lines[L].points + i + 1] & (0x1FFFF | (every << (PEND + RULES_AT)))
    S.pool[S.lines[L].points + i + 1] = state | (((fired & ~mask) | got) << RULES_AT)
    listed &= mask
    if listed != 0:
        say_again(S, L, i, listed)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def undo(S: STATE, L: i64, i: i64) -> cython.void:
    """Take back all that the rules of a point have said."""
    g: i64 = S.lines[L].col * FIELDS
    state: i64 = S.pool[S.lines[L].points + i + 1]
    fired: i64 = (state >> RULES_AT) & ALL_RULES & ~S.cols[g + C_LISTED]
    if fired != 0:
        load_driver(S, L, i)
        run_rules(S, S.cols[g + C_ENTRY], L, fired, 0, 1, -1)
        level: i64 = 0
        while level < S.nlevels:
            p: i64 = S.cols[g + C_RULES] + 2 * level
            if (S.args[p] & fired) != 0:
                run_rules(S, S.args[p + 1], L, S.args[p] & fired, 0, 1, -1)
            level += 1
    if S.cols[g + C_LISTED] != 0 and S.pool[S.lines[L].points + i + 2] != 0:
        S.nem = 0
        say_again(S, L, i, ALL_RULES)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def remove_point(S: STATE, L: i64, i: i64, stride: i64) -> cython.void:
    off: i64 = S.lines[L].points
    n: i64 = S.lines[L].np
    move(S, off + i, off + i + stride, n - i - stride)
    S.lines[L].np = n - stride


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def insert_event(S: STATE, L: i64, t: i64, args: WORDS) -> cython.void:
    """An item says that an event happened."""
    g: i64 = S.lines[L].col * FIELDS
    stride: i64 = S.cols[g + C_STRIDE]
    head: i64 = S.cols[g + C_HEAD]
    i: i64 = find_event(S, L, t, args, stride, head)
    if i >= 0:
        w: i64 = S.pool[S.lines[L].points + i + 1]
        S.pool[S.lines[L].points + i + 1] = w + 1
        if (w & 0xFFFF) == 0xFFFF:
            S.error = 3
        if (w & 0xFFFF) != 0:
            return
    else:
        i = put_event(S, L, t, args, stride, head, 1)
    if S.cols[g + C_CODE] != 0:
        meet(S, L, i)
    changed(S, L, ANY, t, t + 1)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def retract_event(S: STATE, L: i64, t: i64, args: WORDS) -> cython.void:
    """An item takes back that an event happened."""
    g: i64 = S.lines[L].col * FIELDS
    stride: i64 = S.cols[g + C_STRIDE]
    head: i64 = S.cols[g + C_HEAD]
    i: i64 = find_event(S, L, t, args, stride, head)
    if i < 0:
        S.unknown += 1
        return
    S.pool[S.lines[L].points + i + 1] -= 1
    if (S.pool[S.lines[L].points + i + 1] & 0xFFFF) == 0:
        undo(S, L, i)
        remove_point(S, L, i, stride)
        changed(S, L, ANY, t, t + 1)


# --- what follows from changes ------------------------------------------------------------------


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def edge(S: STATE, L: i64, start: i64, v: i64, x: i64, d: i64) -> cython.void:
    """A span of v that begins (or else ends) at x came (d = 1) or went (-1)."""
    g: i64 = S.lines[L].col * FIELDS
    if is_foreign(S, L) != 0:
        return
    n: i64 = S.cols[g + C_STARTIS] if start != 0 else S.cols[g + C_ENDIS]
    if n != 0 and x > S.start:
        emit_event(S, L + n, x, cython.address(v), d)
    t: i64 = before(S, x)
    if t <= S.start:
        return
    e: i64 = S.cols[g + C_EDGES]
    if e != 0:
        # Programs of rules that ask for nothing that changes: (start?, value or ANY, code)...
        while S.args[e] >= 0:
            if S.args[e] == start and (S.args[e + 1] == ANY or S.args[e + 1] == v):
                S.reg[0] = 2 * t + 1
                n = load_key(S, L)
                S.reg[n] = v
                run_rules(S, S.args[e + 2], L, ALL_RULES, 0, 1, d)
            e += 3
    n = S.cols[g + C_STARTS] if start != 0 else S.cols[g + C_ENDS]
    if n != 0:
        emit_event(S, L + n, t, cython.address(v), d)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def held(S: STATE, L: i64, v: i64, a: i64, z: i64, d: i64) -> cython.void:
    """F=v holds (or no longer) in [a, z): at each time-point of it in the run, as an event."""
    n: i64 = S.cols[S.lines[L].col * FIELDS + C_HELD]
    if n == 0 or is_foreign(S, L) != 0:
        return
    if z == INF:
        z = S.q + 1
        if d > 0:
            timer(S, L + n, S.q + 1)  # as long as it is open there will be more
    elif z > S.q:
        z = S.q + 1
        if d > 0:
            timer(S, L + n, S.q + 1)
    a = first_after(S, a)
    while a < z and S.error == 0:
        emit_event(S, L + n, a, cython.address(v), d)
        a += S.tick


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def held_longer(S: STATE, L: i64, n: i64) -> cython.void:
    """The points, `n` columns on, at which L holds after the last query time."""
    off: i64 = S.lines[L].spans
    size: i64 = S.lines[L].ns
    i: i64 = first_ending_after(S, off, size, S.qprev + 1) if size > 0 else 0
    while i < size and S.error == 0:
        off = S.lines[L].spans
        a: i64 = S.pool[off + i]
        held(S, L, S.pool[off + i + 2], a if a > S.qprev else S.qprev + 1, S.pool[off + i + 1], 1)
        i += 3


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def hit(S: STATE, reader: WORDS, target: i64, a: i64, z: i64) -> cython.void:
    """Whoever reads is told that what it looks at is other in [a, z)."""
    if reader[S_LISTS] == TO_ROW:
        enter_row(S, S.lines[target].row)
        return
    if reader[S_LISTS] != 0:
        if reader[S_LISTS] == TO_LISTS:
            dirty(S, target, a, z)
        return
    n: i64 = S.lines[target].np
    if n == 0:
        return
    g: i64 = S.lines[target].col * FIELDS
    stride: i64 = S.cols[g + C_STRIDE]
    mask: i64 = reader[S_MASK]
    level: i64 = reader[S_LEVEL]
    a = a + reader[S_LOW] if reader[S_LOW] > -INF else -INF
    z = z + reader[S_HIGH] if reader[S_HIGH] < INF and z < INF else INF
    off: i64 = S.lines[target].points
    i: i64 = first_at(S, off, n, a, stride)
    if z >= INF and level == S.level:
        chain(S, target, i, level)
        return
    all_: i64 = S.args[S.cols[g + C_RULES] + 2 * level]
    while i < n and S.pool[off + i] < z:
        w: i64 = S.pool[off + i + 1]
        wait: i64 = ((w >> (MET + RULES_AT)) & mask) << (PEND + RULES_AT)
        if (w & wait) != wait:
            S.pool[off + i + 1] = w | wait
            if (w & (all_ << (PEND + RULES_AT))) == 0:
                to_evaluate(S, level, target, S.pool[off + i], all_)
        i += stride


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def chain(S: STATE, L: i64, i: i64, level: i64) -> cython.void:
    """The points of a line from word i on have to be evaluated in the cycle that is settled now.

    The first of them is told, and tells the next when its time has come: with every change of a
    value that may hold for ever, all later points would be told again.
    """
    g: i64 = S.lines[L].col * FIELDS
    stride: i64 = S.cols[g + C_STRIDE]
    off: i64 = S.lines[L].points
    n: i64 = S.lines[L].np
    all_: i64 = S.args[S.cols[g + C_RULES] + 2 * level]
    while i < n and S.pool[off + i] <= S.q:
        w: i64 = S.pool[off + i + 1]
        if (w & CHAINED) != 0:
            return
        wait: i64 = ((w >> (MET + RULES_AT)) & all_) << (PEND + RULES_AT)
        if wait != 0:
            S.pool[off + i + 1] = w | wait | CHAINED
            if (w & (all_ << (PEND + RULES_AT))) == 0:
                to_evaluate(S, level, L, S.pool[off + i], all_)
            return
        i += stride


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def changed(S: STATE, L: i64, v: i64, a: i64, z: i64) -> cython.void:
    """F=v is other in [a, z), or an event at a: rules and lists that read it are told."""
    col: i64 = S.lines[L].col
    if S.shards != 0:
        to_tell(S, L, a)
    r: i64 = S.cols[col * FIELDS + C_READERS]
    if r != 0:
        # (how far away, site)...
        n: i64 = S.args[r]
        while n > 0:
            r += 2
            n -= 1
            s: WORDS = cython.address(S.sites[S.args[r] * 8])
            if s[S_VALUE] == ANY or v == ANY or s[S_VALUE] == v:
                hit(S, s, L + S.args[r - 1], a, z)
    S.members += S.cols[col * FIELDS + C_MEMBERS]
    told(S, L, L, v, a, z)
    row: i64 = S.lines[L].row
    T: i64 = S.rows[row].table * 8
    indexes: i64 = S.tables[T + T_INDEXES]
    if indexes != 0:
        n = S.args[indexes]
        while n > 0:
            n -= 1
            told(
                S,
                L,
                S.keys[S.rows[row].key + S.tables[T + T_KEYS] + S.tables[T + T_REFS] + n],
                v,
                a,
                z,
            )


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def told(S: STATE, L: i64, where: i64, v: i64, a: i64, z: i64) -> cython.void:
    """Those who are linked to a line, or to a bucket it is in."""
    col: i64 = S.lines[L].col
    k: i64 = S.lines[where].links
    while k != 0:
        s: WORDS = cython.address(S.sites[S.links[k].site * 8])
        if s[S_COLUMN] == col and (s[S_VALUE] == ANY or v == ANY or s[S_VALUE] == v):
            hit(S, s, S.links[k].target + s[S_SHIFT], a, z)
        k = S.links[k].next


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def value_row(S: STATE, L: i64, table: i64, v: i64) -> cython.void:
    """A line has a value: there is a row for it, of its key and the value."""
    key: WORDS = S.key
    at: i64 = S.rows[S.lines[L].row].key
    n: i64 = S.tables[table * 8 + T_KEYS] - 1
    i: i64 = 0
    while i < n:
        key[i] = S.keys[at + i]
        i += 1
    key[n] = v
    make_row(S, table, key)


# --- counting spans -----------------------------------------------------------------------------
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


# --- inertia ------------------------------------------------------------------------------------


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


# --- interval lists -----------------------------------------------------------------------------


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


# --- relations of intervals ---------------------------------------------------------------------
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


# --- a step -------------------------------------------------------------------------------------


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def put_item(
    S: STATE, table: i64, place: i64, added: i64, time: i64, words: WORDS, n: i64
) -> cython.void:
    """One more item of the step, in the form in which `take` has them."""
    keys: i64 = S.tables[table * 8 + T_KEYS]
    if shard_of(S, table, words) != S.shard:
        return
    r: i64 = make_row(S, table, words)
    words_room(cython.address(S.items), cython.address(S.items_size), S.itemwords + 3 + n - keys)
    item: WORDS = cython.address(S.items[S.itemwords])
    home: i64 = S.rows[r].home
    item[0] = (S.rows[r].line + place) | (home << 32)
    item[1] = time
    item[2] = 2 * (n - keys) + added
    k: i64 = keys
    while k < n:
        item[3 + k - keys] = words[k]
        k += 1
    S.itemwords += 3 + n - keys
    S.nitems += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def feed_items(S: STATE, table: i64, place: i64, sign: i64, n: i64, width: i64) -> cython.void:
    """Items of which `sweep` says where their times and their words are."""
    time: WORDS = cython.cast(WORDS, S.sweep[0])
    i: i64 = 0
    while i < n:
        k: i64 = 0
        while k < width:
            S.em[k] = cython.cast(WORDS, S.sweep[k + 1])[i]
            k += 1
        put_item(S, table, place, 1 if sign > 0 else 0, time[i], S.em, width)
        i += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def introduce(S: STATE) -> cython.void:
    """Run the programs of rows that are new."""
    while S.introduced < S.nrows and S.error == 0:
        S.introduced += 1
        enter_row(S, S.introduced - 1)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def enter_row(S: STATE, r: i64) -> cython.void:
    """Run the program of a row: what it looks at, and whether it is in its domain."""
    pc: i64 = S.tables[S.rows[r].table * 8 + T_CODE]
    if pc != 0 and S.rows[r].home >= 0:
        L: i64 = S.rows[r].line
        S.reg[0] = 1
        load_key(S, L)
        run_rules(S, pc, L, ALL_RULES, 0, 1, 1)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def resolve(S: STATE, L: i64, a: i64, z: i64) -> cython.void:
    if (S.lines[L].cs & BARRED) != 0:
        replace(S, L, 0, S.lines[L].ns, 0)
        return
    was: i64 = S.marked
    spans: i64 = S.lines[L].ns
    if S.watched != 0:
        mark(S, S.owners[S.lines[L].col] >> 1, 1)
    kind: i64 = S.cols[S.lines[L].col * FIELDS + C_KIND]
    if kind == SIMPLE:
        resolve_simple(S, L, a, z)
    elif kind == LIST:
        resolve_list(S, L, a, z)
    elif kind == FILTER:
        resolve_filter(S, L, a, z)
    elif kind in (COVER, KNOWN):
        resolve_cover(S, L, a, z)
    elif kind == ALLEN:
        resolve_allen(S, L, a, z)
    else:
        resolve_input(S, L, a)
    if S.watched != 0:
        if S.owners[S.lines[L].col] & 1:
            S.spent[3 * S.marked + 1] += (S.lines[L].ns - spans) // 3
        mark(S, was, 0)
    S.resolves += 1
    worked(S)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def evaluate_at(S: STATE, L: i64, t: i64, mask: i64, level: i64) -> cython.void:
    """The rules of `mask` at the points of a line at t; all rules, if they are new or gone."""
    col: i64 = S.lines[L].col
    stride: i64 = S.cols[col * FIELDS + C_STRIDE]
    i: i64 = 0
    if S.lines[L].np == 0:
        return
    i = first_at(S, S.lines[L].points, S.lines[L].np, t, stride)
    S.evals += 1
    worked(S)
    while i < S.lines[L].np and S.pool[S.lines[L].points + i] == t and S.error == 0:
        w: i64 = S.pool[S.lines[L].points + i + 1]
        if (w & CHAINED) != 0:
            w &= ~CHAINED
            S.pool[S.lines[L].points + i + 1] = w
            chain(S, L, i + stride, S.level)
        if mask < 0:
            if (w & FRESH) != 0:
                S.pool[S.lines[L].points + i + 1] = w & ~FRESH
                if (w & 0xFFFF) == 0:
                    undo(S, L, i)
                    remove_point(S, L, i, stride)
                    continue
                if S.cols[col * FIELDS + C_CODE] != 0:
                    meet(S, L, i)
        elif (w & 0xFFFF) != 0:
            waits: i64 = (w >> (PEND + RULES_AT)) & mask
            if waits != 0:
                evaluate(S, L, i, waits, level)
        i += stride


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def settle_level(S: STATE, s: i64) -> cython.void:
    """Do what a level has to do: points first, then what follows from them."""
    if S.cyclic[s] != 0:
        S.level = s
        last: i64 = -INF
        again: i64 = 0  # in the same cell
        back: i64 = 0  # to earlier ones
        in_time(S, s)
        while (S.nheap > 0 or S.ran < S.nrun) and S.error == 0:
            introduce(S)
            soonest(S)
            L: i64 = S.got[1]
            t: i64 = S.got[0] >> 1
            if after(S, t) > last:
                again = 0
            elif after(S, t) < last:
                back += 1
            last = after(S, t)
            again += 1
            if again > ROUNDS * (S.nlines + 100) or back > ROUNDS * (S.nlines + 1000):
                contradicts(S, L, t)
            if (S.got[0] & 1) == 0:
                evaluate_at(S, L, t, S.got[2], s)
            else:
                if S.lines[L].dirty == t - S.origin + 1:
                    S.lines[L].dirty = 0
                resolve(S, L, t, S.got[2])
        S.level = -1
    while S.error == 0:
        introduce(S)
        h: i64 = S.queues[4 * s] if S.cyclic[s] == 0 else 0
        if h != 0:
            S.queues[4 * s] = S.ag[h]
            if S.ag[h] == 0:
                S.queues[4 * s + 1] = 0
            evaluate_at(S, S.ag[h + 1], S.ag[h + 2], S.ag[h + 3], s)
            continue
        h = S.queues[4 * s + 2]
        if h != 0:
            S.queues[4 * s + 2] = S.ag[h]
            if S.ag[h] == 0:
                S.queues[4 * s + 3] = 0
            L = S.ag[h + 1]
            a: i64 = S.ag[h + 2]
            z: i64 = S.ag[h + 3]
            if a == -INF:
                a = S.lines[L].dirty - 1 + S.origin
                S.lines[L].dirty = 0
            resolve(S, L, a, z)
            continue
        break


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def waiting(S: STATE) -> i64:
    """The lowest level that has something to do."""
    s: i64 = 0
    while s < S.nlevels and S.queues[4 * s] == 0 and S.queues[4 * s + 2] == 0:
        s += 1
    return s


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def rehearse(S: STATE, s: i64, at: i64, end: i64) -> cython.void:
    """Ask Python at once what the points that wait at a level, or some items, will ask."""
    rounds: i64 = 0
    while rounds < 64 and S.error == 0:
        S.nwishes = 0
        S.dry = 1
        h: i64 = S.queues[4 * s] if s >= 0 else 0
        while h != 0:
            rehearse_at(S, S.ag[h + 1], S.ag[h + 2], S.ag[h + 3], s)
            h = S.ag[h]
        i: i64 = at
        while i < end:
            rehearse_item(S, i)
            i += 3 + (S.items[i + 2] >> 1)
        S.dry = 0
        if S.nwishes == 0:
            break
        with cython.gil:
            try:
                words = [S.wishes[k] for k in range(S.nwishes)]
                cython.cast(object, S.owner).answered_at_once(words)
            except BaseException as error:
                cython.cast(object, S.owner).failure(error)
                S.error = 2
        rounds += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def rehearse_item(S: STATE, at: i64) -> cython.void:
    """As `meet`, of an event that is said to happen."""
    L: i64 = S.items[at] & MAX32
    g: i64 = S.lines[L].col * FIELDS
    if (S.items[at + 2] & 1) == 0 or S.cols[g + C_ASKS] == 0:
        return
    S.reg[0] = 2 * S.items[at + 1] + 1
    n: i64 = load_key(S, L)
    memcpy(cython.address(S.reg[n]), cython.address(S.items[at + 3]), (S.items[at + 2] >> 1) * 8)
    run_rules(S, S.cols[g + C_ENTRY], L, ALL_RULES, 0, 0, 0)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def rehearse_at(S: STATE, L: i64, t: i64, mask: i64, level: i64) -> cython.void:
    """As `evaluate_at`, but nothing is said."""
    g: i64 = S.lines[L].col * FIELDS
    if S.cols[g + C_ASKS] == 0 or S.lines[L].np == 0:
        return
    stride: i64 = S.cols[g + C_STRIDE]
    i: i64 = first_at(S, S.lines[L].points, S.lines[L].np, t, stride)
    while i < S.lines[L].np and S.pool[S.lines[L].points + i] == t:
        w: i64 = S.pool[S.lines[L].points + i + 1]
        waits: i64 = (w >> (PEND + RULES_AT)) & mask
        if (w & 0xFFFF) == 0:
            pass
        elif mask < 0:
            if (w & FRESH) != 0:
                load_driver(S, L, i)
                run_rules(S, S.cols[g + C_ENTRY], L, ALL_RULES, 0, 0, 0)
        elif waits != 0:
            load_driver(S, L, i)
            run_rules(S, S.args[S.cols[g + C_RULES] + 2 * level + 1], L, waits, 0, 0, 0)
        i += stride


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def settle(S: STATE, last: i64) -> cython.void:
    """All levels before `last`, until there is nothing left to do in them."""
    introduce(S)
    s: i64 = waiting(S)
    while s < last and S.error == 0:
        if S.asks != 0 and S.cyclic[s] == 0:
            rehearse(S, s, 0, 0)
        settle_level(S, s)
        s = waiting(S)
    if s == S.nlevels:
        S.nag = 4


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def by_home(S: STATE) -> cython.void:
    """Put the items of each home beside each other; `counts` says where those of each end."""
    words_room(cython.address(S.counts), cython.address(S.counts_size), S.nhomes + 2)
    memset(S.counts, 0, (S.nhomes + 2) * 8)
    at: i64 = 0
    while at < S.itemwords:
        n: i64 = 3 + (S.items[at + 2] >> 1)
        S.counts[(S.items[at] >> 32) + 1] += n
        at += n
    home: i64 = 0
    while home <= S.nhomes:
        S.counts[home + 1] += S.counts[home]
        home += 1
    sorted: WORDS = cython.NULL
    size: i64 = 0
    words_room(cython.address(sorted), cython.address(size), S.itemwords)
    at = 0
    while at < S.itemwords:
        n = 3 + (S.items[at + 2] >> 1)
        home = S.items[at] >> 32
        memcpy(cython.address(sorted[S.counts[home]]), cython.address(S.items[at]), n * 8)
        S.counts[home] += n
        at += n
    free(S.items)
    S.items = sorted
    S.items_size = size


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def in_order(S: STATE, at: i64, end: i64) -> i64:
    """The places of the items from one place to another, by time, in `order`; how many they are."""
    n: i64 = 0
    while at < end:
        words_room(cython.address(S.fx), cython.address(S.fx_size), n + 2)
        S.fx[n] = S.items[at + 1]
        S.fx[n + 1] = at
        n += 2
        at += 3 + (S.items[at + 2] >> 1)
    sort_pieces(S, n)
    n >>= 1
    words_room(cython.address(S.order), cython.address(S.order_size), n)
    at = 0
    while at < n:
        S.order[at] = S.fx[2 * at + 1]
        at += 1
    return n


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def take_item(S: STATE, at: i64) -> cython.void:
    L: i64 = S.items[at] & MAX32
    t: i64 = S.items[at + 1]
    w: i64 = S.items[at + 2]
    args: WORDS = cython.address(S.items[at + 3])
    if S.cols[S.lines[L].col * FIELDS + C_KIND] == INPUT:
        input_interval(S, 1 if w & 1 else -1, L, t, args[0])
    elif w & 1:
        insert_event(S, L, t, args)
    else:
        retract_event(S, L, t, args)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def take(S: STATE) -> cython.void:
    """The items of a step, home by home: (line and home, time, what it is, arguments...).

    What it is: 1 for insertions, and shifted by one how many arguments there are.
    """
    sort: i64 = 1 if S.nitems > 64 else 0
    if sort != 0:
        by_home(S)
    home: i64 = 0
    at: i64 = 0
    asked: i64 = 0  # up to where Python has been asked
    used: i64 = 0  # up to where room has been given back
    some: i64 = 0  # items since levels were settled
    while at < S.itemwords and S.error == 0:
        end: i64 = S.counts[home] if sort != 0 else S.itemwords
        home += 1
        if S.asks != 0 and end > asked:
            i: i64 = asked
            n: i64 = 0
            while asked < S.itemwords and (n < AT_ONCE or asked < end):
                asked += 3 + (S.items[asked + 2] >> 1)
                n += 1
            rehearse(S, -1, i, asked)
        if some >= 256:
            # What concerns single instances is settled while it is in the cache.
            settle(S, S.own)
            some = 0
        n = in_order(S, at, end)
        i = 0
        while i < n and S.error == 0:
            if i + 8 < n:
                SOON(cython.address(S.lines[S.items[S.order[i + 8]] & MAX32]))
            take_item(S, S.order[i])
            i += 1
        some += n
        at = end
        if at - used > GIVEN_BACK:
            horai_give_back(cython.address(S.items[used]), at - used)
            used = at
    if S.itemwords > GIVEN_BACK:
        free(S.items)
        S.items = cython.NULL
        S.items_size = 0
    S.nitems = S.itemwords = 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def begin_step(S: STATE, q: i64) -> cython.void:
    """A new query time; what was due by it is looked at again."""
    S.qprev = S.q
    S.q = q
    S.epoch += 1
    S.ntouched = 0
    S.narena = 8
    S.nlog = 0
    S.nag = 4
    while S.ntimers > 0 and S.timers[0] <= q:
        t: i64 = S.timers[0]
        L: i64 = pop_timer(S)
        if S.lines[L].timer == t - S.start:
            S.lines[L].timer = 0
        n: i64 = S.cols[S.lines[L].col * FIELDS + C_HOLDER]
        if n != 0:
            held_longer(S, L - n, n)
        elif S.cols[S.lines[L].col * FIELDS + C_KIND] == EVENT:
            due(S, L, t)
        elif S.cols[S.lines[L].col * FIELDS + C_KIND] == FILTER:
            # What is open began some time ago.
            if (S.lines[L].cs & BARRED) == 0:
                push(S, 2 * S.cols[S.lines[L].col * FIELDS + C_LEVEL] + 1, L, t, INF)
        else:
            dirty(S, L, t, t)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def due(S: STATE, L: i64, t: i64) -> cython.void:
    """The points of a line from t on that were in the future until now, and when others follow."""
    g: i64 = S.lines[L].col * FIELDS
    stride: i64 = S.cols[g + C_STRIDE]
    n: i64 = S.lines[L].np
    off: i64 = S.lines[L].points
    i: i64 = first_at(S, off, n, t, stride) if n > 0 else 0
    while i < n and S.pool[off + i] <= S.q:
        t = S.pool[off + i]
        if (S.pool[off + i + 1] & FRESH) != 0:
            to_evaluate(S, S.cols[g + C_LEVEL], L, t, -1)
        if (S.pool[off + i + 1] & 0xFFFF) != 0:
            if S.cols[g + C_OUT] != 0:
                log_event(S, L, t, 1)
            changed(S, L, ANY, t, t + 1)
        i += stride
    if i < n:
        timer(S, L, S.pool[off + i])


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def end_step(S: STATE) -> cython.void:
    """The items that were fed, and everything brought up to date."""
    take(S)
    settle(S, S.nlevels)
    if CHECKED and S.error == 0 and is_sound(S) == 0:
        S.error = 4


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


# --- several machines ---------------------------------------------------------------------------
# Each has the rows that belong to it. Rows of others are there as well, where it has named them:
# what it says of them it says to their owner, by letter, and what it looks at the owner tells it,
# whenever it changes. So the spans and points of such a row are those that its owner has told.


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def begin_hearing(S: STATE, r: i64, columns: i64) -> cython.void:
    """A row is new: nobody has heard of it."""
    words_room(cython.address(S.heard), cython.address(S.heard_size), r + 1)
    S.heard[r] = 0
    words_room(cython.address(S.changes), cython.address(S.changes_size), S.nlines)
    i: i64 = S.nlines - columns
    while i < S.nlines:
        S.changes[i] = INF
        i += 1
    if S.rows[r].home < 0:
        tell_owner(S, r, 0)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def tell_owner(S: STATE, r: i64, what: i64) -> cython.void:
    """The owner of a row has to know that it exists, or that this machine looks at it."""
    had: i64 = S.heard[r]
    if what != 0 and (had & what) != 0:
        return
    S.heard[r] = had | what | TO_TELL
    if (had & TO_TELL) == 0:
        words_room(cython.address(S.foreign), cython.address(S.foreign_size), S.nforeign + 1)
        S.foreign[S.nforeign] = r
        S.nforeign += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def to_tell(S: STATE, L: i64, a: i64) -> cython.void:
    """A line is other from a on: machines that look at it have to be told."""
    r: i64 = S.lines[L].row
    if S.heard[r] == 0 or S.rows[r].home < 0 or S.looked[S.lines[L].col] == 0:
        return
    if S.changes[L] == INF:
        words_room(cython.address(S.untold), cython.address(S.untold_size), S.nuntold + 1)
        S.untold[S.nuntold] = L
        S.nuntold += 1
    if a < S.changes[L]:
        S.changes[L] = a


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def letter(S: STATE, L: i64, kind: i64, n: i64) -> i64:
    """The place of the n words of a new letter about a line, to those whom it concerns.

    A letter has its size, to whom it goes, its kind, table and place of the line, the key.
    """
    row: i64 = S.lines[L].row
    table: i64 = S.rows[row].table
    keys: i64 = S.tables[table * 8 + T_KEYS]
    at: i64 = S.nletters
    words_room(cython.address(S.letters), cython.address(S.letters_size), at + 6 + keys + n)
    home: i64 = S.rows[row].home
    S.letters[at] = 5 + keys + n
    S.letters[at + 1] = S.heard[row] if home >= 0 else cython.cast(i64, 1) << (-1 - home)
    S.letters[at + 2] = kind
    S.letters[at + 3] = table
    S.letters[at + 4] = L - S.rows[row].line
    i: i64 = 0
    while i < keys:
        S.letters[at + 5 + i] = S.keys[S.rows[row].key + i]
        i += 1
    S.nletters = at + 5 + keys + n
    return at + 5 + keys


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def write_letters(S: STATE) -> cython.void:
    """Tell others what they do not know yet."""
    i: i64 = 0
    at: i64 = 0
    while i < S.nforeign:
        r: i64 = S.foreign[i]
        at = letter(S, S.rows[r].line, NEW_ROW, 1)
        S.letters[at] = S.heard[r] & HEARS
        S.heard[r] &= ~TO_TELL
        i += 1
    S.nforeign = 0
    i = 0
    while i < S.nuntold:
        L: i64 = S.untold[i]
        a: i64 = S.changes[L]
        S.changes[L] = INF
        i += 1
        off: i64 = S.lines[L].spans
        n: i64 = S.lines[L].ns
        g: i64 = S.lines[L].col * FIELDS
        kind: i64 = TOLD_SPANS
        lo: i64 = 0
        if S.cols[g + C_KIND] == EVENT:
            kind = TOLD_POINTS
            off = S.lines[L].points
            n = S.lines[L].np
            lo = first_at(S, off, n, a, S.cols[g + C_STRIDE]) if n > 0 else 0
        elif n > 0 and a > -INF:
            lo = first_ending_after(S, off, n, a - 1)
        at = letter(S, L, kind, n - lo + 1)
        S.letters[at] = a
        if n > lo:
            memcpy(
                cython.address(S.letters[at + 1]), cython.address(S.pool[off + lo]), (n - lo) * 8
            )
    S.nuntold = 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def read_letters(S: STATE, T: STATE) -> cython.void:
    """What another machine has written to this one."""
    me: i64 = cython.cast(i64, 1) << S.shard
    at: i64 = 0
    while at < T.nletters and S.error == 0:
        p: WORDS = cython.address(T.letters[at])
        at += p[0]
        if (p[1] & me) == 0:
            continue
        row: i64 = make_row(S, p[3], cython.address(p[5]))
        L: i64 = S.rows[row].line + p[4]
        keys: i64 = S.tables[p[3] * 8 + T_KEYS]
        n: i64 = p[0] - 5 - keys
        words: WORDS = cython.address(p[5 + keys])
        if p[2] == NEW_POINT:
            add_point(S, L, words[0], words[1], words[2], words[3])
        elif p[2] == NEW_EVENT:
            emit_event(S, L, words[0], cython.address(words[2]), words[1])
        elif p[2] == NEW_COUNT:
            was: i64 = S.returning
            S.returning = words[3]
            cover(S, L, words[0], words[1], words[2])
            S.returning = was
        elif p[2] == TOLD_SPANS:
            hear_spans(S, L, words[0], cython.address(words[1]), n - 1)
        elif p[2] == TOLD_POINTS:
            hear_points(S, L, words[0], cython.address(words[1]), n - 1)
        elif words[0] != 0:
            S.heard[row] |= cython.cast(i64, 1) << T.shard
            i: i64 = 0
            while i < S.tables[p[3] * 8 + T_COLUMNS]:
                L = S.rows[row].line + i
                if S.lines[L].np != 0 or S.lines[L].ns != 0:
                    to_tell(S, L, -INF)
                i += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def hear_spans(S: STATE, L: i64, a: i64, words: WORDS, n: i64) -> cython.void:
    """The spans of a line of another machine are other from a on."""
    have: i64 = S.lines[L].ns
    lo: i64 = 0
    if have > 0 and a > -INF:
        lo = first_ending_after(S, S.lines[L].spans, have, a - 1)
    if S.returning == 0:
        words_room(cython.address(S.tmp), cython.address(S.tmp_size), n + 1)
        memcpy(S.tmp, words, n * 8)
        replace(S, L, lo, have, n)
        return
    S.lines[L].ns = lo
    if n > 0:
        off: i64 = spans_room(S, L, n)
        memcpy(cython.address(S.pool[off + lo]), words, n * 8)
        S.lines[L].ns = lo + n


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def hear_points(S: STATE, L: i64, a: i64, words: WORDS, n: i64) -> cython.void:
    """The same for the points of an event: how often it was said, and nothing that rules know."""
    g: i64 = S.lines[L].col * FIELDS
    stride: i64 = S.cols[g + C_STRIDE]
    have: i64 = S.lines[L].np
    lo: i64 = first_at(S, S.lines[L].points, have, a, stride) if have > 0 else 0
    old: i64 = have - lo
    words_room(cython.address(S.gone), cython.address(S.gone_size), old + 1)
    if old > 0:
        memcpy(S.gone, cython.address(S.pool[S.lines[L].points + lo]), old * 8)
    S.lines[L].np = lo
    off: i64 = points_room(S, L, n)
    i: i64 = 0
    while i < n:
        memcpy(cython.address(S.pool[off + lo + i]), cython.address(words[i]), stride * 8)
        S.pool[off + lo + i + 1] = words[i + 1] & 0xFFFF
        if S.cols[g + C_HEAD] == 3:
            S.pool[off + lo + i + 2] = 0
        i += stride
    S.lines[L].np = lo + n
    if S.returning != 0:
        return
    i = 0
    while i < old:
        changed(S, L, ANY, S.gone[i], S.gone[i] + 1)
        i += stride
    i = 0
    while i < n:
        if words[i] <= S.q:
            changed(S, L, ANY, words[i], words[i] + 1)
        i += stride


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def first_waiting(S: STATE) -> i64:
    """The lowest level that has something to do, where rows may be new."""
    return 0 if S.introduced < S.nrows else waiting(S)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def settle_together(every: cython.pointer(STATE), n: i64) -> i64:
    """The items of a step in all machines, one after the other, until nobody has anything to do."""
    i: i64 = 0
    while i < n:
        every[i].since = horai_clock() if every[i].watched != 0 else 0
        take(every[i])
        i += 1
    last: i64 = every[0].nlevels
    level: i64 = every[0].own
    while True:
        wrote: i64 = 0
        i = 0
        while i < n:
            settle(every[i], level)
            write_letters(every[i])
            if every[i].watched != 0:
                mark(every[i], 0, 0)
            if every[i].error != 0:
                return every[i].error
            wrote += every[i].nletters
            i += 1
        if wrote != 0:
            i = 0
            while i < n:
                k: i64 = 0
                while k < n:
                    if k != i:
                        read_letters(every[i], every[k])
                    k += 1
                i += 1
        level = last
        i = 0
        while i < n:
            every[i].nletters = 0
            level = min(level, first_waiting(every[i]))
            i += 1
        if level == last and wrote == 0:
            break
        level = min(max(every[0].own, level + 1), last)
    i = 0
    while CHECKED and i < n:
        if is_sound(every[i]) == 0:
            return 4
        i += 1
    return 0


# --- for Python ---------------------------------------------------------------------------------


@cython.cfunc
def put(words: object, p: WORDSS, size: WORDS) -> i64:
    given: cython.longlong[::1] = words
    n: i64 = given.shape[0]
    words_room(p, size, n + 8)
    if n > 0:
        memcpy(p[0], cython.address(given[0]), n * 8)
    return n


@cython.cclass
class Machine:
    """The state of a run, for the session that owns it.

    `owner` answers what only Python can (`answered`), keeps failures (`failure`) and gives decimals
    that no word holds a place (`interned`).
    """

    state: State
    owner: object

    def __cinit__(self, owner: object):
        self.owner = owner
        S: STATE = cython.address(self.state)
        memset(S, 0, cython.sizeof(State))
        S.owner = cython.cast(cython.p_void, owner)
        S.nag = S.narena = 8
        S.settled = -INF
        self._begin()
        words_room(cython.address(S.sweep), cython.address(S.sweep_size), 4 * 64)
        words_room(cython.address(S.reg), cython.address(S.reg_size), REGISTERS)
        words_room(cython.address(S.key), cython.address(S.key_size), REGISTERS)

    def __dealloc__(self):
        S: STATE = cython.address(self.state)
        free(S.pool)
        free(S.lines)
        free(S.rows)
        free(S.keys)
        free(S.slots)
        free(S.homes)
        free(S.links)
        free(S.linkslots)
        free(S.tables)
        free(S.cols)
        free(S.code)
        free(S.args)
        free(S.sites)
        free(S.facts)
        free(S.ag)
        free(S.queues)
        free(S.cyclic)
        free(S.heap)
        free(S.run)
        free(S.timers)
        free(S.tmp)
        free(S.gone)
        free(S.sweep)
        free(S.em)
        free(S.reg)
        free(S.key)
        free(S.arena)
        free(S.touched)
        free(S.log)
        free(S.out)
        free(S.items)
        free(S.order)
        free(S.counts)
        free(S.spent)
        free(S.owners)
        free(S.wishes)
        free(S.seen)
        free(S.memo)
        free(S.fx)
        free(S.bag)
        free(S.stack)
        free(S.given)
        free(S.answered)
        free(S.memoslots)
        free(S.numeric)
        free(S.reals)
        free(S.heard)
        free(S.changes)
        free(S.untold)
        free(S.foreign)
        free(S.where)
        free(S.looked)
        free(S.letters)

    def program(
        self, code, args, tables, cols, sites, cyclic, constants, own: i64, start: i64, tick: i64
    ):
        """Take a program; all of it are arrays of words."""
        S: STATE = cython.address(self.state)
        words: cython.longlong[::1] = constants
        n: i64 = words.shape[0]
        words_room(cython.address(S.reg), cython.address(S.reg_size), REGISTERS + n)
        if n > 0:
            memcpy(cython.address(S.reg[REGISTERS]), cython.address(words[0]), n * 8)
        put(code, cython.address(S.code), cython.address(S.code_size))
        put(args, cython.address(S.args), cython.address(S.args_size))
        put(tables, cython.address(S.tables), cython.address(S.tables_size))
        put(cols, cython.address(S.cols), cython.address(S.cols_size))
        put(sites, cython.address(S.sites), cython.address(S.sites_size))
        S.nlevels = put(cyclic, cython.address(S.cyclic), cython.address(S.cyclic_size))
        words_room(cython.address(S.queues), cython.address(S.queues_size), 4 * S.nlevels + 4)
        memset(S.queues, 0, (4 * S.nlevels + 4) * 8)
        S.asks = 0
        k: i64 = 0
        while k < S.cols_size // FIELDS:
            S.asks |= S.cols[k * FIELDS + C_ASKS]
            k += 1
        S.own = own
        S.start = start
        S.tick = tick
        S.first = after(S, start)
        S.origin = before(S, start)
        S.level = -1
        S.q = S.qprev = start

    def facts(self, rows: cython.longlong[:, ::1], keys: i64) -> i64:
        """A relation with an index over its first columns, by which rows are sorted; its place."""
        S: STATE = cython.address(self.state)
        n: i64 = rows.shape[0]
        nc: i64 = rows.shape[1]
        size: i64 = 8
        while size < 2 * n + 2:
            size *= 2
        at: i64 = S.ndata
        words_room(
            cython.address(S.facts), cython.address(S.facts_size), at + 5 + 2 * size + n * nc
        )
        S.ndata = at + 5 + 2 * size + n * nc
        S.facts[at] = size - 1
        S.facts[at + 1] = keys
        S.facts[at + 2] = nc
        S.facts[at + 3] = at + 5
        S.facts[at + 4] = at + 5 + 2 * size
        memset(cython.address(S.facts[at + 5]), 0, 2 * size * 8)
        base: i64 = at + 5 + 2 * size
        if n * nc > 0:
            memcpy(cython.address(S.facts[base]), cython.address(rows[0, 0]), n * nc * 8)
        i: i64 = 0
        while i < n:
            j: i64 = i + 1
            while j < n:
                k: i64 = 0
                while k < keys and S.facts[base + j * nc + k] == S.facts[base + i * nc + k]:
                    k += 1
                if k < keys:
                    break
                j += 1
            h: i64 = 0
            if nc > 0:
                h = hashed(cython.address(S.facts[base + i * nc]), keys, 0)
            else:
                h = hashed(cython.address(S.facts[at]), 0, 0)
            slot: i64 = h & (size - 1)
            while S.facts[at + 5 + slot * 2] != 0:
                slot = (slot + 1) & (size - 1)
            S.facts[at + 5 + slot * 2] = i + 1
            S.facts[at + 6 + slot * 2] = j - i
            i = j
        return at

    def symbols(self, numeric: cython.longlong[::1], reals: cython.double[::1]):
        """Which terms of the table are numbers: 1 for a decimal, 2 for a large whole number."""
        S: STATE = cython.address(self.state)
        n: i64 = numeric.shape[0]
        old: i64 = S.nsymbols
        words_room(cython.address(S.numeric), cython.address(S.numeric_size), old + n)
        room(
            cython.cast(VOIDS, cython.address(S.reals)),
            cython.address(S.reals_size),
            old + n,
            8,
        )
        i: i64 = 0
        while i < n:
            S.numeric[old + i] = numeric[i]
            S.reals[old + i] = reals[i]
            i += 1
        S.nsymbols = old + n

    def feed(self, table: i64, place: i64, sign: i64, columns: list):
        """Items of one column: their times, the words of their keys, what else a point has."""
        S: STATE = cython.address(self.state)
        width: i64 = len(columns) - 1
        words_room(cython.address(S.sweep), cython.address(S.sweep_size), width + 1)
        words_room(cython.address(S.em), cython.address(S.em_size), width + 1)
        n: i64 = 0
        for k in range(width + 1):
            words: cython.longlong[::1] = columns[k]
            n = words.shape[0]
            S.sweep[k] = cython.cast(i64, cython.address(words[0])) if n > 0 else 0
        with cython.nogil:
            feed_items(S, table, place, sign, n, width)

    def give(self, rows: list, others=()):
        """Items one by one: (table, place, time, words of the key and of what else a point has).

        Where there are several machines, each is for one of them, this being the first.
        """
        S: STATE = cython.address(self.state)
        given: i64[64]
        for row in rows:
            table: i64 = row[0]
            place: i64 = row[1]
            words: tuple = row[3]
            n: i64 = len(words)
            k: i64 = 0
            if n > 64:
                raise ValueError("an item has too many arguments")
            while k < n:
                given[k] = words[k]
                k += 1
            whose: i64 = shard_of(S, table, cython.address(given[0]))
            T: STATE = S
            if whose != 0:
                T = cython.address(cython.cast(Machine, others[whose - 1]).state)
            put_item(T, table, place, 1, row[2], cython.address(given[0]), n)

    def begin(self, table: i64, place: i64, key: cython.longlong[::1], value: i64):
        """A value that holds from the start of the run: begun just before."""
        S: STATE = cython.address(self.state)
        none: i64[1]
        none[0] = 0
        words: WORDS = cython.address(none[0])
        if key.shape[0] > 0:
            words = cython.address(key[0])
        if shard_of(S, table, words) != S.shard:
            return
        r: i64 = make_row(S, table, words)
        add_point(S, S.rows[r].line + place, S.origin, value, INITIATED, 1)

    def touch(self, table: i64, place: i64):
        """The line of an instance without a key is other than it was, at all times."""
        S: STATE = cython.address(self.state)
        none: i64[1]
        none[0] = 0
        r: i64 = make_row(S, table, cython.address(none[0]))
        changed(S, S.rows[r].line + place, ANY, -INF, INF)

    def make(self, table: i64):
        """The only instance of a table without keys."""
        key: i64[1]
        key[0] = 0
        make_row(cython.address(self.state), table, cython.address(key[0]))

    def begin_step(self, q: i64):
        """Go on to a query time; items and initial values may follow."""
        begin_step(cython.address(self.state), q)

    def end_step(self):
        """Bring everything up to date; the error, 0 if there is none."""
        S: STATE = cython.address(self.state)
        S.since = horai_clock() if S.watched != 0 else 0
        with cython.nogil:
            end_step(S)
            if S.watched != 0:
                mark(S, 0, 0)
        return S.error

    def watch(self, number: i64, owners):
        """Count what so many rules cost. A program with marks has to follow."""
        S: STATE = cython.address(self.state)
        put(owners, cython.address(S.owners), cython.address(S.owners_size))
        words_room(cython.address(S.spent), cython.address(S.spent_size), 3 * number + 3)
        memset(S.spent, 0, (3 * number + 3) * 8)
        S.watched = number

    def spent(self, found: cython.longlong[::1]):
        """The runs, rows and nanoseconds of each of them, nobody's first."""
        S: STATE = cython.address(self.state)
        if S.watched != 0:
            memcpy(cython.address(found[0]), S.spent, (3 * S.watched + 3) * 8)

    def _words(self, n: i64):
        S: STATE = cython.address(self.state)
        return cython.cast(bytes, cython.cast(cython.p_char, S.out)[: n * 8]) if n else b""

    def changelog(self):
        """Rows (sign, line, value, start, end) of what came and went."""
        S: STATE = cython.address(self.state)
        with cython.nogil:
            n: i64 = changelog(S)
        return self._words(n)

    def count(self, table: i64, place: i64, border: i64):
        """How many spans or events of a column there are after a time."""
        S: STATE = cython.address(self.state)
        is_event: i64 = S.cols[(S.tables[table * 8 + T_FIRST] + place) * FIELDS + C_KIND] == EVENT
        found: i64 = 0
        r: i64 = 0
        with cython.nogil:
            while r < S.nrows:
                if S.rows[r].table == table and S.rows[r].home >= 0:
                    L: i64 = S.rows[r].line + place
                    if is_event != 0:
                        found += happened(S, L, border, cython.NULL, 0)
                    else:
                        found += shown(S, L, border, cython.NULL, cython.NULL, cython.NULL, 0)
                r += 1
        return found

    def show(
        self,
        table: i64,
        place: i64,
        border: i64,
        at: i64,
        keys: cython.longlong[:, ::1],
        rows: cython.longlong[:, ::1],
    ):
        """Put them where there is room for as many: keys, and start, end and value or time."""
        S: STATE = cython.address(self.state)
        is_event: i64 = rows.shape[0] == 1
        r: i64 = 0
        with cython.nogil:
            while r < S.nrows and at < rows.shape[1]:
                if S.rows[r].table == table and S.rows[r].home >= 0:
                    L: i64 = S.rows[r].line + place
                    n: i64 = 0
                    if is_event != 0:
                        n = happened(S, L, border, cython.address(rows[0, 0]), at)
                    else:
                        n = shown(
                            S,
                            L,
                            border,
                            cython.address(rows[0, 0]),
                            cython.address(rows[1, 0]),
                            cython.address(rows[2, 0]),
                            at,
                        )
                    k: i64 = 0
                    while k < keys.shape[0]:
                        word: i64 = S.keys[S.rows[r].key + k]
                        i: i64 = at
                        while i < at + n:
                            keys[k, i] = word
                            i += 1
                        k += 1
                    at += n
                r += 1

    def events(self):
        """Rows (sign, line, time) of derived events that came and went, in the order they did."""
        S: STATE = cython.address(self.state)
        n: i64 = S.nlog
        return cython.cast(bytes, cython.cast(cython.p_char, S.log)[: n * 8]) if n else b""

    def describe(self, lines: cython.longlong[::1], cols: cython.longlong[::1]):
        """The columns of some lines."""
        S: STATE = cython.address(self.state)
        i: i64 = 0
        with cython.nogil:
            while i < lines.shape[0]:
                cols[i] = S.lines[lines[i] - S.named].col
                i += 1

    def keys(self, lines: cython.longlong[::1], keys: cython.longlong[:, ::1]):
        """The keys of some lines of one table."""
        S: STATE = cython.address(self.state)
        i: i64 = 0
        with cython.nogil:
            while i < lines.shape[0]:
                at: i64 = S.rows[S.lines[lines[i] - S.named].row].key
                k: i64 = 0
                while k < keys.shape[1]:
                    keys[i, k] = S.keys[at + k]
                    k += 1
                i += 1

    def instance(self, line: i64):
        """The column of a line, and the words of its key."""
        S: STATE = cython.address(self.state)
        line -= S.named
        r: i64 = S.lines[line].row
        at: i64 = S.rows[r].key
        n: i64 = S.tables[S.rows[r].table * 8 + T_KEYS]
        return S.lines[line].col, [S.keys[at + k] for k in range(n)]

    def remember(self, number: i64, given, width: i64, solutions):
        """The answer to a question of an instruction."""
        S: STATE = cython.address(self.state)
        n: i64 = len(given)
        at: i64 = S.nmemo
        words_room(
            cython.address(S.memo),
            cython.address(S.memo_size),
            at + 4 + n + len(solutions) * width + 8,
        )
        S.memo[at] = number
        S.memo[at + 1] = n
        k: i64 = at + 2
        for word in given:
            S.memo[k] = word
            k += 1
        S.memolast = k
        S.memo[k] = len(solutions)
        S.memo[k + 1] = width
        k += 2
        for row in solutions:
            for word in row:
                S.memo[k] = word
                k += 1
        S.nmemo = k
        h: i64 = hashed(cython.address(S.memo[at + 2]), n, number) & S.memomask
        while S.memoslots[h] != 0:
            h = (h + 1) & S.memomask
        S.memoslots[h] = at
        S.answers += 1
        if S.answers * 2 > S.memomask:
            self._rememo()

    def _rememo(self):
        S: STATE = cython.address(self.state)
        old: i64 = S.memomask + 1
        slots: WORDS = S.memoslots
        S.memoslots = cython.cast(WORDS, calloc(old * 2, 8))
        if S.memoslots == cython.NULL:
            out_of_memory()
        S.memomask = old * 2 - 1
        i: i64 = 0
        while i < old:
            at: i64 = slots[i]
            if at != 0:
                h: i64 = hashed(cython.address(S.memo[at + 2]), S.memo[at + 1], S.memo[at])
                h &= S.memomask
                while S.memoslots[h] != 0:
                    h = (h + 1) & S.memomask
                S.memoslots[h] = at
            i += 1
        free(slots)

    def called(self):
        """The number of the procedure that calls itself without end."""
        return self.state.called

    def unsettled(self):
        """The column of rules that contradict themselves, and the time."""
        return self.state.called, self.state.unsettled

    def having(self, table: i64, place: i64):
        """The keys of the rows of a table of which a column has spans."""
        S: STATE = cython.address(self.state)
        found: list = []
        r: i64 = 0
        while r < S.nrows:
            if S.rows[r].table == table and S.lines[S.rows[r].line + place].ns > 0:
                k: i64 = S.rows[r].key
                found.append([S.keys[k + i] for i in range(S.tables[table * 8 + T_KEYS])])
            r += 1
        return found

    # --- what is kept of it, and taken up again ---------------------------------------------------

    def sizes(self):
        """How many rows, lines, links and timers there are."""
        S: STATE = cython.address(self.state)
        return S.nrows, S.nlines, S.nlinks - 8, S.ntimers

    def size(self):
        """How many words all of that takes, roughly."""
        S: STATE = cython.address(self.state)
        pool: i64 = S.top - S.spare
        return pool + S.nkeys + S.nmemo + 8 * S.nlines + 6 * S.nrows + 4 * S.nlinks + 2 * S.ntimers

    def rows(self, found: cython.longlong[:, ::1]):
        """Of each row its table, its first line and where its key is."""
        S: STATE = cython.address(self.state)
        i: i64 = 0
        while i < S.nrows:
            found[i, 0] = S.rows[i].table
            found[i, 1] = S.rows[i].line
            found[i, 2] = S.rows[i].key
            i += 1

    def lines(self, found: cython.longlong[:, ::1]):
        """Of each line its column, its points and its spans (where, how many words), its timer."""
        S: STATE = cython.address(self.state)
        i: i64 = 0
        while i < S.nlines:
            mine: i64 = 1 if is_foreign(S, i) == 0 else 0
            found[i, 0] = S.lines[i].col
            found[i, 1] = S.lines[i].points
            found[i, 2] = S.lines[i].np * mine
            found[i, 3] = S.lines[i].spans
            found[i, 4] = S.lines[i].ns * mine
            found[i, 5] = S.lines[i].timer
            i += 1

    def links(self, found: cython.longlong[:, ::1]):
        """Links as (line, site, target, when)."""
        S: STATE = cython.address(self.state)
        i: i64 = 0
        while i < S.nlinks - 8:
            found[i, 0] = S.links[i + 8].line
            found[i, 1] = S.links[i + 8].site
            found[i, 2] = S.links[i + 8].target
            found[i, 3] = S.links[i + 8].when
            i += 1

    def timers(self, found: cython.longlong[:, ::1]):
        """Timers as (time, line)."""
        S: STATE = cython.address(self.state)
        if S.ntimers > 0:
            memcpy(cython.address(found[0, 0]), S.timers, S.ntimers * 16)

    def words(self):
        """The words of all keys, and those of the pool."""
        S: STATE = cython.address(self.state)
        keys = cython.cast(bytes, cython.cast(cython.p_char, S.keys)[: S.nkeys * 8])
        pool = (
            cython.cast(bytes, cython.cast(cython.p_char, S.pool)[: S.top * 8]) if S.pool else b""
        )
        return keys if S.nkeys else b"", pool

    def trim(
        self,
        points: cython.longlong[::1],
        spans: cython.longlong[::1],
        stride: cython.longlong[::1],
    ):
        """Let go of points and spans that are over, by column; rows stay."""
        S: STATE = cython.address(self.state)
        L: i64 = 0
        while S.nlines > L:
            col: i64 = S.lines[L].col
            trim_line(S, L, points[col], spans[col], stride[col])
            L += 1

    def empty(self):
        """How many rows say nothing any more."""
        S: STATE = cython.address(self.state)
        found: i64 = 0
        r: i64 = 0
        while r < S.nrows:
            L: i64 = S.rows[r].line
            last: i64 = L + S.tables[S.rows[r].table * 8 + T_COLUMNS]
            while last > L and S.lines[L].np == 0 and S.lines[L].ns == 0:
                L += 1
            if last == L:
                found += 1
            r += 1
        return found

    def clear(self):
        """Forget all rows and what Python answered, and give back their memory."""
        S: STATE = cython.address(self.state)
        free(S.pool)
        free(S.lines)
        free(S.rows)
        free(S.keys)
        free(S.links)
        free(S.timers)
        free(S.memo)
        free(S.slots)
        free(S.homes)
        free(S.linkslots)
        free(S.memoslots)
        S.pool = S.keys = S.timers = S.memo = cython.NULL
        S.lines = cython.NULL
        S.rows = cython.NULL
        S.links = cython.NULL
        S.nuntold = S.nforeign = S.nletters = 0
        S.pool_size = S.keys_size = S.timers_size = S.memo_size = 0
        S.lines_size = S.rows_size = S.links_size = 0
        S.nrows = S.nlines = S.nkeys = S.nhomes = S.ntimers = S.answers = S.introduced = 0
        memset(cython.address(S.free[0]), 0, 64 * 8)
        self._begin()

    def _begin(self):
        """Empty tables."""
        S: STATE = cython.address(self.state)
        S.mask = S.homemask = S.linkmask = S.memomask = 255
        S.slots = cython.cast(INTS, calloc(256, 4))
        S.homes = cython.cast(INTS, calloc(256, 4))
        S.linkslots = cython.cast(INTS, calloc(256, 4))
        S.memoslots = cython.cast(WORDS, calloc(256, 8))
        if S.slots == cython.NULL or S.linkslots == cython.NULL or S.memoslots == cython.NULL:
            raise MemoryError
        if S.homes == cython.NULL:
            raise MemoryError
        S.nlinks = S.top = S.nmemo = 8
        S.spare = 0
        room(
            cython.cast(VOIDS, cython.address(S.links)),
            cython.address(S.links_size),
            8,
            cython.sizeof(Link),
        )

    def take_up(
        self,
        tables: cython.longlong[::1],
        keys: cython.longlong[::1],
        sizes: cython.longlong[:, ::1],
        points: cython.longlong[::1],
        spans: cython.longlong[::1],
        said: cython.longlong[::1],
        links: cython.longlong[:, ::1],
        timers: cython.longlong[:, ::1],
        at: cython.longlong[::1],
    ):
        """Make rows that were kept, in a machine without any. Whoever calls has checked them.

        Of each line `sizes` has how many words of points and of spans it has, and its timer. A
        point that remembers what it said has the length of the list, which is in `said`. Lines are
        numbered as these rows have them; `at` gets where they are. Timers come in order of time.
        """
        S: STATE = cython.address(self.state)
        nothing: i64[1]
        n: i64 = 0
        i: i64 = 0
        k: i64 = 0
        while i < tables.shape[0]:
            width: i64 = S.tables[tables[i] * 8 + T_KEYS]
            r: i64 = make_row(
                S, tables[i], cython.address(keys[k]) if width > 0 else cython.address(nothing[0])
            )
            k += width
            j: i64 = 0
            while j < S.tables[tables[i] * 8 + T_COLUMNS]:
                at[n] = S.rows[r].line + j
                n += 1
                j += 1
            i += 1
        i = 0
        k = 0
        s: i64 = 0
        p: i64 = 0
        while i < sizes.shape[0]:
            L: i64 = at[i]
            g: i64 = S.lines[L].col * FIELDS
            S.lines[L].timer = sizes[i, 2]
            n = sizes[i, 0]
            if n > 0:
                off: i64 = points_room(S, L, n)
                memcpy(cython.address(S.pool[off]), cython.address(points[k]), n * 8)
                S.lines[L].np = n
                k += n
                if S.cols[g + C_KIND] == EVENT and S.cols[g + C_HEAD] == 3:
                    j = 0
                    while j < n:
                        m: i64 = S.pool[S.lines[L].points + j + 2]
                        S.pool[S.lines[L].points + j + 2] = 0
                        if m > 0:
                            words_room(cython.address(S.em), cython.address(S.em_size), m)
                            memcpy(S.em, cython.address(said[p]), m * 8)
                            p += m
                            width = 0
                            while width < m:
                                S.em[width + 2] = at[S.em[width + 2]]
                                width += 5
                            keep_said(S, L, j, m)
                        j += S.cols[g + C_STRIDE]
            n = sizes[i, 1]
            if n > 0:
                off = spans_room(S, L, n)
                memcpy(cython.address(S.pool[off]), cython.address(spans[s]), n * 8)
                S.lines[L].ns = n
                s += n
            i += 1
        i = 0
        while i < links.shape[0]:
            S.reg[0] = 2 * links[i, 3] + 1
            link(S, at[links[i, 0]], links[i, 1], at[links[i, 2]])
            i += 1
        i = 0
        n = timers.shape[0]
        words_room(cython.address(S.timers), cython.address(S.timers_size), 2 * n + 2)
        while i < n:
            S.timers[2 * i] = timers[i, 0]
            S.timers[2 * i + 1] = at[timers[i, 1]]
            i += 1
        S.ntimers = n
        # What looks at what is found again; nothing of it has changed, unless nothing ever ran.
        if S.q > S.start:
            S.returning = 1
            introduce(S)
            S.returning = 0
        return S.error

    def settled(self, t: i64):
        """What answers show before a time is settled, and all of it may be other from there on."""
        S: STATE = cython.address(self.state)
        S.settled = t
        L: i64 = 0
        while S.nlines > L and t > -INF:
            if S.cols[S.lines[L].col * FIELDS + C_KIND] in (SIMPLE, LIST):
                dirty(S, L, t, INF)
            L += 1

    def go_on(self, q: i64):
        """Go on from a query time."""
        S: STATE = cython.address(self.state)
        S.q = S.qprev = q

    # --- with others -----------------------------------------------------------------------------

    def divide(self, shards: i64, shard: i64, where, looked):
        """Be one of several machines, before there are rows."""
        S: STATE = cython.address(self.state)
        S.shards = shards
        S.shard = shard
        S.named = shard << NAMED
        put(where, cython.address(S.where), cython.address(S.where_size))
        put(looked, cython.address(S.looked), cython.address(S.looked_size))

    def owners(self, words: cython.longlong[::1], found: cython.longlong[::1]):
        """Which machines rows belong to, by the words of their homes."""
        S: STATE = cython.address(self.state)
        i: i64 = 0
        while i < words.shape[0]:
            found[i] = (hashed(cython.address(words[i]), 1, 1) >> 20) % S.shards
            i += 1

    def accept(self):
        """Insert the items of the step, and settle what asks no others."""
        S: STATE = cython.address(self.state)
        S.since = horai_clock() if S.watched != 0 else 0
        with cython.nogil:
            take(S)

    def settle(self, level: i64):
        """Settle levels before one; the error, and whether others have to hear of something."""
        S: STATE = cython.address(self.state)
        with cython.nogil:
            settle(S, level)
            write_letters(S)
            if S.watched != 0:
                mark(S, 0, 0)
        return S.error, S.nletters

    def together(self, others: list):
        """Insert the items of the step, here and in others, and bring all up to date; the error.

        It is one thread that goes from machine to machine.
        """
        every: STATE[64]
        n: i64 = len(others) + 1
        every[0] = cython.address(self.state)
        for k in range(1, n):
            every[k] = cython.address(cython.cast(Machine, others[k - 1]).state)
        with cython.nogil:
            error: i64 = settle_together(every, n)
        return error

    def stop(self):
        """Another machine has failed."""
        self.state.error = 2

    def receive(self, other: Machine, quiet: i64):
        """Read the letters of another machine; if `quiet`, what they say of it changes nothing."""
        S: STATE = cython.address(self.state)
        T: STATE = cython.address(other.state)
        S.returning = quiet
        with cython.nogil:
            read_letters(S, T)
            if quiet != 0:
                introduce(S)
        S.returning = 0

    def sent(self):
        """All others have read the letters."""
        self.state.nletters = 0

    def error(self):
        """What has gone wrong, 0 if nothing has."""
        return self.state.error

    def waiting(self):
        """The lowest level that has something to do."""
        return first_waiting(cython.address(self.state))

    def is_sound(self):
        """Does all fit together? Only a checked machine looks."""
        return CHECKED == 0 or is_sound(cython.address(self.state)) != 0

    def counts(self):
        """What the run has cost so far."""
        S: STATE = cython.address(self.state)
        return {
            "rows": S.nrows,
            "lines": S.nlines,
            "links": S.nlinks - 8,
            "evaluations": S.evals,
            "resolutions": S.resolves,
            "unknown": S.unknown,
            "pool": S.top * 8,
            "timers": S.ntimers,
        }


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def out_of_memory() -> cython.void:
    abort()
