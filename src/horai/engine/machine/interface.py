# mypy: ignore-errors
"""What Python sees of a machine."""

import cython


@cython.cfunc
def put(words: object, p: WORDSS, size: WORDS) -> i64:
    given: cython.longlong[::1] = words
    n: i64 = given.shape[0]
    words_room(p, size, n + 8)
    if n > 0:
        memcpy(p[0], cython.address(given[0]), n * 8)
    return n


def words_of(values: tuple, atoms: dict, new):
    """The words of atoms and numbers, None if one of the values is anything else.

    `atoms` has the codes of atoms by name, and `new` makes one.
    """
    found: list = []
    word: i64
    for value in values:
        if type(value) is str:
            code = atoms.get(value)
            word = 2 * (new(value) if code is None else code)
        elif type(value) is float:
            word = flat_word(value)
            if word == 0:
                return None
        elif type(value) is int and -LARGEST < value < LARGEST:
            word = 2 * cython.cast(i64, value) + 1
        else:
            return None
        found.append(word)
    return tuple(found)


@cython.cclass
class Machine:
    """The state of a run, for the session that owns it.

    `owner` answers what only Python can (`answered`), keeps failures (`failure`) and gives decimals
    that no word holds a place (`interned`).
    """

    state: State
    owner: object

    def __cinit__(self, owner: object):
        self.owner = owner
        S: STATE = cython.address(self.state)
        memset(S, 0, cython.sizeof(State))
        S.owner = cython.cast(cython.p_void, owner)
        S.nag = 4
        S.narena = 8
        S.settled = -INF
        self._begin()
        words_room(cython.address(S.sweep), cython.address(S.sweep_size), 4 * 64)
        words_room(cython.address(S.reg), cython.address(S.reg_size), REGISTERS)
        words_room(cython.address(S.key), cython.address(S.key_size), REGISTERS)

    def __dealloc__(self):
        S: STATE = cython.address(self.state)
        p: VOIDS = cython.cast(VOIDS, cython.address(S.lines))
        while p <= cython.cast(VOIDS, cython.address(S.letters)):
            free(p[0])
            p += 1

    def program(
        self, code, args, tables, cols, sites, cyclic, constants, own: i64, start: i64, tick: i64
    ):
        """Take a program; all of it are arrays of words."""
        S: STATE = cython.address(self.state)
        words: cython.longlong[::1] = constants
        n: i64 = words.shape[0]
        words_room(cython.address(S.reg), cython.address(S.reg_size), REGISTERS + n)
        if n > 0:
            memcpy(cython.address(S.reg[REGISTERS]), cython.address(words[0]), n * 8)
        put(code, cython.address(S.code), cython.address(S.code_size))
        put(args, cython.address(S.args), cython.address(S.args_size))
        put(tables, cython.address(S.tables), cython.address(S.tables_size))
        put(cols, cython.address(S.cols), cython.address(S.cols_size))
        put(sites, cython.address(S.sites), cython.address(S.sites_size))
        S.nlevels = put(cyclic, cython.address(S.cyclic), cython.address(S.cyclic_size))
        words_room(cython.address(S.queues), cython.address(S.queues_size), 4 * S.nlevels + 4)
        memset(S.queues, 0, (4 * S.nlevels + 4) * 8)
        S.asks = 0
        k: i64 = 0
        while k < S.cols_size // FIELDS:
            S.asks |= S.cols[k * FIELDS + C_ASKS]
            k += 1
        S.own = own
        S.start = start
        S.tick = tick
        S.first = after(S, start)
        S.origin = before(S, start)
        S.level = -1
        S.q = S.qprev = start

    def facts(self, rows: cython.longlong[:, ::1], keys: i64) -> i64:
        """A relation with an index over its first columns, by which rows are sorted; its place."""
        S: STATE = cython.address(self.state)
        n: i64 = rows.shape[0]
        nc: i64 = rows.shape[1]
        size: i64 = 8
        while size < 2 * n + 2:
            size *= 2
        at: i64 = S.ndata
        words_room(
            cython.address(S.facts), cython.address(S.facts_size), at + 5 + 2 * size + n * nc
        )
        S.ndata = at + 5 + 2 * size + n * nc
        S.facts[at] = size - 1
        S.facts[at + 1] = keys
        S.facts[at + 2] = nc
        S.facts[at + 3] = at + 5
        S.facts[at + 4] = at + 5 + 2 * size
        memset(cython.address(S.facts[at + 5]), 0, 2 * size * 8)
        base: i64 = at + 5 + 2 * size
        if n * nc > 0:
            memcpy(cython.address(S.facts[base]), cython.address(rows[0, 0]), n * nc * 8)
        i: i64 = 0
        while i < n:
            j: i64 = i + 1
            while j < n:
                k: i64 = 0
                while k < keys and S.facts[base + j * nc + k] == S.facts[base + i * nc + k]:
                    k += 1
                if k < keys:
                    break
                j += 1
            h: i64 = 0
            if nc > 0:
                h = hashed(cython.address(S.facts[base + i * nc]), keys, 0)
            else:
                h = hashed(cython.address(S.facts[at]), 0, 0)
            slot: i64 = h & (size - 1)
            while S.facts[at + 5 + slot * 2] != 0:
                slot = (slot + 1) & (size - 1)
            S.facts[at + 5 + slot * 2] = i + 1
            S.facts[at + 6 + slot * 2] = j - i
            i = j
        return at

    def symbols(self, numeric: cython.longlong[::1], reals: cython.double[::1]):
        """Which terms of the table are numbers: 1 for a decimal, 2 for a large whole number."""
        S: STATE = cython.address(self.state)
        n: i64 = numeric.shape[0]
        old: i64 = S.nsymbols
        words_room(cython.address(S.numeric), cython.address(S.numeric_size), old + n)
        room(
            cython.cast(VOIDS, cython.address(S.reals)),
            cython.address(S.reals_size),
            old + n,
            8,
        )
        i: i64 = 0
        while i < n:
            S.numeric[old + i] = numeric[i]
            S.reals[old + i] = reals[i]
            i += 1
        S.nsymbols = old + n

    def feed(self, table: i64, place: i64, sign: i64, columns: list):
        """Items of one column: their times, the words of their keys, what else a point has."""
        S: STATE = cython.address(self.state)
        width: i64 = len(columns) - 1
        words_room(cython.address(S.sweep), cython.address(S.sweep_size), width + 1)
        words_room(cython.address(S.em), cython.address(S.em_size), width + 1)
        n: i64 = 0
        for k in range(width + 1):
            words: cython.longlong[::1] = columns[k]
            n = words.shape[0]
            S.sweep[k] = cython.cast(i64, cython.address(words[0])) if n > 0 else 0
        with cython.nogil:
            feed_items(S, table, place, sign, n, width)

    def give(self, rows: list, others=()):
        """Items one by one: (table, place, time, words of the key and of what else a point has).

        Where there are several machines, each is for one of them, this being the first.
        """
        S: STATE = cython.address(self.state)
        given: i64[64]
        for row in rows:
            table: i64 = row[0]
            place: i64 = row[1]
            words: tuple = row[3]
            n: i64 = len(words)
            k: i64 = 0
            if n > 64:
                raise ValueError("an item has too many arguments")
            while k < n:
                given[k] = words[k]
                k += 1
            whose: i64 = shard_of(S, table, cython.address(given[0]))
            T: STATE = S
            if whose != 0:
                T = cython.address(cython.cast(Machine, others[whose - 1]).state)
            put_item(T, table, place, 1, row[2], cython.address(given[0]), n)

    def touch(self, table: i64, place: i64):
        """The line of an instance without a key is other than it was, at all times."""
        S: STATE = cython.address(self.state)
        none: i64[1]
        none[0] = 0
        r: i64 = make_row(S, table, cython.address(none[0]))
        changed(S, S.rows[r].line + place, ANY, -INF, INF)

    def make(self, table: i64):
        """The only instance of a table without keys."""
        key: i64[1]
        key[0] = 0
        make_row(cython.address(self.state), table, cython.address(key[0]))

    def begin_step(self, q: i64):
        """Go on to a query time; items may follow."""
        begin_step(cython.address(self.state), q)

    def end_step(self):
        """Bring everything up to date; the error, 0 if there is none."""
        S: STATE = cython.address(self.state)
        S.since = horai_clock() if S.watched != 0 else 0
        with cython.nogil:
            end_step(S)
            if S.watched != 0:
                mark(S, 0, 0)
        return S.error

    def watch(self, number: i64, owners):
        """Count what so many rules cost. A program with marks has to follow."""
        S: STATE = cython.address(self.state)
        put(owners, cython.address(S.owners), cython.address(S.owners_size))
        words_room(cython.address(S.spent), cython.address(S.spent_size), 3 * number + 3)
        memset(S.spent, 0, (3 * number + 3) * 8)
        S.watched = number

    def spent(self, found: cython.longlong[::1]):
        """The runs, rows and nanoseconds of each of them, nobody's first."""
        S: STATE = cython.address(self.state)
        if S.watched != 0:
            memcpy(cython.address(found[0]), S.spent, (3 * S.watched + 3) * 8)

    def _words(self, n: i64):
        S: STATE = cython.address(self.state)
        return cython.cast(bytes, cython.cast(cython.p_char, S.out)[: n * 8]) if n else b""

    def changelog(self):
        """Rows (sign, line, value, start, end) of what came and went."""
        S: STATE = cython.address(self.state)
        with cython.nogil:
            n: i64 = changelog(S)
        return self._words(n)

    def count(self, table: i64, place: i64, border: i64):
        """How many spans or events of a column there are after a time."""
        S: STATE = cython.address(self.state)
        is_event: i64 = S.cols[(S.tables[table * 8 + T_FIRST] + place) * FIELDS + C_KIND] == EVENT
        found: i64 = 0
        r: i64 = 0
        with cython.nogil:
            while r < S.nrows:
                if S.rows[r].table == table and S.rows[r].home >= 0:
                    L: i64 = S.rows[r].line + place
                    if is_event != 0:
                        found += happened(S, L, border, cython.NULL, 0)
                    else:
                        found += shown(S, L, border, cython.NULL, cython.NULL, cython.NULL, 0)
                r += 1
        return found

    def show(
        self,
        table: i64,
        place: i64,
        border: i64,
        at: i64,
        keys: cython.longlong[:, ::1],
        rows: cython.longlong[:, ::1],
    ):
        """Put them where there is room for as many: keys, and start, end and value or time."""
        S: STATE = cython.address(self.state)
        is_event: i64 = rows.shape[0] == 1
        r: i64 = 0
        with cython.nogil:
            while r < S.nrows and at < rows.shape[1]:
                if S.rows[r].table == table and S.rows[r].home >= 0:
                    L: i64 = S.rows[r].line + place
                    n: i64 = 0
                    if is_event != 0:
                        n = happened(S, L, border, cython.address(rows[0, 0]), at)
                    else:
                        n = shown(
                            S,
                            L,
                            border,
                            cython.address(rows[0, 0]),
                            cython.address(rows[1, 0]),
                            cython.address(rows[2, 0]),
                            at,
                        )
                    k: i64 = 0
                    while k < keys.shape[0]:
                        word: i64 = S.keys[S.rows[r].key + k]
                        i: i64 = at
                        while i < at + n:
                            keys[k, i] = word
                            i += 1
                        k += 1
                    at += n
                r += 1

    def events(self):
        """Rows (sign, line, time) of derived events that came and went, in the order they did."""
        S: STATE = cython.address(self.state)
        n: i64 = S.nlog
        return cython.cast(bytes, cython.cast(cython.p_char, S.log)[: n * 8]) if n else b""

    def describe(self, lines: cython.longlong[::1], cols: cython.longlong[::1]):
        """The columns of some lines."""
        S: STATE = cython.address(self.state)
        i: i64 = 0
        with cython.nogil:
            while i < lines.shape[0]:
                cols[i] = S.lines[lines[i] - S.named].col
                i += 1

    def keys(self, lines: cython.longlong[::1], keys: cython.longlong[:, ::1]):
        """The keys of some lines of one table."""
        S: STATE = cython.address(self.state)
        i: i64 = 0
        with cython.nogil:
            while i < lines.shape[0]:
                at: i64 = S.rows[S.lines[lines[i] - S.named].row].key
                k: i64 = 0
                while k < keys.shape[1]:
                    keys[i, k] = S.keys[at + k]
                    k += 1
                i += 1

    def instance(self, line: i64):
        """The column of a line, and the words of its key."""
        S: STATE = cython.address(self.state)
        line -= S.named
        r: i64 = S.lines[line].row
        at: i64 = S.rows[r].key
        n: i64 = S.tables[S.rows[r].table * 8 + T_KEYS]
        return S.lines[line].col, [S.keys[at + k] for k in range(n)]

    def remember(self, number: i64, given, width: i64, solutions):
        """The answer to a question of an instruction."""
        S: STATE = cython.address(self.state)
        n: i64 = len(given)
        at: i64 = S.nmemo
        words_room(
            cython.address(S.memo),
            cython.address(S.memo_size),
            at + 4 + n + len(solutions) * width + 8,
        )
        S.memo[at] = number
        S.memo[at + 1] = n
        k: i64 = at + 2
        for word in given:
            S.memo[k] = word
            k += 1
        S.memolast = k
        S.memo[k] = len(solutions)
        S.memo[k + 1] = width
        k += 2
        for row in solutions:
            for word in row:
                S.memo[k] = word
                k += 1
        S.nmemo = k
        h: i64 = hashed(cython.address(S.memo[at + 2]), n, number) & S.memomask
        while S.memoslots[h] != 0:
            h = (h + 1) & S.memomask
        S.memoslots[h] = at
        S.answers += 1
        if S.answers * 2 > S.memomask:
            self._rememo()

    def _rememo(self):
        S: STATE = cython.address(self.state)
        old: i64 = S.memomask + 1
        slots: WORDS = S.memoslots
        S.memoslots = cython.cast(WORDS, calloc(old * 2, 8))
        if S.memoslots == cython.NULL:
            out_of_memory()
        S.memomask = old * 2 - 1
        i: i64 = 0
        while i < old:
            at: i64 = slots[i]
            if at != 0:
                h: i64 = hashed(cython.address(S.memo[at + 2]), S.memo[at + 1], S.memo[at])
                h &= S.memomask
                while S.memoslots[h] != 0:
                    h = (h + 1) & S.memomask
                S.memoslots[h] = at
            i += 1
        free(slots)

    def called(self):
        """The number of the procedure that calls itself without end."""
        return self.state.called

    def unsettled(self):
        """The column of rules that contradict themselves, and the time."""
        return self.state.called, self.state.unsettled

    def having(self, table: i64, place: i64):
        """The keys of the rows of a table of which a column has spans."""
        S: STATE = cython.address(self.state)
        found: list = []
        r: i64 = 0
        while r < S.nrows:
            if S.rows[r].table == table and S.lines[S.rows[r].line + place].ns > 0:
                k: i64 = S.rows[r].key
                found.append([S.keys[k + i] for i in range(S.tables[table * 8 + T_KEYS])])
            r += 1
        return found

    # --- what is kept of it, and taken up again ---------------------------------------------------

    def sizes(self):
        """How many rows, lines, links and timers there are."""
        S: STATE = cython.address(self.state)
        return S.nrows, S.nlines, S.nlinks - 8, S.ntimers

    def size(self):
        """How many words all of that takes, roughly."""
        S: STATE = cython.address(self.state)
        pool: i64 = S.top - S.spare
        return pool + S.nkeys + S.nmemo + 8 * S.nlines + 6 * S.nrows + 4 * S.nlinks + 2 * S.ntimers

    def rows(self, found: cython.longlong[:, ::1]):
        """Of each row its table, its first line and where its key is."""
        S: STATE = cython.address(self.state)
        i: i64 = 0
        while i < S.nrows:
            found[i, 0] = S.rows[i].table
            found[i, 1] = S.rows[i].line
            found[i, 2] = S.rows[i].key
            i += 1

    def lines(self, found: cython.longlong[:, ::1]):
        """Of each line its column, its points and its spans (where, how many words), its timer."""
        S: STATE = cython.address(self.state)
        i: i64 = 0
        while i < S.nlines:
            mine: i64 = 1 if is_foreign(S, i) == 0 else 0
            found[i, 0] = S.lines[i].col
            found[i, 1] = S.lines[i].points
            found[i, 2] = S.lines[i].np * mine
            found[i, 3] = S.lines[i].spans
            found[i, 4] = S.lines[i].ns * mine
            found[i, 5] = S.lines[i].timer
            i += 1

    def links(self, found: cython.longlong[:, ::1]):
        """Links as (line, site, target, when)."""
        S: STATE = cython.address(self.state)
        i: i64 = 0
        while i < S.nlinks - 8:
            found[i, 0] = S.links[i + 8].line
            found[i, 1] = S.links[i + 8].site
            found[i, 2] = S.links[i + 8].target
            found[i, 3] = S.links[i + 8].when
            i += 1

    def timers(self, found: cython.longlong[:, ::1]):
        """Timers as (time, line)."""
        S: STATE = cython.address(self.state)
        if S.ntimers > 0:
            memcpy(cython.address(found[0, 0]), S.timers, S.ntimers * 16)

    def words(self):
        """The words of all keys, and those of the pool."""
        S: STATE = cython.address(self.state)
        keys = cython.cast(bytes, cython.cast(cython.p_char, S.keys)[: S.nkeys * 8])
        pool = (
            cython.cast(bytes, cython.cast(cython.p_char, S.pool)[: S.top * 8]) if S.pool else b""
        )
        return keys if S.nkeys else b"", pool

    def trim(
        self,
        points: cython.longlong[::1],
        spans: cython.longlong[::1],
        stride: cython.longlong[::1],
    ):
        """Let go of points and spans that are over, by column; rows stay."""
        S: STATE = cython.address(self.state)
        L: i64 = 0
        while S.nlines > L:
            col: i64 = S.lines[L].col
            trim_line(S, L, points[col], spans[col], stride[col])
            L += 1

    def empty(self):
        """How many rows say nothing any more."""
        S: STATE = cython.address(self.state)
        found: i64 = 0
        r: i64 = 0
        while r < S.nrows:
            L: i64 = S.rows[r].line
            last: i64 = L + S.tables[S.rows[r].table * 8 + T_COLUMNS]
            while last > L and S.lines[L].np == 0 and S.lines[L].ns == 0:
                L += 1
            if last == L:
                found += 1
            r += 1
        return found

    def clear(self):
        """Forget all rows and what Python answered, and give back their memory."""
        S: STATE = cython.address(self.state)
        p: VOIDS = cython.cast(VOIDS, cython.address(S.lines))
        while p <= cython.cast(VOIDS, cython.address(S.memoslots)):
            free(p[0])
            p[0] = cython.NULL
            p += 1
        S.nuntold = S.nforeign = S.nletters = 0
        S.pool_size = S.keys_size = S.timers_size = S.memo_size = 0
        S.lines_size = S.rows_size = S.links_size = 0
        S.nrows = S.nlines = S.nkeys = S.nhomes = S.ntimers = S.answers = S.introduced = 0
        memset(cython.address(S.free[0]), 0, 64 * 8)
        self._begin()

    def _begin(self):
        """Empty tables."""
        S: STATE = cython.address(self.state)
        S.mask = S.homemask = S.linkmask = S.memomask = 255
        S.slots = cython.cast(INTS, calloc(256, 4))
        S.homes = cython.cast(INTS, calloc(256, 4))
        S.linkslots = cython.cast(INTS, calloc(256, 4))
        S.memoslots = cython.cast(WORDS, calloc(256, 8))
        if (
            S.slots == cython.NULL
            or S.homes == cython.NULL
            or S.linkslots == cython.NULL
            or S.memoslots == cython.NULL
        ):
            raise MemoryError
        S.nlinks = S.top = S.nmemo = 8
        S.spare = 0
        room(
            cython.cast(VOIDS, cython.address(S.links)),
            cython.address(S.links_size),
            8,
            cython.sizeof(Link),
        )

    def take_up(
        self,
        tables: cython.longlong[::1],
        keys: cython.longlong[::1],
        sizes: cython.longlong[:, ::1],
        points: cython.longlong[::1],
        spans: cython.longlong[::1],
        said: cython.longlong[::1],
        links: cython.longlong[:, ::1],
        timers: cython.longlong[:, ::1],
        at: cython.longlong[::1],
    ):
        """Make rows that were kept, in a machine without any. Whoever calls has checked them.

        Of each line `sizes` has how many words of points and of spans it has, and its timer. A
        point that remembers what it said has the length of the list, which is in `said`. Lines are
        numbered as these rows have them; `at` gets where they are. Timers come in order of time.
        """
        S: STATE = cython.address(self.state)
        nothing: i64[1]
        n: i64 = 0
        i: i64 = 0
        k: i64 = 0
        while i < tables.shape[0]:
            width: i64 = S.tables[tables[i] * 8 + T_KEYS]
            r: i64 = make_row(
                S, tables[i], cython.address(keys[k]) if width > 0 else cython.address(nothing[0])
            )
            k += width
            j: i64 = 0
            while j < S.tables[tables[i] * 8 + T_COLUMNS]:
                at[n] = S.rows[r].line + j
                n += 1
                j += 1
            i += 1
        i = 0
        k = 0
        s: i64 = 0
        p: i64 = 0
        while i < sizes.shape[0]:
            L: i64 = at[i]
            g: i64 = S.lines[L].col * FIELDS
            S.lines[L].timer = sizes[i, 2]
            n = sizes[i, 0]
            if n > 0:
                off: i64 = points_room(S, L, n)
                memcpy(cython.address(S.pool[off]), cython.address(points[k]), n * 8)
                S.lines[L].np = n
                k += n
                if S.cols[g + C_KIND] == EVENT and S.cols[g + C_HEAD] == 3:
                    j = 0
                    while j < n:
                        m: i64 = S.pool[S.lines[L].points + j + 2]
                        S.pool[S.lines[L].points + j + 2] = 0
                        if m > 0:
                            words_room(cython.address(S.em), cython.address(S.em_size), m)
                            memcpy(S.em, cython.address(said[p]), m * 8)
                            p += m
                            width = 0
                            while width < m:
                                S.em[width + 2] = at[S.em[width + 2]]
                                width += 5
                            keep_said(S, L, j, m)
                        j += S.cols[g + C_STRIDE]
            n = sizes[i, 1]
            if n > 0:
                off = spans_room(S, L, n)
                memcpy(cython.address(S.pool[off]), cython.address(spans[s]), n * 8)
                S.lines[L].ns = n
                s += n
            i += 1
        i = 0
        while i < links.shape[0]:
            S.reg[0] = 2 * links[i, 3] + 1
            link(S, at[links[i, 0]], links[i, 1], at[links[i, 2]])
            i += 1
        i = 0
        n = timers.shape[0]
        words_room(cython.address(S.timers), cython.address(S.timers_size), 2 * n + 2)
        while i < n:
            S.timers[2 * i] = timers[i, 0]
            S.timers[2 * i + 1] = at[timers[i, 1]]
            i += 1
        S.ntimers = n
        # What looks at what is found again; nothing of it has changed, unless nothing ever ran.
        if S.q > S.start:
            S.returning = 1
            introduce(S)
            S.returning = 0
        return S.error

    def settled(self, t: i64):
        """What answers show before a time is settled, and all of it may be other from there on."""
        S: STATE = cython.address(self.state)
        S.settled = t
        L: i64 = 0
        while S.nlines > L and t > -INF:
            if S.cols[S.lines[L].col * FIELDS + C_KIND] in (SIMPLE, LIST):
                dirty(S, L, t, INF)
            L += 1

    def go_on(self, q: i64):
        """Go on from a query time."""
        S: STATE = cython.address(self.state)
        S.q = S.qprev = q

    # --- with others -----------------------------------------------------------------------------

    def divide(self, shards: i64, shard: i64, where, looked):
        """Be one of several machines, before there are rows."""
        S: STATE = cython.address(self.state)
        S.shards = shards
        S.shard = shard
        S.named = shard << NAMED
        put(where, cython.address(S.where), cython.address(S.where_size))
        put(looked, cython.address(S.looked), cython.address(S.looked_size))

    def owners(self, words: cython.longlong[::1], found: cython.longlong[::1]):
        """Which machines rows belong to, by the words of their homes."""
        S: STATE = cython.address(self.state)
        i: i64 = 0
        while i < words.shape[0]:
            found[i] = (hashed(cython.address(words[i]), 1, 1) >> 20) % S.shards
            i += 1

    def accept(self):
        """Insert the items of the step, and settle what asks no others."""
        S: STATE = cython.address(self.state)
        S.since = horai_clock() if S.watched != 0 else 0
        with cython.nogil:
            take(S)

    def settle(self, level: i64):
        """Settle levels before one; the error, and whether others have to hear of something."""
        S: STATE = cython.address(self.state)
        with cython.nogil:
            settle(S, level)
            write_letters(S)
            if S.watched != 0:
                mark(S, 0, 0)
        return S.error, S.nletters

    def together(self, others: list):
        """Insert the items of the step, here and in others, and bring all up to date; the error.

        It is one thread that goes from machine to machine.
        """
        every: STATE[64]
        n: i64 = len(others) + 1
        every[0] = cython.address(self.state)
        for k in range(1, n):
            every[k] = cython.address(cython.cast(Machine, others[k - 1]).state)
        with cython.nogil:
            error: i64 = settle_together(every, n)
        return error

    def stop(self):
        """Another machine has failed."""
        self.state.error = 2

    def receive(self, other: Machine, quiet: i64):
        """Read the letters of another machine; if `quiet`, what they say of it changes nothing."""
        S: STATE = cython.address(self.state)
        T: STATE = cython.address(other.state)
        S.returning = quiet
        with cython.nogil:
            read_letters(S, T)
            if quiet != 0:
                introduce(S)
        S.returning = 0

    def sent(self):
        """All others have read the letters."""
        self.state.nletters = 0

    def error(self):
        """What has gone wrong, 0 if nothing has."""
        return self.state.error

    def waiting(self):
        """The lowest level that has something to do."""
        return first_waiting(cython.address(self.state))

    def is_sound(self):
        """Does all fit together? Only a checked machine looks."""
        return CHECKED == 0 or is_sound(cython.address(self.state)) != 0

    def counts(self):
        """What the run has cost so far."""
        S: STATE = cython.address(self.state)
        return {
            "rows": S.nrows,
            "lines": S.nlines,
            "links": S.nlinks - 8,
            "evaluations": S.evals,
            "resolutions": S.resolves,
            "unknown": S.unknown,
            "pool": S.top * 8,
            "timers": S.ntimers,
        }


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def out_of_memory() -> cython.void:
    abort()
