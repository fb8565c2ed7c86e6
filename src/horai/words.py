"""Words for people."""

from __future__ import annotations


def counted(number: int, what: str) -> str:
    """A number with its noun.

    >>> counted(1, "warning"), counted(3, "query")
    ('1 warning', '3 queries')
    """
    if number == 1:
        return f"1 {what}"
    return f"{number} {what[:-1]}ies" if what.endswith("ry") else f"{number} {what}s"
