cdef extern from *:
    """
    #define HASH_A 0x9E3779B97F4A7C1LL
    #define HASH_B 0x5851F42D4C957F2DLL
    #define HASH_C 0x14057B7EF767814FLL
    #define POSITIVE 0x7FFFFFFFFFFFFFFFLL
    #define MAX32 0x7FFFFFFFLL
    #define OFTEN 0xFFFFFLL
    #define AT_ONCE 4096LL
    #define GIVEN_BACK 65536LL
    #define MANY 2048LL
    #define LOOK_BACK 40LL
    #define PIECE(k) (((k) & 1 ? 12LL : 8LL) << ((k) >> 1))
    #define ZERO 0x8000000000000002ULL
    #define SMALL 0x3000000000000000ULL
    #define REST (~3ULL)
    #if defined(__GNUC__) || defined(__clang__)
    #define SOON(p) __builtin_prefetch(p)
    #else
    #define SOON(p) ((void) 0)
    #endif
    #ifdef __linux__
    #include <sys/mman.h>
    /* Words that nobody needs any more: the system may have their pages. */
    static inline void horai_give_back(long long* p, long long n) {
        unsigned long long a = ((unsigned long long) p + 4095) & ~4095ULL;
        unsigned long long z = (unsigned long long) (p + n) & ~4095ULL;
        if (z > a) madvise((void*) a, z - a, MADV_DONTNEED);
    }
    #else
    #define horai_give_back(p, n) ((void) 0)
    #endif
    #include <time.h>
    static inline long long horai_clock(void) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return now.tv_sec * 1000000000LL + now.tv_nsec;
    }
    #ifdef HORAI_CHECKED
    #include <stdio.h>
    #include <stdlib.h>
    #define CHECKED 1
    #define SPARE(n) 0
    static inline long long horai_inside(long long i, long long n, int line) {
        if (i < 0 || i > n) {
            fprintf(stderr, "machine.c:%d: place %lld of %lld\\n", line, i, n);
            abort();
        }
        return i;
    }
    #define HORAI_INSIDE(i, n) horai_inside(i, n, __LINE__)
    #else
    #define CHECKED 0
    #define SPARE(n) (((n) >> 1) + 64)
    #endif
    """
    const long long CHECKED
    long long SPARE(long long) nogil
    long long PIECE(long long) nogil
    void SOON(void*) nogil
    void horai_give_back(long long*, long long) nogil
    long long horai_clock() nogil
    const long long HASH_A, HASH_B, HASH_C, POSITIVE, MAX32, OFTEN, AT_ONCE, GIVEN_BACK, MANY, LOOK_BACK
    const unsigned long long ZERO, SMALL, REST

ctypedef long long i64
ctypedef unsigned long long U64
ctypedef i64* WORDS
ctypedef i64** WORDSS
ctypedef void** VOIDS
ctypedef int* INTS

cdef struct Line:
    i64 points  # where its points are in the pool
    i64 spans
    i64 dirty  # since when it must be resolved, plus one; 0 if it need not
    i64 timer  # the next time at which it must be resolved
    int np  # words of points
    int ns  # words of spans
    int row
    int saved  # what it said at the last query time, in the arena
    int epoch  # of the query time at which it was last changed
    int first  # up to which word it is as it was then
    int links  # who looks at it
    short col
    unsigned char cp  # size classes; of spans with BARRED if it is outside its domain
    unsigned char cs

cdef struct Row:
    i64 key  # its key in `keys`, followed by its buckets and the lines its lists look at
    i64 line  # the first of its lines
    int table
    int home  # the same number for all rows that belong together; 0 for those without items

cdef struct Link:
    i64 when  # the latest driver that looked
    int line
    int site
    int target
    int next

cdef struct State:
    # arrays, first those that `clear` gives back: instances, and what Python answered
    Line* lines
    i64* pool
    Row* rows
    i64* keys
    Link* links
    i64* timers
    i64* memo
    int* slots
    int* homes
    int* linkslots
    i64* memoslots
    # the program
    i64* code
    i64* args
    i64* tables
    i64* cols
    i64* sites
    i64* facts
    i64* cyclic
    # the agenda
    i64* ag
    i64* queues
    i64* heap
    i64* run
    # room to work
    i64* tmp
    i64* gone
    i64* sweep
    i64* em
    i64* fx  # effects of deadlines, and pieces of a list
    i64* seen  # of the solutions of an aggregate: a table of hashes
    i64* bag  # solutions that aggregates gather
    i64* stack  # of procedures: registers of their callers; answers so far; answers to look at
    i64* given
    i64* answered
    i64* reg
    # what changed at this query time
    i64* arena
    i64* touched
    i64* log
    i64* out
    # items
    i64* items
    i64* order
    i64* counts
    # numbers among terms
    i64* numeric
    double* reals
    # what is looked up and asked
    i64* key  # of a row, a fact or a question that is looked up
    i64* wishes  # questions for Python that points of a level will ask: number, size, words
    # what rules cost, and where rows are divided among several machines
    i64* spent
    i64* owners  # of columns: twice the number of a rule, and one if its spans are rows of it
    i64* heard  # by row: which others hear of it; of a row of another one, `TO_TELL` and `HEARS`
    i64* changes  # by line: since when others have not been told
    i64* untold  # those lines
    i64* foreign  # rows of others that these have to know of
    i64* where  # by table: the place in the key of the word that says whose a row is, -1 for none
    i64* looked  # by column: does anybody look at lines of other rows?
    i64* letters  # to others
    # their sizes, and everything else
    # what is known
    i64 nlines, lines_size
    i64 top, spare, pool_size  # words in pieces that nobody has
    i64 free[64]
    i64 nrows, rows_size
    i64 nkeys, keys_size
    i64 mask
    i64 homemask, nhomes
    i64 nlinks, links_size
    i64 linkmask
    # the program
    i64 code_size, args_size, tables_size, cols_size, sites_size
    i64 ndata, facts_size
    i64 cyclic_size
    i64 nlevels, own, level  # the level of the cycle that is settled now
    # the agenda
    i64 nag, ag_size
    i64 queues_size
    i64 nheap, heap_size
    i64 ran, nrun, run_size
    i64 got[3]
    i64 ntimers, timers_size
    i64 introduced, returning  # rows whose programs ran; are these rows that come back?
    # room to work
    i64 tmp_size, gone_size, sweep_size, fx_size, seen_size, reg_size, key_size
    i64 nem, em_size
    i64 nbag, bag_size, answer
    i64 nstack, stack_size
    i64 ngiven, given_size
    i64 nanswered, answered_size
    i64 depth, calls, called
    i64 unsettled  # when a line contradicts itself
    i64 members  # how often the members of dynamic domains have changed
    # what changed at this query time
    i64 narena, arena_size
    i64 ntouched, touched_size
    i64 nlog, log_size
    i64 out_size
    # items
    i64 nitems, itemwords, items_size
    i64 order_size, counts_size
    # answers of Python, and numbers among terms
    i64 nmemo, memo_size, memolast, answers
    i64 memomask
    i64 numeric_size, nsymbols
    i64 reals_size
    i64 nwishes, wishes_size, dry, asks
    void* owner
    # time
    i64 tick, start, first, origin, q, qprev, epoch
    i64 low, high  # a region that grows
    i64 settled  # what answers show before it stays as it is
    i64 error, failed, unknown, evals, resolves, work
    # what rules cost, where somebody wants to know: runs, rows and nanoseconds of each
    i64 spent_size
    i64 owners_size, marked, since, watched
    # where rows are divided among several machines: how many there are, and which this is
    i64 shards, shard, named  # and what is added to its lines, where answers name them
    i64 heard_size, changes_size, where_size, looked_size
    i64 nuntold, untold_size
    i64 nforeign, foreign_size
    i64 nletters, letters_size


ctypedef State* STATE
