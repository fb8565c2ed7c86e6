# mypy: ignore-errors
"""A step: items in, levels settled, changes out; forgetting."""

import cython


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def put_item(
    S: STATE, table: i64, place: i64, added: i64, time: i64, words: WORDS, n: i64
) -> cython.void:
    """One more item of the step, in the form in which `take` has them."""
    keys: i64 = S.tables[table * 8 + T_KEYS]
    if shard_of(S, table, words) != S.shard:
        return
    r: i64 = make_row(S, table, words)
    words_room(cython.address(S.items), cython.address(S.items_size), S.itemwords + 3 + n - keys)
    item: WORDS = cython.address(S.items[S.itemwords])
    home: i64 = S.rows[r].home
    item[0] = (S.rows[r].line + place) | (home << 32)
    item[1] = time
    item[2] = 2 * (n - keys) + added
    k: i64 = keys
    while k < n:
        item[3 + k - keys] = words[k]
        k += 1
    S.itemwords += 3 + n - keys
    S.nitems += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def feed_items(S: STATE, table: i64, place: i64, sign: i64, n: i64, width: i64) -> cython.void:
    """Items of which `sweep` says where their times and their words are."""
    time: WORDS = cython.cast(WORDS, S.sweep[0])
    i: i64 = 0
    while i < n:
        k: i64 = 0
        while k < width:
            S.em[k] = cython.cast(WORDS, S.sweep[k + 1])[i]
            k += 1
        put_item(S, table, place, 1 if sign > 0 else 0, time[i], S.em, width)
        i += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def introduce(S: STATE) -> cython.void:
    """Run the programs of rows that are new."""
    while S.introduced < S.nrows and S.error == 0:
        S.introduced += 1
        enter_row(S, S.introduced - 1)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def enter_row(S: STATE, r: i64) -> cython.void:
    """Run the program of a row: what it looks at, and whether it is in its domain."""
    pc: i64 = S.tables[S.rows[r].table * 8 + T_CODE]
    if pc != 0 and S.rows[r].home >= 0:
        L: i64 = S.rows[r].line
        S.reg[0] = 1
        load_key(S, L)
        run_rules(S, pc, L, ALL_RULES, 0, 1, 1)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def resolve(S: STATE, L: i64, a: i64, z: i64) -> cython.void:
    if (S.lines[L].cs & BARRED) != 0:
        replace(S, L, 0, S.lines[L].ns, 0)
        return
    was: i64 = S.marked
    spans: i64 = S.lines[L].ns
    if S.watched != 0:
        mark(S, S.owners[S.lines[L].col] >> 1, 1)
    kind: i64 = S.cols[S.lines[L].col * FIELDS + C_KIND]
    if kind == SIMPLE:
        resolve_simple(S, L, a, z)
    elif kind == LIST:
        resolve_list(S, L, a, z)
    elif kind == FILTER:
        resolve_filter(S, L, a, z)
    elif kind in (COVER, KNOWN):
        resolve_cover(S, L, a, z)
    elif kind == ALLEN:
        resolve_allen(S, L, a, z)
    else:
        resolve_input(S, L, a)
    if S.watched != 0:
        if S.owners[S.lines[L].col] & 1:
            S.spent[3 * S.marked + 1] += (S.lines[L].ns - spans) // 3
        mark(S, was, 0)
    S.resolves += 1
    worked(S)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def evaluate_at(S: STATE, L: i64, t: i64, mask: i64, level: i64) -> cython.void:
    """The rules of `mask` at the points of a line at t; all rules, if they are new or gone."""
    col: i64 = S.lines[L].col
    stride: i64 = S.cols[col * FIELDS + C_STRIDE]
    i: i64 = 0
    if S.lines[L].np == 0:
        return
    i = first_at(S, S.lines[L].points, S.lines[L].np, t, stride)
    S.evals += 1
    worked(S)
    while i < S.lines[L].np and S.pool[S.lines[L].points + i] == t and S.error == 0:
        w: i64 = S.pool[S.lines[L].points + i + 1]
        if (w & CHAINED) != 0:
            w &= ~CHAINED
            S.pool[S.lines[L].points + i + 1] = w
            chain(S, L, i + stride, S.level)
        if mask < 0:
            if (w & FRESH) != 0:
                S.pool[S.lines[L].points + i + 1] = w & ~FRESH
                if (w & 0xFFFF) == 0:
                    undo(S, L, i)
                    remove_point(S, L, i, stride)
                    continue
                if S.cols[col * FIELDS + C_CODE] != 0:
                    meet(S, L, i)
        elif (w & 0xFFFF) != 0:
            waits: i64 = (w >> (PEND + RULES_AT)) & mask
            if waits != 0:
                evaluate(S, L, i, waits, level)
        i += stride


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def settle_level(S: STATE, s: i64) -> cython.void:
    """Do what a level has to do: points first, then what follows from them."""
    if S.cyclic[s] != 0:
        S.level = s
        last: i64 = -INF
        again: i64 = 0  # in the same cell
        back: i64 = 0  # to earlier ones
        in_time(S, s)
        while (S.nheap > 0 or S.ran < S.nrun) and S.error == 0:
            introduce(S)
            soonest(S)
            L: i64 = S.got[1]
            t: i64 = S.got[0] >> 1
            if after(S, t) > last:
                again = 0
            elif after(S, t) < last:
                back += 1
            last = after(S, t)
            again += 1
            if again > ROUNDS * (S.nlines + 100) or back > ROUNDS * (S.nlines + 1000):
                contradicts(S, L, t)
            if (S.got[0] & 1) == 0:
                evaluate_at(S, L, t, S.got[2], s)
            else:
                if S.lines[L].dirty == t - S.origin + 1:
                    S.lines[L].dirty = 0
                resolve(S, L, t, S.got[2])
        S.level = -1
    while S.error == 0:
        introduce(S)
        h: i64 = S.queues[4 * s] if S.cyclic[s] == 0 else 0
        if h != 0:
            S.queues[4 * s] = S.ag[h]
            if S.ag[h] == 0:
                S.queues[4 * s + 1] = 0
            evaluate_at(S, S.ag[h + 1], S.ag[h + 2], S.ag[h + 3], s)
            continue
        h = S.queues[4 * s + 2]
        if h != 0:
            S.queues[4 * s + 2] = S.ag[h]
            if S.ag[h] == 0:
                S.queues[4 * s + 3] = 0
            L = S.ag[h + 1]
            a: i64 = S.ag[h + 2]
            z: i64 = S.ag[h + 3]
            S.ag[h + 1] = -1  # it waits no longer
            if a == -INF:
                a = S.lines[L].dirty - 1 + S.origin
                S.lines[L].dirty = 0
            resolve(S, L, a, z)
            continue
        break


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def waiting(S: STATE) -> i64:
    """The lowest level that has something to do."""
    s: i64 = 0
    while s < S.nlevels and S.queues[4 * s] == 0 and S.queues[4 * s + 2] == 0:
        s += 1
    return s


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def rehearse(S: STATE, s: i64, at: i64, end: i64) -> cython.void:
    """Ask Python at once what the points that wait at a level, or some items, will ask."""
    rounds: i64 = 0
    while rounds < 64 and S.error == 0:
        S.nwishes = 0
        S.dry = 1
        h: i64 = S.queues[4 * s] if s >= 0 else 0
        while h != 0:
            rehearse_at(S, S.ag[h + 1], S.ag[h + 2], S.ag[h + 3], s)
            h = S.ag[h]
        i: i64 = at
        while i < end:
            rehearse_item(S, i)
            i += 3 + (S.items[i + 2] >> 1)
        S.dry = 0
        if S.nwishes == 0:
            break
        with cython.gil:
            try:
                words = [S.wishes[k] for k in range(S.nwishes)]
                cython.cast(object, S.owner).answered_at_once(words)
            except BaseException as error:
                cython.cast(object, S.owner).failure(error)
                S.error = 2
        rounds += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def rehearse_item(S: STATE, at: i64) -> cython.void:
    """As `meet`, of an event that is said to happen."""
    L: i64 = S.items[at] & MAX32
    g: i64 = S.lines[L].col * FIELDS
    if (S.items[at + 2] & 1) == 0 or S.cols[g + C_ASKS] == 0:
        return
    S.reg[0] = 2 * S.items[at + 1] + 1
    n: i64 = load_key(S, L)
    memcpy(cython.address(S.reg[n]), cython.address(S.items[at + 3]), (S.items[at + 2] >> 1) * 8)
    run_rules(S, S.cols[g + C_ENTRY], L, ALL_RULES, 0, 0, 0)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def rehearse_at(S: STATE, L: i64, t: i64, mask: i64, level: i64) -> cython.void:
    """As `evaluate_at`, but nothing is said."""
    g: i64 = S.lines[L].col * FIELDS
    if S.cols[g + C_ASKS] == 0 or S.lines[L].np == 0:
        return
    stride: i64 = S.cols[g + C_STRIDE]
    i: i64 = first_at(S, S.lines[L].points, S.lines[L].np, t, stride)
    while i < S.lines[L].np and S.pool[S.lines[L].points + i] == t:
        w: i64 = S.pool[S.lines[L].points + i + 1]
        waits: i64 = (w >> (PEND + RULES_AT)) & mask
        if (w & 0xFFFF) == 0:
            pass
        elif mask < 0:
            if (w & FRESH) != 0:
                load_driver(S, L, i)
                run_rules(S, S.cols[g + C_ENTRY], L, ALL_RULES, 0, 0, 0)
        elif waits != 0:
            load_driver(S, L, i)
            run_rules(S, S.args[S.cols[g + C_RULES] + 2 * level + 1], L, waits, 0, 0, 0)
        i += stride


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def settle(S: STATE, last: i64) -> cython.void:
    """All levels before `last`, until there is nothing left to do in them."""
    introduce(S)
    s: i64 = waiting(S)
    while s < last and S.error == 0:
        if S.asks != 0 and S.cyclic[s] == 0:
            rehearse(S, s, 0, 0)
        settle_level(S, s)
        s = waiting(S)
    if s == S.nlevels:
        S.nag = 4


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def by_home(S: STATE) -> cython.void:
    """Put the items of each home beside each other; `counts` says where those of each end."""
    words_room(cython.address(S.counts), cython.address(S.counts_size), S.nhomes + 2)
    memset(S.counts, 0, (S.nhomes + 2) * 8)
    at: i64 = 0
    while at < S.itemwords:
        n: i64 = 3 + (S.items[at + 2] >> 1)
        S.counts[(S.items[at] >> 32) + 1] += n
        at += n
    home: i64 = 0
    while home <= S.nhomes:
        S.counts[home + 1] += S.counts[home]
        home += 1
    sorted: WORDS = cython.NULL
    size: i64 = 0
    words_room(cython.address(sorted), cython.address(size), S.itemwords)
    at = 0
    while at < S.itemwords:
        n = 3 + (S.items[at + 2] >> 1)
        home = S.items[at] >> 32
        memcpy(cython.address(sorted[S.counts[home]]), cython.address(S.items[at]), n * 8)
        S.counts[home] += n
        at += n
    free(S.items)
    S.items = sorted
    S.items_size = size


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def in_order(S: STATE, at: i64, end: i64) -> i64:
    """The places of the items from one place to another, by time, in `order`; how many they are."""
    n: i64 = 0
    while at < end:
        words_room(cython.address(S.fx), cython.address(S.fx_size), n + 2)
        S.fx[n] = S.items[at + 1]
        S.fx[n + 1] = at
        n += 2
        at += 3 + (S.items[at + 2] >> 1)
    sort_pieces(S, n)
    n >>= 1
    words_room(cython.address(S.order), cython.address(S.order_size), n)
    at = 0
    while at < n:
        S.order[at] = S.fx[2 * at + 1]
        at += 1
    return n


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def take_item(S: STATE, at: i64) -> cython.void:
    L: i64 = S.items[at] & MAX32
    t: i64 = S.items[at + 1]
    w: i64 = S.items[at + 2]
    args: WORDS = cython.address(S.items[at + 3])
    if S.cols[S.lines[L].col * FIELDS + C_KIND] == INPUT:
        input_interval(S, 1 if w & 1 else -1, L, t, args[0])
    elif w & 1:
        insert_event(S, L, t, args)
    else:
        retract_event(S, L, t, args)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def take(S: STATE) -> cython.void:
    """The items of a step, home by home: (line and home, time, what it is, arguments...).

    What it is: 1 for insertions, and shifted by one how many arguments there are.
    """
    sort: i64 = 1 if S.nitems > 64 else 0
    if sort != 0:
        by_home(S)
    home: i64 = 0
    at: i64 = 0
    asked: i64 = 0  # up to where Python has been asked
    used: i64 = 0  # up to where room has been given back
    some: i64 = 0  # items since levels were settled
    while at < S.itemwords and S.error == 0:
        end: i64 = S.counts[home] if sort != 0 else S.itemwords
        home += 1
        if S.asks != 0 and end > asked:
            i: i64 = asked
            n: i64 = 0
            while asked < S.itemwords and (n < AT_ONCE or asked < end):
                asked += 3 + (S.items[asked + 2] >> 1)
                n += 1
            rehearse(S, -1, i, asked)
        if some >= 256:
            # What concerns single instances is settled while it is in the cache.
            settle(S, S.own)
            some = 0
        n = in_order(S, at, end)
        i = 0
        while i < n and S.error == 0:
            if i + 8 < n:
                SOON(cython.address(S.lines[S.items[S.order[i + 8]] & MAX32]))
            take_item(S, S.order[i])
            i += 1
        some += n
        at = end
        if at - used > GIVEN_BACK:
            horai_give_back(cython.address(S.items[used]), at - used)
            used = at
    if S.itemwords > GIVEN_BACK:
        free(S.items)
        S.items = cython.NULL
        S.items_size = 0
    S.nitems = S.itemwords = 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def begin_step(S: STATE, q: i64) -> cython.void:
    """A new query time; what was due by it is looked at again."""
    S.qprev = S.q
    S.q = q
    S.epoch += 1
    S.ntouched = 0
    S.narena = 8
    S.nlog = 0
    S.nag = 4
    while S.ntimers > 0 and S.timers[0] <= q:
        t: i64 = S.timers[0]
        L: i64 = pop_timer(S)
        if S.lines[L].timer == t - S.start:
            S.lines[L].timer = 0
        n: i64 = S.cols[S.lines[L].col * FIELDS + C_HOLDER]
        if n != 0:
            held_longer(S, L - n, n)
        elif S.cols[S.lines[L].col * FIELDS + C_KIND] == EVENT:
            due(S, L, t)
        elif S.cols[S.lines[L].col * FIELDS + C_KIND] == FILTER:
            # What is open began some time ago.
            if (S.lines[L].cs & BARRED) == 0:
                push(S, 2 * S.cols[S.lines[L].col * FIELDS + C_LEVEL] + 1, L, t, INF)
        else:
            dirty(S, L, t, t)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def due(S: STATE, L: i64, t: i64) -> cython.void:
    """The points of a line from t on that were in the future until now, and when others follow."""
    g: i64 = S.lines[L].col * FIELDS
    stride: i64 = S.cols[g + C_STRIDE]
    n: i64 = S.lines[L].np
    off: i64 = S.lines[L].points
    i: i64 = first_at(S, off, n, t, stride) if n > 0 else 0
    while i < n and S.pool[off + i] <= S.q:
        t = S.pool[off + i]
        if (S.pool[off + i + 1] & FRESH) != 0:
            to_evaluate(S, S.cols[g + C_LEVEL], L, t, -1)
        if (S.pool[off + i + 1] & 0xFFFF) != 0:
            if S.cols[g + C_OUT] != 0:
                log_event(S, L, t, 1)
            changed(S, L, ANY, t, t + 1)
        i += stride
    if i < n:
        timer(S, L, S.pool[off + i])


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def end_step(S: STATE) -> cython.void:
    """The items that were fed, and everything brought up to date."""
    take(S)
    settle(S, S.nlevels)
    if CHECKED and S.error == 0 and is_sound(S) == 0:
        S.error = 4
