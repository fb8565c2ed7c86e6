# mypy: ignore-errors
"""Rows of instances, found by the words of their keys; links between them."""

import cython


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def hashed(words: WORDS, n: i64, seed: i64) -> i64:
    h: i64 = seed * HASH_A + 0x51ED270B
    i: i64 = 0
    while i < n:
        h = (h ^ words[i]) * HASH_B
        h ^= (h >> 29) & MAX32
        i += 1
    return h & POSITIVE


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def find_row(S: STATE, table: i64, key: WORDS) -> i64:
    """The row of an instance; -1 if there is none."""
    nk: i64 = S.tables[table * 8 + T_KEYS]
    h: i64 = hashed(key, nk, table)
    at: i64 = h & S.mask
    while S.slots[at] != 0:
        r: i64 = S.slots[at] - 1
        if S.rows[r].table == table:
            k: i64 = S.rows[r].key
            i: i64 = 0
            while i < nk and S.keys[k + i] == key[i]:
                i += 1
            if i == nk:
                return r
        at = (at + 1) & S.mask
    return -1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def rehash(S: STATE) -> cython.void:
    size: i64 = (S.mask + 1) * 2
    free(S.slots)
    S.slots = cython.cast(INTS, calloc(size, 4))
    if S.slots == cython.NULL:
        out_of_memory()
    S.mask = size - 1
    r: i64 = 0
    while r < S.nrows:
        table: i64 = S.rows[r].table
        h: i64 = hashed(cython.address(S.keys[S.rows[r].key]), S.tables[table * 8 + T_KEYS], table)
        at: i64 = h & S.mask
        while S.slots[at] != 0:
            at = (at + 1) & S.mask
        S.slots[at] = r + 1
        r += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def shard_of(S: STATE, table: i64, key: WORDS) -> i64:
    """The machine that a row with this key belongs to, where there are several."""
    if S.shards == 0 or S.where[table] < 0:
        return 0
    return (hashed(cython.address(key[S.where[table]]), 1, 1) >> 20) % S.shards


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def is_foreign(S: STATE, L: i64) -> i64:
    """Does a line belong to another machine?"""
    return 1 if S.shards != 0 and S.rows[S.lines[L].row].home < 0 else 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def settle_home(S: STATE, r: i64) -> cython.void:
    """Give a row for items the home of those with the same word in their key, at a place of the
    table's: what happens to them belongs together. The slots of `homes` are the first row of each.
    """
    S.rows[r].home = 0
    if S.shards != 0:
        whose: i64 = shard_of(S, S.rows[r].table, cython.address(S.keys[S.rows[r].key]))
        if whose != S.shard:
            S.rows[r].home = -1 - whose
            return
    place: i64 = S.tables[S.rows[r].table * 8 + T_HOME]
    if place < 0:
        return
    word: i64 = S.keys[S.rows[r].key + place]
    at: i64 = hashed(cython.address(word), 1, 0) & S.homemask
    while S.homes[at] != 0:
        other: i64 = S.homes[at] - 1
        place = S.tables[S.rows[other].table * 8 + T_HOME]
        if S.keys[S.rows[other].key + place] == word:
            S.rows[r].home = S.rows[other].home
            return
        at = (at + 1) & S.homemask
    S.homes[at] = r + 1
    S.nhomes += 1
    S.rows[r].home = S.nhomes
    if S.nhomes * 2 > S.homemask:
        free(S.homes)
        S.homemask = 2 * S.homemask + 1
        S.homes = cython.cast(INTS, calloc(S.homemask + 1, 4))
        if S.homes == cython.NULL:
            out_of_memory()
        S.nhomes = 0
        r = 0
        while r < S.nrows:
            settle_home(S, r)
            r += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def make_row(S: STATE, table: i64, key: WORDS) -> i64:
    """The row of an instance, made if there is none. `key` must not lie in `S.keys`."""
    r: i64 = find_row(S, table, key)
    if r >= 0:
        return r
    T: i64 = table * 8
    nk: i64 = S.tables[T + T_KEYS]
    nc: i64 = S.tables[T + T_COLUMNS]
    indexes: i64 = S.tables[T + T_INDEXES]
    ni: i64 = S.args[indexes] if indexes != 0 else 0
    nw: i64 = nk + ni + S.tables[T + T_REFS]
    r = S.nrows
    room(
        cython.cast(VOIDS, cython.address(S.rows)),
        cython.address(S.rows_size),
        r + 1,
        cython.sizeof(Row),
    )
    words_room(cython.address(S.keys), cython.address(S.keys_size), S.nkeys + nw)
    room(
        cython.cast(VOIDS, cython.address(S.lines)),
        cython.address(S.lines_size),
        S.nlines + nc,
        cython.sizeof(Line),
    )
    S.nrows = r + 1
    S.rows[r].table = table
    S.rows[r].line = S.nlines
    S.rows[r].key = S.nkeys
    memcpy(cython.address(S.keys[S.nkeys]), key, nk * 8)
    i: i64 = nk
    while i < nw:
        S.keys[S.nkeys + i] = -1
        i += 1
    S.nkeys += nw
    memset(cython.address(S.lines[S.nlines]), 0, nc * cython.sizeof(Line))
    i = 0
    while i < nc:
        S.lines[S.nlines + i].row = r
        S.lines[S.nlines + i].col = S.tables[T + T_FIRST] + i
        i += 1
    S.nlines += nc
    settle_home(S, r)
    if S.shards != 0:
        begin_hearing(S, r, nc)
    if S.nrows * 2 > S.mask:
        rehash(S)
    else:
        h: i64 = hashed(key, nk, table)
        at: i64 = h & S.mask
        while S.slots[at] != 0:
            at = (at + 1) & S.mask
        S.slots[at] = r + 1
    # It is a member of a bucket of every index of its table.
    i = 0
    while i < ni:
        bucket: i64 = bucket_of_row(S, r, S.args[indexes + 1 + i])
        S.keys[S.rows[r].key + nw - ni + i] = bucket
        off: i64 = points_room(S, bucket, 1)
        S.pool[off + S.lines[bucket].np] = r
        S.lines[bucket].np += 1
        i += 1
    return r


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def bucket_of_row(S: STATE, r: i64, index: i64) -> i64:
    """The line of the bucket of a row; an index is (table of buckets, places of its keys...)."""
    key: WORDS = S.key
    table: i64 = S.args[index]
    n: i64 = S.tables[table * 8 + T_KEYS]
    i: i64 = 0
    while i < n:
        key[i] = S.keys[S.rows[r].key + S.args[index + 1 + i]]
        i += 1
    made: i64 = make_row(S, table, key)
    return S.rows[made].line


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def row_of_registers(S: STATE, table: i64, p: i64, make: i64) -> i64:
    """The row whose key is in the registers that a list of arguments names."""
    key: WORDS = S.key
    n: i64 = S.tables[table * 8 + T_KEYS]
    i: i64 = 0
    while i < n:
        key[i] = S.reg[S.args[p + 1 + i]]
        i += 1
    if make != 0:
        return make_row(S, table, key)
    return find_row(S, table, key)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def link(S: STATE, L: i64, site: i64, target: i64) -> i64:
    """Whoever drives `target` looks at line L, in the way of a site. Is that new?"""
    h: i64 = L * HASH_A + site * HASH_B + target * HASH_C
    h ^= (h >> 31) & MAX32
    at: i64 = h & S.linkmask
    while S.linkslots[at] != 0:
        k: i64 = S.linkslots[at]
        if S.links[k].line == L and S.links[k].site == site and S.links[k].target == target:
            if S.links[k].when < S.reg[0] >> 1:
                S.links[k].when = S.reg[0] >> 1
            return 0
        at = (at + 1) & S.linkmask
    n: i64 = S.nlinks
    room(
        cython.cast(VOIDS, cython.address(S.links)),
        cython.address(S.links_size),
        n + 1,
        cython.sizeof(Link),
    )
    S.nlinks = n + 1
    S.links[n].line = L
    S.links[n].site = site
    S.links[n].target = target
    S.links[n].when = S.reg[0] >> 1
    S.links[n].next = S.lines[L].links
    S.lines[L].links = n
    S.linkslots[at] = n
    if is_foreign(S, L) != 0:
        tell_owner(S, S.lines[L].row, HEARS)
    if S.nlinks * 2 > S.linkmask:
        relink(S)
    return 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def relink(S: STATE) -> cython.void:
    size: i64 = (S.linkmask + 1) * 2
    free(S.linkslots)
    S.linkslots = cython.cast(INTS, calloc(size, 4))
    if S.linkslots == cython.NULL:
        out_of_memory()
    S.linkmask = size - 1
    k: i64 = 1
    while k < S.nlinks:
        L: i64 = S.links[k].line
        site: i64 = S.links[k].site
        target: i64 = S.links[k].target
        h: i64 = L * HASH_A + site * HASH_B + target * HASH_C
        h ^= (h >> 31) & MAX32
        at: i64 = h & S.linkmask
        while S.linkslots[at] != 0:
            at = (at + 1) & S.linkmask
        S.linkslots[at] = k
        k += 1
