# mypy: ignore-errors
"""Points of events and fluents: what rules say, and what they take back."""

import cython


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def add_point(S: STATE, L: i64, t: i64, v: i64, sh: i64, d: i64) -> cython.void:
    """One derivation more (d = 1) or less (-1) of an initiation or termination of value v."""
    g: i64 = S.lines[L].col * FIELDS
    if is_foreign(S, L) != 0:
        at: i64 = letter(S, L, NEW_POINT, 4)
        S.letters[at] = t
        S.letters[at + 1] = v
        S.letters[at + 2] = sh
        S.letters[at + 3] = d
        return
    off: i64 = points_room(S, L, 3)
    n: i64 = S.lines[L].np
    i: i64 = n
    if n > 0 and S.pool[off + n - 3] >= t:
        i = first_at(S, off, n, t, 3)
        while i < n and S.pool[off + i] == t and S.pool[off + i + 1] != v:
            i += 3
    if i < n and S.pool[off + i] == t:
        w: i64 = S.pool[off + i + 2]
        before: i64 = (w >> sh) & 0x3FFFFFFF
        w += d << sh
        S.pool[off + i + 2] = w
        after: i64 = (w >> sh) & 0x3FFFFFFF
        if w == 0:
            move(S, off + i, off + i + 3, n - i - 3)
            S.lines[L].np = n - 3
        if before != 0 and after != 0:
            return  # said twice: nothing has changed
    elif d < 0:
        S.error = 3
        return
    else:
        if i < n:
            move(S, off + i + 3, off + i, n - i)
        S.pool[off + i] = t
        S.pool[off + i + 1] = v
        S.pool[off + i + 2] = cython.cast(i64, 1) << sh
        S.lines[L].np = n + 3
    seen: i64 = S.cols[g + C_INITS] if sh == INITIATED else S.cols[g + C_TERMS]
    if seen != 0:
        emit_event(S, L + seen, t, cython.address(v), d)
    if t > S.q:
        timer(S, L, t)
    else:
        dirty(S, L, t, t)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def emit_event(S: STATE, L: i64, t: i64, args: WORDS, d: i64) -> cython.void:
    """A derived event at t is said once more, or once less; its rules follow later."""
    g: i64 = S.lines[L].col * FIELDS
    stride: i64 = S.cols[g + C_STRIDE]
    head: i64 = S.cols[g + C_HEAD]
    level: i64 = S.cols[g + C_LEVEL]
    if is_foreign(S, L) != 0:
        at: i64 = letter(S, L, NEW_EVENT, 2 + stride - head)
        S.letters[at] = t
        S.letters[at + 1] = d
        memcpy(cython.address(S.letters[at + 2]), args, (stride - head) * 8)
        return
    i: i64 = find_event(S, L, t, args, stride, head)
    off: i64 = S.lines[L].points
    if i >= 0:
        w: i64 = S.pool[off + i + 1]
        count: i64 = w & 0xFFFF
        if count + d < 0 or count + d > 0xFFFF:
            S.error = 3
            return
        S.pool[off + i + 1] = w + d
        if count != 0 and count + d != 0:
            return
        if (w & FRESH) == 0:
            S.pool[off + i + 1] |= FRESH
            to_evaluate(S, level, L, t, -1)
    elif d < 0:
        S.error = 3
        return
    else:
        put_event(S, L, t, args, stride, head, 1 | FRESH)
        to_evaluate(S, level, L, t, -1)
    if t > S.q:
        return  # nobody sees it before its time
    if S.cols[g + C_OUT] != 0:
        log_event(S, L, t, d)
    changed(S, L, ANY, t, t + 1)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def log_event(S: STATE, L: i64, t: i64, d: i64) -> cython.void:
    n: i64 = S.nlog
    words_room(cython.address(S.log), cython.address(S.log_size), n + 3)
    S.log[n] = d
    S.log[n + 1] = L + S.named
    S.log[n + 2] = t
    S.nlog = n + 3


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def find_event(S: STATE, L: i64, t: i64, args: WORDS, stride: i64, head: i64) -> i64:
    off: i64 = S.lines[L].points
    n: i64 = S.lines[L].np
    if n == 0 or S.pool[off + n - stride] < t:
        return -1
    i: i64 = first_at(S, off, n, t, stride)
    while i < n and S.pool[off + i] == t:
        k: i64 = head
        while k < stride and S.pool[off + i + k] == args[k - head]:
            k += 1
        if k == stride:
            return i
        i += stride
    return -1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def put_event(S: STATE, L: i64, t: i64, args: WORDS, stride: i64, head: i64, state: i64) -> i64:
    off: i64 = points_room(S, L, stride)
    n: i64 = S.lines[L].np
    i: i64 = n
    if n > 0 and S.pool[off + n - stride] > t:
        i = first_at(S, off, n, t + 1, stride)
        move(S, off + i + stride, off + i, n - i)
    S.pool[off + i] = t
    S.pool[off + i + 1] = state
    if head == 3:
        S.pool[off + i + 2] = 0
    k: i64 = head
    while k < stride:
        S.pool[off + i + k] = args[k - head]
        k += 1
    S.lines[L].np = n + stride
    return i


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def apply_said(S: STATE, at: i64, n: i64, d: i64) -> cython.void:
    """Say what the buffer holds (bit, kind, line, time, value), or take it back."""
    i: i64 = 0
    while i < n:
        if S.em[at + i + 1] == EVENT_SAID:
            emit_event(S, S.em[at + i + 2], S.em[at + i + 3], cython.address(S.em[at + i + 4]), d)
        elif S.em[at + i + 1] == SPAN_SAID:
            end: i64 = S.em[at + i + 4]
            end = INF if end == ANY else end >> 1
            input_interval(S, d, S.em[at + i + 2], S.em[at + i + 3], end)
        else:
            add_point(S, S.em[at + i + 2], S.em[at + i + 3], S.em[at + i + 4], S.em[at + i + 1], d)
        i += 5


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def drop_said(S: STATE, h: i64) -> cython.void:
    """Let go of a remembered list: (class, words, what was said...)."""
    dispose(S, h, S.pool[h])


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def say_again(S: STATE, L: i64, i: i64, mask: i64) -> cython.void:
    """The rules of `mask` that remember now say what is in the buffer, instead of before."""
    h: i64 = S.pool[S.lines[L].points + i + 2]
    new: i64 = S.nem
    n: i64 = new
    if h != 0:
        # After the new, the old: first that of other rules, then that of these.
        size: i64 = S.pool[h + 1]
        words_room(cython.address(S.em), cython.address(S.em_size), new + size + 8)
        j: i64 = 0
        while j < size:
            if ((mask >> S.pool[h + 2 + j]) & 1) == 0:
                memcpy(cython.address(S.em[n]), cython.address(S.pool[h + 2 + j]), 40)
                n += 5
            j += 5
        both: i64 = n
        j = 0
        while j < size:
            if ((mask >> S.pool[h + 2 + j]) & 1) != 0:
                memcpy(cython.address(S.em[n]), cython.address(S.pool[h + 2 + j]), 40)
                n += 5
            j += 5
        old: i64 = n - both
        same: i64 = 1 if old == new else 0
        j = 0
        while same != 0 and j < new:
            if S.em[j] != S.em[both + j]:
                same = 0
            j += 1
        if same != 0:
            return
        keep_said(S, L, i, both)
        apply_said(S, 0, new, 1)
        apply_said(S, both, old, -1)
    elif new != 0:
        keep_said(S, L, i, new)
        apply_said(S, 0, new, 1)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def keep_said(S: STATE, L: i64, i: i64, n: i64) -> cython.void:
    """Remember the first n words of the buffer."""
    h: i64 = S.pool[S.lines[L].points + i + 2]
    if h != 0 and (n == 0 or n + 2 > PIECE(S.pool[h])):
        drop_said(S, h)
        h = 0
    if n != 0:
        if h == 0:
            k: i64 = 0
            while n + 2 > PIECE(k):
                k += 1
            h = alloc(S, k)
            S.pool[h] = k
        S.pool[h + 1] = n
        memcpy(cython.address(S.pool[h + 2]), cython.address(S.em[0]), n * 8)
    S.pool[S.lines[L].points + i + 2] = h
