# mypy: ignore-errors
"""Who hears of a row that comes or goes."""

import cython


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
