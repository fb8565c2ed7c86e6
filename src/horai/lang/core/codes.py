"""Codes H001 to H099: what the text itself gets wrong."""

from __future__ import annotations

from horai.lang.core.diagnostics import CodeInfo, Severity, table

_E = Severity.ERROR
_W = Severity.WARNING

SYNTAX_CODES = table(
    CodeInfo(
        "H001",
        "Unreadable clause",
        _E,
        "The text does not follow the grammar, and no usual mistake explains it. The message "
        "says what could have come instead.",
        "p(X) :- X = \\+ q.",
    ),
    CodeInfo(
        "H002",
        "Full stop missing",
        _E,
        "Every clause ends with a full stop and a blank or the end of a line. The reader notices "
        "when the next clause starts, goes on there, and reads both.",
        "person(chris)\nplace(pub).",
    ),
    CodeInfo(
        "H003",
        "Bracket never closed",
        _E,
        "A `(`, `[` or `{` has no partner before the clause ends.",
        "initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X), T.",
    ),
    CodeInfo(
        "H004",
        "Bracket closes nothing",
        _E,
        "A closing bracket has no opening one, or one of another kind.",
        "initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X)), T).",
    ),
    CodeInfo(
        "H005",
        "Comma missing",
        _E,
        "Two conditions or two arguments stand side by side without a comma between them.",
        "terminatedAt(happy(X)=true, T) :-\n"
        "    happensAt(lose_wallet(X), T)\n"
        "    not holdsAt(location(X)=pub, T).",
    ),
    CodeInfo(
        "H006",
        "Head and body joined by the wrong sign",
        _E,
        "A rule is written `head :- conditions.`, with nothing else between head and body.",
        "initiatedAt(rich(X)=true, T) <- happensAt(win_lottery(X), T).",
    ),
    CodeInfo(
        "H007",
        "Sign of another language",
        _E,
        "The sign is not part of the rule language; the message names the one to use.",
        "different(X, Y) :- item(X), item(Y), X != Y.",
    ),
    CodeInfo(
        "H008",
        "Quote never closed",
        _E,
        "A quoted atom or string must end on the line on which it starts.",
        "place('New York).\nplace(home).",
    ),
    CodeInfo(
        "H009",
        "Block comment not closed",
        _E,
        "A comment `/*` runs to the end of the file, or a `*/` has no beginning.",
        "place(home).\n/* the other places\nplace(work).",
    ),
    CodeInfo(
        "H010",
        "Empty body",
        _E,
        "After `:-` at least one condition must come. A fact has no `:-`.",
        "initially(rich(chris)=true) :- .",
    ),
    CodeInfo(
        "H011",
        "Comma before the full stop",
        _E,
        "After a comma another condition must come.",
        "initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X), T),.",
    ),
    CodeInfo(
        "H012",
        "Predicate with a capital letter",
        _E,
        "A word that starts with a capital letter is a variable. Predicates, events and fluents "
        "start with a small letter.",
        "initiatedAt(rich(X)=true, T) :- HappensAt(win_lottery(X), T).",
    ),
    CodeInfo(
        "H013",
        "Misplaced full stop",
        _E,
        "A full stop ends a clause only when a blank, a comment or the end of the line follows.",
        "person(chris)..",
    ),
    CodeInfo(
        "H014",
        "Stray character",
        _E,
        "The character has no meaning outside quotes and comments.",
        "person(‘Chris’).",
    ),
    CodeInfo(
        "H015",
        "Not UTF-8",
        _E,
        "Rule files are read as UTF-8. (The example shows it when it is saved as Latin-1.)",
        "place(café).",
    ),
    CodeInfo(
        "H016",
        "Chained comparison",
        _E,
        "`a < b < c` has no meaning; write two conditions.",
        "small(X) :- size(X, S), 0 < S < 10.",
    ),
    CodeInfo(
        "H017",
        "Nested too deeply",
        _E,
        "Terms may be nested 100 deep, and a body may have 200 conditions.",
        f"p({'f(' * 120}a{')' * 120}).",
    ),
    CodeInfo(
        "H018",
        "Number out of range",
        _E,
        "Whole numbers have 64 bits; decimals must be finite.",
        "limit(99999999999999999999).",
    ),
    CodeInfo(
        "H019",
        "Unknown escape",
        _E,
        "A backslash inside quotes starts an escape. Write `\\\\` for the backslash itself.",
        "file('c:\\data').",
    ),
    CodeInfo(
        "H020",
        "Blank before the arguments",
        _E,
        "A name and its `(` are written without a blank between them.",
        "grounding (go_to(P, L)) :- person(P), place(L).",
    ),
    CodeInfo(
        "H021",
        "Two rules in one clause",
        _E,
        "`:-` occurs once in a clause, outside all brackets.",
        "p(X) :- q(X) :- r(X).",
    ),
    CodeInfo(
        "H022",
        "Something missing beside a comma or in brackets",
        _E,
        "Two commas in a row, a comma next to a bracket, or brackets with nothing inside.",
        "place(home,,pub).",
    ),
    CodeInfo(
        "H023",
        "Name starts with a digit",
        _E,
        "Names start with a small letter; anything else needs quotes.",
        "vessel(4ca1fa).",
    ),
    CodeInfo(
        "H024",
        "Operand missing",
        _E,
        "An operator lacks what it applies to.",
        "fast(X) :- speed(X, S), S > .",
    ),
    CodeInfo(
        "H025",
        "Program start in a rules file",
        _E,
        "`:- initialization(...)` runs a program of another system.",
        ":- initialization(main).",
    ),
    CodeInfo(
        "H026",
        "Unknown directive",
        _W,
        "The directive is passed over.",
        ":- garbage_collect.",
    ),
    CodeInfo(
        "H027",
        "File that is not loaded",
        _W,
        "A file may ask for others with `:- ['areas.prolog'].`, by a path from its own folder. "
        "This one is not there, or the rules are no file themselves. The directive is passed over.",
        ":- ['background.prolog'].",
    ),
    CodeInfo(
        "H028",
        "File cannot be read",
        _E,
        "The file does not exist, is a directory, or may not be read.",
        "",
    ),
)
