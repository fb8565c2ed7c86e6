# mypy: ignore-errors
"""Rules as instructions: facts, questions, aggregates, procedures."""

import cython


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def find_fact(S: STATE, index: i64, p: i64) -> i64:
    """The slot of the rows with the keys in some registers; -1 if there are none.

    An index is (mask, keys, columns, slots, rows); a slot is (first row + 1, how many).
    """
    F: i64 = index
    nk: i64 = S.facts[F + 1]
    nc: i64 = S.facts[F + 2]
    rows: i64 = S.facts[F + 4]
    key: WORDS = S.key
    i: i64 = 0
    while i < nk:
        key[i] = S.reg[S.args[p + 1 + i]]
        i += 1
    at: i64 = hashed(key, nk, 0) & S.facts[F]
    while True:
        slot: i64 = S.facts[F + 3] + at * 2
        r: i64 = S.facts[slot]
        if r == 0:
            return -1
        base: i64 = rows + (r - 1) * nc
        i = 0
        while i < nk and S.facts[base + i] == key[i]:
            i += 1
        if i == nk:
            return slot
        at = (at + 1) & S.facts[F]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def load_fact(S: STATE, index: i64, p: i64, row: i64) -> cython.void:
    """Columns of a row into registers; after its keys, a list has (column, register)..."""
    at: i64 = p + 1 + S.args[p]
    n: i64 = S.args[at]
    base: i64 = S.facts[index + 4] + row * S.facts[index + 2]
    i: i64 = 0
    while i < n:
        S.reg[S.args[at + 2 + 2 * i]] = S.facts[base + S.args[at + 1 + 2 * i]]
        i += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def ask(S: STATE, number: i64, p: i64) -> i64:
    """The place of the answer of Python to a question: (solutions, width, words...)."""
    n: i64 = S.args[p]
    key: WORDS = S.key
    i: i64 = 0
    while i < n:
        key[i] = S.reg[S.args[p + 1 + i]]
        i += 1
    return answer_of(S, number, key, n)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def answer_of(S: STATE, number: i64, key: WORDS, n: i64) -> i64:
    """The same for given words."""
    i: i64 = 0
    at: i64 = hashed(key, n, number) & S.memomask
    while S.memoslots[at] != 0:
        h: i64 = S.memoslots[at]
        if S.memo[h] == number:
            i = 0
            while i < n and S.memo[h + 2 + i] == key[i]:
                i += 1
            if i == n:
                return h + 2 + n
        at = (at + 1) & S.memomask
    if S.dry != 0:
        at = S.nwishes
        words_room(cython.address(S.wishes), cython.address(S.wishes_size), at + n + 2)
        S.wishes[at] = number
        S.wishes[at + 1] = n
        memcpy(cython.address(S.wishes[at + 2]), cython.address(key[0]), n * 8)
        S.nwishes = at + n + 2
        return 0
    with cython.gil:
        try:
            given = [key[i] for i in range(n)]
            cython.cast(object, S.owner).answered(number, given)
        except BaseException as error:
            cython.cast(object, S.owner).failure(error)
            S.error = 2
    if S.error != 0:
        return 0
    # The answer is at the end of the memo; the table may have grown.
    return S.memolast


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def is_form(S: STATE, v: i64) -> i64:
    """Does a word stand for all values of a form?"""
    if (v & 3) != 0 or v < 0 or (v >> 2) >= S.nsymbols:
        return 0
    return 1 if S.numeric[v >> 2] == FORM else 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def covers(S: STATE, v: i64, w: i64) -> i64:
    """Is value w among those that v stands for: itself, all of them, or those of a form?"""
    if v in (ANY, w):
        return 1
    if is_form(S, v) == 0 or w in (ANY, GHOST):
        return 0
    key: i64[2]
    key[0] = v
    key[1] = w
    k: i64 = answer_of(S, FORMS, cython.address(key[0]), 2)
    return 1 if k != 0 and S.memo[k] != 0 else 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def without_value(S: STATE, p: i64) -> cython.void:
    """An expression has no value; the list at p says of what to tell, unless that is known."""
    S.failed = 0
    if p == 0 or S.args[p] == 0 or S.error != 0:
        return
    with cython.gil:
        try:
            words = [S.reg[S.args[p + 3 + i]] for i in range(S.args[p + 2])]
            S.args[p] = cython.cast(object, S.owner).without_value(S.args[p + 1], words)
        except BaseException as error:
            cython.cast(object, S.owner).failure(error)
            S.error = 2


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def different(S: STATE, first: i64, width: i64) -> cython.void:
    """Leave each of the solutions from `first` on once."""
    n: i64 = (S.nbag - first) // width
    size: i64 = 16
    while size < 2 * n:
        size *= 2
    words_room(cython.address(S.seen), cython.address(S.seen_size), size)
    memset(S.seen, 0, size * 8)
    kept: i64 = 0
    i: i64 = 0
    while i < n:
        row: WORDS = cython.address(S.bag[first + i * width])
        at: i64 = hashed(row, width, 0) & (size - 1)
        while S.seen[at] != 0:
            same: i64 = first + (S.seen[at] - 1) * width
            if memcmp(row, cython.address(S.bag[same]), width * 8) == 0:
                break
            at = (at + 1) & (size - 1)
        if S.seen[at] == 0:
            if kept != i:
                memcpy(cython.address(S.bag[first + kept * width]), row, width * 8)
            kept += 1
            S.seen[at] = kept
        i += 1
    S.nbag = first + kept * width


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def counted(S: STATE, first: i64, width: i64, kind: i64, column: i64) -> i64:
    """How many solutions there are, or what whole numbers are together; 0 if Python has to say."""
    if kind == TOTAL_COUNT:
        S.answer = 2 * ((S.nbag - first) // width) + 1
        return 1
    if S.nbag == first:
        S.answer = 1
        return kind == TOTAL_SUM
    i: i64 = first + column
    best: i64 = S.bag[i]
    sum: i64 = 0
    while i < S.nbag:
        word: i64 = S.bag[i]
        if (word & 1) == 0:
            return 0
        if (kind == TOTAL_MAX and word > best) or (kind == TOTAL_MIN and word < best):
            best = word
        sum += word >> 1
        if sum >= LARGEST or sum <= -LARGEST:
            return 0
        i += width
    S.answer = 2 * sum + 1 if kind == TOTAL_SUM else best
    return 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def total(S: STATE, number: i64, first: i64, p: i64) -> i64:
    """What the solutions that were gathered are together: a word, or none."""
    width: i64 = S.args[p]
    found: i64 = 0
    different(S, first, width)
    if S.args[p + 1] != TOTAL_OTHER and counted(S, first, width, S.args[p + 1], S.args[p + 2]) != 0:
        return 1
    with cython.gil:
        try:
            given = [S.bag[i] for i in range(first, S.nbag)]
            word = cython.cast(object, S.owner).totalled(number, given, width)
            if word is not None:
                S.answer = word
                found = 1
        except BaseException as error:
            cython.cast(object, S.owner).failure(error)
            S.error = 2
    return found


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def list_term(S: STATE, p: i64, v: i64) -> i64:
    """The intervals with a value, or with any, of the lines in some registers, as a term."""
    n: i64 = 0
    k: i64 = S.args[p]
    while k > 0:
        L: i64 = S.reg[S.args[p + k]]
        off: i64 = S.lines[L].spans
        i: i64 = 0
        while i < S.lines[L].ns:
            if v in (ANY, S.pool[off + i + 2]):
                n = put_span(S, n, S.pool[off + i], S.pool[off + i + 1], v)
            i += 3
        k -= 1
    with cython.gil:
        try:
            times = [(S.tmp[k], S.tmp[k + 1]) for k in range(0, n, 3)]
            return cython.cast(object, S.owner).listed(times)
        except BaseException as error:
            cython.cast(object, S.owner).failure(error)
            S.error = 2
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def mark(S: STATE, owner: i64, runs: i64) -> cython.void:
    """The time up to now was that of whoever is marked; from here on it is another's."""
    now: i64 = horai_clock()
    S.spent[3 * S.marked + 2] += now - S.since
    S.since = now
    S.marked = owner
    S.spent[3 * owner] += runs


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def run_rules(S: STATE, pc: i64, L: i64, mask: i64, fired: i64, force: i64, d: i64) -> i64:
    """Evaluate the rules of `mask`; what drives them is in the registers.

    Returns which of them say something now, shifted by PEND which wait, and by MET whose conditions
    on facts are met. With `force` conditions on what changes count as true, and nothing is
    remembered. If `d` is 0, rules say nothing: what they would ask of Python is noted.
    """
    got: i64 = 0
    bit: i64 = 1
    number: i64 = 0
    listed: i64 = 0
    skip: i64 = 0
    first: i64 = S.rows[S.lines[L].row].line
    was: i64 = S.marked
    while True:
        I: WORDS = cython.address(S.code[pc])
        op: i64 = I[0]
        x: i64 = I[1]
        y: i64 = I[2]
        z: i64 = I[3]
        w: i64 = I[4]
        f: i64 = I[5]
        pc += WIDTH
        if (
            d == 0
            and (op == WAIT or op > FNEXT)
            and op not in (OWN, HAS, NOW, INT, AFTER, CALL, CNEXT)
        ):
            # Nothing is said or linked. What cannot be told ends the rule.
            if op == LINE:
                k = row_of_registers(S, z >> 12, y, 0)
                S.reg[x] = S.rows[k].line + (z & 4095) if k >= 0 else 0
                continue
            if op in (SAY, TELL, INTERVAL, WAIT):
                continue
            if op not in (HOLDS, VALUE) or (x >= 0 and S.reg[x] == 0):
                pc = skip
                continue
        if op == RULE:
            number = x
            skip = f
            if (mask >> x) == 0:
                break  # rules are in the order of their bits
            bit = cython.cast(i64, 1) << x
            listed = y if force == 0 else 0
            if (mask & bit) == 0:
                pc = f
        elif op == MARK:
            if z == 0:
                mark(S, x, y if d > 0 else 0)
            elif d > 0 and (listed != 0 or (fired & bit) == 0):
                S.spent[3 * x + 1] += 1
        elif op in (CLT, CLE, CEQ, CNE):
            if compared(S, op, S.reg[x], S.reg[y]) == 0:
                if S.failed != 0:
                    without_value(S, w)
                pc = f
        elif op == FACT:
            k = find_fact(S, y, x)
            if k < 0:
                pc = f
            else:
                load_fact(S, y, x, S.facts[k] - 1)
        elif op == SAY:
            x = S.reg[x] if x >= 0 else first + ~x
            k = S.reg[z] >> 1
            v_: i64 = ANY if y < 0 else S.reg[y]
            if listed != 0:
                got |= bit
                words_room(cython.address(S.em), cython.address(S.em_size), S.nem + 5)
                S.em[S.nem] = number
                S.em[S.nem + 1] = w
                S.em[S.nem + 2] = x
                S.em[S.nem + 3] = k
                S.em[S.nem + 4] = v_
                S.nem += 5
            else:
                got |= bit
                if force != 0 or (fired & bit) == 0:
                    add_point(S, x, k, v_, w, d)
        elif op == TELL:
            x = S.reg[x] if x >= 0 else first + ~x
            k = S.reg[y] >> 1
            if listed != 0:
                got |= bit
                words_room(cython.address(S.em), cython.address(S.em_size), S.nem + 5)
                S.em[S.nem] = number
                S.em[S.nem + 1] = EVENT_SAID
                S.em[S.nem + 2] = x
                S.em[S.nem + 3] = k
                S.em[S.nem + 4] = S.reg[z]
                S.nem += 5
            else:
                got |= bit
                if force != 0 or (fired & bit) == 0:
                    emit_event(S, x, k, cython.address(S.reg[z]), d)
        elif op == INTERVAL:
            # Rules that state intervals remember what they said.
            got |= bit
            words_room(cython.address(S.em), cython.address(S.em_size), S.nem + 5)
            S.em[S.nem] = number
            S.em[S.nem + 1] = SPAN_SAID
            S.em[S.nem + 2] = S.reg[x]
            S.em[S.nem + 3] = S.reg[y] >> 1
            S.em[S.nem + 4] = S.reg[z]
            S.nem += 5
        elif op == LISTOF:
            S.reg[x] = list_term(S, y, S.reg[z])
        elif op == OWN:
            S.reg[x] = first + y
        elif op == WAIT:
            if force == 0:
                # Points wait once for a level, where all rules that wait there are evaluated.
                if (fired & (z << PEND)) == 0:
                    to_evaluate(S, y, L, S.reg[0] >> 1, z)
                fired |= z << PEND
                bit = cython.cast(i64, 1) << x
                got |= (bit << PEND) | (bit << MET)
                bit = 1
        elif op == TRUE:
            if force != 0:
                pc = f
        elif op == LDC:
            S.reg[x] = y
        elif op == MOV:
            S.reg[x] = S.reg[y]
        elif op == EQ:
            if S.reg[x] != S.reg[y]:
                pc = f
        elif op == EQC:
            if S.reg[x] != y:
                pc = f
        elif op == NE:
            if S.reg[x] == S.reg[y]:
                pc = f
        elif op == NEC:
            if S.reg[x] == y:
                pc = f
        elif op == HOLDS:
            k = span_at(S, S.reg[x] if x >= 0 else first + ~x, S.reg[z] >> 1)
            if k == 0 or S.pool[k + 2] != S.reg[y]:
                pc = f
        elif op == VALUE:
            k = span_at(S, S.reg[x] if x >= 0 else first + ~x, S.reg[z] >> 1)
            if k == 0:
                pc = f
            else:
                S.reg[y] = S.pool[k + 2]
        elif op == LINE:
            # Rows may move while one is made.
            k = row_of_registers(S, z >> 12, y, 1)
            k = S.rows[k].line + (z & 4095)
            S.reg[x] = k
            if w >= 0:
                link(S, k, w, L)
        elif op == SHIFT:
            S.reg[x] = S.reg[y] + z
        elif op == AFTER:
            k = S.reg[x]
            if (k & 1) == 0 or k <= S.reg[y] or (k >> 1) <= S.start:
                pc = f
        elif op in (ADD, SUB, MUL, DIV, IDIV, MOD, MIN, MAX):
            S.failed = 0
            k = compute(S, op, S.reg[y], S.reg[z])
            if S.failed != 0:
                without_value(S, w)
                pc = f
            else:
                S.reg[x] = k
        elif op in (NEG, ABS):
            S.failed = 0
            k = S.reg[y]
            if op == NEG or compared(S, CLT, k, 1) != 0:
                k = compute(S, SUB, 1, k)
            if S.failed != 0:
                without_value(S, w)
                pc = f
            else:
                S.reg[x] = k
        elif op == FUN:
            S.failed = 0
            k = function(S, z, S.reg[y])
            if S.failed != 0:
                without_value(S, w)
                pc = f
            else:
                S.reg[x] = k
        elif op == FOPEN:
            k = find_fact(S, z, y)
            if k < 0:
                S.reg[x + 1] = 0
            else:
                S.reg[x] = S.facts[k] - 1
                S.reg[x + 1] = S.facts[k + 1]
        elif op == FNEXT:
            worked(S)
            if S.reg[x + 1] == 0:
                pc = f
            else:
                load_fact(S, z, y, S.reg[x])
                S.reg[x] += 1
                S.reg[x + 1] -= 1
        elif op == JMP:
            pc = f
        elif op == JMPR:
            pc = S.reg[x]
        elif op == HAS:
            if row_of_registers(S, y, x, 0) < 0:
                pc = f
        elif op == MOPEN:
            k = row_of_registers(S, z, y, 1)
            k = S.rows[k].line
            S.reg[x] = k
            S.reg[x + 1] = 0
            if w >= 0:
                link(S, k, w, L)
        elif op == MNEXT:
            worked(S)
            k = S.reg[x]
            if S.reg[x + 1] >= S.lines[k].np:
                pc = f
            else:
                r: i64 = S.pool[S.lines[k].points + S.reg[x + 1]]
                S.reg[x + 1] += 1
                S.reg[x + 2] = S.rows[r].line
                n: i64 = S.args[y]
                while n > 0:
                    n -= 1
                    S.reg[S.args[y + 2 + 2 * n]] = S.keys[S.rows[r].key + S.args[y + 1 + 2 * n]]
        elif op == POPEN:
            y = S.reg[y]
            g: i64 = S.lines[y].col * FIELDS
            S.reg[x] = y
            S.reg[x + 1] = 0
            if S.lines[y].np != 0:
                k = S.reg[S.args[z]] >> 1
                S.reg[x + 1] = first_at(
                    S,
                    S.lines[y].points,
                    S.lines[y].np,
                    k if k > S.start else S.start + 1,
                    S.cols[g + C_STRIDE],
                )
            S.reg[x + 2] = S.reg[S.args[z + 1]] >> 1
        elif op == PNEXT:
            k = S.reg[x]
            g = S.lines[k].col * FIELDS
            r = S.reg[x + 1]
            off: i64 = S.lines[k].points
            n = S.lines[k].np
            stride: i64 = S.cols[g + C_STRIDE]
            while r < n and (S.pool[off + r + 1] & 0xFFFF) == 0:
                r += stride
            worked(S)
            if r >= n or S.pool[off + r] > S.reg[x + 2] or S.pool[off + r] > S.q:
                pc = f
            else:
                S.reg[x + 1] = r + stride
                S.reg[S.args[y]] = 2 * S.pool[off + r] + 1
                n = S.args[y + 1]
                while n > 0:
                    n -= 1
                    S.reg[S.args[y + 3 + 2 * n]] = S.pool[
                        off + r + S.cols[g + C_HEAD] + S.args[y + 2 + 2 * n]
                    ]
        elif op == COVERS:
            if covers(S, S.reg[x], S.reg[y]) == 0:
                pc = f
        elif op == VOPEN:
            k = S.reg[z]
            S.reg[x] = S.reg[y]
            S.reg[x + 1] = 0 if k == ANY or is_form(S, k) != 0 else -1  # one value is itself
        elif op == VNEXT:
            k = S.reg[x]
            r = S.reg[x + 1]
            if r == -1:
                S.reg[z] = S.reg[y]
                S.reg[x + 1] = S.lines[k].ns
            else:
                off = S.lines[k].spans
                n = S.lines[k].ns
                while r < n:
                    i: i64 = 0
                    while i < r and S.pool[off + i + 2] != S.pool[off + r + 2]:
                        i += 3
                    if i == r and covers(S, S.reg[y], S.pool[off + r + 2]) != 0:
                        break
                    r += 3
                if r >= n:
                    pc = f
                else:
                    S.reg[z] = S.pool[off + r + 2]
                    S.reg[x + 1] = r + 3
        elif op == WOPEN:
            S.reg[x] = S.reg[y]
            S.reg[x + 1] = S.first
        elif op == WNEXT:
            k = S.reg[x]
            r = S.reg[x + 1]
            off = S.lines[k].spans
            n = S.lines[k].ns
            i = first_ending_after(S, off, n, r) if n > 0 else 0
            while i < n and r <= S.q:
                if S.pool[off + i] > r:
                    r = first_after(S, S.pool[off + i])
                if r < S.pool[off + i + 1]:
                    break
                i += 3
            if i >= n or r > S.q:
                pc = f
            else:
                S.reg[x + 1] = r + S.tick
                S.reg[y] = 2 * r + 1
                S.reg[z] = S.pool[off + i + 2]
        elif op == NOW:
            S.reg[x] = 2 * S.q + 1
        elif op == MEMBERS:
            S.reg[x] = 2 * S.members + 1
        elif op == INT:
            if (S.reg[x] & 1) == 0:
                pc = f
        elif op == MAKE:
            row_of_registers(S, y, x, 1)
        elif op == REF:
            k = S.rows[S.lines[L].row].key
            S.keys[k + x] = S.reg[y]
        elif op == BAR:
            if (S.lines[first + x].cs & BARRED) == 0:
                S.lines[first + x].cs |= BARRED
                if S.returning == 0:
                    dirty(S, first + x, S.origin, INF)
        elif op == ALLOW:
            if (S.lines[first + x].cs & BARRED) != 0:
                S.lines[first + x].cs &= ~BARRED
                dirty(S, first + x, S.origin, INF)
        elif op == WAKE:
            if S.returning == 0:
                push(
                    S,
                    2 * S.cols[S.lines[first + x].col * FIELDS + C_LEVEL] + 1,
                    first + x,
                    S.start,
                    INF,
                )
        elif op == FEED:
            begin_feeding(S, first + x, S.reg[y], z)
        elif op == GROUP:
            S.reg[x] = S.nbag
        elif op == ADDTO:
            # One more solution, if it is not there yet.
            n = S.args[y]
            words_room(cython.address(S.bag), cython.address(S.bag_size), S.nbag + n + 1)
            k = 0
            while k < n:
                S.bag[S.nbag + k] = S.reg[S.args[y + 1 + k]]
                k += 1
            S.nbag += n
            pc = f
        elif op == TOTAL:
            k = total(S, z, S.reg[x], y)
            S.nbag = S.reg[x]
            if k == 0 or S.error != 0:
                pc = f
            else:
                S.reg[w] = S.answer
        elif op == PCALL:
            call_procedure(S, x, y, z, L)
        elif op == GIVE:
            n = S.args[x]
            words_room(cython.address(S.given), cython.address(S.given_size), S.ngiven + n)
            k = 0
            while k < n:
                S.given[S.ngiven + k] = S.reg[S.args[x + 1 + k]]
                k += 1
            S.ngiven += n
            pc = f
        elif op == ANSWER:
            if S.reg[x + 1] == 0:
                S.nanswered = S.reg[x + 2]
                pc = f
            else:
                n = S.args[y]
                k = 0
                while k < n:
                    S.reg[S.args[y + 1 + k]] = S.answered[S.reg[x] + k]
                    k += 1
                S.reg[x] += n
                S.reg[x + 1] -= 1
        elif op == CALL:
            k = ask(S, z, y)
            if k == 0:
                pc = f if d != 0 else skip
                S.reg[x + 1] = 0
            else:
                S.reg[x] = k + 2
                S.reg[x + 1] = S.memo[k]
                S.reg[x + 2] = S.memo[k + 1]
        elif op == CNEXT:
            if S.reg[x + 1] == 0:
                pc = f
            else:
                n = S.reg[x + 2]
                k = y + 1 + S.args[y]
                while n > 0:
                    n -= 1
                    S.reg[S.args[k + 1 + n]] = S.memo[S.reg[x] + n]
                S.reg[x] += S.reg[x + 2]
                S.reg[x + 1] -= 1
        else:
            break
        if S.error != 0:
            break
    if S.watched != 0:
        mark(S, was, 0)
    return got


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def call_procedure(S: STATE, x: i64, pc: i64, p: i64, L: i64) -> cython.void:
    """Run a procedure for arguments in registers; its answers can be iterated from x on.

    The list at p: where it is described, and registers of arguments. It is described by its number,
    the range of registers it uses, which other calls of it must keep, how many words an answer has,
    and the registers of its parameters.
    """
    what: i64 = S.args[p]
    low: i64 = S.args[what + 1]
    size: i64 = S.args[what + 2] - low
    width: i64 = S.args[what + 3]
    n: i64 = S.args[what + 4]
    if S.depth == 0:
        S.calls = 0
    S.calls += 1
    if S.depth >= DEEPEST or S.calls > CALLS:
        S.error = 5
        S.called = S.args[what]
        return
    base: i64 = S.nstack
    words_room(cython.address(S.stack), cython.address(S.stack_size), base + size + n)
    i: i64 = 0
    while i < n:
        S.stack[base + size + i] = S.reg[S.args[p + 1 + i]]
        i += 1
    memcpy(cython.address(S.stack[base]), cython.address(S.reg[low]), size * 8)
    i = 0
    while i < n:
        S.reg[S.args[what + 5 + i]] = S.stack[base + size + i]
        i += 1
    S.nstack = base + size
    S.depth += 1
    first: i64 = S.ngiven
    start: i64 = S.nanswered
    run_rules(S, pc, L, ALL_RULES, 0, 0, 1)
    S.depth -= 1
    S.nstack = base
    memcpy(cython.address(S.reg[low]), cython.address(S.stack[base]), size * 8)
    n = S.ngiven - first
    words_room(cython.address(S.answered), cython.address(S.answered_size), start + n + 1)
    memcpy(cython.address(S.answered[start]), cython.address(S.given[first]), n * 8)
    S.ngiven = first
    S.nanswered = start + n
    S.reg[x] = start
    S.reg[x + 1] = n // width
    S.reg[x + 2] = start


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def load_driver(S: STATE, L: i64, i: i64) -> cython.void:
    """Time, key and arguments of a point into the registers from 0 on."""
    g: i64 = S.lines[L].col * FIELDS
    off: i64 = S.lines[L].points + i
    S.reg[0] = 2 * S.pool[off] + 1
    S.nanswered = 0
    n: i64 = load_key(S, L)
    k: i64 = S.cols[g + C_HEAD]
    stride: i64 = S.cols[g + C_STRIDE]
    while k < stride:
        S.reg[n] = S.pool[off + k]
        n += 1
        k += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def load_key(S: STATE, L: i64) -> i64:
    row: i64 = S.lines[L].row
    nk: i64 = S.tables[S.rows[row].table * 8 + T_KEYS]
    key: i64 = S.rows[row].key
    i: i64 = 0
    while i < nk:
        S.reg[1 + i] = S.keys[key + i]
        i += 1
    return nk + 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def meet(S: STATE, L: i64, i: i64) -> cython.void:
    """A point has come: say what follows from it and facts alone, and see which rules may wait."""
    g: i64 = S.lines[L].col * FIELDS
    load_driver(S, L, i)
    fired: i64 = (S.pool[S.lines[L].points + i + 1] >> RULES_AT) & ALL_RULES
    got: i64 = run_rules(S, S.cols[g + C_ENTRY], L, ALL_RULES, fired, 0, 1)
    state: i64 = S.pool[S.lines[L].points + i + 1]
    S.pool[S.lines[L].points + i + 1] = (state & 0x1FFFF) | ((fired | got) << RULES_AT)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def evaluate(S: STATE, L: i64, i: i64, mask: i64, level: i64) -> cython.void:
    """Rules of a level that the point at word i drives: what they say now, against before."""
    g: i64 = S.lines[L].col * FIELDS
    load_driver(S, L, i)
    state: i64 = S.pool[S.lines[L].points + i + 1]
    every: i64 = ALL_RULES
    fired: i64 = (state >> RULES_AT) & ~(every << PEND)
    S.pool[S.lines[L].points + i + 1] = state & ~(mask << (PEND + RULES_AT))
    S.nem = 0
    pc: i64 = S.args[S.cols[g + C_RULES] + 2 * level + 1]
    got: i64 = run_rules(S, pc, L, mask, fired, 0, 1)
    listed: i64 = S.cols[g + C_LISTED]
    lost: i64 = fired & mask & ~got & ~listed
    if lost != 0:
        run_rules(S, pc, L, lost, 0, 1, -1)
    # What it said may have woken it again.
    state = S.pool[S.lines[L].points + i + 1] & (0x1FFFF | (every << (PEND + RULES_AT)))
    S.pool[S.lines[L].points + i + 1] = state | (((fired & ~mask) | got) << RULES_AT)
    listed &= mask
    if listed != 0:
        say_again(S, L, i, listed)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def undo(S: STATE, L: i64, i: i64) -> cython.void:
    """Take back all that the rules of a point have said."""
    g: i64 = S.lines[L].col * FIELDS
    state: i64 = S.pool[S.lines[L].points + i + 1]
    fired: i64 = (state >> RULES_AT) & ALL_RULES & ~S.cols[g + C_LISTED]
    if fired != 0:
        load_driver(S, L, i)
        run_rules(S, S.cols[g + C_ENTRY], L, fired, 0, 1, -1)
        level: i64 = 0
        while level < S.nlevels:
            p: i64 = S.cols[g + C_RULES] + 2 * level
            if (S.args[p] & fired) != 0:
                run_rules(S, S.args[p + 1], L, S.args[p] & fired, 0, 1, -1)
            level += 1
    if S.cols[g + C_LISTED] != 0 and S.pool[S.lines[L].points + i + 2] != 0:
        S.nem = 0
        say_again(S, L, i, ALL_RULES)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def remove_point(S: STATE, L: i64, i: i64, stride: i64) -> cython.void:
    off: i64 = S.lines[L].points
    n: i64 = S.lines[L].np
    move(S, off + i, off + i + stride, n - i - stride)
    S.lines[L].np = n - stride


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def insert_event(S: STATE, L: i64, t: i64, args: WORDS) -> cython.void:
    """An item says that an event happened."""
    g: i64 = S.lines[L].col * FIELDS
    stride: i64 = S.cols[g + C_STRIDE]
    head: i64 = S.cols[g + C_HEAD]
    i: i64 = find_event(S, L, t, args, stride, head)
    if i >= 0:
        w: i64 = S.pool[S.lines[L].points + i + 1]
        S.pool[S.lines[L].points + i + 1] = w + 1
        if (w & 0xFFFF) == 0xFFFF:
            S.error = 3
        if (w & 0xFFFF) != 0:
            return
    else:
        i = put_event(S, L, t, args, stride, head, 1)
    if S.cols[g + C_CODE] != 0:
        meet(S, L, i)
    changed(S, L, ANY, t, t + 1)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def retract_event(S: STATE, L: i64, t: i64, args: WORDS) -> cython.void:
    """An item takes back that an event happened."""
    g: i64 = S.lines[L].col * FIELDS
    stride: i64 = S.cols[g + C_STRIDE]
    head: i64 = S.cols[g + C_HEAD]
    i: i64 = find_event(S, L, t, args, stride, head)
    if i < 0:
        S.unknown += 1
        return
    S.pool[S.lines[L].points + i + 1] -= 1
    if (S.pool[S.lines[L].points + i + 1] & 0xFFFF) == 0:
        undo(S, L, i)
        remove_point(S, L, i, stride)
        changed(S, L, ANY, t, t + 1)
