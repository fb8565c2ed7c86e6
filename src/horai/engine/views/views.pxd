# What views keep: all of it 64-bit integers, in arrays that grow.
ctypedef long long i64
ctypedef unsigned long long U64
ctypedef i64* WORDS
ctypedef U64* HASHES
ctypedef i64** WORDSS
ctypedef void** VOIDS

cdef extern from *:
    """
    #define HASH_K 0x9E3779B97F4A7C15ULL
    #define FAR_AWAY 0x2000000000000000LL
    #define NO_VALUE (-0x7FFFFFFFFFFFFFFFLL - 1)
    """
    const U64 HASH_K
    const i64 FAR_AWAY, NO_VALUE

cdef struct Index:  # the present rows of a table in chains, by some columns
    i64 width
    WORDS columns
    WORDS slots  # the first row of a chain plus one
    i64 mask, used
    WORDS next
    WORDS before
    i64 room

cdef struct Edge:  # what follows from the rows of a table
    i64 kind, what, inner

cdef struct Table:
    i64 width
    WORDS data
    WORDS count  # how much speaks for a row
    WORDS state
    HASHES hash
    WORDS slots  # rows plus one
    i64 mask, used, size, room, free
    i64 need  # a row holds if that much speaks for it
    Index* indexes
    i64 n_indexes
    WORDS touched
    i64 n_touched, touched_room
    Edge* edges
    i64 n_edges, edges_room
    i64 component  # -1 unless its rows rest on each other
    i64 derived  # do rules speak for its rows, too?
    i64 is_group

cdef struct Matcher:  # which rows fit a pattern, and which columns of them are wanted
    i64 n_fixed, n_same, n_wanted
    WORDS fixed  # column, word
    WORDS same  # column, column
    WORDS wanted
    i64 asks  # Python, where it is not -1

cdef struct Shape:  # the rows of a table that fit, in another one
    i64 target, matcher

cdef struct View:  # points of a table in a window
    i64 points, held, target, kind, matcher, by_time
    i64 fixed, past, low_hop, future, high_hop
    i64 low, high, inside
    i64 rank  # a window by number whose points these are

cdef struct Group:  # signals by time and order that are counted together
    WORDS data  # time, order, whose, row
    i64 size, room, dropped
    i64 begin, now, end

cdef struct Output:  # where the signals of a predicate in a window by number go
    i64 whose, target, with_time

cdef struct Rank:
    i64 past, future
    i64 width  # of the key of a group
    i64 keys  # table of the groups
    Group* groups
    i64 n_groups, groups_room
    Output* outputs
    i64 n_outputs
    i64 ahead  # how many signals are still to come

cdef struct Route:  # which group of a window by number a signal belongs to
    i64 rank, matcher, number

cdef struct Predicate:
    i64 width, points, atoms
    i64 forgets, low
    Route* routes
    i64 n_routes

cdef struct Program:
    WORDS code
    WORDS registers
    i64 n_registers

cdef struct Start:  # a rule, from a row of one of its conditions
    i64 program, weight, head, exit

cdef struct Rule:
    i64 head, everything, derives, exit, has_time

cdef struct Total:  # an aggregate: a value for every row that is asked for
    i64 function, asked, elements, target, keys, width, rows_index, columns
    WORDS state  # by row of keys: asked, how many, sum, how many are no whole numbers, value row, touched, best
    i64 room
    WORDS touched
    i64 n_touched, touched_room
    i64 component

cdef struct Vector:
    WORDS data
    i64 size, room

cdef class Views:
    cdef Table* tables
    cdef i64 n_tables
    cdef Matcher* matchers
    cdef i64 n_matchers
    cdef Shape* shapes
    cdef i64 n_shapes
    cdef View* views
    cdef i64 n_views
    cdef Rank* ranks
    cdef i64 n_ranks
    cdef Predicate* predicates
    cdef i64 n_predicates
    cdef Program* programs
    cdef i64 n_programs
    cdef Start* starts
    cdef i64 n_starts
    cdef Rule* rules
    cdef i64 n_rules
    cdef Total* totals
    cdef i64 n_totals
    cdef Vector order  # tables, and components as -1 - number
    cdef Vector out  # rows that programs find
    cdef Vector* news  # by output: query time, sign, words
    cdef i64 n_outputs
    cdef Vector scratch
    cdef Vector doubt, round, later, came
    cdef Vector* components  # their tables
    cdef i64 n_components
    cdef object python
    cdef i64 first, time, begun
    cdef i64 mode, weight, driver, driver_table, found
    cdef i64 silent, lacks, keeps, scans
