"""From text to tokens, one clause at a time.

Kinds of token are named as those of the other rule language, so that what knows the usual mistakes
there knows them here too. `%` starts a comment unless it can only be the sign of the remainder.
"""

from __future__ import annotations

import re

from lark import Token

from horai.lang.quoting import starts_variable

_COMMENT = r"/\*.*?\*/|%\*.*?\*%|//[^\n]*+|%[^\n]*+"
_LAYOUT = re.compile(rf"(?:\s++|{_COMMENT})+", re.DOTALL)
_BLANKS = re.compile(r"\s*+")
# After a number, a variable or a bracket, and with one operand and nothing like prose after it.
_REMAINDER = re.compile(
    r"%[ \t]*(?:[A-Z_]\w*|[0-9]+|\([\w \t+*/^-]*\))[ \t]*(?=[-+*/^,.;)\]}=<>!]|\n|\Z)"
)

_MISTAKEN = (
    r"<-->|-->|<=>|==>|=!=|===|!==|=/=|=:=|=\\=|\\==|\\=|\\[+]|~=|/=|:=|&&|[|][|]|=>|"
    r"<-(?!\s*[0-9])|::|[?]-|\\/|/\\|>>|<<|[*]/"
)
_MISTAKEN_CHARACTERS = r"[&~$?\\.≤≥≠∧∨¬←→⇒⇐⊞◇□▷]"
_OPERATORS = r":-|->|!=|<>|<=|=<|>=|==|[*][*]|[-+*/^<>=;,|:]"
_ESCAPE = r"\\(?:x[0-9a-fA-F]+\\?|[0-7]+\\|.|\n)"
_TOKEN = re.compile(
    rf"""
      (?P<FLOAT>[0-9]+(?:\.[0-9]+(?:[eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+))
    | (?P<INT>[0-9]+(?:_[0-9]+)*)
    | (?P<AGGREGATE>\#?(?:count|sum|min|max)(?=\s*\{{))
    | (?P<WORD>(?:[^\W\d]|\ufffd)(?:\w|\ufffd)*+)
    | (?P<QUOTED>'(?:[^'\\\n]|''|{_ESCAPE})*+')
    | (?P<STR>"(?:[^"\\\n]|""|{_ESCAPE})*+")
    | (?P<OPENQUOTE>['"`][^\n]*)
    | (?P<DOTS>\.\.)
    | (?P<END>\.(?=\s|%|//|/\*|\Z))
    | (?P<OPENCOMMENT>/\*|%\*)
    | (?P<MISTAKEN>{_MISTAKEN})
    | (?P<OP>{_OPERATORS})
    | (?P<AT>@) | (?P<HASH>\#)
    | (?P<BAD>{_MISTAKEN_CHARACTERS})
    | (?P<LPAR>\() | (?P<RPAR>\)) | (?P<LSQB>\[) | (?P<RSQB>\]) | (?P<LBRACE>\{{) | (?P<RBRACE>\}})
    | (?P<STRAY>.)
    """,
    re.VERBOSE | re.DOTALL,
)

_SIGNS = {
    ":-": "NECK",
    ";": "SEMI",
    "|": "SEMI",
    "->": "ARROW",
    ",": "COMMA",
    ":": "COLON",
    "+": "ADD",
    "-": "ADD",
    "*": "MUL",
    "/": "MUL",
    "**": "POW",
    "^": "POW",
}
# Several ways to write a sign, and the one that is kept.
_SPELLING = {"=<": "<=", "==": "=", "<>": "!=", "**": "^", "|": ";"}
_BEFORE = {"some": "SOME", "always": "ALWAYS", "reset": "RESET", "not": "NAF"}
_BETWEEN = {"at": "ATW", "in": "IN", "mod": "MUL"}
_ENDS = frozenset({"NAME", "VAR", "INT", "FLOAT", "STR", "RPAR", "RSQB", "RBRACE"})


def skip_layout(text: str, at: int) -> int:
    """The offset of the next token: blanks and comments are passed over."""
    found = _LAYOUT.match(text, at)
    return found.end() if found else at


def scan_clause(text: str, at: int) -> tuple[list[Token], int]:
    """The tokens of the clause that starts at an offset, and the offset after it.

    The last token is `END` unless the text ran out. Nothing raises: what cannot be read becomes a
    token of kind `BAD`, `STRAY`, `BADQUOTE` or `OPENCOMMENT`.

    >>> [t.type for t in scan_clause("@T h :- b(X) [3 s], X % 2 = 0. % odd", 0)[0]]
    ['AT', 'VAR', 'NAME', 'NECK', 'FUNCTOR', 'LPAR', 'VAR', 'RPAR', 'LSQB', 'INT', 'NAME', 'RSQB',
     'COMMA', 'VAR', 'MUL', 'INT', 'REL', 'INT', 'END']
    """
    tokens: list[Token] = []
    anonymous = 0
    while True:
        previous = tokens[-1].type if tokens else ""
        if (sign := _remainder_at(text, at, previous)) is not None:
            tokens.append(Token("MUL", "%", start_pos=sign, end_pos=sign + 1))
            at = sign + 1
            continue
        at = skip_layout(text, at)
        found = _TOKEN.match(text, at)
        if found is None:
            return tokens, at
        kind, value, end = found.lastgroup or "STRAY", found.group(), found.end()
        if kind == "OP":
            kind, end = _operator(value, previous, text, end)
            value = _SPELLING.get(value, text[at:end])
        else:
            kind = _kind(kind, value, previous, text, end)
        if kind == "VAR" and value == "_":
            anonymous += 1
            value = f"_#{anonymous}"
        elif kind == "MUL" and value == "mod":
            value = "%"
        elif kind == "OPENCOMMENT":
            end = len(text)
        tokens.append(Token(kind, value, start_pos=at, end_pos=end))
        if kind == "END":
            return tokens, end
        at = end


def _remainder_at(text: str, at: int, previous: str) -> int | None:
    """Where a `%` stands that is a sign and no comment."""
    if previous not in ("VAR", "INT", "FLOAT", "RPAR"):
        return None
    found = _BLANKS.match(text, at)
    start = found.end() if found else at
    return start if _REMAINDER.match(text, start) else None


def _kind(kind: str, value: str, previous: str, text: str, end: int) -> str:
    if kind == "QUOTED":
        return "FUNCTOR" if text[end : end + 1] == "(" else "NAME"
    if kind == "WORD":
        return _word(value, previous, text, end)
    return {"MISTAKEN": "BAD", "OPENQUOTE": "BADQUOTE"}.get(kind, kind)


def _word(word: str, previous: str, text: str, end: int) -> str:
    if starts_variable(word):
        return "VAR"
    if word in _BEFORE:
        return _BEFORE[word]
    if word in _BETWEEN and previous in _ENDS:
        return _BETWEEN[word]
    if word == "in" and previous in ("NAF", "ALWAYS") and text[skip_layout(text, end) :][:1] == "[":
        return "IN"
    return "FUNCTOR" if text[end : end + 1] == "(" else "NAME"


def _operator(sign: str, previous: str, text: str, end: int) -> tuple[str, int]:
    if sign in "+-" and previous not in _ENDS:
        found = _TOKEN.match(text, end)
        if sign == "-" and found is not None and found.lastgroup in ("INT", "FLOAT"):
            return found.lastgroup, found.end()
        return "SIGN", end
    return _SIGNS.get(sign, "REL"), end
