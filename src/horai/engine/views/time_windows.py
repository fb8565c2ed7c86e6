# mypy: ignore-errors
"""Windows by time: how long points are in them."""

import cython


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
