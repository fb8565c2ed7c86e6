"""A clause that the grammar refuses, for no usual mistake: what it expected instead, in words."""

from __future__ import annotations

from horai.lang.grammar import GrammarError
from horai.lang.trouble import Clauses, Trouble

_TERM_KINDS = frozenset({"NAME", "FUNCTOR", "VAR", "INT", "LPAR"})


def unexpected(trouble: Trouble, error: GrammarError) -> Clauses:
    """Say what stands in the way and what could stand there; the clause is given up."""
    at = error.index
    ended = at >= len(trouble.tokens) or trouble.kind(at) == "END"
    message = "the clause ends too early" if ended else f"`{trouble.text(at)}` cannot stand here"
    hint = "put it in parentheses" if trouble.kind(at) == "NAF" else None
    if "IN" in (trouble.kind(at), trouble.kind(at - 1)):
        hint = "a window stands in brackets after its atom: `a(X) [5 s]`, `always a(X) in [5 s]`"
    wanted = _in_words(error.expected())
    trouble.say("H001", f"{message}; expected {wanted}", trouble.span(at), hint)
    return []


def _in_words(expected: set[str]) -> str:
    words: list[str] = []
    if expected >= _TERM_KINDS:
        words.append("a term")
    elif "LPAR" in expected:
        words.append("`(`")
    if "LSQB" in expected and not words:
        words.append("a window such as `[5 s]`")
    for kind, sign in (("COMMA", ","), ("NECK", ":-"), ("RPAR", ")"), ("RSQB", "]"), ("BAR", "|")):
        if kind in expected:
            words.append(f"`{sign}`")
    if expected & {"REL", "ADD", "MUL", "SEMI"}:
        words.append("an operator")
    if "$END" in expected:
        words.append("the full stop")
    return " or ".join(words) if words else "something else"
