# mypy: ignore-errors
"""A step: windows move, signals come in, tables are settled in their order."""

import cython


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
    PyErr_CheckSignals()
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
