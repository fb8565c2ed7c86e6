# mypy: ignore-errors
"""Arithmetic and comparison of words."""

import cython


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def real_of(S: STATE, w: i64) -> cython.double:
    """The number that a word stands for; `S.failed` is set if it is none, or a very large one."""
    if w & 1:
        return cython.cast(cython.double, w >> 1)
    if w & 2:
        return flonum(w)
    place: i64 = w >> 2
    if 0 <= place < S.nsymbols and S.numeric[place] == 1:
        return S.reals[place]
    S.failed = 1
    if 0 <= place < S.nsymbols and S.numeric[place] == 2:
        S.failed = BEYOND
        return S.reals[place]
    return 0.0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def computed(S: STATE, op: i64, x: i64, y: i64) -> i64:
    """Python computes and compares where doubles and words are too short; -1 - op is a function.

    `S.failed` is set where there is no value.
    """
    found: i64 = 0
    S.failed = 1
    with cython.gil:
        try:
            word = cython.cast(object, S.owner).computed(op, x, y)
            if word is not None:
                found = word
                S.failed = 0
        except BaseException as error:
            cython.cast(object, S.owner).failure(error)
            S.error = 2
    return found


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def is_exact(d: cython.double) -> i64:
    """Is a whole number the only one that comes to this double?"""
    return -EXACT < d < EXACT


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def flonum(w: i64) -> cython.double:
    """A decimal of the words that hold one, as Ruby has them: all bits but two of the exponent."""
    u: U64 = cython.cast(U64, w)
    if u == ZERO:
        return 0.0
    top: U64 = u >> 63
    bits: U64 = (2 - top) | (u & REST)
    bits = (bits >> 3) | (bits << 61)
    return cython.cast(cython.pointer(cython.double), cython.address(bits))[0]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def flat_word(d: cython.double) -> i64:
    """The word of a decimal, 0 if none holds it."""
    if d == 0.0:
        return cython.cast(i64, ZERO)
    u: U64 = cython.cast(cython.pointer(U64), cython.address(d))[0]
    top: U64 = (u >> 60) & 7
    if u != SMALL and (top == 3 or top == 4):
        return cython.cast(i64, (((u << 3) | (u >> 61)) & REST) | 2)
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def word_of_real(S: STATE, d: cython.double) -> i64:
    word: i64 = flat_word(d)
    return word if word != 0 else word_of_odd_real(S, d)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def listen(S: STATE) -> cython.void:
    """Let Python hear of Ctrl-C and other signals: a step may take long."""
    with cython.gil:
        try:
            PyErr_CheckSignals()
        except BaseException as error:
            cython.cast(object, S.owner).failure(error)
            S.error = 2


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def worked(S: STATE) -> cython.void:
    """Something has been looked at; now and then there is somebody to listen to."""
    S.work += 1
    if S.work & OFTEN == 0:
        listen(S)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def word_of_odd_real(S: STATE, d: cython.double) -> i64:
    """Very large, very small, infinite: these have a place in the table of terms."""
    found: i64 = 1
    with cython.gil:
        try:
            found = cython.cast(object, S.owner).interned(d)
        except BaseException as error:
            cython.cast(object, S.owner).failure(error)
            S.error = 2
    return found


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def compared(S: STATE, op: i64, x: i64, y: i64) -> i64:
    """Is it true of two numbers? Words of two whole numbers are in order, and so are those of two
    decimals that are not negative.
    """
    if ((x & 1) and (y & 1)) or ((x & 7) == 2 and (y & 7) == 2):
        if op == CLT:
            return x < y
        if op == CLE:
            return x <= y
        if op == CEQ:
            return x == y
        return x != y
    return compared_reals(S, op, x, y)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def compared_reals(S: STATE, op: i64, x: i64, y: i64) -> i64:
    S.failed = 0
    u: cython.double = real_of(S, x)
    v: cython.double = real_of(S, y)
    if S.failed == BEYOND or (u == v and is_exact(u) == 0):
        return computed(S, op, x, y)
    if S.failed != 0:
        return 0
    if op == CLT:
        return u < v
    if op == CLE:
        return u <= v
    if op == CEQ:
        return u == v
    return u != v


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def compute(S: STATE, op: i64, x: i64, y: i64) -> i64:
    """Arithmetic on words; `S.failed` is set where there is no value."""
    if (x & 1) and (y & 1):
        a: i64 = x >> 1
        b: i64 = y >> 1
        r: i64 = 0
        if op == ADD:
            r = a + b
        elif op == SUB:
            r = a - b
        elif op == MIN:
            r = a if a < b else b
        elif op == MAX:
            r = a if a > b else b
        elif op == MUL:
            d: cython.double = cython.cast(cython.double, a) * cython.cast(cython.double, b)
            if d > 1e18 or d < -1e18:
                return computed(S, op, x, y)
            r = a * b
        else:
            if op == DIV:
                if b != 0 and a % b == 0:
                    return 2 * (a // b) + 1
                S.failed = 1 if b == 0 else 0
                if b == 0:
                    return 1
                one: cython.double = cython.cast(cython.double, a)
                other: cython.double = cython.cast(cython.double, b)
                if is_exact(one) == 0 or is_exact(other) == 0:
                    return computed(S, op, x, y)
                return word_of_real(S, one / other)
            if b == 0:
                S.failed = 1
                return 1
            if op == IDIV:
                r = a // b
            else:
                r = a % b
                if r != 0 and ((r < 0) != (b < 0)):
                    r += b
        if r >= LARGEST or r <= -LARGEST:
            return computed(S, op, x, y)
        return 2 * r + 1
    u: cython.double = real_of(S, x)
    v: cython.double = real_of(S, y)
    if S.failed == BEYOND or (op in (MIN, MAX) and u == v and is_exact(u) == 0):
        return computed(S, op, x, y)
    if S.failed != 0:
        return 1
    r_: cython.double = 0.0
    if op == ADD:
        r_ = u + v
    elif op == SUB:
        r_ = u - v
    elif op == MUL:
        r_ = u * v
    elif op == MIN:
        # Of equal ones the decimal, as for the largest the whole number, whatever the order.
        return x if u < v or (u == v and (x & 1) == 0) else y
    elif op == MAX:
        return x if u > v or (u == v and (x & 1) != 0) else y
    elif op == DIV and v != 0.0:
        r_ = u / v
    else:
        S.failed = 1
        return 1
    if r_ == r_:
        return word_of_real(S, r_)
    S.failed = 1
    return 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def function(S: STATE, number: i64, x: i64) -> i64:
    """A function of one number, in the order of `FUNCTIONS`."""
    if (x & 1) and number < 5:
        return x
    u: cython.double = real_of(S, x)
    if S.failed == BEYOND:
        return computed(S, -1 - number, x, x)
    if S.failed != 0:
        return 1
    if number == 6:
        return word_of_real(S, u)
    if number == 5:
        if u < 0:
            S.failed = 1
            return 1
        return word_of_real(S, sqrt(u))
    if number == 0:
        u = floor(u)
    elif number == 1:
        u = ceil(u)
    elif number == 2:
        u = trunc(u)
    else:
        # To the nearest whole number, halves away from zero.
        v: cython.double = floor(fabs(u))
        if fabs(u) - v >= 0.5:
            v += 1
        u = v if u >= 0 else -v
    if not (-1e18 < u < 1e18):
        return computed(S, -1 - number, x, x)
    return 2 * cython.cast(i64, u) + 1
