# mypy: ignore-errors
"""Arrays that grow, and pieces of one pool in sizes that double."""

import cython


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def room(p: VOIDS, size: WORDS, need: i64, width: i64) -> i64:
    """Room for `need` elements."""
    if need <= size[0]:
        return 0
    more = need + SPARE(need)
    p[0] = realloc(p[0], more * width)
    if p[0] == cython.NULL:
        out_of_memory()
    size[0] = more
    return 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def words_room(p: WORDSS, size: WORDS, need: i64) -> i64:
    return room(cython.cast(VOIDS, p), size, need, 8)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def alloc(S: STATE, k: i64) -> i64:
    """A piece of the pool of a size: 8, 12, 16, 24... words."""
    h: i64 = S.free[k]
    if h != 0:
        S.free[k] = S.pool[h]
        S.spare -= PIECE(k)
        return h
    h = S.top
    words_room(cython.address(S.pool), cython.address(S.pool_size), h + PIECE(k))
    S.top = h + PIECE(k)
    return h


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def dispose(S: STATE, h: i64, k: i64) -> cython.void:
    S.pool[h] = S.free[k]
    S.free[k] = h
    S.spare += PIECE(k)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def points_room(S: STATE, L: i64, need: i64) -> i64:
    """Room for `need` more words in the points of a line; where they are."""
    off: i64 = S.lines[L].points
    n: i64 = S.lines[L].np
    k: i64 = S.lines[L].cp
    if off != 0 and n + need <= PIECE(k):
        return off
    nk: i64 = k if off != 0 else 0
    while n + need > PIECE(nk):
        nk += 1
    new: i64 = alloc(S, nk)
    if off != 0:
        memcpy(cython.address(S.pool[new]), cython.address(S.pool[off]), n * 8)
        dispose(S, off, k)
    S.lines[L].points = new
    S.lines[L].cp = nk
    return new


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def spans_room(S: STATE, L: i64, need: i64) -> i64:
    """The same for spans."""
    off: i64 = S.lines[L].spans
    n: i64 = S.lines[L].ns
    k: i64 = S.lines[L].cs & ~BARRED
    if off != 0 and n + need <= PIECE(k):
        return off
    nk: i64 = k if off != 0 else 0
    while n + need > PIECE(nk):
        nk += 1
    new: i64 = alloc(S, nk)
    if off != 0:
        memcpy(cython.address(S.pool[new]), cython.address(S.pool[off]), n * 8)
        dispose(S, off, k)
    S.lines[L].spans = new
    S.lines[L].cs = nk | (S.lines[L].cs & BARRED)
    return new


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def move(S: STATE, dst: i64, src: i64, n: i64) -> cython.void:
    memmove(cython.address(S.pool[dst]), cython.address(S.pool[src]), n * 8)
