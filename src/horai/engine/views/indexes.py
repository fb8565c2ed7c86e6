# mypy: ignore-errors
"""Rows by some of their columns."""

import cython


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
