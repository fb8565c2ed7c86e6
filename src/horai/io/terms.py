"""Terms as plain Python values, and the Prolog source text that stands for them.

An atom is a `str`, an integer an `int`, a decimal a `float`; anything else (a compound term, a
list) is `TermText`, its source text.
"""

from __future__ import annotations

import math
import re


class TermText(str):
    """Source text of a term that is no atom and no number, such as `close(c,m)`.

    It differs from the atom with the same letters, which is a plain `str`:

    >>> TermText("f(x)") == TermText("f(x)"), TermText("f(x)") == "f(x)"
    (True, False)
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TermText) and str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((TermText, str(self)))

    def __repr__(self) -> str:
        return f"TermText({str.__repr__(self)})"


Term = str | int | float | TermText

BLANKS = " \t"
# Python refuses to read longer integers, as a guard against slow input.
MAX_DIGITS = 4300
INTEGER = re.compile(f"-?[0-9]{{1,{MAX_DIGITS}}}")
DECIMAL = re.compile(r"-?[0-9]+\.[0-9]+")

# A dot alone would end a clause, and `/*` opens a comment; so these are quoted.
BARE_ATOM = re.compile(r"[a-z][A-Za-z0-9_]*|(?!\.$)(?!/\*)[-+*/\\^<>=~:.?@#&$]+")
QUOTED_ATOM = re.compile(r"'(?:[^'\\]|''|\\x[0-9a-f]+\\|\\[^x])*'")
ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
UNESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
UNESCAPE = re.compile(r"''|\\x([0-9a-f]+)\\|\\(.)", re.DOTALL)
FLOAT_SOURCE = re.compile(r"-?[0-9]+\.[0-9]+(?:e[-+]?[0-9]+)?")


def read_field(text: str) -> Term:
    """The term a narrative or CSV field stands for: a plain number, or else an atom.

    >>> [read_field(t) for t in ("12", "-3.5", "1e3", "+5", ".5", "New York", "-")]
    [12, -3.5, '1e3', '+5', '.5', 'New York', '-']
    """
    if INTEGER.fullmatch(text):
        return int(text)
    if DECIMAL.fullmatch(text) and math.isfinite(number := float(text)):
        return number
    return text


def quote_atom(text: str) -> str:
    """The source text of an atom, in quotes where Prolog needs them.

    >>> [quote_atom(t) for t in ("chris", "-", "New York", "12", "Bob", "it's")]
    ['chris', '-', "'New York'", "'12'", "'Bob'", "'it\\\\'s'"]
    """
    if BARE_ATOM.fullmatch(text):
        return text
    return "'" + "".join(map(_escape, text)) + "'"


def _escape(char: str) -> str:
    if char in ESCAPES:
        return ESCAPES[char]
    return char if char.isprintable() or ord(char) > 127 else f"\\x{ord(char):x}\\"


def float_source(number: float) -> str:
    """A float as Prolog writes it: always with a dot.

    >>> float_source(3.0), float_source(1e22)
    ('3.0', '1.0e+22')
    """
    text = repr(number)
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def to_source(term: Term) -> str:
    """The Prolog source text of a term."""
    if isinstance(term, TermText):
        return str(term)
    if isinstance(term, str):
        return quote_atom(term)
    return float_source(term) if isinstance(term, float) else str(term)


def from_source(text: str) -> Term:
    """The term that `to_source` wrote.

    >>> from_source("'New York'"), from_source("3.0"), from_source("f(x)")
    ('New York', 3.0, TermText('f(x)'))
    """
    if BARE_ATOM.fullmatch(text):
        return text
    if INTEGER.fullmatch(text):
        return int(text)
    if FLOAT_SOURCE.fullmatch(text) and math.isfinite(number := float(text)):
        return number
    if QUOTED_ATOM.fullmatch(text):
        return UNESCAPE.sub(_unescape, text[1:-1])
    return TermText(text)


def _unescape(match: re.Match[str]) -> str:
    code, char = match.groups()
    if code:
        point = int(code, 16)
        legal = point <= 0x10FFFF and not 0xD800 <= point <= 0xDFFF
        return chr(point) if legal else match[0]
    return "'" if char is None else UNESCAPES.get(char, char)
