"""The operators of the rule languages, as the grammar reads and the printer writes them."""

from __future__ import annotations

from horai.lang.terms import Atom, Compound, Term

COMPARISONS = frozenset(
    {"<", ">", "=<", ">=", "=:=", "=\\=", "=", "\\=", "==", "\\==", "@<", "@>", "@=<", "@>="}
)
# Priority of an infix operator, and the highest its left and right operand may have.
INFIX: dict[str, tuple[int, int, int]] = {
    ";": (1100, 1099, 1100),
    "->": (1050, 1049, 1050),
    ",": (1000, 999, 1000),
    **dict.fromkeys((*COMPARISONS, "is"), (700, 699, 699)),
    **dict.fromkeys(("+", "-"), (500, 500, 499)),
    **dict.fromkeys(("*", "/", "//", "mod", "rem"), (400, 400, 399)),
    **dict.fromkeys(("**", "^"), (200, 199, 200)),
}
PREFIX: dict[str, int] = {"\\+": 900, "not": 900, "-": 200, "+": 200}
OPERATORS = frozenset(INFIX) | frozenset(PREFIX)


def is_pair(term: Term) -> bool:
    """True for a fluent-value pair `F=V`."""
    return isinstance(term, Compound) and term.name == "=" and len(term.args) == 2


def is_name(term: Term) -> bool:
    """True for what can be a predicate, an event or a fluent: a name, perhaps with arguments.

    >>> is_name(Atom("up")), is_name(Compound("=", (Atom("on"), Atom("true"))))
    (True, False)
    """
    if isinstance(term, Atom):
        return term.name not in ("!", "{}")
    if not isinstance(term, Compound) or term.name in ("{}", ":-"):
        return False
    return not (
        (len(term.args) == 2 and term.name in INFIX)
        or (len(term.args) == 1 and term.name in PREFIX)
    )
