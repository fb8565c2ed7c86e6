"""Codes H100 to H199: clauses that read well and yet are no rule. `CODES` has all of a text."""

from __future__ import annotations

from horai.lang.core.codes import SYNTAX_CODES
from horai.lang.core.diagnostics import CodeInfo, Severity, table

_E = Severity.ERROR
_W = Severity.WARNING

SHAPE_CODES = table(
    CodeInfo(
        "H100",
        "Not a head",
        _E,
        "The head of a clause is a name with or without arguments: no number, variable, list or "
        "expression.",
        "42 :- happensAt(up, T).",
    ),
    CodeInfo(
        "H101",
        "Unknown head",
        _E,
        "The head looks like a misspelt head of the language: its name is close to one, or it has "
        "a fluent-value pair as argument, and no body asks for it.",
        "intiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X), T).",
    ),
    CodeInfo(
        "H102",
        "Wrong number of arguments in a head",
        _E,
        "A head of the language has a fixed number of arguments.",
        "initiatedAt(rich(X)=true) :- happensAt(win_lottery(X), T).",
    ),
    CodeInfo(
        "H103",
        "Fluent without a value",
        _E,
        "Fluents always come with a value: `rich(X)=true`, `location(X)=pub`.",
        "initiatedAt(rich(X), T) :- happensAt(win_lottery(X), T).",
    ),
    CodeInfo(
        "H104",
        "Fluent without a name",
        _E,
        "The left side of F=V must be a name, with or without arguments.",
        "initiatedAt(F=true, T) :- happensAt(switch(F), T).",
    ),
    CodeInfo(
        "H105",
        "Not a time",
        _E,
        "A time is a variable or a whole number. Compute other times first: `T0 is T-5`.",
        "initiatedAt(warm=true, T) :- happensAt(sun, T), holdsAt(clear=true, T-5).",
    ),
    CodeInfo(
        "H106",
        "Not a delay",
        _E,
        "The delay of `fi` and `ft` is a whole number above zero, or a variable to which the body "
        "gives such a value.",
        "fi(light=red, light=green, 0).",
    ),
    CodeInfo(
        "H107",
        "start or end without a fluent",
        _E,
        "`start(F=V)` and `end(F=V)` mark the ends of the intervals of a fluent-value pair.",
        "initiatedAt(alarm=true, T) :- happensAt(start(fire), T).",
    ),
    CodeInfo(
        "H108",
        "Body missing",
        _E,
        "Without conditions the rule would say that something is true at every time.",
        "initiatedAt(rich(chris)=true, T).",
    ),
    CodeInfo(
        "H109",
        "Not an event",
        _E,
        "`happensAt` is about events: names with or without arguments, no fluents with values.",
        "initiatedAt(happy(X)=true, T) :- happensAt(rich(X)=true, T).",
    ),
    CodeInfo(
        "H110",
        "Unknown Allen relation or mode",
        _E,
        "The mode says which part of the matching intervals is returned: source, target, union, "
        "intersection, relative_complement or relative_complement_inverse.",
        "holdsFor(both=true, I) :- holdsFor(a=true, A), holdsFor(b=true, B), "
        "meets(A, B, inersection, I).",
    ),
    CodeInfo(
        "H111",
        "Unknown condition",
        _E,
        "The predicate is defined nowhere, and its name is close to one of the language.",
        "initiatedAt(rich(X)=true, T) :- happenAt(win_lottery(X), T).",
    ),
    CodeInfo(
        "H112",
        "Wrong number of arguments in a condition",
        _E,
        "A condition of the language has a fixed number of arguments.",
        "initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X)).",
    ),
    CodeInfo(
        "H113",
        "Changing the program",
        _E,
        "assert, retract and their kin change a Prolog program while it runs. Rules say what is "
        "true, whatever the order of evaluation; derive such facts with rules or send them as "
        "items of the stream.",
        "initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X), T), assertz(winner(X)).",
    ),
    CodeInfo(
        "H114",
        "Cut",
        _E,
        "The order of rules and conditions carries no meaning, so there is nothing to cut.",
        "initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X), T), !.",
    ),
    CodeInfo(
        "H115",
        "Output in a rule",
        _E,
        "Rules do not print. The answers, and why they hold, are shown by the tools.",
        "initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X), T), write(X).",
    ),
    CodeInfo(
        "H116",
        "Private predicate of another engine",
        _E,
        "Compiled event descriptions and engine code use predicates such as "
        "`holdsAtProcessedSimpleFluent`. Use the event description they were made from.",
        "initiatedAt(rich(X)=true, T) :- happensAtProcessedIE(X, win_lottery(X), T).",
    ),
    CodeInfo(
        "H117",
        "Unknown aggregate",
        _E,
        "aggregate_all knows count, sum(X), max(X), min(X), max(X, W), min(X, W), bag(X), set(X).",
        "busy(N) :- aggregate_all(avg(X), load(X), N).",
    ),
    CodeInfo(
        "H118",
        "Not a condition",
        _E,
        "A condition is a predicate, a comparison or an assignment with `is`; numbers, variables "
        "and expressions are not.",
        "initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X), T), 7.",
    ),
    CodeInfo(
        "H119",
        "Part of Prolog that is missing",
        _E,
        "The rule language has no such control construct.",
        "initiatedAt(rich(X)=true, T) :- happensAt(win(X), T), once(person(X)).\nperson(chris).",
    ),
    CodeInfo(
        "H120",
        "Not an interval list",
        _E,
        "Interval operations work on variables that holdsFor filled, in lists where the operation "
        "takes several.",
        "holdsFor(happy=true, I) :- holdsFor(rich=true, I1), union_all(I1 + I1, I).",
    ),
    CodeInfo(
        "H121",
        "Odd declaration",
        _E,
        "The declaration does not have the form it needs.",
        "dynamicDomain(person).",
    ),
    CodeInfo(
        "H122",
        "Built-in defined again",
        _W,
        "The predicate is part of the language; the definition in the file is not used.",
        "member(X, [X | _]).\nmember(X, [_ | L]) :- member(X, L).",
    ),
    CodeInfo(
        "H123",
        "Cut passed over",
        _W,
        "A cut in the only rule of a statically determined fluent saves work in other engines and "
        "changes nothing here.",
        "holdsFor(calm=true, I) :- holdsFor(still=true, I1), \\+ I1=[], !, union_all([I1], I).\n"
        "holdsFor(calm=true, []).",
    ),
    CodeInfo(
        "H124",
        "Helper of another engine passed over",
        _W,
        "The predicate stores facts, calls private predicates of another engine or steers a Prolog "
        "program. No rule uses it, so it is left out; where rules do use such a predicate, it is "
        "an error. What another engine computes this way can be sent as items of the stream.",
        "initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X), T).\n"
        "updateSDE(0, 50) :- assert(happensAtIE(win_lottery(chris), 9)).",
    ),
)


CODES: dict[str, CodeInfo] = table(*SYNTAX_CODES.values(), *SHAPE_CODES.values())
