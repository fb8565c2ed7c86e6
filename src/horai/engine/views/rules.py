# mypy: ignore-errors
"""Rules: the solutions with a row that comes or goes."""

import cython

SCANS_UNHEARD = cython.declare(cython.longlong, 1024)  # so many, then Ctrl-C is heard of

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
            V.scans += 1
            if V.scans % SCANS_UNHEARD == 0:
                PyErr_CheckSignals()  # a step may take long
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
