"""Codes H600 to H699: what a LARS text gets wrong; `CODES` has those of any text too."""

from __future__ import annotations

from horai.lang.core.codes import SYNTAX_CODES
from horai.lang.core.diagnostics import CodeInfo, Severity, table

_E = Severity.ERROR

LARS_CODES = table(
    CodeInfo(
        "H600",
        "Not a condition",
        _E,
        "A condition of a LARS rule is an atom, a comparison, or a formula made of them. A number, "
        "a variable or an aggregate alone says nothing that could be true or false.",
        "h :- 42.",
    ),
    CodeInfo(
        "H601",
        "Formula where a term belongs",
        _E,
        "Arguments are terms: constants, variables, numbers, expressions. A condition cannot be "
        "the argument of an atom.",
        "h :- b(not c).",
    ),
    CodeInfo(
        "H602",
        "Unknown unit of time",
        _E,
        "Windows are measured in ms, s (or sec), min, h and d, in time points without a unit, or "
        "in signals with `#`.",
        "h :- b [3 parsec].",
    ),
    CodeInfo(
        "H603",
        "Window that cannot be read",
        _E,
        "What stands between the brackets is no window. The message lists the forms there are.",
        "h :- b [3 s 4 s].",
    ),
    CodeInfo(
        "H604",
        "Window of an impossible size",
        _E,
        "Tuple windows hold at least one signal, and windows hop by a time above zero.",
        "h :- b [0 #].",
    ),
    CodeInfo(
        "H605",
        "Two modalities for one window",
        _E,
        "A window atom has one modality: `some`, `always` or a time, before the atom or after it.",
        "h :- always b at 3 [5 s].",
    ),
    CodeInfo(
        "H606",
        "Not a head",
        _E,
        "The head of a rule is an atom, an atom at a time, a formula made of them, or a choice. "
        "Comparisons belong into the body; a rule without a head is a constraint.",
        "X > 3 :- b(X).",
    ),
    CodeInfo(
        "H607",
        "Misplaced range",
        _E,
        "`value(1..9).` abbreviates nine facts. Elsewhere a range means nothing.",
        "h :- b(1..9).",
    ),
    CodeInfo(
        "H608",
        "Wrong choice",
        _E,
        "A choice is written `least { option ; option } most`; an option is an atom or an atom at "
        "a time, perhaps with a condition: `a(X) : b(X)`.",
        "{ a, b } :- c.",
    ),
    CodeInfo(
        "H609",
        "`always` without a window",
        _E,
        "Time has no last point, so `always` alone could never be settled. A window says which "
        "points are meant.",
        "h :- always b.",
    ),
    CodeInfo(
        "H610",
        "Variable in a filter",
        _E,
        "The patterns of `[only ...]` are the same for all values of the variables of a rule: they "
        "contain constants and `_`.",
        "h(X) :- b(X), [only c(X)] some c(X).",
    ),
    CodeInfo(
        "H611",
        "Rule of the Event Calculus",
        _E,
        "Files that end in `.lars` hold LARS programs. A rule about initiations, terminations or "
        "intervals of a fluent belongs into a file that ends in `.ec`.",
        "initiatedAt(rich(X)=true, T) :- win(X, T).",
    ),
)


CODES: dict[str, CodeInfo] = table(*SYNTAX_CODES.values(), *LARS_CODES.values())
