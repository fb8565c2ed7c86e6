"""Codes H400 to H499: cycles, and delayed effects that do nothing."""

from horai.lang.diagnostics import Severity
from horai.lang.report import CodeInfo, table

_E, _W = Severity.ERROR, Severity.WARNING

CYCLE_CODES = table(
    CodeInfo(
        "H400",
        "Statically determined fluent that depends on itself",
        _E,
        "Statically determined fluents are computed from whole interval lists, so none of them may "
        "need itself, directly or through others. The message shows the circle. Break it: often "
        "one of the fluents should be a simple fluent, whose rules only look back.",
        "holdsFor(a(X)=true, I) :- holdsFor(b(X)=true, I1), holdsFor(in(X)=true, I2),\n"
        "    union_all([I1, I2], I).\n"
        "holdsFor(b(X)=true, I) :- holdsFor(a(X)=true, I).\n"
        "collectIntervals(in(_)=true).\n",
    ),
    CodeInfo(
        "H401",
        "Background predicate that depends on its own negation",
        _E,
        "A background predicate is defined by the negation (or a collection) of something that "
        "in turn depends on it: then neither has a meaning. The message shows the circle. Define "
        "one of the predicates without the other.",
        "initiatedAt(on(X)=true, T) :- happensAt(go(X), T), win(X).\n"
        "win(X) :- move(X, Y), \\+ win(Y).\n"
        "move(a, b). move(b, a).\n",
    ),
    CodeInfo(
        "H402",
        "Cycle at one and the same time-point",
        _E,
        "What happens at a time-point depends, at that very point, on itself: through a negation, "
        "or through the start or end of a fluent. Rules may depend on each other in a circle as "
        "long as each round looks back in time. Read one of the fluents with `holdsAt`, which "
        "sees the value before, or use an earlier time-point.",
        "happensAt(call(X), T) :- happensAt(ring(X), T), \\+ happensAt(answer(X), T).\n"
        "happensAt(answer(X), T) :- happensAt(ring(X), T), \\+ happensAt(call(X), T).\n",
    ),
    CodeInfo(
        "H403",
        "Cycle that looks ahead",
        _E,
        "Fluents that depend on each other are settled in time order, so their rules may look at "
        "the present and the past only. This condition may look at a later time-point. Add the "
        "comparison that keeps it in the past, such as `T0 < T`.",
        "initiatedAt(a(X)=true, T) :- happensAt(go(X), T), holdsAt(b(X)=true, T0), T - T0 < 9.\n"
        "initiatedAt(b(X)=true, T) :- happensAt(go(X), T), holdsAt(a(X)=true, T).\n",
    ),
    CodeInfo(
        "H410",
        "Delayed effect that always comes too late",
        _W,
        "Another `fi` or `ft` of the same fluent-value pair has a shorter delay and ends it first, "
        "so this one never acts. Remove one of them, or give them conditions that exclude each "
        "other.",
        "initiatedAt(quote(X)=true, T) :- happensAt(present(X), T).\n"
        "fi(quote(X)=true, quote(X)=expiring, 5).\n"
        "fi(quote(X)=true, quote(X)=false, 9).\n",
    ),
    CodeInfo(
        "H411",
        "Delayed effect of something never initiated",
        _W,
        "A delayed effect starts to count when its fluent-value pair is initiated, but no rule "
        "initiates this one. Correct the value, or write the rule that initiates it.",
        "initiatedAt(quote(X)=true, T) :- happensAt(present(X), T).\n"
        "terminatedAt(quote(X)=true, T) :- happensAt(accept(X), T).\n"
        "holdsFor(quote(X)=open, I) :- holdsFor(quote(X)=true, I).\n"
        "fi(quote(X)=open, quote(X)=false, 9).\n",
    ),
    CodeInfo(
        "H412",
        "Delayed effect on itself",
        _W,
        "An `fi` initiates after the delay the very value that holds already, which changes "
        "nothing. Name the value that follows.",
        "initiatedAt(quote(X)=true, T) :- happensAt(present(X), T).\n"
        "fi(quote(X)=true, quote(X)=true, 5).\n",
    ),
    CodeInfo(
        "H413",
        "Nothing to postpone",
        _W,
        "`p(F=V)` says that a new initiation of F=V postpones its delayed effect, but F=V has no "
        "`fi` and no `ft`. Correct the fluent or value, or remove the line.",
        "initiatedAt(quote(X)=true, T) :- happensAt(present(X), T).\n"
        "fi(quote(X)=true, quote(X)=expired, 5).\n"
        "p(quote(_)=expired).\n",
    ),
    CodeInfo(
        "H414",
        "Several times without a meaning in a delayed effect",
        _E,
        "In the conditions of an `fi` or `ft`, the one time variable that nothing binds stands "
        "for the time of initiation. Here are several of them. Use one, and compute others from "
        "it, as in `T2 is T + R`.",
        "initiatedAt(quote(X)=true, T) :- happensAt(present(X), T).\n"
        "initiatedAt(open(X)=true, T) :- happensAt(unlock(X), T).\n"
        "fi(quote(X)=true, quote(X)=expired, 5) :-\n"
        "    holdsAt(open(X)=true, T1), holdsAt(quote(X)=true, T2).\n",
    ),
    CodeInfo(
        "H415",
        "Delayed effects that cancel each other",
        _W,
        "Two `fi` of the same fluent-value pair have the same delay and different targets. Both "
        "values are then initiated at one point, and cancel each other. Give them different "
        "delays, or conditions that exclude each other.",
        "initiatedAt(quote(X)=true, T) :- happensAt(present(X), T).\n"
        "fi(quote(X)=true, quote(X)=expiring, 5).\n"
        "fi(quote(X)=true, quote(X)=false, 5).\n",
    ),
    CodeInfo(
        "H416",
        "Delay of no length",
        _W,
        "The delay of an `fi` or `ft` comes from background knowledge, and what is given there is "
        "zero, negative or no whole number. The delayed effect does nothing for these. Correct the "
        "fact; if it is meant, say so in the body, as in `R > 0`.",
        "initiatedAt(quote(X)=true, T) :- happensAt(present(X), T).\n"
        "fi(quote(X)=true, quote(X)=expired, R) :- validity(X, R).\n"
        "validity(ann, 5).\n"
        "validity(bob, 0).\n",
    ),
)
