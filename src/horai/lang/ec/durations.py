"""Users' own definitions of duration filters, recognised by what they do.

Files written for other engines define `intDurGreater(If, V, I)` and its kin as a findall over the
pairs (S, E) of an interval list. Taken at their word these would cut intervals at the borders of
the window, so the built-in takes their place.
"""

from __future__ import annotations

from collections.abc import Iterable

from horai.lang.ec.builtins import DURATIONS
from horai.lang.ec.fvp import DurationForm, Key
from horai.lang.ec.syntax import Clause
from horai.lang.terms import Atom, Compound, Term, Var, subterms

_MIRRORED = {">": "<", "<": ">", ">=": "=<", "=<": ">="}


def find_durations(clauses: Iterable[Clause]) -> dict[Key, DurationForm]:
    """The predicates of three arguments that filter intervals by duration."""
    rules: dict[Key, list[DurationForm | None]] = {}
    for clause in clauses:
        head = clause.head
        if isinstance(head, Compound) and len(head.args) == 3:
            form = recognise(head, clause.body) if clause.body is not None else None
            rules.setdefault((head.name, 3), []).append(form)
    found: dict[Key, DurationForm] = {}
    for key, forms in rules.items():
        if len(forms) == 1 and forms[0] is not None:
            found[key] = forms[0]
        elif key[0] in DURATIONS:
            found[key] = ((0, 1, 2), DURATIONS[key[0]], True)
    return found


def recognise(head: Compound, body: Term) -> DurationForm | None:
    """What a rule does when it is `findall((S,E), (member((S,E),If), ... Diff > V ...), I)`."""
    if not (isinstance(body, Compound) and body.name == "findall" and len(body.args) == 3):
        return None
    pair, goal, result = body.args
    member = _member(pair, goal)
    names = [arg.name if isinstance(arg, Var) else "" for arg in head.args]
    if member is None or not isinstance(result, Var) or not isinstance(member, Var):
        return None
    if result.name not in names or member.name not in names:
        return None
    intervals, out = names.index(member.name), names.index(result.name)
    bound = 3 - intervals - out
    ops = {op for part in subterms(goal) if (op := _comparison(part, names[bound])) is not None}
    if len({intervals, out}) != 2 or len(ops) != 1:
        return None
    op = ops.pop()
    return (intervals, bound, out), op, _open_counts(goal, op)


def _member(pair: Term, goal: Term) -> Term | None:
    """The list that `member((S,E), List)` goes through."""
    if not (isinstance(pair, Compound) and pair.name in (",", "-") and len(pair.args) == 2):
        return None
    for part in subterms(goal):
        if isinstance(part, Compound) and part.name == "member" and part.args[:1] == (pair,):
            return part.args[1]
    return None


def _comparison(part: Term, bound: str) -> str | None:
    """The comparison of a duration with the bound, the duration on the left."""
    if not (isinstance(part, Compound) and part.name in _MIRRORED and len(part.args) == 2):
        return None
    left, right = part.args
    if isinstance(right, Var) and right.name == bound:
        return part.name
    if isinstance(left, Var) and left.name == bound:
        return _MIRRORED[part.name]
    return None


def _open_counts(goal: Term, op: str) -> bool:
    """True when an open interval can pass: measured up to the query time, or never turned away."""
    if any(_lets_open_pass(part) for part in subterms(goal)):
        return True
    names = {part.name for part in subterms(goal) if isinstance(part, Atom | Compound)}
    # `inf` minus a number is greater than any bound.
    return "queryTime" in names or ("inf" not in names and op in (">", ">="))


def _lets_open_pass(part: Term) -> bool:
    """True for `E = inf`: an alternative for open intervals."""
    return isinstance(part, Compound) and part.name in ("=", "==") and Atom("inf") in part.args
