# mypy: ignore-errors
"""Tables settled in their order."""

import cython


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
