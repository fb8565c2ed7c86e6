"""Terms back to source text that reads as the same term.

Parentheses and quotes appear only where they are needed. Terms are at most `depth.DEEPEST` deep
when they come from the reader, so recursion is safe here; chains of conditions are walked.
"""

from __future__ import annotations

from horai.lang.operators import INFIX, OPERATORS, PREFIX
from horai.lang.quoting import is_plain_word, quote
from horai.lang.terms import Atom, Compound, Float, Int, ListTerm, Str, Term, Var, is_anonymous

_TIGHT = frozenset({"=", "+", "-", "*", "/", "//", "**", "^"})
_ARGUMENT = 999


def show(term: Term, priority: int = 1200) -> str:
    """The source text of a term, in parentheses when it binds weaker than `priority`.

    >>> show(Compound("=", (Compound("rich", (Var("X"),)), Atom("true"))))
    'rich(X)=true'
    """
    match term:
        case Var():
            return "_" if is_anonymous(term) else term.name
        case Int(value=value):
            return str(value)
        case Float(value=number):
            return repr(number)
        case Str(value=text):
            return quote(text, '"')
        case Atom(name=name):
            return _atom(name) if priority == _ARGUMENT else _operand_atom(name)
        case ListTerm(items=items, tail=tail):
            inner = _arguments(items)
            return f"[{inner}]" if tail is None else f"[{inner} | {show(tail, _ARGUMENT)}]"
        case Compound(args=args):
            if len(args) == 2 and term.name in INFIX:
                return _infix(term, priority)
            if len(args) == 1 and term.name in PREFIX:
                return _prefix(term, priority)
            if len(args) == 1 and term.name == "{}":
                return "{" + show(args[0]) + "}"
            return f"{_functor(term.name)}({_arguments(args)})"


def _arguments(args: tuple[Term, ...]) -> str:
    return ", ".join([show(arg, _ARGUMENT) for arg in args])


def _atom(name: str) -> str:
    # An operator alone between brackets or commas stands for itself; the comma does not.
    if is_plain_word(name) or name in ("{}", "!") or (name in OPERATORS and name != ","):
        return name
    return quote(name)


def _operand_atom(name: str) -> str:
    """An atom next to an operator: an operator needs parentheses there, and `!=` is no sign."""
    if name == "!":
        return quote(name)
    return f"({name})" if name in OPERATORS and name != "," else _atom(name)


def _functor(name: str) -> str:
    # `not(` and `\+(` would read as prefix operators, whatever the number of arguments.
    if is_plain_word(name) and name not in OPERATORS:
        return name
    return quote(name)


def _infix(term: Compound, priority: int) -> str:
    name = term.name
    own, left, right = INFIX[name]
    if name in (",", ";", "->"):
        text = _chain(term, left)
    else:
        first, second = show(term.args[0], left), show(term.args[1], right)
        text = f"{first} {name} {second}"
        if name in _TIGHT:
            # Two signs in a row would read as one.
            gap = " " if second[0] in "-+\\" else ""
            text = f"{first}{name}{gap}{second}"
    return f"({text})" if own > priority else text


def _chain(term: Compound, left: int) -> str:
    """`a, b, c`: right-associative chains can be long, so this walks."""
    sign = ", " if term.name == "," else f" {term.name} "
    parts: list[str] = []
    rest: Term = term
    while isinstance(rest, Compound) and rest.name == term.name and len(rest.args) == 2:
        parts.append(show(rest.args[0], left))
        rest = rest.args[1]
    parts.append(show(rest, INFIX[term.name][2]))
    return sign.join(parts)


def _prefix(term: Compound, priority: int) -> str:
    name, operand = term.name, term.args[0]
    own = PREFIX[name]
    inner = show(operand, own)
    if name in ("-", "+") and (inner[0] in "-+.(" or inner[0].isdigit()):
        # `-1` is a number and `-(` a functor: both are said with the functor here.
        return f"{name}({show(operand, _ARGUMENT)})"
    text = f"{name}{inner}" if name in ("-", "+") else f"{name} {inner}"
    return f"({text})" if own > priority else text
