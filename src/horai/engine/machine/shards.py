# mypy: ignore-errors
"""Machines that share the rows by home, each on a thread of its own."""

import cython


# Each has the rows that belong to it. Rows of others are there as well, where it has named them:
# what it says of them it says to their owner, by letter, and what it looks at the owner tells it,
# whenever it changes. So the spans and points of such a row are those that its owner has told.


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def begin_hearing(S: STATE, r: i64, columns: i64) -> cython.void:
    """A row is new: nobody has heard of it."""
    words_room(cython.address(S.heard), cython.address(S.heard_size), r + 1)
    S.heard[r] = 0
    words_room(cython.address(S.changes), cython.address(S.changes_size), S.nlines)
    i: i64 = S.nlines - columns
    while i < S.nlines:
        S.changes[i] = INF
        i += 1
    if S.rows[r].home < 0:
        tell_owner(S, r, 0)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def tell_owner(S: STATE, r: i64, what: i64) -> cython.void:
    """The owner of a row has to know that it exists, or that this machine looks at it."""
    had: i64 = S.heard[r]
    if what != 0 and (had & what) != 0:
        return
    S.heard[r] = had | what | TO_TELL
    if (had & TO_TELL) == 0:
        words_room(cython.address(S.foreign), cython.address(S.foreign_size), S.nforeign + 1)
        S.foreign[S.nforeign] = r
        S.nforeign += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def to_tell(S: STATE, L: i64, a: i64) -> cython.void:
    """A line is other from a on: machines that look at it have to be told."""
    r: i64 = S.lines[L].row
    if S.heard[r] == 0 or S.rows[r].home < 0 or S.looked[S.lines[L].col] == 0:
        return
    if S.changes[L] == INF:
        words_room(cython.address(S.untold), cython.address(S.untold_size), S.nuntold + 1)
        S.untold[S.nuntold] = L
        S.nuntold += 1
    if a < S.changes[L]:
        S.changes[L] = a


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def letter(S: STATE, L: i64, kind: i64, n: i64) -> i64:
    """The place of the n words of a new letter about a line, to those whom it concerns.

    A letter has its size, to whom it goes, its kind, table and place of the line, the key.
    """
    row: i64 = S.lines[L].row
    table: i64 = S.rows[row].table
    keys: i64 = S.tables[table * 8 + T_KEYS]
    at: i64 = S.nletters
    words_room(cython.address(S.letters), cython.address(S.letters_size), at + 6 + keys + n)
    home: i64 = S.rows[row].home
    S.letters[at] = 5 + keys + n
    S.letters[at + 1] = S.heard[row] if home >= 0 else cython.cast(i64, 1) << (-1 - home)
    S.letters[at + 2] = kind
    S.letters[at + 3] = table
    S.letters[at + 4] = L - S.rows[row].line
    i: i64 = 0
    while i < keys:
        S.letters[at + 5 + i] = S.keys[S.rows[row].key + i]
        i += 1
    S.nletters = at + 5 + keys + n
    return at + 5 + keys


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def write_letters(S: STATE) -> cython.void:
    """Tell others what they do not know yet."""
    i: i64 = 0
    at: i64 = 0
    while i < S.nforeign:
        r: i64 = S.foreign[i]
        at = letter(S, S.rows[r].line, NEW_ROW, 1)
        S.letters[at] = S.heard[r] & HEARS
        S.heard[r] &= ~TO_TELL
        i += 1
    S.nforeign = 0
    i = 0
    while i < S.nuntold:
        L: i64 = S.untold[i]
        a: i64 = S.changes[L]
        S.changes[L] = INF
        i += 1
        off: i64 = S.lines[L].spans
        n: i64 = S.lines[L].ns
        g: i64 = S.lines[L].col * FIELDS
        kind: i64 = TOLD_SPANS
        lo: i64 = 0
        if S.cols[g + C_KIND] == EVENT:
            kind = TOLD_POINTS
            off = S.lines[L].points
            n = S.lines[L].np
            lo = first_at(S, off, n, a, S.cols[g + C_STRIDE]) if n > 0 else 0
        elif n > 0 and a > -INF:
            lo = first_ending_after(S, off, n, a - 1)
        at = letter(S, L, kind, n - lo + 1)
        S.letters[at] = a
        if n > lo:
            memcpy(
                cython.address(S.letters[at + 1]), cython.address(S.pool[off + lo]), (n - lo) * 8
            )
    S.nuntold = 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def read_letters(S: STATE, T: STATE) -> cython.void:
    """What another machine has written to this one."""
    me: i64 = cython.cast(i64, 1) << S.shard
    at: i64 = 0
    while at < T.nletters and S.error == 0:
        p: WORDS = cython.address(T.letters[at])
        at += p[0]
        if (p[1] & me) == 0:
            continue
        row: i64 = make_row(S, p[3], cython.address(p[5]))
        L: i64 = S.rows[row].line + p[4]
        keys: i64 = S.tables[p[3] * 8 + T_KEYS]
        n: i64 = p[0] - 5 - keys
        words: WORDS = cython.address(p[5 + keys])
        if p[2] == NEW_POINT:
            add_point(S, L, words[0], words[1], words[2], words[3])
        elif p[2] == NEW_EVENT:
            emit_event(S, L, words[0], cython.address(words[2]), words[1])
        elif p[2] == NEW_COUNT:
            was: i64 = S.returning
            S.returning = words[3]
            cover(S, L, words[0], words[1], words[2])
            S.returning = was
        elif p[2] == TOLD_SPANS:
            hear_spans(S, L, words[0], cython.address(words[1]), n - 1)
        elif p[2] == TOLD_POINTS:
            hear_points(S, L, words[0], cython.address(words[1]), n - 1)
        elif words[0] != 0:
            S.heard[row] |= cython.cast(i64, 1) << T.shard
            i: i64 = 0
            while i < S.tables[p[3] * 8 + T_COLUMNS]:
                L = S.rows[row].line + i
                if S.lines[L].np != 0 or S.lines[L].ns != 0:
                    to_tell(S, L, -INF)
                i += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def hear_spans(S: STATE, L: i64, a: i64, words: WORDS, n: i64) -> cython.void:
    """The spans of a line of another machine are other from a on."""
    have: i64 = S.lines[L].ns
    lo: i64 = 0
    if have > 0 and a > -INF:
        lo = first_ending_after(S, S.lines[L].spans, have, a - 1)
    if S.returning == 0:
        words_room(cython.address(S.tmp), cython.address(S.tmp_size), n + 1)
        memcpy(S.tmp, words, n * 8)
        replace(S, L, lo, have, n)
        return
    S.lines[L].ns = lo
    if n > 0:
        off: i64 = spans_room(S, L, n)
        memcpy(cython.address(S.pool[off + lo]), words, n * 8)
        S.lines[L].ns = lo + n


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def hear_points(S: STATE, L: i64, a: i64, words: WORDS, n: i64) -> cython.void:
    """The same for the points of an event: how often it was said, and nothing that rules know."""
    g: i64 = S.lines[L].col * FIELDS
    stride: i64 = S.cols[g + C_STRIDE]
    have: i64 = S.lines[L].np
    lo: i64 = first_at(S, S.lines[L].points, have, a, stride) if have > 0 else 0
    old: i64 = have - lo
    words_room(cython.address(S.gone), cython.address(S.gone_size), old + 1)
    if old > 0:
        memcpy(S.gone, cython.address(S.pool[S.lines[L].points + lo]), old * 8)
    S.lines[L].np = lo
    off: i64 = points_room(S, L, n)
    i: i64 = 0
    while i < n:
        memcpy(cython.address(S.pool[off + lo + i]), cython.address(words[i]), stride * 8)
        S.pool[off + lo + i + 1] = words[i + 1] & 0xFFFF
        if S.cols[g + C_HEAD] == 3:
            S.pool[off + lo + i + 2] = 0
        i += stride
    S.lines[L].np = lo + n
    if S.returning != 0:
        return
    i = 0
    while i < old:
        changed(S, L, ANY, S.gone[i], S.gone[i] + 1)
        i += stride
    i = 0
    while i < n:
        if words[i] <= S.q:
            changed(S, L, ANY, words[i], words[i] + 1)
        i += stride


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def first_waiting(S: STATE) -> i64:
    """The lowest level that has something to do, where rows may be new."""
    return 0 if S.introduced < S.nrows else waiting(S)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def settle_together(every: cython.pointer(STATE), n: i64) -> i64:
    """The items of a step in all machines, one after the other, until nobody has anything to do."""
    i: i64 = 0
    while i < n:
        every[i].since = horai_clock() if every[i].watched != 0 else 0
        take(every[i])
        i += 1
    last: i64 = every[0].nlevels
    level: i64 = every[0].own
    while True:
        wrote: i64 = 0
        i = 0
        while i < n:
            settle(every[i], level)
            write_letters(every[i])
            if every[i].watched != 0:
                mark(every[i], 0, 0)
            if every[i].error != 0:
                return every[i].error
            wrote += every[i].nletters
            i += 1
        if wrote != 0:
            i = 0
            while i < n:
                k: i64 = 0
                while k < n:
                    if k != i:
                        read_letters(every[i], every[k])
                    k += 1
                i += 1
        level = last
        i = 0
        while i < n:
            every[i].nletters = 0
            level = min(level, first_waiting(every[i]))
            i += 1
        if level == last and wrote == 0:
            break
        level = min(max(every[0].own, level + 1), last)
    i = 0
    while CHECKED and i < n:
        if is_sound(every[i]) == 0:
            return 4
        i += 1
    return 0
