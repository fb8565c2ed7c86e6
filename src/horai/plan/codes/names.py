"""Codes H200 to H299: names that do not fit together."""

from horai.lang.diagnostics import Severity
from horai.lang.report import CodeInfo, table

_E, _W = Severity.ERROR, Severity.WARNING

NAME_CODES = table(
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
    ),
    CodeInfo(
        "H205",
        "Predicate with another number of arguments",
        _E,
        "A background predicate is called with a number of arguments for which it has no facts "
        "and no rules. Give it as many arguments as where it is defined.",
        "initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X), T), person(X).\n"
        "person(chris, adult).\n",
    ),
    CodeInfo(
        "H206",
        "Value that the fluent never has",
        _E,
        "A condition asks for a value of a fluent that no rule ever gives it, so it can never "
        "hold. Ask for one of the values that the fluent gets. To ask for 'not true', write "
        "`\\+ holdsAt(F=true, T)`.",
        "initiatedAt(rich(X)=true, T) :- happensAt(win_lottery(X), T).\n"
        "initiatedAt(happy(X)=true, T) :- happensAt(payday(X), T), holdsAt(rich(X)=yes, T).\n",
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
)
