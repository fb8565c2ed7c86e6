"""`aggregate_all(max(X, W), G, R)`: what is largest, and with it what has it.

It is short for conditions that exist: the largest X first, then those W that go with it. Solutions
have no order, so among several W the first in the standard order of terms is taken.
"""

from __future__ import annotations

from horai.lang.terms import Compound, ListTerm, Span, Term, Var


def has_witness(what: Term) -> bool:
    """Is it `max(X, W)` or `min(X, W)`?"""
    return isinstance(what, Compound) and what.name in ("max", "min") and len(what.args) == 2


def written_out(term: Compound) -> Term:
    """The conditions that an aggregate with a witness is short for.

    `aggregate_all(max(X), G, M), aggregate_all(set(W), (G, X =:= M), [V|_]), R = max(M, V)`
    """
    what, goal, result = term.args
    assert isinstance(what, Compound)
    value, witness = what.args
    place = term.span
    best, first, others = (_fresh(name, place) for name in ("Best", "First", "Others"))
    same = Compound("=:=", (value, best), place)
    with_it = Compound(",", (goal, same), place)
    listed = ListTerm((first,), others, place)
    parts = (
        _aggregate(Compound(what.name, (value,), what.span), goal, best, place),
        _aggregate(Compound("set", (witness,), what.span), with_it, listed, place),
        Compound("=", (result, Compound(what.name, (best, first), place)), place),
    )
    return Compound(",", (parts[0], Compound(",", parts[1:], place)), place)


def _aggregate(kind: Term, goal: Term, result: Term, place: Span | None) -> Compound:
    return Compound("aggregate_all", (kind, goal, result), place)


def _fresh(name: str, place: Span | None) -> Var:
    """A variable that no text can name, one for each place; messages leave the number out."""
    return Var(f"{name}~{place[0] if place else 0}")
