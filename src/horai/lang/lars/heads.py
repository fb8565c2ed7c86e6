"""Heads of rules: formulas without comparisons, or choices."""

from __future__ import annotations

from horai.lang.ec.builtins import RESERVED_HEADS
from horai.lang.lars.formulas import Builder
from horai.lang.lars.grammar import Part
from horai.lang.lars.syntax import (
    Aggregate,
    At,
    Atom,
    Choice,
    Comparison,
    Head,
    Option,
    Truth,
    is_range,
)
from horai.lang.lars.walk import atoms, subformulas
from horai.lang.terms import Int, Term, children

_SIMPLE = "the head is an atom, an atom at a time, or a formula made of them"


def read_head(builder: Builder, part: Part, is_fact: bool) -> Head | None:
    """The head that a part says; None after saying what is wrong with it."""
    if part.kind in ("set", "bounded") or _is_counted_set(part):
        return _choice(builder, part)
    if part.kind in ("integer", "decimal", "string", "variable", "infix", "prefix"):
        builder.say("H606", "this cannot be the head of a rule", part.span, _SIMPLE)
        return None
    head = builder.formula(part)
    if head is None:
        return None
    for inner in subformulas(head):
        if isinstance(inner, Comparison | Aggregate):
            hint = "move the comparison to the body"
            builder.say("H606", "a head has no comparison", inner.span or part.span, hint)
            return None
    if isinstance(head, Truth):
        builder.say("H606", "`true` and `false` are no heads", part.span, "write `:- body.`")
        return None
    return head if _ranges_fit(builder, head, part, is_fact) else None


def is_event_calculus(part: Part) -> bool:
    """True for `initiatedAt(rich(X)=true, T)` and its kin."""
    return (
        part.kind == "call"
        and part.value in RESERVED_HEADS
        and any(arg.kind == "comparison" for arg in part.parts)
    )


def _ranges_fit(builder: Builder, head: Head, part: Part, is_fact: bool) -> bool:
    """Ranges abbreviate facts; elsewhere they would be terms that equal nothing."""
    written = [arg for atom in atoms(head) for arg in atom.args if is_range(arg)]
    if written and not (is_fact and isinstance(head, Atom)):
        hint = "write a fact of its own: number(1..9)."
        builder.say("H607", "a range stands only in a fact", part.span, hint)
        return False
    for term in written:
        if not all(isinstance(end, Int) for end in children(term)):
            hint = "both ends are whole numbers: number(1..9)."
            builder.say("H607", "this range has no end", term.span or part.span, hint)
            return False
    return True


def _is_counted_set(part: Part) -> bool:
    return part.kind == "comparison" and any(side.kind == "set" for side in part.parts)


def _choice(builder: Builder, part: Part) -> Choice | None:
    bounds: tuple[Term | None, Term | None] = (None, None)
    chosen = part
    if part.kind == "bounded":
        has_least, has_most = part.value
        chosen = part.parts[1] if has_least else part.parts[0]
        least = builder.term(part.parts[0]) if has_least else None
        most = builder.term(part.parts[-1]) if has_most else None
        bounds = (least, most)
    elif part.kind == "comparison":
        found = _compared(builder, part)
        if found is None:
            return None
        chosen, bounds = found
    options = [_option(builder, element) for element in chosen.parts]
    kept = tuple(option for option in options if option is not None)
    if not options:
        builder.say("H608", "there is nothing to choose from", part.span, "write { a ; b }")
    if not options or len(kept) < len(options):
        return None
    return Choice(kept, *bounds, span=part.span)


def _compared(builder: Builder, part: Part) -> tuple[Part, tuple[Term | None, Term | None]] | None:
    """`{ a ; b } = 1` and its kin as bounds."""
    left, right = part.parts
    sign = part.value
    if right.kind == "set":
        left, right = right, left
        sign = {"<=": ">=", ">=": "<="}.get(sign, sign)
    bound = builder.term(right)
    if bound is None:
        return None
    match sign:
        case "=":
            return left, (bound, bound)
        case "<=":
            return left, (None, bound)
        case ">=":
            return left, (bound, None)
    hint = "write `1 { a ; b } 2`, `{ a ; b } = 1`, `<=` or `>=`"
    builder.say("H608", f"a choice is not bounded with `{sign}`", part.span, hint)
    return None


def _option(builder: Builder, element: Part) -> Option | None:
    if len(element.parts[0].parts) != 1:
        hint = "separate options with `;`: { a ; b }"
        builder.say("H608", "several atoms in one option", element.parts[0].span, hint)
        return None
    chosen = builder.formula(element.parts[0].parts[0])
    condition = builder.formulas(element.parts[1].parts) if len(element.parts) > 1 else ()
    if chosen is None or condition is None:
        return None
    is_at = isinstance(chosen, At) and isinstance(chosen.formula, Atom)
    if not isinstance(chosen, Atom | At) or not (isinstance(chosen, Atom) or is_at):
        hint = "write { a ; @T b }"
        builder.say("H608", "options are atoms, or atoms at a time", element.span, hint)
        return None
    return Option(chosen, condition, element.span)
