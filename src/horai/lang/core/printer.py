"""Terms back to source text that reads as the same term, and the operators of the languages.

Parentheses and quotes appear only where they are needed. Terms are at most `DEEPEST` deep when they
come from the reader, so recursion is safe here; chains of conditions are walked.
"""

from __future__ import annotations

import re

from horai.lang.core.terms import (
    Compound,
    Constant,
    Float,
    Int,
    ListTerm,
    Str,
    Term,
    Var,
    is_anonymous,
)

COMPARISONS = frozenset(
    {"<", ">", "=<", ">=", "=:=", "=\\=", "=", "\\=", "==", "\\==", "@<", "@>", "@=<", "@>="}
)
# Priority of an infix operator, and the highest its left and right operand may have.
INFIX: dict[str, tuple[int, int, int]] = {
    ";": (1100, 1099, 1100),
    "->": (1050, 1049, 1050),
    ",": (1000, 999, 1000),
    **dict.fromkeys((*COMPARISONS, "is"), (700, 699, 699)),
    **dict.fromkeys(("+", "-"), (500, 500, 499)),
    **dict.fromkeys(("*", "/", "//", "mod", "rem"), (400, 400, 399)),
    **dict.fromkeys(("**", "^"), (200, 199, 200)),
}
PREFIX: dict[str, int] = {"\\+": 900, "not": 900, "-": 200, "+": 200}
OPERATORS = frozenset(INFIX) | frozenset(PREFIX)


def is_pair(term: Term) -> bool:
    """True for a fluent-value pair `F=V`."""
    return isinstance(term, Compound) and term.name == "=" and len(term.args) == 2


def is_name(term: Term) -> bool:
    """True for what can be a predicate, an event or a fluent: a name, perhaps with arguments.

    >>> is_name(Constant("up")), is_name(Compound("=", (Constant("on"), Constant("true"))))
    (True, False)
    """
    if isinstance(term, Constant):
        return term.name not in ("!", "{}")
    if not isinstance(term, Compound) or term.name in ("{}", ":-"):
        return False
    return not (
        (len(term.args) == 2 and term.name in INFIX)
        or (len(term.args) == 1 and term.name in PREFIX)
    )


_SIMPLE = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "e": "\x1b",
    "s": " ",
    "0": "\0",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "`": "`",
    "\n": "",  # a backslash at the end of a line joins it with the next
}
_ESCAPE = re.compile(
    r"\\(?:x(?P<hex>[0-9a-fA-F]+)\\?|(?P<octal>[0-7]+)\\|u(?P<u4>[0-9a-fA-F]{4})"
    r"|U(?P<u8>[0-9a-fA-F]{8})|(?P<simple>.)|$)",
    re.DOTALL,
)
_PLAIN_WORD = re.compile(r"[^\W\d_]\w*")


class BadEscape(ValueError):
    """An escape that means nothing; `offset` and `length` say where in the quoted text."""

    def __init__(self, offset: int, length: int) -> None:
        super().__init__("unknown escape")
        self.offset = offset
        self.length = length


def unquote(quoted: str) -> str:
    """The text of a quoted atom or string, quotes included on input.

    >>> unquote("'It''s\\\\n'")
    "It's\\n"
    """
    quote = quoted[0]
    body = quoted[1:-1]
    if "\\" not in body:
        return body.replace(quote * 2, quote)
    out: list[str] = []
    at = 0
    while at < len(body):
        char = body[at]
        if char == "\\":
            value, length = _escape(body, at)
            out.append(value)
            at += length
        else:
            out.append(char)
            at += 2 if char == quote else 1
    return "".join(out)


def _escape(body: str, at: int) -> tuple[str, int]:
    found = _ESCAPE.match(body, at)
    assert found is not None
    length = max(1, found.end() - at)
    simple = found["simple"]
    if simple is not None:
        if simple not in _SIMPLE:
            raise BadEscape(at + 1, length)
        return _SIMPLE[simple], length
    digits = found["hex"] or found["u4"] or found["u8"]
    code = int(digits, 16) if digits else int(found["octal"] or "7777777", 8)
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise BadEscape(at + 1, length)
    return chr(code), length


def quote(text: str, mark: str = "'") -> str:
    """The text between quotes, escaped so that it stays on one line.

    >>> quote("It's")
    "'It\\\\'s'"
    """
    return mark + "".join(_written(char, mark) for char in text) + mark


def _written(char: str, mark: str) -> str:
    if char == mark or char == "\\":
        return "\\" + char
    if char == "\n":
        return "\\n"
    if char == "\t":
        return "\\t"
    if char.isprintable():
        return char
    return f"\\x{ord(char):x}\\"


def is_plain_word(name: str) -> bool:
    """True for an atom that needs no quotes: a word that starts with a small letter."""
    return _PLAIN_WORD.fullmatch(name) is not None and not starts_variable(name)


def starts_variable(word: str) -> bool:
    """True for a word that reads as a variable: a capital letter or `_` comes first."""
    first = word[0]
    return first == "_" or first.isupper() or first.istitle()


_TIGHT = frozenset({"=", "+", "-", "*", "/", "//", "**", "^"})
_ARGUMENT = 999


def show(term: Term, priority: int = 1200) -> str:
    """The source text of a term, in parentheses when it binds weaker than `priority`.

    >>> show(Compound("=", (Compound("rich", (Var("X"),)), Constant("true"))))
    'rich(X)=true'
    """
    match term:
        case Var() | Int() | Float() | Str():
            return show_simple(term)
        case Constant(name=name):
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


def show_simple(term: Var | Int | Float | Str) -> str:
    """The text of a variable, a number or a string, which is the same in all languages."""
    match term:
        case Var():
            return "_" if is_anonymous(term) else term.name
        case Int(value=value):
            return str(value)
        case Float(value=number):
            return repr(number)
        case Str(value=text):
            return quote(text, '"')


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
        return f"{name}({_unwrapped(operand, inner, own)})"
    text = f"{name}{inner}" if name in ("-", "+") else f"{name} {inner}"
    return f"({text})" if own > priority else text


def _unwrapped(operand: Term, shown: str, priority: int) -> str:
    """An operand as an argument; to show it a second time would double the work at every sign."""
    if isinstance(operand, Constant):
        return show(operand, _ARGUMENT)
    own = 0
    if isinstance(operand, Compound) and len(operand.args) == 2 and operand.name in INFIX:
        own = INFIX[operand.name][0]
    elif isinstance(operand, Compound) and len(operand.args) == 1:
        own = PREFIX.get(operand.name, 0)
    return shown[1:-1] if priority < own <= _ARGUMENT else shown
