"""Where names and variables stand in a text of rules, for editors.

Works on tokens, clause by clause, so that what stands in a clause with a mistake is found as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lark import Token

from horai.lang.core.printer import unquote
from horai.lang.ec.builtins import FLUENT_HEADS, RESERVED_HEADS
from horai.lang.layout import SCANNERS

Key = tuple[str, int | None]
"""Name and number of arguments; None for a variable."""
_OPENERS, _CLOSERS = ("LPAR", "LSQB", "LBRACE"), ("RPAR", "RSQB", "RBRACE")


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name or a variable at a place; `defines` where the clause says when it holds."""

    key: Key
    start: int
    end: int
    clause: int
    defines: bool = False

    @property
    def is_variable(self) -> bool:
        """A variable means something in its clause only."""
        return self.key[1] is None


def symbols(text: str, language: Literal["ec", "lars"] = "ec") -> list[Symbol]:
    """The names and variables of a text, in their order.

    >>> [one.key for one in symbols("rich(X) :- wins(X, lottery).") if one.defines]
    [('rich', 1)]
    """
    scanner = SCANNERS[language]
    found: list[Symbol] = []
    at, clause = scanner.skip(text, 0), 0
    while at < len(text):
        tokens, end = scanner.clause(text, at)
        defined = _defined(tokens, language)
        found += [
            Symbol(key, token.start_pos or 0, token.end_pos or 0, clause, place in defined)
            for place, token in enumerate(tokens)
            if (key := _key(tokens, place)) is not None
        ]
        at, clause = scanner.skip(text, end), clause + 1
    return found


def _key(tokens: list[Token], place: int) -> Key | None:
    token = tokens[place]
    name = unquote(token.value) if token.value.startswith("'") else str(token.value)
    match token.type:
        case "VAR":
            return None if name.startswith("_#") else (name, None)
        case "NAME":
            return (name, 0)
        case "FUNCTOR":
            return (name, _arguments(tokens, place + 1))
        case _:
            return None


def _arguments(tokens: list[Token], at: int) -> int:
    """How many arguments there are between the brackets that open at a place."""
    depth, commas = 0, 0
    for token in tokens[at:]:
        depth += (token.type in _OPENERS) - (token.type in _CLOSERS)
        if depth == 0:
            break
        commas += depth == 1 and token.type == "COMMA"
    return commas + 1


def _defined(tokens: list[Token], language: str) -> set[int]:
    """The places of what a clause defines."""
    kinds = [token.type for token in tokens]
    neck = kinds.index("NECK") if "NECK" in kinds else len(kinds)
    if language == "lars":
        return _of_program(kinds[:neck])
    if neck == 0 or kinds[0] not in ("NAME", "FUNCTOR"):
        return set()
    head = tokens[0].value
    if head in FLUENT_HEADS:
        # `fi(F=V, F2=V2, R)` is about its second argument.
        begin = _next_argument(kinds, 2) if head == "fi" else 2
        is_rule = neck < len(kinds) or head in ("initially", "fi", "ft")
        return {begin} if is_rule and kinds[begin : begin + 1] in (["NAME"], ["FUNCTOR"]) else set()
    return set() if head in RESERVED_HEADS else {0}


def _next_argument(kinds: list[str], at: int) -> int:
    depth = 1
    for place in range(at, len(kinds)):
        depth += (kinds[place] in _OPENERS) - (kinds[place] in _CLOSERS)
        if depth == 1 and kinds[place] == "COMMA":
            return place + 1
    return len(kinds)


def _of_program(head: list[str]) -> set[int]:
    """The atoms of the head of a LARS rule, alternatives and choices among them."""
    found: set[int] = set()
    open_at: list[str] = []
    condition = False  # after the colon of an element of a choice
    for place, kind in enumerate(head):
        if kind in _OPENERS:
            open_at.append(kind)
        elif kind in _CLOSERS and open_at:
            open_at.pop()
        elif kind in ("COLON", "SEMI"):
            condition = kind == "COLON"
        elif kind in ("NAME", "FUNCTOR") and not condition and open_at in ([], ["LBRACE"]):
            found.add(place)
    return found
