"""Codes H500 to H599: legal, and probably not meant."""

from horai.lang.diagnostics import Severity
from horai.lang.report import CodeInfo, table

_W = Severity.WARNING

DOUBT_CODES = table(
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
