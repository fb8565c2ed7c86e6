# mypy: ignore-errors
"""Tables of rows, which count what speaks for each of them."""

import cython


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
