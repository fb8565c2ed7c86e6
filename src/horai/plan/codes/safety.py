"""Codes H300 to H399: variables that nothing gives a value to."""

from horai.lang.diagnostics import Severity
from horai.lang.report import CodeInfo, table

_E, _W = Severity.ERROR, Severity.WARNING

SAFETY_CODES = table(
    CodeInfo(
        "H300",
        "Head variable without a value",
        _E,
        "A variable of the head occurs in no condition that gives it a value, so it is unknown "
        "for whom the head becomes true. Add such a condition, or list the possible values with "
        "`grounding(...)`.",
        "initiatedAt(rich(X)=true, T) :- happensAt(crash, T).\n",
    ),
    CodeInfo(
        "H301",
        "Time of the head is not in the body",
        _E,
        "The time of the head occurs in no condition. Mostly two names are used for one time: use "
        "the same variable in the head and in the conditions.",
        "initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X), Time).\n",
    ),
    CodeInfo(
        "H302",
        "Unsafe negation",
        _E,
        "A negated condition shares a variable with the rest of the rule, but nothing gives it a "
        "value. A negation only tests; it never finds values. Add a condition that binds the "
        "variable; a variable that should stand for 'any' must not occur elsewhere in the rule.",
        "initiatedAt(poor(X)=true, T) :- happensAt(crash, T), \\+ holdsAt(rich(X)=true, T).\n"
        "initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X), T).\n",
    ),
    CodeInfo(
        "H303",
        "Comparison or arithmetic without a value",
        _E,
        "A comparison or an arithmetic expression uses a variable that no other condition gives "
        "a value to. Add the condition that binds it, or correct the name.",
        "initiatedAt(fast(X)=true, T) :- happensAt(speed(X, S), T), S > Limit.\n",
    ),
    CodeInfo(
        "H304",
        "Interval variable without a value",
        _E,
        "An interval operation, duration filter or Allen relation reads a list of intervals that "
        "no condition produces. Get it with `holdsFor`, or correct the name.",
        "holdsFor(happy(X)=true, I) :- holdsFor(rich(X)=true, I1), union_all([I1, I2], I).\n"
        "initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X), T).\n",
    ),
    CodeInfo(
        "H305",
        "Intervals of the head are never produced",
        _E,
        "The interval variable in a `holdsFor` head is the result of no condition. Let the last "
        "interval operation produce it.",
        "holdsFor(happy(X)=true, I) :- holdsFor(rich(X)=true, I1).\n"
        "initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X), T).\n",
    ),
    CodeInfo(
        "H306",
        "Same name in separate negations",
        _W,
        "A variable occurs in several negations and nowhere else. Each negation then has one "
        "of its own, although the name is the same. If one thing is meant, bind the variable by "
        "another condition; if not, use different names or names that start with `_`.",
        "initiatedAt(alone(X)=true, T) :- happensAt(arrive(X), T),\n"
        "    \\+ happensAt(greet(X, Y), T), \\+ happensAt(call(X, Y), T).\n",
    ),
    CodeInfo(
        "H307",
        "Condition that a holdsAt head cannot have",
        _E,
        "A rule with a `holdsAt` head is a Boolean formula over what holds at the same time: "
        "`holdsAt`, `\\+`, `;` and conditions without time. Events and interval lists cannot occur "
        "in it. Use `initiatedAt` for effects of events and `holdsFor` for interval operations.",
        "holdsAt(happy(X)=true, T) :- happensAt(win_lottery(X), T).\n",
    ),
    CodeInfo(
        "H308",
        "Delay without a value",
        _E,
        "The delay of an `fi` or `ft` is a variable that its conditions give no value. Write a "
        "number, or add the condition that finds the delay.",
        "initiatedAt(quote(X)=true, T) :- happensAt(present(X), T).\n"
        "fi(quote(X)=true, quote(X)=expired, R) :- ( vip(X), R is 9 ; \\+ vip(X) ).\n"
        "vip(alex).\n",
    ),
    CodeInfo(
        "H309",
        "Variable that occurs once",
        _W,
        "A named variable occurs only once in its clause, so it restricts nothing. Often that is a "
        "mistyped name. If it is meant, write `_` or let the name start with `_`.",
        "initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X, Amount), T).\n",
    ),
    CodeInfo(
        "H310",
        "Time found only by what holds",
        _W,
        "No event gives the time of this condition: the rule fires at every single point at which "
        "the fluent holds. That is legal and slow. Mostly an event is missing, such as "
        "`happensAt(start(F=V), T)`; for 'whenever', write a `holdsFor` or `holdsAt` rule.",
        "initiatedAt(happy(X)=true, T) :- holdsAt(rich(X)=true, T).\n"
        "initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X), T).\n",
    ),
    CodeInfo(
        "H311",
        "Aggregate or if-then-else over unknown values",
        _E,
        "A `findall`, an `aggregate_all` or the condition of an if-then-else shares a variable "
        "with the rest of the rule that nothing gives a value to, or collects a variable that its "
        "own goal does not bind. Bind it by another condition. What the condition of an "
        "if-then-else finds may be used after it when the else branch gives it a value too, as in "
        "`(holdsAt(q(X)=L, T) -> true ; L = [])`; this does not go for times and interval lists.",
        "initiatedAt(crowded(A)=true, T) :- happensAt(tick, T),\n"
        "    aggregate_all(count, holdsAt(inside(X, A)=true, T), N), N > 10.\n"
        "initiatedAt(inside(X, A)=true, T) :- happensAt(enter(X, A), T).\n",
    ),
    CodeInfo(
        "H312",
        "Call with arguments that have no value",
        _E,
        "A predicate that computes or tests is called with an argument that nothing gives a value "
        "to. Such predicates cannot list their solutions. Bind the argument by another condition.",
        "initiatedAt(cruising(X)=true, T) :- happensAt(moves(X), T), inRange(S, 3, 9).\n"
        "inRange(V, Min, Max) :- V > Min, V < Max.\n",
    ),
    CodeInfo(
        "H313",
        "Background rule that can never be evaluated",
        _E,
        "A background rule that other rules call uses a variable that neither its head nor its "
        "conditions can give a value to. Correct the name or add the condition that binds it.",
        "initiatedAt(fast(X)=true, T) :- happensAt(speed(X, S), T), above(S).\n"
        "above(V) :- V > Limit, Limit < 100.\n",
    ),
    CodeInfo(
        "H314",
        "Not computed: no grounding",
        _W,
        "Nothing gives a variable of a `holdsFor` head a value, and the fluent has no grounding, "
        "while others have. It is taken as one that is defined on purpose and not computed, and "
        "the rule is left out. Write a grounding for it to have it computed.",
        "initiatedAt(status(M)=open, T) :- happensAt(opens(M), T).\n"
        "holdsFor(may(vote(_V, M))=true, I) :- holdsFor(status(M)=open, I).\n"
        "grounding(status(M)=open) :- motion(M).\n"
        "motion(m1).\n",
    ),
)
