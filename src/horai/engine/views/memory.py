# mypy: ignore-errors
"""Arrays that grow."""

import cython


@cython.cfunc
@cython.exceptval(check=False)
def larger(p: VOIDS, need: i64, width: i64) -> cython.void:
    p[0] = realloc(p[0], need * width if need > 0 else 8)
    if p[0] == cython.NULL:
        abort()


@cython.cfunc
@cython.exceptval(check=False)
def push(vector: cython.pointer(Vector), word: i64) -> cython.void:
    if vector.size == vector.room:
        vector.room = 2 * vector.room + 16
        larger(cython.cast(VOIDS, cython.address(vector.data)), vector.room, 8)
    vector.data[vector.size] = word
    vector.size += 1


@cython.cfunc
@cython.exceptval(check=False)
def reserve(vector: cython.pointer(Vector), need: i64) -> cython.void:
    if vector.room < need:
        vector.room = 2 * need
        larger(cython.cast(VOIDS, cython.address(vector.data)), vector.room, 8)
