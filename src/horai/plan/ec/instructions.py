"""The numbers that lowered rules and the compiled engine share.

An instruction has `WIDTH` words: its opcode, four operands and where to go on if it fails. The
machine's declarations are made from this file when it is built.
"""

from __future__ import annotations

WIDTH = 6
GHOST = -8
"""In the place of a value: one outside its domain, which holds nowhere and breaks the others."""
INF = 1 << 62
"""The end of what is open, as everywhere in the engine."""
ANY = -4
"""In the place of a value: all of them. It is the word of no term."""

TOTALS = ("other", "count", "sum", "max", "min")
"""What the engine makes of gathered solutions by itself, by number."""

# --- instructions -------------------------------------------------------------------------------
# Registers hold words; r, s are registers, n numbers, p places in the lists of arguments.
CODES = (
    "END",
    "RULE",  # bit, listed: the rule after it is number `bit`; failing goes to the next one
    "WAIT",  # bit, level, rules of the level: the conditions on facts of rule `bit` are met
    "TRUE",  # undoing, conditions on what changes count as true: go on after them
    "MARK",  # n, runs, rows: what follows is work of rule n; or, if `rows`, it says one more
    "JMP",
    "JMPR",  # r: go where the register says
    "LDC",  # r, word
    "MOV",  # r, s
    "EQ",  # r, s
    "EQC",  # r, word
    "NE",  # r, s
    "NEC",  # r, word
    "ADD",  # r, s, t: r = s + t
    "SUB",
    "MUL",
    "DIV",
    "IDIV",
    "MOD",
    "MIN",
    "MAX",
    "NEG",  # r, s
    "ABS",
    "FUN",  # r, s, function: r = function(s)
    "CLT",  # r, s: numbers compared
    "CLE",
    "CEQ",
    "CNE",
    "FACT",  # p, index: the only row of the relation with these keys
    "FOPEN",  # r, p, index: all rows; r and the one after it are the iterator
    "FNEXT",  # r, p, index
    "OWN",  # r, n: the line n columns from the first of the row of the driver
    "LINE",  # r, p, table * 4096 + column, site: the line of an instance, made if there is none
    "HAS",  # p, table: is there such an instance?
    "MOPEN",  # r, p, index, site: all instances with some keys
    "MNEXT",  # r, p, table: its other keys; r + 2 is its first line
    "SHIFT",  # r, s, n: the line n after another
    "HOLDS",  # r, s, t: does line r have the value in s at time t? (line: also ~n, as in OWN)
    "VALUE",  # r, s, t: the value of line r at time t, into s
    "POPEN",  # r, line, p (from, to): the points of an event line from time to time
    "PNEXT",  # r, p, checks
    "COVERS",  # r, s: is what r ends, a value, all of them or those of a form, the value in s?
    "VOPEN",  # r, line, s: the values of a line that what s ends covers
    "VNEXT",  # r, s, t: the next one into t
    "WOPEN",  # r, line: the time-points at which a line has a value
    "WNEXT",  # r, s, t: the next one into s, the value into t
    "NOW",  # r: the query time
    "INT",  # r: is it a whole number?
    "SAY",  # line, value (or -1 for all), time, shift: a point of a fluent
    "AFTER",  # r, s: is time r, a whole number, after time s and after the start of the run?
    "TELL",  # line, time, r: an event, and its argument if it has one
    "INTERVAL",  # line, r, s: an interval of a list from r to s, a time or ANY for one that is open
    "LISTOF",  # r, p, s: the intervals with the value in s of some lines as a term; ANY is all
    "MAKE",  # p, table: an instance
    "REF",  # n, r: the line in r is the n-th that the lists of this row look at
    "BAR",  # n: column n of this row is outside its domain
    "ALLOW",  # n: it is inside
    "WAKE",  # n: list n of this row must be looked at
    "FEED",  # n, r, site: the spans of line n of this row count in the line in r
    "GROUP",  # r: gather solutions from here on
    "ADDTO",  # -, p: one more, then look for others
    "TOTAL",  # r, p, number, s: what they are together, into s
    "PCALL",  # r, code, p: all answers of a procedure; r is the iterator
    "GIVE",  # p: one more answer of the procedure in work, then look for others
    "ANSWER",  # r, p
    "CALL",  # r, p, number: all solutions of what only Python can do; r is the iterator
    "CNEXT",  # r, p, number
    "MEMBERS",  # r: how often the members of dynamic domains have changed
)
# --- columns ------------------------------------------------------------------------------------
FIELDS_OF_COLUMNS = (
    "C_KIND",
    "C_TABLE",
    "C_PLACE",  # in its row
    "C_LEVEL",
    "C_STRIDE",  # words of a point
    "C_HEAD",  # words of a point before its arguments
    "C_ASKS",  # do the rules that it drives ask Python?
    "C_CODE",  # the rules that it drives, as bits
    "C_ENTRY",  # the program that runs when a point comes
    "C_READERS",  # static ones: place in the lists
    "C_EDGES",  # programs of starts and ends: place in the lists
    "C_STARTS",  # the column of its starts as events, how far away; 0 for none
    "C_ENDS",
    "C_STARTIS",  # the same of the first points, and of those after the last
    "C_ENDIS",
    "C_HELD",  # of the time-points at which it holds
    "C_HOLDER",  # of those: how far it is back to the fluent
    "C_KNOWN",  # of an event at the start of the run if anything is known of it
    "C_INITS",
    "C_TERMS",
    "C_DELAYS",  # how many deadlines, and (delay, source, target or ANY, restart)...
    "C_LIST",  # operands and what becomes of them: place in the lists
    "C_LEAST",  # bound of a duration, or which word of the key is the bound
    "C_COMPARE",  # how it is compared: 0 >, 1 >=, 2 <, 3 =<; flags, see below
    "C_INPUT",  # the value of an input fluent, ANY if it is the last word of the key
    "C_FEEDS",  # 1 if its spans may count in other lines
    "C_VALUES",  # the table with a row for each value it has had; 0 for none
    "C_OUT",  # 1 if answers show it
    "C_LISTED",  # the rules that remember what they said
    "C_MEMBERS",  # 1 if it says who belongs to a dynamic domain
    "C_RULES",  # (rules, their program) of each level: place in the lists
)
FUNCTIONS = ("floor", "ceiling", "truncate", "round", "integer", "sqrt", "float")
KINDS = (
    *("NONE", "EVENT", "SIMPLE", "LIST", "FILTER", "INPUT", "BUCKET", "COVER", "KNOWN", "ALLEN"),
    "STATED",  # intervals that rules state one by one
)
RELATIONS = ("before", "meets", "starts", "finishes", "during", "overlaps", "equal")
MODES = (
    "source",
    "target",
    "union",
    "intersection",
    "relative_complement",
    "relative_complement_inverse",
)
BOUND_IN_KEY, OPEN_NEVER = 8, 16
"""Flags of a duration: its bound is a word of the key; what is open does not pass."""
OWN_LINE, OTHER_LINE, VALUE_IN_KEY, NEEDED = 1, 2, 4, 8
"""How a list finds an operand: so far away in its row, or the n-th word after its key; flags.

An own line is needed if the list is empty wherever it is.
"""
TO_LISTS, TO_COVER, TO_KNOWN, TO_ROW = 1, 2, 3, 4
"""What a line tells who looks at it: regions to lists, spans to count, that there is a span;
and a row asks again whether it is in its domain."""
# Tables: words of a table.
TABLES = ("T_KEYS", "T_COLUMNS", "T_FIRST", "T_CODE", "T_REFS", "T_INDEXES", "T_BUCKET", "T_HOME")
# Readings of other lines: words of a site.
SITES = ("S_LISTS", "S_COLUMN", "S_VALUE", "S_LEVEL", "S_MASK", "S_LOW", "S_HIGH", "S_SHIFT")

CODE = {name: number for number, name in enumerate(CODES)}
FIELD = {name: number for number, name in enumerate(FIELDS_OF_COLUMNS)}
KIND = {name: number for number, name in enumerate(KINDS)}
TABLE = {name: number for number, name in enumerate(TABLES)}
SITE = {name: number for number, name in enumerate(SITES)}

INITIATED, TERMINATED = 32, 0
"""Shifts of the counts of derivations in a point of a fluent."""
EVENT_SAID, SPAN_SAID = 1, 2
"""What a rule may say beside these: an event, an interval of a list."""
# What a deadline did is marked in its point: it began the value, or ended it.
BEGUN, ENDED = 1 << 62, 1 << 31
EFFECTS = BEGUN | ENDED
SAID_BEGINS, SAID_ENDS = 0x3FFFFFFF << INITIATED, 0x3FFFFFFF
SAID = SAID_BEGINS | SAID_ENDS
BEGINNING, ENDING = SAID_BEGINS | BEGUN, SAID_ENDS | ENDED
FIELDS = len(FIELDS_OF_COLUMNS)
# The state of a point of an event: 16 bits that count, whether it is fresh, and a bit for each rule
# that fired, for each that waits, and for each whose conditions on facts are met.
FRESH = 1 << 16
RULES_AT = 17
PEND = 15
MET = 2 * PEND
CHAINED = 1 << RULES_AT + 3 * PEND  # when it is evaluated, the next point must be, too
ALL_RULES = (1 << PEND) - 1
REGISTERS = 4096
"""Those after them hold the constants of the program."""
FORM, FORMS = 3, -1
"""The kind of a term that stands for all values of its form; the question whether one is of it."""
LARGEST = 1 << 61
EXACT = 1 << 53
"""Whole numbers below it are the only ones that come to their doubles."""
BEYOND = 2
"""Failed: a number is a whole one beyond the largest. It is the kind of such terms, too."""
DEEPEST, CALLS = 200, 100000
"""Calls of procedures inside of each other, and inside of one call (`lang/endless.py`)."""
ROUNDS = 1000
"""So often, for each line, a cycle may ask about the same time: what takes longer never ends."""
LETTERS = ("NEW_ROW", "NEW_POINT", "NEW_EVENT", "NEW_COUNT", "TOLD_SPANS", "TOLD_POINTS")
"""What machines tell each other that share the rows of a program."""
NAMED = 40
"""Where there are several, answers name a line by its number and, from this bit on, its machine."""
TO_TELL, HEARS = 1, 2
"""Of a row of another machine: this has to be told something, it is told of all changes."""
BARRED = 128
"""With the size class of the spans of a line: it is outside its domain."""
