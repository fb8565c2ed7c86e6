# mypy: ignore-errors
# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, infer_types=True
"""Tables that follow a stream: windows, rules, aggregates and recursion; only changes cost.

Compiled ahead of time by Cython; `views.pxd` declares what is kept. Everything is a 64-bit integer:
words of terms (`words.py`), times, rows. A table has rows of words and counts what speaks for each:
points in a window, rows that a pattern fits, solutions of a rule. A row is *present*, so that rules
see it, while that is enough.

A step moves windows, takes signals in and goes through the tables in their order. Whatever comes or
goes is passed on row by row: to windows over it, to aggregates, and to rules, which find the
solutions with this row. The conditions before the one that reads it do not see it, so all of them
are met once. Tables whose rows rest on each other are a *component*: what has lost a solution is in
doubt, with all that rests on it, and is taken away; what still has a reason comes back.
"""

import cython
from cython.cimports.cpython.exc import PyErr_CheckSignals
from cython.cimports.libc.stdlib import abort, calloc, free, realloc
from cython.cimports.libc.string import memcpy, memmove, memset

PRESENT = cython.declare(cython.longlong, 1)
TOUCHED = cython.declare(cython.longlong, 2)
LOST = cython.declare(cython.longlong, 4)
GAINED = cython.declare(cython.longlong, 8)
DOUBT = cython.declare(cython.longlong, 16)
WAITS = cython.declare(cython.longlong, 32)

# What follows from a row.
SHAPE = cython.declare(cython.longlong, 0)
POINT = cython.declare(cython.longlong, 1)
HELD = cython.declare(cython.longlong, 2)
START = cython.declare(cython.longlong, 3)
ASKED = cython.declare(cython.longlong, 4)
ELEMENT = cython.declare(cython.longlong, 5)
OUTPUT = cython.declare(cython.longlong, 6)

# What becomes of a solution: it counts, its head is listed, also if new, or it is what was sought.
COUNTS = cython.declare(cython.longlong, 0)
LISTS = cython.declare(cython.longlong, 1)
FINDS = cython.declare(cython.longlong, 2)
CHECKS = cython.declare(cython.longlong, 3)
