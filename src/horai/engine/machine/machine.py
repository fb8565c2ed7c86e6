# mypy: ignore-errors
# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, infer_types=True
"""The machine: lines of instances, rules as instructions, inertia, interval lists, agenda.

Compiled ahead of time by Cython; `machine.pxd` declares its numbers and structs. Everything is a
64-bit integer: words of terms (`words.py`), times, lines, rows. Memory grows by `realloc`, so
nothing is held by address but `S`, the state, itself.

A *line* is all that is known of one instance in one column: points and spans. Points of events are
(state, see below, after their time); points of fluents (time, value, counts of initiations and of
terminations); points of input fluents (start, end). Spans are (start, end, value). A *row* is an
instance, with a line for each column of its table; it is found by the words of its key.
"""

import cython
from cython.cimports.cpython.exc import PyErr_CheckSignals
from cython.cimports.libc.stdlib import abort, calloc, free, realloc
from cython.cimports.libc.math import ceil, fabs, floor, sqrt, trunc
from cython.cimports.libc.string import memcmp, memcpy, memmove, memset

# The state of a point of an event: how often it was said; a bit for each rule that fired, for each
# that waits and for each whose conditions on facts are met; and whether no rule has looked at it
# yet. Then the place of what its rules said, where some have to remember it, and its arguments.
