# mypy: ignore-errors
# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, infer_types=True
# ruff: noqa: SIM102, SIM109, SIM113, F842
"""Tables that follow a stream: windows, rules, aggregates and recursion; only changes cost.

Compiled ahead of time by Cython; `views.pxd` declares what is kept. Everything is a 64-bit integer:
words of terms (`words.py`), times, rows. A table has rows of words and counts what speaks for each:
points in a window, rows that a pattern fits, solutions of a rule. A row is *present*, so that rules
see it, while that is enough.

A step moves windows, takes signals in and goes through the tables in their order. Whatever comes or
goes is passed on row by row: to windows over it, to aggregates, and to rules, which find the
solutions with this row. The conditions before the one that reads it do not see it, so all of them
are met once. Tables whose rows rest on each other are a *component*: what has lost a solution is in
doubt, with all that rests on it, and is taken away; what still has a reason comes back.
"""

import cython
from cython.cimports.libc.stdlib import abort, calloc, free, realloc
from cython.cimports.libc.string import memcpy, memmove, memset

PRESENT = cython.declare(cython.longlong, 1)
TOUCHED = cython.declare(cython.longlong, 2)
LOST = cython.declare(cython.longlong, 4)
GAINED = cython.declare(cython.longlong, 8)
DOUBT = cython.declare(cython.longlong, 16)
WAITS = cython.declare(cython.longlong, 32)

# What follows from a row.
SHAPE = cython.declare(cython.longlong, 0)
POINT = cython.declare(cython.longlong, 1)
HELD = cython.declare(cython.longlong, 2)
START = cython.declare(cython.longlong, 3)
ASKED = cython.declare(cython.longlong, 4)
ELEMENT = cython.declare(cython.longlong, 5)
OUTPUT = cython.declare(cython.longlong, 6)

# What becomes of a solution: it counts, its head is listed, also if new, or it is what was sought.
COUNTS = cython.declare(cython.longlong, 0)
LISTS = cython.declare(cython.longlong, 1)
FINDS = cython.declare(cython.longlong, 2)
CHECKS = cython.declare(cython.longlong, 3)


# --- memory -------------------------------------------------------------------------------------


@cython.cfunc
@cython.exceptval(check=False)
def larger(p: VOIDS, need: i64, width: i64) -> cython.void:
    p[0] = realloc(p[0], need * width if need > 0 else 8)
    if p[0] == cython.NULL:
        abort()


@cython.cfunc
@cython.exceptval(check=False)
def push(vector: cython.pointer(Vector), word: i64) -> cython.void:
    if vector.size == vector.room:
        vector.room = 2 * vector.room + 16
        larger(cython.cast(VOIDS, cython.address(vector.data)), vector.room, 8)
    vector.data[vector.size] = word
    vector.size += 1


@cython.cfunc
@cython.exceptval(check=False)
def reserve(vector: cython.pointer(Vector), need: i64) -> cython.void:
    if vector.room < need:
        vector.room = 2 * need
        larger(cython.cast(VOIDS, cython.address(vector.data)), vector.room, 8)


# --- tables -------------------------------------------------------------------------------------


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def mixed(h: U64, word: i64) -> U64:
    h = (h ^ cython.cast(U64, word)) * HASH_K
    return h ^ (h >> 31)


@cython.cfunc
@cython.exceptval(check=False)
def hashed(words: WORDS, width: i64) -> U64:
    h: U64 = 0x1234567
    i: i64
    for i in range(width):
        h = mixed(h, words[i])
    return h ^ (h >> 29)


@cython.cfunc
@cython.exceptval(check=False)
def same(one: WORDS, other: WORDS, width: i64) -> i64:
    i: i64
    for i in range(width):
        if one[i] != other[i]:
            return 0
    return 1


@cython.cfunc
@cython.exceptval(check=False)
def find(T: cython.pointer(Table), words: WORDS) -> i64:
    """The row with some words, or -1."""
    h: U64 = hashed(words, T.width)
    at: i64 = cython.cast(i64, h) & T.mask
    row: i64
    while T.slots[at] != 0:
        row = T.slots[at] - 1
        if T.hash[row] == h and same(T.data + row * T.width, words, T.width):
            return row
        at = (at + 1) & T.mask
    return -1


@cython.cfunc
@cython.exceptval(check=False)
def more_slots(T: cython.pointer(Table)) -> cython.void:
    size: i64 = 2 * (T.mask + 1)
    free(T.slots)
    T.slots = cython.cast(WORDS, calloc(size, 8))
    if T.slots == cython.NULL:
        abort()
    T.mask = size - 1
    row: i64
    at: i64
    for row in range(T.size):
        if T.state[row] < 0:
            continue
        at = cython.cast(i64, T.hash[row]) & T.mask
        while T.slots[at] != 0:
            at = (at + 1) & T.mask
        T.slots[at] = row + 1


@cython.cfunc
@cython.exceptval(check=False)
def more_rows(T: cython.pointer(Table)) -> cython.void:
    T.room = 2 * T.room + 16
    larger(cython.cast(VOIDS, cython.address(T.data)), T.room * T.width, 8)
    larger(cython.cast(VOIDS, cython.address(T.count)), T.room, 8)
    larger(cython.cast(VOIDS, cython.address(T.state)), T.room, 8)
    larger(cython.cast(VOIDS, cython.address(T.hash)), T.room, 8)
    i: i64
    for i in range(T.n_indexes):
        index_room(cython.address(T.indexes[i]), T.room)


@cython.cfunc
@cython.exceptval(check=False)
def index_room(I: cython.pointer(Index), room: i64) -> cython.void:
    I.room = room
    larger(cython.cast(VOIDS, cython.address(I.next)), room, 8)
    larger(cython.cast(VOIDS, cython.address(I.before)), room, 8)


@cython.cfunc
@cython.exceptval(check=False)
def intern(T: cython.pointer(Table), words: WORDS) -> i64:
    """The row with some words, which may be new: then nothing speaks for it."""
    h: U64 = hashed(words, T.width)
    at: i64 = cython.cast(i64, h) & T.mask
    row: i64
    while T.slots[at] != 0:
        row = T.slots[at] - 1
        if T.hash[row] == h and same(T.data + row * T.width, words, T.width):
            return row
        at = (at + 1) & T.mask
    if 2 * T.used > T.mask:
        more_slots(T)
        at = cython.cast(i64, h) & T.mask
        while T.slots[at] != 0:
            at = (at + 1) & T.mask
    if T.free >= 0:
        row = T.free
        T.free = T.count[row]
    else:
        if T.size == T.room:
            more_rows(T)
        row = T.size
        T.size += 1
    memcpy(T.data + row * T.width, words, T.width * 8)
    T.count[row] = 0
    T.state[row] = 0
    T.hash[row] = h
    T.slots[at] = row + 1
    T.used += 1
    return row


@cython.cfunc
@cython.exceptval(check=False)
def drop(T: cython.pointer(Table), row: i64) -> cython.void:
    """Forget a row for which nothing speaks."""
    mask: i64 = T.mask
    at: i64 = cython.cast(i64, T.hash[row]) & mask
    while T.slots[at] != row + 1:
        at = (at + 1) & mask
    then: i64 = at
    home: i64
    while True:
        then = (then + 1) & mask
        if T.slots[then] == 0:
            break
        home = cython.cast(i64, T.hash[T.slots[then] - 1]) & mask
        if ((then - home) & mask) >= ((then - at) & mask):
            T.slots[at] = T.slots[then]
            at = then
    T.slots[at] = 0
    T.used -= 1
    T.state[row] = -1
    T.count[row] = T.free
    T.free = row


# --- indexes ------------------------------------------------------------------------------------


@cython.cfunc
@cython.exceptval(check=False)
def key_hash(T: cython.pointer(Table), I: cython.pointer(Index), row: i64) -> i64:
    h: U64 = 0x7654321
    words: WORDS = T.data + row * T.width
    i: i64
    for i in range(I.width):
        h = mixed(h, words[I.columns[i]])
    return cython.cast(i64, h ^ (h >> 29))


@cython.cfunc
@cython.exceptval(check=False)
def same_key(T: cython.pointer(Table), I: cython.pointer(Index), one: i64, other: i64) -> i64:
    a: WORDS = T.data + one * T.width
    b: WORDS = T.data + other * T.width
    i: i64
    for i in range(I.width):
        if a[I.columns[i]] != b[I.columns[i]]:
            return 0
    return 1


@cython.cfunc
@cython.exceptval(check=False)
def chain(T: cython.pointer(Table), I: cython.pointer(Index), key: WORDS) -> i64:
    """The first row of a key, or -1."""
    h: U64 = 0x7654321
    i: i64
    for i in range(I.width):
        h = mixed(h, key[i])
    at: i64 = cython.cast(i64, h ^ (h >> 29)) & I.mask
    words: WORDS
    while I.slots[at] != 0:
        words = T.data + (I.slots[at] - 1) * T.width
        i = 0
        while i < I.width and words[I.columns[i]] == key[i]:
            i += 1
        if i == I.width:
            return I.slots[at] - 1
        at = (at + 1) & I.mask
    return -1


@cython.cfunc
@cython.exceptval(check=False)
def more_chains(T: cython.pointer(Table), I: cython.pointer(Index)) -> cython.void:
    old: WORDS = I.slots
    size: i64 = I.mask + 1
    I.slots = cython.cast(WORDS, calloc(2 * size, 8))
    if I.slots == cython.NULL:
        abort()
    I.mask = 2 * size - 1
    i: i64
    at: i64
    for i in range(size):
        if old[i] != 0:
            at = key_hash(T, I, old[i] - 1) & I.mask
            while I.slots[at] != 0:
                at = (at + 1) & I.mask
            I.slots[at] = old[i]
    free(old)


@cython.cfunc
@cython.exceptval(check=False)
def enter(T: cython.pointer(Table), row: i64) -> cython.void:
    """A row becomes present."""
    T.state[row] |= PRESENT
    n: i64
    I: cython.pointer(Index)
    at: i64
    h: i64
    head: i64
    for n in range(T.n_indexes):
        I = cython.address(T.indexes[n])
        h = key_hash(T, I, row)
        at = h & I.mask
        while I.slots[at] != 0 and not same_key(T, I, I.slots[at] - 1, row):
            at = (at + 1) & I.mask
        head = I.slots[at] - 1
        I.next[row] = head
        I.before[row] = -1
        if head >= 0:
            I.before[head] = row
            I.slots[at] = row + 1
            continue
        I.slots[at] = row + 1
        I.used += 1
        if 2 * I.used > I.mask:
            more_chains(T, I)


@cython.cfunc
@cython.exceptval(check=False)
def leave(T: cython.pointer(Table), row: i64) -> cython.void:
    """A row is no longer present."""
    T.state[row] &= ~PRESENT
    n: i64
    I: cython.pointer(Index)
    at: i64
    then: i64
    home: i64
    after: i64
    for n in range(T.n_indexes):
        I = cython.address(T.indexes[n])
        after = I.next[row]
        if after >= 0:
            I.before[after] = I.before[row]
        if I.before[row] >= 0:
            I.next[I.before[row]] = after
            continue
        at = key_hash(T, I, row) & I.mask
        while I.slots[at] != row + 1:
            at = (at + 1) & I.mask
        if after >= 0:
            I.slots[at] = after + 1
            continue
        then = at
        while True:
            then = (then + 1) & I.mask
            if I.slots[then] == 0:
                break
            home = key_hash(T, I, I.slots[then] - 1) & I.mask
            if ((then - home) & I.mask) >= ((then - at) & I.mask):
                I.slots[at] = I.slots[then]
                at = then
        I.slots[at] = 0
        I.used -= 1


@cython.cfunc
@cython.exceptval(check=False)
def touch(V: Views, t: i64, row: i64) -> cython.void:
    T: cython.pointer(Table) = cython.address(V.tables[t])
    if T.state[row] & TOUCHED:
        return
    T.state[row] |= TOUCHED
    if T.n_touched == T.touched_room:
        T.touched_room = 2 * T.touched_room + 16
        larger(cython.cast(VOIDS, cython.address(T.touched)), T.touched_room, 8)
    T.touched[T.n_touched] = row
    T.n_touched += 1


@cython.cfunc
@cython.exceptval(check=False)
def change(V: Views, t: i64, row: i64, more: i64) -> cython.void:
    """More or less speaks for a row."""
    T: cython.pointer(Table) = cython.address(V.tables[t])
    T.count[row] += more
    if T.component >= 0:
        T.state[row] |= GAINED if more > 0 else LOST
    touch(V, t, row)


# --- patterns -----------------------------------------------------------------------------------


@cython.cfunc
@cython.exceptval(check=False)
def fits(M: cython.pointer(Matcher), words: WORDS) -> i64:
    i: i64
    for i in range(M.n_fixed):
        if words[M.fixed[2 * i]] != M.fixed[2 * i + 1]:
            return 0
    for i in range(M.n_same):
        if words[M.same[2 * i]] != words[M.same[2 * i + 1]]:
            return 0
    return 1


@cython.cfunc
@cython.exceptval(-1)
def taken(V: Views, m: i64, words: WORDS, width: i64, into: WORDS) -> i64:
    """The wanted columns of a row that fits; 0 if it does not."""
    M: cython.pointer(Matcher) = cython.address(V.matchers[m])
    i: i64
    if M.asks >= 0:
        found = V.python.matched(M.asks, tuple([words[i] for i in range(width)]))
        if found is None:
            return 0
        i = 0
        for word in found:
            into[i] = word
            i += 1
        return 1
    if not fits(M, words):
        return 0
    for i in range(M.n_wanted):
        into[i] = words[M.wanted[i]]
    return 1


# --- what follows from a row --------------------------------------------------------------------


@cython.cfunc
@cython.exceptval(check=False)
def covers(V: Views, v: i64, point: i64) -> i64:
    """Is a point, that is no other's, in a window?"""
    W: cython.pointer(View) = cython.address(V.views[v])
    if point < W.low or point > W.high:
        return 0
    return W.held < 0 or point != V.time


@cython.cfunc
@cython.exceptval(-2)
def counted(V: Views, v: i64, words: WORDS, width: i64) -> i64:
    """The row in the target of a window that a row with its point, last, speaks for; or -1."""
    W: cython.pointer(View) = cython.address(V.views[v])
    if W.matcher >= 0:
        if not any_fits(V, W.matcher, words, width - 1):
            return -1
    return intern(cython.address(V.tables[W.target]), words)


@cython.cfunc
@cython.exceptval(-1)
def any_fits(V: Views, m: i64, words: WORDS, width: i64) -> i64:
    """Does one of the patterns of a filter fit? They are beside each other, up to an empty one."""
    found: i64
    spare: Vector
    spare.data = cython.NULL
    spare.size = 0
    spare.room = 0
    reserve(cython.address(spare), width + 1)
    try:
        while V.matchers[m].n_wanted >= 0:
            found = taken(V, m, words, width, spare.data)
            if found:
                return 1
            m += 1
    finally:
        free(spare.data)
    return 0


@cython.cfunc
@cython.exceptval(-2)
def followed(V: Views, e: cython.pointer(Edge), t: i64, row: i64) -> i64:
    """The row of the target that a row speaks for, or -1."""
    T: cython.pointer(Table) = cython.address(V.tables[t])
    words: WORDS = T.data + row * T.width
    W: cython.pointer(View)
    S: cython.pointer(Shape)
    if e.kind == SHAPE:
        S = cython.address(V.shapes[e.what])
        reserve(cython.address(V.scratch), V.tables[S.target].width + T.width + 1)
        if not taken(V, S.matcher, words, T.width, V.scratch.data):
            return -1
        return intern(cython.address(V.tables[S.target]), V.scratch.data)
    W = cython.address(V.views[e.what])
    if e.kind == POINT:
        if not covers(V, e.what, words[T.width - 1] >> 1):
            return -1
        return counted(V, e.what, words, T.width)
    if not W.inside:
        return -1
    return counted_now(V, e.what, t, row)


@cython.cfunc
@cython.exceptval(-2)
def counted_now(V: Views, v: i64, t: i64, row: i64) -> i64:
    """The row of a window that speaks of one that holds at the current point."""
    T: cython.pointer(Table) = cython.address(V.tables[t])
    reserve(cython.address(V.scratch), T.width + 1)
    memcpy(V.scratch.data, T.data + row * T.width, T.width * 8)
    V.scratch.data[T.width] = 2 * V.time + 1
    return counted(V, v, V.scratch.data, T.width + 1)


@cython.cfunc
@cython.exceptval(check=False)
def target_of(V: Views, e: cython.pointer(Edge)) -> i64:
    return V.shapes[e.what].target if e.kind == SHAPE else V.views[e.what].target


@cython.cfunc
@cython.exceptval(-1)
def pass_on(V: Views, t: i64, row: i64, more: i64, outside: i64) -> i64:
    """All that follows from a row that has come or is about to go."""
    n: i64
    found: i64
    e: cython.pointer(Edge)
    S: cython.pointer(Start)
    for n in range(V.tables[t].n_edges):
        e = cython.address(V.tables[t].edges[n])
        if outside and e.inner:
            continue
        if e.kind <= HELD:
            found = followed(V, e, t, row)
            if found >= 0:
                change(V, target_of(V, e), found, more)
        elif e.kind == START:
            if V.silent:
                continue
            S = cython.address(V.starts[e.what])
            V.driver = row
            V.driver_table = t
            V.weight = more * S.weight
            if V.tables[S.head].component < 0:
                V.mode = COUNTS
                run(V, S.program)
            else:
                V.mode = LISTS
                V.out.size = 0
                run(V, S.program)
                marked(V, S.head, V.weight, S.exit)
        elif e.kind == OUTPUT:
            told(V, e.what, t, row, more)
        else:
            totalled(V, e, t, row, more)
    return 0


@cython.cfunc
@cython.exceptval(check=False)
def marked(V: Views, t: i64, weight: i64, counts: i64) -> cython.void:
    """Rows of a component that have gained or lost a solution."""
    i: i64
    row: i64
    for i in range(V.out.size):
        row = V.out.data[i]
        if counts:
            V.tables[t].count[row] += weight
        V.tables[t].state[row] |= GAINED if weight > 0 else LOST
        touch(V, t, row)


@cython.cfunc
@cython.exceptval(check=False)
def told(V: Views, output: i64, t: i64, row: i64, more: i64) -> cython.void:
    """What comes and goes is noted: when, whether it comes, and the words."""
    T: cython.pointer(Table) = cython.address(V.tables[t])
    N: cython.pointer(Vector) = cython.address(V.news[output])
    reserve(N, N.size + T.width + 2)
    N.data[N.size] = V.time
    N.data[N.size + 1] = more
    memcpy(N.data + N.size + 2, T.data + row * T.width, T.width * 8)
    N.size += T.width + 2


# --- aggregates ---------------------------------------------------------------------------------

# By row of keys: is it asked for, how many elements, their sum, how many are no small whole
# numbers, the row of the value plus one, is it touched, the best element, is that to be sought?
TOTAL = cython.declare(cython.longlong, 8)


@cython.cfunc
@cython.exceptval(check=False)
def total_state(V: Views, n: i64, words: WORDS) -> i64:
    """The row of keys of an aggregate, touched from now on."""
    A: cython.pointer(Total) = cython.address(V.totals[n])
    K: cython.pointer(Table) = cython.address(V.tables[A.keys])
    key: i64 = intern(K, words)
    if K.room > A.room:
        larger(cython.cast(VOIDS, cython.address(A.state)), K.room * TOTAL, 8)
        memset(A.state + A.room * TOTAL, 0, (K.room - A.room) * TOTAL * 8)
        A.room = K.room
    if A.state[key * TOTAL + 5] == 0:
        A.state[key * TOTAL + 5] = 1
        if A.n_touched == A.touched_room:
            A.touched_room = 2 * A.touched_room + 16
            larger(cython.cast(VOIDS, cython.address(A.touched)), A.touched_room, 8)
        A.touched[A.n_touched] = key
        A.n_touched += 1
    return key


@cython.cfunc
@cython.exceptval(check=False)
def totalled(V: Views, e: cython.pointer(Edge), t: i64, row: i64, more: i64) -> i64:
    """Something is asked for, or an element comes or goes; the row of keys it is about."""
    A: cython.pointer(Total) = cython.address(V.totals[e.what])
    T: cython.pointer(Table) = cython.address(V.tables[t])
    words: WORDS = T.data + row * T.width
    key: i64 = total_state(V, e.what, words)
    state: WORDS = A.state + key * TOTAL
    word: i64
    if e.kind == ASKED:
        state[0] += more
        return key
    state[1] += more
    if A.function == 0:
        return key
    word = words[A.width] if words[T.width - 1] > 1 else 0
    if not (word & 1) or word > (1 << 40) or word < -(1 << 40):
        state[3] += more
        return key
    state[2] += more * (word >> 1)
    if state[1] == more and more > 0:
        state[6] = word
        state[7] = 0
    elif more < 0 and word == state[6]:
        state[7] = 1
    elif more > 0 and (word < state[6] if A.function == 2 else word > state[6]):
        state[6] = word
    return key


@cython.cfunc
@cython.exceptval(check=False)
def sought(V: Views, A: cython.pointer(Total), key: i64) -> i64:
    """The best element of those that are there."""
    E: cython.pointer(Table) = cython.address(V.tables[A.elements])
    I: cython.pointer(Index) = cython.address(E.indexes[A.rows_index])
    row: i64 = chain(E, I, V.tables[A.keys].data + key * A.width)
    found: i64 = NO_VALUE
    word: i64
    while row >= 0:
        word = E.data[row * E.width + A.width]
        if found == NO_VALUE or (word < found if A.function == 2 else word > found):
            found = word
        row = I.next[row]
    return found


@cython.cfunc
@cython.exceptval(-1, check=True)
def total_value(V: Views, n: i64, key: i64) -> i64:
    """What an aggregate comes to, or NO_VALUE."""
    A: cython.pointer(Total) = cython.address(V.totals[n])
    state: WORDS = A.state + key * TOTAL
    E: cython.pointer(Table)
    I: cython.pointer(Index)
    row: i64
    if A.function == 0:
        return 2 * state[1] + 1
    if state[1] == 0:
        return 1 if A.function == 1 else NO_VALUE
    if state[3] == 0:
        if A.function == 1:
            return 2 * state[2] + 1
        if state[7]:
            state[6] = sought(V, A, key)
            state[7] = 0
        return state[6]
    state[7] = 1
    E = cython.address(V.tables[A.elements])
    I = cython.address(E.indexes[A.rows_index])
    row = chain(E, I, V.tables[A.keys].data + key * A.width)
    words = []
    while row >= 0:
        if E.data[row * E.width + E.width - 1] == 1:
            return NO_VALUE
        words.append(E.data[row * E.width + A.width])
        row = I.next[row]
    found = V.python.total(A.function, words)
    return NO_VALUE if found is None else found


@cython.cfunc
@cython.exceptval(-1)
def renew_totals(V: Views, n: i64) -> i64:
    """New values of what has changed; rows of them that come are listed for a component."""
    A: cython.pointer(Total) = cython.address(V.totals[n])
    K: cython.pointer(Table) = cython.address(V.tables[A.keys])
    T: cython.pointer(Table) = cython.address(V.tables[A.target])
    i: i64
    key: i64
    row: i64
    before: i64
    value: i64
    state: WORDS
    for i in range(A.n_touched):
        key = A.touched[i]
        state = A.state + key * TOTAL
        row = 0
        if state[0] > 0:
            value = total_value(V, n, key)
            reserve(cython.address(V.scratch), A.width + 1)
            memcpy(V.scratch.data, K.data + key * A.width, A.width * 8)
            V.scratch.data[A.width] = value
            row = intern(T, V.scratch.data) + 1
        before = state[4]
        state[4] = row
        state[5] = 0
        if T.component >= 0:
            if before and before != row:
                T.count[before - 1] = 0
            if row:
                T.count[row - 1] = 1
                if not T.state[row - 1] & PRESENT:
                    push(cython.address(V.later), A.target)
                    push(cython.address(V.later), row - 1)
        elif before != row:
            if before:
                change(V, A.target, before - 1, -1)
            if row:
                change(V, A.target, row - 1, 1)
        if state[0] == 0 and state[1] == 0:
            memset(state, 0, TOTAL * 8)
            drop(K, key)
    A.n_touched = 0
    return 0


# --- rules --------------------------------------------------------------------------------------

SCAN = cython.declare(cython.longlong, 0)
HAS = cython.declare(cython.longlong, 1)
NOT = cython.declare(cython.longlong, 2)
TEST = cython.declare(cython.longlong, 3)
BINARY = cython.declare(cython.longlong, 4)
BUILD = cython.declare(cython.longlong, 5)
MOVE = cython.declare(cython.longlong, 6)
HEAD = cython.declare(cython.longlong, 7)
TAKE = cython.declare(cython.longlong, 8)


@cython.cfunc
@cython.exceptval(-1)
def run(V: Views, program: i64) -> i64:
    P: cython.pointer(Program) = cython.address(V.programs[program])
    return going(V, P.code, P.registers, 0)


@cython.cfunc
@cython.exceptval(-1)
def going(V: Views, code: WORDS, R: WORDS, at: i64) -> i64:
    """All solutions from a place of a program on; 1 if what was sought is found."""
    c: WORDS
    op: i64
    T: cython.pointer(Table)
    I: cython.pointer(Index)
    row: i64
    i: i64
    n: i64
    m: i64
    word: i64
    key: i64[32]
    while True:
        c = code + at
        op = c[0]
        at = c[1]
        if op == SCAN:
            T = cython.address(V.tables[c[2]])
            I = cython.address(T.indexes[c[3]])
            n = c[5]
            m = c[6]
            for i in range(n):
                key[i] = R[c[7 + i]]
            row = chain(T, I, key)
            while row >= 0:
                if not (c[4] and row == V.driver and c[2] == V.driver_table):
                    for i in range(m):
                        R[c[7 + n + 2 * i + 1]] = T.data[row * T.width + c[7 + n + 2 * i]]
                    if going(V, code, R, at):
                        return 1
                row = I.next[row]
            return 0
        elif op == HAS or op == NOT:
            T = cython.address(V.tables[c[2]])
            n = c[4]
            for i in range(n):
                key[i] = R[c[5 + i]]
            row = find(T, key)
            if row >= 0 and not T.state[row] & PRESENT:
                row = -1
            if row >= 0 and c[3] and row == V.driver and c[2] == V.driver_table:
                row = -1
            if (row >= 0) != (op == HAS):
                return 0
        elif op == TEST:
            if compared(V, c[2], R[c[3]], R[c[4]]) == c[5]:
                return 0
        elif op == BINARY:
            word = computed(V, c[2], R[c[4]], R[c[5]] if c[5] >= 0 else NO_VALUE)
            if word == NO_VALUE:
                return 0
            R[c[3]] = word
        elif op == MOVE:
            if R[c[3]] == NO_VALUE:
                return 0
            R[c[2]] = R[c[3]]
        elif op == BUILD:
            R[c[3]] = V.python.built(c[2], tuple([R[c[5 + i]] for i in range(c[4])]))
        elif op == TAKE:
            T = cython.address(V.tables[V.driver_table])
            for i in range(c[2]):
                R[c[4 + 2 * i]] = T.data[V.driver * T.width + c[3 + 2 * i]]
        else:
            n = c[4]
            for i in range(n):
                key[i] = R[c[5 + i]]
            if c[3] and (not (key[n - 1] & 1) or (key[n - 1] >> 1) < V.first):
                return 0
            T = cython.address(V.tables[c[2]])
            if V.mode == COUNTS:
                change(V, c[2], intern(T, key), V.weight)
            elif V.mode == LISTS:
                push(cython.address(V.out), intern(T, key))
            elif V.mode == FINDS:
                row = find(T, key)
                if row >= 0 and T.state[row] & PRESENT:
                    push(cython.address(V.out), row)
            else:
                return same(T.data + V.driver * T.width, key, n)
            return 0


@cython.cfunc
@cython.exceptval(-1)
def compared(V: Views, sign: i64, a: i64, b: i64) -> i64:
    if a == NO_VALUE or b == NO_VALUE:
        return 0
    if sign == 0:
        return a == b
    if sign == 1:
        return a != b
    if a & b & 1:
        if sign == 2:
            return a < b
        if sign == 3:
            return a <= b
        if sign == 4:
            return a > b
        return a >= b
    return V.python.compared(sign, a, b)


@cython.cfunc
@cython.exceptval(-1, check=True)
def computed(V: Views, sign: i64, a: i64, b: i64) -> i64:
    """The word of what two numbers come to, or NO_VALUE."""
    one: i64
    other: i64
    found: i64
    if a & b & 1:
        one = a >> 1
        other = b >> 1
        if sign == 0:
            found = one + other
            if -FAR_AWAY < found < FAR_AWAY:
                return 2 * found + 1
        elif sign == 1:
            found = one - other
            if -FAR_AWAY < found < FAR_AWAY:
                return 2 * found + 1
        elif sign == 2:
            if -(1 << 30) < one < (1 << 30) and -(1 << 30) < other < (1 << 30):
                return 2 * (one * other) + 1
        elif sign == 3:
            return NO_VALUE if other == 0 else 2 * (one / other) + 1
        elif sign == 4:
            return NO_VALUE if other == 0 else 2 * (one % other) + 1
    answer = V.python.computed(sign, a, None if b == NO_VALUE else b)
    return NO_VALUE if answer is None else answer


# --- one table after the other ------------------------------------------------------------------


@cython.cfunc
@cython.exceptval(-1)
def settle_table(V: Views, t: i64) -> i64:
    """Rows that go, then rows that come, with what follows from each."""
    T: cython.pointer(Table) = cython.address(V.tables[t])
    if T.is_group >= 0:
        renew_totals(V, T.is_group)
    i: i64
    row: i64
    for i in range(T.n_touched):
        row = T.touched[i]
        if T.state[row] & PRESENT and T.count[row] < T.need:
            pass_on(V, t, row, -1, 0)
            leave(T, row)
    for i in range(T.n_touched):
        row = T.touched[i]
        T.state[row] &= ~TOUCHED
        if T.count[row] >= T.need:
            if not T.state[row] & PRESENT:
                enter(T, row)
                pass_on(V, t, row, 1, 0)
        elif T.count[row] == 0:
            drop(T, row)
    T.n_touched = 0
    return 0


# --- rows that rest on each other ---------------------------------------------------------------


@cython.cfunc
@cython.exceptval(check=False)
def wait(V: Views, where: cython.pointer(Vector), t: i64, row: i64) -> cython.void:
    push(where, t)
    push(where, row)


@cython.cfunc
@cython.exceptval(-1)
def doubted(V: Views, t: i64, row: i64) -> i64:
    """What rests on a row that is in doubt is in doubt as well: it is put in the line."""
    n: i64
    i: i64
    found: i64
    target: i64
    e: cython.pointer(Edge)
    S: cython.pointer(Start)
    A: cython.pointer(Total)
    for n in range(V.tables[t].n_edges):
        e = cython.address(V.tables[t].edges[n])
        if not e.inner:
            continue
        if e.kind <= HELD:
            found = followed(V, e, t, row)
            target = -1 if found < 0 else target_of(V, e)
            if found >= 0 and V.tables[target].state[found] & PRESENT:
                wait(V, cython.address(V.round), target, found)
        elif e.kind == START:
            S = cython.address(V.starts[e.what])
            V.driver = row
            V.driver_table = t
            V.mode = FINDS
            V.out.size = 0
            run(V, S.program)
            for i in range(V.out.size):
                wait(V, cython.address(V.round), S.head, V.out.data[i])
        elif e.kind != OUTPUT:
            doubted_total(V, e, t, row)
    return 0


@cython.cfunc
@cython.exceptval(check=False)
def doubted_total(V: Views, e: cython.pointer(Edge), t: i64, row: i64) -> cython.void:
    """The value of an aggregate is in doubt."""
    A: cython.pointer(Total) = cython.address(V.totals[e.what])
    T: cython.pointer(Table) = cython.address(V.tables[t])
    key: i64 = total_state(V, e.what, T.data + row * T.width)
    found: i64 = A.state[key * TOTAL + 4]
    if found:
        V.tables[A.target].count[found - 1] = 0
        if V.tables[A.target].state[found - 1] & PRESENT:
            wait(V, cython.address(V.round), A.target, found - 1)


@cython.cfunc
@cython.exceptval(-1)
def taken_out(V: Views, t: i64, row: i64) -> i64:
    """A row that is in doubt is taken away."""
    n: i64
    found: i64
    e: cython.pointer(Edge)
    for n in range(V.tables[t].n_edges):
        e = cython.address(V.tables[t].edges[n])
        if not e.inner:
            continue
        if e.kind <= HELD:
            found = followed(V, e, t, row)
            if found >= 0:
                V.tables[target_of(V, e)].count[found] -= 1
                touch(V, target_of(V, e), found)
        elif e.kind == ASKED or e.kind == ELEMENT:
            totalled(V, e, t, row, -1)
    leave(cython.address(V.tables[t]), row)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def has_reason(V: Views, t: i64, row: i64) -> i64:
    """Does what is there speak for a row?"""
    T: cython.pointer(Table) = cython.address(V.tables[t])
    if T.count[row] >= T.need:
        return 1
    if not T.derived:
        return 0
    n: i64
    for n in range(V.n_rules):
        if V.rules[n].head == t and not V.rules[n].exit:
            V.driver = row
            V.driver_table = t
            V.mode = CHECKS
            if run(V, V.rules[n].derives):
                return 1
    return 0


@cython.cfunc
@cython.exceptval(-1)
def brought_in(V: Views, t: i64, row: i64) -> i64:
    """A row comes, with what follows at once; what rules say is for the next round."""
    n: i64
    i: i64
    found: i64
    target: i64
    e: cython.pointer(Edge)
    S: cython.pointer(Start)
    enter(cython.address(V.tables[t]), row)
    for n in range(V.tables[t].n_edges):
        e = cython.address(V.tables[t].edges[n])
        if not e.inner:
            continue
        if e.kind <= HELD:
            found = followed(V, e, t, row)
            if found >= 0:
                target = target_of(V, e)
                V.tables[target].count[found] += 1
                if (
                    V.tables[target].count[found] >= V.tables[target].need
                    and not V.tables[target].state[found] & PRESENT
                ):
                    wait(V, cython.address(V.round), target, found)
        elif e.kind == START:
            S = cython.address(V.starts[e.what])
            V.driver = row
            V.driver_table = t
            V.mode = LISTS
            V.out.size = 0
            run(V, S.program)
            for i in range(V.out.size):
                found = V.out.data[i]
                if not V.tables[S.head].state[found] & (PRESENT | WAITS):
                    V.tables[S.head].state[found] |= WAITS
                    wait(V, cython.address(V.later), S.head, found)
        elif e.kind == ASKED or e.kind == ELEMENT:
            totalled(V, e, t, row, 1)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def settle_component(V: Views, number: i64) -> i64:
    """Take away what is in doubt, and bring back and in what has a reason."""
    C: cython.pointer(Vector) = cython.address(V.components[number])
    T: cython.pointer(Table)
    i: i64
    j: i64
    t: i64
    row: i64
    rounds: i64
    is_quiet: i64 = 1
    for i in range(C.size):
        if V.tables[C.data[i]].n_touched:
            is_quiet = 0
    for i in range(V.n_totals):
        if V.totals[i].component == number and V.totals[i].n_touched:
            is_quiet = 0
    if is_quiet:
        return 0
    V.round.size = V.later.size = V.doubt.size = V.came.size = 0
    for i in range(C.size):
        t = C.data[i]
        T = cython.address(V.tables[t])
        for j in range(T.n_touched):
            row = T.touched[j]
            if T.state[row] & LOST and T.state[row] & PRESENT:
                wait(V, cython.address(V.round), t, row)
            elements_doubted(V, t, row)
    while V.round.size:
        V.round.size -= 2
        t = V.round.data[V.round.size]
        row = V.round.data[V.round.size + 1]
        T = cython.address(V.tables[t])
        if T.state[row] & DOUBT or (T.derived == 1 and T.count[row] > 0):
            continue
        T.state[row] |= DOUBT
        wait(V, cython.address(V.doubt), t, row)
        doubted(V, t, row)
    for i in range(0, V.doubt.size, 2):
        taken_out(V, V.doubt.data[i], V.doubt.data[i + 1])
    for i in range(C.size):
        t = C.data[i]
        T = cython.address(V.tables[t])
        for j in range(T.n_touched):
            row = T.touched[j]
            if T.state[row] & GAINED and not T.state[row] & (PRESENT | DOUBT):
                if has_reason(V, t, row):
                    wait(V, cython.address(V.later), t, row)
    for i in range(0, V.doubt.size, 2):
        if has_reason(V, V.doubt.data[i], V.doubt.data[i + 1]):
            wait(V, cython.address(V.later), V.doubt.data[i], V.doubt.data[i + 1])
    rounds = 0
    while True:
        while V.later.size:
            rounds += 1
            if rounds > 50:
                V.python.check(number, rounds, V.came.size // 2)
            swap(V)
            i = 0
            while i < V.round.size:
                t = V.round.data[i]
                row = V.round.data[i + 1]
                i += 2
                T = cython.address(V.tables[t])
                T.state[row] &= ~WAITS
                if T.state[row] & PRESENT:
                    continue
                brought_in(V, t, row)
                if not T.state[row] & DOUBT:
                    wait(V, cython.address(V.came), t, row)
            V.round.size = 0
        for i in range(V.n_totals):
            if V.totals[i].component == number:
                renew_totals(V, i)
        if V.later.size == 0:
            break
    pass_on_all(V, number)
    return 0


@cython.cfunc
@cython.exceptval(check=False)
def swap(V: Views) -> cython.void:
    kept: Vector = V.round
    V.round = V.later
    V.later = kept
    V.later.size = 0


@cython.cfunc
@cython.exceptval(check=False)
def elements_doubted(V: Views, t: i64, row: i64) -> cython.void:
    """New elements of an aggregate, and elements that go, put its value in doubt."""
    n: i64
    e: cython.pointer(Edge)
    for n in range(V.tables[t].n_edges):
        e = cython.address(V.tables[t].edges[n])
        if e.inner and e.kind == ELEMENT:
            doubted_total(V, e, t, row)


@cython.cfunc
@cython.exceptval(-1)
def pass_on_all(V: Views, number: i64) -> i64:
    """Tell others what has changed, and clear up."""
    C: cython.pointer(Vector) = cython.address(V.components[number])
    T: cython.pointer(Table)
    i: i64
    j: i64
    t: i64
    row: i64
    for i in range(0, V.doubt.size, 2):
        t = V.doubt.data[i]
        row = V.doubt.data[i + 1]
        V.tables[t].state[row] &= ~DOUBT
        if not V.tables[t].state[row] & PRESENT:
            pass_on(V, t, row, -1, 1)
            touch(V, t, row)
    for i in range(0, V.came.size, 2):
        pass_on(V, V.came.data[i], V.came.data[i + 1], 1, 1)
    for i in range(C.size):
        T = cython.address(V.tables[C.data[i]])
        for j in range(T.n_touched):
            row = T.touched[j]
            T.state[row] &= PRESENT
            if T.state[row] == 0 and T.count[row] == 0:
                drop(T, row)
        T.n_touched = 0
    V.doubt.size = V.came.size = 0
    return 0


# --- windows by time ----------------------------------------------------------------------------


@cython.cfunc
@cython.exceptval(check=False)
def multiple(time: i64, hop: i64) -> i64:
    """The last multiple of a hop."""
    return time if hop == 1 else time - ((time % hop) + hop) % hop


@cython.cfunc
@cython.exceptval(-1)
def cover_point(V: Views, v: i64, point: i64, more: i64) -> i64:
    """All rows at a point enter or leave a window."""
    W: cython.pointer(View) = cython.address(V.views[v])
    T: cython.pointer(Table) = cython.address(V.tables[W.points])
    I: cython.pointer(Index) = cython.address(T.indexes[W.by_time])
    key: i64 = 2 * point + 1
    row: i64 = chain(T, I, cython.address(key))
    found: i64
    while row >= 0:
        found = counted(V, v, T.data + row * T.width, T.width)
        if found >= 0:
            change(V, W.target, found, more)
        row = I.next[row]
    return 0


@cython.cfunc
@cython.exceptval(-1)
def cover_between(V: Views, v: i64, low: i64, high: i64, other: i64, more: i64) -> i64:
    """The same for the points from one to another, but for one."""
    W: cython.pointer(View) = cython.address(V.views[v])
    T: cython.pointer(Table) = cython.address(V.tables[W.points])
    point: i64
    row: i64
    found: i64
    if high - low < T.used:
        for point in range(low, high + 1):
            if point != other:
                cover_point(V, v, point, more)
        return 0
    for row in range(T.size):
        if T.state[row] < 0 or not T.state[row] & PRESENT:
            continue
        point = T.data[row * T.width + T.width - 1] >> 1
        if low <= point <= high and point != other:
            found = counted(V, v, T.data + row * T.width, T.width)
            if found >= 0:
                change(V, W.target, found, more)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def cover_held(V: Views, v: i64, more: i64) -> i64:
    """What holds at the current point enters or leaves."""
    W: cython.pointer(View) = cython.address(V.views[v])
    T: cython.pointer(Table) = cython.address(V.tables[W.held])
    row: i64
    found: i64
    for row in range(T.size):
        if T.state[row] >= 0 and T.state[row] & PRESENT:
            found = counted_now(V, v, W.held, row)
            if found >= 0:
                change(V, W.target, found, more)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def slide(V: Views, v: i64, then: i64, now: i64) -> i64:
    """A window goes on from one time to another."""
    W: cython.pointer(View) = cython.address(V.views[v])
    low: i64 = W.low
    high: i64 = W.high
    new_low: i64
    new_high: i64
    was: i64 = W.inside
    inside: i64
    apart: i64 = W.held >= 0
    nobody: i64 = -FAR_AWAY
    if W.fixed:
        new_low = W.past
        new_high = W.future
    else:
        new_low = -FAR_AWAY if W.past >= FAR_AWAY else multiple(now, W.low_hop) - W.past
        new_high = FAR_AWAY if W.future >= FAR_AWAY else multiple(now, W.high_hop) + W.future
    if new_low < V.first:
        new_low = V.first
    inside = new_low <= now <= new_high
    if apart and was and (not inside or W.kind == 1):
        V.time = then
        cover_held(V, v, -1)
    V.time = now
    if W.points >= 0 and V.tables[W.points].used:
        cover_between(
            V, v, low, new_low - 1 if new_low <= high else high, then if apart else nobody, -1
        )
        if apart and low <= then <= high and new_low <= then <= new_high and then != now:
            cover_point(V, v, then, 1)
        if apart and low <= now <= high and now != then:
            if new_low <= now <= new_high:
                cover_point(V, v, now, -1)
        if new_low > high:
            cover_between(V, v, new_low, new_high, now if apart else nobody, 1)
        else:
            cover_between(V, v, high + 1, new_high, now if apart else nobody, 1)
    W.low = new_low
    W.high = new_high
    W.inside = inside
    if apart and inside and (not was or W.kind == 1):
        cover_held(V, v, 1)
    return 0


@cython.cfunc
@cython.exceptval(check=False)
def touch_chain(V: Views, v: i64, point: i64) -> cython.void:
    """Look again at the rows of a point."""
    W: cython.pointer(View) = cython.address(V.views[v])
    T: cython.pointer(Table) = cython.address(V.tables[W.points])
    I: cython.pointer(Index) = cython.address(T.indexes[W.by_time])
    key: i64 = 2 * point + 1
    row: i64 = chain(T, I, cython.address(key))
    found: i64
    while row >= 0:
        found = find(cython.address(V.tables[W.target]), T.data + row * T.width)
        if found >= 0:
            looked_at(V, W.target, found)
        row = I.next[row]


@cython.cfunc
@cython.exceptval(check=False)
def looked_at(V: Views, t: i64, row: i64) -> cython.void:
    T: cython.pointer(Table) = cython.address(V.tables[t])
    if T.component >= 0:
        T.state[row] |= GAINED if T.count[row] >= T.need else LOST
    touch(V, t, row)


@cython.cfunc
@cython.exceptval(check=False)
def renew_need(V: Views, v: i64) -> cython.void:
    """At how many points a row has to hold now, to do so always."""
    W: cython.pointer(View) = cython.address(V.views[v])
    T: cython.pointer(Table) = cython.address(V.tables[W.target])
    need: i64
    row: i64
    if W.rank >= 0:
        need = V.time - left_of(V, W.rank) + 1
    else:
        need = W.high - W.low + 1 if W.high < FAR_AWAY else 0
    if need < 1:
        need = 4 * FAR_AWAY
    if need == T.need:
        return
    if need > T.need:
        T.need = need
        row = chain(T, cython.address(T.indexes[0]), cython.address(need))
        while row >= 0:
            looked_at(V, W.target, row)
            row = T.indexes[0].next[row]
        return
    T.need = need
    touch_chain(V, v, V.time if W.rank >= 0 else W.high)
    if W.held >= 0:
        for row in range(T.size):
            if T.state[row] >= 0:
                looked_at(V, W.target, row)


@cython.cfunc
@cython.exceptval(check=False)
def forget_points(V: Views, p: i64) -> cython.void:
    """Signals that have left all windows by time."""
    P: cython.pointer(Predicate) = cython.address(V.predicates[p])
    T: cython.pointer(Table)
    I: cython.pointer(Index)
    low: i64 = FAR_AWAY
    v: i64
    row: i64
    point: i64
    key: i64
    before: i64 = P.low
    by_time: i64 = -1
    for v in range(V.n_views):
        if V.views[v].points == P.points:
            by_time = V.views[v].by_time
            if V.views[v].low < low:
                low = V.views[v].low
    if by_time < 0 or low <= before:
        return
    P.low = low
    T = cython.address(V.tables[P.points])
    I = cython.address(T.indexes[by_time])
    if low - before < T.used:
        for point in range(before, low):
            key = 2 * point + 1
            row = chain(T, I, cython.address(key))
            while row >= 0:
                leave(T, row)
                drop(T, row)
                row = chain(T, I, cython.address(key))
        return
    for row in range(T.size):
        if T.state[row] >= 0 and T.data[row * T.width + T.width - 1] < 2 * low + 1:
            leave(T, row)
            drop(T, row)


# --- windows by number --------------------------------------------------------------------------


@cython.cfunc
@cython.exceptval(check=False)
def left_of(V: Views, r: i64) -> i64:
    """The point at which a window by number begins."""
    K: cython.pointer(Rank) = cython.address(V.ranks[r])
    G: cython.pointer(Group)
    g: i64
    mine: i64
    found: i64 = V.time
    for g in range(K.n_groups):
        G = cython.address(K.groups[g])
        if G.now + G.dropped == 0:
            continue
        mine = V.first if G.now + G.dropped < K.past else G.data[4 * G.begin]
        if mine < found:
            found = mine
    return found


@cython.cfunc
@cython.exceptval(check=False)
def cover_signal(V: Views, r: i64, entry: WORDS, more: i64) -> cython.void:
    """A signal enters or leaves a window by number."""
    K: cython.pointer(Rank) = cython.address(V.ranks[r])
    A: cython.pointer(Table)
    n: i64
    if entry[3] < 0:
        return
    A = cython.address(V.tables[V.predicates[entry[2]].atoms])
    for n in range(K.n_outputs):
        if K.outputs[n].whose == entry[2]:
            reserve(cython.address(V.scratch), A.width + 1)
            memcpy(V.scratch.data, A.data + entry[3] * A.width, A.width * 8)
            V.scratch.data[A.width] = 2 * entry[0] + 1
            change(
                V,
                K.outputs[n].target,
                intern(cython.address(V.tables[K.outputs[n].target]), V.scratch.data),
                more,
            )


@cython.cfunc
@cython.exceptval(check=False)
def set_bounds(V: Views, r: i64, g: i64) -> cython.void:
    """Let the signals in that belong to a window, and the others out."""
    K: cython.pointer(Rank) = cython.address(V.ranks[r])
    G: cython.pointer(Group) = cython.address(K.groups[g])
    begin: i64 = G.now - K.past if G.now > K.past else 0
    end: i64 = G.now + K.future if G.now + K.future < G.size else G.size
    i: i64
    while G.end < end:
        cover_signal(V, r, G.data + 4 * G.end, 1)
        G.end += 1
    while G.end > end:
        G.end -= 1
        cover_signal(V, r, G.data + 4 * G.end, -1)
    while G.begin < begin:
        cover_signal(V, r, G.data + 4 * G.begin, -1)
        G.begin += 1
    while G.begin > begin:
        G.begin -= 1
        cover_signal(V, r, G.data + 4 * G.begin, 1)
    if V.keeps or G.begin < 32 or 2 * G.begin < G.size:
        return
    for i in range(G.begin):
        forget_signal(V, G.data + 4 * i)
    memmove(G.data, G.data + 4 * G.begin, (G.size - G.begin) * 32)
    G.dropped += G.begin
    G.size -= G.begin
    G.now -= G.begin
    G.end -= G.begin
    G.begin = 0


@cython.cfunc
@cython.exceptval(check=False)
def forget_signal(V: Views, entry: WORDS) -> cython.void:
    A: cython.pointer(Table)
    if entry[3] < 0:
        return
    A = cython.address(V.tables[V.predicates[entry[2]].atoms])
    A.count[entry[3]] -= 1
    if A.count[entry[3]] == 0:
        drop(A, entry[3])


@cython.cfunc
@cython.exceptval(check=False)
def place_of(G: cython.pointer(Group), time: i64, number: i64) -> i64:
    """How many signals come before one."""
    low: i64 = 0
    high: i64 = G.size
    middle: i64
    if high == 0 or G.data[4 * high - 4] < time:
        return high
    while low < high:
        middle = (low + high) >> 1
        if G.data[4 * middle] < time or (
            G.data[4 * middle] == time and G.data[4 * middle + 1] < number
        ):
            low = middle + 1
        else:
            high = middle
    return low


@cython.cfunc
@cython.exceptval(-1)
def group_of(V: Views, r: i64, p: i64, words: WORDS) -> i64:
    """The group of a signal, or -2."""
    K: cython.pointer(Rank) = cython.address(V.ranks[r])
    P: cython.pointer(Predicate) = cython.address(V.predicates[p])
    n: i64
    g: i64
    i: i64
    key: i64[32]
    for n in range(P.n_routes):
        if P.routes[n].rank != r:
            continue
        for i in range(K.width):
            key[i] = 0
        key[0] = P.routes[n].number
        if taken(V, P.routes[n].matcher, words, P.width, key + 1):
            g = intern(cython.address(V.tables[K.keys]), key)
            V.tables[K.keys].count[g] = 1
            while g >= K.n_groups:
                if K.n_groups == K.groups_room:
                    K.groups_room = 2 * K.groups_room + 4
                    larger(
                        cython.cast(VOIDS, cython.address(K.groups)),
                        K.groups_room,
                        cython.sizeof(Group),
                    )
                memset(K.groups + K.n_groups, 0, cython.sizeof(Group))
                K.n_groups += 1
            return g
    return -2


@cython.cfunc
@cython.exceptval(-1)
def rank_signal(V: Views, r: i64, p: i64, time: i64, number: i64, words: WORDS, more: i64) -> i64:
    """A signal comes to a window by number, or is taken back."""
    K: cython.pointer(Rank) = cython.address(V.ranks[r])
    G: cython.pointer(Group)
    g: i64 = group_of(V, r, p, words)
    at: i64
    row: i64 = -1
    i: i64
    if g < 0:
        return 0
    G = cython.address(K.groups[g])
    at = place_of(G, time, number)
    if more < 0:
        if at == G.size or G.data[4 * at] != time or G.data[4 * at + 1] != number:
            V.lacks = 1
            return 0
        if G.dropped and K.past < FAR_AWAY and G.now - 1 < K.past and time <= V.time:
            V.lacks = 1
        if G.begin <= at < G.end:
            cover_signal(V, r, G.data + 4 * at, -1)
        forget_signal(V, G.data + 4 * at)
        memmove(G.data + 4 * at, G.data + 4 * at + 4, (G.size - at - 1) * 32)
        G.size -= 1
        G.begin -= at < G.begin
        G.end -= at < G.end
        if time <= V.time:
            G.now -= 1
        else:
            K.ahead -= 1
        set_bounds(V, r, g)
        return 0
    if at == 0 and G.dropped and time <= V.time and G.now >= K.past:
        G.dropped += 1
        return 0
    for i in range(K.n_outputs):
        if K.outputs[i].whose == p:
            row = intern(cython.address(V.tables[V.predicates[p].atoms]), words)
            V.tables[V.predicates[p].atoms].count[row] += 1
            break
    if G.size == G.room:
        G.room = 2 * G.room + 8
        larger(cython.cast(VOIDS, cython.address(G.data)), G.room, 32)
    memmove(G.data + 4 * at + 4, G.data + 4 * at, (G.size - at) * 32)
    G.data[4 * at] = time
    G.data[4 * at + 1] = number
    G.data[4 * at + 2] = p
    G.data[4 * at + 3] = row
    G.size += 1
    if time <= V.time:
        G.now += 1
    else:
        K.ahead += 1
    if at < G.begin or (at == G.begin and at < G.end):
        G.begin += 1
        G.end += 1
    elif at < G.end:
        G.end += 1
        cover_signal(V, r, G.data + 4 * at, 1)
    set_bounds(V, r, g)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def pass_time(V: Views, r: i64) -> i64:
    """Signals that were still to come are here."""
    K: cython.pointer(Rank) = cython.address(V.ranks[r])
    G: cython.pointer(Group)
    g: i64
    if K.ahead == 0:
        return 0
    for g in range(K.n_groups):
        G = cython.address(K.groups[g])
        if G.now == G.size:
            continue
        while G.now < G.size and G.data[4 * G.now] <= V.time:
            G.now += 1
            K.ahead -= 1
        set_bounds(V, r, g)
    return 0


# --- steps --------------------------------------------------------------------------------------


@cython.cfunc
@cython.exceptval(-1)
def begin_step(V: Views, time: i64) -> i64:
    then: i64 = V.time
    v: i64
    V.time = time
    for v in range(V.n_views):
        slide(V, v, then, time)
    V.time = time
    for v in range(V.n_ranks):
        pass_time(V, v)
    for v in range(V.n_predicates):
        if V.predicates[v].forgets:
            forget_points(V, v)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def take_signal(V: Views, p: i64, time: i64, number: i64, words: WORDS, more: i64) -> i64:
    """A signal comes, or is taken back."""
    P: cython.pointer(Predicate) = cython.address(V.predicates[p])
    T: cython.pointer(Table)
    row: i64
    n: i64
    rank: i64 = -1
    if P.points >= 0 and not (P.forgets and time < P.low):
        T = cython.address(V.tables[P.points])
        reserve(cython.address(V.scratch), P.width + 1)
        memcpy(V.scratch.data, words, P.width * 8)
        V.scratch.data[P.width] = 2 * time + 1
        row = intern(T, V.scratch.data) if more > 0 else find(T, V.scratch.data)
        if row >= 0:
            change(V, P.points, row, more)
    for n in range(P.n_routes):
        if P.routes[n].rank != rank:
            rank = P.routes[n].rank
            rank_signal(V, rank, p, time, number, words, more)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def end_step(V: Views) -> i64:
    """Settle all tables in their order."""
    i: i64
    n: i64
    t: i64
    for i in range(V.n_views):
        if V.views[i].kind == 2:
            renew_need(V, i)
    V.silent = not V.begun
    for i in range(V.order.size):
        t = V.order.data[i]
        if not V.begun:
            for n in range(V.n_rules):
                if V.rules[n].head == t and V.tables[t].component < 0:
                    V.mode = COUNTS
                    V.weight = 1
                    V.driver_table = -1
                    run(V, V.rules[n].everything)
                elif t < 0 and V.rules[n].exit and V.tables[V.rules[n].head].component == -1 - t:
                    V.mode = LISTS
                    V.out.size = 0
                    V.driver_table = -1
                    run(V, V.rules[n].everything)
                    marked(V, V.rules[n].head, 1, 1)
        if t >= 0:
            if V.tables[t].n_touched or V.tables[t].is_group >= 0:
                settle_table(V, t)
        else:
            settle_component(V, -1 - t)
    V.silent = 0
    V.begun = 1
    return 0


# --- from Python --------------------------------------------------------------------------------


@cython.cfunc
def array(words: object) -> WORDS:
    """A list of integers as an array of its own."""
    found: WORDS = cython.NULL
    larger(cython.cast(VOIDS, cython.address(found)), len(words), 8)
    i: i64 = 0
    for word in words:
        found[i] = word
        i += 1
    return found


@cython.cclass
class Views:
    """All tables of a program, and what they follow from each other."""

    def __init__(self, python: object, first: int) -> None:
        self.python = python
        self.first = first

    def __dealloc__(self) -> None:
        i: i64
        n: i64
        T: cython.pointer(Table)
        for i in range(self.n_tables):
            T = cython.address(self.tables[i])
            free(T.data)
            free(T.count)
            free(T.state)
            free(T.hash)
            free(T.slots)
            free(T.touched)
            free(T.edges)
            for n in range(T.n_indexes):
                free(T.indexes[n].columns)
                free(T.indexes[n].slots)
                free(T.indexes[n].next)
                free(T.indexes[n].before)
            free(T.indexes)
        free(self.tables)
        for i in range(self.n_matchers):
            free(self.matchers[i].fixed)
            free(self.matchers[i].same)
            free(self.matchers[i].wanted)
        free(self.matchers)
        for i in range(self.n_ranks):
            for n in range(self.ranks[i].n_groups):
                free(self.ranks[i].groups[n].data)
            free(self.ranks[i].groups)
            free(self.ranks[i].outputs)
        free(self.ranks)
        for i in range(self.n_predicates):
            free(self.predicates[i].routes)
        free(self.predicates)
        for i in range(self.n_programs):
            free(self.programs[i].code)
            free(self.programs[i].registers)
        free(self.programs)
        for i in range(self.n_totals):
            free(self.totals[i].state)
            free(self.totals[i].touched)
        free(self.totals)
        for i in range(self.n_components):
            free(self.components[i].data)
        free(self.components)
        free(self.shapes)
        free(self.views)
        free(self.starts)
        free(self.rules)
        free(self.order.data)
        free(self.out.data)
        for i in range(self.n_outputs):
            free(self.news[i].data)
        free(self.news)
        free(self.scratch.data)
        free(self.doubt.data)
        free(self.round.data)
        free(self.later.data)
        free(self.came.data)

    # What there is. Everything has the number that it gets here.

    def table(self, width: int) -> int:
        """A table."""
        larger(
            cython.cast(VOIDS, cython.address(self.tables)),
            self.n_tables + 1,
            cython.sizeof(Table),
        )
        T: cython.pointer(Table) = cython.address(self.tables[self.n_tables])
        memset(T, 0, cython.sizeof(Table))
        T.width = width
        T.mask = 15
        T.slots = cython.cast(WORDS, calloc(16, 8))
        T.free = T.component = T.is_group = -1
        T.need = 1
        self.n_tables += 1
        return self.n_tables - 1

    def index(self, table: int, columns: object) -> int:
        """An index of a table by some columns."""
        T: cython.pointer(Table) = cython.address(self.tables[table])
        larger(
            cython.cast(VOIDS, cython.address(T.indexes)),
            T.n_indexes + 1,
            cython.sizeof(Index),
        )
        I: cython.pointer(Index) = cython.address(T.indexes[T.n_indexes])
        memset(I, 0, cython.sizeof(Index))
        I.width = len(columns)
        I.columns = array(columns)
        I.mask = 15
        I.slots = cython.cast(WORDS, calloc(16, 8))
        index_room(I, T.room)
        T.n_indexes += 1
        return T.n_indexes - 1

    def edge(self, table: int, kind: int, what: int, inner: bool) -> None:
        """Something that follows from the rows of a table."""
        T: cython.pointer(Table) = cython.address(self.tables[table])
        larger(
            cython.cast(VOIDS, cython.address(T.edges)),
            T.n_edges + 1,
            cython.sizeof(Edge),
        )
        T.edges[T.n_edges].kind = kind
        T.edges[T.n_edges].what = what
        T.edges[T.n_edges].inner = inner
        T.n_edges += 1

    def matcher(self, fixed: object, alike: object, wanted: object, asks: int) -> int:
        """A pattern; without `wanted`, the end of a list of patterns."""
        larger(
            cython.cast(VOIDS, cython.address(self.matchers)),
            self.n_matchers + 1,
            cython.sizeof(Matcher),
        )
        M: cython.pointer(Matcher) = cython.address(self.matchers[self.n_matchers])
        M.n_fixed = len(fixed) // 2
        M.n_same = len(alike) // 2
        M.n_wanted = -1 if wanted is None else len(wanted)
        M.fixed = array(fixed)
        M.same = array(alike)
        M.wanted = array(wanted or ())
        M.asks = asks
        self.n_matchers += 1
        return self.n_matchers - 1

    def shape(self, target: int, matcher: int) -> int:
        """The rows of a table that a pattern fits."""
        larger(
            cython.cast(VOIDS, cython.address(self.shapes)),
            self.n_shapes + 1,
            cython.sizeof(Shape),
        )
        self.shapes[self.n_shapes].target = target
        self.shapes[self.n_shapes].matcher = matcher
        self.n_shapes += 1
        return self.n_shapes - 1

    def window(
        self,
        points: int,
        held: int,
        target: int,
        kind: int,
        matcher: int,
        by_time: int,
        fixed: bool,
        bounds: object,
        rank: int,
    ) -> int:
        """A window over points, and over what holds at the current one."""
        larger(
            cython.cast(VOIDS, cython.address(self.views)),
            self.n_views + 1,
            cython.sizeof(View),
        )
        W: cython.pointer(View) = cython.address(self.views[self.n_views])
        memset(W, 0, cython.sizeof(View))
        W.points = points
        W.held = held
        W.target = target
        W.kind = kind
        W.matcher = matcher
        W.by_time = by_time
        W.fixed = fixed
        W.past, W.low_hop, W.future, W.high_hop = bounds
        W.low = self.first
        W.high = self.first - 1
        W.rank = rank
        self.n_views += 1
        return self.n_views - 1

    def rank(self, past: int, future: int, width: int, keys: int) -> int:
        """A window by number, whose groups have keys of some width."""
        larger(
            cython.cast(VOIDS, cython.address(self.ranks)),
            self.n_ranks + 1,
            cython.sizeof(Rank),
        )
        K: cython.pointer(Rank) = cython.address(self.ranks[self.n_ranks])
        memset(K, 0, cython.sizeof(Rank))
        K.past = past
        K.future = future
        K.width = width
        K.keys = keys
        self.n_ranks += 1
        return self.n_ranks - 1

    def rank_output(self, rank: int, whose: int, target: int) -> None:
        """Where the signals of a predicate in it go."""
        K: cython.pointer(Rank) = cython.address(self.ranks[rank])
        larger(
            cython.cast(VOIDS, cython.address(K.outputs)),
            K.n_outputs + 1,
            cython.sizeof(Output),
        )
        K.outputs[K.n_outputs].whose = whose
        K.outputs[K.n_outputs].target = target
        K.n_outputs += 1

    def predicate(self, width: int, points: int, atoms: int, forgets: bool) -> int:
        """A predicate of signals."""
        larger(
            cython.cast(VOIDS, cython.address(self.predicates)),
            self.n_predicates + 1,
            cython.sizeof(Predicate),
        )
        P: cython.pointer(Predicate) = cython.address(self.predicates[self.n_predicates])
        memset(P, 0, cython.sizeof(Predicate))
        P.width = width
        P.points = points
        P.atoms = atoms
        P.forgets = forgets
        P.low = self.first
        self.n_predicates += 1
        return self.n_predicates - 1

    def route(self, predicate: int, rank: int, matcher: int, number: int) -> None:
        """To which groups of a window by number its signals belong."""
        P: cython.pointer(Predicate) = cython.address(self.predicates[predicate])
        larger(
            cython.cast(VOIDS, cython.address(P.routes)),
            P.n_routes + 1,
            cython.sizeof(Route),
        )
        P.routes[P.n_routes].rank = rank
        P.routes[P.n_routes].matcher = matcher
        P.routes[P.n_routes].number = number
        P.n_routes += 1

    def program(self, code: object, registers: object) -> int:
        """What finds the solutions of a body."""
        larger(
            cython.cast(VOIDS, cython.address(self.programs)),
            self.n_programs + 1,
            cython.sizeof(Program),
        )
        self.programs[self.n_programs].code = array(code)
        self.programs[self.n_programs].registers = array(registers)
        self.n_programs += 1
        return self.n_programs - 1

    def start(self, program: int, weight: int, head: int, leaves: bool) -> int:
        """A rule from one of its conditions."""
        larger(
            cython.cast(VOIDS, cython.address(self.starts)),
            self.n_starts + 1,
            cython.sizeof(Start),
        )
        S: cython.pointer(Start) = cython.address(self.starts[self.n_starts])
        S.program = program
        S.weight = weight
        S.head = head
        S.exit = leaves
        self.n_starts += 1
        return self.n_starts - 1

    def rule(self, head: int, everything: int, derives: int, leaves: bool) -> None:
        """A rule; one that leaves a component reads nothing of it."""
        larger(
            cython.cast(VOIDS, cython.address(self.rules)),
            self.n_rules + 1,
            cython.sizeof(Rule),
        )
        R: cython.pointer(Rule) = cython.address(self.rules[self.n_rules])
        R.head = head
        R.everything = everything
        R.derives = derives
        R.exit = leaves
        self.n_rules += 1

    def total(
        self, function: int, elements: int, target: int, keys: int, width: int, index: int
    ) -> int:
        """An aggregate over the elements of each key."""
        larger(
            cython.cast(VOIDS, cython.address(self.totals)),
            self.n_totals + 1,
            cython.sizeof(Total),
        )
        A: cython.pointer(Total) = cython.address(self.totals[self.n_totals])
        memset(A, 0, cython.sizeof(Total))
        A.function = function
        A.elements = elements
        A.target = target
        A.keys = keys
        A.width = width
        A.rows_index = index
        A.component = -1
        self.tables[target].is_group = self.n_totals
        self.n_totals += 1
        return self.n_totals - 1

    def component(self, tables: object, derived: object) -> None:
        """Tables whose rows rest on each other.

        Rules say what `derived` ones hold: 1 if nothing else in the component does, or 2.
        """
        larger(
            cython.cast(VOIDS, cython.address(self.components)),
            self.n_components + 1,
            cython.sizeof(Vector),
        )
        C: cython.pointer(Vector) = cython.address(self.components[self.n_components])
        memset(C, 0, cython.sizeof(Vector))
        i: i64
        for table in tables:
            push(C, table)
            self.tables[cython.cast(i64, table)].component = self.n_components
            self.tables[cython.cast(i64, table)].derived = derived.get(table, 0)
        for i in range(self.n_totals):
            if self.tables[self.totals[i].target].component == self.n_components:
                self.totals[i].component = self.n_components
        push(cython.address(self.order), -1 - self.n_components)
        self.n_components += 1

    def next_table(self, table: int) -> None:
        """The table that is settled after those before."""
        push(cython.address(self.order), table)

    # What happens.

    def fact(self, table: int, row: object) -> None:
        """A row that is there from the start."""
        words: WORDS = array(row)
        T: cython.pointer(Table) = cython.address(self.tables[table])
        change(self, table, intern(T, words), 1)
        free(words)

    def step(self, time: int, signals: object) -> bool:
        """Go on to a time, with signals that come or go.

        They are predicate, time, number, sign and words. False if one is lacking that was
        forgotten.
        """
        key: i64[32]
        i: i64
        self.lacks = 0
        begin_step(self, time)
        for predicate, at, number, more, row in signals:
            i = 0
            for word in row:
                key[i] = word
                i += 1
            take_signal(self, predicate, at, number, key, more)
        if self.lacks:
            return False
        end_step(self)
        return True

    def steps(
        self,
        times: object,
        steps: cython.longlong[:],
        predicates: cython.longlong[:],
        at: cython.longlong[:],
        numbers: cython.longlong[:],
        signs: cython.longlong[:],
        places: cython.longlong[:],
        words: cython.longlong[:],
    ) -> None:
        """Go through many times, with signals in the order of their steps.

        Each has a predicate, a time, a number, a sign, and a place where its words begin.
        """
        n: i64 = 0
        step: i64 = 0
        many: i64 = steps.shape[0]
        self.keeps = 1
        for time in times:
            begin_step(self, time)
            while n < many and steps[n] <= step:
                take_signal(
                    self,
                    predicates[n],
                    at[n],
                    numbers[n],
                    cython.address(words[places[n]]),
                    signs[n],
                )
                n += 1
            end_step(self)
            step += 1
        self.keeps = 0

    def outputs(self, number: int) -> None:
        """How many outputs there are."""
        self.n_outputs = number
        self.news = cython.cast(cython.pointer(Vector), calloc(number, cython.sizeof(Vector)))

    def take_news(self) -> list:
        """What came and went since this was last asked: output, sign and words."""
        found = []
        n: i64
        i: i64
        D: WORDS
        for n in range(self.n_outputs):
            if self.news[n].size == 0:
                continue
            D = self.news[n].data
            words = [D[i] for i in range(self.news[n].size)]
            found.append((n, words))
            self.news[n].size = 0
        return found

    def take_columns(self) -> list:
        """The same as arrays: time, sign and words of each, one after the other."""
        found = []
        n: i64
        size: i64
        for n in range(self.n_outputs):
            size = self.news[n].size
            if size:
                whole = cython.cast(cython.p_char, self.news[n].data)[: 8 * size]
                found.append((n, whole))
                self.news[n].size = 0
        return found
