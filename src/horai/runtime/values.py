"""Terms of the rules as plain Python values, and as text.

In answers an atom is a `str`, a number a number, and any other term its source text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import cast

from horai.errors import UsageError
from horai.io.terms import TermText
from horai.lang.core import printer, terms
from horai.lang.core.reader import NotATerm, read_term
from horai.lang.core.terms import Constant, Float, Int, Str, Term

Value = str | int | float
"""How a term stands in answers; `TermText`, a `str`, is source text."""


def plain(term: Term) -> Value:
    """The value that stands for a term in answers.

    >>> plain(Constant("New York")), plain(Int(3)), plain(parse_term("close(c,1)"))
    ('New York', 3, TermText('close(c,1)'))
    """
    if isinstance(term, Constant | Int | Float | Str):
        return cast(Value, terms.to_python(term))
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


def to_term(value: Value) -> Term:
    """The term of a value that was read from a stream."""
    return parse_term(str(value)) if isinstance(value, TermText) else terms.to_term(value)
