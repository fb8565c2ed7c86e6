# mypy: ignore-errors
"""What Python sees of the tables."""

import cython


@cython.cfunc
def array(words: object) -> WORDS:
    """A list of integers as an array of its own."""
    found: WORDS = cython.NULL
    larger(cython.cast(VOIDS, cython.address(found)), len(words), 8)
    i: i64 = 0
    for word in words:
        found[i] = word
        i += 1
    return found


@cython.cclass
class Views:
    """All tables of a program, and what they follow from each other."""

    def __init__(self, python: object, first: int) -> None:
        self.python = python
        self.first = first

    def __dealloc__(self) -> None:
        i: i64
        n: i64
        T: cython.pointer(Table)
        for i in range(self.n_tables):
            T = cython.address(self.tables[i])
            free(T.data)
            free(T.count)
            free(T.state)
            free(T.hash)
            free(T.slots)
            free(T.touched)
            free(T.edges)
            for n in range(T.n_indexes):
                free(T.indexes[n].columns)
                free(T.indexes[n].slots)
                free(T.indexes[n].next)
                free(T.indexes[n].before)
            free(T.indexes)
        free(self.tables)
        for i in range(self.n_matchers):
            free(self.matchers[i].fixed)
            free(self.matchers[i].same)
            free(self.matchers[i].wanted)
        free(self.matchers)
        for i in range(self.n_ranks):
            for n in range(self.ranks[i].n_groups):
                free(self.ranks[i].groups[n].data)
            free(self.ranks[i].groups)
            free(self.ranks[i].outputs)
        free(self.ranks)
        for i in range(self.n_predicates):
            free(self.predicates[i].routes)
        free(self.predicates)
        for i in range(self.n_programs):
            free(self.programs[i].code)
            free(self.programs[i].registers)
        free(self.programs)
        for i in range(self.n_totals):
            free(self.totals[i].state)
            free(self.totals[i].touched)
        free(self.totals)
        for i in range(self.n_components):
            free(self.components[i].data)
        free(self.components)
        free(self.shapes)
        free(self.views)
        free(self.starts)
        free(self.rules)
        free(self.order.data)
        free(self.out.data)
        for i in range(self.n_outputs):
            free(self.news[i].data)
        free(self.news)
        free(self.scratch.data)
        free(self.doubt.data)
        free(self.round.data)
        free(self.later.data)
        free(self.came.data)

    # What there is. Everything has the number that it gets here.

    def table(self, width: int) -> int:
        """A table."""
        larger(
            cython.cast(VOIDS, cython.address(self.tables)),
            self.n_tables + 1,
            cython.sizeof(Table),
        )
        T: cython.pointer(Table) = cython.address(self.tables[self.n_tables])
        memset(T, 0, cython.sizeof(Table))
        T.width = width
        T.mask = 15
        T.slots = cython.cast(WORDS, calloc(16, 8))
        T.free = T.component = T.is_group = -1
        T.need = 1
        self.n_tables += 1
        return self.n_tables - 1

    def index(self, table: int, columns: object) -> int:
        """An index of a table by some columns."""
        T: cython.pointer(Table) = cython.address(self.tables[table])
        larger(
            cython.cast(VOIDS, cython.address(T.indexes)),
            T.n_indexes + 1,
            cython.sizeof(Index),
        )
        I: cython.pointer(Index) = cython.address(T.indexes[T.n_indexes])
        memset(I, 0, cython.sizeof(Index))
        I.width = len(columns)
        I.columns = array(columns)
        I.mask = 15
        I.slots = cython.cast(WORDS, calloc(16, 8))
        index_room(I, T.room)
        T.n_indexes += 1
        return T.n_indexes - 1

    def edge(self, table: int, kind: int, what: int, inner: bool) -> None:
        """Something that follows from the rows of a table."""
        T: cython.pointer(Table) = cython.address(self.tables[table])
        larger(
            cython.cast(VOIDS, cython.address(T.edges)),
            T.n_edges + 1,
            cython.sizeof(Edge),
        )
        T.edges[T.n_edges].kind = kind
        T.edges[T.n_edges].what = what
        T.edges[T.n_edges].inner = inner
        T.n_edges += 1

    def matcher(self, fixed: object, alike: object, wanted: object, asks: int) -> int:
        """A pattern; without `wanted`, the end of a list of patterns."""
        larger(
            cython.cast(VOIDS, cython.address(self.matchers)),
            self.n_matchers + 1,
            cython.sizeof(Matcher),
        )
        M: cython.pointer(Matcher) = cython.address(self.matchers[self.n_matchers])
        M.n_fixed = len(fixed) // 2
        M.n_same = len(alike) // 2
        M.n_wanted = -1 if wanted is None else len(wanted)
        M.fixed = array(fixed)
        M.same = array(alike)
        M.wanted = array(wanted or ())
        M.asks = asks
        self.n_matchers += 1
        return self.n_matchers - 1

    def shape(self, target: int, matcher: int) -> int:
        """The rows of a table that a pattern fits."""
        larger(
            cython.cast(VOIDS, cython.address(self.shapes)),
            self.n_shapes + 1,
            cython.sizeof(Shape),
        )
        self.shapes[self.n_shapes].target = target
        self.shapes[self.n_shapes].matcher = matcher
        self.n_shapes += 1
        return self.n_shapes - 1

    def window(
        self,
        points: int,
        held: int,
        target: int,
        kind: int,
        matcher: int,
        by_time: int,
        fixed: bool,
        bounds: object,
        rank: int,
    ) -> int:
        """A window over points, and over what holds at the current one."""
        larger(
            cython.cast(VOIDS, cython.address(self.views)),
            self.n_views + 1,
            cython.sizeof(View),
        )
        W: cython.pointer(View) = cython.address(self.views[self.n_views])
        memset(W, 0, cython.sizeof(View))
        W.points = points
        W.held = held
        W.target = target
        W.kind = kind
        W.matcher = matcher
        W.by_time = by_time
        W.fixed = fixed
        W.past, W.low_hop, W.future, W.high_hop = bounds
        W.low = self.first
        W.high = self.first - 1
        W.rank = rank
        self.n_views += 1
        return self.n_views - 1

    def rank(self, past: int, future: int, width: int, keys: int) -> int:
        """A window by number, whose groups have keys of some width."""
        larger(
            cython.cast(VOIDS, cython.address(self.ranks)),
            self.n_ranks + 1,
            cython.sizeof(Rank),
        )
        K: cython.pointer(Rank) = cython.address(self.ranks[self.n_ranks])
        memset(K, 0, cython.sizeof(Rank))
        K.past = past
        K.future = future
        K.width = width
        K.keys = keys
        self.n_ranks += 1
        return self.n_ranks - 1

    def rank_output(self, rank: int, whose: int, target: int) -> None:
        """Where the signals of a predicate in it go."""
        K: cython.pointer(Rank) = cython.address(self.ranks[rank])
        larger(
            cython.cast(VOIDS, cython.address(K.outputs)),
            K.n_outputs + 1,
            cython.sizeof(Output),
        )
        K.outputs[K.n_outputs].whose = whose
        K.outputs[K.n_outputs].target = target
        K.n_outputs += 1

    def predicate(self, width: int, points: int, atoms: int, forgets: bool) -> int:
        """A predicate of signals."""
        larger(
            cython.cast(VOIDS, cython.address(self.predicates)),
            self.n_predicates + 1,
            cython.sizeof(Predicate),
        )
        P: cython.pointer(Predicate) = cython.address(self.predicates[self.n_predicates])
        memset(P, 0, cython.sizeof(Predicate))
        P.width = width
        P.points = points
        P.atoms = atoms
        P.forgets = forgets
        P.low = self.first
        self.n_predicates += 1
        return self.n_predicates - 1

    def route(self, predicate: int, rank: int, matcher: int, number: int) -> None:
        """To which groups of a window by number its signals belong."""
        P: cython.pointer(Predicate) = cython.address(self.predicates[predicate])
        larger(
            cython.cast(VOIDS, cython.address(P.routes)),
            P.n_routes + 1,
            cython.sizeof(Route),
        )
        P.routes[P.n_routes].rank = rank
        P.routes[P.n_routes].matcher = matcher
        P.routes[P.n_routes].number = number
        P.n_routes += 1

    def program(self, code: object, registers: object) -> int:
        """What finds the solutions of a body."""
        larger(
            cython.cast(VOIDS, cython.address(self.programs)),
            self.n_programs + 1,
            cython.sizeof(Program),
        )
        self.programs[self.n_programs].code = array(code)
        self.programs[self.n_programs].registers = array(registers)
        self.n_programs += 1
        return self.n_programs - 1

    def start(self, program: int, weight: int, head: int, leaves: bool) -> int:
        """A rule from one of its conditions."""
        larger(
            cython.cast(VOIDS, cython.address(self.starts)),
            self.n_starts + 1,
            cython.sizeof(Start),
        )
        S: cython.pointer(Start) = cython.address(self.starts[self.n_starts])
        S.program = program
        S.weight = weight
        S.head = head
        S.exit = leaves
        self.n_starts += 1
        return self.n_starts - 1

    def rule(self, head: int, everything: int, derives: int, leaves: bool) -> None:
        """A rule; one that leaves a component reads nothing of it."""
        larger(
            cython.cast(VOIDS, cython.address(self.rules)),
            self.n_rules + 1,
            cython.sizeof(Rule),
        )
        R: cython.pointer(Rule) = cython.address(self.rules[self.n_rules])
        R.head = head
        R.everything = everything
        R.derives = derives
        R.exit = leaves
        self.n_rules += 1

    def total(
        self, function: int, elements: int, target: int, keys: int, width: int, index: int
    ) -> int:
        """An aggregate over the elements of each key."""
        larger(
            cython.cast(VOIDS, cython.address(self.totals)),
            self.n_totals + 1,
            cython.sizeof(Total),
        )
        A: cython.pointer(Total) = cython.address(self.totals[self.n_totals])
        memset(A, 0, cython.sizeof(Total))
        A.function = function
        A.elements = elements
        A.target = target
        A.keys = keys
        A.width = width
        A.rows_index = index
        A.component = -1
        self.tables[target].is_group = self.n_totals
        self.n_totals += 1
        return self.n_totals - 1

    def component(self, tables: object, derived: object) -> None:
        """Tables whose rows rest on each other.

        Rules say what `derived` ones hold: 1 if nothing else in the component does, or 2.
        """
        larger(
            cython.cast(VOIDS, cython.address(self.components)),
            self.n_components + 1,
            cython.sizeof(Vector),
        )
        C: cython.pointer(Vector) = cython.address(self.components[self.n_components])
        memset(C, 0, cython.sizeof(Vector))
        i: i64
        for table in tables:
            push(C, table)
            self.tables[cython.cast(i64, table)].component = self.n_components
            self.tables[cython.cast(i64, table)].derived = derived.get(table, 0)
        for i in range(self.n_totals):
            if self.tables[self.totals[i].target].component == self.n_components:
                self.totals[i].component = self.n_components
        push(cython.address(self.order), -1 - self.n_components)
        self.n_components += 1

    def next_table(self, table: int) -> None:
        """The table that is settled after those before."""
        push(cython.address(self.order), table)

    # What happens.

    def fact(self, table: int, row: object) -> None:
        """A row that is there from the start."""
        words: WORDS = array(row)
        T: cython.pointer(Table) = cython.address(self.tables[table])
        change(self, table, intern(T, words), 1)
        free(words)

    def step(self, time: int, signals: object) -> bool:
        """Go on to a time, with signals that come or go.

        They are predicate, time, number, sign and words. False if one is lacking that was
        forgotten.
        """
        key: i64[32]
        i: i64
        self.lacks = 0
        begin_step(self, time)
        for predicate, at, number, more, row in signals:
            i = 0
            for word in row:
                key[i] = word
                i += 1
            take_signal(self, predicate, at, number, key, more)
        if self.lacks:
            return False
        end_step(self)
        return True

    def steps(
        self,
        times: object,
        steps: cython.const[cython.longlong][:],
        predicates: cython.const[cython.longlong][:],
        at: cython.const[cython.longlong][:],
        numbers: cython.const[cython.longlong][:],
        signs: cython.const[cython.longlong][:],
        places: cython.const[cython.longlong][:],
        words: cython.longlong[:],
    ) -> None:
        """Go through many times, with signals in the order of their steps.

        Each has a predicate, a time, a number, a sign, and a place where its words begin.
        """
        n: i64 = 0
        step: i64 = 0
        many: i64 = steps.shape[0]
        self.keeps = 1
        for time in times:
            begin_step(self, time)
            while n < many and steps[n] <= step:
                take_signal(
                    self,
                    predicates[n],
                    at[n],
                    numbers[n],
                    cython.address(words[places[n]]),
                    signs[n],
                )
                n += 1
            end_step(self)
            step += 1
        self.keeps = 0

    def outputs(self, number: int) -> None:
        """How many outputs there are."""
        self.n_outputs = number
        self.news = cython.cast(cython.pointer(Vector), calloc(number, cython.sizeof(Vector)))

    def take_news(self) -> list:
        """What came and went since this was last asked: output, sign and words."""
        found = []
        n: i64
        i: i64
        D: WORDS
        for n in range(self.n_outputs):
            if self.news[n].size == 0:
                continue
            D = self.news[n].data
            words = [D[i] for i in range(self.news[n].size)]
            found.append((n, words))
            self.news[n].size = 0
        return found

    def take_columns(self) -> list:
        """The same as arrays: time, sign and words of each, one after the other."""
        found = []
        n: i64
        size: i64
        for n in range(self.n_outputs):
            size = self.news[n].size
            if size:
                whole = cython.cast(cython.p_char, self.news[n].data)[: 8 * size]
                found.append((n, whole))
                self.news[n].size = 0
        return found
