"""Terms of the rules as plain Python values, and as text.

In answers an atom is a `str`, a number a number, and any other term its source text.
"""

from __future__ import annotations

from functools import lru_cache

from horai.errors import UsageError
from horai.io.terms import TermText
from horai.lang.grammar import GrammarError, parse_clause
from horai.lang.quoting import is_plain_word, quote
from horai.lang.terms import Atom, Compound, Float, Int, ListTerm, Str, Term, Var, is_anonymous
from horai.lang.tokens import scan_clause

Value = str | int | float
"""How a term stands in answers; `TermText`, a `str`, is source text."""

_INFIX = {"=": 700, "+": 500, "-": 500, "*": 400, "/": 400, "//": 400, "mod": 400, ",": 1000}


def plain(term: Term) -> Value:
    """The value that stands for a term in answers.

    >>> plain(Atom("New York")), plain(Int(3)), plain(Compound("close", (Atom("c"), Int(1))))
    ('New York', 3, TermText('close(c,1)'))
    """
    match term:
        case Atom(name=name):
            return name
        case Int(value=number):
            return number
        case Float(value=real):
            return real
        case Str(value=text):
            return text
        case _:
            return TermText(show(term))


def name_and_args(entity: Term) -> tuple[str, tuple[Value, ...]]:
    """Name and arguments of an event or a fluent.

    >>> name_and_args(Compound("go_to", (Atom("chris"), Atom("work"))))
    ('go_to', ('chris', 'work'))
    """
    if isinstance(entity, Compound):
        return entity.name, tuple(plain(arg) for arg in entity.args)
    return str(plain(entity)), ()


def show(term: Term) -> str:
    """The source text of a term, without needless blanks.

    >>> show(Compound("f", (Atom("New York"), ListTerm((Int(1), Var("X"))), Float(2.0))))
    "f('New York',[1,X],2.0)"
    >>> show(Compound("=", (Compound("per", (Compound("=", (Atom("a"), Int(-1))),)), Atom("b"))))
    'per(a= -1)=b'
    """
    match term:
        case Atom(name=name):
            return atom_text(name)
        case Int(value=number):
            return str(number)
        case Float(value=real):
            return float_text(real)
        case Str(value=text):
            return quote(text, '"')
        case Var(name=name):
            return "_" if is_anonymous(term) else name
        case ListTerm(items=items, tail=tail):
            rest = "" if tail is None else "|" + _argument(tail)
            return "[" + ",".join(_argument(item) for item in items) + rest + "]"
        case Compound(name=name, args=(left, right)) if name in _INFIX:
            return _infix(name, left, right)
        case Compound(name=name, args=args):
            return f"{atom_text(name)}({','.join(_argument(arg) for arg in args)})"


def show_pair(fluent: Term, value: Term) -> str:
    """`F=V` as source text."""
    return _infix("=", fluent, value)


def atom_text(name: str) -> str:
    """An atom as it is written in rules.

    >>> atom_text("chris"), atom_text("New York"), atom_text("[]")
    ('chris', "'New York'", '[]')
    """
    return name if is_plain_word(name) or name in ("[]", "{}") else quote(name)


def float_text(real: float) -> str:
    """A float as rules write it: always with a dot."""
    text = repr(real)
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def _infix(name: str, left: Term, right: Term) -> str:
    priority = _INFIX[name]
    first = _inner(left, priority - 1 if priority == 700 else priority)
    second = _inner(right, priority - 1)
    if name == ",":
        return f"{first},{second}"
    if name.isalpha():
        return f"{first} {name} {second}"
    # `a= -1` and `a- -1`: without the blank the two signs would read as one.
    gap = " " if second[:1] in "-+*/=\\" and second[:1] else ""
    return f"{first}{name}{gap}{second}"


def _inner(term: Term, most: int) -> str:
    text = show(term)
    binding = _INFIX.get(term.name, 0) if isinstance(term, Compound) and len(term.args) == 2 else 0
    return f"({text})" if binding > most else text


def _argument(term: Term) -> str:
    return _inner(term, 999)


@lru_cache(maxsize=4096)
def parse_term(text: str) -> Term:
    """The term a text says.

    >>> show(parse_term("close( c , 'New York' )"))
    "close(c,'New York')"
    """
    tokens, _ = scan_clause(text + " .", 0)
    try:
        parsed = parse_clause(tokens[:-1])
    except GrammarError as error:
        raise UsageError(f"{text!r} is not a term") from error
    if len(tokens) < 2 or parsed.head is None or parsed.body is not None:
        raise UsageError(f"{text!r} is not a term")
    return parsed.head


def to_term(value: str | int | float) -> Term:
    """The term of a value that was read from a stream."""
    if isinstance(value, TermText):
        return parse_term(str(value))
    if isinstance(value, bool):
        return Atom("true" if value else "false")
    if isinstance(value, str):
        return Atom(value)
    return Float(value) if isinstance(value, float) else Int(value)
