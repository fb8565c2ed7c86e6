"""Terms of the rules as plain Python values, and as text.

In answers an atom is a `str`, a number a number, and any other term its source text.
"""

from __future__ import annotations

import re
from functools import lru_cache

from horai.errors import UsageError
from horai.io.terms import TermText
from horai.lang.core import printer
from horai.lang.core.reader import NotATerm, read_term
from horai.lang.core.terms import Constant, Float, Int, Str, Term

Value = str | int | float
"""How a term stands in answers; `TermText`, a `str`, is source text."""


def plain(term: Term) -> Value:
    """The value that stands for a term in answers.

    >>> plain(Constant("New York")), plain(Int(3)), plain(parse_term("close(c,1)"))
    ('New York', 3, TermText('close(c,1)'))
    """
    match term:
        case Constant(name=name):
            return name
        case Int(value=number):
            return number
        case Float(value=real):
            return real
        case Str(value=text):
            return text
        case _:
            return TermText(show(term))


def show(term: Term) -> str:
    """The source text of a term, without needless blanks.

    >>> show(parse_term("f( 'New York, NY', [1, X], 2.0 )"))
    "f('New York, NY',[1,X],2.0)"
    """
    return _BLANKS.sub(lambda found: found[1] or found[2] or found[3], printer.show(term))


# Quoted text is matched first, so that blanks in it stay.
_BLANKS = re.compile(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(,|\|) | (\|) """)


@lru_cache(maxsize=4096)
def parse_term(text: str) -> Term:
    """The term a text says.

    >>> show(parse_term("close( c , 'New York' )"))
    "close(c,'New York')"
    """
    try:
        return read_term(text)
    except NotATerm as error:
        raise UsageError(str(error)) from error


def to_term(value: str | int | float) -> Term:
    """The term of a value that was read from a stream."""
    if isinstance(value, TermText):
        return parse_term(str(value))
    if isinstance(value, bool):
        return Constant("true" if value else "false")
    if isinstance(value, str):
        return Constant(value)
    return Float(value) if isinstance(value, float) else Int(value)
