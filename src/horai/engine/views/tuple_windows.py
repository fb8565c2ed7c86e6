# mypy: ignore-errors
"""Tuple and partition windows: the last and the next signals by number."""

import cython


@cython.cfunc
@cython.exceptval(check=False)
def left_of(V: Views, r: i64) -> i64:
    """The point at which a window by number begins."""
    K: cython.pointer(Rank) = cython.address(V.ranks[r])
    G: cython.pointer(Group)
    g: i64
    mine: i64
    found: i64 = V.time
    for g in range(K.n_groups):
        G = cython.address(K.groups[g])
        if G.now + G.dropped == 0:
            continue
        mine = V.first if G.now + G.dropped < K.past else G.data[4 * G.begin]
        if mine < found:
            found = mine
    return found


@cython.cfunc
@cython.exceptval(check=False)
def cover_signal(V: Views, r: i64, entry: WORDS, more: i64) -> cython.void:
    """A signal enters or leaves a window by number."""
    K: cython.pointer(Rank) = cython.address(V.ranks[r])
    A: cython.pointer(Table)
    n: i64
    if entry[3] < 0:
        return
    A = cython.address(V.tables[V.predicates[entry[2]].atoms])
    for n in range(K.n_outputs):
        if K.outputs[n].whose == entry[2]:
            reserve(cython.address(V.scratch), A.width + 1)
            memcpy(V.scratch.data, A.data + entry[3] * A.width, A.width * 8)
            V.scratch.data[A.width] = 2 * entry[0] + 1
            change(
                V,
                K.outputs[n].target,
                intern(cython.address(V.tables[K.outputs[n].target]), V.scratch.data),
                more,
            )


@cython.cfunc
@cython.exceptval(check=False)
def set_bounds(V: Views, r: i64, g: i64) -> cython.void:
    """Let the signals in that belong to a window, and the others out."""
    K: cython.pointer(Rank) = cython.address(V.ranks[r])
    G: cython.pointer(Group) = cython.address(K.groups[g])
    begin: i64 = G.now - K.past if G.now > K.past else 0
    end: i64 = G.now + K.future if G.now + K.future < G.size else G.size
    i: i64
    while G.end < end:
        cover_signal(V, r, G.data + 4 * G.end, 1)
        G.end += 1
    while G.end > end:
        G.end -= 1
        cover_signal(V, r, G.data + 4 * G.end, -1)
    while G.begin < begin:
        cover_signal(V, r, G.data + 4 * G.begin, -1)
        G.begin += 1
    while G.begin > begin:
        G.begin -= 1
        cover_signal(V, r, G.data + 4 * G.begin, 1)
    if V.keeps or G.begin < 32 or 2 * G.begin < G.size:
        return
    for i in range(G.begin):
        forget_signal(V, G.data + 4 * i)
    memmove(G.data, G.data + 4 * G.begin, (G.size - G.begin) * 32)
    G.dropped += G.begin
    G.size -= G.begin
    G.now -= G.begin
    G.end -= G.begin
    G.begin = 0


@cython.cfunc
@cython.exceptval(check=False)
def forget_signal(V: Views, entry: WORDS) -> cython.void:
    A: cython.pointer(Table)
    if entry[3] < 0:
        return
    A = cython.address(V.tables[V.predicates[entry[2]].atoms])
    A.count[entry[3]] -= 1
    if A.count[entry[3]] == 0:
        drop(A, entry[3])


@cython.cfunc
@cython.exceptval(check=False)
def place_of(G: cython.pointer(Group), time: i64, number: i64) -> i64:
    """How many signals come before one."""
    low: i64 = 0
    high: i64 = G.size
    middle: i64
    if high == 0 or G.data[4 * high - 4] < time:
        return high
    while low < high:
        middle = (low + high) >> 1
        if G.data[4 * middle] < time or (
            G.data[4 * middle] == time and G.data[4 * middle + 1] < number
        ):
            low = middle + 1
        else:
            high = middle
    return low


@cython.cfunc
@cython.exceptval(-1)
def group_of(V: Views, r: i64, p: i64, words: WORDS) -> i64:
    """The group of a signal, or -2."""
    K: cython.pointer(Rank) = cython.address(V.ranks[r])
    P: cython.pointer(Predicate) = cython.address(V.predicates[p])
    n: i64
    g: i64
    i: i64
    key: i64[32]
    for n in range(P.n_routes):
        if P.routes[n].rank != r:
            continue
        for i in range(K.width):
            key[i] = 0
        key[0] = P.routes[n].number
        if taken(V, P.routes[n].matcher, words, P.width, key + 1):
            g = intern(cython.address(V.tables[K.keys]), key)
            V.tables[K.keys].count[g] = 1
            while g >= K.n_groups:
                if K.n_groups == K.groups_room:
                    K.groups_room = 2 * K.groups_room + 4
                    larger(
                        cython.cast(VOIDS, cython.address(K.groups)),
                        K.groups_room,
                        cython.sizeof(Group),
                    )
                memset(K.groups + K.n_groups, 0, cython.sizeof(Group))
                K.n_groups += 1
            return g
    return -2


@cython.cfunc
@cython.exceptval(-1)
def rank_signal(V: Views, r: i64, p: i64, time: i64, number: i64, words: WORDS, more: i64) -> i64:
    """A signal comes to a window by number, or is taken back."""
    K: cython.pointer(Rank) = cython.address(V.ranks[r])
    G: cython.pointer(Group)
    g: i64 = group_of(V, r, p, words)
    at: i64
    row: i64 = -1
    i: i64
    if g < 0:
        return 0
    G = cython.address(K.groups[g])
    at = place_of(G, time, number)
    if more < 0:
        if at == G.size or G.data[4 * at] != time or G.data[4 * at + 1] != number:
            V.lacks = 1
            return 0
        if G.dropped and K.past < FAR_AWAY and G.now - 1 < K.past and time <= V.time:
            V.lacks = 1
        if G.begin <= at < G.end:
            cover_signal(V, r, G.data + 4 * at, -1)
        forget_signal(V, G.data + 4 * at)
        memmove(G.data + 4 * at, G.data + 4 * at + 4, (G.size - at - 1) * 32)
        G.size -= 1
        G.begin -= at < G.begin
        G.end -= at < G.end
        if time <= V.time:
            G.now -= 1
        else:
            K.ahead -= 1
        set_bounds(V, r, g)
        return 0
    if at == 0 and G.dropped and time <= V.time and G.now >= K.past:
        G.dropped += 1
        return 0
    for i in range(K.n_outputs):
        if K.outputs[i].whose == p:
            row = intern(cython.address(V.tables[V.predicates[p].atoms]), words)
            V.tables[V.predicates[p].atoms].count[row] += 1
            break
    if G.size == G.room:
        G.room = 2 * G.room + 8
        larger(cython.cast(VOIDS, cython.address(G.data)), G.room, 32)
    memmove(G.data + 4 * at + 4, G.data + 4 * at, (G.size - at) * 32)
    G.data[4 * at] = time
    G.data[4 * at + 1] = number
    G.data[4 * at + 2] = p
    G.data[4 * at + 3] = row
    G.size += 1
    if time <= V.time:
        G.now += 1
    else:
        K.ahead += 1
    if at < G.begin or (at == G.begin and at < G.end):
        G.begin += 1
        G.end += 1
    elif at < G.end:
        G.end += 1
        cover_signal(V, r, G.data + 4 * at, 1)
    set_bounds(V, r, g)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def pass_time(V: Views, r: i64) -> i64:
    """Signals that were still to come are here."""
    K: cython.pointer(Rank) = cython.address(V.ranks[r])
    G: cython.pointer(Group)
    g: i64
    if K.ahead == 0:
        return 0
    for g in range(K.n_groups):
        G = cython.address(K.groups[g])
        if G.now == G.size:
            continue
        while G.now < G.size and G.data[4 * G.now] <= V.time:
            G.now += 1
            K.ahead -= 1
        set_bounds(V, r, g)
    return 0
