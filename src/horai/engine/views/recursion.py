# mypy: ignore-errors
"""Recursion: what is in doubt goes, what still has a reason comes back."""

import cython


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
