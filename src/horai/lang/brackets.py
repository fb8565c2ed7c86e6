"""Brackets that are never closed, never opened, or closed by the wrong sign."""

from __future__ import annotations

from horai.lang.depth import DEEPEST
from horai.lang.trouble import CLOSERS, OPENERS, SIGNS, Clauses, Trouble


def check_brackets(trouble: Trouble) -> Clauses | None:
    """None when the brackets match; otherwise the clauses to go on with."""
    opened: list[int] = []
    for index, token in enumerate(trouble.tokens):
        if token.type in OPENERS:
            opened.append(index)
            if len(opened) > DEEPEST:
                hint = "name the parts in rules of their own"
                trouble.say("H017", "brackets nested too deeply", trouble.span(index), hint)
                return []
        elif token.type in CLOSERS:
            if not opened:
                return _never_opened(trouble, index)
            if OPENERS[trouble.kind(opened[-1])] != token.type:
                return _wrong_pair(trouble, opened[-1], index)
            opened.pop()
    return _never_closed(trouble, opened) if opened else None


def _never_opened(trouble: Trouble, index: int) -> Clauses:
    sign = SIGNS[trouble.kind(index)]
    opening = SIGNS[CLOSERS[trouble.kind(index)]]
    hint = f"remove it, or add the missing `{opening}` before"
    trouble.say("H004", f"this `{sign}` closes nothing", trouble.span(index), hint)
    return trouble.next_clause(index)


def _wrong_pair(trouble: Trouble, opened: int, index: int) -> Clauses:
    opening, closing = SIGNS[trouble.kind(opened)], SIGNS[trouble.kind(index)]
    wanted = SIGNS[OPENERS[trouble.kind(opened)]]
    message = f"`{closing}` cannot close the `{opening}` of {trouble.place(opened)}"
    trouble.say("H004", message, trouble.span(index), f"write `{wanted}` first")
    return trouble.next_clause(index)


def _never_closed(trouble: Trouble, opened: list[int]) -> Clauses:
    innermost = opened[-1]
    opening = SIGNS[trouble.kind(innermost)]
    closing = SIGNS[OPENERS[trouble.kind(innermost)]]
    at = _closing_place(trouble, innermost)
    span = trouble.span(innermost)
    if trouble.kind(innermost - 1) == "FUNCTOR" and innermost > 0:
        span = (trouble.span(innermost - 1)[0], span[1])
    where = f"before `{trouble.text(at)}`" if at < len(trouble.tokens) else "at the end"
    if trouble.kind(at) == "END" and at < len(trouble.tokens):
        where = "before the full stop"
    elif trouble.starts_clause(at):
        where = f"at the end of line {trouble.line(at - 1)}"
    trouble.say("H003", f"this `{opening}` is never closed", span, f"add `{closing}` {where}")
    return trouble.inserted(at, OPENERS[trouble.kind(innermost)], closing)


def _closing_place(trouble: Trouble, opened: int) -> int:
    """Where the missing bracket most likely belongs."""
    for index in range(opened + 1, len(trouble.tokens)):
        if trouble.kind(index) in ("NECK", "END") or trouble.starts_clause(index):
            return index
    return len(trouble.tokens)
