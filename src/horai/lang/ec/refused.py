"""Conditions that belong to other systems, and why they are refused."""

from __future__ import annotations

import re

from horai.lang.ec.builtins import BODY_LITERALS, BUILTINS
from horai.lang.ec.fvp import Shape
from horai.lang.operators import is_pair
from horai.lang.quoting import is_plain_word
from horai.lang.terms import Atom, Compound

_STORE = frozenset(
    [
        "assert",
        "asserta",
        "assertz",
        "retract",
        "retractall",
        "abolish",
        "recorda",
        "recordz",
        "recorded",
        "erase",
        "nb_setval",
        "b_setval",
        "nb_getval",
        "b_getval",
    ]
)
_OUTPUT = frozenset(
    [
        "write",
        "writeln",
        "print",
        "format",
        "nl",
        "tab",
        "write_canonical",
        "write_term",
        "portray_clause",
        "print_message",
        "told",
        "tell",
        "put_char",
    ]
)
_CONTROL = frozenset(
    [
        "once",
        "ignore",
        "setof",
        "bagof",
        "maplist",
        "foldl",
        "catch",
        "throw",
        "repeat",
        "halt",
        "consult",
        "aggregate",
    ]
)
_HEADS_ONLY = frozenset(
    ["initially", "initiates", "terminates", "fi", "ft", "collectIntervals", "points"]
)
_PRIVATE = re.compile(
    r"(?:happensAt|holdsAt|holdsFor|initiatedAt|terminatedAt|initiates|terminates)"
    r"(?:Processed|Cyclic|IE|Ev|SimpleFluent|SDFluent)\w*"
    r"|init(?:List|Time|Tree)|(?:simpleF|sdF|ie)PList|evTList|startingPoints|processedCyclic"
    r"|eventRecognition"
)


def is_private(name: str) -> bool:
    """True for a predicate that other Event Calculus engines keep for themselves."""
    return _PRIVATE.fullmatch(name) is not None


def check_call(term: Atom | Compound, shape: Shape) -> bool:
    """True when a condition may be a predicate of the user; False after saying why not."""
    args = term.args if isinstance(term, Compound) else ()
    name, key = term.name, (term.name, len(args))
    if key in shape.defined or key in BUILTINS:
        return True
    if name == "!":
        message = "the cut `!` has no meaning: the order of conditions and rules does not matter"
        hint = "remove it; say with `\\+` when a rule must not apply"
        shape.wrong("H114", message, term, hint)
    elif name in _STORE:
        message = f"`{name}` changes a program while it runs; rules only say what is true"
        hint = "derive it with a rule, or send it as an item of the stream"
        shape.wrong("H113", message, term, hint)
    elif name in _OUTPUT:
        message = f"`{name}` writes output; rules only say what is true"
        shape.wrong("H115", message, term, "remove it; `horai run` shows the answers")
    elif is_private(name):
        refuse_private(term, shape)
    elif name in _CONTROL or name == "call" or not (is_plain_word(name) or _is_quoted(term, shape)):
        _unsupported(term, shape)
    elif name in _HEADS_ONLY and any(is_pair(arg) for arg in args):
        message = f"`{name}` is for heads; it is no condition"
        shape.wrong("H119", message, term, "ask with holdsAt, initiatedAt or terminatedAt")
    else:
        return _check_arity(term, shape)
    return False


def refuse_private(term: Atom | Compound, shape: Shape) -> None:
    """Say that a term belongs to the internals of another engine."""
    seen = (shape.source.name, term.name)
    if seen in shape.private:
        return  # a compiled file is full of them; one finding for each name is enough
    shape.private.add(seen)
    message = f"`{term.name}` is a private predicate of another engine"
    hint = "pass the file this was compiled from, or write happensAt, holdsAt, holdsFor instead"
    shape.wrong("H116", message, term, hint)


def _is_quoted(term: Atom | Compound, shape: Shape) -> bool:
    """True for `'Some name'(X)`: unusual, but a name all the same."""
    span = term.span
    return span is not None and shape.source.text[span[0] : span[0] + 1] == "'"


def _unsupported(term: Atom | Compound, shape: Shape) -> None:
    name = term.name
    hint = None
    if name in ("setof", "bagof", "aggregate"):
        hint = "use findall or aggregate_all"
    elif name in ("once", "ignore"):
        hint = "write the condition itself: only whether it holds matters"
    elif name == "call":
        hint = "write the condition itself"
    elif not is_plain_word(name):
        message = f"an expression with `{name}` is no condition"
        shape.wrong("H118", message, term, "compare it with something, or write `X is ...`")
        return
    shape.wrong("H119", f"`{name}` is a part of Prolog that the rule language lacks", term, hint)


def _check_arity(term: Atom | Compound, shape: Shape) -> bool:
    args = term.args if isinstance(term, Compound) else ()
    known = {arity for name, arity in BUILTINS if name == term.name}
    known.update(BODY_LITERALS.get(term.name, ()))
    if not known:
        return True
    wanted = " or ".join(str(count) for count in sorted(known))
    message = f"`{term.name}` has {wanted} arguments, not {len(args)}"
    shape.wrong("H112", message, term)
    return False
