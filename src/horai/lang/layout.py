"""The layout of rules: blanks, indentation and line breaks put right, all else as it is written.

Works on tokens, so the same code serves both languages. Line breaks between conditions stay where
people put them; lines that are too long are broken at conditions, then inside brackets. A clause
whose comments stand where no line can end is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from lark import Token

from horai.lang.core.grammar import Scanner
from horai.lang.core.reader import PrologScanner
from horai.lang.lars.reader import LarsScanner

Language = Literal["ec", "lars"]
WIDTH = 100
INDENT = "    "
_COMMENT = {
    "ec": re.compile(r"%[^\n]*|/\*.*?\*/", re.DOTALL),
    "lars": re.compile(r"/\*.*?\*/|%\*.*?\*%|//[^\n]*|%[^\n]*", re.DOTALL),
}
_OPENERS = {"LPAR": "RPAR", "LSQB": "RSQB", "LBRACE": "RBRACE"}
_CLOSERS = frozenset(_OPENERS.values())
_BREAKS = frozenset({"COMMA", "SEMI", "ARROW"})
_SPACED = frozenset({"NECK", "SEMI", "ARROW"})  # a blank on both sides, always
_BINARY = frozenset({"REL", "ADD", "MUL", "POW", "COLON", "DOTS"})  # on both sides or on none
_TIGHT = frozenset({"=", "+", "-", "*", "/", "//", "**", "^", "..", ":", "%"})


class UnbreakableComment(Exception):
    """A comment stands where no line can end."""


@dataclass(slots=True)
class WrittenToken:
    """A token as it is written, with what stands before it.

    `above` are comments on lines of their own, `behind` is one that ends the line of the token.
    """

    kind: str
    text: str
    gap: bool  # blanks before it
    newline: bool  # a line break before it
    above: list[str] = field(default_factory=list)
    behind: str = ""


SCANNERS: dict[Language, Scanner] = {"ec": PrologScanner(), "lars": LarsScanner()}


def formatted(text: str, language: Language = "ec", width: int = WIDTH) -> str:
    """The text with its layout put right; it has to be free of mistakes of syntax.

    >>> print(formatted("a(X):-b(X) ,  c( X,Y ),Y>1. % why"), end="")
    a(X) :- b(X), c(X, Y), Y > 1.  % why
    """
    lines: list[str] = []
    at, clause_before = 0, False
    for clause in _clauses(text, language):
        gap, pieces, end = clause
        _between(lines, text[at:gap], language, clause_before)
        beside = clause_before and "\n" not in text[at:gap] and _is_fact(pieces)
        shown = _clause(pieces, text[gap:end], width)
        joined = f"{lines[-1]} {shown[0]}" if beside and lines else ""
        if joined and len(shown) == 1 and len(joined) <= width and "%" not in lines[-1]:
            lines[-1] = joined
        else:
            lines.extend(shown)
        at, clause_before = end, True
    _between(lines, text[at:], language, clause_before)
    while lines and not lines[-1]:
        lines.pop()
    return "".join(f"{line}\n" for line in lines)


def spelled(text: str, language: Language = "ec") -> list[str]:
    """All that layout must not change: the tokens and the comments of a text, in their order."""
    found: list[str] = []
    at = 0
    for start, pieces, end in _clauses(text, language):
        found += [_squeezed(comment) for comment, _, _ in _comments(text[at:start], language)]
        for piece in pieces:
            found += [*map(_squeezed, piece.above), f"{piece.kind} {piece.text}"]
            found += [_squeezed(piece.behind)] if piece.behind else []
        at = end
    return found + [_squeezed(comment) for comment, _, _ in _comments(text[at:], language)]


def _squeezed(comment: str) -> str:
    return "\n".join(line.strip() for line in comment.split("\n"))


def _clauses(text: str, language: Language) -> Iterator[tuple[int, list[WrittenToken], int]]:
    """Start, tokens and end of each clause."""
    scanner = SCANNERS[language]
    at = scanner.skip(text, 0)
    while at < len(text):
        tokens, end = scanner.clause(text, at)
        if tokens:
            yield at, _pieces(text, tokens, language), end
        at = scanner.skip(text, end)


def _pieces(text: str, tokens: list[Token], language: Language) -> list[WrittenToken]:
    found: list[WrittenToken] = []
    last = tokens[0].start_pos or 0
    for token in tokens:
        start, end = token.start_pos or 0, token.end_pos or 0
        between = text[last:start]
        piece = WrittenToken(token.type, text[start:end], bool(between), False)
        for comment, own_line, _ in _comments(between, language):
            if own_line or found[-1].behind:
                piece.above.append(comment)
            else:
                found[-1].behind = comment
        piece.newline = "\n" in _COMMENT[language].sub("", between) or bool(piece.above)
        found.append(piece)
        last = end
    return found


def _comments(between: str, language: Language) -> Iterator[tuple[str, bool, int]]:
    """The comments between two tokens, whether each has a line of its own, and blank lines."""
    at = 0
    for found in _COMMENT[language].finditer(between):
        before = between[at : found.start()]
        yield found.group().rstrip(), "\n" in before, before.count("\n") - 1
        at = found.end()


# --- between clauses -----------------------------------------------------------------------------


def _between(lines: list[str], between: str, language: Language, after_clause: bool) -> None:
    """Comments between two clauses; several blank lines become one."""
    for number, (comment, own_line, blanks) in enumerate(_comments(between, language)):
        if after_clause and number == 0 and not own_line:
            lines[-1] += f"  {comment}"
            continue
        if lines and blanks > 0:
            lines.append("")
        lines += [line.rstrip() for line in comment.split("\n")]
    rest = _COMMENT[language].split(between)[-1]
    if lines and rest.count("\n") > 1:
        lines.append("")


def _is_fact(pieces: list[WrittenToken]) -> bool:
    return all(piece.kind != "NECK" for piece in pieces)


# --- clauses -------------------------------------------------------------------------------------


def _clause(pieces: list[WrittenToken], written: str, width: int) -> list[str]:
    """The lines of a clause."""
    if pieces[-1].kind != "END":
        return written.rstrip().split("\n")
    try:
        return _laid_out(pieces, width)
    except UnbreakableComment:
        return [line.rstrip() for line in written.split("\n")]


def _laid_out(pieces: list[WrittenToken], width: int) -> list[str]:
    neck = next((i for i, piece in enumerate(pieces) if piece.kind == "NECK"), None)
    if not _needs_lines(pieces) and not (neck and _is_broken(pieces[neck + 1 :])):
        line = _flat(pieces)
        if len(line) <= width:
            return [line]
    if not neck:
        return _broken(pieces, "", width)
    behind, pieces[neck].behind = pieces[neck].behind, ""
    head = _broken(pieces[: neck + 1], "", width)
    if behind:
        head[-1] += f"  {behind}"
    return head + _goals(pieces[neck + 1 :], INDENT, width)


def _is_broken(body: list[WrittenToken]) -> bool:
    """Did somebody end a line between two conditions, or after `:-`?"""
    return any(part[0].newline for part in _parts(body))


def _goals(body: list[WrittenToken], indent: str, width: int) -> list[str]:
    """Conditions: those on one line stay on one line, unless it gets too long."""
    rows: list[list[list[WrittenToken]]] = []
    for part in _parts(body):
        if not rows or part[0].newline or part[0].above or rows[-1][-1][-1].behind:
            rows.append([])
        rows[-1].append(part)
    lines: list[str] = []
    for row in rows:
        together = [piece for part in row for piece in part]
        lines += [f"{indent}{comment}" for comment in _lines(together[0].above)]
        together[0].above = []
        behind, together[-1].behind = together[-1].behind, ""
        if not _needs_lines(together) and len(line := indent + _flat(together)) <= width:
            lines.append(line)
        else:
            for part in row:
                lines += _broken(part, indent, width)
        if behind:
            lines[-1] += f"  {behind}"
    return lines


def _lines(comments: list[str]) -> Iterator[str]:
    for comment in comments:
        yield from (line.strip() for line in comment.split("\n"))


def _parts(pieces: list[WrittenToken]) -> list[list[WrittenToken]]:
    """Pieces cut after the separators that stand in no bracket."""
    parts: list[list[WrittenToken]] = [[]]
    depth = 0
    for piece in pieces:
        depth += (piece.kind in _OPENERS) - (piece.kind in _CLOSERS)
        parts[-1].append(piece)
        if depth == 0 and piece.kind in _BREAKS:
            parts.append([])
    return [part for part in parts if part]


def _broken(part: list[WrittenToken], indent: str, width: int) -> list[str]:
    """A condition on as many lines as it takes: what is in its widest bracket gets lines."""
    if not _needs_lines(part) and len(line := indent + _flat(part)) <= width:
        return [line]
    opened = _widest(part)
    if opened is None:
        if _has_comment(part):
            raise UnbreakableComment
        return [indent + _flat(part)]
    first, last = opened
    before, inside, after = part[: first + 1], part[first + 1 : last], part[last:]
    if _has_comment(before[:-1]) or _has_comment(after[1:]) or before[-1].above:
        raise UnbreakableComment
    if len(before) == 1 and any(len(one) > 1 for one in _alternatives(inside)[1:]):
        return _in_columns(part, indent, width)
    head = indent + _flat(before)
    if before[-1].behind:
        head += f"  {before[-1].behind}"
    lines = [head]
    for piece in _parts(inside):
        lines += [f"{indent}{INDENT}{comment}" for comment in _lines(piece[0].above)]
        piece[0].above = []
        behind, piece[-1].behind = piece[-1].behind, ""
        lines += _broken(piece, indent + INDENT, width)
        if behind:
            lines[-1] += f"  {behind}"
    lines += [f"{indent}{INDENT}{comment}" for comment in _lines(after[0].above)]
    after[0].above = []
    return [*lines, _closing(after, indent)]


def _closing(after: list[WrittenToken], indent: str) -> str:
    """The line that begins with the end of a bracket."""
    if after[0].behind and len(after) > 1:
        raise UnbreakableComment
    tail = indent + _flat(after)
    return f"{tail}  {after[0].behind}" if after[0].behind else tail


def _alternatives(inside: list[WrittenToken]) -> list[list[WrittenToken]]:
    """What is between brackets, cut before each `;` and `->`."""
    found: list[list[WrittenToken]] = [[]]
    depth = 0
    for piece in inside:
        depth += (piece.kind in _OPENERS) - (piece.kind in _CLOSERS)
        if depth == 0 and piece.kind in ("SEMI", "ARROW"):
            found.append([])
        found[-1].append(piece)
    return found


def _in_columns(part: list[WrittenToken], indent: str, width: int) -> list[str]:
    """Alternatives below each other, with their signs in front of them."""
    _, last = _widest(part) or (0, 0)
    inside, after = part[1:last], part[last:]
    lines: list[str] = []
    for number, one in enumerate(_alternatives(inside)):
        sign, goals = (one[0], one[1:]) if number else (part[0], one)
        if sign.above or sign.behind or not goals or goals[0].above:
            raise UnbreakableComment
        shown = _goals(goals, indent + INDENT, width)
        lines += [f"{indent}{sign.text:{len(INDENT)}}{shown[0].lstrip()}", *shown[1:]]
    lines += [f"{indent}{INDENT}{comment}" for comment in _lines(after[0].above)]
    after[0].above = []
    return [*lines, _closing(after, indent)]


def _widest(part: list[WrittenToken]) -> tuple[int, int] | None:
    """The bracket with the most in it, by the places of its ends; none that is empty."""
    found, open_at = [], []
    for place, piece in enumerate(part):
        if piece.kind in _OPENERS:
            open_at.append(place)
        elif piece.kind in _CLOSERS and open_at:
            first = open_at.pop()
            if not open_at and place > first + 1:
                found.append((first, place))
    return max(found, key=lambda ends: ends[1] - ends[0], default=None)


def _needs_lines(pieces: list[WrittenToken]) -> bool:
    """Are there comments, or alternatives that somebody wrote on several lines?"""
    open_at: list[list[bool]] = []  # of each bracket: is it one of a goal, has it signs and lines?
    before = ""
    for piece in pieces:
        if open_at and piece.kind in ("SEMI", "ARROW"):
            open_at[-1][1] = True
        if open_at:
            open_at[-1][2] |= piece.newline
        if piece.kind in _OPENERS:
            open_at.append([piece.kind == "LPAR" and before != "FUNCTOR", False, False])
        elif piece.kind in _CLOSERS and open_at and all(open_at.pop()):
            return True
        before = piece.kind
    return _has_comment(pieces)


def _has_comment(pieces: list[WrittenToken]) -> bool:
    return any(piece.above or piece.behind for piece in pieces)


# --- on one line ---------------------------------------------------------------------------------


def _flat(pieces: list[WrittenToken]) -> str:
    """The pieces on one line."""
    shown = ""
    for place, piece in enumerate(pieces):
        if place and _blank(pieces, place):
            shown += " "
        shown += piece.text
    return shown


def _blank(pieces: list[WrittenToken], place: int) -> bool:
    """Is there a blank between a piece and the one before it?"""
    before, piece = pieces[place - 1], pieces[place]
    if piece.kind in ("COMMA", "END", "RPAR", "RSQB") or before.kind in ("LPAR", "LSQB"):
        return False
    if before.kind == "COMMA" or before.kind in _SPACED or piece.kind in _SPACED:
        return True
    for sign, at in ((before, place - 1), (piece, place)):
        if sign.kind in _BINARY:
            if sign.text not in _TIGHT:
                return True
            after = pieces[at + 1].gap if at + 1 < len(pieces) else False
            return sign.gap or after
    return piece.gap
