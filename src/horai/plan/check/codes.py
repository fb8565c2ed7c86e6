"""Codes H200 to H599: what a readable description gets wrong.

Each example is a complete description that triggers its code; the tests run every one.
"""

from __future__ import annotations

from horai.lang.core.diagnostics import CodeInfo, Severity, table

_E, _W = Severity.ERROR, Severity.WARNING

CODES = table(
    # H200 to H299: names that do not fit together
    CodeInfo(
        "H200",
        "Event that looks mistyped",
        _E,
        "An event occurs in one place only and its name is almost that of another event, so no "
        "item of the stream would ever match. Correct the name. If it really is an input event "
        "of its own, say so with `inputEntity(name(_)).`",
        "initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X), T).\n"
        "initiatedAt(proud(X)=true, T) :- happensAt(win_lottery(X), T).\n"
        "terminatedAt(bored(X)=true, T) :- happensAt(win_lotery(X), T).\n"
        "initiatedAt(bored(X)=true, T) :- happensAt(stay_home(X), T).\n",
        may_be_lowered=True,
    ),
    CodeInfo(
        "H201",
        "Fluent that looks mistyped",
        _E,
        "A fluent is read in one place, no rule defines it, and its name is almost that of "
        "another fluent. Correct the name. If it really is an input fluent of its own, declare it "
        "with `collectIntervals(name(_)=value).` or `points(name(_)=value).`",
        "initiatedAt(working(X)=true, T) :- happensAt(start_work(X), T).\n"
        "holdsFor(busy(X)=true, I) :- holdsFor(wroking(X)=true, I).\n",
        may_be_lowered=True,
    ),
    CodeInfo(
        "H202",
        "Fluent that nothing defines",
        _W,
        "A fluent is read, but no rule defines it and no declaration says that it comes with the "
        "stream. It is treated as an input fluent. Declare it with `collectIntervals(F=V).` when "
        "it arrives as intervals or `points(F=V).` when it arrives as points.",
        "holdsFor(near(X, Y)=true, I) :- holdsFor(proximity(X, Y)=true, I).\n",
    ),
    CodeInfo(
        "H203",
        "Unknown predicate",
        _E,
        "A condition calls a predicate that has no facts and no rules, is no `dynamicDomain`, not "
        "built in, and not registered from Python. Define it in the background knowledge, or "
        "correct its name.",
        "initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X), T), persn(X).\nperson(chris).\n",
        may_be_lowered=True,
    ),
    CodeInfo(
        "H204",
        "Other number of arguments than elsewhere",
        _E,
        "The same event or fluent is written with different numbers of arguments. That makes two "
        "different entities, of which one never occurs. Give it the same arguments everywhere; "
        "if both are meant, declare or ground both.",
        "initiatedAt(location(X)=Y, T) :- happensAt(go_to(X, Y), T).\n"
        "terminatedAt(home(X)=true, T) :- happensAt(go_to(X, _), T).\n"
        "initiatedAt(home(X)=true, T) :- happensAt(go_to(X), T).\n",
        may_be_lowered=True,
    ),
    CodeInfo(
        "H205",
        "Predicate with another number of arguments",
        _E,
        "A background predicate is called with a number of arguments for which it has no facts "
        "and no rules. Give it as many arguments as where it is defined.",
        "initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X), T), person(X).\n"
        "person(chris, adult).\n",
        may_be_lowered=True,
    ),
    CodeInfo(
        "H206",
        "Value that the fluent never has",
        _W,
        "A condition asks for a value of a fluent that no rule ever gives it, so it never holds. "
        "Ask for one of the values that the fluent gets. To ask for 'not true', write "
        "`\\+ holdsAt(F=true, T)`.",
        "initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X), T).\n"
        "initiatedAt(happy(X)=true, T) :- happensAt(payday(X), T), holdsAt(rich(X)=yes, T).\n",
        may_be_lowered=True,
    ),
    CodeInfo(
        "H207",
        "Used as an event and as a fluent",
        _W,
        "The same name with the same number of arguments happens as an event and holds as a "
        "fluent. That is legal, but often the start or the end of the fluent was meant, and people "
        "who read the rules will mix them up: write `start(F=V)`, or give one of them another "
        "name.",
        "initiatedAt(alarm(X)=true, T) :- happensAt(smoke(X), T).\n"
        "initiatedAt(evacuated(X)=true, T) :- happensAt(alarm(X), T).\n",
    ),
    CodeInfo(
        "H208",
        "One value defined in two ways",
        _W,
        "A fluent-value pair has `initiatedAt` rules and `holdsFor` or `holdsAt` rules. The "
        "intervals of both count, and an initiation ends the other values of the fluent. That is "
        "rarely meant: use rules of one sort for one value.",
        "initiatedAt(busy(X)=true, T) :- happensAt(start_work(X), T).\n"
        "holdsFor(busy(X)=true, I) :- holdsFor(meeting(X)=true, I).\n"
        "collectIntervals(meeting(_)=true).\n",
    ),
    CodeInfo(
        "H209",
        "Unknown arithmetic function",
        _E,
        "An expression uses a function that arithmetic does not have. Use one of the functions of "
        "the language, or compute the value by a background predicate and name the result.",
        "initiatedAt(fast(X)=true, T) :- happensAt(speed(X, S), T), S > half(100).\n",
        may_be_lowered=True,
    ),
    CodeInfo(
        "H210",
        "Declared as input, defined by rules",
        _W,
        "A declaration says that an entity comes with the stream, but rules define it. The rules "
        "count, the declaration is ignored. Remove one of the two.",
        "inputEntity(rich(_)=true).\n"
        "initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X), T).\n",
    ),
    CodeInfo(
        "H211",
        "Declared as another sort than it is",
        _W,
        "A declaration calls something a simple or a statically determined fluent, and its rules "
        "say otherwise. The rules count, the declaration is ignored: correct or remove it.",
        "simpleFluent(happy(_)=true).\n"
        "holdsFor(happy(X)=true, I) :- holdsFor(rich(X)=true, I).\n"
        "initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X), T).\n",
    ),
    CodeInfo(
        "H212",
        "Declared as output, defined by no rule",
        _W,
        "A declaration says that rules define an entity, but there are none. Write the rules, or "
        "remove the declaration.",
        "outputEntity(rich(_)=true).\n"
        "holdsFor(happy(X)=true, I) :- holdsFor(rich(X)=true, I).\n"
        "collectIntervals(rich(_)=true).\n",
    ),
    CodeInfo(
        "H213",
        "Index that is no argument",
        _W,
        "An `index` declaration names an argument that does not occur in the entity. Indices are "
        "chosen by the planner, so the declaration is ignored: correct or remove it.",
        "index(win_lottery(X), Y).\n"
        "initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X), T).\n",
    ),
    CodeInfo(
        "H214",
        "Caching order is not needed",
        _W,
        "`cachingOrder` declarations are accepted and ignored: the order of evaluation follows "
        "from the rules. They can be removed.",
        "cachingOrder(rich(_)=true).\n"
        "initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X), T).\n",
    ),
    CodeInfo(
        "H215",
        "Input declared in two forms",
        _W,
        "An input fluent is declared to arrive as intervals and as points. The last declaration "
        "counts. Keep the one that describes the stream.",
        "collectIntervals(near(_,_)=true).\n"
        "points(near(_,_)=true).\n"
        "holdsFor(together(X, Y)=true, I) :- holdsFor(near(X, Y)=true, I).\n",
    ),
    CodeInfo(
        "H216",
        "Domain that nothing fills",
        _W,
        "`dgrounded` names a domain that has no facts and no `dynamicDomain` declaration, so it "
        "stays empty, and with it all that is grounded over it. Write the `dynamicDomain` "
        "declaration, and groundings of the input entities whose arguments are its members.",
        "dgrounded(rich(X)=true, person(X)).\n"
        "initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X), T), person(X).\n",
    ),
    # H300 to H399: variables that nothing gives a value to
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
    # H400 to H499: cycles, and delayed effects that do nothing
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
        "In the conditions of an `fi` or `ft`, the variable at which a fluent is looked at, and "
        "that nothing gives a value, stands for the time of initiation. Here are several of them. "
        "Use one, and compute others from it, as in `T2 is T + R`.",
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
    CodeInfo(
        "H417",
        "Delay known too late",
        _E,
        "The delay of an `fi` or `ft` counts from the initiation, so it must be known then. Here "
        "only a condition about a later time gives it. Ask at the time of initiation, or write a "
        "number.",
        "initiatedAt(quote(X)=true, T) :- happensAt(present(X), T).\n"
        "initiatedAt(validity(X)=R, T) :- happensAt(promise(X, R), T).\n"
        "fi(quote(X)=true, quote(X)=expired, R) :- T2 is T + 5, holdsAt(validity(X)=R, T2).\n",
    ),
    # H500 to H599: legal, and probably not meant
    CodeInfo(
        "H500",
        "Rule written twice",
        _W,
        "Two clauses say the same, up to the names of variables. The second adds nothing: remove "
        "it, or correct what should differ.",
        "initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X), T).\n"
        "initiatedAt(rich(P)=true, T) :- happensAt(win_lottery(P), T).\n",
    ),
    CodeInfo(
        "H501",
        "Facts written twice",
        _W,
        "Facts of a background predicate occur more than once. Repetitions change nothing and can "
        "be removed.",
        "initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X), T), person(X).\n"
        "person(chris). person(alex). person(chris).\n",
    ),
    CodeInfo(
        "H502",
        "Rule that can never fire",
        _W,
        "The conditions contradict each other or one of them is always false, so the rule has no "
        "effect. Correct the condition, or remove the rule.",
        "initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X), T), 3 > 5.\n",
    ),
    CodeInfo(
        "H503",
        "Grounding of something that does not exist",
        _W,
        "A `grounding` speaks of an event or fluent that no rule and no declaration mentions. "
        "Correct the name or the number of arguments, or remove the line.",
        "initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X), T).\n"
        "grounding(win_lotto(X)) :- person(X).\nperson(chris).\n",
    ),
    CodeInfo(
        "H504",
        "Dynamic domain that nothing fills",
        _W,
        "The members of a `dynamicDomain` come from the arguments of input items, through the "
        "groundings of input entities. No such grounding uses this domain, so it stays empty. Add "
        "a grounding such as `grounding(event(X)) :- domain(X).`",
        "dynamicDomain(person(_)).\n"
        "initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X), T).\n"
        "grounding(rich(X)=true) :- person(X).\n",
    ),
    CodeInfo(
        "H505",
        "Number needed, something else found",
        _W,
        "A comparison or computation needs a number, but all that can arrive there are names, "
        "strings or compound terms. Use the argument that holds the number, or `==` and `\\==` to "
        "compare names.",
        "initiatedAt(big(X)=true, T) :- happensAt(enter(X), T), kind(X, K), K > 3.\n"
        "kind(v1, tanker). kind(v2, tug).\n",
    ),
    CodeInfo(
        "H506",
        "Terminated but never initiated",
        _W,
        "A fluent, or one of its values, has `terminatedAt` rules, but no rule ever initiates it, "
        "so it never holds. "
        "Write the rule that initiates it, or correct its name.",
        "terminatedAt(rich(X)=true, T) :- happensAt(lose_wallet(X), T).\n",
    ),
)
