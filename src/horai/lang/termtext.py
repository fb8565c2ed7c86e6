"""A term on its own, outside of any rule: an argument of an item, an expected value."""

from __future__ import annotations

import re

from horai.lang.grammar import GrammarError, parse_clause
from horai.lang.quoting import BadEscape
from horai.lang.terms import Atom, Term
from horai.lang.tokens import scan_clause

# The rules give some words and signs a meaning (`not`, `-`); alone they are atoms like others.
_WORD_OR_SIGN = re.compile(r"[a-z][A-Za-z0-9_]*|(?!\.$)(?!/\*)[-+*/\\^<>=~:.?@#&$]+")


class NotATerm(ValueError):
    """The text is not exactly one term."""


def read_term(text: str) -> Term:
    """The term a text says.

    >>> read_term("f('New York', -3)")
    Compound(name='f', args=(Atom(name='New York'), Int(value=-3)))
    >>> read_term("-")
    Atom(name='-')
    """
    if _WORD_OR_SIGN.fullmatch(text):
        return Atom(text)
    tokens, end = scan_clause(text + " .", 0)
    try:
        parsed = parse_clause(tokens[:-1])
    except (GrammarError, BadEscape) as error:
        raise NotATerm(f"{text!r} is not a term") from error
    whole = len(tokens) > 1 and tokens[-1].type == "END" and end == len(text) + 2
    if not whole or parsed.head is None or parsed.body is not None:
        raise NotATerm(f"{text!r} is not a term")
    return parsed.head
