"""How deep a term is; deep ones are refused before anything recurses into them."""

from __future__ import annotations

from horai.lang.terms import Compound, Term, children

# Comparing, copying and substituting recurse, and Python's stack holds about 250 terms.
DEEPEST = 100
LONGEST_BODY = 200


def too_deep(term: Term) -> bool:
    """True for terms beyond `DEEPEST`; in a chain of conditions only the length counts.

    >>> too_deep(Compound("f", (Compound("f", (Compound("f", ()),)),)))
    False
    """
    stack = [(term, 0, 0)]
    while stack:
        current, depth, length = stack.pop()
        if depth > DEEPEST or length > LONGEST_BODY:
            return True
        if isinstance(current, Compound) and current.name in (",", ";") and len(current.args) == 2:
            stack.append((current.args[0], depth + 1, length))
            stack.append((current.args[1], depth, length + 1))
        else:
            stack.extend((child, depth + 1, length) for child in children(current))
    return False
