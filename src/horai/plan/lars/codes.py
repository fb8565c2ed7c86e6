"""Codes H700 to H799: what a readable LARS program gets wrong.

Each example is a complete program that triggers its code with a clock of 2 s.
"""

from __future__ import annotations

from horai.lang.core.diagnostics import CodeInfo, Severity, table

_E, _W = Severity.ERROR, Severity.WARNING

CODES = table(
    CodeInfo(
        "H700",
        "Head variable without a value",
        _E,
        "A variable of the head must occur in a condition that gives it values: an atom that is "
        "not under `not`, or an equation. Otherwise it is unknown for what the head holds.",
        "h(X, Z) :- g(X, Y), b(X) [4 s].",
    ),
    CodeInfo(
        "H701",
        "Unsafe variable",
        _E,
        "Negations, comparisons and expressions only test; they never find values. Every variable "
        "in them must get its values from another condition.",
        "h :- g(X), not c(Z).",
    ),
    CodeInfo(
        "H702",
        "Aggregate over a variable without a value",
        _E,
        "The terms of an aggregate need values, from the condition behind the colon or from the "
        "rest of the rule.",
        "h :- count { X : b(Y) } > 3.",
    ),
    CodeInfo(
        "H703",
        "Window that does not fit the clock",
        _E,
        "A time point is as long as the clock says, so the size of every time window must be a "
        "multiple of it.",
        "h :- b [3 s].",
    ),
    CodeInfo(
        "H704",
        "Odd loop",
        _W,
        "A predicate depends on its own negation. If that is so for the same arguments, there is "
        "no answer where the rule applies: what would follow would not follow. This is one way to "
        "write a constraint; `:- body.` says it better.",
        "h :- b, not h.",
    ),
    CodeInfo(
        "H705",
        "Background in a window",
        _W,
        "A predicate that plain facts alone define is background knowledge. It holds at all times "
        "and in all windows.",
        "g(1).\nh(X) :- g(X) [4 s].",
    ),
    CodeInfo(
        "H706",
        "Derived predicate in a tuple window",
        _W,
        "Tuple windows count signals and contain nothing else. What rules derive is not in them, "
        "so the condition can hold only if signals of the same name arrive.",
        "b :- a.\nh :- b [2 #].",
    ),
    CodeInfo(
        "H707",
        "Other number of arguments",
        _W,
        "Predicates with the same name and different numbers of arguments are different "
        "predicates. The one that no rule defines is taken for a signal, and signals of one name "
        "hardly ever come with several numbers of arguments.",
        "b(X) :- a(X).\nh :- b [4 s].",
    ),
    CodeInfo(
        "H708",
        "Name close to another",
        _W,
        "No rule and no fact defines the predicate, so it must come with the stream. Its name is "
        "nearly that of a predicate which is defined.",
        "moving(X) :- speed(X, V) [4 s], V > 0.\nh(X) :- mowing(X).",
    ),
    CodeInfo(
        "H709",
        "Hop longer than the window",
        _W,
        "A window that moves by more than its own length jumps over time points: what happens "
        "there is in no window. The papers ask for hops that are at most as long as the window.",
        "h :- b [4 s hop 6 s].",
    ),
    CodeInfo(
        "H710",
        "Signal with the name of a relation",
        _W,
        "Programs for Ticker write `leq(X, Y)` for `X <= Y`, and such atoms are read so. "
        "Here the same name is also asked for in a window or at a time, which makes sense for "
        "signals only, so it is a signal everywhere.",
        "h(X) :- b(X, Y), leq(X, Y).\nc(X) :- leq(X, 3) [4 s].",
    ),
)
