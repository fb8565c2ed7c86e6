# mypy: ignore-errors
"""Counts, sums and extremes of groups, kept up to date."""

import cython


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
