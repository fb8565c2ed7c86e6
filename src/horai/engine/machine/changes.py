# mypy: ignore-errors
"""Who hears of points and spans that came or went."""

import cython


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def edge(S: STATE, L: i64, start: i64, v: i64, x: i64, d: i64) -> cython.void:
    """A span of v that begins (or else ends) at x came (d = 1) or went (-1)."""
    g: i64 = S.lines[L].col * FIELDS
    if is_foreign(S, L) != 0:
        return
    n: i64 = S.cols[g + C_STARTIS] if start != 0 else S.cols[g + C_ENDIS]
    if n != 0 and x > S.start:
        emit_event(S, L + n, x, cython.address(v), d)
    t: i64 = before(S, x)
    if t <= S.start:
        return
    e: i64 = S.cols[g + C_EDGES]
    if e != 0:
        # Programs of rules that ask for nothing that changes: (start?, value or ANY, code)...
        while S.args[e] >= 0:
            if S.args[e] == start and (S.args[e + 1] == ANY or S.args[e + 1] == v):
                S.reg[0] = 2 * t + 1
                n = load_key(S, L)
                S.reg[n] = v
                run_rules(S, S.args[e + 2], L, ALL_RULES, 0, 1, d)
            e += 3
    n = S.cols[g + C_STARTS] if start != 0 else S.cols[g + C_ENDS]
    if n != 0:
        emit_event(S, L + n, t, cython.address(v), d)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def held(S: STATE, L: i64, v: i64, a: i64, z: i64, d: i64) -> cython.void:
    """F=v holds (or no longer) in [a, z): at each time-point of it in the run, as an event."""
    n: i64 = S.cols[S.lines[L].col * FIELDS + C_HELD]
    if n == 0 or is_foreign(S, L) != 0:
        return
    if z == INF:
        z = S.q + 1
        if d > 0:
            timer(S, L + n, S.q + 1)  # as long as it is open there will be more
    elif z > S.q:
        z = S.q + 1
        if d > 0:
            timer(S, L + n, S.q + 1)
    a = first_after(S, a)
    while a < z and S.error == 0:
        emit_event(S, L + n, a, cython.address(v), d)
        a += S.tick


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def held_longer(S: STATE, L: i64, n: i64) -> cython.void:
    """The points, `n` columns on, at which L holds after the last query time."""
    off: i64 = S.lines[L].spans
    size: i64 = S.lines[L].ns
    i: i64 = first_ending_after(S, off, size, S.qprev + 1) if size > 0 else 0
    while i < size and S.error == 0:
        off = S.lines[L].spans
        a: i64 = S.pool[off + i]
        held(S, L, S.pool[off + i + 2], a if a > S.qprev else S.qprev + 1, S.pool[off + i + 1], 1)
        i += 3


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def hit(S: STATE, reader: WORDS, target: i64, a: i64, z: i64) -> cython.void:
    """Whoever reads is told that what it looks at is other in [a, z)."""
    if reader[S_LISTS] == TO_ROW:
        enter_row(S, S.lines[target].row)
        return
    if reader[S_LISTS] != 0:
        if reader[S_LISTS] == TO_LISTS and stays_empty(S, target, a, z) == 0:
            dirty(S, target, a, z)
        return
    n: i64 = S.lines[target].np
    if n == 0:
        return
    g: i64 = S.lines[target].col * FIELDS
    stride: i64 = S.cols[g + C_STRIDE]
    mask: i64 = reader[S_MASK]
    level: i64 = reader[S_LEVEL]
    a = a + reader[S_LOW] if reader[S_LOW] > -INF else -INF
    z = z + reader[S_HIGH] if reader[S_HIGH] < INF and z < INF else INF
    off: i64 = S.lines[target].points
    i: i64 = first_at(S, off, n, a, stride)
    if z >= INF and level == S.level:
        chain(S, target, i, level)
        return
    all_: i64 = S.args[S.cols[g + C_RULES] + 2 * level]
    while i < n and S.pool[off + i] < z:
        w: i64 = S.pool[off + i + 1]
        wait: i64 = ((w >> (MET + RULES_AT)) & mask) << (PEND + RULES_AT)
        if (w & wait) != wait:
            S.pool[off + i + 1] = w | wait
            if (w & (all_ << (PEND + RULES_AT))) == 0:
                to_evaluate(S, level, target, S.pool[off + i], all_)
        i += stride


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def chain(S: STATE, L: i64, i: i64, level: i64) -> cython.void:
    """The points of a line from word i on have to be evaluated in the cycle that is settled now.

    The first of them is told, and tells the next when its time has come: with every change of a
    value that may hold for ever, all later points would be told again.
    """
    g: i64 = S.lines[L].col * FIELDS
    stride: i64 = S.cols[g + C_STRIDE]
    off: i64 = S.lines[L].points
    n: i64 = S.lines[L].np
    all_: i64 = S.args[S.cols[g + C_RULES] + 2 * level]
    while i < n and S.pool[off + i] <= S.q:
        w: i64 = S.pool[off + i + 1]
        if (w & CHAINED) != 0:
            return
        wait: i64 = ((w >> (MET + RULES_AT)) & all_) << (PEND + RULES_AT)
        if wait != 0:
            S.pool[off + i + 1] = w | wait | CHAINED
            if (w & (all_ << (PEND + RULES_AT))) == 0:
                to_evaluate(S, level, L, S.pool[off + i], all_)
            return
        i += stride


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def changed(S: STATE, L: i64, v: i64, a: i64, z: i64) -> cython.void:
    """F=v is other in [a, z), or an event at a: rules and lists that read it are told."""
    col: i64 = S.lines[L].col
    if S.shards != 0:
        to_tell(S, L, a)
    r: i64 = S.cols[col * FIELDS + C_READERS]
    if r != 0:
        # (how far away, site)...
        n: i64 = S.args[r]
        while n > 0:
            r += 2
            n -= 1
            s: WORDS = cython.address(S.sites[S.args[r] * 8])
            if s[S_VALUE] == ANY or v == ANY or s[S_VALUE] == v:
                hit(S, s, L + S.args[r - 1], a, z)
    S.members += S.cols[col * FIELDS + C_MEMBERS]
    told(S, L, L, v, a, z)
    row: i64 = S.lines[L].row
    T: i64 = S.rows[row].table * 8
    indexes: i64 = S.tables[T + T_INDEXES]
    if indexes != 0:
        n = S.args[indexes]
        while n > 0:
            n -= 1
            told(
                S,
                L,
                S.keys[S.rows[row].key + S.tables[T + T_KEYS] + S.tables[T + T_REFS] + n],
                v,
                a,
                z,
            )


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def told(S: STATE, L: i64, where: i64, v: i64, a: i64, z: i64) -> cython.void:
    """Those who are linked to a line, or to a bucket it is in."""
    col: i64 = S.lines[L].col
    k: i64 = S.lines[where].links
    while k != 0:
        s: WORDS = cython.address(S.sites[S.links[k].site * 8])
        if s[S_COLUMN] == col and (s[S_VALUE] == ANY or v == ANY or s[S_VALUE] == v):
            hit(S, s, S.links[k].target + s[S_SHIFT], a, z)
        k = S.links[k].next


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def value_row(S: STATE, L: i64, table: i64, v: i64) -> cython.void:
    """A line has a value: there is a row for it, of its key and the value."""
    key: WORDS = S.key
    at: i64 = S.rows[S.lines[L].row].key
    n: i64 = S.tables[table * 8 + T_KEYS] - 1
    i: i64 = 0
    while i < n:
        key[i] = S.keys[at + i]
        i += 1
    key[n] = v
    make_row(S, table, key)
