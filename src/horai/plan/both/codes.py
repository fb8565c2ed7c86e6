"""Codes H900 to H999: a description and a program that do not fit together.

Each example holds both: the description, a line `% program.lars`, and the program.
"""

from __future__ import annotations

from horai.lang.diagnostics import Severity
from horai.lang.report import CodeInfo, table

_E, _W = Severity.ERROR, Severity.WARNING
BORDER = "% program.lars\n"
"""Parts the description of an example from its program."""

CODES = table(
    CodeInfo(
        "H900",
        "Name that both languages define",
        _E,
        "An event or fluent of the description and a predicate of the program have one name and as "
        "many arguments, and both have rules or facts. Only one of them can say what it means.",
        "happensAt(hot(X), T) :- happensAt(heat(X), T).\n"
        "initiatedAt(on(X)=true, T) :- happensAt(warm(X), T).\n"
        f"{BORDER}hot(X) :- heat(X) [5].\nwarm(X) :- always heat(X) [5].\n",
    ),
    CodeInfo(
        "H901",
        "Cycle through both languages",
        _E,
        "The description needs an answer of the program, which needs an answer of the description, "
        "and so on. What passes between the languages must have an order.",
        "initiatedAt(on(X)=true, T) :- happensAt(hot(X), T).\n"
        f"{BORDER}hot(X) :- heat(X) [5], not on(X).\n",
    ),
    CodeInfo(
        "H902",
        "Languages that do not meet",
        _W,
        "The description reads nothing that the program derives, nor the other way round. Both run "
        "side by side over the same stream. Perhaps a name is misspelt.",
        f"initiatedAt(on(X)=true, T) :- happensAt(up(X), T).\n{BORDER}hot(X) :- heat(X) [5].\n",
    ),
    CodeInfo(
        "H903",
        "Other number of arguments in the other language",
        _W,
        "One language reads a name that the other one derives with another number of arguments, so "
        "that nothing passes. A fluent has its own arguments, or these and its value.",
        "initiatedAt(on(X)=true, T) :- happensAt(hot(X), T).\n"
        "initiatedAt(off(X)=true, T) :- happensAt(cold(X), T).\n"
        f"{BORDER}hot(X, N) :- heat(X, N) [5].\n"
        "cold(X) :- room(X), not heat(X, 1) [5].\nroom(r).\n",
    ),
    CodeInfo(
        "H904",
        "Fluent without its value",
        _W,
        "The atom of a fluent without its value asks for the value `true`, which this fluent never "
        "has. Add an argument for the value.",
        "initiatedAt(light(X)=green, T) :- happensAt(go(X), T).\n"
        "initiatedAt(light(X)=red, T) :- happensAt(stop(X), T).\n"
        f"{BORDER}wait(X) :- always light(X) [5].\n",
    ),
    CodeInfo(
        "H905",
        "Window without a clock",
        _E,
        "A window is measured in seconds, and nothing says how long a time point is: time points "
        "of a description have no length of their own. Give `--clock` or `--unit`, or measure the "
        "window in time points.",
        f"initiatedAt(on(X)=true, T) :- happensAt(hot(X), T).\n{BORDER}hot(X) :- heat(X) [5 s].\n",
    ),
)
