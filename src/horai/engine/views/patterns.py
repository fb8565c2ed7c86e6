# mypy: ignore-errors
"""Rows that fit a pattern."""

import cython


@cython.cfunc
@cython.exceptval(check=False)
def fits(M: cython.pointer(Matcher), words: WORDS) -> i64:
    i: i64
    for i in range(M.n_fixed):
        if words[M.fixed[2 * i]] != M.fixed[2 * i + 1]:
            return 0
    for i in range(M.n_same):
        if words[M.same[2 * i]] != words[M.same[2 * i + 1]]:
            return 0
    return 1


@cython.cfunc
@cython.exceptval(-1)
def taken(V: Views, m: i64, words: WORDS, width: i64, into: WORDS) -> i64:
    """The wanted columns of a row that fits; 0 if it does not."""
    M: cython.pointer(Matcher) = cython.address(V.matchers[m])
    i: i64
    if M.asks >= 0:
        found = V.python.matched(M.asks, tuple([words[i] for i in range(width)]))
        if found is None:
            return 0
        i = 0
        for word in found:
            into[i] = word
            i += 1
        return 1
    if not fits(M, words):
        return 0
    for i in range(M.n_wanted):
        into[i] = words[M.wanted[i]]
    return 1
